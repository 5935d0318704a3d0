package order

import "slices"

// Sparse puts explicit edges in place of every hard relation that is neither a
// clock nor explicit edges, such that the closure of all together stays what it
// was: of each chain of hard order, an operation keeps the edge from the last
// that precedes it (docs/ARCHITECTURE.md, section 4). It does not do so where
// an operation without an answer precedes another by such a relation: ok is
// then false.
func Sparse(r *Rules) (hard []Source, ok bool) {
	b := &starter{Graph: &Graph{N: r.View.N, Sources: r.Hard, Optional: r.View.Info}}
	var at []int
	for i, s := range r.Hard {
		switch s.Relation.(type) {
		case *Clock, *Edges:
		default:
			at = append(at, i)
			b.general = append(b.general, s)
		}
	}
	hard = slices.Clone(r.Hard)
	if len(at) == 0 {
		return hard, true
	}
	if b.unansweredPrecede() {
		return nil, false
	}
	b.cover(r.View.Call, b.Graph.Precedes)
	b.prepare()
	pairs := make([][][2]int32, len(at))
	floor := make([]int32, len(b.Chains))
	keep := func(x int32) {
		for j, chain := range b.indexes {
			last, by := floor[j]-1, -1
			for k, find := range chain {
				if m := find(x, last+1); m > last {
					last, by = m, k
				}
			}
			if by >= 0 {
				pairs[by] = append(pairs[by], [2]int32{b.Chains[j][last], x})
				floor[j] = last + 1
			}
		}
	}
	for j, chain := range b.Chains {
		clear(floor)
		for m, x := range chain {
			if m > 0 { // the chain itself may stand on a relation that is replaced
				if k := slices.IndexFunc(b.general, func(s Source) bool { return s.Precedes(chain[m-1], x) }); k >= 0 {
					pairs[k] = append(pairs[k], [2]int32{chain[m-1], x})
				}
			}
			floor[j] = max(floor[j], int32(m)+1)
			keep(x)
		}
	}
	for x := range int32(r.View.N) {
		if r.View.Info[x] {
			clear(floor)
			keep(x)
		}
	}
	for k, i := range at {
		edges, err := NewEdges(r.View.N, pairs[k], r.Hard[i].Why)
		if err != nil {
			return nil, false
		}
		hard[i].Relation = edges
	}
	return hard, true
}

// unansweredPrecede reports whether an operation without an answer precedes
// another by a general source.
func (b *starter) unansweredPrecede() bool {
	var list []int32
	for i, lost := range b.Optional {
		if lost {
			list = append(list, int32(i))
		}
	}
	for _, s := range b.general {
		find := index(s.Relation, list)
		for x := range int32(b.N) {
			if len(list) > 0 && find(x, 0) >= 0 {
				return true
			}
		}
	}
	return false
}
