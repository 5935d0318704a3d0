package oracles

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/history/strictyaml"
	"pinyon/engine/order"
	"pinyon/oracles/rule"
)

// ties says what equal places mean.
type ties int

const (
	tiesConcurrent ties = iota
	tiesWriteFirst
	tiesReadFirst
)

// part is one hint of a place: an integer or an array of integers.
type part struct {
	name string
	typ  rule.Type
}

// orderBy is a total preorder: every operation has a place, one hint or
// several, and lower places come first.
type orderBy struct {
	write, read []part // by kind; the same slice where kinds do not differ
	byKind      bool
	ties        ties
	soft        bool
	only        []string // nil: all operations
}

// ordering reads order_by and the keys that belong to it.
func (l *loader) ordering(root *strictyaml.Node) error {
	n := root.Get("order_by")
	if n == nil {
		for _, key := range []string{"strength", "ties", "only"} {
			if k := root.Get(key); k != nil {
				return l.At(k, "%s belongs to order_by, which is missing", key)
			}
		}
		return nil
	}
	o := &orderBy{byKind: n.Form == strictyaml.Table}
	var err error
	if o.byKind {
		err = l.orderByKind(n, o)
	} else {
		o.write, err = l.parts(n)
		o.read = o.write
	}
	if err != nil {
		return err
	}
	strength, err := l.choice(root, "strength", "hard", "soft")
	if err != nil {
		return err
	}
	t, err := l.choice(root, "ties", "concurrent", "write_before_read", "read_before_write")
	if err != nil {
		return err
	}
	o.soft, o.ties = strength == 1, ties(t)
	l.doc.orderBy = o
	return l.only(root, o)
}

func (l *loader) orderByKind(n *strictyaml.Node, o *orderBy) (err error) {
	if err = l.KnownKeys(n, "order_by", "write", "read"); err != nil {
		return err
	}
	write, read := n.Get("write"), n.Get("read")
	if write == nil || read == nil {
		return l.At(n, "order_by by kind has both keys, write and read")
	}
	if o.write, err = l.parts(write); err != nil {
		return err
	}
	if o.read, err = l.parts(read); err != nil {
		return err
	}
	same := slices.EqualFunc(o.write, o.read, func(a, b part) bool { return a.typ == b.typ })
	if !same {
		return l.At(read, "writes and reads stand on one line only if their fields have the same types")
	}
	return nil
}

// parts reads a field, or several in lexicographic order.
func (l *loader) parts(n *strictyaml.Node) ([]part, error) {
	fields := []*strictyaml.Node{n}
	if n.Form == strictyaml.List {
		fields = n.Items
	}
	if n.Form == strictyaml.Table || len(fields) == 0 {
		return nil, l.At(n, "order_by takes a field, a list of fields, or {write: field, read: field}")
	}
	var parts []part
	for _, f := range fields {
		name, err := l.Word(f, "a field of order_by")
		if err != nil {
			return nil, err
		}
		typ, ok := l.doc.fields[name]
		if !ok {
			var known []string
			for k := range l.doc.fields {
				known = append(known, k)
			}
			return nil, l.At(f, "the field %s is not declared%s; declare it under fields, such as {%s: int}", name, rule.DidYouMean(name, known), name)
		}
		if typ == rule.Str {
			return nil, l.At(f, "order_by takes integers and arrays of integers, and %s is a string", name)
		}
		parts = append(parts, part{name, typ})
	}
	return parts, nil
}

func (l *loader) only(root *strictyaml.Node, o *orderBy) error {
	n := root.Get("only")
	if n == nil {
		return nil
	}
	var err error
	o.only, err = l.names(n, "only")
	return err
}

