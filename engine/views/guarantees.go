package views

import (
	"context"

	"pinyon/engine/spec"
)

// Guarantees is a set of session guarantees (Terry et al., 1994).
type Guarantees struct {
	ReadYourWrites, MonotonicReads, MonotonicWrites, WritesFollowReads bool
}

// SessionLevel decides whether the writes have one order, the last writer wins,
// in which each read saw the last of what it must have seen: what it saw
// itself, and by the guarantees more of what its process did before. It is a
// convergent store without a single order of reads and writes:
//
//	read-your-writes     a read must have seen the earlier writes of its process
//	monotonic-reads      and what the earlier reads of its process must have seen
//	monotonic-writes     the writes of a process are ordered as it issued them
//	writes-follow-reads  what a process saw is ordered before what it writes later
func SessionLevel(ctx context.Context, p Problem, g Guarantees) (spec.Part, error) {
	r, part, err := begin(p)
	if r == nil || err != nil {
		return part, err
	}
	var writes []int32
	fits := func(bool) (bad *spec.Proof, err error) {
		if bad = r.ghost(); bad == nil {
			bad, writes = r.unordered(g)
		}
		return bad, nil
	}
	found, proof, states, budget, err := r.try(ctx, p.Limits.States, fits)
	part.States = states
	switch {
	case err != nil:
		return part, err
	case budget != "":
		part.Kind, part.Budget = spec.Unknown, budget
	case found:
		part.Kind, part.Saw, part.Arbitration = spec.Consistent, r.sawEdges(), writes
	default:
		part.Kind, part.Proof = spec.Violation, proof
		if !r.certain(proof) {
			part.Proof = tried(proof)
		}
	}
	return part, nil
}

// unordered collects the edges that the order of the writes must have and
// returns a proof when they form a circle, and an order when they do not.
func (r *reader) unordered(g Guarantees) (bad *spec.Proof, writes []int32) {
	t := newTrace(r)
	for _, ops := range r.session {
		s := &sessionWalk{r: r, g: g, t: t, must: map[int32][]seen{}, lastWrite: -1}
		for _, x := range ops {
			if bad := s.step(x); bad != nil {
				return bad, nil
			}
		}
	}
	line, _ := sorted(r.v.N, t.pairs())
	if line == nil {
		return t.round(spec.CyclicWrites, "the writes have no order that all reads agree with", t.circle()), nil
	}
	return nil, r.writesOf(line)
}

// seen is a write and the operation that had seen it; by -1: it was the
// process' own.
type seen struct{ write, by int32 }

// sessionWalk goes through one session.
type sessionWalk struct {
	r         *reader
	g         Guarantees
	t         *trace
	must      map[int32][]seen // by key: writes that a later read must have seen
	seen      []seen           // what the process saw so far
	lastWrite int32
}

// step adds the edges that x brings.
func (s *sessionWalk) step(x int32) *spec.Proof {
	r, key := s.r, s.r.v.Key[x]
	w := r.saw[x]
	if w == absent {
		return nil
	}
	if bad := s.mustHaveSeen(x, w); bad != nil {
		return bad
	}
	if w >= 0 {
		s.seen = append(s.seen, seen{w, x})
		if s.g.MonotonicReads {
			s.must[key] = append(s.must[key], seen{w, x})
		}
	}
	if r.write[x] < 0 {
		return nil
	}
	if w >= 0 {
		s.t.before(w, x, spec.StepSaw) // it replaced what it saw
	}
	if s.g.MonotonicWrites && s.lastWrite >= 0 {
		s.t.before(s.lastWrite, x, spec.StepSession)
	}
	if s.g.WritesFollowReads {
		for _, y := range s.seen {
			if y.write != x && y.by != x {
				s.t.add(spec.Step{From: y.write, To: x, Why: spec.StepFollows, Read: y.by, After: -1})
			}
		}
	}
	s.lastWrite = x
	if s.g.ReadYourWrites {
		s.must[key] = append(s.must[key], seen{x, -1})
	}
	return nil
}

// mustHaveSeen adds what the guarantees say about x, which saw w.
func (s *sessionWalk) mustHaveSeen(x, w int32) *spec.Proof {
	if w == undecided {
		return nil
	}
	for _, m := range s.must[s.r.v.Key[x]] {
		switch {
		case w == initially:
			p := &spec.Proof{Kind: spec.ProofPattern, Name: spec.ForgottenWrite, Words: "the last saw the initial value and must have seen what the first wrote", Ops: []int32{m.write, x}}
			if m.by >= 0 {
				p.Words += ", which the one between saw"
				p.Ops = []int32{m.write, m.by, x}
			}
			return p
		case m.write != w:
			s.t.add(spec.Step{From: m.write, To: w, Why: spec.StepConflict, Read: x, After: m.by})
		}
	}
	return nil
}
