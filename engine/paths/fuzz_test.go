package paths_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"pinyon/engine"
	"pinyon/engine/brute"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// limitless is a search without a budget.
var limitless engine.Limits

var fuzzN = flag.Int("fuzz.n", 4000, "histories for each structure; a long run takes 300000")

// structures are those of names, in order.
var structures = []string{"queue", "stack", "priority-queue", "log"}

// decide decides a subject with and without the paths.
func decide(t testing.TB, s *spec.Subject, noPaths bool, limits engine.Limits) spec.Part {
	t.Helper()
	part, err := engine.Decide(context.Background(), engine.Task{Rules: rules(s), Machine: s.Machine(context.Background(), s.View, false),
		Eager: true, Focus: -1, Mute: true, NoPaths: noPaths, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// tally counts verdicts by what decided.
type tally struct {
	yes, no, unknown, otherOrder, lostTakes int
}

// compare holds the path to the verdict of a search.
func (c *tally) compare(t testing.TB, name string, s *spec.Subject, limits engine.Limits) {
	t.Helper()
	want, got := decide(t, s, true, limits), decide(t, s, false, limits)
	_, _, interval := order.Intervals(rules(s))
	switch {
	case want.Kind == spec.Vacuous || want.Kind == spec.Unknown:
		return
	case got.Kind != want.Kind:
		t.Fatalf("%s: the path says %v (%s, tried %q), the search %v\n%s", name, got.Kind, got.Engine, got.Tried, want.Kind, show(s))
	case strings.Contains(got.Tried, "hold") || strings.Contains(got.Tried, "possible by themselves"):
		t.Fatalf("%s: %s; the search says %v\n%s", name, got.Tried, want.Kind, show(s))
	case !interval:
		c.otherOrder++
	case got.Engine != name && strings.Contains(got.Tried, "takes without an answer"):
		c.lostTakes++
	case got.Engine != name:
		c.unknown++
		t.Logf("%s cannot tell: %s", name, got.Tried)
	case got.Kind == spec.Consistent:
		c.yes++
	default:
		c.no++
	}
}

// TestPathsEqualSearch compares every path with the search on small histories
// with ties, instants without width, peeks, observations of emptiness and
// operations without an answer.
func TestPathsEqualSearch(t *testing.T) {
	for k, name := range structures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(2, uint64(k)))
			c := &tally{}
			for i := range *fuzzN {
				ops, ties := generate(r, name, small(r))
				s := subject(name, ops, ties)
				c.compare(t, name, s, engine.Limits{})
				if i%50 == 0 {
					againstTwin(t, s)
				}
			}
			c.judge(t)
		})
	}
}

func (c *tally) judge(t *testing.T) {
	t.Logf("%d consistent, %d violations; not decided: %d for lost takes, %d for the order, %d others", c.yes, c.no, c.lostTakes, c.otherOrder, c.unknown)
	decided := c.yes + c.no
	if c.yes*100 < 15*decided || c.no*100 < 15*decided {
		t.Errorf("verdicts are lopsided")
	}
	if c.unknown > 0 || c.lostTakes*100 > 3*decided {
		t.Errorf("the path could not tell too often")
	}
}

// againstTwin compares the decision with the twin that tries every order.
func againstTwin(t *testing.T, s *spec.Subject) {
	t.Helper()
	part := decide(t, s, false, engine.Limits{})
	if part.Kind == spec.Vacuous {
		return
	}
	if part.Proof != nil && part.Proof.Kind == spec.ProofCore {
		if err := coreAt(s, "linearizable", part.Proof.Ops); err != nil {
			t.Fatalf("%s: %v: %v\n%s", part.Engine, part.Proof.Ops, err, show(s))
		}
	}
	ok, _, err := brute.Decide(s, "linearizable", nil)
	if err != nil {
		t.Fatal(err)
	}
	if ok != (part.Kind == spec.Consistent) {
		t.Fatalf("%s says %v, the twin consistent: %v\n%s", part.Engine, part.Kind, ok, show(s))
	}
}

// TestPathsEqualSearchOnLonger compares them on histories of 30 to 60
// operations, where the search decides within a budget.
func TestPathsEqualSearchOnLonger(t *testing.T) {
	for k, name := range structures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, uint64(k)))
			c := &tally{}
			for range *fuzzN / 20 {
				s := small(r)
				s.ops, s.processes, s.squeezed = 30+r.IntN(31), 2+r.IntN(4), false
				s.lostAdds, s.lostTakes = s.lostAdds/4, s.lostTakes/8
				ops, ties := generate(r, name, s)
				c.compare(t, name, subject(name, ops, ties), engine.Limits{States: 5000})
			}
			c.judge(t)
		})
	}
}
