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
	fits := func(bool) (*spec.Proof, error) {
		if bad := r.ghost(); bad != nil {
			return bad, nil
		}
		return r.unordered(g), nil
	}
	found, proof, states, budget, err := r.try(ctx, p.Limits.States, fits)
	part.States = states
	switch {
	case err != nil:
		return part, err
	case budget != "":
		part.Kind, part.Budget = spec.Unknown, budget
	case found:
		part.Kind = spec.Consistent
	default:
		part.Kind, part.Proof = spec.Violation, proof
	}
	return part, nil
}

// unordered collects the edges that the order of the writes must have and
// returns a proof when they form a circle.
func (r *reader) unordered(g Guarantees) *spec.Proof {
	var pairs [][2]int32
	for _, ops := range r.session {
		s := &sessionWalk{r: r, g: g, must: map[int32][]int32{}, lastWrite: -1}
		for _, x := range ops {
			if bad := s.step(x, &pairs); bad != nil {
				return bad
			}
		}
	}
	if _, circle := sorted(r.v.N, pairs); circle != nil {
		return r.circle(circle, "the writes have no order that all reads agree with")
	}
	return nil
}

// sessionWalk goes through one session.
type sessionWalk struct {
	r         *reader
	g         Guarantees
	must      map[int32][]int32 // by key: writes that a later read must have seen
	seen      []int32           // what the process saw so far
	lastWrite int32
}

// step adds the edges that x brings.
func (s *sessionWalk) step(x int32, pairs *[][2]int32) *spec.Proof {
	r, key := s.r, s.r.v.Key[x]
	w := r.saw[x]
	if w == absent {
		return nil
	}
	if w != undecided {
		for _, m := range s.must[key] {
			switch {
			case w == initially:
				return &spec.Proof{Kind: spec.ProofPattern, Words: "the last saw the initial value and must have seen what the first wrote", Ops: []int32{m, x}}
			case m != w:
				*pairs = append(*pairs, [2]int32{m, w})
			}
		}
	}
	if w >= 0 {
		s.seen = append(s.seen, w)
		if s.g.MonotonicReads {
			s.must[key] = append(s.must[key], w)
		}
	}
	if r.write[x] < 0 {
		return nil
	}
	if w >= 0 {
		*pairs = append(*pairs, [2]int32{w, x}) // it replaced what it saw
	}
	if s.g.MonotonicWrites && s.lastWrite >= 0 {
		*pairs = append(*pairs, [2]int32{s.lastWrite, x})
	}
	if s.g.WritesFollowReads {
		for _, seen := range s.seen {
			if seen != x {
				*pairs = append(*pairs, [2]int32{seen, x})
			}
		}
		s.seen = s.seen[:0] // later writes come after x only with monotonic writes
		if !s.g.MonotonicWrites {
			s.seen = append(s.seen, seenSoFar(r, x)...)
		}
	}
	s.lastWrite = x
	if s.g.ReadYourWrites {
		s.must[key] = append(s.must[key], x)
	}
	return nil
}

// seenSoFar is what the process saw up to x.
func seenSoFar(r *reader, x int32) (seen []int32) {
	for _, y := range r.session[r.v.Process[x]] {
		if r.saw[y] >= 0 {
			seen = append(seen, r.saw[y])
		}
		if y == x {
			break
		}
	}
	return seen
}
