package paths

import (
	"math"
	"slices"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// countPath decides numbers to which everybody adds the same, such as 1, and
// whose reads are exact, under one interval order.
//
// Say that the number goes from v-1 times the addend to v times at slot T(v). A
// read of v times the addend says that T(v) is no later than its out and T(v+1)
// no earlier than its in. So T(v) lies between the greatest in of all reads of
// less than v and the least out of all reads of v or more, and both bounds grow
// with v. An add can be the v-th where it overlaps these bounds, which is so for
// a run of values v. Each v in turn gets, of the adds that can be the v-th, the
// one that must be over first (Glover, "Maximum matching in a convex bipartite
// graph", 1967), and one without an answer where there is no other. An add that
// saw the sum can be one only, and is a read of that and of one less, too.
type countPath struct{}

// Name implements Path.
func (countPath) Name() string { return "counter" }

// Applies implements Path.
func (countPath) Applies(p *Problem) (ok bool, reason string) {
	e := p.effects()
	if e == nil {
		return false, ""
	}
	if p.tallies == nil {
		p.tallies = e.Tallies()
	}
	_, _, timed := p.Intervals()
	switch {
	case p.tallies == nil:
		return false, ""
	case p.several():
		return false, reasonKeys
	case !timed:
		return false, reasonOrder
	}
	by := int64(0)
	for _, use := range p.tallies.Uses {
		adds := (use.Kind == spec.CountAdd || use.Kind == spec.CountAddGet) && use.By != 0
		switch {
		case use.Kind == spec.CountOther:
			return false, reasonOther
		case adds && by != 0 && use.By != by:
			return false, "not all add the same"
		case adds:
			by = use.By
		}
	}
	const large = math.MaxInt32 // so that no product overflows
	if by > large || by < -large || p.tallies.Initial > math.MaxInt64>>1 || p.tallies.Initial < math.MinInt64>>1 {
		return false, "the numbers are too large"
	}
	return true, ""
}

// count is a history of a number. Values are counted in addends from the
// initial one.
type count struct {
	in, out  []int64
	info     []bool
	uses     []spec.CountUse
	initial  int64
	by       int64
	all      []int32   // the operations by in
	adds     []int32   // that saw nothing, by in; those without an answer too
	pinned   []int32   // by value: the add that saw it; -1
	reads    [][]int32 // by value
	idle     []int32   // required, and saw nothing
	from, to []int64   // by value v: what T(v) lies between
	lastRead []int32   // by value: the read, or add, that gives from; -1
	nextRead []int32   // the same for to
	highest  int       // the greatest value that was seen
}

// Decide implements Path.
func (countPath) Decide(p *Problem) Answer {
	c := newCount(p)
	line, bad := c.solve(c.all)
	switch {
	case p.stopped():
		return cannotTell("it was stopped")
	case bad != nil:
		return c.refute(bad)
	}
	r := &register{hard: *p.intervalOrder(), idle: c.idle}
	return p.acceptLine(&r.hard, r.withIdle(line), c.replay)
}

// clash is a violation in words, of the operations at which it was seen.
type clash struct {
	words string
	ops   []int32
}

func newCount(p *Problem) *count {
	c := &count{info: p.Rules.View.Info, uses: p.tallies.Uses, initial: p.tallies.Initial}
	c.in, c.out, _ = p.Intervals()
	for _, use := range c.uses {
		if use.By != 0 && use.Kind != spec.CountRead {
			c.by = use.By
		}
	}
	c.all = identity(int32(len(c.uses)))
	order.SortBy(c.all, c.in)
	return c
}

// solve finds a line of some operations, by in, without those that are idle.
func (c *count) solve(ops []int32) (line []int32, bad *clash) {
	if bad = c.gather(ops); bad != nil {
		return nil, bad
	}
	c.bounds()
	return c.line()
}

// changes reports whether an operation changes the number.
func (c *count) changes(x int32) bool {
	kind := c.uses[x].Kind
	return (kind == spec.CountAdd || kind == spec.CountAddGet) && c.uses[x].By != 0
}

// value is which value an operation saw; ok is false for one that no number of
// adds gives.
func (c *count) value(x int32, adds int) (v int, ok bool) {
	seen := c.uses[x].Sum
	if c.by == 0 {
		return 0, seen == c.initial
	}
	for _, bound := range []int64{c.initial, c.initial + int64(adds)*c.by} {
		if seen == bound {
			return int((seen - c.initial) / c.by), true
		}
	}
	within := seen > c.initial && seen < c.initial+int64(adds)*c.by || seen < c.initial && seen > c.initial+int64(adds)*c.by
	if !within || (seen-c.initial)%c.by != 0 {
		return 0, false
	}
	return int((seen - c.initial) / c.by), true
}

// gather reads the operations.
func (c *count) gather(ops []int32) *clash {
	total := 0
	for _, x := range ops {
		if c.changes(x) {
			total++
		}
	}
	c.pinned, c.reads = filled(total+1, -1), make([][]int32, total+1)
	c.adds, c.idle, c.highest = nil, nil, 0
	for _, x := range ops {
		kind, changes := c.uses[x].Kind, c.changes(x)
		saw := (kind == spec.CountRead || kind == spec.CountAddGet) && !c.info[x]
		if !saw {
			switch {
			case changes:
				c.adds = append(c.adds, x)
			case !c.info[x]:
				c.idle = append(c.idle, x)
			}
			continue
		}
		v, ok := c.value(x, total)
		switch {
		case !ok || changes && v == 0:
			return &clash{"no number of the adds gives what it saw", []int32{x}}
		case changes && c.pinned[v] >= 0:
			return &clash{"two adds saw the same sum", []int32{c.pinned[v], x}}
		case changes:
			c.pinned[v] = x
		default:
			c.reads[v] = append(c.reads[v], x)
		}
		c.highest = max(c.highest, v)
	}
	return nil
}

// bounds finds what each T(v) lies between.
func (c *count) bounds() {
	n := len(c.pinned)
	c.from, c.to = slices.Repeat([]int64{order.InNever}, n+1), slices.Repeat([]int64{order.OutNever}, n+1)
	c.lastRead, c.nextRead = filled(n+1, -1), filled(n+1, -1)
	saw := func(v int, x int32) {
		if c.in[x] > c.from[v+1] {
			c.from[v+1], c.lastRead[v+1] = c.in[x], x
		}
		if c.out[x] < c.to[v] {
			c.to[v], c.nextRead[v] = c.out[x], x
		}
	}
	for v := range n {
		for _, x := range c.reads[v] {
			saw(v, x)
		}
		if x := c.pinned[v]; x >= 0 {
			saw(v, x)
			saw(v-1, x)
		}
	}
	for v := 1; v <= n; v++ {
		if c.from[v-1] > c.from[v] {
			c.from[v], c.lastRead[v] = c.from[v-1], c.lastRead[v-1]
		}
	}
	for v := n - 1; v >= 0; v-- {
		if c.to[v+1] < c.to[v] {
			c.to[v], c.nextRead[v] = c.to[v+1], c.nextRead[v+1]
		}
	}
}

// line gives each value an add and puts the reads between.
func (c *count) line() (line []int32, bad *clash) {
	open := &deadlines{out: c.out}
	var spare []int32
	line = append(line, c.reads[0]...)
	next := 0
	for v := 1; v < len(c.pinned); v++ {
		if v <= c.highest && c.from[v] > c.to[v] {
			return nil, &clash{"one saw less, after another had seen more", []int32{c.lastRead[v], c.nextRead[v]}}
		}
		for ; next < len(c.adds) && c.in[c.adds[next]] <= c.to[v]; next++ {
			if x := c.adds[next]; c.info[x] {
				spare = append(spare, x)
			} else {
				open.push(x)
			}
		}
		x := c.pinned[v]
		switch {
		case x >= 0: // from and to lie within its bounds, for it is a read, too
		case len(open.ops) > 0:
			if x = open.pop(); c.out[x] < c.from[v] {
				return nil, &clash{"the add was over, and too few others were left to come after it", []int32{x, c.lastRead[v]}}
			}
		case v > c.highest:
			return line, nil
		case len(spare) > 0:
			x, spare = spare[0], spare[1:]
		default:
			return nil, &clash{"it saw more than had been added", []int32{c.nextRead[v]}}
		}
		line = append(line, x)
		line = append(line, c.reads[v]...)
	}
	return line, nil
}

// refute is the violation. Its core is all adds, for leaving one out would move
// the others, and as few reads as it needs; where there are too many adds, words
// say what is wrong.
func (c *count) refute(bad *clash) Answer {
	var adds, reads []int32
	for _, x := range c.all {
		if c.changes(x) {
			adds = append(adds, x)
		} else if c.uses[x].Kind == spec.CountRead || c.uses[x].Kind == spec.CountAddGet {
			reads = append(reads, x)
		}
	}
	a := Answer{Kind: spec.Violation, Words: bad.words}
	for _, x := range bad.ops {
		if x >= 0 {
			a.Core = append(a.Core, x)
		}
	}
	a.Core = sortedSet(a.Core)
	if len(adds) > maxCore || len(reads) > maxCoreReads {
		return a
	}
	reads = fewest(reads, func(reads []int32) bool {
		some := slices.Concat(adds, reads)
		order.SortBy(some, c.in)
		_, bad := c.solve(some)
		return bad != nil
	})
	if core := slices.Concat(adds, reads); len(core) <= maxCore {
		return Answer{Kind: spec.Violation, Core: sortedSet(core)}
	}
	return a
}

// replay performs a line on a plain number and returns how many operations were
// legal.
func (c *count) replay(line []int32) int {
	n := c.initial
	for i, x := range line {
		if c.changes(x) {
			n += c.uses[x].By
		}
		saw := c.uses[x].Kind == spec.CountRead || c.uses[x].Kind == spec.CountAddGet
		if saw && n != c.uses[x].Sum {
			return i
		}
	}
	return len(line)
}
