package order

import (
	"fmt"
	"slices"

	"pinyon/engine/history"
)

// MaxReplicas bounds the numbers of replicas: an operation of a greater one
// counts as one without hints.
const MaxReplicas = 1024

// DependencyHints are the columns of a dependency graph in which each replica
// numbers its own instances: operation b depends on operation a when
// a.Inst <= b.Known[a.Replica].
type DependencyHints struct {
	Has     []bool    // the operation has all of the hints below
	Replica []int32   // that led the operation; from 0
	Inst    []int64   // its instance there
	Seq     []int64   // its sequence number, which breaks circles
	Known   [][]int64 // by replica: the last instance that it depends on; beyond the end: none
	Within  []int32   // operations of one group may depend on each other; nil: all
}

// Dependencies is the order in which EPaxos executes (Moraru, Andersen and
// Kaminsky, 2013, section 4.3.1): strongly connected components of the
// dependency graph come in the order of their dependencies, and inside a
// component a lower sequence number comes first; equal ones stay unordered.
//
// An operation without hints may stand anywhere in the graph, and could join
// two components into one, whose members then go by sequence number. So where
// an operation may depend on one without hints, whatever comes after it must
// have a greater sequence number for the edge to stand: it then comes after it
// either way. An operation may depend on one without hints that was invoked
// before it returned, if among the instances that its dependencies reach there
// is one that no recorded operation has, or through its dependencies.
type Dependencies struct {
	h          DependencyHints
	replicas   int
	comp       []int32
	low, known []int64 // component*replicas + replica: least instance of a member, greatest dependency
	open       []bool  // by component
}

// NewDependencies builds the relation in O(n*replicas*log n). v gives the times.
func NewDependencies(v *history.View, h DependencyHints) *Dependencies {
	d := &Dependencies{h: h}
	for i, has := range h.Has {
		if has {
			d.replicas = max(d.replicas, min(len(h.Known[i]), MaxReplicas), int(h.Replica[i])+1)
		}
	}
	g := d.graph()
	comp, count := scc(g.succ)
	d.comp = comp[:len(h.Has)]
	d.low, d.known = slices.Repeat([]int64{OutNever}, count*d.replicas), slices.Repeat([]int64{InNever}, count*d.replicas)
	for i, has := range h.Has {
		if !has {
			continue
		}
		at := int(d.comp[i]) * d.replicas
		d.low[at+int(h.Replica[i])] = min(d.low[at+int(h.Replica[i])], h.Inst[i])
		for q, n := range h.Known[i][:min(len(h.Known[i]), d.replicas)] {
			d.known[at+q] = max(d.known[at+q], n)
		}
	}
	d.open = d.reach(g.succ, comp, count, d.directlyOpen(v))
	return d
}

// dependencyGraph is the dependency graph, with nodes behind those of the operations so
// that it has few edges: node k of a replica and group depends on node k-1 and
// on the operations of the k-th instance there.
type dependencyGraph struct {
	succ [][]int32
}

// replicaGroup is a replica and a group of operations.
type replicaGroup struct{ replica, group int32 }

func (d *Dependencies) group(i int32) int32 {
	if d.h.Within == nil {
		return 0
	}
	return d.h.Within[i]
}

