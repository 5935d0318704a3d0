package paths

import (
	"sort"

	"pinyon/engine/order"
)

// keyWriters are the writes by key and value.
type keyWriters struct {
	*keyed
	head map[uint64]int32 // the first of a key and value, and the next of the same
	next []int32
	past []map[uint64]*pastWrites // by clock, made when first needed: by key and group
}

// pastWrites are required writes of one key and one group of a clock, by Out,
// and the greatest In of each and those before it. A write whose Out is less
// than that of the writes that precede a read was overwritten before the read.
type pastWrites struct {
	ops    []int32
	latest []int32
}

func pairKey(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

func (k *keyed) newKeyWriters() *keyWriters {
	w := &keyWriters{keyed: k, head: make(map[uint64]int32, k.v.N/2), next: filled(k.v.N, -1)}
	for x := int32(k.v.N) - 1; x >= 0; x-- {
		if k.write[x] < 0 {
			continue
		}
		at := pairKey(k.v.Key[x], k.write[x])
		if y, ok := w.head[at]; ok {
			w.next[x] = y
		}
		w.head[at] = x
	}
	return w
}

// first is the first write of the value that x must find; -1: there is none.
func (w *keyWriters) first(x int32) int32 {
	if y, ok := w.head[pairKey(w.v.Key[x], w.demand[x])]; ok {
		return y
	}
	return -1
}

// of finds what x reads from. Where one write leaves its value, that is it,
// whatever the order says: a contradiction is found later, with its reason.
func (w *keyWriters) of(x int32) (from int32, many bool) {
	first := w.first(x)
	starts := w.initial[w.v.Key[x]] == w.demand[x]
	switch {
	case first < 0 && starts:
		return fromStart, false
	case first < 0:
		return fromNobody, false
	case w.next[first] < 0 && !starts:
		return first, false
	}
	from = fromNobody
	if starts && !w.overwritten(fromStart, x) {
		from = fromStart
	}
	for y := first; y >= 0; y = w.next[y] {
		if w.hard.precedes(x, y) || w.overwritten(y, x) {
			continue
		}
		if from != fromNobody {
			return from, true
		}
		from = y
	}
	return from, false
}

// overwritten reports whether on one clock a required write of the key comes
// between y (or the start) and x.
func (w *keyWriters) overwritten(y, x int32) bool {
	w.sortPast()
	for i, c := range w.hard.clocks {
		over := w.over(i, x)
		switch {
		case over < 0 || over == y:
		case y == fromStart || groupOf(c, y) == groupOf(c, x) && c.Out[y] < c.In[over]:
			return true
		}
	}
	return false
}

// over is the write of x's key that has the greatest In of those that precede x
// on a clock; -1: none does.
func (w *keyWriters) over(clock int, x int32) int32 {
	c := w.hard.clocks[clock]
	if groupOf(c, x) < 0 {
		return -1
	}
	p := w.past[clock][pairKey(w.v.Key[x], groupOf(c, x))]
	if p == nil {
		return -1
	}
	at := sort.Search(len(p.ops), func(i int) bool { return c.Out[p.ops[i]] >= c.In[x] })
	if at == 0 {
		return -1
	}
	return p.latest[at-1]
}

func (w *keyWriters) sortPast() {
	if w.past != nil {
		return
	}
	w.past = make([]map[uint64]*pastWrites, len(w.hard.clocks))
	ops := identity(int32(w.v.N))
	for i, c := range w.hard.clocks {
		w.past[i] = map[uint64]*pastWrites{}
		order.SortBy(ops, c.Out)
		for _, x := range ops {
			if w.write[x] < 0 || w.v.Info[x] || groupOf(c, x) < 0 || c.Out[x] == order.OutNever {
				continue
			}
			at := pairKey(w.v.Key[x], groupOf(c, x))
			p := w.past[i][at]
			if p == nil {
				p = &pastWrites{}
				w.past[i][at] = p
			}
			latest := x
			if n := len(p.latest); n > 0 && c.In[p.latest[n-1]] > c.In[x] {
				latest = p.latest[n-1]
			}
			p.ops, p.latest = append(p.ops, x), append(p.latest, latest)
		}
	}
}

// groupOf is the group of an operation on a clock; negative: it stands alone.
func groupOf(c *order.Clock, x int32) int32 {
	if c.Within == nil {
		return 0
	}
	return c.Within[x]
}
