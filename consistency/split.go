package consistency

import "pinyon/engine/order"

// splits reports whether the history may be split by key: the level is local,
// and no hard order between operations of different keys goes beyond real
// time (docs/ARCHITECTURE.md, section 8).
func (c *checker) splits() bool {
	if !c.level.Local {
		return false
	}
	for _, s := range c.rules.Hard {
		if s.CrossKey {
			return false
		}
		if s.Name == order.SessionName && !s.PerKey && !c.sessionInRealTime(s) {
			return false
		}
	}
	return true
}

// sessionInRealTime reports whether every session edge between operations of
// different keys is a real-time edge too. Where a return and the next call
// stand at one instant, or within the clock error, it need not be, and then
// two keys can forbid together what each allows alone.
func (c *checker) sessionInRealTime(session order.Source) bool {
	clock, ok := session.Relation.(*order.Clock)
	if !ok {
		return false
	}
	if len(c.view.KeyName) == 1 {
		return true
	}
	last := c.lastOfOtherKey(clock)
	for b, a := range last {
		if a >= 0 && !c.inRealTime(a, int32(b)) {
			return false
		}
	}
	return true
}

// lastOfOtherKey finds for each operation the last one of its session before
// it with another key (-1: none). Earlier ones returned no later.
func (c *checker) lastOfOtherKey(session *order.Clock) []int32 {
	v := c.view
	bySession := sortedBySession(v.N, session)
	last := make([]int32, v.N)
	type pair struct{ a, b int32 } // last operation, and last one of another key than a's
	latest := make([]pair, len(v.ProcessName))
	for p := range latest {
		latest[p] = pair{-1, -1}
	}
	for _, x := range bySession {
		p := latest[v.Process[x]]
		ok := p.a >= 0
		last[x] = -1
		if ok && session.In[x] != order.InNever {
			if v.Key[p.a] != v.Key[x] {
				last[x] = p.a
			} else {
				last[x] = p.b
			}
		}
		if session.Out[x] == order.OutNever {
			continue
		}
		switch {
		case !ok:
			latest[v.Process[x]] = pair{x, -1}
		case v.Key[p.a] == v.Key[x]:
			latest[v.Process[x]] = pair{x, p.b}
		default:
			latest[v.Process[x]] = pair{x, p.a}
		}
	}
	return last
}

// inRealTime reports whether a source of real time orders a before b.
func (c *checker) inRealTime(a, b int32) bool {
	for _, s := range c.rules.Hard {
		if s.Name == order.RealTimeName && s.Precedes(a, b) {
			return true
		}
	}
	return false
}

// sortedBySession lists the operations so that those of one session come in
// its order.
func sortedBySession(n int, session *order.Clock) []int32 {
	ops, rank := positions(n), make([]int64, n)
	for i := range rank {
		rank[i] = rankOf(session, int32(i))
	}
	order.SortBy(ops, rank)
	return ops
}

// rankOf is an operation's place in its session: In where it has one, else
// Out; those without either are in no session.
func rankOf(session *order.Clock, x int32) int64 {
	if session.In[x] != order.InNever {
		return session.In[x]
	}
	return session.Out[x]
}
