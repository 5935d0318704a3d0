package order

import (
	"math"
	"math/rand/v2"
	"testing"

	"pinyon/engine/history"
)

// TestCircleHasNoShortcut: the circle that is shown goes through a required
// operation, and none of its own operations make a shorter one that does.
func TestCircleHasNoShortcut(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range 20_000 {
		n := 3 + rng.IntN(6)
		optional := make([]bool, n)
		for i := range optional {
			optional[i] = rng.IntN(4) == 0
		}
		sources := randomSources(rng, n)
		g := NewGraph(n, sources, optional, make([]int64, n), nil)
		links := g.Cycle()
		if links == nil {
			continue
		}
		found++
		var ops []int32
		for _, l := range links {
			ops = append(ops, l.From)
		}
		for _, start := range ops {
			if short := g.shortest(ops, start); !optional[start] && short != nil && len(short) < len(ops) {
				t.Fatalf("the circle %v has a shorter one in it: %v", ops, short)
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d circles", found)
	}
}

// TestSessionOfUnanswered: an operation without an answer precedes nothing of
// its process, even where a history lets the process go on.
func TestSessionOfUnanswered(t *testing.T) {
	v := history.NewView(&history.Of[int, int]{Ops: []history.Op[int, int]{
		{Invoke: 0, Return: 1}, {Invoke: 2, Outcome: history.Info}, {Invoke: 4, Return: 5}}})
	s := Session(v, nil, false)
	for _, c := range []struct {
		a, b int32
		want bool
	}{{0, 1, true}, {0, 2, true}, {1, 2, false}, {2, 1, false}, {1, 0, false}} {
		if got := s.Precedes(c.a, c.b); got != c.want {
			t.Errorf("%d before %d: %v", c.a, c.b, got)
		}
	}
}

// TestTimesSaturate: adding a bound to a time stays on its side of zero.
func TestTimesSaturate(t *testing.T) {
	for _, c := range [][3]int64{
		{1, 2, 3}, {5, 0, 5}, {5, -7, -2}, {math.MaxInt64 - 1, 1, math.MaxInt64}, {math.MaxInt64 - 1, 5, OutNever},
		{math.MaxInt64, math.MaxInt64, OutNever}, {math.MinInt64 + 1, -5, InNever}, {math.MinInt64, math.MinInt64, InNever},
	} {
		if got := add(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// TestOraclesAreLimitedToOneKey: whatever form an oracle's relation has,
// without AllKeys it orders operations of one key only, and with it all.
func TestOraclesAreLimitedToOneKey(t *testing.T) {
	v := history.NewView(&history.Of[int, int]{Ops: []history.Op[int, int]{
		{Process: 0, Key: "x"}, {Process: 1, Key: "x"}, {Process: 2, Key: "y"}}})
	edges, err := NewEdges(3, [][2]int32{{0, 1}, {0, 2}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, in := []int64{0, 5, 5}, []int64{0, 1, 1}
	for name, rel := range map[string]Relation{
		"clock":  &Clock{Out: out, In: in},
		"groups": &Clock{Out: out, In: in, Within: []int32{7, 7, 7}},
		"edges":  edges,
		"pair":   &Pair{Before: func(a, b int32) bool { return a == 0 && b != 0 }},
	} {
		for _, all := range []bool{false, true} {
			o := Oracle{Name: "o", AllKeys: all, Order: func(_ *history.View, r *Rules) error { r.AddHard("", rel); return nil }}
			r := NewRules(v)
			if err := o.Apply(r); err != nil {
				t.Fatal(err)
			}
			if s := r.Hard[0]; !s.Precedes(0, 1) || s.Precedes(0, 2) != all || s.PerKey == all || s.CrossKey != all {
				t.Errorf("%s, all keys %v: %v %v, %+v", name, all, s.Precedes(0, 1), s.Precedes(0, 2), s)
			}
		}
	}
}
