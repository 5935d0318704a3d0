package brute

import (
	"context"
	"errors"
	"slices"

	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// judge reports whether operation x may follow order, beyond what the model
// says.
type judge func(order []int32, x int32) bool

// judgeFor is what a level asks of a read beyond the state: how many writes it
// misses, or, by the order of all writes, which prefixes of it show its value.
func judgeFor(d verify.Definition, s *spec.Subject) (j judge, byOrder bool, err error) {
	switch {
	case d.Missing > 0:
		return func(order []int32, x int32) bool {
			return !d.Misses(s.View, x, func(w int32) bool { return !slices.Contains(order, w) })
		}, false, nil
	case d.LogVersions > 0:
		if _, many := s.Machine(context.Background(), s.View, false).(spec.Nondeterministic); many {
			return nil, false, errors.New("prefixes of a log are not tried for a nondeterministic model")
		}
		return logJudge(s, d.LogVersions), true, nil
	}
	return nil, false, nil
}

// logJudge plays every one of the last k prefixes of the writes on the key of a
// read, and lets it be where one of them makes it legal.
func logJudge(s *spec.Subject, k int) judge {
	v := s.View
	m := s.Machine(context.Background(), v, false)
	return func(order []int32, x int32) bool {
		if !v.Read[x] {
			return true
		}
		var log []int32
		for _, w := range order {
			if !v.Read[w] {
				log = append(log, w)
			}
		}
		for n := len(log); n >= 0 && n > len(log)-k; n-- {
			state := m.Init(v.Key[x])
			for _, w := range log[:n] {
				if v.Key[w] == v.Key[x] {
					state, _ = m.Step(state, w)
				}
			}
			if _, ok := m.Step(state, x); ok {
				return true
			}
		}
		return false
	}
}
