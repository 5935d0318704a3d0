package paths

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// staleSearch looks for an order of the writes, depth first, the least due
// first. What it finds first is the least feasible order, compared place by
// place; so whatever such an order never does need not be tried:
//
//  1. Of two writes that may come now and are tied to no other, with the due of
//     the first and its hold no later than those of the second, the second does
//     not come first: changed for each other, they would fit as well.
//  2. Where a write with a later due stands right before w, both tied to no
//     other, w needs all of its window: changed for each other they would fit
//     unless a write that is due before w's hold stands k-1 places or more
//     behind w.
//
// Beyond the places that are given out nothing matters but which writes are
// left and the holds of the last k-1, as far as something left is due before
// them; a configuration that led to nothing is not tried again. That is so with
// rule 2, too: had another way to it been refused by the rule alone, it would
// belong to a lesser feasible order.
type staleSearch struct {
	*stale
	line   []int32 // writes placed, the initial value first
	tight  []bool  // by place: rule 2 asks that all of its window is needed
	placed []bool
	left   ring // by due
	open   ring // those of left that may come before all of left, but for what ties them
	byIn   []int32
	opened int // of byIn
	frames []staleFrame
	pool   []int32 // candidates of all frames
	first  []int64 // scratch: the least dues that are left
	key    []byte
	memo   map[string]struct{}
	best   int   // the most places that were given out
	at     int32 // the write that is due next there
	steps  int
}

// staleFrame is a configuration with the candidates left to try.
type staleFrame struct {
	next, end, first int // candidates: pool[next:end]
	opened           int // of byIn, before it
	length           int // of the line
}

// maxStale is the number of configurations that are kept.
const maxStale = 500_000

func newStaleSearch(s *stale) *staleSearch {
	n := len(s.writes) - 1
	f := &staleSearch{stale: s, placed: make([]bool, n), left: newRing(n), open: newRing(n), byIn: make([]int32, n),
		first: make([]int64, s.k+1), memo: map[string]struct{}{}, best: -1}
	for i := range f.byIn {
		f.byIn[i] = int32(i)
		f.left.append(int32(i))
	}
	in := make([]int64, n)
	for i := range in {
		in[i] = s.writes[i].in
	}
	order.SortBy(f.byIn, in)
	f.line, f.tight = append(f.line, int32(n)), append(f.tight, false)
	return f
}

// run returns Unknown where it was stopped or tried too much.
func (f *staleSearch) run() spec.Kind {
	n := int32(len(f.placed))
	for !f.left.empty() {
		if f.steps++; f.steps&0xff == 0 && f.p.stopped() || len(f.memo) > maxStale {
			return spec.Unknown
		}
		if len(f.line) > f.best {
			f.best, f.at = len(f.line), f.left.next[n]
		}
		f.enter()
		if !f.advance() {
			return spec.Violation
		}
	}
	return spec.Consistent
}

// stuck is the write that was due next where the search went farthest, with the
// read of it that returned first and the one that was invoked last.
func (f *staleSearch) stuck() []int32 {
	w := &f.writes[f.at]
	core := []int32{w.op}
	if len(w.readers) > 0 {
		core = append(core, slices.MinFunc(w.readers, func(a, b int32) int { return cmp.Compare(f.out[a], f.out[b]) }),
			slices.MaxFunc(w.readers, func(a, b int32) int { return cmp.Compare(f.in[a], f.in[b]) }))
	}
	slices.Sort(core)
	return slices.Compact(core)
}

// enter pushes the configuration with its candidates; none if it is known.
func (f *staleSearch) enter() {
	fr := staleFrame{next: len(f.pool), first: len(f.pool), opened: f.opened, length: len(f.line)}
	due := f.due()
	for ; f.opened < len(f.byIn) && f.writes[f.byIn[f.opened]].in <= due; f.opened++ {
		f.open.append(f.byIn[f.opened])
	}
	last := f.line[len(f.line)-1]
	if next := f.writes[last].next; next >= 0 {
		f.pool = append(f.pool, next)
	} else if f.fresh() {
		f.candidates(due)
	}
	fr.end = len(f.pool)
	f.frames = append(f.frames, fr)
}

// due is the least due that is left.
func (f *staleSearch) due() int64 {
	if x := f.left.next[len(f.placed)]; int(x) < len(f.placed) {
		return f.writes[x].due
	}
	return math.MaxInt64
}

