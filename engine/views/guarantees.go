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
		s := &sessionWalk{r: r, g: g, t: t, must: map[int32]*gathered{}, seen: newGathered(t), lastWrite: -1}
		for _, x := range ops {
			if bad := s.step(x); bad != nil {
				return bad, nil
			}
		}
	}
	line, _ := sorted(len(t.into), t.pairs())
	if line == nil {
		plain, circle := t.solid(t.circle())
		return plain.round(spec.CyclicWrites, "the writes have no order that all reads agree with", circle), nil
	}
	return nil, r.writesOf(line)
}

// sessionWalk goes through one session.
type sessionWalk struct {
	r         *reader
	g         Guarantees
	t         *trace
	must      map[int32]*gathered // by key: writes that a later read must have seen
	seen      *gathered           // what the process saw so far
	lastWrite int32
}

// step adds the edges that x brings.
func (s *sessionWalk) step(x int32) *spec.Proof {
	r := s.r
	w := r.saw[x]
	if w == absent {
		return nil
	}
	must := s.must[r.v.Key[x]]
	if must == nil {
		must = newGathered(s.t)
		s.must[r.v.Key[x]] = must
	}
	if bad := s.mustHaveSeen(must, x, w); bad != nil {
		return bad
	}
	if w >= 0 && s.g.MonotonicReads {
		must.add(seen{w, x}, true)
	}
	if r.write[x] >= 0 {
		s.wrote(x, w)
		if s.g.ReadYourWrites {
			must.add(seen{x, -1}, false)
		}
	}
	if w >= 0 && s.g.WritesFollowReads {
		s.seen.add(seen{w, x}, false)
	}
	return nil
}

// wrote adds what comes before the update x, which saw w.
func (s *sessionWalk) wrote(x, w int32) {
	if w >= 0 {
		s.t.before(w, x, spec.StepSaw) // it replaced what it saw
	}
	if s.g.MonotonicWrites && s.lastWrite >= 0 {
		s.t.before(s.lastWrite, x, spec.StepSession)
	}
	if s.g.WritesFollowReads {
		s.seen.before(x, -1, spec.StepFollows)
	}
	s.lastWrite = x
}

// mustHaveSeen adds what the guarantees say about x, which saw w.
func (s *sessionWalk) mustHaveSeen(must *gathered, x, w int32) *spec.Proof {
	if w == undecided || len(must.list) == 0 {
		return nil
	}
	if w != initially {
		must.before(w, x, spec.StepConflict)
		return nil
	}
	m := must.list[0]
	p := &spec.Proof{Kind: spec.ProofPattern, Name: spec.ForgottenWrite, Words: "the last saw the initial value and must have seen what the first wrote", Ops: []int32{m.write, x}}
	if m.by >= 0 {
		p.Words += ", which the one between saw"
		p.Ops = []int32{m.write, m.by, x}
	}
	return p
}
