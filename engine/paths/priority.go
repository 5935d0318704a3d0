package paths

// solvePriority lays out the operations of a priority queue, from the greatest
// item to the least. An operation that sees or takes an item must be at a slot
// where no greater item must be; where greater items leave none, they and the
// item exclude each other. Each operation goes to the free slot nearest to
// where the item must be anyway, so that the item is there longer than from lo
// to hi only where greater ones are there too, which hides it from the lesser.
func solvePriority(f *field) (line []int32, bad *conflict) {
	byRank := ordered(f.rank, maxOf(f.rank))
	p := &prioritized{field: f, after: identity(f.end + 2), before: identity(f.end + 2)}
	at := make([]int32, len(f.peeks)) // the slot of each peek
	stays := make([]stay, len(f.span))
	for k := len(byRank) - 1; k >= 0; k-- {
		i := byRank[k]
		s := f.span[i]
		pivot := min(s.lo, s.hi)
		out := p.place(s.hi, s.takeOut, pivot)
		if out < 0 {
			return nil, p.hidden(i, s.hi, s.takeOut)
		}
		in := min(s.lo, out)
		for x := f.peekFrom[i]; x < f.peekFrom[i+1]; x++ {
			first, last := f.peekSpan(f.peeks[x], i)
			if at[x] = p.place(first, last, pivot); at[x] < 0 {
				return nil, p.hidden(i, first, last)
			}
			in = min(in, at[x])
		}
		stays[i] = stay{in, out}
		p.cover(s.lo, s.hi)
	}
	return f.weave(p.line(byRank, stays, at), nil), nil
}

// stay is from the slot at which an item is added to the one at which it is
// taken.
type stay struct{ in, out int32 }

// prioritized knows which slots the items so far leave free, as two forests
// of links to the next free slot (Tarjan, 1975).
type prioritized struct {
	*field
	after, before []int32
}

func identity(n int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// find follows links to the end, halving the way.
func find(links []int32, x int32) int32 {
	for links[x] != x {
		links[x] = links[links[x]]
		x = links[x]
	}
	return x
}

// cover takes the slots between lo and hi, both left free.
func (p *prioritized) cover(lo, hi int32) {
	for x := find(p.after, min(lo+1, p.end)); x < hi; x = find(p.after, x) {
		p.after[x], p.before[x] = x+1, x-1
	}
}

// place finds a free slot from first to last: the first at or after pivot, or
// else the last before it; -1 where there is none.
func (p *prioritized) place(first, last, pivot int32) int32 {
	if at := find(p.after, max(first, pivot)); at <= last {
		return at
	}
	if at := find(p.before, min(last, pivot)); at >= first {
		return at
	}
	return -1
}

// hidden is the conflict of an item that greater ones hide from first to last.
func (p *prioritized) hidden(item, first, last int32) *conflict {
	greater := func(x int32) bool { return p.rank[x] > p.rank[item] }
	return &conflict{items: append(p.chain(first, last, greater), item)}
}

// The phases of a slot: what ends here, greatest first; what stays or comes
// and goes; what begins, least first.
const (
	ending = iota
	passing
	beginning
	phases
)

// line sorts the operations by slot, phase and item.
func (p *prioritized) line(byRank []int32, stays []stay, at []int32) []int32 {
	var ops, keys []int32
	put := func(op, slot int32, phase int32) {
		ops, keys = append(ops, op), append(keys, slot*phases+phase)
	}
	phase := func(s stay, slot int32) int32 {
		switch {
		case s.in == s.out || s.in < slot && slot < s.out:
			return passing
		case slot == s.in:
			return beginning
		}
		return ending
	}
	// item puts the operations on an item that are, or are not, of phase ending.
	item := func(i int32, end bool) {
		s := stays[i]
		if !end {
			put(p.add[i], s.in, phase(s, s.in))
		}
		for x := p.peekFrom[i]; x < p.peekFrom[i+1]; x++ {
			if ph := phase(s, at[x]); (ph == ending) == end {
				put(p.peeks[x], at[x], ph)
			}
		}
		if ph := phase(s, s.out); (ph == ending) == end {
			if p.take[i] >= 0 {
				put(p.take[i], s.out, ph)
			} else {
				put(-1-i, s.out, ph)
			}
		}
	}
	for k := len(byRank) - 1; k >= 0; k-- {
		item(byRank[k], true)
	}
	for _, i := range byRank {
		item(i, false)
	}
	for k, e := range p.empties {
		put(e, p.free[k], passing)
	}
	line := make([]int32, len(ops))
	for k, x := range ordered(keys, (p.end+1)*phases) {
		line[k] = ops[x]
	}
	return line
}

func maxOf(keys []int32) (most int32) {
	for _, k := range keys {
		most = max(most, k)
	}
	return most
}
