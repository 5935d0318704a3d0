package paths

import (
	"slices"

	"pinyon/engine/order"
)

// arranger puts chains into an order, each taken as one: Kahn's algorithm in
// which the edges of a clock are never listed. On each clock, and each group of
// it, a chain has an entry with its least Out and its greatest In. An entry is
// open when no other chain that is left has an Out less than its In, and a
// chain may come next when all its entries are open. The least Out that is left
// only grows, so one pointer for each group is enough.
type arranger struct {
	*blocks
	groups  []group
	entries []entryRef // chain k's are entries[start[k]:start[k+1]]
	start   []int32    // nil: one group, and entry k is chain k's
	wait    []int32    // by chain: entries and explicit edges that hold it back
	after   [][]int32  // by chain: chains that explicit edges put behind it
	gone    []bool
	ready   []int32
}

type entryRef struct{ group, entry int32 }

// group are the entries of one group of one clock.
type group struct {
	clock     *order.Clock
	chain     []int32 // by entry
	first     []int32 // by entry: the operation with the least Out
	last      []int32 // by entry: the operation with the greatest In
	byOut     []int32 // entries by least Out
	byIn      []int32 // entries by greatest In
	open      []bool
	skip      []int32 // by place in byOut: where the next entry may be that is left
	least, at int     // how far byOut and byIn are used up
}

// left is the first place in byOut from i on whose chain is left. The places
// that it passed lead there from now on.
func (g *group) left(gone []bool, i int) int {
	passed := func(i int) bool { return i < len(g.byOut) && gone[g.chain[g.byOut[i]]] }
	for passed(i) {
		next := int(g.skip[i])
		if passed(next) {
			g.skip[i] = g.skip[next]
		}
		i = next
	}
	return i
}

// arrange returns all operations in an order, or operations that form a circle
// of chains.
func (b *blocks) arrange() (line, circle []int32) {
	n := len(b.from) - 1
	a := &arranger{blocks: b, wait: make([]int32, n), gone: make([]bool, n)}
	if c := b.hard.clocks; len(c) == 1 && c[0].Within == nil {
		a.whole(c[0])
	} else {
		for _, c := range c {
			a.byGroups(c)
		}
		a.index()
	}
	for k := range a.groups {
		for _, c := range a.groups[k].chain {
			a.wait[c]++
		}
	}
	a.explicit()
	if b.start {
		if before := a.beforeStart(); before != nil {
			return nil, before
		}
	}
	return a.run()
}

// whole makes the entries of a clock without groups.
func (a *arranger) whole(c *order.Clock) {
	n := len(a.from) - 1
	g := group{clock: c, chain: make([]int32, n), first: make([]int32, n), last: make([]int32, n)}
	for k := range n {
		ops := a.members[a.from[k]:a.from[k+1]]
		g.chain[k], g.first[k], g.last[k] = int32(k), ops[0], ops[0]
		for _, x := range ops[1:] {
			g.stretch(k, x)
		}
	}
	a.addGroup(g)
}

func (g *group) stretch(k int, x int32) {
	if g.clock.Out[x] < g.clock.Out[g.first[k]] {
		g.first[k] = x
	}
	if g.clock.In[x] > g.clock.In[g.last[k]] {
		g.last[k] = x
	}
}

// byGroups makes the entries of a clock, group by group.
func (a *arranger) byGroups(c *order.Clock) {
	n := len(a.from) - 1
	number, made := []int32{0}, []group{{clock: c, chain: make([]int32, 0, n), first: make([]int32, 0, n), last: make([]int32, 0, n)}}
	if c.Within != nil {
		number, made = filled(int(slices.Max(c.Within))+1, -1), nil
	}
	for k := range n {
		for _, x := range a.members[a.from[k]:a.from[k+1]] {
			w := int32(0)
			if c.Within != nil {
				w = c.Within[x]
			}
			if w < 0 {
				continue
			}
			if number[w] < 0 {
				number[w] = int32(len(made))
				made = append(made, group{clock: c})
			}
			g := &made[number[w]]
			if e := len(g.chain) - 1; e >= 0 && g.chain[e] == int32(k) {
				g.stretch(e, x)
				continue
			}
			g.chain, g.first, g.last = append(g.chain, int32(k)), append(g.first, x), append(g.last, x)
		}
	}
	for _, g := range made {
		a.addGroup(g)
	}
}

// index lists the entries of each chain.
func (a *arranger) index() {
	a.start = make([]int32, len(a.from))
	for k := range a.groups {
		for _, c := range a.groups[k].chain {
			a.start[c+1]++
		}
	}
	for k := 1; k < len(a.start); k++ {
		a.start[k] += a.start[k-1]
	}
	a.entries = make([]entryRef, a.start[len(a.start)-1])
	at := slices.Clone(a.start)
	for k := range a.groups {
		for e, c := range a.groups[k].chain {
			a.entries[at[c]] = entryRef{int32(k), int32(e)}
			at[c]++
		}
	}
}

func (a *arranger) addGroup(g group) {
	n := len(g.chain)
	g.open = make([]bool, n)
	out, in := make([]int64, n), make([]int64, n)
	g.byOut, g.byIn, g.skip = make([]int32, n), make([]int32, n), make([]int32, n)
	for e := range n {
		out[e], in[e] = g.clock.Out[g.first[e]], g.clock.In[g.last[e]]
		g.byOut[e], g.byIn[e], g.skip[e] = int32(e), int32(e), int32(e)+1
	}
	if n > 0 {
		order.SortBy(g.byOut, out)
		order.SortBy(g.byIn, in)
	}
	a.groups = append(a.groups, g)
}

