package consistency_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pinyon/consistency"
	"pinyon/engine/spec"
	"pinyon/models"
)

// TestLadder: every rung is what a check of that level says, the strongest are
// those without a stronger one, and the bounds are the smallest.
func TestLadder(t *testing.T) {
	h := storeBuffering()
	s, err := spec.Erase(h, models.KV(h.Header.Initial))
	if err != nil {
		t.Fatal(err)
	}
	l, err := consistency.Climb(context.Background(), s, consistency.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range l.Rungs {
		v, err := consistency.CheckSubject(context.Background(), s, must(r.Level), consistency.Options{})
		if err != nil || v.Kind != r.Kind {
			t.Errorf("%s: the ladder says %v, a check %v, %v", r.Level, r.Kind, v, err)
		}
	}
	slices.Sort(l.Strongest)
	if want := []string{"causal-convergence", "causal-memory", "per-key-sequential", "pram", "prefix-sequential", "timeline"}; !slices.Equal(l.Strongest, want) {
		t.Errorf("strongest %v, want %v", l.Strongest, want)
	}
	if l.SmallestK != 2 || l.SmallestT != time.Nanosecond {
		t.Errorf("smallest bounds k=%d, t=%v", l.SmallestK, l.SmallestT)
	}
}
