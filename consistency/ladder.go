package consistency

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pinyon/engine/spec"
	"pinyon/engine/views"
)

// implications are pairs of levels: whatever the first allows, the second
// allows. A test holds them to random histories.
var implications = [][2]string{
	{"linearizable", "regular-sequential"},
	{"linearizable", "ordered-sequential"},
	{"linearizable", "regular"},
	{"regular-sequential", "real-time-writes"},
	{"ordered-sequential", "real-time-writes"},
	{"ordered-sequential", "timeline"},
	{"real-time-writes", "sequential"},
	{"real-time-writes", "prefix-linearizable"},
	{"sequential", "prefix-sequential"},
	{"sequential", "per-key-sequential"},
	{"sequential", "causal-memory"},
	{"sequential", "causal-convergence"},
	{"causal-memory", "causal"},
	{"sequential", "pram"}, // causal-memory allows two cas from one value, in two views
	{"causal-convergence", "causal"},
	{"causal-convergence", "read-your-writes"},
	{"causal-convergence", "monotonic-reads"},
	{"causal", "writes-follow-reads"},
	{"pram", "monotonic-writes"},
	{"per-key-sequential", "read-your-writes"},
	{"per-key-sequential", "monotonic-reads"},
	{"writes-follow-reads", "monotonic-writes"},
	{"regular", "safe"},
	{"regular", "timeline"},
	{"timeline", "prefix-linearizable"},
}

// Implications lists which level allows all that another allows, each pair
// stronger first, without those that follow from others.
func Implications() [][2]string { return slices.Clone(implications) }

// Implies reports whether whatever stronger allows, weaker allows.
func Implies(stronger, weaker string) bool {
	if stronger == weaker {
		return true
	}
	for _, p := range implications {
		if p[0] == stronger && Implies(p[1], weaker) {
			return true
		}
	}
	return false
}

// Ladder is what every level says of one history.
type Ladder struct {
	Rungs []Rung
	// Strongest are the levels that allow the history and that no stronger one
	// with a verdict allows.
	Strongest []string
	// SmallestK is the least k for which bounded staleness by versions allows
	// it, SmallestT the least bound in time; 0 and -1: none was found.
	SmallestK int
	SmallestT time.Duration
}

// Rung is one level's verdict.
type Rung struct {
	Level  string
	Kind   spec.Kind
	States int64
	// By names the stronger level that settled it without a check.
	By string
	// Reason is why there is no verdict: a budget, or a model that the level
	// cannot judge.
	Reason string
}

// maxLadderK is the greatest bound in versions that Climb tries.
const maxLadderK = 16

// Climb asks every level without parameters, and the two forms of bounded
// staleness for their smallest bounds. Options hold for each check, but the
// oracles go to the levels that take some.
func Climb(ctx context.Context, s *spec.Subject, o Options) (*Ladder, error) {
	l := &Ladder{SmallestT: -1}
	for _, name := range ladderLevels() {
		rung, err := l.ask(ctx, s, name, o)
		if err != nil {
			return nil, err
		}
		l.Rungs = append(l.Rungs, rung)
	}
	l.strongest()
	return l, l.bounds(ctx, s, o)
}

// ladderLevels are the levels without parameters, stronger ones first.
func ladderLevels() (names []string) {
	for _, f := range families {
		if f.params == "" {
			names = append(names, f.name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return reach(b) - reach(a) })
	return names
}

// reach counts the levels that a level implies.
func reach(name string) (n int) {
	for _, f := range families {
		if Implies(name, f.name) {
			n++
		}
	}
	return n
}

func (l *Ladder) ask(ctx context.Context, s *spec.Subject, name string, o Options) (Rung, error) {
	r := Rung{Level: name}
	if len(o.Oracles) == 0 && !o.HasOnlyKey { // what one key alone allows implies nothing
		for _, done := range l.Rungs {
			if done.Kind == spec.Consistent && Implies(done.Level, name) {
				r.Kind, r.By = spec.Consistent, done.Level
				return r, nil
			}
		}
	}
	return askLevel(ctx, s, name, o)
}

// askLevel checks one level; a level that cannot judge this model is a rung
// without a verdict.
func askLevel(ctx context.Context, s *spec.Subject, name string, o Options) (Rung, error) {
	r := Rung{Level: name, Kind: spec.Unknown}
	level, err := LookupLevel(name)
	if err != nil {
		return r, err
	}
	if level.views != nil {
		o.Oracles = nil
	}
	v, err := CheckSubject(ctx, s, level, o)
	switch {
	case errors.Is(err, views.ErrModel), errors.Is(err, spec.ErrCannotTell):
		r.Reason = err.Error()
		return r, nil
	case err != nil:
		return r, err
	}
	r.Kind = v.Kind
	for _, p := range v.Parts {
		r.States += p.States
		if p.Kind == spec.Unknown && r.Reason == "" {
			r.Reason = p.Reason
		}
	}
	return r, nil
}

func (l *Ladder) strongest() {
	for _, r := range l.Rungs {
		if r.Kind != spec.Consistent {
			continue
		}
		if !slices.ContainsFunc(l.Rungs, func(o Rung) bool {
			return o.Kind == spec.Consistent && o.Level != r.Level && Implies(o.Level, r.Level)
		}) {
			l.Strongest = append(l.Strongest, r.Level)
		}
	}
}

// bounds finds the smallest bounds of staleness: by versions one after the
// other, by time by halving, as a greater bound allows more.
func (l *Ladder) bounds(ctx context.Context, s *spec.Subject, o Options) error {
	allows := func(level string) (bool, bool, error) {
		r, err := askLevel(ctx, s, level, o)
		return r.Kind == spec.Consistent, r.Kind == spec.Consistent || r.Kind == spec.Violation, err
	}
	for k := 1; k <= maxLadderK; k++ {
		yes, decided, err := allows(fmt.Sprintf("bounded-staleness:k=%d", k))
		if err != nil {
			return err
		}
		if yes {
			l.SmallestK = k
		}
		if yes || !decided {
			break
		}
	}
	if s.View.Untimed || s.View.Order != 0 {
		return nil
	}
	return l.smallestT(s, func(t time.Duration) (bool, bool, error) {
		return allows("bounded-staleness:t=" + t.String())
	})
}

func (l *Ladder) smallestT(s *spec.Subject, allows func(t time.Duration) (yes, decided bool, err error)) error {
	low, high := int64(-1), runLength(s)
	if yes, _, err := allows(time.Duration(high)); err != nil || !yes {
		return err
	}
	for low+1 < high {
		mid := low + (high-low)/2
		yes, decided, err := allows(time.Duration(mid))
		switch {
		case err != nil:
			return err
		case !decided:
			return nil
		case yes:
			high = mid
		default:
			low = mid
		}
	}
	l.SmallestT = time.Duration(high)
	return nil
}

// runLength is the time from the first call to the last event, in ns: a read
// that may be that old may be as old as any.
func runLength(s *spec.Subject) int64 {
	v := s.View
	if v.N == 0 {
		return 0
	}
	first, last := v.Invoke[0], v.Invoke[0]
	for i := range v.N {
		first, last = min(first, v.Invoke[i]), max(last, v.Invoke[i])
		if !v.Info[i] {
			last = max(last, v.Return[i])
		}
	}
	return last - first + 1
}
