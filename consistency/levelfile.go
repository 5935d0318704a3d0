package consistency

import (
	"fmt"
	"strings"
	"sync"

	"pinyon/engine/history"
	"pinyon/engine/history/strictyaml"
	"pinyon/engine/order"
	"pinyon/oracles/rule"
)

// levelFile is a level per operation as its file says it.
type levelFile struct {
	strictyaml.File
	name    string
	fields  rule.Fields
	classes []class
}

// class is one line of operations: whom it is about, and what it promises.
type class struct {
	when *rule.Rule
	what Entitlement
}

// LoadLevel reads a level per operation from YAML. The file is a table:
//
//	level: name             the name that stands in every verdict
//	version: 1
//	fields: {f: int, g: string, h: [int]}   the hints that are used
//	operations:             the first class whose condition is true decides;
//	  - when: a.kind == "read" && a.cache == "hit"    what none matches is linearizable
//	    level: bounded-staleness:t=100ms    or linearizable, or serializable
//	    session: keep | drop                does the order of its process count (default keep)
//
// A condition is one of package rule about the operation a; where it lacks a
// field it is not true. bounded-staleness:t is a promise about reads: what
// matches and is not a read stays linearizable. Errors are *history.Error with
// line and column.
func LoadLevel(path string, data []byte) (Level, error) {
	f := &levelFile{File: strictyaml.File{Path: path, Data: data, What: "a level", Has: "the keys level, version and operations"}}
	root, err := f.Parse()
	if err != nil {
		return Level{}, err
	}
	if err := f.read(root); err != nil {
		return Level{}, err
	}
	l := PerOperation(f.name, f.classifier())
	l.text, l.Order = string(data), f.ordering(l.Order)
	return l, nil
}

// ordering is the order of the level, with a look at what the classes ask.
func (f *levelFile) ordering(inner func(v *history.View, r *order.Rules) error) func(v *history.View, r *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		for k, c := range f.classes {
			b, err := c.when.Bind(v)
			if err != nil {
				return err
			}
			lacking := 0
			for i := range int32(v.N) {
				if b.Eval(i, i) == rule.Unknown {
					lacking++
				}
			}
			if lacking > 0 {
				r.Notice("%d of %d operations lack what class %d of level %s asks for; it is not theirs", lacking, v.N, k+1, f.name)
			}
		}
		return inner(v, r)
	}
}

// Text is the file that defines a level per operation, "" for other levels.
func (l Level) Text() string { return l.text }

// Entitled says what operation i of v is promised, at a level per operation;
// nil at others.
func (l Level) Entitled() func(v *history.View, i int32) Entitlement { return l.entitled }

func (f *levelFile) read(root *strictyaml.Node) (err error) {
	if root.Form != strictyaml.Table {
		return f.At(root, "a level is a table of the keys level, version, fields and operations, and this is %s", root.Form)
	}
	if err := f.KnownKeys(root, "a level", "level", "version", "fields", "operations"); err != nil {
		return err
	}
	name, version, ops := root.Get("level"), root.Get("version"), root.Get("operations")
	for _, k := range []struct {
		n    *strictyaml.Node
		what string
	}{{name, "level, its name,"}, {version, "version"}, {ops, "operations, its classes,"}} {
		if k.n == nil {
			return f.At(root, "the key %s is missing", k.what)
		}
	}
	if f.name, err = f.Word(name, "the level's name"); err != nil {
		return err
	}
	if err := f.ownName(name); err != nil {
		return err
	}
	if version.Form != strictyaml.Scalar || version.Tag != "!!int" || version.Text != "1" {
		return f.At(version, "the version must be 1")
	}
	if f.fields, err = rule.ReadFields(&f.File, root.Get("fields")); err != nil {
		return err
	}
	if ops.Form != strictyaml.List || len(ops.Items) == 0 {
		return f.At(ops, "operations is a list of classes; each stands behind a - with the keys when, level and session")
	}
	for _, n := range ops.Items {
		c, err := f.class(n)
		if err != nil {
			return err
		}
		f.classes = append(f.classes, c)
	}
	return nil
}

// ownName keeps the names of levels apart.
func (f *levelFile) ownName(n *strictyaml.Node) error {
	if strings.Trim(f.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
		return f.At(n, "the level's name %q may hold letters, digits, - _ and . only", f.name)
	}
	for _, known := range append(Names(), "all", "osc", "rsc") {
		if f.name == known {
			return f.At(n, "%s is the name of another level", f.name)
		}
	}
	return nil
}

func (f *levelFile) class(n *strictyaml.Node) (c class, err error) {
	if n.Form != strictyaml.Table {
		return c, f.At(n, "a class is a table of the keys when, level and session, and this is %s", n.Form)
	}
	if err := f.KnownKeys(n, "a class", "when", "level", "session"); err != nil {
		return c, err
	}
	when, level := n.Get("when"), n.Get("level")
	if when == nil || level == nil {
		return c, f.At(n, "a class has both keys, when and level")
	}
	if c.when, err = f.condition(when); err != nil {
		return c, err
	}
	if c.what, err = f.promise(level); err != nil {
		return c, err
	}
	session := n.Get("session")
	if session == nil {
		return c, nil
	}
	word, err := f.Word(session, "session")
	switch {
	case err != nil:
		return c, err
	case word != "keep" && word != "drop":
		return c, f.At(session, "session is keep or drop, and not %s", word)
	}
	c.what.Sessionless = word == "drop"
	return c, nil
}

func (f *levelFile) condition(n *strictyaml.Node) (*rule.Rule, error) {
	r, err := rule.ReadCondition(&f.File, n, "when", f.fields)
	if err == nil && !r.OnlyA() {
		return nil, f.At(n, "the condition of a class is about one operation, a; this one mentions b")
	}
	return r, err
}

// promise reads the level of a class.
func (f *levelFile) promise(n *strictyaml.Node) (e Entitlement, err error) {
	word, err := f.Word(n, "level")
	if err != nil {
		return e, err
	}
	switch base, rest, _ := strings.Cut(word, ":"); {
	case word == "linearizable":
		return e, nil
	case word == "serializable":
		return Entitlement{Untimed: true}, nil
	case base == "bounded-staleness":
		p, err := parseParams(rest)
		if err == nil {
			err = p.only(false, true)
		}
		if err != nil {
			return e, f.At(n, "level %s: %v", word, err)
		}
		return Entitlement{Early: p.t}, nil
	}
	return e, f.At(n, "the level of a class is linearizable, serializable or bounded-staleness:t=DURATION, and not %s", word)
}

// classifier binds the conditions to a View when it is first asked about it.
func (f *levelFile) classifier() func(v *history.View, i int32) Entitlement {
	var mutex sync.Mutex
	var bound *history.View
	var conditions []*rule.Bound
	bind := func(v *history.View) []*rule.Bound {
		mutex.Lock()
		defer mutex.Unlock()
		if bound == v {
			return conditions
		}
		var fresh []*rule.Bound
		for _, c := range f.classes {
			b, err := c.when.Bind(v)
			if err != nil {
				panic(fmt.Errorf("a class of %s: %w", f.name, err))
			}
			fresh = append(fresh, b)
		}
		bound, conditions = v, fresh
		return fresh
	}
	return func(v *history.View, i int32) Entitlement {
		for k, b := range bind(v) {
			if b.Eval(i, i) == rule.True {
				return f.classes[k].what
			}
		}
		return Entitlement{}
	}
}
