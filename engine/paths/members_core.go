package paths

import (
	"slices"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// maxCoreReads is the number of reads of one member up to which those are
// looked for that a core does not need.
const maxCoreReads = 2000

// refute is the violation of one member, whose operations are ops, by in.
//
// What it needs is looked for between two cuts, places that every operation is
// wholly before or wholly after. All that is before has happened, in some
// order, and left what the numbers of operations that enter and leave say; one
// of them that leaves the same stands for all. What is after does not matter.
// Between the cuts every change is needed, and of the reads some.
func (m *membership) refute(ops []int32, start bool, puts plan) Answer {
	left := slices.Clone(m.left)
	if puts == noPuts {
		ops = m.between(ops, left[0], start)
	}
	var changes, reads []int32
	for _, x := range ops {
		if m.changes(x) {
			changes = append(changes, x)
		} else {
			reads = append(reads, x)
		}
	}
	stuck := func(reads []int32) bool {
		some := slices.Concat(changes, reads)
		order.SortBy(some, m.in)
		return m.solve(some, start, puts)
	}
	if len(changes) < maxCore && len(reads) <= maxCoreReads && stuck(reads) {
		reads = fewest(reads, stuck)
		if len(changes)+len(reads) <= maxCore {
			return Answer{Kind: spec.Violation, Core: sortedSet(slices.Concat(changes, reads))}
		}
	}
	if len(left) > maxCore {
		left = left[:maxCore]
	}
	return Answer{Kind: spec.Violation, Core: sortedSet(left), Words: "whatever came before, none of these can come next, and one of them must"}
}

// between returns the operations between the cuts around overdue, with one of
// those before that leaves what they left.
func (m *membership) between(ops []int32, overdue int32, start bool) []int32 {
	at := slices.Index(ops, overdue)
	from, last := 0, m.out[ops[0]]
	there, before := start, start
	anchor := int32(-1)
	for i, x := range ops {
		if last < m.in[x] {
			if i > at {
				ops = ops[:i]
				break
			}
			from, before = i, there
		}
		last = max(last, m.out[x])
		if m.changes(x) {
			there = !there
		}
	}
	if before != start {
		anchor = ops[slices.IndexFunc(ops, func(x int32) bool { return m.kind[x] == spec.MemberEnter == before && m.changes(x) })]
		return append([]int32{anchor}, ops[from:]...)
	}
	return ops[from:]
}
