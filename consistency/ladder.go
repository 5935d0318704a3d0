package consistency

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	{"regular", "regular-weak"},
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
	// it, SmallestT the least bound in time; 0 and -1: none was found, for the
	// reasons NoK and NoT.
	SmallestK int
	SmallestT time.Duration
	NoK, NoT  string
	// Oracles are the names of those that held for the bounds; Rung.Oracles says
	// it of the levels.
	Oracles []string
	// Staleness says how stale the reads were; nil: NoStaleness says why not.
	Staleness   *Staleness
	NoStaleness string
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
	// Undecided: with a greater budget there may be a verdict.
	Undecided bool
	// Oracles are the names of those that the level was strengthened by.
	Oracles []string
}

// Climb asks every level without parameters, and the two forms of bounded
// staleness for their smallest bounds, and measures how stale the reads were.
// Options hold for each check, but the oracles go to the levels that take some.
// Staleness is a matter of real time alone.
func Climb(ctx context.Context, s *spec.Subject, o Options) (*Ladder, error) {
	l := &Ladder{SmallestT: -1, Oracles: oracleNames(o)}
	for _, name := range ladderLevels() {
		rung, err := l.ask(ctx, s, name, o)
		if err != nil {
			return nil, err
		}
		l.Rungs = append(l.Rungs, rung)
	}
	l.strongest()
	if err := l.measure(ctx, s, o); err != nil {
		return nil, err
	}
	return l, l.bounds(ctx, s, o)
}

func oracleNames(o Options) (names []string) {
	for i := range o.Oracles {
		names = append(names, o.Oracles[i].Name)
	}
	return names
}

// measure fills in the staleness, or why there is none.
func (l *Ladder) measure(ctx context.Context, s *spec.Subject, o Options) (err error) {
	l.Staleness, err = MeasureStaleness(ctx, s, o)
	switch {
	case err == nil:
	case errors.Is(err, ErrNoSight), errors.Is(err, spec.ErrCannotTell), ctx.Err() != nil:
		l.NoStaleness, err = err.Error(), nil
	}
	return err
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
	r.Oracles = oracleNames(o)
	v, err := CheckSubject(ctx, s, level, o)
	switch {
	case errors.Is(err, views.ErrModel), errors.Is(err, spec.ErrCannotTell):
		r.Reason = strings.TrimPrefix(err.Error(), "level "+name+": ")
		return r, nil
	case err != nil:
		return r, err
	}
	r.Kind, r.Undecided = v.Kind, v.Kind == spec.Unknown
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

// kind is the verdict of a level.
func (l *Ladder) kind(level string) spec.Kind {
	for _, r := range l.Rungs {
		if r.Level == level {
			return r.Kind
		}
	}
	return spec.Unknown
}
