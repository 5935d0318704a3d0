package order

import (
	"slices"

	"github.com/bits-and-blooms/bitset"
)

// Graph is hard order made ready for a search over placed sets. Operations are
// required (they have an answer) or optional (they may never happen).
//
// Clocks are kept as clocks: an operation is ready when its In is at most the
// smallest Out not yet placed, one pointer a clock. Every other relation
// becomes start arrays over a cover of the required operations by chains: for
// each operation, the last position of each chain that must be placed before
// it. A chain's order is hard order, so that one number per chain loses
// nothing, whatever the relation (docs/ARCHITECTURE.md, section 4); it is found by asking
// every pair from the chain's end, never by galloping, so that relations which
// are not monotone along a chain stay exact.
type Graph struct {
	N        int
	Sources  []Source
	Optional []bool

	Chains     [][]int32 // required operations, each chain in hard order
	chain, pos []int32   // of a required operation; -1 for an optional one

	clocks   []*clockIndex
	general  []int    // positions of the sources that are no clocks
	lost     bool     // an optional operation may precede another
	interval bool     // the one clock is the whole order
	starts   [][]need // per operation; nil: there are none, as in an interval graph

	// Optional operations that precede something ("bridges"): placing an
	// operation drops the bridges before it for good.
	bridges  [][]int32 // per operation: the unplaced optional operations that it drops; nil: there are none
	never    []bool    // optional operations before themselves; nil: there are none
	isBridge []bool    // nil: there are none
}

// NewIntervalGraph is NewGraph where Intervals found that all of the sources
// together are the one interval order of in and out. That one clock is then all
// that a search asks.
func NewIntervalGraph(sources []Source, optional []bool, call, in, out []int64) *Graph {
	g := &Graph{N: len(in), Sources: sources, Optional: optional, interval: true}
	g.clocks = []*clockIndex{newClockIndex(&Clock{In: in, Out: out}, optional)}
	g.cover(call, &clockEnds{clock: g.clocks[0].Clock}, nil)
	return g
}

// Interval is the interval order of a graph that NewIntervalGraph made; ok is
// false for any other.
func (g *Graph) Interval() (in, out []int64, ok bool) {
	if !g.interval {
		return nil, nil, false
	}
	return g.clocks[0].In, g.clocks[0].Out, true
}

// need is one start: chain must be placed up to pos (a count), as the source at
// position by says (-1: as follows from several).
type need struct{ chain, count, by int32 }

// NewGraph prepares the hard order sources over n operations. It stops early,
// with a nil Graph, once stop (which may be nil) says so; it must say so ever after.
func NewGraph(n int, sources []Source, optional []bool, call []int64, stop func() bool) *Graph {
	if stop == nil {
		stop = func() bool { return false }
	}
	g := &Graph{N: n, Sources: sources, Optional: optional}
	for i, s := range sources {
		if c, ok := s.Relation.(*Clock); ok {
			g.clocks = append(g.clocks, newClockIndex(c, optional))
		} else {
			g.general = append(g.general, i)
		}
	}
	g.cover(call, &anyEnds{Graph: g}, stop)
	g.starts, g.bridges, g.never = make([][]need, n), make([][]int32, n), make([]bool, n)
	b := &starter{Graph: g, stop: stop, row: make([]int32, len(g.Chains))}
	b.direct()
	b.bridge()
	if stop() {
		return nil
	}
	return g
}

// needs are the starts of x.
func (g *Graph) needs(x int32) []need {
	if g.starts == nil {
		return nil
	}
	return g.starts[x]
}

// Precedes reports whether some source orders a before b directly.
func (g *Graph) Precedes(a, b int32) bool {
	for i := range g.Sources {
		if g.Sources[i].Precedes(a, b) {
			return true
		}
	}
	return false
}

// Edge returns the first source that orders a before b directly.
func (g *Graph) Edge(a, b int32) (Source, bool) {
	for _, s := range g.Sources {
		if s.Precedes(a, b) {
			return s, true
		}
	}
	return Source{}, false
}

// starter computes starts and bridges.
type starter struct {
	*Graph
	indexes [][]func(x, floor int32) int32 // by chain and general source
	stop    func() bool
	row     []int32 // scratch: counts by chain
}

// direct fills starts from the direct edges of the general sources. What
// precedes x through its own chain is placed before x anyway, so only what
// exceeds the start of x's predecessor is searched, from the end of each chain.
func (b *starter) direct() {
	if len(b.general) == 0 {
		return
	}
	b.prepare()
	floor := make([]int32, len(b.Chains))
	for j, chain := range b.Chains {
		clear(floor)
		for _, x := range chain {
			if b.stop() {
				return
			}
			floor[j] = b.pos[x] + 1
			b.starts[x] = b.find(x, floor)
			for _, n := range b.starts[x] {
				floor[n.chain] = max(floor[n.chain], n.count)
			}
		}
	}
	clear(floor)
	for y := range int32(b.N) {
		if b.Optional[y] && !b.stop() {
			b.starts[y] = b.find(y, floor)
		}
	}
}

// prepare makes an index of every chain for every general source.
func (b *starter) prepare() {
	b.indexes = make([][]func(x, floor int32) int32, len(b.Chains))
	for j, chain := range b.Chains {
		for _, i := range b.general {
			b.indexes[j] = append(b.indexes[j], index(b.Sources[i].Relation, chain))
		}
	}
}

