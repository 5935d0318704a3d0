package paths

import "slices"

// vacancies chooses for every observation of emptiness the first slot at which
// no item must be in the container. Any such slot will do: what can lie wholly
// before it does, the rest lies wholly after, and no order among the items of
// either side is lost by it.
func (f *field) vacancies() *conflict {
	f.free = make([]int32, len(f.empties))
	if len(f.empties) == 0 {
		return nil
	}
	var los, his []int32 // the union of the open ranges from lo to hi, in order
	for _, i := range f.byLo {
		s := f.span[i]
		if n := len(his); n > 0 && s.lo < his[n-1] {
			his[n-1] = max(his[n-1], s.hi)
			continue
		}
		los, his = append(los, s.lo), append(his, s.hi)
	}
	for k, e := range f.empties {
		at := f.slots.in[e]
		// The last range that begins before it: found by the end of the one before.
		if j, _ := slices.BinarySearch(los, at); j > 0 && at < his[j-1] {
			at = his[j-1]
		}
		if at > f.slots.out[e] {
			return &conflict{items: f.chain(f.slots.in[e], f.slots.out[e], nil), empties: []int32{e}}
		}
		f.free[k] = at
	}
	return nil
}

// chain finds as few items as possible that together must be there at every
// slot from first to last; among nil means all.
func (f *field) chain(first, last int32, among func(item int32) bool) (items []int32) {
	best, next := int32(-1), 0
	for at := first; at <= last; at = f.span[best].hi {
		for ; next < len(f.byLo) && f.span[f.byLo[next]].lo < at; next++ {
			i := f.byLo[next]
			if (among == nil || among(i)) && (best < 0 || f.span[i].hi > f.span[best].hi) {
				best = i
			}
		}
		if best < 0 || f.span[best].hi <= at {
			return nil // not covered; the callers know that it is
		}
		items = append(items, best)
	}
	return items
}
