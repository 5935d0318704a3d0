package order

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var frontierRuns = flag.Int("frontier.runs", 100_000, "random problems for TestFrontierEqualsClosure")

// twin is hard order by its definition: the closure, by Warshall's algorithm,
// of the union of all relations over all operations.
type twin struct {
	n       int
	before  [][]bool
	options []bool
}

func newTwin(n int, sources []Source, optional []bool) *twin {
	w := &twin{n, make([][]bool, n), optional}
	for a := range n {
		w.before[a] = make([]bool, n)
		for b := range n {
			for _, s := range sources {
				if a != b && s.Precedes(int32(a), int32(b)) {
					w.before[a][b] = true
				}
			}
		}
	}
	for k := range n {
		for a := range n {
			for b := range n {
				if w.before[a][k] && w.before[k][b] {
					w.before[a][b] = true
				}
			}
		}
	}
	return w
}

func (w *twin) ready(placed []bool, x int) bool {
	if placed[x] || w.before[x][x] {
		return false
	}
	for y := range w.n {
		if placed[y] && w.before[x][y] || !w.options[y] && !placed[y] && w.before[y][x] {
			return false
		}
	}
	return true
}

func (w *twin) strict(placed []bool, x int) bool {
	for y := range w.n {
		if placed[y] || !w.before[y][x] {
			continue
		}
		dropped := w.before[y][y]
		for z := range w.n {
			dropped = dropped || placed[z] && w.before[y][z]
		}
		if !dropped {
			return false
		}
	}
	return true
}

func (w *twin) cyclic() bool {
	for x := range w.n {
		if w.before[x][x] && !w.options[x] {
			return true
		}
	}
	return false
}

// randomSources mixes every form of relation, over operations that lie on a
// hidden line most of the time, so that circles are rare but occur.
func randomSources(rng *rand.Rand, n int) []Source {
	line := rng.Perm(n)
	forwards := func(a, b int32) bool { return line[a] < line[b] }
	var sources []Source
	add := func(name string, r Relation) { sources = append(sources, Source{Relation: r, Name: name}) }
	clock := func(slack int) *Clock {
		c := &Clock{Name: "clock", Out: make([]int64, n), In: make([]int64, n)}
		for i := range n {
			c.Out[i], c.In[i] = int64(line[i]+rng.IntN(slack+1)), int64(line[i]-rng.IntN(slack+1))
			if rng.IntN(4) == 0 {
				c.Out[i] = OutNever
			}
			if rng.IntN(4) == 0 {
				c.In[i] = InNever
			}
			if rng.IntN(40) == 0 {
				c.In[i] = int64(rng.IntN(2 * n))
			}
		}
		return c
	}
	for rng.IntN(3) > 0 {
		c := clock(rng.IntN(4))
		if rng.IntN(2) == 0 {
			c.Within = make([]int32, n)
			for i := range c.Within {
				c.Within[i] = int32(rng.IntN(3)) - int32(rng.IntN(2))
			}
		}
		add("clock", c)
	}
	dense := rng.IntN(6)
	bits := make([]bool, n*n)
	for i := range bits {
		bits[i] = rng.IntN(6) < dense
	}
	if rng.IntN(2) == 0 {
		add("pair", &Pair{Before: func(a, b int32) bool { return forwards(a, b) && bits[int(a)*n+int(b)] }})
	}
	if rng.IntN(3) == 0 {
		add("dominance", &Dominance{Clocks: []*Clock{clock(1), clock(2)}})
	}
	if rng.IntN(2) == 0 {
		var pairs [][2]int32
		for range rng.IntN(n + 1) {
			a, b := int32(rng.IntN(n)), int32(rng.IntN(n))
			if a != b && (forwards(a, b) || rng.IntN(12) == 0) {
				pairs = append(pairs, [2]int32{a, b})
			}
		}
		e, _ := NewEdges(n, pairs, nil)
		add("edges", e)
	}
	return sources
}

// TestFrontierEqualsClosure compares what may come next with the definition,
// at every step of random walks: relations that are not monotone along a
// chain, optional operations in between, circles.
func TestFrontierEqualsClosure(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cycles, bridged, dropped := 0, 0, 0
	for run := range *frontierRuns {
		n := 2 + rng.IntN(9)
		optional, call := make([]bool, n), make([]int64, n)
		for i := range n {
			optional[i], call[i] = rng.IntN(4) == 0, int64(rng.IntN(n))
		}
		sources := randomSources(rng, n)
		g := NewGraph(n, sources, optional, call, nil)
		w := newTwin(n, sources, optional)
		links := g.Cycle()
		if (links != nil) != w.cyclic() {
			t.Fatalf("run %d: cycle %v, the closure says %v", run, links, w.cyclic())
		}
		if links != nil {
			cycles++
			checkLinks(t, run, links, optional)
		}
		f, placed := g.NewFrontier(), make([]bool, n)
		var trail []int32
		for range 3 * n {
			var ready []int32
			for x := range n {
				want := w.ready(placed, x)
				if got := f.Ready(int32(x)); got != want {
					t.Fatalf("run %d: Ready(%d) = %v after %v, the closure says %v", run, x, got, trail, want)
				}
				if want {
					ready = append(ready, int32(x))
					strict := w.strict(placed, x)
					if got := f.Strict(int32(x)); got != strict {
						t.Fatalf("run %d: Strict(%d) = %v after %v, the closure says %v", run, x, got, trail, strict)
					}
					if !strict {
						dropped++
					}
				}
				if g.Bridge(int32(x)) {
					bridged++
				}
			}
			if len(ready) == 0 || len(trail) > 0 && rng.IntN(3) == 0 {
				if len(trail) == 0 {
					break
				}
				x := trail[len(trail)-1]
				trail = trail[:len(trail)-1]
				f.Unplace(x)
				placed[x] = false
				continue
			}
			x := ready[rng.IntN(len(ready))]
			f.Place(x)
			placed[x] = true
			trail = append(trail, x)
		}
	}
	t.Logf("%d problems, %d with a circle, %d looks at bridges, %d placements that drop one", *frontierRuns, cycles, bridged, dropped)
	if cycles == 0 || bridged == 0 || dropped == 0 {
		t.Fatal("the generator misses a case")
	}
}

func checkLinks(t *testing.T, run int, links []Link, optional []bool) {
	t.Helper()
	required := false
	for i, l := range links {
		required = required || !optional[l.From]
		if l.Source.Relation == nil || !l.Source.Precedes(l.From, l.To) || l.To != links[(i+1)%len(links)].From {
			t.Fatalf("run %d: broken circle %v", run, links)
		}
	}
	if !required {
		t.Fatalf("run %d: a circle of optional operations only: %v", run, links)
	}
}
