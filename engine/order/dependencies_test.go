package order

import (
	"flag"
	"math/rand/v2"
	"testing"

	"pinyon/engine/history"
)

var formRuns = flag.Int("forms.runs", 20_000, "random problems for the tests of the forms")

// randomDependencies makes instances of up to three replicas, as correct code
// or as any, with operations without hints among them.
func randomDependencies(rng *rand.Rand) (*history.View, DependencyHints) {
	n := 2 + rng.IntN(7)
	v := &history.View{N: n, Call: make([]int64, n), Ret: make([]int64, n), Info: make([]bool, n)}
	h := DependencyHints{Has: make([]bool, n), Replica: make([]int32, n), Inst: make([]int64, n), Seq: make([]int64, n), Known: make([][]int64, n)}
	if rng.IntN(2) == 0 {
		h.Within = make([]int32, n)
	}
	bare := rng.IntN(3) == 0
	var next [3]int64
	for i := range n {
		v.Call[i] = int64(rng.IntN(2 * n))
		v.Ret[i] = v.Call[i] + int64(rng.IntN(n))
		if h.Within != nil {
			h.Within[i] = int32(rng.IntN(2))
		}
		if bare && rng.IntN(4) == 0 {
			continue
		}
		h.Has[i], h.Replica[i], h.Seq[i] = true, int32(rng.IntN(3)), int64(rng.IntN(4))
		h.Inst[i] = next[h.Replica[i]]
		if rng.IntN(5) > 0 {
			next[h.Replica[i]]++
		}
		for range rng.IntN(4) {
			h.Known[i] = append(h.Known[i], int64(rng.IntN(4))-1)
		}
	}
	return v, h
}

// dependencyTwin is the order by its definition, with double loops.
func dependencyTwin(v *history.View, h *DependencyHints) func(a, b int32) bool {
	n := len(h.Has)
	within := func(i, j int) bool { return h.Within == nil || h.Within[i] == h.Within[j] }
	deps := make([][]bool, n) // deps[b][a]: b depends on a
	bare := make([]bool, n)   // may reach an operation without hints
	for b := range n {
		deps[b] = make([]bool, n)
		for a := range n {
			q := int(h.Replica[a])
			deps[b][a] = a != b && h.Has[a] && h.Has[b] && within(a, b) && q < len(h.Known[b]) && h.Inst[a] <= h.Known[b][q]
		}
		for u := range n {
			if h.Has[b] && !h.Has[u] && within(b, u) && v.Call[u] <= v.Ret[b] {
				for q, known := range h.Known[b] {
					for k := range known + 1 {
						found := false
						for i := range n {
							found = found || h.Has[i] && int(h.Replica[i]) == q && h.Inst[i] == k
						}
						bare[b] = bare[b] || !found
					}
				}
			}
		}
	}
	reach := make([][]bool, n)
	for b := range n {
		reach[b] = append([]bool{}, deps[b]...)
	}
	for k := range n {
		for b := range n {
			for a := range n {
				reach[b][a] = reach[b][a] || reach[b][k] && reach[k][a]
			}
		}
	}
	one := func(a, b int) bool { return a == b || reach[a][b] && reach[b][a] }
	return func(x, y int32) bool {
		a, b := int(x), int(y)
		if !h.Has[a] || !h.Has[b] || !within(a, b) {
			return false
		}
		if one(a, b) {
			return h.Seq[a] < h.Seq[b]
		}
		open, along := bare[a], false
		for c := range n {
			open = open || reach[a][c] && bare[c]
			for d := range n {
				along = along || one(a, c) && one(b, d) && deps[d][c]
			}
		}
		return along && (!open || h.Seq[a] < h.Seq[b])
	}
}

// TestDependencies compares the order by components with its definition.
func TestDependencies(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	var count [2]int
	circles := 0
	for run := range *formRuns {
		v, h := randomDependencies(rng)
		d, twin := NewDependencies(v, h), dependencyTwin(v, &h)
		for a := range int32(v.N) {
			for b := range int32(v.N) {
				if a == b {
					continue
				}
				want := twin(a, b)
				if got := d.Precedes(a, b); got != want {
					t.Fatalf("run %d: %+v\ncalls %v, returns %v: %d before %d: %v, want %v", run, h, v.Call, v.Ret, a, b, got, want)
				}
				if want {
					count[1]++
					if d.Why(a, b) == "" {
						t.Fatal("no reason")
					}
				} else {
					count[0]++
				}
				if want && d.comp[a] == d.comp[b] {
					circles++
				}
			}
		}
	}
	t.Logf("pairs unordered %d, ordered %d, of these in a component %d", count[0], count[1], circles)
	if all := count[0] + count[1]; min(count[0], count[1])*100 < 15*all || circles*100 < all {
		t.Error("the generator tests one side only")
	}
}

