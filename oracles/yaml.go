package oracles

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

// form says what a node of the file is.
type form uint8

const (
	scalar form = iota
	list
	table
)

func (f form) String() string { return [...]string{"a single value", "a list", "a table of keys"}[f] }

// quoting says how a scalar was written.
type quoting uint8

const (
	plain quoting = iota
	singleQuoted
	doubleQuoted
	block // after | or >
)

// node is one piece of the file. Only what can mean one thing gets this far:
// no explicit tags, anchors, aliases, merge keys or repeated keys.
type node struct {
	form      form
	tag       string // of a scalar: "!!str", "!!int", "!!null", ...
	text      string // of a scalar
	quoting   quoting
	comment   bool // a comment stands behind a scalar on its line
	line, col int
	keys      []*node // of a table
	items     []*node // of a list, or the values of a table
}

// file is a YAML text with its name, for messages.
type file struct {
	path string
	data []byte
}

func (f *file) errorf(line, col int, format string, args ...any) error {
	return &history.Error{Path: f.path, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// parse reads the one document that the file must hold.
func (f *file) parse() (*node, error) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(f.data))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && (len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].ShortTag() == "!!null") {
		return nil, f.errorf(1, 0, "the file is empty; an oracle has at least the keys oracle, version and an order")
	}
	if err != nil {
		return nil, f.syntax(err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, f.errorf(more.Line, 0, "a second document begins here; a file holds one oracle")
	} else if !errors.Is(err, io.EOF) {
		return nil, f.syntax(err)
	}
	return f.convert(doc.Content[0])
}

// What a leading character does to an unquoted text.
const quoteHint = `; if this is a rule, put the whole of it in quotes: a text that begins with ! * & [ { > | % @ " ' or a backtick means something else to YAML`

// convert refuses everything in n that a reader could take for something else.
func (f *file) convert(n *yaml.Node) (*node, error) {
	fail := func(format string, args ...any) (*node, error) {
		return nil, f.errorf(n.Line, n.Column, format, args...)
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return fail("*%s is an alias, and aliases are refused%s", n.Value, quoteHint)
	case n.Anchor != "":
		return fail("&%s is an anchor, and anchors are refused%s", n.Anchor, quoteHint)
	case n.Style&yaml.TaggedStyle != 0:
		return fail("%s is read as a YAML tag, and tags are refused%s", n.Tag, quoteHint)
	}
	out := &node{text: n.Value, tag: n.ShortTag(), line: n.Line, col: n.Column, comment: n.LineComment != ""}
	switch n.Kind {
	case yaml.ScalarNode:
		switch {
		case n.Style&yaml.SingleQuotedStyle != 0:
			out.quoting = singleQuoted
		case n.Style&yaml.DoubleQuotedStyle != 0:
			out.quoting = doubleQuoted
		case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			out.quoting = block
		}
		return out, nil
	case yaml.SequenceNode:
		out.form = list
		for _, c := range n.Content {
			item, err := f.convert(c)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
		return out, nil
	case yaml.MappingNode:
		out.form = table
		return out, f.convertTable(n, out)
	}
	return fail("this has no place in an oracle")
}

func (f *file) convertTable(n *yaml.Node, out *node) error {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := f.convert(n.Content[i])
		if err != nil {
			return err
		}
		switch {
		case key.tag == "!!merge":
			return f.errorf(key.line, key.col, "merge keys (<<) are refused")
		case key.form != scalar:
			return f.errorf(key.line, key.col, "a key must be a name, and this is %s%s", key.form, quoteHint)
		case key.tag != "!!str":
			return f.errorf(key.line, key.col, "a key must be a name; YAML reads %s as %s", key.text, tagName(key.tag))
		case seen[key.text] > 0:
			return f.errorf(key.line, key.col, "the key %s stands twice; it was given on line %d", key.text, seen[key.text])
		}
		seen[key.text] = key.line
		value, err := f.convert(n.Content[i+1])
		if err != nil {
			return err
		}
		out.keys, out.items = append(out.keys, key), append(out.items, value)
	}
	return nil
}

func tagName(tag string) string {
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
func (f *file) syntax(err error) error {
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
		return f.errorf(line, 0, "%s%s", msg, quoteHint)
	}
	return f.errorf(line, 0, "not valid YAML: %s%s", msg, quoteHint)
}

// find returns where re first matches in a line, trying the lines at and next
// to near first (0: all lines), or 0.
func (f *file) find(re *regexp.Regexp, near int) (line, col int) {
	lines := strings.Split(string(f.data), "\n")
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
