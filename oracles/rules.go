package oracles

import (
	"fmt"
	"go/token"
	"math"
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

// relation plans the rule: what comes apart into comparisons of a with b
// becomes a clock or a dominance, and the rest is asked pair by pair.
func (p *pairRule) relation(v *history.View, allKeys bool, r *order.Rules) (order.Relation, error) {
	b, err := p.rule.Bind(v)
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", p.label(), err)
	}
	if parts, ok := b.Parts(); ok {
		return p.apart(v, b, parts, allKeys, r)
	}
	return p.pairs(v, b, allKeys, r)
}

// apart is the relation of a rule that comes apart.
func (p *pairRule) apart(v *history.View, b *rule.Bound, parts rule.Parts, allKeys bool, r *order.Rules) (order.Relation, error) {
	s := newSplitter(v, parts, b.Why)
	for _, c := range parts.Must {
		s.must = append(s.must, s.clocks(c, nil, 0)...)
	}
	for k, each := range parts.Each {
		for _, c := range each {
			s.each = append(s.each, s.clocks(c, parts.Size, k)...)
		}
	}
	if len(s.must)+len(s.each) == 0 { // as 0 <= 0
		zero := func(int32) (int64, bool) { return 0, true }
		s.must = append(s.must, s.clocks(rule.Compare{Out: zero, In: zero, Op: token.LEQ}, nil, 0)...)
	}
	rel := s.relation(p.label())
	for i := range int32(v.N) {
		if rel.Precedes(i, i) {
			return nil, p.selfError(v, b.Why, i)
		}
	}
	if !s.oneWay() {
		look := func(i, j int32) error {
			if rel.Precedes(i, j) && rel.Precedes(j, i) {
				return p.bothError(v, b.Why, i, j)
			}
			return nil
		}
		if _, err := eachPair(groups(v, allKeys), look); err != nil {
			return nil, err
		}
	}
	if lacking := s.lacking(); lacking > 0 {
		r.Notice("%d of %d operations lack what rule %s asks for", lacking, v.N, p.label())
	}
	return rel, nil
}

// splitter makes clocks of the comparisons of one rule.
type splitter struct {
	v          *history.View
	parts      rule.Parts
	a, b       []rule.Tri // what the rule asks of each operation, and whether it has what is compared
	within     []int32
	must, each []*order.Clock
	why        func(a, b int32) string
}

func newSplitter(v *history.View, parts rule.Parts, why func(a, b int32) string) *splitter {
	s := &splitter{v: v, parts: parts, a: make([]rule.Tri, v.N), b: make([]rule.Tri, v.N), why: why}
	for i := range int32(v.N) {
		s.a[i], s.b[i] = parts.A(i), parts.B(i)
	}
	if len(parts.Within) > 0 {
		s.within = make([]int32, v.N)
	}
	for _, get := range parts.Within {
		s.narrow(get)
	}
	if parts.Size != nil {
		for i := range int32(v.N) {
			if _, ok := parts.Size(i); !ok {
				s.a[i] = min(s.a[i], rule.Unknown)
			}
		}
	}
	for _, c := range parts.Must {
		for i := range int32(v.N) {
			s.ask(i, c)
		}
	}
	return s
}

// ask notes whether operation i has both sides of a comparison.
func (s *splitter) ask(i int32, c rule.Compare) {
	if _, ok := c.Out(i); !ok {
		s.a[i] = min(s.a[i], rule.Unknown)
	}
	if _, ok := c.In(i); !ok {
		s.b[i] = min(s.b[i], rule.Unknown)
	}
}

// narrow limits pairs to operations with the same number.
func (s *splitter) narrow(get func(op int32) (int64, bool)) {
	type pair struct {
		group  int32
		number int64
	}
	numbers := map[pair]int32{}
	for i := range int32(s.v.N) {
		n, ok := get(i)
		if !ok || s.within[i] < 0 {
			s.within[i] = -1
			s.a[i], s.b[i] = min(s.a[i], rule.Unknown), min(s.b[i], rule.Unknown)
			continue
		}
		at := pair{s.within[i], n}
		code, known := numbers[at]
		if !known {
			code = int32(len(numbers))
			numbers[at] = code
		}
		s.within[i] = code
	}
}

