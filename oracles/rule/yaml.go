package rule

import (
	"errors"

	"pinyon/engine/history/strictyaml"
)

// ReadFields reads the table that declares fields, such as {revision: int};
// nil is an empty one. Errors are *history.Error.
func ReadFields(f *strictyaml.File, n *strictyaml.Node) (Fields, error) {
	fields := Fields{}
	if n == nil {
		return fields, nil
	}
	if n.Form != strictyaml.Table {
		return nil, f.At(n, "fields is a table from names to types, such as {revision: int}, and this is %s", n.Form)
	}
	for i, k := range n.Keys {
		if IsBuiltin(k.Text) {
			return nil, f.At(k, "%s is built in: every operation has it, and no hint can be declared under its name", k.Text)
		}
		typ, err := fieldType(f, n.Items[i])
		if err != nil {
			return nil, err
		}
		fields[k.Text] = typ
	}
	return fields, nil
}

func fieldType(f *strictyaml.File, n *strictyaml.Node) (Type, error) {
	const types = "a type is int, string or [int]"
	inner := n
	if n.Form == strictyaml.List && len(n.Items) == 1 {
		inner = n.Items[0]
	}
	if inner.Form != strictyaml.Scalar || inner.Tag != "!!str" {
		return 0, f.At(n, types)
	}
	switch {
	case inner.Text == "int" && n.Form == strictyaml.List:
		return Ints, nil
	case inner.Text == "int":
		return Int, nil
	case inner.Text == "string" && n.Form == strictyaml.Scalar:
		return Str, nil
	}
	return 0, f.At(inner, "%s, not %s%s", types, inner.Text, DidYouMean(inner.Text, []string{"int", "string"}))
}

// ReadCondition compiles the condition that a node of a file holds. what names
// it in errors, which are *history.Error and point at the fault in the text.
func ReadCondition(f *strictyaml.File, n *strictyaml.Node, what string, fields Fields) (*Rule, error) {
	return read(f, n, what, func(text string) (*Rule, error) { return Compile(text, fields) })
}

// ReadRule is ReadCondition for a rule with quantifiers over the given lists.
func ReadRule(f *strictyaml.File, n *strictyaml.Node, what string, fields Fields, lists map[string][]int64) (*Rule, error) {
	return read(f, n, what, func(text string) (*Rule, error) { return CompileRule(text, fields, lists) })
}

func read(f *strictyaml.File, n *strictyaml.Node, what string, compile func(text string) (*Rule, error)) (*Rule, error) {
	text, err := f.Word(n, what)
	if err != nil {
		return nil, err
	}
	if n.Quoting == strictyaml.Plain && n.Comment {
		return nil, f.At(n, `" #" starts a comment, so the rule ends there: %s; put the rule in quotes, or the comment on a line of its own`, text)
	}
	r, err := compile(text)
	var bad *Error
	if errors.As(err, &bad) {
		line, col := f.Position(n, bad.Offset)
		return nil, f.Errorf(line, col, "%s\n%s", bad.Msg, bad.Caret())
	}
	return r, err
}
