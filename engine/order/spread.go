package order

import (
	"cmp"
	"math"
	"slices"
)

// Lengths bounds where operations may stand, by what precedes and follows them
// under a Graph without circles: Least[x] is a length that x needs before it and
// Most[x] one that may stand before it at the most. own gives the bounds that x
// has by itself, and an operation that grows adds one to what comes after it.
// From names the operation that a bound came from, along hard order; x itself
// where it is its own.
//
// Operations are bounded by required ones, through optional ones where hard order
// leads through them, and by the optional ones that must happen. These may precede
// nothing themselves.
type Lengths struct {
	Least, Most         []int64
	LeastFrom, MostFrom []int32
}

// Lengths computes the bounds in O((n + starts) log n).
func (g *Graph) Lengths(own func(x int32) (least, most int64), grows, must func(x int32) bool) (l *Lengths, ok bool) {
	line, ok := g.Linear()
	if !ok {
		return nil, false
	}
	l = &Lengths{make([]int64, g.N), make([]int64, g.N), make([]int32, g.N), make([]int32, g.N)}
	for x := range int32(g.N) {
		l.Least[x], l.Most[x] = own(x)
		l.LeastFrom[x], l.MostFrom[x] = x, x
	}
	g.spreadLeast(l, line, grows)
	for x := range int32(g.N) {
		if g.Optional[x] && must(x) {
			line = append(line, x)
		}
	}
	g.spreadMost(l, line, grows)
	return l, true
}

// bound is a value with the operation that has it.
type bound struct {
	value int64
	op    int32
}

// prefixes keeps the greatest bound of each prefix (Fenwick, 1994).
type prefixes []bound

func newPrefixes(n int) prefixes {
	p := make(prefixes, n+1)
	for i := range p {
		p[i] = bound{math.MinInt64, -1}
	}
	return p
}

// raise takes b into account from place i on.
func (p prefixes) raise(i int, b bound) {
	for i++; i < len(p); i += i & -i {
		if b.value > p[i].value {
			p[i] = b
		}
	}
}

// below is the greatest bound at the first n places.
func (p prefixes) below(n int) bound {
	best := bound{math.MinInt64, -1}
	for i := n; i > 0; i -= i & -i {
		if p[i].value > best.value {
			best = p[i]
		}
	}
	return best
}

// spreadLeast goes along the line: what precedes x was bounded before it.
func (g *Graph) spreadLeast(l *Lengths, line []int32, grows func(x int32) bool) {
	clocks := make([][]prefixes, len(g.clocks))
	for i, c := range g.clocks {
		for _, ops := range c.groups {
			clocks[i] = append(clocks[i], newPrefixes(len(ops)))
		}
	}
	// Along a chain the bounds only grow, so the last one stands for all.
	raise := func(x int32, b bound) {
		if b.op >= 0 && b.value > l.Least[x] {
			l.Least[x], l.LeastFrom[x] = b.value, b.op
		}
	}
	after := func(x int32) bound {
		if grows(x) {
			return bound{l.Least[x] + 1, x}
		}
		return bound{l.Least[x], x}
	}
	visit := func(x int32) {
		for i, c := range g.clocks {
			if k := c.group[x]; k >= 0 {
				raise(x, clocks[i][k].below(c.before(k, c.In[x])))
			}
		}
		for _, n := range g.needs(x) {
			if n.count > 0 {
				raise(x, after(g.Chains[n.chain][n.count-1]))
			}
		}
		if g.chain[x] >= 0 && g.pos[x] > 0 {
			raise(x, after(g.Chains[g.chain[x]][g.pos[x]-1]))
		}
	}
	for _, x := range line {
		visit(x)
		for i, c := range g.clocks {
			if k := c.group[x]; k >= 0 && c.rank[x] >= 0 {
				clocks[i][k].raise(int(c.rank[x]), after(x))
			}
		}
	}
	for x := range int32(g.N) {
		if g.Optional[x] {
			visit(x)
		}
	}
}

// spreadMost goes back along the line.
func (g *Graph) spreadMost(l *Lengths, line []int32, grows func(x int32) bool) {
	// A clock's successors of x are those with an In above x's Out: a suffix by
	// In, kept as a prefix of the negated values.
	clocks := make([][]prefixes, len(g.clocks))
	byIn := make([][][]int32, len(g.clocks))
	place := make([][]int32, len(g.clocks))
	for i, c := range g.clocks {
		byIn[i], place[i] = c.latestFirst(line)
		for _, ops := range byIn[i] {
			clocks[i] = append(clocks[i], newPrefixes(len(ops)))
		}
	}
	// By chain: the least bound that successors give to the chain's operations up
	// to a position; what a later one must keep, an earlier one must too.
	limit := make([][]bound, len(g.Chains))
	for j, ch := range g.Chains {
		limit[j] = make([]bound, len(ch))
		for k := range ch {
			limit[j][k] = bound{math.MaxInt64, -1}
		}
	}
	lower := func(x int32, b bound) {
		if b.op < 0 {
			return
		}
		if grows(x) {
			b.value--
		}
		if b.value < l.Most[x] {
			l.Most[x], l.MostFrom[x] = b.value, b.op
		}
	}
	for k := len(line) - 1; k >= 0; k-- {
		x := line[k]
		for i, c := range g.clocks {
			if gr := c.group[x]; gr >= 0 {
				if b := clocks[i][gr].below(c.after(byIn[i][gr], c.Out[x])); b.op >= 0 {
					lower(x, bound{-b.value, b.op})
				}
			}
		}
		if j, p := g.chain[x], g.pos[x]; j >= 0 {
			lower(x, limit[j][p])
			if int(p)+1 < len(g.Chains[j]) {
				next := g.Chains[j][p+1]
				lower(x, bound{l.Most[next], next})
			}
		}
		for i, c := range g.clocks {
			if gr := c.group[x]; gr >= 0 {
				clocks[i][gr].raise(int(place[i][x]), bound{-l.Most[x], x})
			}
		}
		for _, n := range g.needs(x) {
			if n.count > 0 && l.Most[x] < limit[n.chain][n.count-1].value {
				limit[n.chain][n.count-1] = bound{l.Most[x], x}
			}
		}
	}
}

// before is how many operations of group k have an Out below in.
func (c *clockIndex) before(k int32, in int64) int {
	ops := c.groups[k]
	low, high := 0, len(ops)
	for low < high {
		if mid := (low + high) / 2; c.Out[ops[mid]] < in {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// after is how many operations of a group sorted by In, greatest first, have
// one above out.
func (c *clockIndex) after(ops []int32, out int64) int {
	low, high := 0, len(ops)
	for low < high {
		if mid := (low + high) / 2; c.In[ops[mid]] > out {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// latestFirst sorts the operations of each group by In, greatest first, and
// gives each its place.
func (c *clockIndex) latestFirst(all []int32) (groups [][]int32, place []int32) {
	groups, place = make([][]int32, len(c.groups)), make([]int32, len(c.In))
	for _, x := range all {
		if k := c.group[x]; k >= 0 {
			groups[k] = append(groups[k], x)
		}
	}
	for _, ops := range groups {
		slices.SortStableFunc(ops, func(a, b int32) int { return cmp.Compare(c.In[b], c.In[a]) })
		for i, x := range ops {
			place[x] = int32(i)
		}
	}
	return groups, place
}
