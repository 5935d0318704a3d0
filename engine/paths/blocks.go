package paths

import (
	"slices"

	"pinyon/engine/order"
)

// blocks are a register's live operations, cut into chains of blocks: a write
// that finds no value (or the start), its reads, the compare-and-set that read
// it, the reads of that, and so on.
type blocks struct {
	*register
	chain   []int32 // by operation: its chain; -1: not live
	place   []int32 // by operation: 2k for the write of the chain's block k, 2k+1 for its reads
	members []int32 // chain by chain, each by place
	from    []int32 // chain c is members[from[c]:from[c+1]]
	start   bool    // chain 0 begins with the initial value
}

// blocks cuts; bad is closed under what is read, and impossible: two
// compare-and-sets of one write, or a circle of them.
func (r *register) blocks() (b *blocks, bad []int32) {
	b = &blocks{register: r, chain: filled(r.v.N, -1), place: make([]int32, r.v.N), from: []int32{0}}
	next, readers, bad := r.consumers()
	if bad != nil {
		return nil, bad
	}
	walk := func(root int32) { // a write, or fromStart
		for k, w := int32(0), root; ; k++ {
			if w >= 0 {
				b.put(w, 2*k)
			}
			for _, x := range readers.of(w) {
				b.put(x, 2*k+1)
			}
			if w = next[w+1]; w < 0 {
				break
			}
		}
	}
	walk(fromStart)
	if b.start = len(b.members) > 0; b.start {
		b.from = append(b.from, int32(len(b.members)))
	}
	for x := range int32(r.v.N) {
		if r.live[x] && r.write[x] >= 0 && r.demand[x] < 0 {
			walk(x)
			b.from = append(b.from, int32(len(b.members)))
		}
	}
	for x := range int32(r.v.N) {
		if r.live[x] && b.chain[x] < 0 {
			return nil, []int32{x} // with what it read: a circle without a beginning
		}
	}
	return b, nil
}

func (b *blocks) put(x, place int32) {
	b.chain[x], b.place[x] = int32(len(b.from)-1), place
	b.members = append(b.members, x)
}

// consumers finds the compare-and-set that read each write (at w+1, -1: none),
// and the reads of each write, each list in an order that hard order allows.
func (r *register) consumers() (next []int32, readers lists, bad []int32) {
	next = filled(r.v.N+1, -1)
	ops := r.rank
	for _, x := range ops {
		w := r.from[x]
		switch {
		case !r.live[x] || r.demand[x] < 0:
		case r.write[x] < 0:
			readers.count(r.v.N, w+1)
		case next[w+1] >= 0:
			return nil, readers, []int32{next[w+1], x}
		default:
			next[w+1] = x
		}
	}
	readers.begin()
	for _, x := range ops {
		if r.live[x] && r.demand[x] >= 0 && r.write[x] < 0 {
			readers.add(r.from[x]+1, x)
		}
	}
	return next, readers, nil
}

// byRank lists the operations so that none stands before one that precedes it.
func (r *register) byRank() []int32 {
	if c := r.hard.interval(); c != nil {
		ops := make([]int32, r.v.N)
		for i := range ops {
			ops[i] = int32(i)
		}
		order.SortBy(ops, c.In)
		return ops
	}
	each := &blocks{register: r, chain: make([]int32, r.v.N), members: make([]int32, r.v.N), from: []int32{0}}
	for i := range each.members {
		each.chain[i], each.members[i] = int32(i), int32(i)
		each.from = append(each.from, int32(i+1))
	}
	line, _ := each.arrange() // the caller has seen that hard order has no circle
	return line
}

// lists are lists of operations, one behind the other.
type lists struct {
	from []int32 // list w is all[from[w]:from[w+1]] once all are added
	at   []int32
	all  []int32
}

func (l *lists) count(n int, w int32) {
	if l.from == nil {
		l.from = make([]int32, n+2)
	}
	l.from[w+1]++
}

func (l *lists) begin() {
	for w := 1; w < len(l.from); w++ {
		l.from[w] += l.from[w-1]
	}
	l.at = slices.Clone(l.from)
	if len(l.from) > 0 {
		l.all = make([]int32, l.from[len(l.from)-1])
	}
}

func (l *lists) add(w, x int32) {
	l.all[l.at[w]] = x
	l.at[w]++
}

// of is the list of the reads of w (fromStart: of the initial value).
func (l *lists) of(w int32) []int32 {
	if l.from == nil {
		return nil
	}
	return l.all[l.from[w+1]:l.from[w+2]]
}

// backwards looks for a hard edge that leads back within a chain, from a later
// place to an earlier one.
func (b *blocks) backwards() (bad []int32) {
	for _, c := range b.hard.clocks {
		if bad = b.backOn(c); bad != nil {
			return bad
		}
	}
	for _, e := range b.hard.edges {
		for x, to := range e.To {
			for _, y := range to {
				if c := b.chain[x]; c >= 0 && c == b.chain[y] && b.place[x] > b.place[y] {
					return []int32{int32(x), y}
				}
			}
		}
	}
	return nil
}

// backOn is backwards on one clock: from the end of each chain on, it keeps the
// least Out of strictly later places, for each group of the clock.
func (b *blocks) backOn(c *order.Clock) (bad []int32) {
	least := newByGroup(c)
	for k := range len(b.from) - 1 {
		least.forget()
		ops := b.members[b.from[k]:b.from[k+1]]
		for end := len(ops); end > 0; {
			begin := end
			for begin > 0 && b.place[ops[begin-1]] == b.place[ops[end-1]] {
				begin--
			}
			for _, x := range ops[begin:end] {
				if y := least.get(x); y >= 0 && c.Out[y] < c.In[x] {
					return []int32{x, y}
				}
			}
			for _, x := range ops[begin:end] {
				if y := least.get(x); y < 0 || c.Out[x] < c.Out[y] {
					least.set(x, x)
				}
			}
			end = begin
		}
	}
	return nil
}

// byGroup keeps an operation for each group of a clock, and forgets all at once.
type byGroup struct {
	within []int32 // nil: one group
	op     []int32
	round  []int32
	now    int32
}

func newByGroup(c *order.Clock) *byGroup {
	groups := int32(1)
	if len(c.Within) > 0 {
		groups = slices.Max(c.Within) + 1
	}
	return &byGroup{within: c.Within, op: make([]int32, max(groups, 1)), round: make([]int32, max(groups, 1)), now: 1}
}

func (g *byGroup) forget() { g.now++ }

func (g *byGroup) group(x int32) int32 {
	if g.within == nil {
		return 0
	}
	return g.within[x]
}

// get is the operation kept for x's group; -1: none.
func (g *byGroup) get(x int32) int32 {
	k := g.group(x)
	if k < 0 || g.round[k] != g.now {
		return -1
	}
	return g.op[k]
}

func (g *byGroup) set(x, op int32) {
	if k := g.group(x); k >= 0 {
		g.op[k], g.round[k] = op, g.now
	}
}
