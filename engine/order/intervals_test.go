package order

import (
	"math/rand/v2"
	"testing"

	"pinyon/engine/history"
)

// TestIntervals compares Intervals with the definition: some clock orders all
// operations as intervals, none without an answer comes before any, and no
// pair is ordered by another source alone.
func TestIntervals(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	yes, no := 0, 0
	for range 20_000 {
		r := randomRules(rng)
		in, out, ok := Intervals(r)
		want := false
		for _, s := range r.Hard {
			want = want || isWhole(r, s.Relation.(*Clock))
		}
		if ok != want {
			t.Fatalf("%v, want %v: %v", ok, want, describe(r))
		}
		if !ok {
			no++
			continue
		}
		yes++
		for a := range int32(r.View.N) {
			for b := range int32(r.View.N) {
				if a != b && precedes(r, a, b) != (out[a] < in[b]) {
					t.Fatalf("%d before %d: the sources say %v: %v", a, b, precedes(r, a, b), describe(r))
				}
			}
		}
	}
	t.Logf("%d interval orders, %d others", yes, no)
	if yes*100 < 15*(yes+no) || no*100 < 15*(yes+no) {
		t.Error("lopsided")
	}
}

// randomRules are one to three clocks, mostly real time and sessions as a
// history gives them, with ties, instants and unanswered operations.
func randomRules(rng *rand.Rand) *Rules {
	n := 1 + rng.IntN(6)
	ops := make([]history.Op[int, int], n)
	free := make([]int64, 3)
	for i := range ops {
		p := rng.IntN(3)
		o := history.OK
		if rng.IntN(5) == 0 {
			o = history.Info
		}
		from := free[p] + int64(rng.IntN(3))
		ops[i] = history.Op[int, int]{Process: p, Invoke: from, Return: from + int64(rng.IntN(3)), Outcome: o}
		free[p] = ops[i].Return
	}
	h := &history.Of[int, int]{Ops: ops}
	if rng.IntN(2) == 0 {
		h.Header.Ties = history.TiesPrecede
	}
	if rng.IntN(4) == 0 {
		h.Header.ClockError.All = 1
	}
	r := NewRules(history.NewView(h))
	if rng.IntN(4) > 0 {
		r.Hard = append(r.Hard, Session(r.View, nil, false))
	}
	if len(r.Hard) == 0 || rng.IntN(4) > 0 {
		r.Hard = append(r.Hard, RealTime(r.View, Span{})...)
	}
	if rng.IntN(4) == 0 {
		r.AddHard("x", randomClock(rng, n))
	}
	return r
}

// randomClock now and then ends operations before they begin, in groups.
func randomClock(rng *rand.Rand, n int) *Clock {
	c := &Clock{Name: "x", Out: make([]int64, n), In: make([]int64, n)}
	for i := range n {
		c.In[i] = int64(rng.IntN(4))
		c.Out[i] = c.In[i] + int64(rng.IntN(3))
		if rng.IntN(10) == 0 {
			c.Out[i]--
		}
	}
	if rng.IntN(2) == 0 {
		c.Within = make([]int32, n)
		for i := range c.Within {
			c.Within[i] = int32(rng.IntN(3)) - 1
		}
	}
	return c
}

func precedes(r *Rules, a, b int32) bool {
	for _, s := range r.Hard {
		if s.Precedes(a, b) {
			return true
		}
	}
	return false
}

// isWhole is the definition for one clock.
func isWhole(r *Rules, c *Clock) bool {
	for a := range int32(r.View.N) {
		if c.In[a] > c.Out[a] || r.View.Info[a] && c.Out[a] != OutNever {
			return false
		}
		if c.Within != nil && (c.Within[a] < 0 || c.Within[a] != c.Within[0]) {
			return false
		}
		for b := range int32(r.View.N) {
			if a != b && precedes(r, a, b) && c.Out[a] >= c.In[b] {
				return false
			}
		}
	}
	return true
}

func describe(r *Rules) (clocks []Clock) {
	for _, s := range r.Hard {
		c := *s.Relation.(*Clock)
		c.Reason = nil
		clocks = append(clocks, c)
	}
	return clocks
}
