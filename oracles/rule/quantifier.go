package rule

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pinyon/engine/history"
)

// quantifier is one "all s in xs:" in front of a condition.
type quantifier struct {
	mode  mode
	n     int    // of at least and at most; majority or supermajority
	name  string // the variable
	list  []int64
	array *operand // of a domain that is the indexes of an array
	at    int
}

type mode uint8

const (
	forAll mode = iota
	forSome
	atLeast
	atMost
)

// Thresholds that depend on the size m of the domain.
const (
	majority      = -1
	supermajority = -2
)

// maxInstances bounds how often a condition is instantiated, for all
// quantifiers together.
const maxInstances = 10_000

// threshold is n for a domain of m.
func (q *quantifier) threshold(m int) int {
	switch f := (m - 1) / 2; q.n {
	case majority:
		return m/2 + 1
	case supermajority:
		return f + (f+1)/2 + 1
	}
	return q.n
}

// quantified finds what begins like a quantifier.
var quantified = regexp.MustCompile(`^\s*(all\s|some\s|any\s|at\s+(least|most)\s)`)

// header is a quantifier, part by part: each but the last may be missing.
var header = regexp.MustCompile(`^\s*(?:(all|some|any)|at\s+(least|most)\s+(\S+)\s+of)\s+(\S+)\s+in\s+([^\s:]+)\s*:`)

// inside finds a quantifier that stands somewhere else.
var inside = regexp.MustCompile(`(\s|\()((all|some|any)\s+[A-Za-z_]+\s+in|at\s+(least|most)\s+\S+\s+of)\s`)

// quantifiers reads those in front of the text.
func (c *compiler) quantifiers() error {
	for quantified.MatchString(c.text[c.skip:]) {
		m := header.FindStringSubmatchIndex(c.text[c.skip:])
		if m == nil {
			at := c.skip + len(c.text[c.skip:]) - len(strings.TrimLeft(c.text[c.skip:], " \t\r\n"))
			return c.errorf(at, `a quantifier reads "all s in xs: ...", "some s in xs: ..." or "at least 2 of s in xs: ...", with a colon before the condition`)
		}
		q, err := c.quantifier(m, c.skip)
		if err != nil {
			return err
		}
		c.quants = append(c.quants, q)
		c.skip += m[1]
	}
	return nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c *compiler) quantifier(m []int, from int) (q quantifier, err error) {
	group := func(k int) (text string, at int) {
		if m[2*k] < 0 {
			return "", from
		}
		return c.text[from+m[2*k] : from+m[2*k+1]], from + m[2*k]
	}
	word, _ := group(1)
	least, _ := group(2)
	name, nameAt := group(4)
	domain, domainAt := group(5)
	q.name, q.at = name, nameAt
	q.mode = map[string]mode{"all": forAll, "some": forSome, "any": forSome, "least": atLeast, "most": atMost}[word+least]
	switch {
	case !variable.MatchString(name):
		return q, c.errorf(nameAt, "%s is no name for a variable", name)
	case name == "a" || name == "b":
		return q, c.errorf(nameAt, "%s is an operation; name the variable otherwise", name)
	case slices.ContainsFunc(c.quants, func(p quantifier) bool { return p.name == name }):
		return q, c.errorf(nameAt, "two quantifiers have the variable %s", name)
	}
	if err := c.domain(&q, domain, domainAt); err != nil {
		return q, err
	}
	if q.mode == atLeast || q.mode == atMost {
		n, at := group(3)
		err = c.count(&q, n, at)
	}
	return q, err
}

// domain reads what a quantifier ranges over.
func (c *compiler) domain(q *quantifier, text string, at int) error {
	of, field, isField := strings.Cut(text, ".")
	if !isField {
		list, ok := c.lists[text]
		if ok {
			q.list = list
			return nil
		}
		var known []string
		for name := range c.lists {
			known = append(known, name)
		}
		hint := DidYouMean(text, known)
		if typ, declared := c.fields[text]; declared && typ == Ints {
			hint = " (did you mean a." + text + "?)"
		}
		return c.errorf(at, "there is no list %s%s; declare it under lists, such as {%s: [0, 1, 2]}", text, hint, text)
	}
	if of != "a" && of != "b" {
		return c.errorf(at, "%s is unknown here: the two operations are a and b", of)
	}
	typ, ok := c.fields[field]
	if !ok {
		var known []string
		for name := range c.fields {
			known = append(known, name)
		}
		return c.errorf(at+len(of)+1, "the field %s is not declared%s", field, DidYouMean(field, known))
	}
	if typ != Ints {
		return c.errorf(at, "%s is %s and has no elements", text, typ)
	}
	q.array = &operand{typ: Ints, b: of == "b", name: field, at: at}
	return nil
}

