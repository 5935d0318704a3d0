package oracles

import (
	"fmt"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// numberLine orders operations by one integer each, writes by the hint write
// and reads by the hint read; of equal numbers, a write comes before a read,
// and nothing else is ordered.
//
// The clock says 2n for a write at n and 2n+1 for a read at n, where n is the
// rank of the number among all of them: ranks cannot overflow.
func numberLine(write, read string) func(*history.View, *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		if v.Read == nil {
			return ErrCannotTell
		}
		hint := func(i int32) string {
			if v.Read[i] {
				return read
			}
			return write
		}
		number := func(i int32) (int64, bool) { return v.Hints[hint(i)].Int(i) }
		var sorted []int64
		for i := range int32(v.N) {
			if n, ok := number(i); ok {
				sorted = append(sorted, n)
			}
		}
		if missing := v.N - len(sorted); missing > 0 {
			r.Notice("%d of %d operations lack %s and are unordered", missing, v.N, either(write, read))
		}
		slices.Sort(sorted)
		sorted = slices.Compact(sorted)
		c := &order.Clock{Name: write, Out: make([]int64, v.N), In: make([]int64, v.N)}
		for i := range int32(v.N) {
			c.Out[i], c.In[i] = order.OutNever, order.InNever
			if n, ok := number(i); ok {
				rank, _ := slices.BinarySearch(sorted, n)
				t := 2 * int64(rank)
				if v.Read[i] {
					t++
				}
				c.Out[i], c.In[i] = t, t
			}
		}
		c.Reason = func(a, b int32) string {
			x, _ := number(a)
			y, _ := number(b)
			return compared(hint(a), fmt.Sprint(x), hint(b), fmt.Sprint(y), "write before read")
		}
		r.AddHard("", c)
		return nil
	}
}

// either names the hint of writes and that of reads, which may be one.
func either(write, read string) string {
	if write == read {
		return write
	}
	return fmt.Sprintf("%s (writes) or %s (reads)", write, read)
}

// compared says that what a has comes before what b has, as in "revision
// 40 < 41" or "logidx 7 = applied 7, write before read".
func compared(hintA, a, hintB, b, tie string) string {
	left := hintA + " " + a
	right := b
	if hintA != hintB {
		right = hintB + " " + b
	}
	if a == b {
		return left + " = " + right + ", " + tie
	}
	return left + " < " + right
}
