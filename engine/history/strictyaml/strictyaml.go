// Package strictyaml reads the YAML files that people write for this project
// (oracles, levels, models) so that nothing in them can mean two things: tags,
// anchors, aliases, merge keys and repeated keys are refused, and an error has
// line, column and what to do.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"pinyon/engine/history"
)

// Form says what a node of the file is.
type Form uint8

// The forms.
const (
	Scalar Form = iota
	List
	Table
)

func (f Form) String() string { return [...]string{"a single value", "a list", "a table of keys"}[f] }

// Quoting says how a scalar was written.
type Quoting uint8

// The ways to write a scalar.
const (
	Plain Quoting = iota
	SingleQuoted
	DoubleQuoted
	Block // after | or >
)

// Node is one piece of the file. Only what can mean one thing gets this far:
// no explicit tags, anchors, aliases, merge keys or repeated keys.
type Node struct {
	Form      Form
	Tag       string // of a scalar: "!!str", "!!int", "!!null", ...
	Text      string // of a scalar
	Quoting   Quoting
	Comment   bool // a comment stands behind a scalar on its line
	Line, Col int
	Keys      []*Node // of a table
	Items     []*Node // of a list, or the values of a table
}

// File is a YAML text, and what messages say about it.
type File struct {
	Path string
	Data []byte
	What string // "an oracle": what a file holds one of
	Has  string // "the keys oracle, version and an order": what it has at least
}

func (f *File) errorf(line, col int, format string, args ...any) error {
	return &history.Error{Path: f.Path, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// Parse reads the one document that the file must hold. Errors are
// *history.Error.
func (f *File) Parse() (*Node, error) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(f.Data))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && (len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].ShortTag() == "!!null") {
		return nil, f.errorf(1, 0, "the file is empty; %s has at least %s", f.What, f.Has)
	}
	if err != nil {
		return nil, f.syntax(err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, f.errorf(more.Line, 0, "a second document begins here; a file holds %s", one(f.What))
	} else if !errors.Is(err, io.EOF) {
		return nil, f.syntax(err)
	}
	return f.convert(doc.Content[0])
}

// one turns "an oracle" into "one oracle".
func one(what string) string {
	_, noun, _ := strings.Cut(what, " ")
	return "one " + noun
}

// QuoteHint says what a leading character does to an unquoted text.
const QuoteHint = `; if this is a rule, put the whole of it in quotes: a text that begins with ! * & [ { > | % @ " ' or a backtick means something else to YAML`

// convert refuses everything in n that a reader could take for something else.
func (f *File) convert(n *yaml.Node) (*Node, error) {
	fail := func(format string, args ...any) (*Node, error) {
		return nil, f.errorf(n.Line, n.Column, format, args...)
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return fail("*%s is an alias, and aliases are refused%s", n.Value, QuoteHint)
	case n.Anchor != "":
		return fail("&%s is an anchor, and anchors are refused%s", n.Anchor, QuoteHint)
	case n.Style&yaml.TaggedStyle != 0:
		return fail("%s is read as a YAML tag, and tags are refused%s", n.Tag, QuoteHint)
	}
	out := &Node{Text: n.Value, Tag: n.ShortTag(), Line: n.Line, Col: n.Column, Comment: n.LineComment != ""}
	switch n.Kind {
	case yaml.ScalarNode:
		switch {
		case n.Style&yaml.SingleQuotedStyle != 0:
			out.Quoting = SingleQuoted
		case n.Style&yaml.DoubleQuotedStyle != 0:
			out.Quoting = DoubleQuoted
		case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			out.Quoting = Block
		}
		return out, nil
	case yaml.SequenceNode:
		out.Form = List
		for _, c := range n.Content {
			item, err := f.convert(c)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
		return out, nil
	case yaml.MappingNode:
		out.Form = Table
		return out, f.convertTable(n, out)
	}
	return fail("this has no place in %s", f.What)
}

func (f *File) convertTable(n *yaml.Node, out *Node) error {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := f.convert(n.Content[i])
		if err != nil {
			return err
		}
		switch {
		case key.Tag == "!!merge":
			return f.errorf(key.Line, key.Col, "merge keys (<<) are refused")
		case key.Form != Scalar:
			return f.errorf(key.Line, key.Col, "a key must be a name, and this is %s%s", key.Form, QuoteHint)
		case key.Tag != "!!str":
			return f.errorf(key.Line, key.Col, "a key must be a name; YAML reads %s as %s", key.Text, TagName(key.Tag))
		case seen[key.Text] > 0:
			return f.errorf(key.Line, key.Col, "the key %s stands twice; it was given on line %d", key.Text, seen[key.Text])
		}
		seen[key.Text] = key.Line
		value, err := f.convert(n.Content[i+1])
		if err != nil {
			return err
		}
		out.Keys, out.Items = append(out.Keys, key), append(out.Items, value)
	}
	return nil
}

// TagName says for people what YAML took a scalar for.
func TagName(tag string) string {
	switch tag {
	case "!!int":
		return "an integer"
	case "!!float":
		return "a decimal"
	case "!!bool":
		return "a boolean"
	case "!!null":
		return "nothing (null)"
	case "!!timestamp":
		return "a date"
	case "!!merge":
		return "a merge key"
	}
	return tag
}

var (
	yamlLine   = regexp.MustCompile(`^line (\d+): `)
	fromParser = regexp.MustCompile(`^did not find expected (key|'-'|',' or|node content|<)`)
	nestedRule = regexp.MustCompile(`:\s+(all|some|any|at\s+(?:least|most))\s[^"']*:(\s|$)`)
	secondPair = regexp.MustCompile(`^[^"'#]*:\s[^"'#]*:(\s|$)`)
	aliasMark  = regexp.MustCompile(`(^|[\s\[,:-])\*`)
)

// syntax puts an error of the YAML parser into words that help. The parser
// leaves out the line where it is the first, and always the column.
func (f *File) syntax(err error) error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
		msg = msg[len(m[0]):]
		if fromParser.MatchString(msg) {
			line++ // these count lines from 0
		}
	}
	switch {
	case strings.Contains(msg, "mapping values are not allowed"):
		if l, col := f.find(nestedRule, line); l > 0 {
			return f.errorf(l, col, `": " in an unquoted text starts a value, so a rule like this is no valid YAML; put it in quotes: when: "all s in xs: ..."`)
		}
		if l, _ := f.find(secondPair, line); l > 0 {
			line = l
		}
		return f.errorf(line, 0, `": " in an unquoted text starts a value; put the text in quotes`)
	case strings.Contains(msg, "unknown anchor"):
		if l, _ := f.find(aliasMark, 0); l > 0 {
			line = l
		}
		return f.errorf(line, 0, "%s%s", msg, QuoteHint)
	}
	return f.errorf(line, 0, "not valid YAML: %s%s", msg, QuoteHint)
}

// find returns where re first matches in a line, trying the lines at and next
// to near first (0: all lines), or 0.
func (f *File) find(re *regexp.Regexp, near int) (line, col int) {
	lines := strings.Split(string(f.Data), "\n")
	try := []int{near, near + 1, near - 1}
	if near == 0 {
		try = make([]int, len(lines))
		for i := range lines {
			try[i] = i + 1
		}
	}
	for _, l := range try {
		if l < 1 || l > len(lines) {
			continue
		}
		if at := re.FindStringSubmatchIndex(lines[l-1]); at != nil {
			if len(at) > 3 && at[2] >= 0 {
				return l, 1 + len([]rune(lines[l-1][:at[2]]))
			}
			return l, 0
		}
	}
	return 0, 0
}
