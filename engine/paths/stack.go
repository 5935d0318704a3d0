package paths

import "slices"

// solveStack lays out the operations of a stack.
//
// An item whose operations fit on one slot is pushed, seen and taken there, in
// nobody's way. The others must each be there all the way from lo to hi. Where
// none of them must be there, the stack can be empty, and what comes before and
// after are problems of their own. A stretch without such a slot is never
// empty, so one item lies at its bottom throughout: it can be pushed at or
// before the start, taken at or after the end, and each of its peeks can be at
// a slot where the other items leave it alone. Any item with these three
// properties will do, since the others are as possible without it. What is
// left of the stretch is solved in the same way; where no item is fit for the
// bottom, the items of the stretch exclude each other.
//
// Each item is taken out of the count of its slots once, so that all of it is
// O(n log n) but for the search for a bottom, which looks at items that are
// pushed over the start of the stretch and turned down: with few clients these
// are few.
func solveStack(f *field) (line []int32, bad *conflict) {
	s := newStacked(f)
	root := level{item: -1, beyond: len(f.byLo)}
	for k, e := range f.empties {
		s.seen = append(s.seen, sight{f.free[k], e})
	}
	slices.SortStableFunc(s.seen, bySlot)
	s.levels = append(s.levels, root)
	for len(s.levels) > 0 {
		if s.stop != nil && len(line)&0xfff == 0 && s.stop() {
			return nil, &conflict{}
		}
		top := &s.levels[len(s.levels)-1]
		next := s.next(top)
		lo := f.end + 1
		if next < top.beyond {
			lo = f.span[f.byLo[next]].lo
		}
		for ; top.seen < len(s.seen) && s.seen[top.seen].slot <= lo; top.seen++ {
			line = append(line, s.seen[top.seen].op)
		}
		if next == top.beyond {
			line = s.leave(line)
			continue
		}
		hi, beyond := s.stretch(next)
		top.from = beyond
		v := s.bottom(next, beyond, lo, hi)
		if v < 0 {
			return nil, s.conflict(next, beyond)
		}
		line = append(line, f.add[f.byLo[v]])
		s.enter(v, next, beyond)
	}
	return f.weave(line, s.blocks()), nil
}

// sight is an operation that sees a level: a peek at its bottom, or of nothing
// at all.
type sight struct{ slot, op int32 }

func bySlot(a, b sight) int { return int(a.slot - b.slot) }

// level is a stretch whose bottom is placed: the items byLo[from:beyond] that
// are left lie above it.
type level struct {
	item         int32 // -1: nothing lies below
	from, beyond int
	base, seen   int // its sights begin at stacked.seen[base]; those up to seen are placed
}

// stacked is the state of solveStack. Positions are the ends of ranges and the
// gaps between them, in order: end k is position 2k+1.
type stacked struct {
	*field
	ends     []int32 // the slots at which ranges begin or end
	position []int32 // by slot
	firstOf  []int32 // by end: the first item whose lo is there or later
	counts   *counts // by position: how many of the items left must be there
	items    *candidates
	levels   []level
	seen     []sight
}

func newStacked(f *field) *stacked {
	s := &stacked{field: f, position: make([]int32, f.end+2)}
	for _, i := range f.byLo {
		s.position[f.span[i].lo], s.position[f.span[i].hi] = 1, 1
	}
	at := int32(0)
	for slot, used := range s.position {
		if used != 0 {
			s.ends = append(s.ends, int32(slot))
			s.position[slot] = at + 1
			at += 2
			continue
		}
		s.position[slot] = at
	}
	start := make([]int32, at+2)
	s.firstOf = make([]int32, len(s.ends))
	next := 0
	for k, slot := range s.ends {
		for next < len(f.byLo) && f.span[f.byLo[next]].lo < slot {
			next++
		}
		s.firstOf[k] = int32(next)
	}
	for _, i := range f.byLo {
		start[s.position[f.span[i].lo]+1]++
		start[s.position[f.span[i].hi]]--
	}
	for k := 1; k < len(start); k++ {
		start[k] += start[k-1]
	}
	s.counts = newCounts(start)
	s.items = newCandidates(len(f.byLo), func(i int) (int32, int32) {
		return f.span[f.byLo[i]].addIn, f.span[f.byLo[i]].takeOut
	})
	return s
}

// next is the first item left of a level from its from on.
func (s *stacked) next(l *level) int {
	at := s.items.find(l.from, l.beyond, noneLeft-1, 0, func(int) bool { return true })
	if at < 0 {
		return l.beyond
	}
	return at
}

// stretch returns where the stretch that begins with item next ends, and the
// first item beyond it.
func (s *stacked) stretch(next int) (hi int32, beyond int) {
	at := s.counts.first(int(s.position[s.span[s.byLo[next]].lo])+1, 0)
	end := at / 2 // ranges end at ends, which have odd positions
	return s.ends[end], int(s.firstOf[end])
}

// bottom finds an item that can lie below all others of the stretch.
func (s *stacked) bottom(first, beyond int, lo, hi int32) int {
	return s.items.find(first, beyond, lo, hi, func(i int) bool {
		item := s.byLo[i]
		for _, p := range s.peeksOf(item) {
			if !s.alone(item, p) {
				return false
			}
		}
		return true
	})
}

// alone reports whether a peek of item can be at a slot where no other item
// must be: one that nothing must cover, or only the item itself.
func (s *stacked) alone(item, peek int32) bool {
	in, out := s.peekSpan(peek, item)
	first, last := int(s.position[in]), int(s.position[out])
	if s.counts.first(first, 0) <= last {
		return true
	}
	lo, hi := int(s.position[s.span[item].lo]), int(s.position[s.span[item].hi])
	return s.counts.first(max(first, lo+1), 1) <= min(last, hi-1)
}

// enter puts item v of the stretch below the rest of it.
func (s *stacked) enter(v, first, beyond int) {
	item := s.byLo[v]
	s.items.remove(v)
	s.counts.add(int(s.position[s.span[item].lo])+1, int(s.position[s.span[item].hi])-1, -1)
	base := len(s.seen)
	for _, p := range s.peeksOf(item) {
		in, _ := s.peekSpan(p, item)
		slot := in
		if at := s.counts.first(int(s.position[in]), 0); at != int(s.position[in]) {
			slot = s.ends[at/2]
		}
		s.seen = append(s.seen, sight{slot, p})
	}
	slices.SortStableFunc(s.seen[base:], bySlot)
	s.levels = append(s.levels, level{item: item, from: first, beyond: beyond, base: base, seen: base})
}

// leave takes the bottom of the top level out.
func (s *stacked) leave(line []int32) []int32 {
	top := s.levels[len(s.levels)-1]
	s.levels, s.seen = s.levels[:len(s.levels)-1], s.seen[:top.base]
	switch {
	case top.item < 0:
	case s.take[top.item] >= 0:
		line = append(line, s.take[top.item])
	default:
		line = append(line, -1-top.item)
	}
	return line
}

// conflict are the items left of a stretch.
func (s *stacked) conflict(first, beyond int) *conflict {
	c := &conflict{}
	for i := first; i < beyond; i++ {
		if s.items.left(i) {
			c.items = append(c.items, s.byLo[i])
		}
	}
	return c
}

// blocks are the items whose operations fit on one slot.
func (s *stacked) blocks() (blocks []block) {
	for i, sp := range s.span {
		if sp.lo < sp.hi {
			continue
		}
		b := block{slot: sp.hi, item: int32(i)}
		blocks = append(blocks, b)
	}
	return blocks
}
