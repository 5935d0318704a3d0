package views

import "pinyon/engine/spec"

// gathered is a growing list of writes that a session has met, all of which come
// before whatever the list is linked to. In the trace it is a chain of nodes that
// are no operations: each write leads to the node of its place, each node to the
// next, and the last to whatever comes after all of them. So n writes before n
// operations are 3n steps instead of n².
type gathered struct {
	t     *trace
	list  []seen
	nodes []int32         // by place: comes after the list up to there
	at    map[int32]int32 // by write: its place
	known []int32         // by place: so many of the list come before it already
	top   int32           // the place before which most of the list comes
}

// seen is a write and the operation that had seen it; by -1: it was the
// process' own.
type seen struct{ write, by int32 }

func newGathered(t *trace) *gathered { return &gathered{t: t, at: map[int32]int32{}} }

// add appends a write. after says that all of the list comes before it already.
func (g *gathered) add(s seen, after bool) {
	if _, there := g.at[s.write]; there {
		return
	}
	p := int32(len(g.list))
	node := g.t.node()
	g.t.add(spec.Step{From: s.write, To: node, Read: -1, After: s.by})
	if p > 0 {
		g.t.add(spec.Step{From: g.nodes[p-1], To: node, Read: -1, After: -1})
	}
	g.list, g.nodes, g.known, g.at[s.write] = append(g.list, s), append(g.nodes, node), append(g.known, 0), p
	if after {
		g.knows(p, p)
	}
}

// knows notes that n of the list come before the write at place p.
func (g *gathered) knows(p, n int32) {
	if g.known[p] = n; n > g.known[g.top] {
		g.top = p
	}
}

// before links all of the list but w itself to w, because read saw it.
func (g *gathered) before(w, read int32, why spec.StepKind) {
	n := int32(len(g.list))
	p, there := g.at[w]
	if !there {
		p = n
	}
	if p > 0 && (!there || g.known[p] < p) {
		g.t.add(spec.Step{From: g.nodes[p-1], To: w, Why: why, Read: read, After: -1})
	}
	if !there {
		return
	}
	from := max(g.known[p], p+1)
	if g.top != p && g.known[g.top] > p { // w comes before the write at top: the step back closes a circle, and no other is needed
		if from = n; g.top > p {
			from = g.top
		}
	}
	for q := from; q < n; q++ {
		g.t.add(met(spec.Step{From: g.list[q].write, To: w, Why: why, Read: read, After: g.list[q].by}))
		if q == g.top && g.known[q] > p {
			break
		}
	}
	g.knows(p, n)
}

// met is a step from a write that s.After had seen, as its kind says it.
func met(s spec.Step) spec.Step {
	if s.Why == spec.StepFollows {
		s.Read, s.After = s.After, -1
	}
	return s
}

// solid is a circle of the trace without the nodes of gathered writes, in a
// trace of its own.
func (t *trace) solid(circle []int32) (*trace, []int32) {
	n := int32(t.r.v.N)
	start := 0
	for t.steps[circle[start]].From >= n {
		start++
	}
	plain, way := newTrace(t.r), []int32{}
	var open spec.Step
	for k := range circle {
		s := t.steps[circle[(start+k)%len(circle)]]
		if s.From < n {
			open = s
		}
		if s.To >= n {
			continue
		}
		if s.From >= n { // it leaves a chain: who gathered the first stands where the chain was entered
			s.From, s.After = open.From, open.After
			s = met(s)
		}
		way = append(way, int32(len(plain.steps)))
		plain.add(s)
	}
	return plain, way
}
