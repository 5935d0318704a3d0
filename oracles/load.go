package oracles

import (
	"slices"
	"strconv"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/history/strictyaml"
	"pinyon/engine/order"
	"pinyon/oracles/rule"
)

// documentKeys are the keys of an oracle file.
var documentKeys = []string{"oracle", "version", "fields", "lists", "scope", "hard", "soft", "order_by", "strength", "ties", "only",
	"unique", "reads_from", "deps", "staleness"}

// document is an oracle as its file says it.
type document struct {
	name    string
	fields  rule.Fields
	lists   map[string][]int64
	allKeys bool
	orderBy *orderBy // nil: none
	rules   []*pairRule

	unique    []part   // nil: none
	except    []string // operations that unique is not about
	readsFrom *readsFrom
	deps      *depsNames
	staleness *staleness
}

// Load reads an oracle from YAML. The file is a table of these keys:
//
//	oracle: name            the name that stands in every reason
//	version: 1
//	fields: {f: int, g: string, h: [int]}   the hints that are used
//	lists: {xs: [0, 1, 2]}  what quantifiers range over
//	scope: key | all        which pairs are ordered (default key)
//	hard: [rule, ...]       a comes before b where a rule is true
//	soft: [rule, ...]       what to try first; never decides a verdict
//	order_by: f             or [f, g], lexicographic, or {write: f, read: g}
//	strength: hard | soft   of order_by (default hard)
//	ties: concurrent | write_before_read | read_before_write   of order_by
//	only: [append, put]     the operations that order_by orders, by name
//	unique: f               no two acknowledged writes have the same f; or [f, g],
//	                        or {of: f, except: [name, ...]} of other operations
//	reads_from: {read: f, write: g}   a read's f is the g of the write that it saw
//	deps: {replica: f, inst: g, deps: h, seq: i}   a dependency graph, ordered by
//	                        its strongly connected components (order.Dependencies)
//	staleness: {write: f, read: g, entries: 3, time: 100ms}   how far the entry g
//	                        that a read knew lags behind the writes' entries f
//
// A rule is a condition over the operations a and b, with quantifiers in front
// (package rule), or {name, when}. What breaks unique, reads_from or staleness is
// a finding: a violation without any order (order.Finding). An array under order_by is compared element by element, a shorter one
// before the longer ones that it begins.
//
// Everything else is an error, a *history.Error with line and column: an
// unknown or repeated key, an undeclared field, and whatever YAML would read
// differently from what was meant (tags, anchors, aliases, comments that cut a
// rule short).
func Load(path string, data []byte) (order.Oracle, error) {
	d, err := parse(path, data)
	if err != nil {
		return order.Oracle{}, err
	}
	return order.Oracle{Name: d.name, AllKeys: d.allKeys, Order: d.order, Text: string(data)}, nil
}

func parse(path string, data []byte) (*document, error) {
	l := &loader{File: strictyaml.File{Path: path, Data: data, What: "an oracle", Has: "the keys oracle, version and an order"}}
	root, err := l.Parse()
	if err != nil {
		return nil, err
	}
	return l.document(root)
}

// order is the Order function of the oracle.
func (d *document) order(v *history.View, r *order.Rules) error {
	several := len(d.rules) > 1 || len(d.rules) == 1 && (d.orderBy != nil || d.deps != nil) || d.orderBy != nil && d.deps != nil
	label := func(name string) string {
		if several {
			return name
		}
		return ""
	}
	if o := d.orderBy; o != nil {
		c, err := o.clock(v, r)
		if err != nil {
			return err
		}
		add(r, o.soft, label("order_by"), c)
	}
	if d.deps != nil {
		if err := d.deps.order(label("deps"), d.allKeys)(v, r); err != nil {
			return err
		}
	}
	for _, p := range d.rules {
		rel, err := p.relation(v, d.allKeys, r)
		if err != nil {
			return err
		}
		name := p.name
		if name == "" {
			name = label(p.place)
		}
		add(r, p.soft, name, rel)
	}
	return d.facts(v, r)
}

// facts adds what the oracle says that is no order, and the order that follows.
func (d *document) facts(v *history.View, r *order.Rules) error {
	if d.unique != nil {
		var names []string
		for _, p := range d.unique {
			names = append(names, p.name)
		}
		if err := uniqueBut(d.allKeys, d.except, names...)(v, r); err != nil {
			return err
		}
	}
	if f := d.readsFrom; f != nil {
		if err := f.order(d.allKeys)(v, r); err != nil {
			return err
		}
	}
	if s := d.staleness; s != nil {
		return s.order(d.allKeys)(v, r)
	}
	return nil
}

func add(r *order.Rules, soft bool, name string, rel order.Relation) {
	if soft {
		r.AddSoft(name, rel)
	} else {
		r.AddHard(name, rel)
	}
}

// loader gives meaning to the nodes of one file.
type loader struct {
	strictyaml.File
	doc document
}

