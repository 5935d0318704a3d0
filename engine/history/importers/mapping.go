package importers

import (
	"fmt"
	"slices"
	"strings"

	"pinyon/engine/history/suggest"
)

// MappingText describes the grammar of mappings, for help and documents.
const MappingText = `A mapping (--map) says what the columns of a CSV table, or the members of JSON
Lines, mean. It is a list of assignments with commas between them:

    process=client_id,f=op,key=key,in=value,out=output,invoke=call_ns,return=return_ns

The names of columns:

    process  the client; without it each operation is a client of its own
    f        the name of the operation, in any case, with or without a colon
    key      the object
    in, out  input and output; a+b is the list of those of the columns a and b
             that are not empty, and one alone stands for itself
    invoke   where a row is an operation: the time of its call ...
    return   ... and of its return; empty where it got no answer
    type     where a row is an event: what it is, by the words below
    time     its time; without it the order of rows decides
    outcome  ok, fail or info, by the words below; without it an operation
             that returned is ok
    error    why it failed
    node     the node that was asked
    hint.x   a hint with the name x

A column is the name of one, or a path into JSON that stands there:
data.value is the member value of the column data. The names of words, each
with alternatives between |, compared exactly; those in brackets, in any
case, where the mapping gives none:

    ok       [ok, success, succeeded, true]
    fail     [fail, failed, failure, error, false]
    info     [info, unknown, timeout, indeterminate]
    start    a type that invokes [invoke, invocation, call, start, request]
    end      a type that completes [return, response, complete, end, finish]
    nil      cells that mean null [none]

And unit is ns (the default), us, ms or s; times may have a fraction, and may
be dates as in RFC 3339. A backslash takes the next character as it is.`

// Mapping says what the columns of a CSV table, or the members of JSON Lines,
// mean; see MappingText.
type Mapping struct {
	columns map[string][]string // by name; several only for in and out
	words   map[string][]string
	hints   []string // names, in order
	unit    int64    // nanoseconds
	_       struct{}
}

var mappingColumns = []string{"process", "f", "key", "in", "out", "invoke", "return", "type", "time", "outcome", "error", "node"}

var mappingWords = map[string][]string{
	"ok": {"ok", "success", "succeeded", "true"}, "fail": {"fail", "failed", "failure", "error", "false"},
	"info":  {"info", "unknown", "timeout", "indeterminate"},
	"start": {"invoke", "invocation", "call", "start", "request"}, "end": {"return", "response", "complete", "end", "finish"},
	"nil": nil,
}

var mappingUnits = map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

// ParseMapping reads a mapping.
func ParseMapping(text string) (*Mapping, error) {
	m := &Mapping{columns: map[string][]string{}, words: map[string][]string{}, unit: 1}
	for _, part := range cutEscaped(text, ',') {
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok || value == "" {
			return nil, fmt.Errorf("mapping %q: expected name=column, as in f=op", part)
		}
		if err := m.assign(name, value); err != nil {
			return nil, fmt.Errorf("mapping %s: %w", part, err)
		}
	}
	return m, m.check()
}

func (m *Mapping) assign(name, value string) error {
	hint, isHint := strings.CutPrefix(name, "hint.")
	switch {
	case m.columns[name] != nil || m.words[name] != nil:
		return fmt.Errorf("%q stands twice", name)
	case name == "unit":
		if m.unit = mappingUnits[value]; m.unit == 0 {
			return fmt.Errorf("unknown unit %q; ns, us, ms and s are known", value)
		}
	case name == "in" || name == "out":
		m.columns[name] = unescapeAll(cutEscaped(value, '+'))
	case isHint && hint != "":
		m.hints = append(m.hints, hint)
		m.columns[name] = unescapeAll([]string{value})
	case slices.Contains(mappingColumns, name):
		m.columns[name] = unescapeAll([]string{value})
	default:
		if _, known := mappingWords[name]; known {
			m.words[name] = unescapeAll(cutEscaped(value, '|'))
			break
		}
		known := append(slices.Clone(mappingColumns), "ok", "fail", "info", "start", "end", "nil", "unit", "hint.NAME")
		return fmt.Errorf("unknown name %q%s", name, likely(name, known, "the names are "))
	}
	return nil
}

// check refuses mappings from which no history can come.
func (m *Mapping) check() error {
	has := func(name string) bool { return m.columns[name] != nil }
	switch {
	case !has("f"):
		return fmt.Errorf("the mapping names no column for f, the operation")
	case has("type") && (has("invoke") || has("return")):
		return fmt.Errorf("the mapping has type, for rows that are events, and invoke or return, for rows that are operations")
	case has("type") && !has("process"):
		return fmt.Errorf("the mapping of events names no column for process, which pairs them")
	case !has("type") && (!has("invoke") || !has("return")):
		return fmt.Errorf("the mapping needs columns for invoke and return, or for type")
	case !has("type") && has("time"):
		return fmt.Errorf("the mapping has time without type: a row that is an operation has invoke and return")
	}
	return nil
}

// means reports whether a cell is one of the words that the mapping, or else
// the program, knows under a name.
func (m *Mapping) means(name, cell string) bool {
	if words, given := m.words[name]; given {
		return slices.Contains(words, cell)
	}
	return slices.Contains(mappingWords[name], strings.ToLower(cell))
}

// assignment is how the mapping wrote a name, for messages.
func (m *Mapping) assignment(name string) string {
	return name + "=" + strings.Join(m.columns[name], "+")
}

// likely ends a message about an unknown word.
func likely(word string, known []string, are string) string {
	if best := suggest.Closest(word, known); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; " + are + strings.Join(known, ", ")
}

// cutEscaped cuts text at a byte, but not behind a backslash.
func cutEscaped(text string, at byte) []string {
	var parts []string
	from := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case at:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

func unescapeAll(parts []string) []string {
	for i, p := range parts {
		var b strings.Builder
		for k := 0; k < len(p); k++ {
			if p[k] == '\\' && k+1 < len(p) {
				k++
			}
			b.WriteByte(p[k])
		}
		parts[i] = b.String()
	}
	return parts
}
