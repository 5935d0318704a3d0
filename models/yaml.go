package models

import (
	"errors"
	"go/token"
	"slices"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/history/strictyaml"
	"pinyon/engine/spec"
	"pinyon/oracles/rule"
)

// The keys of a model file, of its operations, and of what follows an else.
var (
	modelKeys     = []string{"model", "version", "doc", "initial", "operations"}
	operationKeys = []string{"f", "input", "when", "next", "output", "else"}
	elseKeys      = []string{"when", "next", "output", "else"}
)

// Load reads a model of a register-like object from YAML: its state is one
// value. The file is a table of these keys:
//
//	model: lease            its name
//	version: 1
//	doc: what it is         optional
//	initial: null           the state before any operation, a JSON value
//	operations:
//	  - f: [take, acquire]  the operation's name, or a list of its names
//	    input: client       a name for the input, or [from, to] for the parts of
//	                        a list, or {from: a, to: b} for those of an object;
//	                        the names input and nothing else where it is left out
//	    when: state == null when it has this effect (left out: always)
//	    next: client        the state afterwards (left out: it stays)
//	    output: true        the answer (left out: none; any: whatever it is)
//	    else: {output: false}  the same keys for when the condition does not
//	                        hold; left out, the operation is then impossible
//
// when, next and output are Go expressions over state, input and its named
// parts, and under output next; see docs/MODELS.md for the language.
//
// What levels and searches ask of a model (what is a read, what an operation
// demands and writes) is derived from the expressions. Errors are
// *history.Error with line and column.
func Load(path string, data []byte) (Entry, error) {
	l := &modelLoader{File: strictyaml.File{Path: path, Data: data, What: "a model", Has: "the keys model, version, initial and operations"}}
	root, err := l.Parse()
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Text: string(data)}
	if err := l.header(root, &e); err != nil {
		return e, err
	}
	if err := l.operations(root); err != nil {
		return e, err
	}
	e.Initial = "any value; " + l.initial.Label()
	var rows []operation[fileIn, fileOut]
	for _, o := range l.ops {
		rows = append(rows, o.operation())
	}
	return entry(e, rows, func(initial history.Value) (spec.Model[history.Value, fileIn, fileOut], error) {
		if initial == history.Absent {
			initial = l.initial
		}
		return fileModel(e.Name, initial), nil
	}), nil
}

// modelLoader gives meaning to the nodes of one file.
type modelLoader struct {
	strictyaml.File
	initial history.Value
	ops     []*fileOp
	names   map[string]int // of operations, with the line of each
}

func (l *modelLoader) header(root *strictyaml.Node, e *Entry) (err error) {
	if root.Form != strictyaml.Table {
		return l.At(root, "a model is a table of keys (%s), and this is %s", strings.Join(modelKeys, ", "), root.Form)
	}
	if err := l.KnownKeys(root, "a model", modelKeys...); err != nil {
		return err
	}
	n := root.Get("model")
	if n == nil {
		return l.At(root, "the key model, its name, is missing")
	}
	if e.Name, err = l.Word(n, "the model's name"); err != nil {
		return err
	}
	if !isFileName(e.Name) {
		return l.At(n, "the model's name %q may hold letters, digits, - _ and . only", e.Name)
	}
	switch n := root.Get("version"); {
	case n == nil:
		return l.At(root, "the key version is missing; this is version 1")
	case n.Form != strictyaml.Scalar || n.Tag != "!!int" || n.Text != "1":
		return l.At(n, "the version must be 1")
	}
	e.Doc = "A model of one value, read from " + l.Path + "."
	if n := root.Get("doc"); n != nil {
		if e.Doc, err = l.Word(n, "doc"); err != nil {
			return err
		}
		e.Doc = strings.TrimSpace(e.Doc)
	}
	if n = root.Get("initial"); n == nil {
		return l.At(root, "the key initial, the state before any operation, is missing; initial: null is nothing")
	}
	l.initial, err = l.value(n)
	return err
}

