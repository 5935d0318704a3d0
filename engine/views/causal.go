package views

import (
	"context"
	"fmt"

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
// Causality is session order together with what each read saw.
func CausalLevel(ctx context.Context, p Problem, s Strength) (spec.Part, error) {
	r, part, err := begin(p)
	if r == nil || err != nil {
		return part, err
	}
	var inner spec.Part
	fits := func(complete bool) (*spec.Proof, error) {
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
		if s == Convergence {
			return r.diverging(past), nil
		}
		if s == Memory && complete {
			inner, err = r.memory(ctx, p, past)
			if inner.Kind == spec.Violation {
				return inner.Proof, err
			}
		}
		return nil, err
	}
	found, proof, states, budget, err := r.try(ctx, p.Limits.States, fits)
	part.States = states + inner.States
	switch {
	case err != nil:
		return part, err
	case budget != "" || inner.Kind == spec.Unknown:
		part.Kind, part.Budget, part.Placed = spec.Unknown, budget, inner.Placed
		if budget == "" {
			part.Budget = inner.Budget
		}
	case found:
		part.Kind, part.Views = spec.Consistent, inner.Views
	default:
		part.Kind, part.Proof, part.Process, part.Explain = spec.Violation, proof, inner.Process, inner.Explain
	}
	return part, nil
}

// past is causality: by operation, how many operations of each process' session
// are in its causal past (itself included, in its own process).
type past struct {
	count [][]int32
	place []int32 // by operation: its place in its session, from 1
}

// includes reports whether a causally precedes b.
func (k past) includes(r *reader, a, b int32) bool {
	return a != b && k.count[b][r.v.Process[a]] >= k.place[a]
}

// causality computes the causal pasts in one pass over a topological order, or
// finds a circle.
func (r *reader) causality() (past, *spec.Proof) {
	n := r.v.N
	k := past{count: make([][]int32, n), place: make([]int32, n)}
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
		return k, r.circle(circle, "what was read and the sessions form a circle")
	}
	for _, x := range line {
		k.count[x] = make([]int32, len(r.session))
		if i := k.place[x]; i > 1 {
			join(k.count[x], k.count[r.session[r.v.Process[x]][i-2]])
		}
		if w := r.saw[x]; w >= 0 {
			join(k.count[x], k.count[w])
		}
		k.count[x][r.v.Process[x]] = k.place[x]
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
	for process, ops := range r.session {
		for i := k.count[x][process] - 1; i >= 0; i-- {
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
				bad = r.stale(x, w)
			}
		})
	}
	return bad
}

// diverging looks for a circle of causality and conflict: of two writes in the
// causal past of a read, the one that it saw is the later (CyclicCF).
func (r *reader) diverging(k past) *spec.Proof {
	var pairs [][2]int32
	for _, ops := range r.session {
		for i, x := range ops {
			if i > 0 {
				pairs = append(pairs, [2]int32{ops[i-1], x})
			}
			if r.saw[x] < 0 {
				continue
			}
			pairs = append(pairs, [2]int32{r.saw[x], x})
			r.lastWrites(k, x, func(w int32) {
				if w != r.saw[x] {
					pairs = append(pairs, [2]int32{w, r.saw[x]})
				}
			})
		}
	}
	if _, circle := sorted(r.v.N, pairs); circle != nil {
		return r.circle(circle, "the reads force opposite orders of the same writes")
	}
	return nil
}

// memory decides the per-process part of causal memory: the updates in the
// causal past of the process' operations and its own reads, under causality.
func (r *reader) memory(ctx context.Context, p Problem, k past) (spec.Part, error) {
	seq, known := make([]int64, r.v.N), make([][]int64, r.v.N)
	for x := range int32(r.v.N) {
		seq[x], known[x] = int64(k.place[x]), make([]int64, len(r.session))
		for q, n := range k.count[x] {
			known[x][q] = int64(n)
		}
	}
	var sources []order.Source
	for _, c := range order.Vector("causality", len(r.session), r.v.Process, seq, known) {
		sources = append(sources, order.Source{Relation: c, Name: "causality"})
	}
	counts := func(process, op int32) bool {
		ops := r.session[process]
		for i := len(ops) - 1; i >= 0; i-- {
			if !r.v.Info[ops[i]] {
				return k.includes(r, op, ops[i])
			}
		}
		return false
	}
	return eachProcess(ctx, p, sources, counts)
}

// thinAir is the proof that nothing can have answered a demand.
func (r *reader) thinAir(x int32) *spec.Proof {
	return &spec.Proof{Kind: spec.ProofPattern, Words: "nothing wrote what it saw, at least nothing that is not later in its own session", Ops: []int32{x}}
}

// stale is the proof that w overwrote what x saw before x, causally.
func (r *reader) stale(x, w int32) *spec.Proof {
	if r.saw[x] == initially {
		return &spec.Proof{Kind: spec.ProofPattern, Words: "the last saw the initial value, and the first wrote to its key in its causal past", Ops: []int32{w, x}}
	}
	return &spec.Proof{Kind: spec.ProofPattern, Words: "the last saw what the first wrote, and the one between overwrote it, causally after the first and before the last",
		Ops: []int32{r.saw[x], w, x}}
}

// circle is a proof of operations that each come before the next.
func (r *reader) circle(ops []int32, words string) *spec.Proof {
	return &spec.Proof{Kind: spec.ProofPattern, Words: fmt.Sprintf("%s: each must come before the next, and the last before the first", words), Ops: ops}
}
