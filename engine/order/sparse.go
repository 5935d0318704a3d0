package order

import "slices"

// Sparse puts explicit edges in place of every source that is no clock, such that
// the closure of all together stays what it was: of each chain of hard order, an
// operation keeps the edge from the last that precedes it, unless the operation
// ahead in its own chain has it (docs/ARCHITECTURE.md, section 4). It does not do
// so where an operation without an answer may precede another: ok is then false.
func (g *Graph) Sparse() (hard []Source, ok bool) {
	if g.lost {
		return nil, false
	}
	pairs := make([][][2]int32, len(g.Sources))
	for _, chain := range g.Chains {
		for m := 1; m < len(chain); m++ { // the chain itself may stand on a source that is replaced
			a, x := chain[m-1], chain[m]
			if k := slices.IndexFunc(g.general, func(i int) bool { return g.Sources[i].Precedes(a, x) }); k >= 0 {
				pairs[g.general[k]] = append(pairs[g.general[k]], [2]int32{a, x})
			}
		}
	}
	for x := range int32(g.N) {
		for _, n := range g.needs(x) {
			pairs[n.by] = append(pairs[n.by], [2]int32{g.Chains[n.chain][n.count-1], x})
		}
	}
	hard = slices.Clone(g.Sources)
	for _, i := range g.general {
		edges, err := NewEdges(g.N, pairs[i], g.Sources[i].Why)
		if err != nil {
			return nil, false
		}
		hard[i].Relation = edges
	}
	return hard, true
}