func isFileName(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// value reads a JSON value that is written as YAML.
func (l *modelLoader) value(n *strictyaml.Node) (history.Value, error) {
	switch n.Form {
	case strictyaml.List:
		var list []history.Value
		for _, item := range n.Items {
			v, err := l.value(item)
			if err != nil {
				return v, err
			}
			list = append(list, v)
		}
		return history.Array(list...), nil
	case strictyaml.Table:
		var members []history.Member
		for i, k := range n.Keys {
			v, err := l.value(n.Items[i])
			if err != nil {
				return v, err
			}
			members = append(members, history.Member{Key: history.String(k.Text), Value: v})
		}
		v, err := history.Object(members...)
		if err != nil {
			return v, l.At(n, "%v", err)
		}
		return v, nil
	}
	if n.Tag == "!!str" {
		return history.String(n.Text), nil
	}
	if v, err := history.ParseValue(n.Text); err == nil {
		return v, nil
	}
	if n.Tag == "!!null" && n.Text == "" {
		return history.Absent, l.At(n, "the value is missing; nothing is written null")
	}
	return history.Absent, l.At(n, "%s is not how JSON writes a value; YAML reads it as %s, so put it in quotes if it is a text", n.Text, strictyaml.TagName(n.Tag))
}

func (l *modelLoader) operations(root *strictyaml.Node) error {
	n := root.Get("operations")
	if n == nil {
		return l.At(root, "the key operations is missing; a model has at least one")
	}
	if n.Form != strictyaml.List || len(n.Items) == 0 {
		return l.At(n, "operations is a list; each begins with - f: NAME")
	}
	l.names = map[string]int{}
	for _, item := range n.Items {
		o, err := l.operation(item)
		if err != nil {
			return err
		}
		l.ops = append(l.ops, o)
	}
	return nil
}

func (l *modelLoader) operation(n *strictyaml.Node) (*fileOp, error) {
	if n.Form != strictyaml.Table {
		return nil, l.At(n, "an operation is a table of keys (%s), and this is %s", strings.Join(operationKeys, ", "), n.Form)
	}
	if err := l.KnownKeys(n, "an operation", operationKeys...); err != nil {
		return nil, err
	}
	o := &fileOp{parts: []string{"input"}, members: []string{""}}
	if err := l.opNames(n, o); err != nil {
		return nil, err
	}
	if err := l.input(n.Get("input"), o); err != nil {
		return nil, err
	}
	c := &exprCompiler{parts: o.parts}
	c.needs, c.asked, c.used = make([]exprKind, len(o.parts)), make([]bool, len(o.parts)), make([]bool, len(o.parts))
	if err := l.cases(n, c, o); err != nil {
		return nil, err
	}
	for i, asked := range c.asked {
		if asked {
			c.needs[i] = anyKind // the file itself tells the kinds apart
		}
	}
	o.needs = c.needs
	if o.shape == noParts && c.used[wholeInput] {
		o.shape = wholeShape
	}
	o.In, o.Out = o.describeIn(), o.describeOut()
	return o, nil
}

// opNames reads the names of an operation, spelt as the histories' are once
// they are folded.
func (l *modelLoader) opNames(n *strictyaml.Node, o *fileOp) error {
	f := n.Get("f")
	if f == nil {
		return l.At(n, "the key f, the operation's name, is missing")
	}
	items := []*strictyaml.Node{f}
	if f.Form == strictyaml.List {
		items = f.Items
	}
	if len(items) == 0 {
		return l.At(f, "f is a name or a list of names, such as [read, get]")
	}
	for i, item := range items {
		name, err := l.Word(item, "the operation's name")
		if err != nil {
			return err
		}
		name = fold(name)
		if line := l.names[name]; line > 0 {
			return l.At(item, "two operations are named %s; the other is on line %d", name, line)
		}
		l.names[name] = item.Line
		if i == 0 {
			o.F = name
		} else {
			o.Aliases = append(o.Aliases, name)
		}
	}
	return nil
}

// input reads the names of an input's parts.
func (l *modelLoader) input(n *strictyaml.Node, o *fileOp) error {
	if n == nil {
		return nil
	}
	var items []*strictyaml.Node
	switch n.Form {
	case strictyaml.Scalar:
		o.shape, items = wholeShape, []*strictyaml.Node{n}
		if n.Text == "input" {
			return nil // its name already
		}
	case strictyaml.List:
		o.shape, items = listShape, n.Items
	case strictyaml.Table:
		o.shape, items = objectShape, n.Items
		for _, k := range n.Keys {
			o.members = append(o.members, k.Text)
		}
	}
	if len(items) == 0 || len(items) > maxParts {
		return l.At(n, "an input has 1 to %d named parts, and this has %d", maxParts, len(items))
	}
	for _, item := range items {
		name, err := l.Word(item, "the name of an input's part")
		switch {
		case err != nil:
			return err
		case slices.Contains(reserved, name):
			return l.At(item, "%s has a meaning of its own; give this part of the input another name", name)
		case !token.IsIdentifier(name):
			return l.At(item, "%q cannot be a name here: a name begins with a letter, holds letters, digits and _, and is no keyword of Go", name)
		case slices.Contains(o.parts, name):
			return l.At(item, "two parts of the input are named %s", name)
		}
		o.parts = append(o.parts, name)
	}
	return nil
}

// cases reads when, next, output and what follows else.
func (l *modelLoader) cases(n *strictyaml.Node, c *exprCompiler, o *fileOp) (err error) {
	var k fileCase
	when, next, output, otherwise := n.Get("when"), n.Get("next"), n.Get("output"), n.Get("else")
	if when != nil {
		if when.Form != strictyaml.Scalar {
			return l.At(when, "when is a condition, such as state == null, and this is %s", when.Form)
		}
		if k.when, err = l.expression(when, c.condition); err != nil {
			return err
		}
	}
	c.next = nil
	if next != nil {
		if k.next, err = l.expression(next, c.compile); err != nil {
			return err
		}
	}
	if c.next = k.next; next == nil {
		c.next = &expr{op: opState, text: "state"}
	}
	if k.next != nil && k.next.op == opState {
		k.next = nil
	}
	if k.output.any = output != nil && output.Form == strictyaml.Scalar && output.Text == "any"; output != nil && !k.output.any {
		if k.output.value, err = l.expression(output, c.compile); err != nil {
			return err
		}
	}
	c.next = nil
	o.cases = append(o.cases, k)
	switch {
	case otherwise == nil:
		return nil
	case when == nil:
		return l.At(otherwise, "else belongs to when, which is missing here")
	case otherwise.Form != strictyaml.Table:
		return l.At(otherwise, "else is a table of keys (%s), and this is %s", strings.Join(elseKeys, ", "), otherwise.Form)
	}
	if err := l.KnownKeys(otherwise, "an else", elseKeys...); err != nil {
		return err
	}
	return l.cases(otherwise, c, o)
}

// expression compiles the text of a node; what YAML reads as no text is the
// value itself.
func (l *modelLoader) expression(n *strictyaml.Node, compile func(string) (*expr, error)) (*expr, error) {
	if n.Form != strictyaml.Scalar {
		v, err := l.value(n)
		return literalOf(v, v.Text()), err
	}
	if n.Tag != "!!str" {
		if _, err := l.value(n); err != nil {
			return nil, err
		}
	}
	x, err := compile(n.Text)
	var bad *rule.Error
	if errors.As(err, &bad) {
		hint := ""
		if n.Quoting == strictyaml.Plain && n.Comment {
			hint = `; " #" starts a comment, and the expression ends there`
		}
		line, col := l.Position(n, bad.Offset)
		return nil, l.Errorf(line, col, "%s%s\n%s", bad.Msg, hint, bad.Caret())
	}
	return x, err
}
