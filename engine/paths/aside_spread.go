package paths

import (
	"cmp"
	"slices"
	"sort"

	"pinyon/engine/order"
)

// spread is putBack for any hard order and many operations, in O(n log n) for
// each of its clocks. They are put back in an order that hard order allows. Where
// the value that one must not find is there all the while, a write that nobody
// read may come just before it, where nobody depends on what is held: one without
// an answer, or one that stands near in the line and may as well stand there; then
// all begins anew. The result is checked.
func (a *aside) spread(line []int32, h *hardOrder, key, write []int32, initial func(key int32) int32) (whole []int32, why string) {
	for range mostMoved {
		if a.stopped != nil && a.stopped() {
			return nil, "it was stopped"
		}
		next := line
		if whole, next = a.spreadOn(line, h, key, write, initial); whole != nil {
			return whole, ""
		}
		if next == nil {
			break
		}
		line = next
	}
	return nil, misplaced
}

// mostMoved is how many writes are moved at most, and near how far they are.
const (
	mostMoved = 100
	near      = 64
)

// spreadOn is spread on one line; without success it returns another line that may
// serve, or nil.
func (a *aside) spreadOn(line []int32, h *hardOrder, key, write []int32, initial func(key int32) int32) (whole, next []int32) {
	s := newSpread(a, line, h)
	w := &gaps{line: line, runs: map[int32][]run{}, initial: initial}
	w.hold(key, write)
	type put struct {
		gap    int
		before int32 // a write that comes just before it, -1: none
		op     int32
	}
	puts, now := make([]put, 0, len(a.ops)), map[int]int32{} // by gap: what a write has left there
	for _, i := range s.inOrder() {
		x := a.ops[i]
		from, to := s.from(x), s.to(x)
		gap, ok := w.first(key[x], from, a.avoid[i])
		if v, brought := now[from]; brought && v != a.avoid[i] {
			gap, ok = from, true
		}
		p := put{gap, -1, x}
		if !ok || gap > to {
			if p.gap, p.before = s.spare(x, from, to, key, write, a.avoid[i]); p.before < 0 {
				return nil, s.move(x, from, to, key, write, a.avoid[i])
			}
			now[p.gap] = write[p.before]
		}
		s.put(x, p.gap)
		puts = append(puts, p)
	}
	slices.SortStableFunc(puts, func(p, q put) int { return cmp.Compare(p.gap, q.gap) })
	for p := 0; p <= len(line); p++ {
		for len(puts) > 0 && puts[0].gap == p {
			if puts[0].before >= 0 {
				whole = append(whole, puts[0].before)
			}
			whole = append(whole, puts[0].op)
			puts = puts[1:]
		}
		if p < len(line) {
			whole = append(whole, line[p])
		}
	}
	if !h.obeyed(whole) || !a.kept(whole, key, write, initial) {
		return nil, nil
	}
	return whole, nil
}

// kept reports whether no operation of a finds what it must not.
func (a *aside) kept(whole, key, write []int32, initial func(key int32) int32) bool {
	avoid := make(map[int32]int32, len(a.ops))
	for i, x := range a.ops {
		avoid[x] = a.avoid[i]
	}
	held := map[int32]int32{}
	for _, x := range whole {
		k := key[x]
		if _, ok := held[k]; !ok {
			held[k] = initial(k)
		}
		if v, ok := avoid[x]; ok && v >= 0 && v == held[k] {
			return false
		}
		if write[x] >= 0 {
			held[k] = write[x]
		}
	}
	return true
}

// spreading is the state of spread.
type spreading struct {
	a      *aside
	line   []int32
	h      *hardOrder
	place  map[int32]int   // in the line
	after  map[int32][]int // by operation to put back: places of the line that edges lead from
	clocks [][]*spanned    // by clock, by group
	free   []int32         // writes that nobody read, by how early they may come
	starts []int           // their first gaps
}

// spanned is one group of a clock: the line's operations, and those put back.
type spanned struct {
	gaps
	back []int64 // the outs of the operations to put back, ascending
	most []int   // a tree of the greatest gaps, by place in back
}

func newSpread(a *aside, line []int32, h *hardOrder) *spreading {
	s := &spreading{a: a, line: line, h: h, place: make(map[int32]int, len(line)), after: map[int32][]int{}}
	for p, y := range line {
		s.place[y] = p
		for _, e := range h.edges {
			for _, x := range e.To[y] {
				s.after[x] = append(s.after[x], p)
			}
		}
	}
	for _, c := range h.clocks {
		s.clocks = append(s.clocks, s.span(c))
	}
	for _, d := range a.spare {
		if _, used := s.place[d]; !used {
			s.free = append(s.free, d)
		}
	}
	first := make(map[int32]int, len(s.free))
	for _, d := range s.free {
		first[d] = s.from(d)
	}
	slices.SortStableFunc(s.free, func(x, y int32) int { return cmp.Compare(first[x], first[y]) })
	for _, d := range s.free {
		s.starts = append(s.starts, first[d])
	}
	return s
}

