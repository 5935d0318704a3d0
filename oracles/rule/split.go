package rule

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"pinyon/engine/history"
)

// Compare is one comparison between a and b, in numbers that are compared as
// the values are: Out(a) Op In(b). Op is one of < <= > >= and ==.
type Compare struct {
	Out, In func(op int32) (int64, bool)
	Op      token.Token
}

// Parts is a condition taken apart: it is True for a and b exactly when A(a)
// and B(b) are True, a and b have the same numbers by every one of Within, all
// of Must hold, and as many of Each as AtLeast says. That needs no pairs.
type Parts struct {
	A, B   func(op int32) Tri
	Within []func(op int32) (int64, bool)
	Must   []Compare
	// Each are the instances of a quantifier, AtLeast how many must hold (0:
	// there is no quantifier). Where it ranges over an array, Size is the number
	// of its elements: instances beyond it do not count, or hold by themselves
	// where All.
	Each    [][]Compare
	AtLeast int
	All     bool
	Size    func(op int32) (int, bool)
}

// shape is a condition taken apart before there is a View.
type shape struct {
	asks, eachAsks [2][]*cond // of a and of b; of an instance of the quantifier
	same           []*operand
	must, each     []*comparison // of a against b
}

// shape takes the condition apart; ok is false where it does not come apart.
// As a conjunction is True only where every part is, nothing is lost.
func (r *Rule) shape() (s shape, ok bool) {
	if len(r.quants) > 1 || len(r.quants) == 1 && (r.quants[0].mode == atMost || r.quants[0].array != nil && r.quants[0].array.b) {
		return s, false
	}
	for _, c := range conjuncts(r.root, nil) {
		loops := c.any((*operand).loops)
		switch sides := c.sides(); {
		case sides == 0:
			return s, false
		case sides != sideBoth && loops:
			s.eachAsks[sides-1] = append(s.eachAsks[sides-1], c)
		case sides != sideBoth:
			s.asks[sides-1] = append(s.asks[sides-1], c)
		default:
			across := c.across()
			switch {
			case across == nil:
				return s, false
			case loops:
				s.each = append(s.each, across)
			case across.op == token.EQL && across.l.like(across.r):
				s.same = append(s.same, across.l)
			default:
				s.must = append(s.must, across)
			}
		}
	}
	if len(r.quants) == 1 && (len(s.each) == 0 || r.quants[0].mode != forAll && (len(s.each) > 1 || s.each[0].op == token.EQL)) {
		return s, false
	}
	return s, true
}

// loops reports whether o mentions the variable of a quantifier.
func (o *operand) loops() bool { return o.loop || o.index != nil && o.index.loops() }

// like reports whether o and p are the same field of the two operations.
func (o *operand) like(p *operand) bool {
	if o == nil || p == nil {
		return o == p
	}
	if o.konst || p.konst {
		return o.konst && p.konst && o.num == p.num && o.str == p.str
	}
	return o.typ == p.typ && o.name == p.name && o.built == p.built && o.b != p.b && o.index.like(p.index)
}

// conjuncts lists the parts of a conjunction.
func conjuncts(c *cond, to []*cond) []*cond {
	if c.op == token.LAND {
		return conjuncts(c.r, conjuncts(c.l, to))
	}
	return append(to, c)
}

// mirrored is the operator of y op x where op is that of x op y.
var mirrored = map[token.Token]token.Token{token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ, token.EQL: token.EQL}

// across is the comparison as one of a against b, if each of its sides is about
// one operation and what is compared can be numbered.
func (c *cond) across() *comparison {
	if c.cmp == nil || c.cmp.op == token.NEQ || c.cmp.l.typ != c.cmp.r.typ {
		return nil
	}
	l, r, op := c.cmp.l, c.cmp.r, c.cmp.op
	if l.sides() == sideB {
		l, r, op = r, l, mirrored[op]
	}
	if l.sides() != sideA || r.sides() != sideB || l.typ == kindType || l.typ == valueType && op != token.EQL {
		return nil
	}
	return &comparison{op, l, r}
}

// Parts takes the condition apart over its View. ok is false where it does not
// come apart, or where a threshold depends on the operation.
func (b *Bound) Parts() (p Parts, ok bool) {
	s, ok := b.shape()
	if !ok {
		return p, false
	}
	v := b.view
	p.A, p.B = allOf(s.asks[0], v), allOf(s.asks[1], v)
	for _, o := range s.same {
		get, _ := numbers(o, o, v)
		p.Within = append(p.Within, get)
	}
	for _, c := range s.must {
		p.Must = append(p.Must, c.numbered(v))
	}
	if len(b.quants) == 0 {
		return p, true
	}
	q := &b.quants[0]
	n := q.size(v)
	if p.AtLeast, ok = q.fixed(n, v); !ok {
		return p, false
	}
	p.All = q.mode == forAll
	for k := range n {
		p.Each = append(p.Each, s.instance(q.name, q.value(k), v))
	}
	if q.array != nil {
		column := v.Hints[q.array.name]
		p.Size = func(op int32) (int, bool) {
			list, ok := column.List(op)
			return len(list), ok && len(list) > 0
		}
	}
	return p, true
}

