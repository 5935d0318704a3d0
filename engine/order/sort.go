package order

import (
	"cmp"
	"slices"
)

// SortBy sorts operations by a key, and leaves equal ones in the order in which
// they stand.
func SortBy(ops []int32, key []int64) {
	switch {
	case insertion(ops, key):
	case len(ops) < 4096: // radix clears a table for each pass
		slices.SortStableFunc(ops, func(a, b int32) int { return cmp.Compare(key[a], key[b]) })
	default:
		radix(ops, key)
	}
}

// insertion sorts what is nearly in order, as operations in the order of their
// calls are by their returns. It gives up where that takes many moves; what it
// moved by then is as good for a stable sort as before.
func insertion(ops []int32, key []int64) bool {
	moves := 16 * len(ops)
	for i := 1; i < len(ops); i++ {
		x, at := ops[i], i
		for k := key[x]; at > 0 && key[ops[at-1]] > k; at-- {
			ops[at] = ops[at-1]
		}
		ops[at] = x
		if moves -= i - at; moves < 0 {
			return false
		}
	}
	return true
}

// radix sorts by counting, sixteen bits at a time, from the low ones up (a
// stable sort). The ends of the scale, which stand for never, are drawn in so
// that they do not cost passes.
func radix(ops []int32, key []int64) {
	low, high := int64(OutNever), int64(InNever)
	for _, x := range ops {
		if k := key[x]; k != OutNever && k != InNever {
			low, high = min(low, k), max(high, k)
		}
	}
	if low > high {
		low, high = 0, 0
	}
	digits := func(x int32) uint64 {
		switch k := key[x]; k {
		case InNever:
			return 0
		case OutNever:
			return uint64(high-low) + 2
		default:
			return uint64(k-low) + 1
		}
	}
	other := make([]int32, len(ops))
	count := make([]int32, 1<<16+1)
	from, to := ops, other
	for shift := 0; shift < 64 && (uint64(high-low)+2)>>shift > 0; shift += 16 {
		clear(count)
		for _, x := range from {
			count[digits(x)>>shift&0xffff+1]++
		}
		for i := range 1 << 16 {
			count[i+1] += count[i]
		}
		for _, x := range from {
			d := digits(x) >> shift & 0xffff
			to[count[d]] = x
			count[d]++
		}
		from, to = to, from
	}
	if &from[0] != &ops[0] {
		copy(ops, from)
	}
}
