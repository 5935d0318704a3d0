package paths

import (
	"cmp"
	"slices"
)

// fronts are the first and last slot that matter of the operations on an item
// at the front of the queue: its peeks and its take.
type fronts struct{ minOut, maxIn int32 }

// solveQueue orders the items of a queue. An item x must be before y when its
// add must (lo of x before the add of y), or when some operation on it at the
// front must come before one of y's. Any order of the items that agrees with
// both is good: adds go in that order, and so do operations at the front, each
// as early as it can. Where there is none, at most three items exclude each
// other.
func solveQueue(f *field) (line []int32, bad *conflict) {
	fr := make([]fronts, len(f.span))
	for i, s := range f.span {
		fr[i] = fronts{s.takeOut, s.takeIn}
		for _, p := range f.peeksOf(int32(i)) {
			fr[i].minOut, fr[i].maxIn = min(fr[i].minOut, f.slots.out[p]), max(fr[i].maxIn, f.slots.in[p])
		}
	}
	column := func(of func(i int32) int32) []int32 {
		keys := make([]int32, len(f.span))
		for i := range keys {
			keys[i] = of(int32(i))
		}
		return ordered(keys, f.end)
	}
	q := &queueOrder{field: f, fronts: fr,
		byAddIn: column(func(i int32) int32 { return f.span[i].addIn }),
		byLo:    column(func(i int32) int32 { return f.span[i].lo }),
		byMaxIn: column(func(i int32) int32 { return fr[i].maxIn }),
		byOut:   column(func(i int32) int32 { return fr[i].minOut }),
	}
	turns, bad := q.turns()
	if bad != nil {
		return nil, bad
	}
	return f.weave(q.line(turns), nil), nil
}

// queueOrder holds the two orders of the items of a queue, each sorted by
// where an item begins to come after others and where it comes before them.
type queueOrder struct {
	*field
	fronts         []fronts
	byAddIn, byLo  []int32
	byMaxIn, byOut []int32
}

// turns is an order of the items that agrees with both orders (Kahn, 1962, on
// clocks: an item is next when it begins nothing later than the rest ends).
// Those that nobody took come as late as they can. When no item is next, each
// of those left comes after the one of them whose add must be first, or after
// the first or second to leave the front: so these three go round in a circle.
func (q *queueOrder) turns() (turns []int32, bad *conflict) {
	n := len(q.span)
	const added, seen = 1, 2
	marks, done := make([]uint8, n), make([]bool, n)
	var ready [2][]int32 // taken, not taken
	mark := func(i int32, m uint8) {
		if marks[i]&m != 0 {
			return
		}
		if marks[i] |= m; marks[i] == added|seen {
			k := 0
			if q.take[i] < 0 {
				k = 1
			}
			ready[k] = append(ready[k], i)
		}
	}
	add, see, lo, out := 0, 0, 0, 0
	for len(turns) < n {
		for done[q.byLo[lo]] {
			lo++
		}
		for done[q.byOut[out]] {
			out++
		}
		second := out + 1
		for second < n && done[q.byOut[second]] {
			second++
		}
		for ; add < n && q.span[q.byAddIn[add]].addIn <= q.span[q.byLo[lo]].lo; add++ {
			mark(q.byAddIn[add], added)
		}
		first := q.byOut[out]
		for ; see < n && q.fronts[q.byMaxIn[see]].maxIn <= q.fronts[first].minOut; see++ {
			mark(q.byMaxIn[see], seen)
		}
		if second == n || q.fronts[first].maxIn <= q.fronts[q.byOut[second]].minOut {
			mark(first, seen) // its own operations do not stand in its way
		}
		k := 0
		if len(ready[0]) == 0 {
			k = 1
		}
		if len(ready[k]) == 0 {
			return nil, circle(q.byLo[lo], first, q.byOut[second])
		}
		x := ready[k][0]
		ready[k] = ready[k][1:]
		done[x] = true
		turns = append(turns, x)
	}
	return turns, nil
}

// circle is the conflict of up to three items.
func circle(items ...int32) *conflict {
	slices.Sort(items)
	return &conflict{items: slices.Compact(items)}
}

// line lays the operations out. Observations of emptiness cut it into parts:
// an item belongs to the first part that ends at or after its hi. In a part,
// adds and operations at the front are two rows, merged by slot, adds first.
func (q *queueOrder) line(turns []int32) (line []int32) {
	cuts := slices.Clone(q.free)
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	part := make([]int32, len(turns))
	for k, i := range turns {
		c, _ := slices.BinarySearch(cuts, q.span[i].hi)
		part[k] = int32(c)
	}
	byCut := ordered(q.free, q.end)
	start, at, empty := int32(0), 0, 0
	inParts := ordered(part, int32(len(cuts)))
	for c := range len(cuts) + 1 {
		from := at
		for at < len(inParts) && part[inParts[at]] == int32(c) {
			at++
		}
		line = q.merge(line, turns, inParts[from:at], start)
		for ; c < len(cuts) && empty < len(byCut) && q.free[byCut[empty]] == cuts[c]; empty++ {
			line = append(line, q.empties[byCut[empty]])
		}
		if c < len(cuts) {
			start = cuts[c]
		}
	}
	return line
}

// merge appends one part, whose items are turns[members].
func (q *queueOrder) merge(line, turns, members []int32, start int32) []int32 {
	next, added := 0, start // the next add, and the slot of the last
	addUpTo := func(slot int32, atLeast int) {
		for next < len(members) {
			i := turns[members[next]]
			t := max(added, q.span[i].addIn)
			if t > slot && next >= atLeast {
				return
			}
			line = append(line, q.add[i])
			added = t
			next++
		}
	}
	front := start
	for k, m := range members {
		i := turns[m]
		addUpTo(-1, k+1)
		peeks := slices.Clone(q.peeksOf(i))
		slices.SortStableFunc(peeks, func(a, b int32) int { return cmp.Compare(q.slots.in[a], q.slots.in[b]) })
		front = max(front, added)
		for _, p := range peeks {
			front = max(front, q.slots.in[p])
			addUpTo(front, 0)
			line = append(line, p)
		}
		front = max(front, q.span[i].takeIn)
		addUpTo(front, 0)
		if q.take[i] >= 0 {
			line = append(line, q.take[i])
		} else {
			line = append(line, -1-i)
		}
	}
	return line
}
