package views

import (
	"context"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// mostSteps bounds the work of one round of impossible: readers times steps.
const mostSteps = 200_000_000

// pramProof shows why the process cannot have the order that PRAM asks for, as
// far as that follows from operations that can have seen one thing only.
func pramProof(ctx context.Context, p Problem, process int32) *spec.Proof {
	counts := func(v *history.View, x int32) bool { return !v.Read[x] || v.Process[x] == process }
	r, err := newReaderOf(p, counts)
	if err != nil {
		return tried(nil) // no register-like history: nobody knows what was seen
	}
	if x := r.orphan(); x >= 0 {
		return r.thinAir(x)
	}
	t := newTrace(r)
	t.causality() // only what counts has seen anything
	bad := t.impossible(ctx, func(x int32) bool { return counts(r.v, x) && r.sure[x] })
	if bad == nil || !r.certain(bad) {
		return tried(bad)
	}
	return bad
}

// impossible looks for a contradiction in the order of one process, whose
// members are given: what comes before a member that saw a write is no later
// than that write; and once that is exhausted, what comes after the write is no
// earlier than who saw it. Both are repeated until nothing new follows (the relation HB of Bouajjani et
// al., section 3.3, with the second rule for compare-and-sets; for PRAM as in
// Wei et al., "Verifying PRAM consistency over read/write traces of data
// replicas", 2013). nil: none was found, which shows nothing where an update saw
// something itself, and the search's word must do.
func (t *trace) impossible(ctx context.Context, member func(x int32) bool) *spec.Proof {
	r := t.r
	t.whole = true
	var readers []int32
	for _, ops := range r.session {
		for _, x := range ops {
			if r.saw[x] >= initially && member(x) {
				readers = append(readers, x)
			}
		}
	}
	rule := t.noLater
	for old := -1; ; {
		before := len(t.steps)
		for _, x := range readers {
			if ctx.Err() != nil || len(readers)*len(t.steps) > mostSteps {
				return tried(nil)
			}
			if bad := rule(x, member); bad != nil {
				return bad
			}
		}
		if circle := t.circle(); circle != nil {
			return t.round(spec.CyclicHB, "what must come before what in the order of one process forms a circle", circle)
		}
		switch {
		case len(t.steps) > before:
			rule = t.noLater
		case before == old:
			return tried(nil) // neither rule adds anything
		default:
			old, rule = before, t.noEarlier
		}
	}
}

// noLater adds what follows of what comes before x: of each session the last
// write to its key.
func (t *trace) noLater(x int32, member func(x int32) bool) *spec.Proof {
	r := t.r
	reached := t.reach(x, func(s spec.Step) (at, on int32) { return s.To, s.From })
	for _, ops := range r.session {
		for i := len(ops) - 1; i >= 0; i-- {
			w := ops[i]
			if !reached[w] || !t.rival(x, w, member) {
				continue
			}
			if r.saw[x] == initially {
				return t.proof(spec.WriteHBInitRead, "the last saw the initial value, and in the order of its process the first, which wrote to its key, must come before it",
					[]int32{w, x}, t.path(w, x, int32(len(t.steps))))
			}
			if !t.has(w, r.saw[x]) {
				t.add(spec.Step{From: w, To: r.saw[x], Why: spec.StepConflict, Read: x, After: -1})
			}
			break
		}
	}
	return nil
}

// noEarlier adds what follows of what comes after the write that x saw: of each
// session the first write to its key.
func (t *trace) noEarlier(x int32, member func(x int32) bool) *spec.Proof {
	r := t.r
	var reached []bool // nil: everything comes after the initial value
	if r.saw[x] >= 0 {
		reached = t.reach(r.saw[x], func(s spec.Step) (at, on int32) { return s.From, s.To })
	}
	for _, ops := range r.session {
		for _, w := range ops {
			if reached != nil && !reached[w] || !t.rival(x, w, member) {
				continue
			}
			if !t.has(x, w) {
				t.before(x, w, spec.StepOverwrites)
			}
			break
		}
	}
	return nil
}

// rival reports whether w is a member that writes to x's key and is neither x
// nor what x saw.
func (t *trace) rival(x, w int32, member func(x int32) bool) bool {
	r := t.r
	return w != x && w != r.saw[x] && r.write[w] >= 0 && r.v.Key[w] == r.v.Key[x] && member(w)
}

// reach returns what the steps lead to from x, in the direction that ends gives.
func (t *trace) reach(x int32, ends func(s spec.Step) (at, on int32)) []bool {
	next := make([][]int32, t.r.v.N)
	for _, s := range t.steps {
		at, on := ends(s)
		next[at] = append(next[at], on)
	}
	reached := make([]bool, t.r.v.N)
	for queue := []int32{x}; len(queue) > 0; queue = queue[1:] {
		for _, y := range next[queue[0]] {
			if !reached[y] {
				reached[y] = true
				queue = append(queue, y)
			}
		}
	}
	return reached
}
