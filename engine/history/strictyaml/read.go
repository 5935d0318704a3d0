package strictyaml

import (
	"slices"
	"strings"

	"pinyon/engine/history/suggest"
)

// At is an error at a node's place.
func (f *File) At(n *Node, format string, args ...any) error {
	return f.errorf(n.Line, n.Col, format, args...)
}

// Errorf is an error at a line and column, from 1; 0 leaves one out.
func (f *File) Errorf(line, col int, format string, args ...any) error {
	return f.errorf(line, col, format, args...)
}

// Get returns the value of a key of a table, or nil.
func (n *Node) Get(key string) *Node {
	for i, k := range n.Keys {
		if k.Text == key {
			return n.Items[i]
		}
	}
	return nil
}

// KnownKeys refuses a table that has a key which is none of known. what names
// the table: "an oracle".
func (f *File) KnownKeys(n *Node, what string, known ...string) error {
	for _, k := range n.Keys {
		if !slices.Contains(known, k.Text) {
			return f.At(k, "%s has no key %s%s; its keys are %s", what, k.Text, didYouMean(k.Text, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// didYouMean names the known word nearest to name, for the end of a message.
func didYouMean(name string, known []string) string {
	if near := suggest.Closest(name, slices.Sorted(slices.Values(known))); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// Word returns the text of a scalar that must be a string and not empty. what
// names it in errors.
func (f *File) Word(n *Node, what string) (string, error) {
	switch {
	case n.Form != Scalar:
		return "", f.At(n, "%s must be a text, and this is %s", what, n.Form)
	case n.Tag != "!!str":
		return "", f.At(n, "%s must be a text; YAML reads this as %s, so put it in quotes if it is meant", what, TagName(n.Tag))
	case n.Text == "":
		return "", f.At(n, "%s is empty", what)
	}
	return n.Text, nil
}
