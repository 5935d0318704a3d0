package consistency

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// staleBy is how far a read may lag behind where it is placed.
type staleBy struct {
	writes int  // it may miss this many of the writes that precede it in real time
	aged   bool // and any that returned no longer than age before its invocation
	age    time.Duration
	all    bool // writes of every key count; otherwise those of its own
}

// validity is RVal, and no read misses more than it may: of the writes that
// returned more than age before the read was invoked, at most so many stand
// behind it in the order (K-real-time reads in Viotti and Vukolic, 2016).
// A read that may be placed now may stay there: what follows cannot take back
// a write that it did not miss.
func (b staleBy) validity(name string) spec.Validity {
	return spec.Validity{Name: name, EagerReads: true, Over: func(m spec.Machine, v *history.View) (spec.Machine, error) {
		if v.Read == nil {
			return nil, spec.ErrCannotTell
		}
		g := &missing{Machine: m, counter: b.counter(v), view: v, may: b.writes}
		if nd, ok := m.(spec.Nondeterministic); ok {
			return &missingSets{g, nd}, nil
		}
		if t, ok := m.(spec.Tokens); ok {
			return &missingTokens{g, t}, nil
		}
		return g, nil
	}}
}

// counter counts what reads miss.
type counter interface {
	spec.Watcher
	missed(read int32) int
}

func (b staleBy) counter(v *history.View) counter {
	span := order.Span{From: writes(v), To: reads(v)}
	if b.aged {
		span.Early = func(i int32) (int64, bool) { return int64(b.age), v.Read[i] }
	}
	if !b.all {
		span.Within = v.Key
	}
	sources := order.RealTime(v, span)
	if len(sources) > 1 {
		return pairCounter(v, sources)
	}
	return clockCounter(v, sources[0].Relation.(*order.Clock))
}

// missing is a machine under staleBy.
type missing struct {
	spec.Machine
	counter
	view *history.View
	may  int
}

func (g *missing) Step(state, op int32) (int32, bool) {
	if g.view.Read[op] && g.missed(op) > g.may {
		return 0, false
	}
	return g.Machine.Step(state, op)
}

// Class implements spec.Classer: two reads that step alike may miss different
// writes, so a read is a class of its own.
func (g *missing) Class(op int32) int32 {
	if g.view.Read[op] {
		return -1 - op
	}
	return spec.ClassOf(g.Machine, op)
}

// Bytes implements spec.Sizer.
func (g *missing) Bytes() int64 { return spec.BytesOf(g.Machine) }

// Describe implements spec.Describer.
func (g *missing) Describe(state int32) string { return spec.DescribeState(g.Machine, state) }

// missingTokens is missing over a register-like model. A read still sees what
// the state holds, so what is known of the values holds as before.
type missingTokens struct {
	*missing
	spec.Tokens
}

// missingSets is missing over a nondeterministic model.
type missingSets struct {
	*missing
	nd spec.Nondeterministic
}

func (g *missingSets) Steps(state, op int32) []int32 {
	if g.view.Read[op] && g.missed(op) > g.may {
		return nil
	}
	return g.nd.Steps(state, op)
}

// byClock counts on one clock: of the writes of a group, sorted by their Out,
// a prefix precedes a read, and a tree of sums knows how many of a prefix are
// placed (Fenwick, 1994).
type byClock struct {
	group  []int32   // by operation
	place  []int32   // by write: its place among those of its group, from 1; 0: no write
	prefix []int32   // by read: how many writes of its group precede it
	sums   [][]int32 // by group
}

func clockCounter(v *history.View, c *order.Clock) *byClock {
	b := &byClock{group: make([]int32, v.N), place: make([]int32, v.N), prefix: make([]int32, v.N)}
	groups := int32(1)
	if c.Within != nil {
		copy(b.group, c.Within)
		groups = slices.Max(append(c.Within, 0)) + 1
	}
	lists := make([][]int32, groups)
	for x := range int32(v.N) {
		if !v.Read[x] && !v.Info[x] {
			lists[b.group[x]] = append(lists[b.group[x]], x)
		}
	}
	for g, list := range lists {
		slices.SortStableFunc(list, func(x, y int32) int { return cmp.Compare(c.Out[x], c.Out[y]) })
		for i, x := range list {
			b.place[x] = int32(i + 1)
		}
		b.sums = append(b.sums, make([]int32, len(lists[g])+1))
	}
	for x := range int32(v.N) {
		list := lists[b.group[x]]
		if v.Read[x] {
			b.prefix[x] = int32(sort.Search(len(list), func(i int) bool { return c.Out[list[i]] >= c.In[x] }))
		}
	}
	return b
}

func (b *byClock) Restart() {
	for _, s := range b.sums {
		clear(s)
	}
}

func (b *byClock) Placed(op int32)   { b.add(op, 1) }
func (b *byClock) Unplaced(op int32) { b.add(op, -1) }

func (b *byClock) add(op, n int32) {
	s := b.sums[b.group[op]]
	for i := b.place[op]; i > 0 && int(i) < len(s); i += i & -i {
		s[i] += n
	}
}

func (b *byClock) missed(read int32) int {
	placed, s := int32(0), b.sums[b.group[read]]
	for i := b.prefix[read]; i > 0; i -= i & -i {
		placed += s[i]
	}
	return int(b.prefix[read] - placed)
}

// byPairs counts where real time is more than one clock: it keeps for each read
// the writes that precede it.
type byPairs struct {
	placed []bool
	old    [][]int32
}

func pairCounter(v *history.View, sources []order.Source) *byPairs {
	p := &byPairs{placed: make([]bool, v.N), old: make([][]int32, v.N)}
	for r := range int32(v.N) {
		for w := range int32(v.N) {
			if v.Read[r] && slices.ContainsFunc(sources, func(s order.Source) bool { return s.Precedes(w, r) }) {
				p.old[r] = append(p.old[r], w)
			}
		}
	}
	return p
}

func (p *byPairs) Restart()          { clear(p.placed) }
func (p *byPairs) Placed(op int32)   { p.placed[op] = true }
func (p *byPairs) Unplaced(op int32) { p.placed[op] = false }

func (p *byPairs) missed(read int32) (n int) {
	for _, w := range p.old[read] {
		if !p.placed[w] {
			n++
		}
	}
	return n
}
