package paths

import "math/bits"

// counts is a segment tree over positions that each hold a number: ranges are
// added to, and the first position with a small number is found, in O(log n).
type counts struct {
	size int
	low  []int32 // by node: the least number below it, without what its parents add
	plus []int32 // by node: what it adds to all below it
}

// newCounts takes the numbers at the start.
func newCounts(start []int32) *counts {
	c := &counts{size: 1 << bits.Len(uint(max(1, len(start)-1)))}
	c.low, c.plus = make([]int32, 2*c.size), make([]int32, 2*c.size)
	copy(c.low[c.size:], start)
	for k := c.size - 1; k > 0; k-- {
		c.low[k] = min(c.low[2*k], c.low[2*k+1])
	}
	return c
}

// add adds d to the positions from first to last.
func (c *counts) add(first, last int, d int32) {
	if first > last {
		return
	}
	l, r := first+c.size, last+c.size+1
	for ; l < r; l, r = l/2, r/2 {
		if l&1 == 1 {
			c.low[l] += d
			c.plus[l] += d
			l++
		}
		if r&1 == 1 {
			r--
			c.low[r] += d
			c.plus[r] += d
		}
	}
	for _, k := range [2]int{(first + c.size) / 2, (last + c.size) / 2} {
		for ; k > 0; k /= 2 {
			c.low[k] = min(c.low[2*k], c.low[2*k+1]) + c.plus[k]
		}
	}
}

// first returns the first position from on that holds at most most; size where
// there is none.
func (c *counts) first(from int, most int32) int { return c.find(1, 0, c.size, 0, from, most) }

func (c *counts) find(node, left, width int, above int32, from int, most int32) int {
	if left+width <= from || c.low[node]+above > most {
		return c.size
	}
	if width == 1 {
		return left
	}
	above += c.plus[node]
	if at := c.find(2*node, left, width/2, above, from, most); at < c.size {
		return at
	}
	return c.find(2*node+1, left+width/2, width/2, above, from, most)
}

// candidates is a tree over items in the order of their lo. It finds those
// that begin early and end late, and forgets items.
type candidates struct {
	size  int
	begin []int32 // by node: the least
	end   []int32 // by node: the greatest; -1: none is left
}

const noneLeft = 1<<31 - 1

func newCandidates(n int, of func(i int) (begin, end int32)) *candidates {
	c := &candidates{size: 1 << bits.Len(uint(max(1, n-1)))}
	c.begin, c.end = filled(2*c.size, noneLeft), filled(2*c.size, -1)
	for i := range n {
		c.begin[c.size+i], c.end[c.size+i] = of(i)
	}
	for k := c.size - 1; k > 0; k-- {
		c.join(k)
	}
	return c
}

func (c *candidates) join(k int) {
	c.begin[k], c.end[k] = min(c.begin[2*k], c.begin[2*k+1]), max(c.end[2*k], c.end[2*k+1])
}

// remove forgets item i.
func (c *candidates) remove(i int) {
	k := c.size + i
	c.begin[k], c.end[k] = noneLeft, -1
	for k /= 2; k > 0; k /= 2 {
		c.join(k)
	}
}

// left reports whether item i was not removed.
func (c *candidates) left(i int) bool { return c.end[c.size+i] >= 0 }

// find returns the first item from first up to but without beyond that begins
// at or before begin, ends at or after end and fits; -1 where there is none.
func (c *candidates) find(first, beyond int, begin, end int32, fits func(i int) bool) int {
	return c.search(1, 0, c.size, first, beyond, begin, end, fits)
}

func (c *candidates) search(node, left, width, first, beyond int, begin, end int32, fits func(i int) bool) int {
	if left+width <= first || left >= beyond || c.begin[node] > begin || c.end[node] < end {
		return -1
	}
	if width == 1 {
		if fits(left) {
			return left
		}
		return -1
	}
	if i := c.search(2*node, left, width/2, first, beyond, begin, end, fits); i >= 0 {
		return i
	}
	return c.search(2*node+1, left+width/2, width/2, first, beyond, begin, end, fits)
}
