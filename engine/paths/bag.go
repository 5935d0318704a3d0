package paths

import (
	"cmp"
	"slices"

	"pinyon/engine/spec"
)

// bag is the history of a container, sorted by element. Operations are numbers
// of its own; ops leads back to the View. A choice of its elements, with all
// that is done to them but some peeks, is a bag again (choose).
type bag struct {
	ops        []int32
	in, out    []int64
	add, take  []int32 // by item; -1: none
	peekFrom   []int32 // the peeks of item i are peeks[peekFrom[i]:peekFrom[i+1]]
	peeks      []int32
	rank       []int32 // by item, ByPriority
	empties    []int32
	idle       []int32 // required, without effect and information
	spares     []int32 // takes without an answer, by in
	loose      []bool  // by item: one of the spares may have taken it
	by         []int32 // by item: which of them, as a guess; nil: any
	slots      *slots  // made when first needed
	stop       func() bool
	discipline spec.Discipline
}

// conflict are items and observations of emptiness that exclude each other.
type conflict struct {
	items   []int32
	empties []int32
}

func (b *bag) items() int { return len(b.add) }

func (b *bag) peeksOf(item int32) []int32 { return b.peeks[b.peekFrom[item]:b.peekFrom[item+1]] }

// gone reports whether item is taken, or may have been.
func (b *bag) gone(item int32) bool { return b.take[item] >= 0 || b.loose[item] }

// newBag sorts the operations by element. twice lists, where an element was
// taken twice, an add and two takes that exclude each other.
func newBag(p *Problem) (b *bag, twice []int32) {
	a, v := p.access(), p.Rules.View
	in, out, _ := p.Intervals()
	b = &bag{in: in, out: out, ops: make([]int32, v.N), stop: p.stopped, discipline: a.Discipline}
	add, take, peeks := filled(a.Count, -1), filled(a.Count, -1), make([]int32, a.Count)
	for i := range int32(v.N) {
		b.ops[i] = i
		switch x := a.Value[i]; a.Kind[i] {
		case spec.AccessAdd:
			add[x] = i
		case spec.AccessTake:
			if take[x] >= 0 && twice == nil {
				twice = []int32{take[x], i}
			}
			take[x] = i
		case spec.AccessPeek:
			peeks[x]++
		case spec.AccessEmpty:
			b.empties = append(b.empties, i)
		case spec.AccessUnknown:
			b.spares = append(b.spares, i)
		case spec.AccessNothing:
			if !v.Info[i] {
				b.idle = append(b.idle, i)
			}
		}
	}
	if twice != nil {
		if x := add[a.Value[twice[0]]]; x >= 0 {
			twice = append(twice, x)
		}
		slices.Sort(twice)
		return b, twice
	}
	slices.SortStableFunc(b.spares, func(x, y int32) int { return cmp.Compare(in[x], in[y]) })
	b.number(p, add, take, peeks)
	return b, nil
}

// number makes items of the elements: those that somebody saw, and those whose
// add was answered. An unanswered add that nobody saw need not have happened,
// and without it the rest is as legal.
func (b *bag) number(p *Problem, add, take, peeks []int32) {
	a, v := p.access(), p.Rules.View
	item := filled(len(add), -1)
	b.peekFrom = append(b.peekFrom, 0)
	for x := range add {
		if take[x] < 0 && peeks[x] == 0 && (add[x] < 0 || v.Info[add[x]]) {
			continue
		}
		item[x] = int32(b.items())
		b.add, b.take = append(b.add, add[x]), append(b.take, take[x])
		b.peekFrom = append(b.peekFrom, b.peekFrom[len(b.peekFrom)-1]+peeks[x])
		if a.Rank != nil {
			b.rank = append(b.rank, a.Rank[x])
		}
	}
	b.loose = make([]bool, b.items())
	b.peeks = make([]int32, b.peekFrom[b.items()])
	next := slices.Clone(b.peekFrom)
	for i := range int32(v.N) {
		if a.Kind[i] == spec.AccessPeek {
			x := item[a.Value[i]]
			b.peeks[next[x]] = i
			next[x]++
		}
	}
}

// choose is the bag of some items, observations of emptiness and peeks
// (keep nil: all of the items'). Of the spares come as many as there are loose
// items, the earliest: more could do no more.
func (b *bag) choose(items, empties []int32, keep func(peek int32) bool) *bag {
	c := &bag{discipline: b.discipline, stop: b.stop, peekFrom: []int32{0}}
	take := func(op int32) int32 {
		if op < 0 {
			return -1
		}
		c.ops = append(c.ops, b.ops[op])
		c.in, c.out = append(c.in, b.in[op]), append(c.out, b.out[op])
		return int32(len(c.ops) - 1)
	}
	spares := 0
	for _, i := range items {
		for _, op := range b.peeksOf(i) {
			if keep == nil || keep(op) {
				c.peeks = append(c.peeks, take(op))
			}
		}
		if b.add[i] < 0 && b.take[i] < 0 && len(c.peeks) == int(c.peekFrom[c.items()]) {
			continue // nobody adds it, and now nobody sees it
		}
		c.add, c.take = append(c.add, take(b.add[i])), append(c.take, take(b.take[i]))
		c.peekFrom = append(c.peekFrom, int32(len(c.peeks)))
		if b.rank != nil {
			c.rank = append(c.rank, b.rank[i])
		}
		c.loose = append(c.loose, b.loose[i])
		if b.loose[i] {
			spares++
		}
	}
	for _, op := range empties {
		c.empties = append(c.empties, take(op))
	}
	for _, op := range b.spares[:min(spares, len(b.spares))] {
		c.spares = append(c.spares, take(op))
	}
	return c
}

// filled is a slice of n times x.
func filled(n int, x int32) []int32 { return slices.Repeat([]int32{x}, n) }
