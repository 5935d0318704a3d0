package paths

import (
	"cmp"
	"slices"

	"pinyon/engine/order"
)

// maxRows is the number of entries up to which rows are kept: 4 bytes each.
const maxRows = 1 << 26

// web is a set of operations with all order that is known between them. The
// operations are cut into chains of hard order (mostly the sessions); the row
// of an operation says how many of each chain come before it, which is all that
// comes before it.
type web struct {
	*keyed
	op     []int32   // the operations; everything else counts them from 0
	chains [][]int32 // each in hard order
	chain  []int32
	pos    []int32 // place in its chain
	row    []int32 // row of x: row[x*len(chains):]
	source []int32 // what it reads from; fromStart, fromNobody
	key    []int32 // keys counted from 0
	keys   int

	order []int32 // an order of the operations that the web allowed at first
	place []int32 // by operation: its place there
	// The direct order between operations of different chains that no other
	// implies: what x precedes is after[afterAt[x]:afterAt[x+1]].
	after, afterAt []int32

	cells   cells   // the writes by key and chain
	readers lists32 // by write: the last operation of each chain that reads from it
	opening lists32 // by key: the last operation of each chain that reads its start

	extra []link // order that was found, or decided
	first []int32
	work
}

// link is found order between two operations.
type link struct {
	from, to int32
	by       int32 // the operation that read; -1: it was decided
	next     int32 // the next link of from; -1: none
}

// newWeb takes operations, with all that they read from.
func newWeb(k *keyed, ops []int32) (w *web, reason string) {
	n := len(ops)
	byCall := func(a, b int32) int {
		return cmp.Or(cmp.Compare(k.v.Call[a], k.v.Call[b]), cmp.Compare(k.v.Ret[a], k.v.Ret[b]), int(a-b))
	}
	if !slices.IsSortedFunc(ops, byCall) {
		ops = slices.Clone(ops)
		slices.SortFunc(ops, byCall)
	}
	w = &web{keyed: k, op: ops, chain: make([]int32, n), pos: make([]int32, n), first: filled(n, -1)}
	if !w.cut() {
		return nil, "there are too many sessions for so many operations"
	}
	w.row = make([]int32, n*len(w.chains))
	w.name()
	w.direct()
	return w, ""
}

func (w *web) rowOf(x int32) []int32 {
	c := len(w.chains)
	return w.row[int(x)*c : int(x)*c+c]
}

// before reports whether a is known to come before b.
func (w *web) before(a, b int32) bool {
	return w.row[int(b)*len(w.chains)+int(w.chain[a])] > w.pos[a]
}

func (w *web) precedes(a, b int32) bool { return w.hard.precedes(w.op[a], w.op[b]) }

// cut makes the chains: an operation goes behind one of its process, or behind
// any that comes before it. Any order of offering them gives valid chains; that
// of their calls gives few.
func (w *web) cut() bool {
	own := map[int32]int32{} // process -> chain that it used last
	follows := func(c, x int32) bool { return w.precedes(w.chains[c][len(w.chains[c])-1], x) }
	for x := range int32(len(w.op)) {
		process := w.v.Process[w.op[x]]
		c, ok := own[process]
		if !ok || !follows(c, x) {
			c = 0
			for int(c) < len(w.chains) && !follows(c, x) {
				c++
			}
		}
		if int(c) == len(w.chains) {
			w.chains = append(w.chains, nil)
			if len(w.chains)*len(w.op) > maxRows {
				return false
			}
		}
		own[process] = c
		w.chain[x], w.pos[x] = c, int32(len(w.chains[c]))
		w.chains[c] = append(w.chains[c], x)
	}
	return true
}

// name counts sources and keys from 0.
func (w *web) name() {
	here := make(map[int32]int32, len(w.op))
	for x, op := range w.op {
		here[op] = int32(x)
	}
	keys := filled(len(w.v.KeyName), -1)
	w.source, w.key = make([]int32, len(w.op)), make([]int32, len(w.op))
	for x, op := range w.op {
		if w.source[x] = w.from[op]; w.source[x] >= 0 {
			w.source[x] = here[w.from[op]]
		}
		k := w.v.Key[op]
		if keys[k] < 0 {
			keys[k] = int32(w.keys)
			w.keys++
		}
		w.key[x] = keys[k]
	}
	w.cells = w.newCells()
	w.readers, w.opening = w.lastReaders()
}

// writes reports whether an operation leaves a value of its own.
func (w *web) writes(x int32) bool { return w.write[w.op[x]] >= 0 }

// direct fills the rows with what hard order and what was read say directly.
func (w *web) direct() {
	for x := range int32(len(w.op)) {
		w.raw(w.chains[w.chain[x]][max(0, w.pos[x]-1)], x)
		if s := w.source[x]; s >= 0 {
			w.raw(s, x)
		}
	}
	for _, c := range w.hard.clocks {
		w.onClock(c)
	}
	if len(w.hard.edges) == 0 {
		return
	}
	here := filled(w.v.N, -1)
	for x, op := range w.op {
		here[op] = int32(x)
	}
	for _, e := range w.hard.edges {
		for a, to := range e.To {
			for _, b := range to {
				if here[a] >= 0 && here[b] >= 0 {
					w.raw(here[a], here[b])
				}
			}
		}
	}
}

