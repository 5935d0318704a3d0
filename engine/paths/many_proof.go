package paths

import (
	"slices"

	"pinyon/engine/spec"
)

// Bounds of the effort that goes into the reasons of a circle: steps of its
// derivation, operations in them, and operations that are looked at while some
// are left out.
const (
	maxReasons   = 300
	maxReasonOps = 2000
	maxShrink    = 2_000_000
)

const circleWords = "a write and what read it stand together among the writes of their key, and with that the order of these operations leads in a circle"

// refuted is the answer where the operations have no order: a circle of known
// order, with what it rests on.
func (k *keyed) refuted(w *web) Answer {
	ops := k.closed(w.reasons())
	effort := maxShrink
	impossible := func(ops []int32) bool {
		effort -= len(ops) + 10
		return effort > 0 && k.impossible(k.closed(ops))
	}
	if !impossible(ops) {
		// The reasons were too many: all operations, where they are few.
		if ops = w.positions(identity(int32(len(w.op)))); len(ops) > maxReasonOps || !impossible(ops) {
			return Answer{Kind: spec.Violation, Core: k.closed(w.positions(w.circle())), Words: circleWords}
		}
	}
	a := Answer{Kind: spec.Violation, Core: k.closed(fewest(ops, impossible))}
	if len(a.Core) > maxCore || !k.whole(a.Core) {
		a.Words = circleWords
	}
	return a
}

// impossible decides some operations alone, closed under what they read.
func (k *keyed) impossible(ops []int32) bool {
	w, reason := newWeb(k, ops)
	if reason != "" {
		return false
	}
	order, reason := w.decide()
	return order == nil && reason == "" && !k.p.stopped()
}

// closed adds what the operations read from, and for those without an answer
// one that reads from them, as they may otherwise never have happened.
func (k *keyed) closed(ops []int32) (all []int32) {
	member := map[int32]bool{}
	for todo := slices.Clone(ops); len(todo) > 0; {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if x < 0 || member[x] {
			continue
		}
		member[x] = true
		all = append(all, x)
		todo = append(todo, k.from[x], k.because[x])
	}
	return sortedSet(all)
}

// whole reports whether among ops alone each value that one of them finds can
// come from one write only, and no other operation leaves it: then anybody can
// see that the others do not matter.
func (k *keyed) whole(ops []int32) bool {
	for _, x := range ops {
		if k.demand[x] < 0 {
			continue
		}
		first := k.writers.first(x)
		starts := k.initial[k.v.Key[x]] == k.demand[x]
		if first >= 0 && (starts || k.writers.next[first] >= 0) {
			return false
		}
	}
	return true
}

// trace finds paths through the web.
type trace struct {
	*web
	from  map[int32]int32 // by operation: the one before it
	found map[int32]int32 // by operation: the link to it; -1: it is hard order, or a read
}

// path is a way from a to b by links before limit; used are the links on it.
// Where close is set it leads only through what is known to come before b.
func (w *web) path(a, b int32, limit int, close bool) (ops, used []int32) {
	t := trace{w, map[int32]int32{}, map[int32]int32{}}
	for queue := []int32{a}; len(queue) > 0; queue = queue[1:] {
		x := queue[0]
		visit := func(y, link int32) {
			if _, seen := t.from[y]; seen || close && y != b && !w.before(y, b) {
				return
			}
			t.from[y], t.found[y] = x, link
			queue = append(queue, y)
		}
		if chain := w.chains[w.chain[x]]; int(w.pos[x])+1 < len(chain) {
			visit(chain[w.pos[x]+1], -1)
		}
		for _, y := range w.after[w.afterAt[x]:w.afterAt[x+1]] {
			visit(y, -1)
		}
		for e := w.first[x]; e >= 0; e = w.extra[e].next {
			if int(e) < limit {
				visit(w.extra[e].to, e)
			}
		}
		if _, done := t.from[b]; done {
			return t.back(a, b)
		}
	}
	return nil, nil
}

// back follows the way from b back to a.
func (t *trace) back(a, b int32) (ops, used []int32) {
	ops = []int32{b}
	for x := b; ; {
		if t.found[x] >= 0 {
			used = append(used, t.found[x])
		}
		x = t.from[x]
		ops = append(ops, x)
		if x == a {
			break
		}
	}
	slices.Reverse(ops)
	return t.hardRuns(ops), used
}

// hardRuns leaves out the middle of what hard order leads through.
func (t *trace) hardRuns(ops []int32) (short []int32) {
	for i := 0; i < len(ops); {
		short = append(short, ops[i])
		j := i + 1
		for j+1 < len(ops) && t.precedes(ops[i], ops[j+1]) && ops[i] != ops[j+1] {
			j++
		}
		i = j
	}
	return short
}

// circle are the operations of a circle through the knot.
func (w *web) circle() []int32 {
	ops, _ := w.circleLinks()
	return ops
}

func (w *web) circleLinks() (ops, used []int32) {
	if w.after == nil && w.afterAt == nil {
		return w.directCircle(), nil
	}
	return w.path(w.knot, w.knot, len(w.extra), false)
}

// directCircle walks back along the direct rows, among operations that have no
// place in the order, until it comes round.
func (w *web) directCircle() []int32 {
	placed := make([]bool, len(w.op))
	for _, x := range w.order {
		placed[x] = true
	}
	seen := map[int32]int{}
	var way []int32
	for x := w.knot; ; {
		if i, ok := seen[x]; ok {
			return way[i:]
		}
		seen[x] = len(way)
		way = append(way, x)
		for j, count := range w.rowOf(x) {
			if count > 0 && !placed[w.chains[j][count-1]] {
				x = w.chains[j][count-1]
				break
			}
		}
	}
}

// reasons are the operations of a circle, and those from which its links
// follow, as far as they are few.
func (w *web) reasons() []int32 {
	ops, used := w.circleLinks()
	seen := map[int32]bool{}
	for i := 0; i < len(used) && i < maxReasons && len(ops) < maxReasonOps; i++ {
		e := w.extra[used[i]]
		if seen[used[i]] || e.by < 0 {
			continue
		}
		seen[used[i]] = true
		a, b := e.from, e.by // a write before a read, which is of e.to
		if s := w.source[e.by]; s != e.to {
			a, b = s, e.to // a write before another, and this was read
		}
		ops = append(ops, e.by)
		if a >= 0 {
			more, links := w.path(a, b, int(used[i]), true)
			ops, used = append(ops, more...), append(used, links...)
		}
	}
	return w.positions(sortedSet(ops))
}