// clocks makes a clock of a comparison; == is two, <= and >=. With size it is
// that of the k-th element of a's array: where there is none, an instance of
// all holds by itself, and any other does not hold.
func (s *splitter) clocks(c rule.Compare, size func(op int32) (int, bool), k int) []*order.Clock {
	if c.Op == token.EQL {
		up, down := c, c
		up.Op, down.Op = token.LEQ, token.GEQ
		return append(s.clocks(up, size, k), s.clocks(down, size, k)...)
	}
	clock := &order.Clock{Out: make([]int64, s.v.N), In: make([]int64, s.v.N), Within: s.within, Reason: s.why}
	rank, step := ranks(s.v.N, c), int64(2)
	if c.Op == token.GTR || c.Op == token.GEQ {
		step = -2
	}
	for i := range int32(s.v.N) {
		out, okOut := c.Out(i)
		in, okIn := c.In(i)
		clock.Out[i], clock.In[i] = order.OutNever, order.InNever
		n, counts := 0, s.a[i] == rule.True
		if size != nil {
			n, _ = size(i)
		}
		switch {
		case !counts:
		case size != nil && k >= n && s.parts.All:
			clock.Out[i] = math.MinInt64
		case size != nil && k >= n:
		case okOut:
			clock.Out[i] = step * rank(out)
		}
		switch {
		case s.b[i] != rule.True:
		case okIn:
			clock.In[i] = step * rank(in)
			if c.Op == token.LEQ || c.Op == token.GEQ {
				clock.In[i]++
			}
		case size != nil && s.parts.All:
			clock.In[i] = math.MinInt64 + 1 // after what holds by itself, and nothing else
		}
	}
	return []*order.Clock{clock}
}

// great is the greatest number that a clock holds as it is: twice it, and a
// little more, is far from what stands for never.
const great = 1 << 60

// ranks numbers the values of both sides by their order: by themselves, unless
// one of them is too great.
func ranks(n int, c rule.Compare) func(x int64) int64 {
	least, most := int64(0), int64(0)
	eachSide(n, c, func(x int64) { least, most = min(least, x), max(most, x) })
	if least >= -great && most <= great {
		return func(x int64) int64 { return x }
	}
	var sorted []int64
	eachSide(n, c, func(x int64) { sorted = append(sorted, x) })
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	return func(x int64) int64 {
		i, _ := slices.BinarySearch(sorted, x)
		return int64(i)
	}
}

// eachSide calls yield with the numbers of both sides.
func eachSide(n int, c rule.Compare, yield func(x int64)) {
	for i := range int32(n) {
		if x, ok := c.Out(i); ok {
			yield(x)
		}
		if x, ok := c.In(i); ok {
			yield(x)
		}
	}
}

// relation puts the clocks together.
func (s *splitter) relation(name string) order.Relation {
	if len(s.must) == 1 && len(s.each) == 0 {
		s.must[0].Name = name
		return s.must[0]
	}
	atLeast := 0
	if !s.parts.All {
		atLeast = s.parts.AtLeast
	}
	return &order.Dominance{Must: s.must, Clocks: s.each, AtLeast: atLeast, Reason: s.why}
}

// oneWay reports whether no pair can be ordered both ways: some clock that every
// ordered pair goes by has Out[i] >= In[i] for all i, and a pair both ways would
// need Out[a] < In[b] <= Out[b] < In[a] <= Out[a]. Of clocks by which more than
// half go, two pairs share one.
func (s *splitter) oneWay() bool {
	if slices.ContainsFunc(s.must, strict) {
		return true
	}
	if s.parts.All {
		return slices.ContainsFunc(s.each, strict)
	}
	return 2*s.parts.AtLeast > len(s.each) && len(s.each) > 0 && !slices.ContainsFunc(s.each, func(c *order.Clock) bool { return !strict(c) })
}

func strict(c *order.Clock) bool {
	for i := range c.Out {
		if c.Out[i] < c.In[i] {
			return false
		}
	}
	return true
}

