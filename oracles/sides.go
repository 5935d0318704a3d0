package oracles

import (
	"fmt"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/oracles/rule"
)

// side is one side of a comparison: a number of some operations.
type side func(i int32) (int64, bool)

// where is a side that only some operations have.
func where(has func(i int32) bool, get side) side {
	return func(i int32) (int64, bool) {
		if !has(i) {
			return 0, false
		}
		return get(i)
	}
}

// lower is the clock "out(a) < in(b)".
func lower(v *history.View, out, in side) *order.Clock { return ranked(v, out, in, 0) }

// atMost is the clock "out(a) <= in(b)".
func atMost(v *history.View, out, in side) *order.Clock { return ranked(v, out, in, 1) }

// ranked compares the ranks of the numbers, so that none is too great or too
// small; equal ones precede where equal is 1.
func ranked(v *history.View, out, in side, equal int64) *order.Clock {
	rank := ranks(v.N, rule.Compare{Out: out, In: in})
	c := &order.Clock{Out: slices.Repeat([]int64{order.OutNever}, v.N), In: slices.Repeat([]int64{order.InNever}, v.N)}
	for i := range int32(v.N) {
		if n, ok := out(i); ok {
			c.Out[i] = 2 * rank(n)
		}
		if n, ok := in(i); ok {
			c.In[i] = 2*rank(n) + equal
		}
	}
	c.Reason = func(a, b int32) string {
		x, _ := out(a)
		y, _ := in(b)
		return fmt.Sprintf("%d %s %d", x, [...]string{"<", "<="}[equal], y)
	}
	return c
}

// numbered groups operations by some numbers; one that lacks any stands alone.
func numbered(v *history.View, gets ...func(i int32) (int64, bool)) []int32 {
	type numbers [2]int64
	codes := map[numbers]int32{}
	out := make([]int32, v.N)
	for i := range int32(v.N) {
		var n numbers
		has := true
		for k, get := range gets {
			x, ok := get(i)
			n[k], has = x, has && ok
		}
		code, known := codes[n]
		if !known && has {
			code = int32(len(codes))
			codes[n] = code
		}
		if out[i] = code; !has {
			out[i] = -1
		}
	}
	return out
}

// longest is the length of the longest array of a column.
func longest(v *history.View, c *history.Column) (n int) {
	for i := range int32(v.N) {
		if list, ok := c.List(i); ok {
			n = max(n, len(list))
		}
	}
	return n
}

// lengthsOf are the lengths of the arrays of a column that have elements, ascending.
func lengthsOf(v *history.View, c *history.Column) (lengths []int) {
	for i := range int32(v.N) {
		list, _ := c.List(i)
		if at, known := slices.BinarySearch(lengths, len(list)); !known && len(list) > 0 {
			lengths = slices.Insert(lengths, at, len(list))
		}
	}
	return lengths
}