// raw notes that a comes before b.
func (w *web) raw(a, b int32) {
	if a != b {
		at := &w.row[int(b)*len(w.chains)+int(w.chain[a])]
		*at = max(*at, w.pos[a]+1)
	}
}

// onClock notes for each operation the last one of each chain that precedes it
// on a clock, group by group: by In, while a pointer follows by Out.
func (w *web) onClock(c *order.Clock) {
	in, out := w.grouped(c, c.In), w.grouped(c, c.Out)
	last, touched := make([]int32, len(w.chains)), []int32(nil)
	for g := range in.groups() {
		next, ends := 0, out.of(g)
		for _, x := range in.of(g) {
			for ; next < len(ends) && c.Out[w.op[ends[next]]] < c.In[w.op[x]]; next++ {
				y := ends[next]
				j := w.chain[y]
				if last[j] == 0 {
					touched = append(touched, j)
				}
				last[j] = max(last[j], w.pos[y]+1)
			}
			row := w.rowOf(x)
			for _, j := range touched {
				if j != w.chain[x] && last[j] > row[j] { // its own chain is in order
					row[j] = last[j]
				}
			}
		}
		for _, j := range touched {
			last[j] = 0
		}
		touched = touched[:0]
	}
}

// grouped lists the operations of each group of a clock by a time.
func (w *web) grouped(c *order.Clock, time []int64) lists32 {
	key := make([]int64, len(w.op))
	groups := 0
	for x, op := range w.op {
		key[x] = time[op]
		groups = max(groups, int(groupOf(c, op))+1)
	}
	sorted := identity(int32(len(w.op)))
	order.SortBy(sorted, key)
	return gather(groups, sorted, func(x int32) int32 { return groupOf(c, w.op[x]) })
}

// lists32 are lists, one behind the other.
type lists32 struct{ at, all []int32 }

func (l *lists32) of(i int) []int32 { return l.all[l.at[i]:l.at[i+1]] }
func (l *lists32) groups() int      { return len(l.at) - 1 }

// gather distributes items over n lists, in their order; negative: on none.
func gather(n int, items []int32, list func(x int32) int32) lists32 {
	l := lists32{at: make([]int32, n+1)}
	for _, x := range items {
		if g := list(x); g >= 0 {
			l.at[g+1]++
		}
	}
	for i := range n {
		l.at[i+1] += l.at[i]
	}
	next := slices.Clone(l.at)
	l.all = make([]int32, l.at[n])
	for _, x := range items {
		if g := list(x); g >= 0 {
			l.all[next[g]] = x
			next[g]++
		}
	}
	return l
}

// cells are the writes of each key in each chain, in the chain's order.
type cells struct {
	lists32
	chains int
}

func (w *web) newCells() cells {
	c := len(w.chains)
	ops := identity(int32(len(w.op))) // chains keep this order
	return cells{gather(w.keys*c, ops, func(x int32) int32 {
		if !w.writes(x) {
			return -1
		}
		return w.key[x]*int32(c) + w.chain[x]
	}), c}
}

// lastWrite is the last write of a key among the first count operations of a
// chain; -1: there is none.
func (w *web) lastWrite(key, chain, count int32) int32 {
	ops := w.cells.of(int(key)*w.cells.chains + int(chain))
	lo, hi := 0, len(ops)
	for lo < hi {
		if mid := (lo + hi) / 2; w.pos[ops[mid]] < count {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return -1
	}
	return ops[lo-1]
}

// lastReaders lists, by write and by key for its start, the last operation of
// each chain that reads from it.
func (w *web) lastReaders() (of, opening lists32) {
	byChain := make([]int32, 0, len(w.op)) // from the end of each chain
	for _, chain := range w.chains {
		for i := len(chain) - 1; i >= 0; i-- {
			byChain = append(byChain, chain[i])
		}
	}
	seen, start := filled(len(w.op), -1), filled(w.keys, -1) // the last chain with a reader
	var ends, starts []int32
	for _, x := range byChain {
		at, list := (*int32)(nil), (*[]int32)(nil)
		switch s := w.source[x]; {
		case s >= 0:
			at, list = &seen[s], &ends
		case s == fromStart:
			at, list = &start[w.key[x]], &starts
		default:
			continue
		}
		if *at != w.chain[x] {
			*at = w.chain[x]
			*list = append(*list, x)
		}
	}
	of = gather(len(w.op), ends, func(x int32) int32 { return w.source[x] })
	return of, gather(w.keys, starts, func(x int32) int32 { return w.key[x] })
}