func (d *Dependencies) graph() *dependencyGraph {
	h := &d.h
	g := &dependencyGraph{succ: make([][]int32, len(h.Has))}
	at := map[replicaGroup][]int32{} // operations
	var places []replicaGroup
	for i, has := range h.Has {
		if !has {
			continue
		}
		p := replicaGroup{h.Replica[i], d.group(int32(i))}
		if at[p] == nil {
			places = append(places, p)
		}
		at[p] = append(at[p], int32(i))
	}
	type row struct {
		insts []int64
		first int32 // node of insts[0]
	}
	rows := map[replicaGroup]row{}
	for _, p := range places {
		ops := at[p]
		slices.SortStableFunc(ops, func(a, b int32) int { return compareInts(h.Inst[a], h.Inst[b]) })
		r := row{first: int32(len(g.succ))}
		for k, op := range ops {
			if k == 0 || h.Inst[ops[k-1]] != h.Inst[op] {
				r.insts = append(r.insts, h.Inst[op])
				g.succ = append(g.succ, nil)
				if node := len(g.succ) - 1; node > int(r.first) {
					g.succ[node] = append(g.succ[node], int32(node-1))
				}
			}
			node := len(g.succ) - 1
			g.succ[node] = append(g.succ[node], op)
		}
		rows[p] = r
	}
	for i, has := range h.Has {
		if !has {
			continue
		}
		for q, known := range h.Known[i][:min(len(h.Known[i]), d.replicas)] {
			r := rows[replicaGroup{int32(q), d.group(int32(i))}]
			if k, same := slices.BinarySearch(r.insts, known); same {
				g.succ[i] = append(g.succ[i], r.first+int32(k))
			} else if k > 0 {
				g.succ[i] = append(g.succ[i], r.first+int32(k)-1)
			}
		}
	}
	return g
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// directlyOpen says which operations may depend on one without hints.
func (d *Dependencies) directlyOpen(v *history.View) []bool {
	open := make([]bool, len(d.h.Has))
	first := map[int32]int64{} // by group: the first call of an operation without hints
	taken := make([][]int64, d.replicas)
	for i, has := range d.h.Has {
		if has {
			q := d.h.Replica[i]
			taken[q] = append(taken[q], d.h.Inst[i])
			continue
		}
		call, ok := first[d.group(int32(i))]
		if !ok || v.Call[i] < call {
			first[d.group(int32(i))] = v.Call[i]
		}
	}
	for q := range taken {
		slices.Sort(taken[q])
		taken[q] = slices.Compact(taken[q])
	}
	for i, has := range d.h.Has {
		call, some := first[d.group(int32(i))]
		if !has || !some || v.ClockError.ByNode == nil && call > add(v.Ret[i], 2*v.ClockError.All) {
			continue
		}
		for q, known := range d.h.Known[i] {
			open[i] = open[i] || d.hole(taken, q, known)
		}
	}
	return open
}

// hole reports whether some instance of replica q from 0 to known is no
// recorded operation's.
func (d *Dependencies) hole(taken [][]int64, q int, known int64) bool {
	if known < 0 {
		return false
	}
	if q >= len(taken) {
		return true
	}
	from, _ := slices.BinarySearch(taken[q], 0)
	to, same := slices.BinarySearch(taken[q], known)
	if same {
		to++
	}
	return uint64(to-from) < uint64(known)+1
}

// reach carries what is true of some operations to all components that depend
// on them. Components are numbered behind what they depend on.
func (d *Dependencies) reach(succ [][]int32, comp []int32, count int, of []bool) []bool {
	members := make([][]int32, count)
	for node := range succ {
		members[comp[node]] = append(members[comp[node]], int32(node))
	}
	out := make([]bool, count)
	for c, nodes := range members {
		for _, node := range nodes {
			out[c] = out[c] || int(node) < len(of) && of[node]
			for _, s := range succ[node] {
				out[c] = out[c] || out[comp[s]]
			}
		}
	}
	return out
}

// Precedes implements Relation.
func (d *Dependencies) Precedes(a, b int32) bool {
	if !d.h.Has[a] || !d.h.Has[b] || d.group(a) != d.group(b) {
		return false
	}
	if d.comp[a] == d.comp[b] {
		return d.h.Seq[a] < d.h.Seq[b]
	}
	return d.depends(a, b) >= 0 && (!d.open[d.comp[a]] || d.h.Seq[a] < d.h.Seq[b])
}

// depends returns a replica through which the component of b depends on that of
// a, or -1.
func (d *Dependencies) depends(a, b int32) int {
	low, known := d.row(d.low, a), d.row(d.known, b)
	for q := range low {
		if low[q] != OutNever && low[q] <= known[q] {
			return q
		}
	}
	return -1
}

func (d *Dependencies) row(of []int64, op int32) []int64 {
	at := int(d.comp[op]) * d.replicas
	return of[at : at+d.replicas]
}

// Why implements Relation.
func (d *Dependencies) Why(a, b int32) string {
	h := &d.h
	if d.comp[a] == d.comp[b] {
		return fmt.Sprintf("each depends on the other, seq %d < %d", h.Seq[a], h.Seq[b])
	}
	q := h.Replica[a]
	if int(q) < len(h.Known[b]) && h.Inst[a] <= h.Known[b][q] {
		return fmt.Sprintf("it depends on it: instance %d of replica %d <= deps[%d] %d", h.Inst[a], q, q, h.Known[b][q])
	}
	r := d.depends(a, b)
	return fmt.Sprintf("what depends on each other with it depends on instance %d of replica %d, which is executed together with it",
		d.row(d.low, a)[r], r)
}

// Index implements Indexed: a stretch of the list on which no component has an
// instance that x's component depends on is passed at once.
func (d *Dependencies) Index(list []int32) func(x, floor int32) int32 {
	if d.replicas == 0 {
		return func(_, _ int32) int32 { return -1 }
	}
	t := newMinTree(len(list), d.replicas, func(m, q int) int64 {
		if !d.h.Has[list[m]] {
			return OutNever
		}
		return d.row(d.low, list[m])[q]
	})
	return func(x, floor int32) int32 {
		if !d.h.Has[x] {
			return -1
		}
		known := d.row(d.known, x)
		may := func(least []int64) bool {
			for q, n := range least {
				if n != OutNever && n <= known[q] {
					return true
				}
			}
			return false
		}
		return t.last(floor, int32(len(list)), may, func(m int32) bool { return list[m] != x && d.Precedes(list[m], x) })
	}
}