// lacking counts the operations of which it is unknown whether they may stand
// on a side of the rule.
func (s *splitter) lacking() (n int) {
	for i := range int32(s.v.N) {
		a, b := s.a[i], s.b[i]
		if len(s.parts.Each) > 0 && a == rule.True && !s.some(i, func(c rule.Compare) (int64, bool) { return c.Out(i) }) {
			a = rule.Unknown
		}
		if len(s.parts.Each) > 0 && b == rule.True && !s.some(i, func(c rule.Compare) (int64, bool) { return c.In(i) }) {
			b = rule.Unknown
		}
		if a == rule.Unknown || b == rule.Unknown {
			n++
		}
	}
	return n
}

// some reports whether operation i has one side of some instance.
func (s *splitter) some(i int32, get func(c rule.Compare) (int64, bool)) bool {
	for _, each := range s.parts.Each {
		for _, c := range each {
			if _, ok := get(c); ok {
				return true
			}
		}
	}
	return false
}

// Up to maxPairs pairs are looked at one by one, which are those of 2,000
// operations; of more, sampled ones. A rule that will be asked for more than
// manyPairs says so.
const (
	maxPairs  = 2000 * 1999 / 2
	sampled   = 500_000
	manyPairs = 100_000_000
)

// pairs is the relation of a rule that is asked pair by pair. It is checked
// first: over every operation, and over all pairs or a sample of them that is
// the same in every run.
func (p *pairRule) pairs(v *history.View, b *rule.Bound, allKeys bool, r *order.Rules) (order.Relation, error) {
	for i := range int32(v.N) {
		if b.Eval(i, i) == rule.True {
			return nil, p.selfError(v, b.Why, i)
		}
	}
	unknown, asked := 0, 0
	look := func(i, j int32) error {
		x, y := b.Eval(i, j), b.Eval(j, i)
		if x == rule.True && y == rule.True {
			return p.bothError(v, b.Why, i, j)
		}
		for _, t := range []rule.Tri{x, y} {
			if asked++; t == rule.Unknown {
				unknown++
			}
		}
		return nil
	}
	gs := groups(v, allKeys)
	whole, err := eachPair(gs, look)
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
	if n := 2 * pairsOf(gs); n > manyPairs {
		_, why := p.rule.Plan()
		r.Notice("rule %s is asked pair by pair, for up to %d pairs, as %s (pinyon oracles FILE --explain-plan)", p.label(), n, why)
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

// pairsOf counts the pairs within groups, each once.
func pairsOf(groups [][]int32) (n int) {
	for _, ops := range groups {
		n += len(ops) * (len(ops) - 1) / 2
	}
	return n
}

// eachPair calls look for the pairs within groups: all of them, or, where they
// are too many, a sample of fixed seed. It stops at an error.
func eachPair(groups [][]int32, look func(i, j int32) error) (whole bool, err error) {
	if pairsOf(groups) > maxPairs {
		return false, somePairs(groups, look)
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

// somePairs calls look for a sample of the pairs within groups.
func somePairs(groups [][]int32, look func(i, j int32) error) error {
	var flat []int32 // the group of each operation, as its share of a sample
	for g, ops := range groups {
		if len(ops) > 1 {
			for range ops {
				flat = append(flat, int32(g))
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range sampled {
		ops := groups[flat[rng.IntN(len(flat))]]
		i := rng.IntN(len(ops))
		j := (i + 1 + rng.IntN(len(ops)-1)) % len(ops)
		if err := look(ops[i], ops[j]); err != nil {
			return err
		}
	}
	return nil
}

func (p *pairRule) selfError(v *history.View, why func(a, b int32) string, i int32) error {
	return fmt.Errorf("rule %s orders op %d before itself (%s): %w", p.label(), v.Ops[i], why(i, i), ErrOwn)
}

func (p *pairRule) bothError(v *history.View, why func(a, b int32) string, i, j int32) error {
	x, y := v.Ops[i], v.Ops[j]
	return fmt.Errorf("rule %s orders op %d before op %d (%s) and op %d before op %d (%s): %w",
		p.label(), x, y, why(i, j), y, x, why(j, i), ErrOwn)
}
