package order

import "math"

// Indexed is a relation that can find the last of a list that precedes an
// operation without asking each.
type Indexed interface {
	Relation
	// Index prepares a list of operations. The function that it returns gives
	// the last position of the list, from floor on, at which an operation other
	// than x precedes x; -1 where there is none.
	Index(list []int32) func(x, floor int32) int32
}

// index is Index for any relation.
func index(rel Relation, list []int32) func(x, floor int32) int32 {
	if ix, ok := rel.(Indexed); ok {
		return ix.Index(list)
	}
	return func(x, floor int32) int32 {
		for m := int32(len(list)) - 1; m >= floor; m-- {
			if list[m] != x && rel.Precedes(list[m], x) {
				return m
			}
		}
		return -1
	}
}

// Index implements Indexed: the predecessors of x are few, and each has its
// places in the list.
func (e *Edges) Index(list []int32) func(x, floor int32) int32 {
	e.turn.Do(func() {
		e.from = make([][]int32, len(e.To))
		for a, to := range e.To {
			for _, b := range to {
				e.from[b] = append(e.from[b], int32(a))
			}
		}
	})
	at := map[int32]int32{}
	for m, op := range list {
		if len(e.To[op]) > 0 {
			at[op] = int32(m)
		}
	}
	return func(x, floor int32) int32 {
		last := int32(-1)
		for _, a := range e.from[x] {
			if m, ok := at[a]; ok && m >= floor {
				last = max(last, m)
			}
		}
		return last
	}
}

// Index implements Indexed: the list is cut by key, and each cut has an index.
func (o *oneKey) Index(list []int32) func(x, floor int32) int32 {
	type cut struct {
		ops, at []int32
		find    func(x, floor int32) int32
	}
	cuts := map[int32]*cut{}
	for m, op := range list {
		c := cuts[o.key[op]]
		if c == nil {
			c = &cut{}
			cuts[o.key[op]] = c
		}
		c.ops, c.at = append(c.ops, op), append(c.at, int32(m))
	}
	for key, c := range cuts {
		c.find = index(o.Relation, c.ops)
		if len(cuts) == 1 { // as in a part of one key
			return func(x, floor int32) int32 {
				if o.key[x] != key {
					return -1
				}
				return c.find(x, floor)
			}
		}
	}
	return func(x, floor int32) int32 {
		c := cuts[o.key[x]]
		if c == nil {
			return -1
		}
		low := int32(0)
		if floor > 0 {
			low = int32(lowerBound(c.at, floor))
		}
		if m := c.find(x, low); m >= 0 {
			return c.at[m]
		}
		return -1
	}
}

// lowerBound is the first position whose element is at least x.
func lowerBound(sorted []int32, x int32) int {
	low, high := 0, len(sorted)
	for low < high {
		if mid := (low + high) / 2; sorted[mid] < x {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// Index implements Indexed.
func (p *part) Index(list []int32) func(x, floor int32) int32 {
	whole := make([]int32, len(list))
	for m, op := range list {
		whole[m] = p.keep[op]
	}
	find := index(p.whole, whole)
	return func(x, floor int32) int32 { return find(p.keep[x], floor) }
}

// minTree finds the last position of a list at which several numbers are all
// small enough: each inner node keeps the least of what is below it, number by
// number, so that whole stretches are passed at once.
type minTree struct {
	size, dims int
	least      []int64 // node*dims + dim; the leaves start at size
}

// newMinTree builds the tree over n positions; get gives number d of position m.
func newMinTree(n, dims int, get func(m, d int) int64) *minTree {
	t := &minTree{size: 1, dims: dims}
	for t.size < n {
		t.size *= 2
	}
	t.least = make([]int64, 2*t.size*dims)
	for i := range t.least {
		t.least[i] = math.MaxInt64
	}
	for m := range n {
		for d := range dims {
			t.least[(t.size+m)*dims+d] = get(m, d)
		}
	}
	for node := t.size - 1; node > 0; node-- {
		for d := range dims {
			t.least[node*dims+d] = min(t.least[2*node*dims+d], t.least[(2*node+1)*dims+d])
		}
	}
	return t
}

// last is the last position in [floor, end) where may holds for every node above
// it and exact for itself, or -1. may must hold for a node wherever exact holds
// for a position below it.
func (t *minTree) last(floor, end int32, may func(least []int64) bool, exact func(m int32) bool) int32 {
	return t.search(1, stretch{0, int32(t.size)}, stretch{floor, end}, may, exact)
}

// stretch is the positions from up to, but without, to.
type stretch struct{ from, to int32 }

func (t *minTree) search(node int, here, wanted stretch, may func([]int64) bool, exact func(int32) bool) int32 {
	if here.to <= wanted.from || here.from >= wanted.to || !may(t.least[node*t.dims:(node+1)*t.dims]) {
		return -1
	}
	if here.to-here.from == 1 {
		if exact(here.from) {
			return here.from
		}
		return -1
	}
	mid := (here.from + here.to) / 2
	if m := t.search(2*node+1, stretch{mid, here.to}, wanted, may, exact); m >= 0 {
		return m
	}
	return t.search(2*node, stretch{here.from, mid}, wanted, may, exact)
}

// suffixes are, clock by clock, the least Out of a list from each position on.
type suffixes struct {
	n     int32
	least [][]int64
}

func newSuffixes(list []int32, clocks []*Clock) suffixes {
	s := suffixes{n: int32(len(list)), least: make([][]int64, len(clocks))}
	for k, c := range clocks {
		s.least[k] = make([]int64, len(list))
		least := int64(math.MaxInt64)
		for m := len(list) - 1; m >= 0; m-- {
			least = min(least, c.Out[list[m]])
			s.least[k][m] = least
		}
	}
	return s
}

// bound is a position, at least floor, from which on some clock has no Out below
// in. It is looked for near floor first: what is asked for mostly stands there.
func (s suffixes) bound(floor int32, in []int64) int32 {
	end := s.n
	for k, least := range s.least {
		if floor >= end || least[floor] >= in[k] {
			return floor
		}
		low, step := floor, int32(1)
		for low+step < end && least[low+step] < in[k] {
			low, step = low+step, 2*step
		}
		high := min(low+step, end)
		for high-low > 1 { // least[low] is below in, and least[high] is not
			if mid := (low + high) / 2; least[mid] < in[k] {
				low = mid
			} else {
				high = mid
			}
		}
		end = high
	}
	return end
}