func within(c *order.Clock, x int32) int32 {
	if c.Within == nil {
		return 0
	}
	return c.Within[x]
}

// span sorts the operations of a clock into its groups.
func (s *spreading) span(c *order.Clock) []*spanned {
	groups := int32(1)
	for _, g := range c.Within {
		groups = max(groups, g+1)
	}
	at := make([][]int, groups) // places in the line
	for p, y := range s.line {
		if g := within(c, y); g >= 0 {
			at[g] = append(at[g], p)
		}
	}
	list := make([]*spanned, groups)
	for g := range list {
		list[g] = &spanned{gaps: gaps{line: s.line}}
		list[g].bounds(c, at[g])
	}
	for _, x := range s.a.ops {
		if g := within(c, x); g >= 0 {
			list[g].back = append(list[g].back, c.Out[x])
		}
	}
	for _, b := range list {
		slices.Sort(b.back)
		b.most = make([]int, len(b.back)+1)
	}
	return list
}

// from is the first gap behind all of the line and of what was put back that
// precedes x.
func (s *spreading) from(x int32) (gap int) {
	for i, c := range s.h.clocks {
		if g := within(c, x); g >= 0 {
			b := s.clocks[i][g]
			gap = max(gap, b.from(c.In[x]), b.behind(c.In[x]))
		}
	}
	for _, p := range s.after[x] {
		gap = max(gap, p+1)
	}
	return gap
}

// to is the last gap before all of the line that comes after x.
func (s *spreading) to(x int32) int {
	gap := len(s.line)
	for i, c := range s.h.clocks {
		if g := within(c, x); g >= 0 {
			gap = min(gap, s.clocks[i][g].to(c.Out[x]))
		}
	}
	for _, e := range s.h.edges {
		for _, y := range e.To[x] {
			if p, ok := s.place[y]; ok {
				gap = min(gap, p)
			}
		}
	}
	return gap
}

// put notes that x was put into a gap.
func (s *spreading) put(x int32, gap int) {
	for i, c := range s.h.clocks {
		if g := within(c, x); g >= 0 {
			s.clocks[i][g].put(c.Out[x], gap)
		}
	}
}

// inOrder lists the operations to put back as hard order allows.
func (s *spreading) inOrder() []int32 {
	list := identity(int32(len(s.a.ops)))
	slices.SortFunc(list, func(i, j int32) int { return cmp.Compare(s.a.rank[s.a.ops[i]], s.a.rank[s.a.ops[j]]) })
	return list
}

// begins reports whether a block begins at a place of the line, or all ends there.
func (s *spreading) begins(p int, write []int32) bool {
	return p == len(s.line) || write[s.line[p]] >= 0 && s.a.demand[s.line[p]] < 0
}

// spare finds a gap between two where a block begins, and a write without an
// answer that nobody read and that may come there; op is -1 where there is none.
func (s *spreading) spare(x int32, from, to int, key, write []int32, avoid int32) (gap int, op int32) {
	for p := to; p >= from && p > to-near; p-- {
		if !s.begins(p, write) {
			continue
		}
		last := sort.SearchInts(s.starts, p+1) - 1
		for k := last; k >= 0 && k > last-near; k-- {
			if d := s.free[k]; key[d] == key[x] && write[d] != avoid {
				s.free, s.starts = slices.Delete(s.free, k, k+1), slices.Delete(s.starts, k, k+1)
				return p, d
			}
		}
	}
	return 0, -1
}

// move returns a line in which a write that nobody read stands at such a gap, and
// stood near before; nil where there is none.
func (s *spreading) move(x int32, from, to int, key, write []int32, avoid int32) []int32 {
	for p := to; p >= from && p > to-near; p-- {
		if !s.begins(p, write) {
			continue
		}
		for q := max(0, p-near); q < min(len(s.line), p+near); q++ {
			u := s.line[q]
			if s.begins(q, write) && s.begins(q+1, write) && key[u] == key[x] && write[u] != avoid && q != p && q+1 != p && s.mayMove(q, p) {
				line := slices.Delete(slices.Clone(s.line), q, q+1)
				if q < p {
					p--
				}
				return slices.Insert(line, p, u)
			}
		}
	}
	return nil
}

// mayMove reports whether hard order lets what stands at q stand before what stands
// at p.
func (s *spreading) mayMove(q, p int) bool {
	for k := q + 1; k < p; k++ {
		if s.h.precedes(s.line[q], s.line[k]) {
			return false
		}
	}
	for k := p; k < q; k++ {
		if s.h.precedes(s.line[k], s.line[q]) {
			return false
		}
	}
	return true
}

// behind is the first gap behind those put back whose out is less.
func (b *spanned) behind(in int64) (gap int) {
	for k := sort.Search(len(b.back), func(i int) bool { return b.back[i] >= in }); k > 0; k -= k & -k {
		gap = max(gap, b.most[k])
	}
	return gap
}

func (b *spanned) put(out int64, gap int) {
	for k := sort.Search(len(b.back), func(i int) bool { return b.back[i] >= out }) + 1; k < len(b.most); k += k & -k {
		b.most[k] = max(b.most[k], gap)
	}
}
