package order

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Edges is a relation of explicit edges: To[a] are the operations that a
// precedes directly.
type Edges struct {
	To     [][]int32
	Reason func(a, b int32) string
	sorted map[int32][]int32 // the long lists of To, ascending
	turn   sync.Once
	from   [][]int32 // To turned round, once it is needed
}

// short is the length up to which a list of edges is looked through as it is.
const short = 16

// NewEdges returns the relation of the given pairs (from, to) over n
// operations. Pairs of an operation with itself are refused.
func NewEdges(n int, pairs [][2]int32, reason func(a, b int32) string) (*Edges, error) {
	e := &Edges{To: make([][]int32, n), Reason: reason, sorted: map[int32][]int32{}}
	ends := make([]int32, n+1) // of the stretch of each operation
	for _, p := range pairs {
		if p[0] == p[1] {
			return nil, fmt.Errorf("an edge orders operation %d before itself", p[0])
		}
		ends[p[0]+1]++
	}
	for a := range n {
		ends[a+1] += ends[a]
	}
	all, next := make([]int32, len(pairs)), slices.Clone(ends)
	for _, p := range pairs {
		all[next[p[0]]] = p[1]
		next[p[0]]++
	}
	seen := make([]int32, n) // the last operation, from 1 on, that was found to precede it
	for a := range int32(n) {
		to := all[ends[a]:ends[a]:ends[a+1]]
		for _, b := range all[ends[a]:ends[a+1]] {
			if seen[b] != a+1 {
				seen[b] = a + 1
				to = append(to, b)
			}
		}
		if len(to) > 0 {
			e.To[a] = to
		}
		if len(to) > short {
			e.sorted[a] = slices.Sorted(slices.Values(to))
		}
	}
	return e, nil
}

// Precedes implements Relation.
func (e *Edges) Precedes(a, b int32) bool {
	if len(e.To[a]) <= short {
		return slices.Contains(e.To[a], b)
	}
	_, ok := slices.BinarySearch(e.sorted[a], b)
	return ok
}

// Why implements Relation.
func (e *Edges) Why(a, b int32) string {
	if e.Reason == nil {
		return "explicit edge"
	}
	return e.Reason(a, b)
}

// Vector returns the order of vector clocks as one clock per replica: a
// precedes b iff seq[a] <= known[b][replica[a]], that is, b knew of a's replica
// at least up to a. A negative replica, or a vector too short, is missing.
// Names: "NAME[replica]".
func Vector(name string, replicas int, replica []int32, seq []int64, known [][]int64) []*Clock {
	clocks := make([]*Clock, replicas)
	for q := range clocks {
		c := &Clock{Name: fmt.Sprintf("%s[%d]", name, q), Out: make([]int64, len(seq)), In: make([]int64, len(seq))}
		for i := range seq {
			c.Out[i], c.In[i] = OutNever, InNever
			if replica[i] == int32(q) {
				c.Out[i] = seq[i]
			}
			if q < len(known[i]) && known[i][q] < OutNever {
				c.In[i] = known[i][q] + 1
			}
			// An operation knows of itself; that orders nothing.
			if replica[i] == int32(q) && c.In[i] > seq[i] {
				c.In[i] = seq[i]
			}
		}
		clocks[q] = c
	}
	return clocks
}

// Dominance is the relation "all of Must, and at least AtLeast of Clocks (0: all
// of them), order a before b". It is not a clock.
type Dominance struct {
	Must, Clocks []*Clock
	AtLeast      int
	Reason       func(a, b int32) string // nil: the clocks'

	few int32 // so many operations an index asks one by one; 0: 64
}

// Precedes implements Relation.
func (d *Dominance) Precedes(a, b int32) bool {
	for _, c := range d.Must {
		if !c.Precedes(a, b) {
			return false
		}
	}
	lacking := len(d.Clocks) - d.AtLeast // that many may say no
	if d.AtLeast == 0 {
		lacking = 0
	}
	for _, c := range d.Clocks {
		if !c.Precedes(a, b) {
			if lacking--; lacking < 0 {
				return false
			}
		}
	}
	return len(d.Must)+len(d.Clocks) > 0
}

// Why implements Relation.
func (d *Dominance) Why(a, b int32) string {
	if d.Reason != nil {
		return d.Reason(a, b)
	}
	s := ""
	for _, c := range slices.Concat(d.Must, d.Clocks) {
		if !c.Precedes(a, b) {
			continue
		}
		if s != "" {
			s += ", "
		}
		s += c.Why(a, b)
	}
	return s
}