// count reads the n of "at least n of".
func (c *compiler) count(q *quantifier, text string, at int) error {
	switch text {
	case "majority":
		q.n = majority
		return nil
	case "supermajority":
		q.n = supermajority
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return c.errorf(at, "%s is no count: it is a whole number from 1, majority or supermajority%s", text, DidYouMean(text, []string{"majority", "supermajority"}))
	}
	if q.list != nil && n > len(q.list) {
		return c.errorf(at, "the list has %d elements, so %d is never reached", len(q.list), n)
	}
	q.n = n
	return nil
}

// size is the greatest number of instances that q has over v.
func (q *quantifier) size(v *history.View) int {
	if q.array == nil {
		return len(q.list)
	}
	n, column := 0, v.Hints[q.array.name]
	for i := range int32(v.N) {
		if list, ok := column.List(i); ok {
			n = max(n, len(list))
		}
	}
	return n
}

// value is the k-th element of the domain.
func (q *quantifier) value(k int) int64 {
	if q.array != nil {
		return int64(k)
	}
	return q.list[k]
}

// instances is how many conditions r becomes over v.
func (r *Rule) instances(v *history.View) int {
	n := 1
	for i := range r.quants {
		if n = n * max(1, r.quants[i].size(v)); n > maxInstances {
			return n
		}
	}
	return n
}

// with is the condition with a number in place of the variable name.
func (c *cond) with(name string, n int64) *cond {
	if c == nil {
		return nil
	}
	d := &cond{op: c.op, l: c.l.with(name, n), r: c.r.with(name, n)}
	if c.cmp != nil {
		d.cmp = &comparison{c.cmp.op, c.cmp.l.with(name, n), c.cmp.r.with(name, n)}
	}
	return d
}

func (o *operand) with(name string, n int64) *operand {
	switch {
	case o.loop && o.name == name:
		return &operand{typ: Int, konst: true, num: n, at: o.at}
	case o.index == nil:
		return o
	}
	p := *o
	p.index = o.index.with(name, n)
	return &p
}

// bindQuantified turns the quantifiers and the condition behind them into a
// closure over the columns of v: one instance of the condition for each element.
func bindQuantified(qs []quantifier, root *cond, v *history.View) func(a, b int32) Tri {
	if len(qs) == 0 {
		return root.bind(v)
	}
	q := qs[0]
	each := make([]func(a, b int32) Tri, q.size(v))
	for k := range each {
		each[k] = bindQuantified(qs[1:], root.with(q.name, q.value(k)), v)
	}
	size := func(_, _ int32) (int, bool) { return len(each), len(each) > 0 }
	if q.array != nil {
		column, ofB := v.Hints[q.array.name], q.array.b
		size = func(a, b int32) (int, bool) {
			if ofB {
				a = b
			}
			list, ok := column.List(a)
			return len(list), ok && len(list) > 0
		}
	}
	return q.over(each, size)
}

// over is the quantifier over the first size(a, b) of some conditions.
func (q *quantifier) over(each []func(a, b int32) Tri, size func(a, b int32) (int, bool)) func(a, b int32) Tri {
	switch q.mode {
	case forAll:
		return func(a, b int32) Tri {
			n, ok := size(a, b)
			t := True
			for k := 0; k < n && t != False; k++ {
				t = min(t, each[k](a, b))
			}
			return unlessMissing(t, ok)
		}
	case forSome:
		return func(a, b int32) Tri {
			n, ok := size(a, b)
			t := False
			for k := 0; k < n && t != True; k++ {
				t = max(t, each[k](a, b))
			}
			return unlessMissing(t, ok)
		}
	}
	least, counted := q.mode == atLeast, *q
	return func(a, b int32) Tri {
		n, ok := size(a, b)
		want := counted.threshold(n)
		if !least {
			want++ // at most n: not at least n+1
		}
		is, may := 0, 0
		for k := range n {
			switch each[k](a, b) {
			case True:
				is++
				may++
			case Unknown:
				may++
			}
		}
		t := Unknown
		if is >= want {
			t = True
		} else if may < want {
			t = False
		}
		if !least {
			t = True - t
		}
		return unlessMissing(t, ok)
	}
}

func unlessMissing(t Tri, ok bool) Tri {
	if !ok {
		return Unknown
	}
	return t
}
