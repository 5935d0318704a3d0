package oracles

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/oracles/rule"
)

// The keys of an oracle file, and those of the full language that are to come.
var (
	documentKeys = []string{"oracle", "version", "fields", "lists", "scope", "hard", "soft", "order_by", "strength", "ties", "only"}
	laterKeys    = []string{"unique", "reads_from", "deps"}
)

// document is an oracle as its file says it.
type document struct {
	name    string
	fields  rule.Fields
	lists   map[string][]int64
	allKeys bool
	orderBy *orderBy // nil: none
	rules   []*pairRule
}

// Load reads an oracle from YAML. The file is a table of these keys:
//
//	oracle: name            the name that stands in every reason
//	version: 1
//	fields: {f: int, g: string, h: [int]}   the hints that are used
//	lists: {xs: [0, 1, 2]}  constants; nothing reads them yet
//	scope: key | all        which pairs are ordered (default key)
//	hard: [rule, ...]       a comes before b where a rule is true
//	soft: [rule, ...]       what to try first; never decides a verdict
//	order_by: f             or [f, g], lexicographic, or {write: f, read: g}
//	strength: hard | soft   of order_by (default hard)
//	ties: concurrent | write_before_read | read_before_write   of order_by
//	only: [append, put]     the operations that order_by orders, by name
//
// A rule is a condition over the operations a and b (package rule), or {name,
// when}. An array under order_by is compared element by element, a shorter one
// before the longer ones that it begins.
//
// Everything else is an error, a *history.Error with line and column: an
// unknown or repeated key, an undeclared field, and whatever YAML would read
// differently from what was meant (tags, anchors, aliases, comments that cut a
// rule short).
func Load(path string, data []byte) (order.Oracle, error) {
	l := &loader{file: file{path, data}}
	root, err := l.parse()
	if err != nil {
		return order.Oracle{}, err
	}
	d, err := l.document(root)
	if err != nil {
		return order.Oracle{}, err
	}
	return order.Oracle{Name: d.name, AllKeys: d.allKeys, Order: d.order, Text: string(data)}, nil
}

