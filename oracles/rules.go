package oracles

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/oracles/rule"
)

// pairRule is one rule of hard or soft.
type pairRule struct {
	rule  *rule.Rule
	name  string // "" where it has none
	place string // "hard 2": its list and place there, from 1
	soft  bool
}

// label names the rule in messages.
func (p *pairRule) label() string {
	if p.name != "" {
		return p.name
	}
	return p.place
}

// relation plans the rule: what fits a clock becomes one, and the rest is
// asked pair by pair. (This is the start of a planner: equalities between a and
// b, quantifiers and several comparisons are pairs for now.)
func (p *pairRule) relation(v *history.View, allKeys bool, r *order.Rules) (order.Relation, error) {
	b, err := p.rule.Bind(v)
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", p.label(), err)
	}
	if h, ok := b.Halves(); ok {
		return p.clock(v, b, h, r)
	}
	return p.pairs(v, b, allKeys, r)
}

// clock is the relation of a rule that comes apart. An operation that does not
// meet what the rule asks of a precedes nothing, one that does not meet what it
// asks of b is preceded by nothing, and the two sides of the comparison are
// ranked on one line.
//
// One look at each operation finds every contradiction: if nothing precedes
// itself, then Out[i] >= In[i] for all i, and a pair both ways would need
// Out[a] < In[b] <= Out[b] < In[a] <= Out[a].
func (p *pairRule) clock(v *history.View, b *rule.Bound, h rule.Halves, r *order.Rules) (order.Relation, error) {
	if h.Out == nil { // no comparison: every such a precedes every such b, as 0 <= 0
		zero := func(int32) (int64, bool) { return 0, true }
		h.Out, h.In, h.OrEqual = zero, zero, true
	}
	c := &order.Clock{Name: p.label(), Out: make([]int64, v.N), In: make([]int64, v.N), Reason: b.Why}
	rank, lacking := ranks(v.N, h), 0
	for i := range int32(v.N) {
		out, a := place(i, h.A, h.Out, rank)
		in, b := place(i, h.B, h.In, rank)
		if h.OrEqual {
			in++
		}
		c.Out[i], c.In[i] = order.OutNever, order.InNever
		if a == rule.True {
			c.Out[i] = out
		}
		if b == rule.True {
			c.In[i] = in
		}
		if a == rule.Unknown || b == rule.Unknown {
			lacking++
		}
	}
	for i := range int32(v.N) {
		if c.Out[i] < c.In[i] {
			return nil, p.selfError(v, b, i)
		}
	}
	if lacking > 0 {
		r.Notice("%d of %d operations lack what rule %s asks for", lacking, v.N, p.label())
	}
	return c, nil
}

// ranks numbers the values of both sides by their order, or against it.
func ranks(n int, h rule.Halves) func(x int64) int64 {
	var sorted []int64
	for i := range int32(n) {
		for _, get := range []func(int32) (int64, bool){h.Out, h.In} {
			if x, ok := get(i); ok {
				sorted = append(sorted, x)
			}
		}
	}
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	step := int64(2)
	if h.Descending {
		step = -2
	}
	return func(x int64) int64 {
		i, _ := slices.BinarySearch(sorted, x)
		return step * int64(i)
	}
}

// place returns an operation's rank on one side of a rule, and whether it is
// there at all.
func place(i int32, asks func(int32) rule.Tri, get func(int32) (int64, bool), rank func(int64) int64) (int64, rule.Tri) {
	t := asks(i)
	if t == rule.False {
		return 0, t
	}
	x, ok := get(i)
	if !ok {
		return 0, rule.Unknown
	}
	return rank(x), t
}

// Up to maxPairs pairs are looked at one by one, which are those of 2,000
// operations; of more, sampled ones.
const (
	maxPairs = 2000 * 1999 / 2
	sampled  = 500_000
)

// pairs is the relation of a rule that is asked pair by pair. It is checked
// first: over every operation, and over all pairs or a sample of them that is
// the same in every run.
func (p *pairRule) pairs(v *history.View, b *rule.Bound, allKeys bool, r *order.Rules) (order.Relation, error) {
	for i := range int32(v.N) {
		if b.Eval(i, i) == rule.True {
			return nil, p.selfError(v, b, i)
		}
	}
	unknown, asked := 0, 0
	look := func(i, j int32) error {
		x, y := b.Eval(i, j), b.Eval(j, i)
		if x == rule.True && y == rule.True {
			return p.bothError(v, b, i, j)
		}
		for _, t := range []rule.Tri{x, y} {
			if asked++; t == rule.Unknown {
				unknown++
			}
		}
		return nil
	}
	whole, err := eachPair(groups(v, allKeys), look)
	if err != nil {
		return nil, err
	}
	if unknown > 0 {
		of := "pairs"
		if !whole {
			of = "sampled pairs"
		}
		r.Notice("rule %s is unknown for %d of %d %s", p.label(), unknown, asked, of)
	}
	return &order.Pair{Before: func(x, y int32) bool { return b.Eval(x, y) == rule.True }, Reason: b.Why}, nil
}

// groups are the operations among which an oracle orders.
func groups(v *history.View, allKeys bool) [][]int32 {
	if !allKeys {
		return v.Keys()
	}
	all := make([]int32, v.N)
	for i := range all {
		all[i] = int32(i)
	}
	return [][]int32{all}
}

// eachPair calls look for the pairs within groups: all of them, or, where they
// are too many, a sample of fixed seed. It stops at an error.
func eachPair(groups [][]int32, look func(i, j int32) error) (whole bool, err error) {
	pairs := 0
	var flat []int32 // the group of each operation, as its share of a sample
	for g, ops := range groups {
		pairs += len(ops) * (len(ops) - 1) / 2
		if len(ops) > 1 {
			for range ops {
				flat = append(flat, int32(g))
			}
		}
	}
	if pairs > maxPairs {
		rng := rand.New(rand.NewPCG(1, 2))
		for range sampled {
			ops := groups[flat[rng.IntN(len(flat))]]
			i := rng.IntN(len(ops))
			j := (i + 1 + rng.IntN(len(ops)-1)) % len(ops)
			if err := look(ops[i], ops[j]); err != nil {
				return false, err
			}
		}
		return false, nil
	}
	for _, ops := range groups {
		for k, i := range ops {
			for _, j := range ops[k+1:] {
				if err := look(i, j); err != nil {
					return true, err
				}
			}
		}
	}
	return true, nil
}

func (p *pairRule) selfError(v *history.View, b *rule.Bound, i int32) error {
	return fmt.Errorf("rule %s orders op %d before itself (%s): %w", p.label(), v.Ops[i], b.Why(i, i), ErrOwn)
}

func (p *pairRule) bothError(v *history.View, b *rule.Bound, i, j int32) error {
	x, y := v.Ops[i], v.Ops[j]
	return fmt.Errorf("rule %s orders op %d before op %d (%s) and op %d before op %d (%s): %w",
		p.label(), x, y, b.Why(i, j), y, x, b.Why(j, i), ErrOwn)
}