// instance gives the comparisons of one instance. What it asks of a or of b
// alone is asked before either has a number.
func (s *shape) instance(name string, value int64, v *history.View) (each []Compare) {
	var asks [2]func(op int32) Tri
	for side, conds := range s.eachAsks {
		var at []*cond
		for _, c := range conds {
			at = append(at, c.with(name, value))
		}
		asks[side] = allOf(at, v)
	}
	asked := func(asks func(op int32) Tri, get func(op int32) (int64, bool)) func(op int32) (int64, bool) {
		return func(op int32) (int64, bool) {
			if asks(op) != True {
				return 0, false
			}
			return get(op)
		}
	}
	for _, c := range s.each {
		at := (&comparison{c.op, c.l.with(name, value), c.r.with(name, value)}).numbered(v)
		at.Out, at.In = asked(asks[0], at.Out), asked(asks[1], at.In)
		each = append(each, at)
	}
	return each
}

// fixed is how many of n instances must hold, if that is one number for all
// operations of v.
func (q *quantifier) fixed(n int, v *history.View) (int, bool) {
	switch {
	case n == 0:
		return 0, false
	case q.mode == forAll:
		return n, true
	case q.mode == forSome:
		return 1, true
	case q.n < 0 && q.array != nil:
		column := v.Hints[q.array.name]
		for i := range int32(v.N) {
			if list, ok := column.List(i); ok && len(list) != n && len(list) > 0 {
				return 0, false
			}
		}
	}
	return q.threshold(n), true
}

// numbered gives the comparison numbers.
func (c *comparison) numbered(v *history.View) Compare {
	out, in := numbers(c.l, c.r, v)
	return Compare{out, in, c.op}
}

// numbers returns getters of two operands of one type, each about one
// operation: integers are themselves, texts their rank, values any number.
func numbers(l, r *operand, v *history.View) (out, in func(op int32) (int64, bool)) {
	switch l.typ {
	case Str:
		return ranked(one(l.strings(v)), one(r.strings(v)), v.N, cmp.Compare[string])
	case valueType:
		value := func(o *operand) func(op int32) (history.Value, bool) {
			get := o.values(v)
			return func(op int32) (history.Value, bool) { x := get(op, op); return x, x != history.Absent }
		}
		return ranked(value(l), value(r), v.N, nil)
	}
	return one(l.ints(v)), one(r.ints(v))
}

// one is a getter of one operation.
func one[T any](get func(a, b int32) (T, bool)) func(op int32) (T, bool) {
	return func(op int32) (T, bool) { return get(op, op) }
}

// ranked numbers what two getters give by its order, or, without one, anyhow.
func ranked[T comparable](l, r func(op int32) (T, bool), n int, order func(a, b T) int) (out, in func(op int32) (int64, bool)) {
	number := map[T]int64{}
	var seen []T
	for i := range int32(n) {
		for _, get := range []func(int32) (T, bool){l, r} {
			x, ok := get(i)
			if _, known := number[x]; ok && !known {
				number[x] = int64(len(seen))
				seen = append(seen, x)
			}
		}
	}
	if order != nil {
		slices.SortFunc(seen, order)
		for k, x := range seen {
			number[x] = int64(k)
		}
	}
	code := func(get func(int32) (T, bool)) func(int32) (int64, bool) {
		return func(op int32) (int64, bool) { x, ok := get(op); return number[x], ok }
	}
	return code(l), code(r)
}

// allOf is the conjunction of conditions that are about one operation.
func allOf(conds []*cond, v *history.View) func(op int32) Tri {
	var bound []func(a, b int32) Tri
	for _, c := range conds {
		bound = append(bound, c.bind(v))
	}
	return func(op int32) Tri {
		t := True
		for _, c := range bound {
			t = min(t, c(op, op))
		}
		return t
	}
}

// Class says how a rule is evaluated, cheapest first.
type Class uint8

// Clock: one number for each operation. Dominance: several numbers, swept
// together. Pairs: the condition is asked for every pair.
const (
	Clock Class = iota
	Dominance
	Pairs
)

func (c Class) String() string { return [...]string{"clock", "dominance", "pairs"}[c] }

// Plan says how the rule will be evaluated, and in words what it rests on.
func (r *Rule) Plan() (Class, string) {
	s, ok := r.shape()
	if !ok {
		return Pairs, r.whyPairs()
	}
	within := ""
	if len(s.same) > 0 {
		var names []string
		for _, o := range s.same {
			names = append(names, o.name)
		}
		within = ", within operations of the same " + strings.Join(names, " and ")
	}
	switch {
	case len(s.each) > 0:
		return Dominance, fmt.Sprintf("%s for each %s%s", counted(len(s.each), "comparison"), r.quants[0].name, within)
	case len(s.must) > 1 || len(s.must) == 1 && s.must[0].op == token.EQL:
		return Dominance, counted(len(s.must), "comparison") + " at once" + within
	case len(s.must) == 0:
		return Clock, "no comparison between the two but of what each is" + within
	}
	return Clock, "one comparison" + within
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

// whyPairs says what keeps the rule from coming apart.
func (r *Rule) whyPairs() string {
	switch {
	case len(r.quants) > 1:
		return "it has several quantifiers"
	case len(r.quants) == 1 && r.quants[0].mode == atMost:
		return "at most does not come apart"
	case r.root.op == token.LOR:
		return "it is an alternative (||): two rules would be two clocks"
	case r.root.op == token.NOT:
		return "it is a negation"
	}
	return "it is no conjunction of comparisons that each have a on one side and b on the other"
}
