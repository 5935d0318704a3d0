package engine

import (
	"sort"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// instances is what a search knows of single writes where values repeat: which
// operations may have read from which update, under one interval order (rules 5
// and 6 of Search go by it instead of by values). An operation x may have read
// from an update w of its value unless w was invoked only after x returned, or
// another update came wholly between the two.
type instances struct {
	*pins
	in, out  []int64
	optional []bool
	sources  [][]int32 // by operation that must find a value: answered updates that it may have read from
	readers  [][]int32 // by answered update: the operations that may have read from it
	start    []int32   // operations that may have read the initial value
	lost     [][]int32 // by cell: updates without an answer that write it, by call
	avail    []int32   // by operation: sources that are not placed
	left     []int32   // by update: readers that are not placed
	may      []int32   // by cell: operations without an answer, not placed, that want it
	shy      *shyReads // reads that say only which value they did not find
	hopeless int32     // the first to return of the answered operations that can have read from nothing; -1: none
}

// maxSources bounds the lists, for each operation on average.
const maxSources = 64

// newInstances returns nil where the order is not one interval order, where
// there are several objects, where the answer of an update was not recorded (it
// may have changed nothing), or where the lists would be long.
func newInstances(p *pins, v *history.View, g *order.Graph, state []int32) *instances {
	if p == nil || len(state) != 1 || !p.exact[0] {
		return nil
	}
	for x := range int32(v.N) {
		if !v.Read[x] && !g.Optional[x] && p.want[x] >= 0 && p.demand[x] < 0 {
			return nil
		}
	}
	initial := p.cell(0, p.tokens.Held(state[0]))
	in, out, ok := g.Interval()
	if !ok {
		in, out, ok = order.Intervals(&order.Rules{View: v, Hard: g.Sources})
	}
	if !ok {
		return nil
	}
	n := v.N
	k := &instances{pins: p, in: in, out: out, optional: g.Optional, sources: make([][]int32, n), readers: make([][]int32, n),
		avail: make([]int32, n), left: make([]int32, n), may: make([]int32, len(p.needs)), hopeless: -1}
	if !k.link(v, initial) {
		return nil
	}
	return k
}

// shyReads are the answered reads that say only which value they did not find,
// by the earliest call of an update of that value that may be current when they
// take effect. Those for which there is none are reads of no value and stand in
// no list.
type shyReads struct {
	unknown bool    // some do not even say which
	place   []int32 // by operation: its place in that order, from 1; 0: none
	since   []int64 // in that order
	left    []int32 // sums of those that are not placed (Fenwick, 1994)
}

// addShy fills shy. overwritten tells, for an operation, since when an update
// must have been called not to be overwritten before it, and whether the initial
// value may be there.
func (k *instances) addShy(v *history.View, byCell [][]int32, initial int32, overwritten func(x int32) (since int64, atStart bool)) {
	k.shy = &shyReads{place: make([]int32, v.N)}
	avoider, knows := k.tokens.(spec.Avoider)
	var found []int32
	from := make([]int64, v.N)
	for x := range int32(v.N) {
		if !v.Read[x] || !k.tokens.Observes(x) {
			continue
		}
		c := int32(-1)
		if knows {
			if t := avoider.Avoid(x); t >= 0 {
				c = k.known(0, t)
				if c < 0 {
					continue // nobody writes it, and it is not there at first
				}
			}
		}
		if c < 0 {
			k.shy.unknown = true
			return
		}
		since, atStart := overwritten(x)
		from[x] = order.OutNever
		if atStart && c == initial {
			from[x] = order.InNever
		}
		for _, list := range [][]int32{byCell[c], k.lost[c]} {
			for _, w := range list {
				if k.in[w] <= k.out[x] && k.out[w] >= since {
					from[x] = min(from[x], k.in[w])
					break // the rest was called later
				}
			}
		}
		if from[x] < order.OutNever {
			found = append(found, x)
		}
	}
	order.SortBy(found, from)
	k.shy.left = make([]int32, len(found)+1)
	for i, x := range found {
		k.shy.place[x] = int32(i + 1)
		k.shy.since = append(k.shy.since, from[x])
		k.shy.add(x, 1)
	}
}

func (s *shyReads) add(x, n int32) {
	for i := s.place[x]; i > 0 && int(i) < len(s.left); i += i & -i {
		s.left[i] += n
	}
}

// before counts those not placed for which an update called up to t may be the
// one whose value they did not find.
func (s *shyReads) before(t int64) (n int32) {
	for i := sort.Search(len(s.since), func(i int) bool { return s.since[i] > t }); i > 0; i -= i & -i {
		n += s.left[i]
	}
	return n
}

// link fills the lists. initial is the cell that is held at first.
func (k *instances) link(v *history.View, initial int32) bool {
	updates := make([]int32, 0, v.N) // answered
	for x := range int32(v.N) {
		if k.write[x] >= 0 && !k.optional[x] {
			updates = append(updates, x)
		}
		if k.optional[x] && k.want[x] >= 0 && (v.Idle == nil || !v.Idle[x]) {
			k.may[k.want[x]]++
		}
	}
	byCell := k.byCell(func(x int32) bool { return !k.optional[x] })
	k.lost = k.byCell(func(x int32) bool { return k.optional[x] })
	order.SortBy(updates, k.out)
	latest := make([]int64, len(updates)) // greatest in among the first so many to return
	for i, x := range updates {
		latest[i] = k.in[x]
		if i > 0 {
			latest[i] = max(latest[i], latest[i-1])
		}
	}
	overwritten := func(x int32) (since int64, atStart bool) {
		if i := sort.Search(len(updates), func(i int) bool { return k.out[updates[i]] >= k.in[x] }); i > 0 {
			return latest[i-1], false
		}
		return order.InNever, true
	}
	k.addShy(v, byCell, initial, overwritten)
	longest := k.longest(byCell)
	all := make([]int32, 0, v.N) // the lists of sources, one after the other
	for x := range int32(v.N) {
		c := k.demand[x]
		if c < 0 {
			continue
		}
		since, atStart := overwritten(x)
		if atStart = atStart && c == initial; atStart {
			k.start = append(k.start, x)
		}
		from := len(all)
		all = k.candidates(all, x, byCell[c], longest, since)
		k.sources[x] = all[from:len(all):len(all)]
		for _, w := range k.sources[x] {
			k.left[w]++
		}
		k.avail[x] = int32(len(k.sources[x]))
		if len(all) > maxSources*v.N+100_000 {
			return false
		}
		if k.avail[x] == 0 && !atStart && !k.mayBeLost(x, nil) {
			if k.hopeless < 0 || v.Ret[x] < v.Ret[k.hopeless] {
				k.hopeless = int32(x)
			}
		}
	}
	k.turnRound(len(all))
	return true
}

// byCell lists the updates that pass, by the cell that they write, each list by
// call.
func (k *instances) byCell(pass func(x int32) bool) [][]int32 {
	var found []int32
	many := make([]int32, len(k.needs))
	for x, c := range k.write {
		if c >= 0 && pass(int32(x)) {
			found = append(found, int32(x))
			many[c]++
		}
	}
	lists := make([][]int32, len(k.needs))
	if len(found) == 0 {
		return lists
	}
	order.SortBy(found, k.in)
	all := make([]int32, len(found))
	for c, n := range many {
		lists[c], all = all[:0:n], all[n:]
	}
	for _, x := range found {
		lists[k.write[x]] = append(lists[k.write[x]], x)
	}
	return lists
}

// turnRound fills readers from sources, whose lists hold so many together.
func (k *instances) turnRound(total int) {
	all := make([]int32, total)
	for w, n := range k.left {
		k.readers[w], all = all[:0:n], all[n:]
	}
	for x, from := range k.sources {
		for _, w := range from {
			k.readers[w] = append(k.readers[w], int32(x))
		}
	}
}

// longest is, by update, the greatest out among those of its cell that were
// called no later.
func (k *instances) longest(byCell [][]int32) []int64 {
	most := make([]int64, len(k.out))
	for _, list := range byCell {
		for i, w := range list {
			most[w] = k.out[w]
			if i > 0 {
				most[w] = max(most[w], most[list[i-1]])
			}
		}
	}
	return most
}

// candidates adds to found the updates of a cell that x may have read from.
func (k *instances) candidates(found []int32, x int32, list []int32, longest []int64, since int64) []int32 {
	end := sort.Search(len(list), func(i int) bool { return k.in[list[i]] > k.out[x] })
	for i := end - 1; i >= 0 && longest[list[i]] >= since; i-- {
		if w := list[i]; w != x && k.out[w] >= since {
			found = append(found, w)
		}
	}
	return found
}

// mayBeLost reports whether an update without an answer that is not placed may
// give x its value.
func (k *instances) mayBeLost(x int32, placed []bool) bool {
	for _, y := range k.lost[k.demand[x]] {
		if k.in[y] > k.out[x] {
			break
		}
		if y != x && (placed == nil || !placed[y]) {
			return true
		}
	}
	return false
}

// move tells that x was placed (n = -1) or taken back (n = 1).
func (k *instances) move(x, n int32) {
	for _, w := range k.sources[x] {
		k.left[w] += n
	}
	for _, r := range k.readers[x] {
		k.avail[r] += n
	}
	if k.optional[x] && k.want[x] >= 0 {
		k.may[k.want[x]] += n
	}
	k.shy.add(x, n)
}

// overwrites reports whether placing x, an update, takes away for good what an
// answered operation that is not placed must find: it can have read from the
// current update only (-1: the start).
func (k *instances) overwrites(x, current int32, placed []bool) bool {
	waiting := k.start
	if current >= 0 {
		waiting = k.readers[current]
	}
	for _, r := range waiting {
		if r != x && !placed[r] && k.avail[r] == 0 && !k.mayBeLost(r, placed) {
			return true
		}
	}
	return false
}

// blind reports whether x is an answered update that finds no value.
func (k *instances) blind(x int32) bool {
	return !k.optional[x] && k.write[x] >= 0 && k.want[x] < 0
}

// dead reports whether nothing that is not placed can read from x, a blind
// update, or need it to take another value away.
func (k *instances) dead(x int32) bool {
	if k.shy.unknown && !k.silent[0] {
		return false
	}
	return k.left[x] == 0 && k.may[k.write[x]] == 0 && k.shy.before(k.out[x]) == 0
}

// unneeded reports whether nothing that is not placed wants what the update y,
// without an answer, would leave. It may still be needed to take away the value
// that a read did not find; then it can wait until that read is next.
func (k *instances) unneeded(y int32) bool {
	wants := k.wants[k.write[y]]
	if k.want[y] == k.write[y] {
		wants--
	}
	return wants == 0
}
