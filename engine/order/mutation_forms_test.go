package order

import (
	"math/rand/v2"
	"testing"
)

// TestForms compares the forms of relations with what they are defined to be.
func TestForms(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	edges := 0
	for range 3000 {
		n := int32(2 + rng.IntN(6))
		rank := make([]int64, n)
		deps := make([][]int32, n)
		for i := range rank {
			rank[i] = int64(rng.IntN(3))
			for range rng.IntN(3) {
				if d := int32(rng.IntN(int(n))); d != int32(i) {
					deps[i] = append(deps[i], d)
				}
			}
		}
		c, err := NewComponents(deps, rank)
		if err != nil {
			t.Fatal(err)
		}
		reach := reachable(deps)
		for a := range n {
			for b := range n {
				if a == b {
					continue
				}
				want := reach[a][b] && reach[b][a] && rank[a] < rank[b]
				for d := range n { // or a member of b's component depends on one of a's
					for e := range n {
						want = want || !(reach[a][b] && reach[b][a]) && same(reach, a, d) && same(reach, b, e) && has(deps[e], d)
					}
				}
				if got := c.Precedes(a, b); got != want {
					t.Fatalf("deps %v, ranks %v: %d before %d: %v, want %v", deps, rank, a, b, got, want)
				}
				if want {
					edges++
				}
			}
		}
	}
	if edges < 1000 {
		t.Errorf("only %d edges", edges)
	}
}

// reachable[b][a]: b depends on a, directly or not.
func reachable(deps [][]int32) [][]bool {
	n := len(deps)
	r := make([][]bool, n)
	for b := range r {
		r[b] = make([]bool, n)
		for _, a := range deps[b] {
			r[b][a] = true
		}
	}
	for k := range n {
		for b := range n {
			for a := range n {
				r[b][a] = r[b][a] || r[b][k] && r[k][a]
			}
		}
	}
	return r
}

func same(reach [][]bool, a, b int32) bool { return a == b || reach[a][b] && reach[b][a] }

func has(list []int32, x int32) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// TestVectorClocks: a precedes b exactly when b knew of a's replica up to a.
func TestVectorClocks(t *testing.T) {
	replica := []int32{0, 1, 0, -1, 1}
	seq := []int64{1, 1, 2, 5, 2}
	known := [][]int64{{1, 0}, {1, 1}, {2, 1}, {9, 9}, {1}}
	clocks := Vector("v", 2, replica, seq, known)
	for a := range int32(5) {
		for b := range int32(5) {
			if a == b {
				continue
			}
			want := replica[a] >= 0 && int(replica[a]) < len(known[b]) && known[b][replica[a]] >= seq[a]
			got := clocks[0].Precedes(a, b) || clocks[1].Precedes(a, b)
			if got != want {
				t.Errorf("%d before %d: %v, want %v", a, b, got, want)
			}
		}
	}
}

// TestDominance: every clock must say so, and no clock says nothing.
func TestDominance(t *testing.T) {
	clock := func(at ...int64) *Clock { return &Clock{Out: at, In: at} }
	d := &Dominance{Clocks: []*Clock{clock(1, 2, 3), clock(1, 3, 2)}}
	for a, row := range [][]bool{{false, true, true}, {false, false, false}, {false, false, false}} {
		for b, want := range row {
			if got := d.Precedes(int32(a), int32(b)); a != b && got != want {
				t.Errorf("%d before %d: %v", a, b, got)
			}
		}
	}
	if (&Dominance{}).Precedes(0, 1) {
		t.Error("no clock orders two operations")
	}
}
