package rule

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"
)

// negation turns an operator into the one that says the opposite.
var negation = map[token.Token]token.Token{
	token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ,
	token.LEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
}

// Why returns the condition and the values that make it true for a and b, as
// in "a.revision < b.revision: 40 < 41". Comparisons that say nothing beyond
// the condition itself, such as a.kind == "write", are left out.
func (b *Bound) Why(x, y int32) string {
	var parts []string
	b.instance(b.quants, b.root, x, y, &parts)
	if len(parts) > maxParts {
		parts = append(parts[:maxParts:maxParts], "and more")
	}
	text := strings.Join(strings.Fields(b.Text), " ")
	if len(parts) == 0 {
		return text
	}
	return text + ": " + strings.Join(parts, ", ")
}

// maxParts is how many comparisons a reason names, and triedParts how many
// instances of a quantifier are looked at for them.
const (
	maxParts   = 6
	triedParts = 50
)

// instance explains what is True among the instances of quantifiers.
func (b *Bound) instance(qs []quantifier, c *cond, x, y int32, parts *[]string) {
	if len(qs) == 0 {
		b.explain(c, true, x, y, parts)
		return
	}
	q := &qs[0]
	for k := range min(q.size(b.view), triedParts) {
		if len(*parts) > maxParts {
			return
		}
		at := c.with(q.name, q.value(k))
		if bindQuantified(qs[1:], at, b.view)(x, y) == True {
			b.instance(qs[1:], at, x, y, parts)
		}
	}
}

// explain appends the comparisons that make c what it should be.
func (b *Bound) explain(c *cond, want bool, x, y int32, parts *[]string) {
	switch c.op {
	case token.NOT:
		b.explain(c.l, !want, x, y, parts)
	case token.LAND, token.LOR:
		for _, d := range []*cond{c.l, c.r} {
			if d.bind(b.view)(x, y) == tri(want) {
				b.explain(d, want, x, y, parts)
			}
		}
	default:
		b.values(c.cmp, want, x, y, parts)
	}
}

func (b *Bound) values(c *comparison, want bool, x, y int32, parts *[]string) {
	op := c.op
	if !want {
		op = negation[op]
	}
	if op == token.EQL && (c.l.konst || c.r.konst) || c.l.typ == kindType || c.r.typ == kindType {
		return
	}
	part := fmt.Sprintf("%s %s %s", b.text(c.l, x, y), op, b.text(c.r, x, y))
	for _, p := range *parts {
		if p == part {
			return
		}
	}
	*parts = append(*parts, part)
}

// text returns an operand's value as people read it.
func (b *Bound) text(o *operand, x, y int32) string {
	switch o.typ {
	case Int:
		if n, ok := o.ints(b.view)(x, y); ok {
			return strconv.FormatInt(n, 10)
		}
	case Str:
		if s, ok := o.strings(b.view)(x, y); ok {
			return strconv.Quote(s)
		}
	case valueType:
		if t := o.values(b.view)(x, y).Text(); t != "" {
			return t
		}
	}
	return "missing"
}
