package order

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestCoverOfAClock: the tree finds the chain that asking each finds.
func TestCoverOfAClock(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	several := 0
	for run := range *formRuns {
		n := 1 + rng.IntN(40)
		c := &Clock{Out: make([]int64, n), In: make([]int64, n)}
		optional, call := make([]bool, n), make([]int64, n)
		for i := range n {
			call[i] = int64(rng.IntN(30))
			c.In[i], c.Out[i] = call[i], call[i]+int64(rng.IntN(12))
			switch rng.IntN(12) {
			case 0:
				c.Out[i] = OutNever
			case 1:
				c.In[i] = InNever
			}
			optional[i] = c.Out[i] == OutNever && rng.IntN(2) == 0
		}
		sources := []Source{{Relation: c}}
		tree := NewIntervalGraph(sources, optional, call, c.In, c.Out)
		each := NewGraph(n, sources, optional, call, nil)
		if got, want := fmt.Sprint(tree.Chains, tree.chain, tree.pos), fmt.Sprint(each.Chains, each.chain, each.pos); got != want {
			t.Fatalf("run %d: %+v\ncalls %v: %s, want %s", run, c, call, got, want)
		}
		if len(tree.Chains) > 4 {
			several++
		}
	}
	if several*4 < *formRuns {
		t.Errorf("%d of %d have more than four chains", several, *formRuns)
	}
}

// asked is a relation that counts the questions since the last check whether to
// stop, or the first that said so.
type asked struct {
	*Clock
	count int
}

func (a *asked) Precedes(x, y int32) bool {
	a.count++
	return a.Clock.Precedes(x, y)
}

// Index hides the clock's.
func (a *asked) Index(list []int32) func(x, floor int32) int32 {
	return index(struct{ Relation }{a}, list)
}

// TestGraphStops: the making of a graph of operations that nearly all overlap,
// and of others without an answer that precede some, asks little more once it is
// told to stop, whenever that is.
func TestGraphStops(t *testing.T) {
	const n, lost = 200, 40
	rel := &asked{Clock: &Clock{Out: make([]int64, n), In: make([]int64, n)}}
	optional := make([]bool, n)
	for i := range n {
		optional[i] = i < lost
		if rel.In[i], rel.Out[i] = int64(i), int64(i+n); optional[i] {
			rel.Out[i] = int64(i + 1)
		}
	}
	longest := 0
	stops := func(after int) (checks int) {
		rel.count = 0
		g := NewGraph(n, []Source{{Relation: rel}}, optional, rel.In, func() bool {
			if checks++; checks <= after+1 {
				longest, rel.count = max(longest, rel.count), 0
			}
			return checks > after
		})
		if (g == nil) != (checks > after) {
			t.Fatalf("told to stop after %d of %d checks, a graph: %v", after, checks, g != nil)
		}
		return checks
	}
	whole := stops(1 << 40)
	for after := 0; after < whole; after++ {
		if after < whole-2*lost { // all of the last ones, and some of the others
			after = min(after+whole/100, whole-2*lost)
		}
		if stops(after); rel.count > n {
			t.Fatalf("told to stop after %d checks of %d, it asked %d times", after, whole, rel.count)
		}
	}
	if longest > 4*n {
		t.Errorf("it asked %d times without a check", longest)
	}
}