func (l *loader) document(root *strictyaml.Node) (*document, error) {
	if root.Form != strictyaml.Table {
		return nil, l.At(root, "an oracle is a table of keys (%s), and this is %s", strings.Join(documentKeys, ", "), root.Form)
	}
	if err := l.KnownKeys(root, "an oracle", documentKeys...); err != nil {
		return nil, err
	}
	// Fields come first: everything after them uses their types.
	for _, step := range []func(*strictyaml.Node) error{l.header, l.fields, l.lists, l.scope, l.ordering, l.rules, l.facts} {
		if err := step(root); err != nil {
			return nil, err
		}
	}
	d := &l.doc
	if d.orderBy == nil && len(d.rules) == 0 && d.unique == nil && d.readsFrom == nil && d.deps == nil && d.staleness == nil {
		return nil, l.At(root, "the oracle says nothing: it has none of hard, soft, order_by, deps, unique, reads_from and staleness")
	}
	return &l.doc, nil
}

// choice returns which of some words the key holds; the first is the default.
func (l *loader) choice(root *strictyaml.Node, key string, words ...string) (int, error) {
	n := root.Get(key)
	if n == nil {
		return 0, nil
	}
	s, err := l.Word(n, key)
	if err != nil {
		return 0, err
	}
	i := slices.Index(words, s)
	if i < 0 {
		return 0, l.At(n, "%s is one of %s, not %s%s", key, strings.Join(words, ", "), s, rule.DidYouMean(s, words))
	}
	return i, nil
}

func (l *loader) header(root *strictyaml.Node) (err error) {
	n, version := root.Get("oracle"), root.Get("version")
	if n == nil {
		return l.At(root, "the key oracle, its name, is missing")
	}
	if l.doc.name, err = l.Word(n, "the oracle's name"); err != nil {
		return err
	}
	if !isName(l.doc.name) {
		return l.At(n, "the oracle's name %q may hold letters, digits, - _ and . only", l.doc.name)
	}
	if version == nil {
		return l.At(root, "the key version is missing; this is version 1")
	}
	if version.Form != strictyaml.Scalar || version.Tag != "!!int" || version.Text != "1" {
		return l.At(version, "the version must be 1")
	}
	return nil
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

func (l *loader) fields(root *strictyaml.Node) (err error) {
	l.doc.fields, err = rule.ReadFields(&l.File, root.Get("fields"))
	return err
}

func (l *loader) lists(root *strictyaml.Node) error {
	n := root.Get("lists")
	if n == nil {
		return nil
	}
	if n.Form != strictyaml.Table {
		return l.At(n, "lists is a table from names to lists, such as {replicas: [0, 1, 2]}, and this is %s", n.Form)
	}
	l.doc.lists = map[string][]int64{}
	for i, k := range n.Keys {
		v := n.Items[i]
		if v.Form != strictyaml.List || len(v.Items) == 0 {
			return l.At(v, "the list %s must hold integers, such as [0, 1, 2]", k.Text)
		}
		for _, e := range v.Items {
			num, err := strconv.ParseInt(e.Text, 10, 64)
			if e.Form != strictyaml.Scalar || e.Tag != "!!int" || err != nil {
				return l.At(e, "the list %s holds integers only", k.Text)
			}
			l.doc.lists[k.Text] = append(l.doc.lists[k.Text], num)
		}
	}
	return nil
}

func (l *loader) scope(root *strictyaml.Node) error {
	i, err := l.choice(root, "scope", "key", "all")
	l.doc.allKeys = i == 1
	return err
}

// rules reads the lists hard and soft.
func (l *loader) rules(root *strictyaml.Node) error {
	names := map[string]int{}
	for _, key := range []string{"hard", "soft"} {
		n := root.Get(key)
		if n == nil {
			continue
		}
		if n.Form != strictyaml.List || len(n.Items) == 0 {
			return l.At(n, "%s is a list of rules; each stands on a line of its own behind a -", key)
		}
		for i, item := range n.Items {
			p, err := l.rule(item)
			if err != nil {
				return err
			}
			if p.name != "" && names[p.name] > 0 {
				return l.At(item, "two rules are named %s; the other is on line %d", p.name, names[p.name])
			}
			names[p.name] = item.Line
			p.soft, p.place = key == "soft", key+" "+strconv.Itoa(i+1)
			l.doc.rules = append(l.doc.rules, p)
		}
	}
	return nil
}

// rule reads one rule, a text or {name, when}.
func (l *loader) rule(n *strictyaml.Node) (*pairRule, error) {
	if n.Form == strictyaml.Scalar {
		return l.condition(n)
	}
	if n.Form == strictyaml.List {
		return nil, l.At(n, "a rule is a text or {name, when}, and this is a list%s", strictyaml.QuoteHint)
	}
	for _, k := range n.Keys {
		if k.Text != "name" && k.Text != "when" {
			hint := rule.DidYouMean(k.Text, []string{"name", "when"})
			if hint == "" {
				hint = `; if it is a condition, put the whole of it in quotes (": " in an unquoted text starts a value)`
			}
			return nil, l.At(k, "a rule is a text or has the keys name and when, and this has %s%s", k.Text, hint)
		}
	}
	when := n.Get("when")
	if when == nil {
		return nil, l.At(n, "the rule has no condition: the key when is missing")
	}
	p, err := l.condition(when)
	if err != nil {
		return nil, err
	}
	if name := n.Get("name"); name != nil {
		if p.name, err = l.Word(name, "the rule's name"); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// condition compiles the text of a rule.
func (l *loader) condition(n *strictyaml.Node) (*pairRule, error) {
	r, err := rule.ReadRule(&l.File, n, "a rule", l.doc.fields, l.doc.lists)
	return &pairRule{rule: r}, err
}
