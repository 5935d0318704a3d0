package consistency

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"pinyon/engine/order"
)

// Soft order is compared with hard order pair by pair: all pairs of so many
// operations, and of more a sample of fixed seed.
const (
	conflictOps   = 1000
	conflictPairs = 200_000
)

// softConflicts counts the pairs that soft order orders one way and hard order
// the other. Hard order wins; that the two differ is what a failover looks like.
func (c *checker) softConflicts() {
	r, n := c.rules, int32(c.view.N)
	if len(r.Soft) == 0 || n < 2 {
		return
	}
	ordered, against := 0, 0
	first := ""
	look := func(a, b int32) {
		s, soft := edge(r.Soft, a, b)
		if !soft {
			return
		}
		ordered++
		h, hard := edge(r.Hard, b, a)
		if !hard {
			return
		}
		if against++; first == "" {
			first = fmt.Sprintf("first: %s before %s (%s: %s), and the other way round (%s: %s)",
				c.subject.Where(a), c.subject.Where(b), s.Name, s.Why(a, b), h.Name, h.Why(b, a))
		}
	}
	of := "pairs"
	if n <= conflictOps {
		for a := range n {
			for b := range n {
				if a != b {
					look(a, b)
				}
			}
		}
	} else {
		of = "sampled pairs"
		rng := rand.New(rand.NewPCG(3, 4))
		for range conflictPairs {
			if a, b := rng.Int32N(n), rng.Int32N(n); a != b {
				look(a, b)
			}
		}
	}
	if against > 0 {
		r.Notice("soft order is against hard order for %d of the %d %s that it orders; hard order wins (%s)", against, ordered, of, first)
	}
}

// edge returns the first source that orders a before b.
func edge(sources []order.Source, a, b int32) (order.Source, bool) {
	i := slices.IndexFunc(sources, func(s order.Source) bool { return s.Precedes(a, b) })
	if i < 0 {
		return order.Source{}, false
	}
	return sources[i], true
}
