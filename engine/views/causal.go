package views

import (
	"context"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// Strength picks one of the causal levels.
type Strength int

// Causal (CC): what a read saw is not overwritten in its causal past. Memory
// (CM): besides, each process has a legal order of its causal past and its own
// reads. Convergence (CCv): besides CC, one order of all writes agrees with
// causality and with which of two causally earlier writes each read saw.
const (
	Causal Strength = iota
	Memory
	Convergence
)

// CausalLevel decides causal consistency, causal memory or causal convergence
// by the bad patterns of Bouajjani et al. (POPL 2017, sections 3 and 5).
// Causality is session order together with what each read saw. A consistent
// part says what each read saw, causal memory the order of each process too,
// and convergence the order of all writes. The causal pasts take memory, four
// bytes for each operation and process (causal memory: forty more);
// where that exceeds the budget the answer is unknown.
func CausalLevel(ctx context.Context, p Problem, s Strength) (spec.Part, error) {
	r, part, err := begin(p)
	if r == nil || err != nil {
		return part, err
	}
	if budget := p.Limits.Memory; budget > 0 && r.pastBytes(s) > budget {
		part.Kind, part.Budget = spec.Unknown, "memory"
		return part, nil
	}
	c := &causal{Problem: p, reader: r, strength: s, asked: make([]bool, len(r.session))}
	found, proof, states, budget, err := r.try(ctx, p.Limits.States, func(complete bool) (*spec.Proof, error) { return c.fits(ctx, complete) })
	part.States = states + c.inner.States
	switch {
	case err != nil:
		return part, err
	case budget != "" || c.inner.Kind == spec.Unknown:
		part.Kind, part.Budget, part.Placed = spec.Unknown, budget, c.inner.Placed
		if budget == "" {
			part.Budget = c.inner.Budget
		}
	case found:
		part.Kind, part.Views, part.Saw, part.Arbitration = spec.Consistent, c.inner.Views, r.sawEdges(), c.writes
	default:
		part.Kind, part.Proof = spec.Violation, proof
		if c.inner.Kind == spec.Violation && c.inner.Proof == proof {
			part.Process, part.Explain = c.inner.Process, c.inner.Explain
		}
		if !r.certain(proof) {
			part.Proof = tried(proof)
		}
	}
	return part, nil
}

// causal is one run of CausalLevel.
type causal struct {
	Problem
	*reader
	strength Strength
	inner    spec.Part // what the views of the processes came to, for the last assignment
	writes   []int32   // the order of all writes, for the last assignment
	asked    []bool    // by process: whether memoryProof was asked
}

// fits says what is wrong with the assignment, nil for nothing.
func (c *causal) fits(ctx context.Context, complete bool) (*spec.Proof, error) {
	c.inner.Kind, c.inner.Process, c.inner.Explain = spec.Consistent, "", nil
	r := c.reader
	if bad := r.ghost(); bad != nil {
		return bad, nil
	}
	past, circle := r.causality()
	if circle != nil {
		return circle, nil
	}
	if bad := r.overwritten(past); bad != nil {
		return bad, nil
	}
	if c.strength == Convergence {
		var bad *spec.Proof
		bad, c.writes = r.diverging(past)
		return bad, nil
	}
	if c.strength != Memory || !complete {
		return nil, nil
	}
	states := c.inner.States
	inner, err := c.memory(ctx, past)
	c.inner = inner
	c.inner.States += states
	if inner.Kind == spec.Violation {
		return inner.Proof, err
	}
	return nil, err
}

// pastBytes is what the causal pasts take.
func (r *reader) pastBytes(s Strength) int64 {
	cells := int64(r.v.N) * int64(len(r.session))
	if s == Memory {
		return cells * (4 + 5*8) // what is known, the clocks of order.Vector, and a slice of these
	}
	return cells * 4
}

// past is causality: by operation, how many operations of each process' session
// are in its causal past (itself included, in its own process).
type past struct {
	processes int
	counts    []int32 // by operation and process
	place     []int32 // by operation: its place in its session, from 1
}

// count is the row of x.
func (k past) count(x int32) []int32 { return k.counts[int(x)*k.processes : int(x+1)*k.processes] }

// includes reports whether a causally precedes b.
func (k past) includes(r *reader, a, b int32) bool {
	return a != b && k.count(b)[r.v.Process[a]] >= k.place[a]
}

// causality computes the causal pasts in one pass over a topological order, or
// finds a circle.
func (r *reader) causality() (past, *spec.Proof) {
	n := r.v.N
	if r.past.place == nil {
		r.past = past{len(r.session), make([]int32, n*len(r.session)), make([]int32, n)}
	}
	k := r.past
	clear(k.counts)
	var pairs [][2]int32
	for _, ops := range r.session {
		for i, x := range ops {
			k.place[x] = int32(i + 1)
			if i > 0 {
				pairs = append(pairs, [2]int32{ops[i-1], x})
			}
			if r.saw[x] >= 0 {
				pairs = append(pairs, [2]int32{r.saw[x], x})
			}
		}
	}
	line, circle := sorted(n, pairs)
	if circle != nil {
		t := newTrace(r)
		t.causality()
		return k, t.round(spec.CyclicCO, "what was seen and the sessions form a circle", t.circle())
	}
	r.line = line
	for _, x := range line {
		if i := k.place[x]; i > 1 {
			join(k.count(x), k.count(r.session[r.v.Process[x]][i-2]))
		}
		if w := r.saw[x]; w >= 0 {
			join(k.count(x), k.count(w))
		}
		k.count(x)[r.v.Process[x]] = k.place[x]
	}
	return k, nil
}

func join(into, from []int32) {
	for i, n := range from {
		into[i] = max(into[i], n)
	}
}

// lastWrites calls visit with the last write to x's key, other than x, of each
// process in x's causal past.
func (r *reader) lastWrites(k past, x int32, visit func(w int32)) {
	for process, n := range k.count(x) {
		ops := r.session[process]
		for i := n - 1; i >= 0; i-- {
			if w := ops[i]; w != x && r.write[w] >= 0 && r.v.Key[w] == r.v.Key[x] {
				visit(w)
				break
			}
		}
	}
}

// overwritten looks for a read that saw what was overwritten in its causal
// past (WriteCORead, WriteCOInitRead). The last write of each process tells.
func (r *reader) overwritten(k past) (bad *spec.Proof) {
	for x := range int32(r.v.N) {
		if r.saw[x] < initially || bad != nil {
			continue
		}
		r.lastWrites(k, x, func(w int32) {
			if r.saw[x] == initially || w != r.saw[x] && k.includes(r, r.saw[x], w) {
				if bad == nil {
					bad = r.stale(x, w)
				}
			}
		})
	}
	return bad
}

// diverging looks for a circle of causality and conflict: of two writes in the
// causal past of a read, the one that it saw is the later (CyclicCF). Where
// there is none it returns an order of the writes that agrees with all that.
func (r *reader) diverging(k past) (bad *spec.Proof, writes []int32) {
	t := newTrace(r)
	t.causality()
	for _, x := range r.line {
		if r.saw[x] < 0 {
			continue
		}
		r.lastWrites(k, x, func(w int32) {
			if w != r.saw[x] {
				t.add(spec.Step{From: w, To: r.saw[x], Why: spec.StepConflict, Read: x, After: -1})
			}
		})
	}
	line, _ := sorted(r.v.N, t.pairs())
	if line == nil {
		return t.round(spec.CyclicCF, "the reads force opposite orders of the same writes", t.circle()), nil
	}
	return nil, r.writesOf(line)
}

// writesOf leaves of an order the writes that happened.
func (r *reader) writesOf(line []int32) (writes []int32) {
	for _, x := range line {
		if int(x) < r.v.N && r.write[x] >= 0 && r.saw[x] != absent {
			writes = append(writes, x)
		}
	}
	return writes
}

// memory decides the per-process part of causal memory: the updates in the
// causal past of the process' answered operations and its own reads, under
// causality.
func (c *causal) memory(ctx context.Context, k past) (spec.Part, error) {
	r := c.reader
	seq, known := make([]int64, r.v.N), make([][]int64, r.v.N)
	for x := range int32(r.v.N) {
		seq[x], known[x] = int64(k.place[x]), make([]int64, len(r.session))
		for q, n := range k.count(x) {
			known[x][q] = int64(n)
		}
	}
	var sources []order.Source
	for _, c := range order.Vector("causality", len(r.session), r.v.Process, seq, known) {
		sources = append(sources, order.Source{Relation: c, Name: "causality"})
	}
	v := r.v
	member := func(process, x int32) bool {
		final := r.final(process)
		return final >= 0 && (v.Process[x] == process && !v.Info[x] || !v.Read[x] && k.includes(r, x, final))
	}
	return eachProcess(ctx, c.Problem, sources, view{
		member: member,
		knows:  true,
		causes: func(x int32) bool { return r.demand[x] >= 0 && v.Info[x] },
		impossible: func(process int32) *spec.Proof {
			if c.asked[process] {
				return tried(nil) // what is sure is the same under every assignment
			}
			c.asked[process] = true
			return r.memoryProof(ctx, process)
		},
	})
}

// memoryProof shows why the process cannot have the order that causal memory
// asks for, as far as that follows from operations that can have seen one thing
// only, whatever the assignment.
func (r *reader) memoryProof(ctx context.Context, process int32) *spec.Proof {
	surely := *r
	surely.saw = make([]int32, r.v.N)
	for x := range int32(r.v.N) {
		if surely.saw[x] = undecided; r.forced(x) {
			surely.saw[x] = r.saw[x]
		}
	}
	t := newTrace(&surely)
	t.causality()
	final := r.final(process)
	past := t.reach(final, func(s spec.Step) (at, on int32) { return s.To, s.From })
	return t.impossible(ctx, func(x int32) bool {
		return x == final || past[x] && (!r.v.Read[x] || r.v.Process[x] == process)
	})
}

// final is the last answered operation of a process, or -1.
func (r *reader) final(process int32) int32 {
	ops := r.session[process]
	for i := len(ops) - 1; i >= 0; i-- {
		if !r.v.Info[ops[i]] {
			return ops[i]
		}
	}
	return -1
}

// thinAir is the proof that nothing can have answered a demand.
func (r *reader) thinAir(x int32) *spec.Proof {
	return &spec.Proof{Kind: spec.ProofPattern, Name: spec.ThinAirRead, Words: "nothing wrote what it saw, at least nothing that is not later in its own session", Ops: []int32{x}}
}

// stale is the proof that w overwrote what x saw before x, causally.
func (r *reader) stale(x, w int32) *spec.Proof {
	t := newTrace(r)
	t.causality()
	seen := r.saw[x]
	if seen == initially {
		return t.proof(spec.WriteCOInitRead, "the last saw the initial value, and the first wrote to its key in its causal past", []int32{w, x}, t.path(w, x, t.base))
	}
	return t.proof(spec.WriteCORead, "the last saw what the first wrote, and the one between overwrote it, causally after the first and before the last",
		[]int32{seen, w, x}, t.path(seen, w, t.base), t.path(w, x, t.base))
}