// find returns the starts of x under the general sources that exceed floor.
func (b *starter) find(x int32, floor []int32) (needs []need) {
	for j, chain := range b.indexes {
		last, by := floor[j]-1, 0
		for k, find := range chain {
			if m := find(x, last+1); m > last {
				last, by = m, b.general[k]
			}
		}
		if last >= floor[j] {
			needs = append(needs, need{int32(j), last + 1, int32(by)})
		}
	}
	return needs
}

// scan returns the starts of x under all sources that exceed floor.
func (b *starter) scan(x int32, floor []int32) (needs []need) {
	for j, chain := range b.Chains {
		for m := int32(len(chain)) - 1; m >= floor[j]; m-- {
			if chain[m] != x && b.Precedes(chain[m], x) {
				needs = append(needs, need{int32(j), m + 1, -1})
				break
			}
		}
	}
	return needs
}

// bridge carries order through optional operations that precede something:
// order is closed over them whether or not they are placed.
func (b *starter) bridge() {
	ys := b.bridging()
	if b.lost = len(ys) > 0; !b.lost {
		return
	}
	after := make([]*bitset.BitSet, len(ys)) // which bridges each bridge precedes, closed
	b.isBridge = make([]bool, b.N)
	index := make(map[int32]int, len(ys))
	for k, y := range ys {
		index[y] = k
		after[k] = bitset.New(uint(len(ys)))
	}
	targets := make([][]int32, len(ys))
	for k, y := range ys {
		for x := range int32(b.N) {
			if b.stop() {
				return
			}
			if x == y || !b.Precedes(y, x) {
				continue
			}
			targets[k] = append(targets[k], x)
			if i, ok := index[x]; ok {
				after[k].Set(uint(i))
			}
		}
	}
	closeOver(after, b.stop)
	floor := make([]int32, len(b.Chains))
	for k, y := range ys {
		if b.stop() {
			return
		}
		b.never[y] = after[k].Test(uint(k))
		own := b.scan(y, floor)
		reached := bitset.New(uint(b.N))
		for _, x := range targets[k] {
			reached.Set(uint(x))
		}
		for i, ok := after[k].NextSet(0); ok; i, ok = after[k].NextSet(i + 1) {
			for _, x := range targets[i] {
				reached.Set(uint(x))
			}
		}
		b.isBridge[y] = reached.Any()
		for x, ok := reached.NextSet(0); ok; x, ok = reached.NextSet(x + 1) {
			b.bridges[x] = append(b.bridges[x], y)
			b.starts[x] = b.merge(b.starts[x], own)
		}
	}
}

// bridging lists the optional operations that may precede something.
func (b *starter) bridging() (ys []int32) {
	general := b.optionalPrecede()
	for y := range int32(b.N) {
		if !b.Optional[y] {
			continue
		}
		some := general
		for _, c := range b.clocks {
			some = some || c.Out[y] != OutNever
		}
		if some {
			ys = append(ys, y)
		}
	}
	return ys
}

// optionalPrecede reports whether some optional operation precedes another by a
// source that is no clock.
func (b *starter) optionalPrecede() bool {
	var list []int32
	for i, lost := range b.Optional {
		if lost {
			list = append(list, int32(i))
		}
	}
	if len(list) == 0 {
		return false
	}
	for _, i := range b.general {
		find := index(b.Sources[i].Relation, list)
		for x := range int32(b.N) {
			if b.stop() || find(x, 0) >= 0 {
				return true
			}
		}
	}
	return false
}

// closeOver makes a relation transitive (Warshall, 1962), unless it is stopped.
func closeOver(after []*bitset.BitSet, stop func() bool) {
	for k := range after {
		if stop() {
			return
		}
		for i := range after {
			if after[i].Test(uint(k)) {
				after[i].InPlaceUnion(after[k])
			}
		}
	}
}

// merge takes the greater count for each chain.
func (b *starter) merge(to, from []need) []need {
	for _, n := range to {
		b.row[n.chain] = n.count
	}
	for _, n := range from {
		b.row[n.chain] = max(b.row[n.chain], n.count)
	}
	to = slices.Clone(to)[:0]
	for j, count := range b.row {
		if count > 0 {
			to = append(to, need{int32(j), count, -1})
			b.row[j] = 0
		}
	}
	return to
}

// clockIndex is a clock with its required operations sorted by Out, so that
// the smallest Out not yet placed is found by one pointer a group.
type clockIndex struct {
	*Clock
	rank   []int32   // of a required operation in its group; -1: precedes nothing
	group  []int32   // of any operation; -1: not in the clock
	groups [][]int32 // required operations by Out
}

func newClockIndex(c *Clock, optional []bool) *clockIndex {
	n := len(c.Out)
	ix := &clockIndex{Clock: c, rank: make([]int32, n), group: make([]int32, n)}
	for i := range n {
		ix.rank[i], ix.group[i] = -1, -1
	}
	for g, ops := range c.members() {
		kept := ops[:0]
		for _, op := range ops {
			ix.group[op] = int32(g)
			if !optional[op] && c.Out[op] != OutNever {
				kept = append(kept, op)
			}
		}
		ix.groups = append(ix.groups, kept)
	}
	for _, ops := range ix.groups {
		SortBy(ops, c.Out)
		for r, op := range ops {
			ix.rank[op] = int32(r)
		}
	}
	return ix
}

// Bridge reports whether the optional operation y may precede anything.
func (g *Graph) Bridge(y int32) bool { return g.isBridge != nil && g.isBridge[y] }

// Linear returns an order of the required operations that obeys the hard
// order; ok is false where there is none.
func (g *Graph) Linear() (line []int32, ok bool) {
	f := g.NewFrontier()
	f.placeReady(func(x int32) { line = append(line, x) })
	return line, f.Left == 0
}
