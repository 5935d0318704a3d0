// Package consistency holds the named consistency levels and the front door,
// Check: is this history possible under this model at this level?
package consistency

import (
	"context"
	"errors"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// Level is a named consistency guarantee: hard order, and what a legal
// sequence is.
type Level struct {
	Name string // with its parameters: "bounded-staleness:k=3"
	// Order adds the level's hard (and soft) order for the operations of v.
	Order func(v *history.View, r *order.Rules) error
	// Validity is what a legal sequence is; the zero value is RVal.
	Validity spec.Validity
	// Local: a history is allowed exactly when each key's part is, so it may be
	// split by key. A level that is not local is never split.
	Local bool

	// For `pinyon levels` and docs/LEVELS.md.
	Doc      string // the definition
	Source   string // paper, section
	WhyLocal string // the reason for Local

	timed bool        // a bound in time: times must run forwards even where lines are the clock
	views decideViews // a level without a single order
	// A level per operation: what each is promised, and the text of its file.
	entitled func(v *history.View, i int32) Entitlement
	text     string

	all    []Level // a level that is all of these, each with an order of its own
	spans  bool    // the validity counts over all keys: orders of single keys do not merge
	prefix bool    // a cut of an allowed history is allowed, so the first bad return exists

	_ struct{}
}

// Options tune a check; the zero value is useful.
type Options struct {
	Oracles    []order.Oracle
	Engine     string        // "" or "auto", "search", "sweep", "wing-gong", "brute"
	MaxStates  int64         // 0: no limit; per key at levels that are split
	MaxMemory  int64         // bytes; 0: half of what the machine or its cgroup allows
	Timeout    time.Duration // 0: 60 s; negative: none
	Workers    int           // 0: GOMAXPROCS
	NoSplit    bool          // one verdict for all keys, whatever the level; engines but auto then look at no key alone
	FailFast   bool          // stop at the first violation in key order
	OnlyKey    string        // check this key only ("" all); see HasOnlyKey
	HasOnlyKey bool
	Debug      bool // check that steps leave their argument alone
	Mute       bool // verdicts and proofs alone, no explanations, which can take longer than the verdict
	// Progress, where set, is called now and then from one goroutine.
	Progress func(Progress)

	_ struct{}
}

// Progress is how far a check has come.
type Progress struct {
	PartsDone, Parts int
	States           int64
	Memory           int64 // bytes held by searches
	Elapsed          time.Duration
}

// Check decides whether h was possible under m at level. An error means that
// there is no verdict: malformed history, unusable model or level, a panic in
// a user's function, an oracle's own error.
func Check[S, In, Out any](ctx context.Context, h *history.Of[In, Out], m spec.Model[S, In, Out], level Level, o Options) (*spec.Verdict, error) {
	if h == nil {
		return nil, errors.New("the history is nil")
	}
	if err := history.Validate(h); err != nil {
		return nil, err
	}
	s, err := spec.Erase(h, m)
	if err != nil {
		return nil, err
	}
	return CheckSubject(ctx, s, level, o)
}
