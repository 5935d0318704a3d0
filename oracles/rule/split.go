package rule

import "go/token"

// Halves is a condition taken apart into what it asks of a, what it asks of b,
// and at most one comparison between the two: it is true for a and b exactly
// when A(a) and B(b) are True and Out(a) < In(b). That is the shape of a clock,
// which needs no pairs.
type Halves struct {
	A, B func(op int32) Tri
	// Out and In are the two sides of the comparison; nil where there is none.
	Out, In func(op int32) (int64, bool)
	// Descending: the comparison is Out(a) > In(b). OrEqual: equality will do.
	Descending, OrEqual bool
}

// Halves takes the condition apart, if it is a conjunction with at most one
// comparison between a and b, and that one of integers by an inequality. As a
// conjunction is True only where every part is, nothing is lost.
func (b *Bound) Halves() (Halves, bool) {
	h := Halves{}
	var asks [2][]func(a, b int32) Tri
	for _, c := range conjuncts(b.root, nil) {
		switch c.sides() {
		case sideA:
			asks[0] = append(asks[0], c.bind(b.view))
		case sideB:
			asks[1] = append(asks[1], c.bind(b.view))
		default:
			if h.Out != nil || !b.across(c.cmp, &h) {
				return Halves{}, false
			}
		}
	}
	h.A, h.B = all(asks[0]), all(asks[1])
	return h, true
}

// conjuncts lists the parts of a conjunction.
func conjuncts(c *cond, to []*cond) []*cond {
	if c.op == token.LAND {
		return conjuncts(c.r, conjuncts(c.l, to))
	}
	return append(to, c)
}

// across takes the comparison c apart, if it is one of integers and each of
// its sides is about one operation.
func (b *Bound) across(c *comparison, h *Halves) bool {
	if c == nil || c.l.typ != Int || c.r.typ != Int || equality(c.op) {
		return false
	}
	l, r, op := c.l, c.r, c.op
	if l.sides() == sideB { // b.y > a.x is a.x < b.y
		l, r = r, l
		op = map[token.Token]token.Token{token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ}[op]
	}
	if l.sides() != sideA || r.sides() != sideB {
		return false
	}
	out, in := l.ints(b.view), r.ints(b.view)
	h.Out = func(op int32) (int64, bool) { return out(op, op) }
	h.In = func(op int32) (int64, bool) { return in(op, op) }
	h.Descending = op == token.GTR || op == token.GEQ
	h.OrEqual = op == token.LEQ || op == token.GEQ
	return true
}

// all is the conjunction of conditions that are about one operation.
func all(conds []func(a, b int32) Tri) func(op int32) Tri {
	return func(op int32) Tri {
		t := True
		for _, c := range conds {
			t = min(t, c(op, op))
		}
		return t
	}
}
