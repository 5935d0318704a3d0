package paths

import "slices"

// slots are the clock values that occur, numbered in order. An operation may
// take effect at any slot from its in to its out, both included; those at one
// slot come in any order. So x must come before y exactly when out of x is
// less than in of y: neither equality nor what lies between two slots matters,
// since an order that fits has for each operation a slot, the greatest in up
// to it.
type slots struct {
	in, out []int32
	end     int32 // beyond them all: where what is never taken leaves
}

// scale numbers the clock values of the bag.
func (b *bag) scale() *slots {
	if b.slots != nil {
		return b.slots
	}
	all := slices.Concat(b.in, b.out)
	slices.Sort(all)
	all = slices.Compact(all)
	b.slots = &slots{in: rankIn(all, b.in), out: rankIn(all, b.out), end: int32(len(all))}
	return b.slots
}

// rankIn finds the numbers of values in a sorted list that holds them. The
// values of neighbours are near each other, so each search starts at the last.
func rankIn(sorted, values []int64) []int32 {
	ranks := make([]int32, len(values))
	at := 0
	for i, v := range values {
		low, step := at, 1
		for low > 0 && sorted[low] > v {
			low, step = max(0, low-step), 2*step
		}
		high := low
		for step = 1; high < len(sorted) && sorted[high] < v; step *= 2 {
			low, high = high, min(len(sorted), high+step)
		}
		k, _ := slices.BinarySearch(sorted[low:min(len(sorted), high+1)], v)
		at = low + k
		ranks[i] = int32(at)
	}
	return ranks
}

// span is where the operations on one item may be.
type span struct {
	addIn, addOut   int32
	takeIn, takeOut int32 // end, end: never taken
	// lo is the least out of its operations and hi their greatest in. Where lo
	// < hi the item is in the container all the way between them; otherwise all
	// its operations fit on one slot.
	lo, hi int32
}

// field is a bag on slots, with what the disciplines have in common.
type field struct {
	*bag
	*slots
	span []span
	byLo []int32 // items that must be there somewhere (lo < hi), by lo
	free []int32 // by observation of emptiness: the slot chosen for it
}

// newField finds the spans, and slots for the observations of emptiness. An
// item that contradicts itself is a conflict of its own: it was never added,
// was seen or taken before it was added, or seen after it was taken.
func newField(b *bag) (*field, *conflict) {
	f := &field{bag: b, slots: b.scale(), span: make([]span, b.items())}
	for i := range f.span {
		s := &f.span[i]
		if b.add[i] < 0 || !f.measure(int32(i), s) {
			return nil, &conflict{items: []int32{int32(i)}}
		}
	}
	f.sortByLo()
	return f, f.vacancies()
}

// measure fills the span of an item; false where it contradicts itself.
func (f *field) measure(item int32, s *span) bool {
	s.addIn, s.addOut = f.slots.in[f.add[item]], f.slots.out[f.add[item]]
	s.takeIn, s.takeOut = f.end, f.end
	if t := f.take[item]; t >= 0 {
		s.takeIn, s.takeOut = f.slots.in[t], f.slots.out[t]
	} else if f.loose[item] {
		s.takeIn = f.slots.in[f.spares[0]]
		if f.by != nil {
			s.takeIn = f.slots.in[f.spares[f.by[item]]]
		}
	}
	s.lo, s.hi = min(s.addOut, s.takeOut), max(s.addIn, s.takeIn)
	for _, p := range f.peeksOf(item) {
		if f.slots.out[p] < s.addIn || f.slots.in[p] > s.takeOut {
			return false
		}
		s.lo, s.hi = min(s.lo, f.slots.out[p]), max(s.hi, f.slots.in[p])
	}
	return s.takeOut >= s.addIn
}

func (f *field) sortByLo() {
	lo := make([]int32, len(f.span))
	needed := 0
	for i, s := range f.span {
		if lo[i] = f.end + 1; s.lo < s.hi {
			lo[i] = s.lo
			needed++
		}
	}
	f.byLo = ordered(lo, f.end+1)[:needed]
}

// peekSpan is where a peek of item may be: after the add. That it also comes
// before the take needs no bound, for whatever slot is good enough for the take
// is good enough for a peek that lasts longer.
func (f *field) peekSpan(peek, item int32) (in, out int32) {
	return max(f.slots.in[peek], f.span[item].addIn), f.slots.out[peek]
}

// ordered lists the indexes of keys by key, equal ones in their order. Keys
// lie from 0 to limit.
func ordered(keys []int32, limit int32) []int32 {
	from := make([]int32, limit+2)
	for _, k := range keys {
		from[k+1]++
	}
	for k := range limit + 1 {
		from[k+1] += from[k]
	}
	list := make([]int32, len(keys))
	for i, k := range keys {
		list[from[k]] = int32(i)
		from[k]++
	}
	return list
}