// names reads a list of operation names.
func (l *loader) names(n *strictyaml.Node, key string) (names []string, err error) {
	if n.Form != strictyaml.List || len(n.Items) == 0 {
		return nil, l.At(n, "%s is a list of operation names, such as [append, put]", key)
	}
	for _, f := range n.Items {
		name, err := l.Word(f, "an operation's name")
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// places finds every operation's place in one View.
type places struct {
	o       *orderBy
	v       *history.View
	columns [2][]*history.Column // of o.write and of o.read
}

func newPlaces(o *orderBy, v *history.View) *places {
	p := &places{o: o, v: v}
	for kind, parts := range [][]part{o.write, o.read} {
		for _, q := range parts {
			p.columns[kind] = append(p.columns[kind], v.Hints[q.name])
		}
	}
	return p
}

// at returns the hints that give operation i its place.
func (p *places) at(i int32) ([]part, []*history.Column) {
	if p.o.byKind && p.v.Read[i] {
		return p.o.read, p.columns[1]
	}
	return p.o.write, p.columns[0]
}

func (p *places) has(i int32) bool {
	parts, columns := p.at(i)
	for k, c := range columns {
		_, ok := c.Int(i)
		if parts[k].typ == rule.Ints {
			_, ok = c.List(i)
		}
		if !ok {
			return false
		}
	}
	return true
}

// compare compares the places of two operations that have one.
func (p *places) compare(i, j int32) int {
	parts, of := p.at(i)
	_, than := p.at(j)
	for k, c := range of {
		var sign int
		if parts[k].typ == rule.Ints {
			x, _ := c.List(i)
			y, _ := than[k].List(j)
			sign = slices.Compare(x, y)
		} else {
			x, _ := c.Int(i)
			y, _ := than[k].Int(j)
			sign = cmp.Compare(x, y)
		}
		if sign != 0 {
			return sign
		}
	}
	return 0
}

// text names the hints and the values of operation i's place.
func (p *places) text(i int32) (names, values string) {
	var ns, vs []string
	parts, columns := p.at(i)
	for k, c := range columns {
		ns = append(ns, parts[k].name)
		if list, ok := c.List(i); ok {
			vs = append(vs, fmt.Sprint(list))
		} else if n, ok := c.Int(i); ok {
			vs = append(vs, fmt.Sprint(n))
		}
	}
	if len(ns) == 1 {
		return ns[0], vs[0]
	}
	return "(" + strings.Join(ns, ", ") + ")", "(" + strings.Join(vs, ", ") + ")"
}

// clock turns the preorder into a clock. Places are ranked, so that nothing
// can overflow; at one rank n the kind that ties puts first reads 2n and the
// other 2n+1. Out and In agree, so nothing precedes itself.
func (o *orderBy) clock(v *history.View, r *order.Rules) (*order.Clock, error) {
	if v.Read == nil && (o.byKind || o.ties != tiesConcurrent) {
		return nil, ErrCannotTell
	}
	p := newPlaces(o, v)
	c := &order.Clock{Name: "order_by", Out: make([]int64, v.N), In: make([]int64, v.N), Reason: p.why}
	var placed []int32
	carriers := 0
	for i := range int32(v.N) {
		c.Out[i], c.In[i] = order.OutNever, order.InNever
		if o.only != nil && !slices.Contains(o.only, v.FName[v.F[i]]) {
			continue
		}
		carriers++
		if p.has(i) {
			placed = append(placed, i)
		}
	}
	if missing := carriers - len(placed); missing > 0 {
		r.Notice("%d of %d operations lack %s and are unordered", missing, carriers, o.names())
	}
	if carriers == 0 && v.N > 0 {
		r.Notice("no operation is named %s, so order_by orders nothing", strings.Join(o.only, " or "))
	}
	slices.SortFunc(placed, p.compare)
	rank := int64(0)
	for k, i := range placed {
		if k > 0 && p.compare(placed[k-1], i) != 0 {
			rank++
		}
		t := 2 * rank
		if o.ties != tiesConcurrent && v.Read[i] == (o.ties == tiesWriteFirst) {
			t++
		}
		c.Out[i], c.In[i] = t, t
	}
	return c, nil
}

// names names the hints for people.
func (o *orderBy) names() string {
	join := func(parts []part) string {
		var names []string
		for _, q := range parts {
			names = append(names, q.name)
		}
		return strings.Join(names, " or ")
	}
	return either(join(o.write), join(o.read))
}

func (p *places) why(a, b int32) string {
	tie := "write before read"
	if p.o.ties == tiesReadFirst {
		tie = "read before write"
	}
	namesA, valuesA := p.text(a)
	namesB, valuesB := p.text(b)
	return compared(namesA, valuesA, namesB, valuesB, tie)
}
