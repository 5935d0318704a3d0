package paths_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// hinted adds to the rules of a log what hints may say: a few edges, or a clock
// that some operations have, now and then by chance the other way round.
func hinted(r *rand.Rand, s *spec.Subject) *order.Rules {
	hard := rules(s)
	n := int32(s.View.N)
	if r.IntN(3) == 0 {
		c := &order.Clock{Name: "index", Out: make([]int64, n), In: make([]int64, n)}
		for x := range n {
			c.Out[x], c.In[x] = order.OutNever, order.InNever
			if !s.View.Info[x] && r.IntN(3) > 0 {
				at := s.View.Call[x] + int64(r.IntN(5))
				c.Out[x], c.In[x] = 2*at, 2*at
			}
		}
		hard.AddHard("index", c)
		return hard
	}
	var pairs [][2]int32
	for range 1 + r.IntN(3) {
		a, b := r.Int32N(n), r.Int32N(n)
		if a == b || s.View.Info[a] && r.IntN(4) > 0 {
			continue
		}
		if s.View.Call[a] > s.View.Call[b] && r.IntN(3) > 0 {
			a, b = b, a
		}
		if !s.View.Info[a] || r.IntN(8) == 0 {
			pairs = append(pairs, [2]int32{a, b})
		}
	}
	e, err := order.NewEdges(int(n), pairs, func(int32, int32) string { return "edge" })
	if err != nil {
		return hard
	}
	hard.AddHard("edges", e)
	return hard
}

// TestLogUnderAnyOrderEqualsSearch compares logs under explicit edges and
// further clocks with the search.
func TestLogUnderAnyOrderEqualsSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 4))
	yes, no, left := 0, 0, map[string]int{}
	for range *fuzzN {
		o := small(r)
		ops, ties := generate(r, "log", o)
		s := subject("log", ops, ties)
		hard := hinted(r, s)
		decide := func(noPaths bool) (spec.Part, error) {
			return engine.Decide(context.Background(), engine.Task{Rules: hard, Machine: s.Machine(context.Background(), s.View, false),
				Eager: true, Focus: -1, Mute: true, NoPaths: noPaths})
		}
		want, err := decide(true)
		got, errPath := decide(false)
		if (err == nil) != (errPath == nil) {
			t.Fatalf("errors %v and %v", err, errPath)
		}
		if err != nil || want.Kind == spec.Vacuous {
			continue
		}
		switch {
		case got.Kind != want.Kind:
			t.Fatalf("the path says %v (%s, tried %q), the search %v\n%s%s", got.Kind, got.Engine, got.Tried, want.Kind, show(s), edgesOf(hard))
		case strings.Contains(got.Tried, "hold") || strings.Contains(got.Tried, "possible by themselves"):
			t.Fatalf("%s; the search says %v\n%s%s", got.Tried, want.Kind, show(s), edgesOf(hard))
		case got.Engine != "log":
			left[got.Engine+": "+got.Tried]++
		case got.Kind == spec.Consistent:
			yes++
		default:
			no++
		}
	}
	t.Logf("%d consistent, %d violations; decided by other means: %v", yes, no, left)
	if yes*100 < 15*(yes+no) || no*100 < 15*(yes+no) {
		t.Errorf("verdicts are lopsided")
	}
}

// TestSeenWithoutAnswerBoundsWhatPrecedes: entry 1, which was seen at position 1
// and has no answer, leaves one position to what an edge puts before it, and that
// is taken where it is not entry 4.
func TestSeenWithoutAnswerBoundsWhatPrecedes(t *testing.T) {
	ops := []event{
		{process: 0, call: 0, ret: 9, f: "append", value: 4},
		{process: 1, call: 0, ret: 9, f: "append", value: 6},
		{process: 2, call: 0, lost: true, f: "append", value: 1},
		{process: 3, call: 20, ret: 29, f: "get", index: 0, out: []int{4}},
		{process: 3, call: 30, ret: 39, f: "get", index: 1, out: []int{1}},
	}
	for before, want := range []spec.Kind{spec.Consistent, spec.Violation} {
		s := subject("log", ops, history.TiesPrecede)
		e, err := order.NewEdges(s.View.N, [][2]int32{{int32(before), 2}}, func(int32, int32) string { return "edge" })
		if err != nil {
			t.Fatal(err)
		}
		hard := rules(s)
		hard.AddHard("edges", e)
		for _, noPaths := range []bool{false, true} {
			part, err := engine.Decide(context.Background(), engine.Task{Rules: hard, Machine: s.Machine(context.Background(), s.View, false),
				Eager: true, Focus: -1, Mute: true, NoPaths: noPaths})
			if err != nil || part.Kind != want || (part.Engine == "log") == noPaths {
				t.Errorf("operation %d first: %v by %s (tried %q), %v; want %v", before, part.Kind, part.Engine, part.Tried, err, want)
			}
		}
	}
}

// edgesOf lists what the hints add, for a failing history.
func edgesOf(r *order.Rules) string {
	var b strings.Builder
	last := r.Hard[len(r.Hard)-1]
	for a := range int32(r.View.N) {
		for x := range int32(r.View.N) {
			if a != x && last.Precedes(a, x) {
				b.WriteString(last.Why(a, x))
				b.WriteString(": ")
				b.WriteString(string(rune('0' + a)))
				b.WriteString(" before ")
				b.WriteString(string(rune('0' + x)))
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}
