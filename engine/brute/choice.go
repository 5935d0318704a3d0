package brute

import (
	"slices"

	"pinyon/engine/verify"
)

// choice is one story of what happened: which updates, and what each read and
// cas saw.
type choice struct {
	*registers
	happened []int32 // updates
	lookers  []int32 // those that saw something
	saw      map[int32]int32
}

// some makes a level of a condition on a choice: one choice must meet it.
func some(meets func(c *choice) bool) func(r *registers) bool {
	return func(r *registers) bool {
		return r.someHappened(func(happened []int32) bool {
			c := &choice{registers: r, happened: happened, saw: map[int32]int32{}}
			for x := range r.n {
				if r.looks[x] && (r.view.Read[x] || slices.Contains(happened, x)) {
					c.lookers = append(c.lookers, x)
				}
			}
			return c.choose(c.lookers, meets)
		})
	}
}

// choose tries everything that the lookers of rest may have seen: a write of
// their key, or the initial value, that leaves what they name, and that is not
// one that their own session does later.
func (c *choice) choose(rest []int32, meets func(c *choice) bool) bool {
	if len(rest) == 0 {
		return meets(c)
	}
	x := rest[0]
	key := c.view.Key[x]
	for _, w := range append([]int32{nobody}, c.happened...) {
		if w == x || w != nobody && (c.view.Key[w] != key || c.session.Has(x, w)) || !c.fits(x, w) {
			continue
		}
		c.saw[x] = w
		if c.choose(rest[1:], meets) {
			return true
		}
	}
	return false
}

// isThere reports whether x is an operation of this story.
func (c *choice) isThere(x int32) bool { return c.view.Read[x] || slices.Contains(c.happened, x) }

// causality is the closure of the session order and of what was seen.
func (c *choice) causality() (co *verify.Relation, acyclic bool) {
	co = verify.NewRelation(int(c.n), func(a, b int32) bool {
		if !c.isThere(a) || !c.isThere(b) {
			return false
		}
		w, looked := c.saw[b]
		return c.session.Has(a, b) || looked && w == a
	}).Close()
	for x := range c.n {
		if co.Has(x, x) {
			return co, false
		}
	}
	return co, true
}

// past lists the writes to x's key that come before x.
func (c *choice) past(x int32, co *verify.Relation) (writes []int32) {
	for _, w := range c.happened {
		if c.view.Key[w] == c.view.Key[x] && co.Has(w, x) {
			writes = append(writes, w)
		}
	}
	return writes
}

// causal: nothing in the causal past of a read is a later write than what it
// saw.
func causal(c *choice) bool {
	co, acyclic := c.causality()
	return acyclic && c.notOverwritten(co)
}

func (c *choice) notOverwritten(co *verify.Relation) bool {
	for _, x := range c.lookers {
		w := c.saw[x]
		for _, other := range c.past(x, co) {
			if other != w && (w == nobody || co.Has(w, other)) {
				return false
			}
		}
	}
	return true
}

// causalConvergence: one order of all writes contains causality, and each read
// saw the last write to its key in its causal past.
func causalConvergence(c *choice) bool {
	co, acyclic := c.causality()
	if !acyclic {
		return false
	}
	return c.orders(c.happened, co, func(order []int32) bool {
		if len(order) < len(c.happened) {
			return true // not yet whole
		}
		for _, x := range c.lookers {
			if last(order, c.past(x, co)) != c.saw[x] {
				return false
			}
		}
		return true
	})
}

// last returns the one of writes that stands last in order, nobody for none.
func last(order, writes []int32) int32 {
	for _, w := range slices.Backward(order) {
		if slices.Contains(writes, w) {
			return w
		}
	}
	return nobody
}

// causalMemory: causal, and for each process the updates in the causal past of
// its last answered operation, together with its own operations, have an order
// that contains causality and is legal. An unanswered operation of its own may
// be left out: nothing that the process knows of comes after it.
func causalMemory(c *choice) bool {
	co, acyclic := c.causality()
	if !acyclic || !c.notOverwritten(co) {
		return false
	}
	for p := range c.view.ProcessName {
		if !c.orders(c.ownView(int32(p), co), co, c.effective) {
			return false
		}
	}
	return true
}

// effective: legal, and each cas of the order, answered or not, had its effect.
func (c *choice) effective(order []int32) bool {
	return c.play(order, func(x, held int32) bool {
		return c.view.Read[x] || !c.looks[x] || held == c.values.Want(x)
	})
}

// ownView is what process p's order in causal memory is about.
func (c *choice) ownView(p int32, co *verify.Relation) (members []int32) {
	final := nobody // the last answered operation of p
	for x := range c.n {
		if c.view.Process[x] == p && !c.view.Info[x] && (final == nobody || c.session.Has(final, x)) {
			final = x
		}
	}
	if final == nobody {
		return nil
	}
	for x := range c.n {
		own := c.view.Process[x] == p && !c.view.Info[x]
		if own || slices.Contains(c.happened, x) && co.Has(x, final) {
			members = append(members, x)
		}
	}
	return members
}

// arbitrated: there is an order of all writes, in which also precedes(a, b)
// holds (nil: nothing), and a cas stands after what it saw, such that each read
// and cas saw the last of what it must have seen: what it did see, and the
// writes that more adds (nil: none). Who saw the initial value must have seen
// nothing.
func (c *choice) arbitrated(more func(x int32) []int32, precedes func(a, b int32) bool) bool {
	before := verify.NewRelation(int(c.n), func(a, b int32) bool {
		w, looked := c.saw[b]
		return precedes != nil && precedes(a, b) || looked && w == a
	})
	return c.orders(c.happened, before, func(order []int32) bool {
		if len(order) < len(c.happened) {
			return true // not yet whole
		}
		for _, x := range c.lookers {
			must := []int32{c.saw[x]}
			if more != nil {
				must = append(must, more(x)...)
			}
			if last(order, must) != c.saw[x] {
				return false
			}
		}
		return true
	})
}

// ownWrites is what read-your-writes adds: the earlier writes of the process.
func (c *choice) ownWrites(x int32) (writes []int32) {
	for _, w := range c.happened {
		if c.view.Key[w] == c.view.Key[x] && c.session.Has(w, x) {
			writes = append(writes, w)
		}
	}
	return writes
}

// ownReads is what monotonic-reads adds: what the process saw earlier.
func (c *choice) ownReads(x int32) (writes []int32) {
	for _, y := range c.lookers {
		if c.view.Key[y] == c.view.Key[x] && c.session.Has(y, x) && c.saw[y] != nobody {
			writes = append(writes, c.saw[y])
		}
	}
	return writes
}

// sessionWrites is what monotonic-writes orders.
func (c *choice) sessionWrites(a, b int32) bool {
	return slices.Contains(c.happened, a) && slices.Contains(c.happened, b) && c.session.Has(a, b)
}

// followsRead is what writes-follow-reads orders: b's process saw a before it
// wrote b.
func (c *choice) followsRead(a, b int32) bool {
	return slices.ContainsFunc(c.lookers, func(y int32) bool {
		return c.saw[y] == a && c.session.Has(y, b)
	})
}