// Index implements Indexed: what comes before x on a clock has an Out below
// x's In. From some position on, no Out of a clock that must agree is that low,
// so only what stands before that position is looked at; and where that is
// long, a stretch whose least Out is too great on a clock of Must, or on too
// many of Clocks, is passed at once.
func (d *Dominance) Index(list []int32) func(x, floor int32) int32 {
	clocks := slices.Concat(d.Must, d.Clocks)
	if len(clocks) == 0 {
		return func(_, _ int32) int32 { return -1 }
	}
	must, spare := len(d.Must), len(d.Clocks)-d.AtLeast
	if d.AtLeast == 0 || spare == 0 { // all must agree
		must, spare = len(clocks), 0
	}
	ends, few := newSuffixes(list, clocks[:must]), cmp.Or(d.few, 64)
	var t *minTree
	in := make([]int64, len(clocks))
	may := func(least []int64) bool {
		left := spare
		for k, n := range in {
			if least[k] < n {
				continue
			}
			if left--; k < must || left < 0 {
				return false
			}
		}
		return true
	}
	return func(x, floor int32) int32 {
		for k, c := range clocks {
			in[k] = c.In[x]
		}
		exact := func(m int32) bool { return list[m] != x && d.Precedes(list[m], x) }
		end := ends.bound(max(floor, 0), in)
		if end-floor > few {
			if t == nil {
				t = newMinTree(len(list), len(clocks), func(m, k int) int64 { return clocks[k].Out[list[m]] })
			}
			return t.last(floor, end, may, exact)
		}
		for m := end - 1; m >= floor && m >= 0; m-- {
			if exact(m) {
				return m
			}
		}
		return -1
	}
}

// Components is the order of a dependency graph by its strongly connected
// components: along the graph between components, by rank within one, equal
// ranks unordered (EPaxos' execution order). deps[b] are the operations that b
// depends on; an operation does not depend on itself.
type Components struct {
	comp []int32
	rank []int64
	deps *Edges // direct dependencies between components, component numbers
}

// NewComponents builds the relation.
func NewComponents(deps [][]int32, rank []int64) (*Components, error) {
	comp, n := scc(deps)
	c := &Components{comp: comp, rank: rank}
	var pairs [][2]int32
	for b := range deps {
		for _, a := range deps[b] {
			if comp[a] != comp[b] {
				pairs = append(pairs, [2]int32{comp[a], comp[b]})
			}
		}
	}
	var err error
	c.deps, err = NewEdges(n, pairs, nil)
	return c, err
}

// Precedes implements Relation.
func (c *Components) Precedes(a, b int32) bool {
	if c.comp[a] == c.comp[b] {
		return c.rank[a] < c.rank[b]
	}
	return c.deps.Precedes(c.comp[a], c.comp[b])
}

// Why implements Relation.
func (c *Components) Why(a, b int32) string {
	if c.comp[a] == c.comp[b] {
		return fmt.Sprintf("one dependency component, rank %d < %d", c.rank[a], c.rank[b])
	}
	return "a dependency of its component"
}

// scc numbers the strongly connected components of a graph given by successor
// lists (Tarjan, 1972, without recursion).
func scc(succ [][]int32) (comp []int32, count int) {
	n := len(succ)
	t := &tarjan{succ: succ, index: make([]int32, n), low: make([]int32, n), next: make([]int32, n), comp: make([]int32, n)}
	for i := range t.comp {
		t.comp[i] = -1
	}
	for v := range succ {
		if t.index[v] == 0 {
			t.visit(int32(v))
		}
	}
	return t.comp, int(t.count)
}

type tarjan struct {
	succ             [][]int32
	index, low, next []int32 // index counts from 1; 0: not seen
	comp             []int32
	stack, path      []int32
	seen, count      int32
}

func (t *tarjan) push(v int32) {
	t.seen++
	t.index[v], t.low[v] = t.seen, t.seen
	t.stack, t.path = append(t.stack, v), append(t.path, v)
}

func (t *tarjan) visit(root int32) {
	t.push(root)
	for len(t.path) > 0 {
		v := t.path[len(t.path)-1]
		if int(t.next[v]) < len(t.succ[v]) {
			w := t.succ[v][t.next[v]]
			t.next[v]++
			if t.index[w] == 0 {
				t.push(w)
			} else if t.comp[w] < 0 {
				t.low[v] = min(t.low[v], t.index[w])
			}
			continue
		}
		t.path = t.path[:len(t.path)-1]
		if len(t.path) > 0 {
			p := t.path[len(t.path)-1]
			t.low[p] = min(t.low[p], t.low[v])
		}
		if t.low[v] == t.index[v] {
			t.close(v)
		}
	}
}

// close takes the component whose first-seen member is v off the stack.
func (t *tarjan) close(v int32) {
	for {
		w := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.comp[w] = t.count
		if w == v {
			break
		}
	}
	t.count++
}