// explicit counts the explicit edges from chain to chain.
func (a *arranger) explicit() {
	if len(a.hard.edges) == 0 {
		return
	}
	a.after = make([][]int32, len(a.from)-1)
	for _, e := range a.hard.edges {
		for x, to := range e.To {
			for _, y := range to {
				if from, into := a.chain[x], a.chain[y]; from >= 0 && into >= 0 && from != into {
					a.after[from] = append(a.after[from], into)
					a.wait[into]++
				}
			}
		}
	}
}

// beforeStart looks for an operation of another chain that must come before one
// of the chain of the initial value.
func (a *arranger) beforeStart() (bad []int32) {
	for k := range a.groups {
		g := &a.groups[k]
		e := slices.Index(g.chain, 0)
		if e < 0 {
			continue
		}
		for _, other := range g.byOut {
			if int(other) != e {
				if g.clock.Out[g.first[other]] < g.clock.In[g.last[e]] {
					return []int32{g.first[other], g.last[e]}
				}
				break
			}
		}
	}
	for _, edges := range a.hard.edges {
		for x, to := range edges.To {
			for _, y := range to {
				if a.chain[x] > 0 && a.chain[y] == 0 {
					return []int32{int32(x), y}
				}
			}
		}
	}
	return nil
}

func (a *arranger) run() (line, circle []int32) {
	for k := range a.groups {
		a.advance(&a.groups[k])
	}
	for k, w := range a.wait {
		if w == 0 {
			a.ready = append(a.ready, int32(k))
		}
	}
	slices.Sort(a.ready)
	a.ready = slices.Compact(a.ready)
	line = make([]int32, 0, len(a.members))
	for i := 0; i < len(a.ready); i++ {
		if i&0xffff == 0 && a.p.stopped() {
			return nil, nil
		}
		k := a.ready[i]
		line = append(line, a.members[a.from[k]:a.from[k+1]]...)
		a.remove(k)
	}
	if len(line) < len(a.members) {
		return nil, a.circle()
	}
	return line, nil
}

// remove takes a chain out and opens what it held back.
func (a *arranger) remove(k int32) {
	a.gone[k] = true
	if a.start == nil {
		for i := range a.groups {
			a.advance(&a.groups[i])
		}
	} else {
		for _, e := range a.entries[a.start[k]:a.start[k+1]] {
			a.advance(&a.groups[e.group])
		}
	}
	if a.after != nil {
		for _, other := range a.after[k] {
			a.release(other)
		}
	}
}

func (a *arranger) release(k int32) {
	if a.wait[k]--; a.wait[k] == 0 {
		a.ready = append(a.ready, k)
	}
}

// advance opens the entries of a group that nothing left holds back: those
// whose In is at most the least Out of the others.
func (a *arranger) advance(g *group) {
	g.least = g.left(a.gone, g.least)
	if g.least == len(g.byOut) {
		return
	}
	first := g.byOut[g.least]
	least := g.clock.Out[g.first[first]]
	for ; g.at < len(g.byIn) && g.clock.In[g.last[g.byIn[g.at]]] <= least; g.at++ {
		a.openEntry(g, g.byIn[g.at])
	}
	if g.open[first] {
		return
	}
	if second := g.second(a); second < 0 || g.clock.In[g.last[first]] <= g.clock.Out[g.first[second]] {
		a.openEntry(g, first)
	}
}

// second is the entry with the least Out but one of those left; -1: none.
func (g *group) second(a *arranger) int32 {
	if i := g.left(a.gone, g.least+1); i < len(g.byOut) {
		return g.byOut[i]
	}
	return -1
}

func (a *arranger) openEntry(g *group, e int32) {
	if !g.open[e] {
		g.open[e] = true
		a.release(g.chain[e])
	}
}

// circle follows what holds chains back until it comes round, and returns the
// operations at the ends of the edges. It begins with the chain that has the
// least Out on some clock: on one clock, that and the next hold each other back.
func (a *arranger) circle() (ops []int32) {
	at := int32(slices.Index(a.gone, false))
	for k := range a.groups {
		if g := &a.groups[k]; g.least < len(g.byOut) {
			at = g.chain[g.byOut[g.least]]
			break
		}
	}
	type step struct{ from, to int32 }
	seen := map[int32]int{}
	var steps []step
	for {
		if i, ok := seen[at]; ok {
			for _, s := range steps[i:] {
				ops = append(ops, s.from, s.to)
			}
			return sortedSet(ops)
		}
		seen[at] = len(steps)
		from, to := a.holding(at)
		steps = append(steps, step{from, to})
		at = a.chain[from]
	}
}

// holding is an edge from a chain that is left to chain k.
func (a *arranger) holding(k int32) (from, to int32) {
	refs := []entryRef{{0, k}}
	if a.start != nil {
		refs = a.entries[a.start[k]:a.start[k+1]]
	}
	for _, r := range refs {
		if int(r.group) >= len(a.groups) {
			continue
		}
		g := &a.groups[r.group]
		if g.open[r.entry] {
			continue
		}
		other := g.byOut[g.least]
		if other == r.entry {
			other = g.second(a)
		}
		return g.first[other], g.last[r.entry]
	}
	for _, e := range a.hard.edges {
		for x, to := range e.To {
			for _, y := range to {
				if c := a.chain[x]; a.chain[y] == k && c >= 0 && c != k && !a.gone[c] {
					return int32(x), y
				}
			}
		}
	}
	panic("a chain that nothing holds back was not taken")
}

func sortedSet(ops []int32) []int32 {
	slices.Sort(ops)
	return slices.Compact(ops)
}
