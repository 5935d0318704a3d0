package order

import (
	"cmp"
	"slices"
)

// Intervals decides whether all hard order of r is one interval order, and
// returns it: a comes before b exactly when out[a] < in[b], with in[a] <=
// out[a] for every operation, and no operation without an answer comes before
// any. It is so when one clock over all operations orders whatever the other
// sources do; most often that is real time, with the sessions inside it. Where
// ok is true there is no circle. The slices are those of the clock and must
// not be changed.
//
// The question is decided exactly, in O(n log n) for every pair of clocks.
// Where it is not so (a session edge at a tie or within the clock error, an
// oracle, a level that orders some pairs only) ok is false.
func Intervals(r *Rules) (in, out []int64, ok bool) {
	n := r.View.N
	clocks := make([]*Clock, len(r.Hard))
	for i, s := range r.Hard {
		c, isClock := s.Relation.(*Clock)
		if !isClock {
			return nil, nil, false
		}
		clocks[i] = c
	}
	if len(clocks) == 0 {
		in, out = slices.Repeat([]int64{InNever}, n), slices.Repeat([]int64{OutNever}, n)
		return in, out, true
	}
	for _, c := range clocks {
		if c.interval(r.View.Info) && !slices.ContainsFunc(clocks, func(d *Clock) bool { return d != c && !c.covers(d) }) {
			return c.In, c.Out, true
		}
	}
	return nil, nil, false
}

// interval reports whether the clock alone orders the operations as intervals.
func (c *Clock) interval(info []bool) bool {
	for i := range c.Out {
		if c.In[i] > c.Out[i] || info[i] && c.Out[i] != OutNever {
			return false
		}
		if c.Within != nil && (c.Within[i] < 0 || c.Within[i] != c.Within[0]) {
			return false
		}
	}
	return true
}

// covers reports whether every edge of d is one of c, a clock over all
// operations. In each group of d the operations are visited by In; of those
// that precede the visited one, the greatest Out of c decides for all. The two
// greatest are kept, for an operation does not precede itself.
func (c *Clock) covers(d *Clock) bool {
	for _, group := range d.members() {
		byOut := slices.Clone(group)
		slices.SortStableFunc(byOut, func(a, b int32) int { return cmp.Compare(d.Out[a], d.Out[b]) })
		slices.SortStableFunc(group, func(a, b int32) int { return cmp.Compare(d.In[a], d.In[b]) })
		first, second, next := int32(-1), int32(-1), 0
		for _, b := range group {
			for ; next < len(byOut) && d.Out[byOut[next]] < d.In[b]; next++ {
				switch a := byOut[next]; {
				case first < 0 || c.Out[a] > c.Out[first]:
					first, second = a, first
				case second < 0 || c.Out[a] > c.Out[second]:
					second = a
				}
			}
			last := first
			if last == b {
				last = second
			}
			if last >= 0 && c.Out[last] >= c.In[b] {
				return false
			}
		}
	}
	return true
}

// members lists the operations of each group of the clock.
func (c *Clock) members() (groups [][]int32) {
	if c.Within == nil {
		all := make([]int32, len(c.Out))
		for i := range all {
			all[i] = int32(i)
		}
		return [][]int32{all}
	}
	number := map[int32]int{}
	for i, w := range c.Within {
		if w < 0 {
			continue
		}
		g, ok := number[w]
		if !ok {
			g = len(groups)
			number[w] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], int32(i))
	}
	return groups
}
