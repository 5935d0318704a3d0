package consistency_test

import (
	"context"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// TestSplittingIsSafe: histories of several keys that touch at their instants
// or whose clocks err by node, where what two keys allow alone they may forbid
// together. The twin never splits.
func TestSplittingIsSafe(t *testing.T) {
	levels := []string{"linearizable", "ordered-sequential", "real-time-writes", "regular-sequential", "bounded-staleness:t=1ns"}
	split, together := 0, 0
	for _, o := range []histgen.Options{{}, {Squeezed: true}} {
		o.Models, o.MaxOps, o.MaxKeys = []string{"register"}, 7, 2
		g := histgen.New(21, o)
		for i := range 5000 {
			c := g.Next()
			if i%2 == 0 {
				c.Raw.Header.ClockError = history.ClockError{ByNode: map[string]int64{"n1": 0, "n2": 1, "n3": 2}}
			}
			level := levels[i/2%len(levels)]
			if i%4 < 2 {
				level = "linearizable"
			}
			twin, err := c.Subject()
			if err != nil {
				t.Fatal(err)
			}
			if len(twin.View.KeyName) < 2 {
				continue
			}
			want, _, err := brute.Decide(twin, level, nil)
			if err != nil {
				t.Fatal(err)
			}
			v := checkRaw(t, c, level)
			if got := v.Kind != spec.Violation; got != want || v.Kind == spec.Unknown {
				t.Fatalf("%s, split %v: %v, the twin says consistent=%v\n%s", level, v.Split, v.Kind, want, c.Text())
			}
			if v.Split {
				split++
			} else {
				together++
			}
		}
	}
	if split < 400 || together < 400 {
		t.Errorf("one-sided: %d split, %d not", split, together)
	}
}

func checkRaw(t *testing.T, c *histgen.Case, level string) *spec.Verdict {
	t.Helper()
	entry, err := models.Lookup(c.Model)
	if err != nil {
		t.Fatal(err)
	}
	s, err := entry.Bind(c.Raw, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := consistency.LookupLevel(level)
	if err != nil {
		t.Fatal(err)
	}
	v, err := consistency.CheckSubject(context.Background(), s, l, consistency.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
