package oracles

import (
	"slices"
	"strconv"
	"time"

	"pinyon/engine/history/strictyaml"
	"pinyon/oracles/rule"
)

// facts reads unique, reads_from, deps and staleness.
func (l *loader) facts(root *strictyaml.Node) error {
	for _, step := range []func(*strictyaml.Node) error{l.unique, l.readsFrom, l.deps, l.staleness} {
		if err := step(root); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) unique(root *strictyaml.Node) (err error) {
	n := root.Get("unique")
	if n == nil {
		return nil
	}
	if n.Form == strictyaml.Table {
		if err = l.table(n, "unique", "{of: revision, except: [compact]}", "of", "except"); err != nil {
			return err
		}
		if l.doc.except, err = l.names(n.Get("except"), "except"); err != nil {
			return err
		}
		n = n.Get("of")
	}
	if n.Form == strictyaml.Table || n.Form == strictyaml.List && len(n.Items) == 0 {
		return l.At(n, "unique takes a field, a list of fields, or {of: field, except: [name]}")
	}
	fields := []*strictyaml.Node{n}
	if n.Form == strictyaml.List {
		fields = n.Items
	}
	for _, f := range fields {
		name, typ, err := l.field(f, "unique")
		if err != nil {
			return err
		}
		l.doc.unique = append(l.doc.unique, part{name, typ})
	}
	return nil
}

// table checks that the node has exactly the given keys.
func (l *loader) table(n *strictyaml.Node, what, example string, keys ...string) error {
	if n.Form != strictyaml.Table {
		return l.At(n, "%s is a table, such as %s, and this is %s", what, example, n.Form)
	}
	if err := l.KnownKeys(n, what, keys...); err != nil {
		return err
	}
	for _, k := range keys {
		if n.Get(k) == nil {
			return l.At(n, "%s has the keys of %s, and %s is missing", what, example, k)
		}
	}
	return nil
}

// field reads the name of a declared field.
func (l *loader) field(n *strictyaml.Node, what string, types ...rule.Type) (string, rule.Type, error) {
	name, err := l.Word(n, "a field of "+what)
	if err != nil {
		return "", 0, err
	}
	typ, ok := l.doc.fields[name]
	if !ok {
		var known []string
		for k := range l.doc.fields {
			known = append(known, k)
		}
		return "", 0, l.At(n, "the field %s is not declared%s; declare it under fields, such as {%s: int}", name, rule.DidYouMean(name, known), name)
	}
	if len(types) > 0 && !slices.Contains(types, typ) {
		return "", 0, l.At(n, "%s takes %s here, and %s is %s", what, types[0], name, typ)
	}
	return name, typ, nil
}

func (l *loader) readsFrom(root *strictyaml.Node) (err error) {
	n := root.Get("reads_from")
	if n == nil {
		return nil
	}
	if err = l.table(n, "reads_from", "{read: mod_revision, write: revision}", "read", "write"); err != nil {
		return err
	}
	f := &readsFrom{}
	if f.read, _, err = l.field(n.Get("read"), "reads_from", rule.Int); err != nil {
		return err
	}
	if f.write, _, err = l.field(n.Get("write"), "reads_from", rule.Int); err != nil {
		return err
	}
	o := l.doc.orderBy
	f.grows = o != nil && !o.soft && len(o.write) == 1 && o.write[0].name == f.write && o.only == nil
	l.doc.readsFrom = f
	return nil
}

func (l *loader) deps(root *strictyaml.Node) (err error) {
	n := root.Get("deps")
	if n == nil {
		return nil
	}
	if err = l.table(n, "deps", "{replica: replica, inst: inst, deps: deps, seq: seq}", "replica", "inst", "deps", "seq"); err != nil {
		return err
	}
	d := &depsNames{}
	for _, f := range []struct {
		key string
		to  *string
		typ rule.Type
	}{{"replica", &d.replica, rule.Int}, {"inst", &d.inst, rule.Int}, {"deps", &d.deps, rule.Ints}, {"seq", &d.seq, rule.Int}} {
		if *f.to, _, err = l.field(n.Get(f.key), "deps", f.typ); err != nil {
			return err
		}
	}
	l.doc.deps = d
	return nil
}

func (l *loader) staleness(root *strictyaml.Node) (err error) {
	n := root.Get("staleness")
	if n == nil {
		return nil
	}
	const example = "{write: index, read: applied, entries: 3, time: 100ms}"
	if err = l.table(n, "staleness", example, "write", "read", "entries", "time"); err != nil {
		return err
	}
	s := &staleness{}
	if s.write, _, err = l.field(n.Get("write"), "staleness", rule.Int); err != nil {
		return err
	}
	if s.read, _, err = l.field(n.Get("read"), "staleness", rule.Int); err != nil {
		return err
	}
	entries, bound := n.Get("entries"), n.Get("time")
	s.entries, err = strconv.ParseInt(entries.Text, 10, 64)
	if entries.Form != strictyaml.Scalar || entries.Tag != "!!int" || err != nil || s.entries < 0 {
		return l.At(entries, "entries is how many entries of the log a read may lag, a whole number from 0")
	}
	if s.time, err = time.ParseDuration(bound.Text); bound.Form != strictyaml.Scalar || err != nil || s.time < 0 {
		return l.At(bound, "time is how long a read may miss a write that was acknowledged, such as 100ms or 0s")
	}
	l.doc.staleness = s
	return nil
}
