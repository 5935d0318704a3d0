package paths

import (
	"slices"

	"pinyon/engine/spec"
)

// maxCore is the number of operations up to which a core is small: brute force
// can look at it.
const maxCore = 12

// shrink returns the bag of a conflict without the items, observations and
// peeks that it does not need, as far as a bounded effort finds them. A legal
// order of all operations stays legal when every operation on an item is left
// out, or a peek, or an observation of emptiness: so what is impossible in the
// bag is impossible in the whole (docs/ARCHITECTURE.md, section 16).
func (c *container) shrink(b *bag, bad *conflict) *bag {
	b = b.choose(bad.items, bad.empties, nil)
	effort := 8*len(b.ops) + 100_000
	impossible := func(b *bag) bool {
		effort -= len(b.ops) + 10
		_, bad := c.try(b)
		return bad != nil && !(b.stop != nil && b.stop())
	}
	items := fewest(identity(int32(b.items())), func(items []int32) bool {
		return effort > 0 && impossible(b.choose(items, b.empties, nil))
	})
	b = b.choose(items, b.empties, nil)
	items = identity(int32(b.items()))
	seen := fewest(slices.Concat(b.peeks, b.empties), func(seen []int32) bool {
		return effort > 0 && impossible(b.sees(items, seen))
	})
	return b.sees(items, seen)
}

// sees is the bag with only these peeks and observations of emptiness.
func (b *bag) sees(items, seen []int32) *bag {
	kept := make(map[int32]bool, len(seen))
	for _, op := range seen {
		kept[op] = true
	}
	var empties []int32
	for _, e := range b.empties {
		if kept[e] {
			empties = append(empties, e)
		}
	}
	return b.choose(items, empties, func(p int32) bool { return kept[p] })
}

// fewest leaves out of list what it can while bad holds, in pieces that are
// halved (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
// Input", 2002). What could not be left out of more cannot be left out of
// less, so one pass for each size is enough.
func fewest(list []int32, bad func([]int32) bool) []int32 {
	for piece := (len(list) + 1) / 2; piece > 0 && len(list) > 0; piece /= 2 {
		for at := 0; at < len(list); {
			without := slices.Concat(list[:at], list[min(len(list), at+piece):])
			if bad(without) {
				list = without
			} else {
				at += piece
			}
		}
	}
	return list
}

// refutes is the violation that operations of the View prove.
func refutes(ops []int32) Answer {
	core := slices.Clone(ops)
	slices.Sort(core)
	a := Answer{Kind: spec.Violation, Core: slices.Compact(core)}
	if len(a.Core) > maxCore {
		a.Words = "these operations alone have no order that fits"
	}
	return a
}