// order is the Order function of the oracle.
func (d *document) order(v *history.View, r *order.Rules) error {
	several := len(d.rules) > 1 || len(d.rules) == 1 && d.orderBy != nil
	if o := d.orderBy; o != nil {
		c, err := o.clock(v, r)
		if err != nil {
			return err
		}
		name := ""
		if several {
			name = "order_by"
		}
		add(r, o.soft, name, c)
	}
	for _, p := range d.rules {
		rel, err := p.relation(v, d.allKeys, r)
		if err != nil {
			return err
		}
		name := p.name
		if name == "" && several {
			name = p.place
		}
		add(r, p.soft, name, rel)
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
	file
	doc document
}

func (l *loader) at(n *node, format string, args ...any) error {
	return l.errorf(n.line, n.col, format, args...)
}

// get returns the value of a key of a table, or nil.
func (n *node) get(key string) *node {
	for i, k := range n.keys {
		if k.text == key {
			return n.items[i]
		}
	}
	return nil
}

func (l *loader) document(root *node) (*document, error) {
	if root.form != table {
		return nil, l.at(root, "an oracle is a table of keys (%s), and this is %s", strings.Join(documentKeys, ", "), root.form)
	}
	for _, k := range root.keys {
		if slices.Contains(laterKeys, k.text) {
			return nil, l.at(k, "%s is not supported yet; the keys supported are %s", k.text, strings.Join(documentKeys, ", "))
		}
	}
	if err := l.knownKeys(root, "an oracle", documentKeys...); err != nil {
		return nil, err
	}
	// Fields come first: everything after them uses their types.
	for _, step := range []func(*node) error{l.header, l.fields, l.lists, l.scope, l.ordering, l.rules} {
		if err := step(root); err != nil {
			return nil, err
		}
	}
	if l.doc.orderBy == nil && len(l.doc.rules) == 0 {
		return nil, l.at(root, "the oracle orders nothing: it has none of hard, soft and order_by")
	}
	return &l.doc, nil
}

func (l *loader) knownKeys(n *node, what string, known ...string) error {
	for _, k := range n.keys {
		if !slices.Contains(known, k.text) {
			return l.at(k, "%s has no key %s%s; its keys are %s", what, k.text, rule.DidYouMean(k.text, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// word returns the text of a scalar that must be a string.
func (l *loader) word(n *node, what string) (string, error) {
	switch {
	case n.form != scalar:
		return "", l.at(n, "%s must be a text, and this is %s", what, n.form)
	case n.tag != "!!str":
		return "", l.at(n, "%s must be a text; YAML reads this as %s, so put it in quotes if it is meant", what, tagName(n.tag))
	case n.text == "":
		return "", l.at(n, "%s is empty", what)
	}
	return n.text, nil
}

// choice returns which of some words the key holds; the first is the default.
func (l *loader) choice(root *node, key string, words ...string) (int, error) {
	n := root.get(key)
	if n == nil {
		return 0, nil
	}
	s, err := l.word(n, key)
	if err != nil {
		return 0, err
	}
	i := slices.Index(words, s)
	if i < 0 {
		return 0, l.at(n, "%s is one of %s, not %s%s", key, strings.Join(words, ", "), s, rule.DidYouMean(s, words))
	}
	return i, nil
}

func (l *loader) header(root *node) (err error) {
	n, version := root.get("oracle"), root.get("version")
	if n == nil {
		return l.at(root, "the key oracle, its name, is missing")
	}
	if l.doc.name, err = l.word(n, "the oracle's name"); err != nil {
		return err
	}
	if !isName(l.doc.name) {
		return l.at(n, "the oracle's name %q may hold letters, digits, - _ and . only", l.doc.name)
	}
	if version == nil {
		return l.at(root, "the key version is missing; this is version 1")
	}
	if version.form != scalar || version.tag != "!!int" || version.text != "1" {
		return l.at(version, "the version must be 1")
	}
	return nil
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

func (l *loader) fields(root *node) error {
	l.doc.fields = rule.Fields{}
	n := root.get("fields")
	if n == nil {
		return nil
	}
	if n.form != table {
		return l.at(n, "fields is a table from names to types, such as {revision: int}, and this is %s", n.form)
	}
	for i, k := range n.keys {
		if rule.IsBuiltin(k.text) {
			return l.at(k, "%s is built in: every operation has it, and no hint can be declared under its name", k.text)
		}
		typ, err := l.fieldType(n.items[i])
		if err != nil {
			return err
		}
		l.doc.fields[k.text] = typ
	}
	return nil
}

func (l *loader) fieldType(n *node) (rule.Type, error) {
	const types = "a type is int, string or [int]"
	inner := n
	if n.form == list && len(n.items) == 1 {
		inner = n.items[0]
	}
	if inner.form != scalar || inner.tag != "!!str" {
		return 0, l.at(n, types)
	}
	switch {
	case inner.text == "int" && n.form == list:
		return rule.Ints, nil
	case inner.text == "int":
		return rule.Int, nil
	case inner.text == "string" && n.form == scalar:
		return rule.Str, nil
	}
	return 0, l.at(inner, "%s, not %s%s", types, inner.text, rule.DidYouMean(inner.text, []string{"int", "string"}))
}

func (l *loader) lists(root *node) error {
	n := root.get("lists")
	if n == nil {
		return nil
	}
	if n.form != table {
		return l.at(n, "lists is a table from names to lists, such as {replicas: [0, 1, 2]}, and this is %s", n.form)
	}
	l.doc.lists = map[string][]int64{}
	for i, k := range n.keys {
		v := n.items[i]
		if v.form != list || len(v.items) == 0 {
			return l.at(v, "the list %s must hold integers, such as [0, 1, 2]", k.text)
		}
		for _, e := range v.items {
			num, err := strconv.ParseInt(e.text, 10, 64)
			if e.form != scalar || e.tag != "!!int" || err != nil {
				return l.at(e, "the list %s holds integers only", k.text)
			}
			l.doc.lists[k.text] = append(l.doc.lists[k.text], num)
		}
	}
	return nil
}

func (l *loader) scope(root *node) error {
	i, err := l.choice(root, "scope", "key", "all")
	l.doc.allKeys = i == 1
	return err
}

// rules reads the lists hard and soft.
func (l *loader) rules(root *node) error {
	names := map[string]int{}
	for _, key := range []string{"hard", "soft"} {
		n := root.get(key)
		if n == nil {
			continue
		}
		if n.form != list || len(n.items) == 0 {
			return l.at(n, "%s is a list of rules; each stands on a line of its own behind a -", key)
		}
		for i, item := range n.items {
			p, err := l.rule(item)
			if err != nil {
				return err
			}
			if p.name != "" && names[p.name] > 0 {
				return l.at(item, "two rules are named %s; the other is on line %d", p.name, names[p.name])
			}
			names[p.name] = item.line
			p.soft, p.place = key == "soft", key+" "+strconv.Itoa(i+1)
			l.doc.rules = append(l.doc.rules, p)
		}
	}
	return nil
}

// rule reads one rule, a text or {name, when}.
func (l *loader) rule(n *node) (*pairRule, error) {
	if n.form == scalar {
		return l.condition(n)
	}
	if n.form == list {
		return nil, l.at(n, "a rule is a text or {name, when}, and this is a list%s", quoteHint)
	}
	for _, k := range n.keys {
		if k.text != "name" && k.text != "when" {
			hint := rule.DidYouMean(k.text, []string{"name", "when"})
			if hint == "" {
				hint = `; if it is a condition, put the whole of it in quotes (": " in an unquoted text starts a value)`
			}
			return nil, l.at(k, "a rule is a text or has the keys name and when, and this has %s%s", k.text, hint)
		}
	}
	when := n.get("when")
	if when == nil {
		return nil, l.at(n, "the rule has no condition: the key when is missing")
	}
	p, err := l.condition(when)
	if err != nil {
		return nil, err
	}
	if name := n.get("name"); name != nil {
		if p.name, err = l.word(name, "the rule's name"); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// condition compiles the text of a rule.
func (l *loader) condition(n *node) (*pairRule, error) {
	text, err := l.word(n, "a rule")
	if err != nil {
		return nil, err
	}
	if n.quoting == plain && n.comment {
		return nil, l.at(n, `" #" starts a comment, so the rule ends there: %s; put the rule in quotes, or the comment on a line of its own`, text)
	}
	r, err := rule.Compile(text, l.doc.fields)
	var bad *rule.Error
	if errors.As(err, &bad) {
		line, col := l.position(n, bad.Offset)
		return nil, l.errorf(line, col, "%s\n%s", bad.Msg, bad.Caret())
	}
	return &pairRule{rule: r}, err
}
