package order

import "slices"

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
		SortBy(byOut, d.Out)
		SortBy(group, d.In)
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
	within, n := dense(c.Within)
	from := make([]int32, n+1) // where each group begins
	for _, w := range within {
		if w >= 0 {
			from[w+1]++
		}
	}
	for w := range n {
		from[w+1] += from[w]
	}
	all, end := make([]int32, from[n]), slices.Clone(from)
	for i, w := range within {
		if w >= 0 {
			all[end[w]] = int32(i)
			end[w]++
		}
	}
	for w := range n {
		if from[w] < from[w+1] {
			groups = append(groups, all[from[w]:from[w+1]])
		}
	}
	return groups
}

// dense returns groups numbered below n, where n is not far above their count;
// those that are so already stay as they are.
func dense(within []int32) (numbers []int32, n int32) {
	for _, w := range within {
		n = max(n, w+1)
	}
	if int(n) <= 4*len(within)+64 {
		return within, n
	}
	numbers = make([]int32, len(within))
	known := map[int32]int32{}
	for i, w := range within {
		k, ok := known[w]
		if !ok && w >= 0 {
			k = int32(len(known))
			known[w] = k
		}
		if numbers[i] = k; w < 0 {
			numbers[i] = -1
		}
	}
	return numbers, int32(len(known))
}
