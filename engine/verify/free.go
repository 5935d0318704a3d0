package verify

import (
	"slices"

	"pinyon/engine/history"
)

// Free says which operations may return anything: at the level safe the reads
// that overlap a write of their key, which is to say that neither comes before
// the other. nil: none. An unanswered operation that would be a read whatever
// its answer is no write.
func (d Definition) Free(v *history.View) []bool {
	if d.level != safe {
		return nil
	}
	free := make([]bool, v.N)
	widest := widestError(v)
	for _, ops := range v.Keys() {
		var writes []int32
		for _, x := range ops {
			if !v.Read[x] && (v.Idle == nil || !v.Idle[x]) {
				writes = append(writes, x)
			}
		}
		slices.SortFunc(writes, func(a, b int32) int {
			if first(v, a, b) {
				return -1
			}
			return 1
		})
		latest := make([]int64, len(writes)) // the latest return of this write and of those called before it
		for i, w := range writes {
			latest[i] = v.Ret[w]
			if i > 0 {
				latest[i] = max(latest[i], latest[i-1])
			}
		}
		for _, r := range ops {
			free[r] = v.Read[r] && overlapsOne(v, r, writes, latest, widest)
		}
	}
	return free
}

// overlapsOne reports whether read r overlaps one of writes, which are in the
// order of their calls. Those that are called long after it returned, and those
// that returned long before it was called, are not asked.
func overlapsOne(v *history.View, r int32, writes []int32, latest []int64, widest int64) bool {
	until, _ := slices.BinarySearchFunc(writes, plus(v.Ret[r], widest), func(w int32, end int64) int {
		if v.Call[w] > end {
			return 1
		}
		return -1
	})
	for i, w := range slices.Backward(writes[:until]) {
		if plus(latest[i], widest) < v.Call[r] {
			return false
		}
		if !before(v, r, w) && !before(v, w, r) {
			return true
		}
	}
	return false
}

// widestError is no less than the clock error between any two operations.
func widestError(v *history.View) int64 {
	widest := v.ClockError.All
	for _, e := range v.ClockError.ByNode {
		widest = max(widest, plus(e, e))
	}
	return widest
}
