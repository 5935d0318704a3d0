package order

import (
	"math"
	"slices"
)

// cover splits the required operations into chains, greedily: each goes to the
// end of the first chain whose last operation precedes it. Any order of offering
// them gives valid chains; that of their calls gives few. Once stop says so the
// rest is left out.
func (g *Graph) cover(call []int64, ends chainEnds, stop func() bool) {
	g.chain, g.pos = make([]int32, g.N), make([]int32, g.N)
	var offer []int32
	for i := range int32(g.N) {
		g.chain[i], g.pos[i] = -1, -1
		if !g.Optional[i] {
			offer = append(offer, i)
		}
	}
	SortBy(offer, call)
	for _, x := range offer {
		if stop != nil && stop() {
			return
		}
		j := ends.first(x)
		if j < 0 {
			j = len(g.Chains)
			g.Chains = append(g.Chains, nil)
		}
		g.chain[x], g.pos[x] = int32(j), int32(len(g.Chains[j]))
		g.Chains[j] = append(g.Chains[j], x)
		ends.set(j, x)
	}
}

// chainEnds are the last operations of chains.
type chainEnds interface {
	first(x int32) int      // the first chain whose end precedes x; -1: none
	set(chain int, x int32) // x is the end of a chain, which may be the next new one
}

// anyEnds asks every chain.
type anyEnds struct{ *Graph }

func (e *anyEnds) first(x int32) int {
	return slices.IndexFunc(e.Chains, func(ch []int32) bool { return e.Precedes(ch[len(ch)-1], x) })
}

func (e *anyEnds) set(int, int32) {}

// clockEnds are ends under one clock without groups: a tree of the least Out
// below each node, as thousands of operations may overlap.
type clockEnds struct {
	clock *Clock
	size  int     // a power of two; leaf k is least[size+k]
	least []int64 // of nodes from 1 on
}

func (e *clockEnds) first(x int32) int {
	in := e.clock.In[x]
	if e.size == 0 || e.least[1] >= in {
		return -1
	}
	node := 1
	for node < e.size {
		if node *= 2; e.least[node] >= in {
			node++
		}
	}
	return node - e.size
}

func (e *clockEnds) set(chain int, x int32) {
	if chain >= e.size {
		e.grow()
	}
	node := e.size + chain
	e.least[node] = e.clock.Out[x]
	for node /= 2; node > 0; node /= 2 {
		e.least[node] = min(e.least[2*node], e.least[2*node+1])
	}
}

// grow doubles the number of leaves.
func (e *clockEnds) grow() {
	old := e.least[e.size:]
	e.size = max(2*e.size, 1)
	e.least = slices.Repeat([]int64{math.MaxInt64}, 2*e.size)
	copy(e.least[e.size:], old)
	for node := e.size - 1; node > 0; node-- {
		e.least[node] = min(e.least[2*node], e.least[2*node+1])
	}
}