// candidates adds what may come next, by due (rule 1). A hold that nothing left
// is due before counts as none.
func (f *staleSearch) candidates(due int64) {
	first := len(f.pool)
	for x := f.open.next[len(f.placed)]; int(x) < len(f.placed); x = f.open.next[x] {
		if f.writes[x].source < 0 {
			f.pool = append(f.pool, x)
		}
	}
	slices.Sort(f.pool[first:])
	kept, least := f.pool[:first], int64(math.MaxInt64)
	for _, x := range f.pool[first:] {
		w := &f.writes[x]
		if w.next < 0 {
			hold := w.hold
			if hold <= due {
				hold = order.InNever
			}
			if hold >= least {
				continue
			}
			least = min(least, hold)
		}
		kept = append(kept, x)
	}
	f.pool = kept
}

// advance places the next candidate that may come, going back where there is none.
func (f *staleSearch) advance() bool {
	for len(f.frames) > 0 {
		fr := &f.frames[len(f.frames)-1]
		for len(f.line) > fr.length {
			f.unplace()
		}
		for fr.next < fr.end {
			x := f.pool[fr.next]
			fr.next++
			if f.may(x) {
				f.place(x)
				return true
			}
		}
		for f.opened > fr.opened {
			f.opened--
			f.open.remove(f.byIn[f.opened])
		}
		f.pool = f.pool[:fr.first]
		f.frames = f.frames[:len(f.frames)-1]
	}
	return false
}

// may reports whether x may come next: what is left can all come after it, and
// what is due before the hold of one of the last k-1 writes, or of x, still has
// room in its window.
func (f *staleSearch) may(x int32) bool {
	head := int32(len(f.placed))
	d, n := f.first[:0], len(f.line)
	for y := f.left.next[head]; y < head && len(d) < f.k; y = f.left.next[y] {
		if y != x {
			d = append(d, f.writes[y].due)
		}
	}
	for len(d) < f.k {
		d = append(d, math.MaxInt64)
	}
	if f.writes[x].in > d[0] || f.writes[x].hold > d[f.k-1] {
		return false
	}
	for i := 1; i < f.k && i <= n; i++ {
		if f.writes[f.line[n-i]].hold > d[f.k-1-i] {
			return false
		}
	}
	p := n - (f.k - 1)
	return p < 0 || !f.tight[p] || f.due() < f.writes[f.line[p]].hold
}

func (f *staleSearch) place(x int32) {
	last := f.line[len(f.line)-1]
	free := f.free(x) && f.free(last)
	f.tight = append(f.tight, free && x < last && len(f.line) > 1)
	f.line = append(f.line, x)
	f.placed[x] = true
	f.left.remove(x)
	f.open.remove(x)
}

// free reports whether a write is tied to no other.
func (f *staleSearch) free(x int32) bool { return f.writes[x].source < 0 && f.writes[x].next < 0 }

func (f *staleSearch) unplace() {
	last := len(f.line) - 1
	x := f.line[last]
	f.line, f.tight = f.line[:last], f.tight[:last]
	f.placed[x] = false
	f.open.restore(x)
	f.left.restore(x)
}

// fresh reports whether the configuration was not met before, and notes it: the
// first write that is left, those placed that are due later, and the holds.
func (f *staleSearch) fresh() bool {
	head := f.left.next[len(f.placed)]
	k := binary.AppendUvarint(f.key[:0], uint64(head))
	for x, early := head+1, len(f.line)-1-int(head); early > 0; x++ {
		if f.placed[x] {
			k = binary.AppendUvarint(k, uint64(x-head))
			early--
		}
	}
	due := f.due()
	for i := 1; i < f.k && i <= len(f.line); i++ {
		w := f.line[len(f.line)-i]
		if f.writes[w].hold <= due {
			w = -1
		}
		k = binary.AppendVarint(append(k, 0), int64(w))
	}
	f.key = k
	if _, ok := f.memo[string(k)]; ok {
		return false
	}
	f.memo[string(k)] = struct{}{}
	return true
}

// ring is a list of numbers below n, from which what was removed last can be put
// back (Knuth, "Dancing Links", 2000). The place n is its head.
type ring struct{ next, before []int32 }

func newRing(n int) ring {
	r := ring{make([]int32, n+1), make([]int32, n+1)}
	r.next[n], r.before[n] = int32(n), int32(n)
	return r
}

func (r *ring) empty() bool { return int(r.next[len(r.next)-1]) == len(r.next)-1 }

func (r *ring) append(x int32) {
	head := int32(len(r.next) - 1)
	r.next[x], r.before[x] = head, r.before[head]
	r.next[r.before[head]], r.before[head] = x, x
}

func (r *ring) remove(x int32) { r.next[r.before[x]], r.before[r.next[x]] = r.next[x], r.before[x] }

func (r *ring) restore(x int32) { r.next[r.before[x]], r.before[r.next[x]] = x, x }