// TestIndexes: an index finds what asking every operation finds.
func TestIndexes(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	found, none := 0, 0
	for run := range *formRuns {
		v, h := randomDependencies(rng)
		n := v.N
		clock := func() *Clock {
			c := &Clock{Out: make([]int64, n), In: make([]int64, n)}
			for i := range n {
				c.Out[i], c.In[i] = int64(rng.IntN(4)), int64(rng.IntN(5))
			}
			if rng.IntN(3) == 0 {
				c.Within = make([]int32, n)
				for i := range n {
					c.Within[i] = int32(rng.IntN(3)) - 1
				}
			}
			return c
		}
		var pairs [][2]int32
		for range n {
			if a, b := int32(rng.IntN(n)), int32(rng.IntN(n)); a != b {
				pairs = append(pairs, [2]int32{a, b})
			}
		}
		edges, _ := NewEdges(n, pairs, nil)
		dominance := &Dominance{Clocks: []*Clock{clock(), clock(), clock()}[rng.IntN(2):], AtLeast: rng.IntN(3), few: int32(rng.IntN(3))}
		if rng.IntN(2) == 0 {
			dominance.Must = []*Clock{clock()}
		}
		rels := []Relation{NewDependencies(v, h), edges, dominance}
		rel := rels[rng.IntN(len(rels))]
		if rng.IntN(2) == 0 {
			key := make([]int32, n)
			for i := range key {
				key[i] = int32(rng.IntN(2))
			}
			rel = &oneKey{rel, key}
		}
		if rng.IntN(3) == 0 {
			keep := make([]int32, n)
			for i, x := range rng.Perm(n) {
				keep[i] = int32(x)
			}
			rel = &part{rel, keep}
		}
		var list []int32
		for _, x := range rng.Perm(n)[:n-rng.IntN(2)] {
			list = append(list, int32(x))
		}
		find := rel.(Indexed).Index(list)
		for x := range int32(n) {
			floor, want := int32(rng.IntN(1+rng.IntN(n))), int32(-1)
			for m := int32(len(list)) - 1; m >= floor && want < 0; m-- {
				if list[m] != x && rel.Precedes(list[m], x) {
					want = m
				}
			}
			if got := find(x, floor); got != want {
				t.Fatalf("run %d: %T: the last before %d in %v from %d on is at %d, the index says %d", run, rel, x, list, floor, want, got)
			}
			if want >= 0 {
				found++
			} else {
				none++
			}
		}
	}
	t.Logf("found %d, none %d", found, none)
	if min(found, none)*100 < 15*(found+none) {
		t.Error("the generator tests one side only")
	}
}

// TestSparse: the closure of all order stays what it was.
func TestSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	thinned, refused, fewer := 0, 0, 0
	for run := range *formRuns {
		n := 2 + rng.IntN(8)
		v := &history.View{N: n, Info: make([]bool, n), Call: make([]int64, n)}
		for i := range n {
			v.Info[i], v.Call[i] = rng.IntN(8) == 0, int64(rng.IntN(n))
		}
		r := &Rules{View: v, Hard: randomSources(rng, n)}
		hard, ok := NewGraph(n, r.Hard, v.Info, v.Call, nil).Sparse()
		precede := false
		for _, s := range r.Hard {
			for a := range int32(n) {
				c, clock := s.Relation.(*Clock)
				precede = precede || v.Info[a] && clock && c.Out[a] != OutNever
				for b := range int32(n) {
					precede = precede || a != b && v.Info[a] && !clock && s.Precedes(a, b)
				}
			}
		}
		if ok == precede {
			t.Fatalf("run %d: ok %v, and operations without an answer come before others: %v", run, ok, precede)
		}
		if !ok {
			refused++
			continue
		}
		thinned++
		was, is := newTwin(n, r.Hard, v.Info), newTwin(n, hard, v.Info)
		if was.cyclic() {
			if !is.cyclic() {
				t.Fatalf("run %d: the circle is gone", run)
			}
			continue
		}
		for a := range n {
			for b := range n {
				if was.before[a][b] != is.before[a][b] {
					t.Fatalf("run %d: %d before %d: was %v, is %v", run, a, b, was.before[a][b], is.before[a][b])
				}
			}
		}
		for i, s := range hard {
			if e, ok := s.Relation.(*Edges); ok && r.Hard[i].Relation != s.Relation {
				for a, to := range e.To {
					fewer += len(to)
					for _, b := range to {
						if !r.Hard[i].Precedes(int32(a), b) {
							t.Fatalf("run %d: edge %d to %d is not of the relation", run, a, b)
						}
					}
				}
			}
		}
	}
	t.Logf("thinned %d (%d edges), refused %d", thinned, fewer, refused)
	if min(thinned, refused)*100 < 10*(thinned+refused) {
		t.Error("the generator tests one side only")
	}
}
