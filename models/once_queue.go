package models

import (
	"cmp"
	"slices"
	"sort"

	"pinyon/engine/history"
)

// passage is one element's way through a queue: the operation that put it in
// and the one that took it out, at a position within what that one took.
type passage struct {
	value    history.Value
	in, out  int
	position int
}

// queueReordered finds elements that overtook an earlier one. Only elements
// that went in and came out once have an order to speak of.
func queueReordered(b *object[QueueIn, taken], f *flow, bad bool) {
	position := map[history.Value]int{}
	for _, i := range b.ops {
		if b.Ops[i].In.F != "enqueue" && b.known(i) {
			for k, v := range b.Ops[i].Out.Slice() {
				position[v] = k
			}
		}
	}
	var all []passage
	for _, v := range f.out.values {
		if ins, outs := f.in.by[v], f.out.by[v]; len(ins) == 1 && len(outs) == 1 && b.Ops[ins[0]].Outcome == history.OK {
			all = append(all, passage{v, ins[0], outs[0], position[v]})
		}
	}
	slices.SortStableFunc(all, func(x, y passage) int { return cmp.Compare(b.ret(x.in), b.ret(y.in)) })
	// latest[n] is the one of the first n that came out last.
	latest := make([]passage, len(all)+1)
	for n, p := range all {
		latest[n+1] = p
		if n > 0 && b.call(latest[n].out) > b.call(p.out) {
			latest[n+1] = latest[n]
		}
	}
	for _, p := range all {
		n := sort.Search(len(all), func(i int) bool { return !b.before(b.ret(all[i].in), b.call(p.in)) })
		if n > 0 && latest[n] != p && b.before(b.ret(p.out), b.call(latest[n].out)) {
			overtook(b, p, latest[n], bad)
		}
	}
	withinDrains(b, all, bad)
}

// withinDrains compares what one drain took, in its order.
func withinDrains(b *object[QueueIn, taken], all []passage, bad bool) {
	byDrain := map[int][]passage{}
	for _, p := range all {
		byDrain[p.out] = append(byDrain[p.out], p)
	}
	for _, i := range b.ops {
		list := byDrain[i]
		slices.SortFunc(list, func(x, y passage) int { return cmp.Compare(x.position, y.position) })
		var first passage // of those further back, the one that went in first
		for k := len(list) - 1; k >= 0; k-- {
			p := list[k]
			if k < len(list)-1 && b.before(b.ret(first.in), b.call(p.in)) {
				overtook(b, p, first, bad)
			}
			if k == len(list)-1 || b.ret(p.in) < b.ret(first.in) {
				first = p
			}
		}
	}
}

func overtook(b *object[QueueIn, taken], p, earlier passage, bad bool) {
	b.report(bad, "reordered", []int{p.out, earlier.out, p.in, earlier.in}, "%s dequeued %s before %s dequeued %s, which had been enqueued first (%s, then %s)",
		b.Where(p.out), p.value.Label(), b.Where(earlier.out), earlier.value.Label(), b.Where(earlier.in), b.Where(p.in))
}
