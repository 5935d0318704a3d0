package verify

import (
	"math/rand/v2"
	"slices"

	"pinyon/engine/history"
)

// join checks that the orders of the keys fit into one order of all keys,
// which is what every level is about. A key's state does not depend on other
// keys, so any order that keeps the keys' orders is legal, and only the
// level's edges from key to key are left to respect.
//
// Up to 3000 operations: the closure of the level over all operations, joined
// with the keys' orders, must have no circle. Above: the edges from key to key
// must be an interval order, that is, each comes from comparing the end of one
// operation with the start of another on one clock. Then every choice of
// orders fits (place each operation at the latest start so far in its key; an
// edge never leads back). This holds for before() with one clock error for
// all, once the session edges from key to key are edges of before() too.
func (c *checker) join() Result {
	if c.perKey() && c.extra == nil {
		return Result{} // there are no edges from key to key
	}
	if c.subject.View.N <= closureLimit {
		return c.joinAll()
	}
	return c.joinIntervals()
}

func (c *checker) joinAll() Result {
	r, err := c.Order(c.subject.View, c.extra)
	if err != nil {
		return cannot("%v", err)
	}
	r.Close()
	for x := range int32(r.n) {
		if r.Has(x, x) && !c.subject.View.Info[x] {
			return refuse("%s precedes itself over the keys", name(c.subject, x))
		}
	}
	// The operations that never happened have played their part in the closure.
	var placed []int32
	for _, order := range c.orders {
		placed = append(placed, order...)
	}
	joined := NewRelation(len(placed), func(a, b int32) bool { return r.Has(placed[a], placed[b]) })
	for at := 0; len(c.orders) > 0; c.orders = c.orders[1:] {
		for i := 1; i < len(c.orders[0]); i++ {
			joined.add(int32(at+i-1), int32(at+i))
		}
		at += len(c.orders[0])
	}
	joined.Close()
	for x := range int32(len(placed)) {
		if joined.Has(x, x) {
			return refuse("the orders of the keys do not fit into one order: %s would precede itself", name(c.subject, placed[x]))
		}
	}
	return Result{}
}

// joinIntervals is join for many operations.
func (c *checker) joinIntervals() Result {
	v := c.subject.View
	switch {
	case c.level != linearizable && c.level != staleByVersions && c.level != staleByTime && c.level != perOperation:
		return cannot("%s is not decided key by key", c.Name)
	case v.ClockError.ByNode != nil && v.Order == history.ByTime:
		return cannot("clock errors by node, and too many operations to join the orders of the keys")
	case (c.level == staleByTime || c.level == perOperation) && v.Order == history.ByLine && !forwards(v):
		return cannot("times run backwards along the lines, and too many operations to join the orders of the keys")
	}
	byProcess := map[int32][]int32{}
	for i, p := range v.Process {
		if c.level == perOperation && c.entitled(v, int32(i)).Sessionless {
			continue
		}
		if c.level != staleByTime || !v.Read[i] {
			byProcess[p] = append(byProcess[p], int32(i))
		}
	}
	for _, list := range byProcess {
		slices.SortFunc(list, func(a, b int32) int {
			if first(v, a, b) {
				return -1
			}
			return 1
		})
		for i := 1; i < len(list); i++ {
			if a, b := list[i-1], list[i]; session(v, a, b) && v.Key[a] != v.Key[b] && !c.inTime(v, a, b) {
				return cannot("%s and %s are ordered by their session only, and there are too many operations to join the orders of the keys",
					name(c.subject, a), name(c.subject, b))
			}
		}
	}
	return c.joinExtra()
}

// joinExtra samples whether the oracles order operations of different keys.
func (c *checker) joinExtra() Result {
	v := c.subject.View
	if c.extra == nil {
		return Result{}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range samples * v.N {
		if a, b := int32(r.IntN(v.N)), int32(r.IntN(v.N)); v.Key[a] != v.Key[b] && c.extra(a, b) {
			return cannot("the oracles order %s before %s, of another key, and there are too many operations to join the orders of the keys",
				name(c.subject, a), name(c.subject, b))
		}
	}
	c.notes = append(c.notes, "that the oracles order no operations of different keys was checked on a sample of pairs")
	return Result{}
}
