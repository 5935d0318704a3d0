package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// nativeVersion is the one version of the native format that there is.
const nativeVersion = 1

const headerForm = `{"pinyon":"history","version":1}`

// headerField is an optional field of the header line, with what reads it and
// what writes it ("" where the header says nothing).
type headerField struct {
	name  string
	read  func(h *Header, v Value) error
	write func(h *Header) string
}

var headerFields = []headerField{
	textField("model", func(h *Header) *string { return &h.Model }),
	textField("level", func(h *Header) *string { return &h.Level }),
	{"oracle", readOracles, func(h *Header) string {
		if len(h.Oracles) == 1 {
			return String(h.Oracles[0]).Text()
		}
		return listText(h.Oracles)
	}},
	{"initial", func(h *Header, v Value) error { h.Initial = v; return nil },
		func(h *Header) string { return h.Initial.Text() }},
	textField("nil_read", func(h *Header) *string { return &h.NilRead }, "unknown", "absent"),
	textField("fail_cas", func(h *Header) *string { return &h.FailCas }, "drop", "observe"),
	{"ties", readTies, func(h *Header) string {
		if !h.HasTies && h.Ties == TiesConcurrent {
			return ""
		}
		return String(h.Ties.String()).Text()
	}},
	{"clock_error", readClockError, clockErrorText},
	{"nodes", func(h *Header, v Value) (err error) {
		h.Nodes, err = stringList(v, "a list of strings")
		return err
	}, func(h *Header) string { return listText(h.Nodes) }},
	{"seed", func(h *Header, v Value) error {
		if k := v.Kind(); !isIntegral(v) && k != KindString {
			return fmt.Errorf("must be an integer or a string, got %s", k)
		}
		h.Seed = v
		return nil
	}, func(h *Header) string { return h.Seed.Text() }},
	textField("source", func(h *Header) *string { return &h.Source }),
	textField("started", func(h *Header) *string { return &h.Started }),
}

// textField is a field that holds a string, one of the choices if there are
// any.
func textField(name string, at func(*Header) *string, choices ...string) headerField {
	return headerField{name, func(h *Header, v Value) error {
		if v.Kind() != KindString {
			return fmt.Errorf("must be a string, got %s", v.Kind())
		}
		s, _ := v.Str()
		*at(h) = s
		return oneOf(s, choices)
	}, func(h *Header) string {
		if *at(h) == "" {
			return ""
		}
		return String(*at(h)).Text()
	}}
}

func oneOf(s string, choices []string) error {
	if len(choices) == 0 || slices.Contains(choices, s) {
		return nil
	}
	return fmt.Errorf("must be %s, got %q", strings.Join(choices, " or "), s)
}

func stringList(v Value, expected string) ([]string, error) {
	elems, _ := v.Elems()
	if v.Kind() != KindArray {
		return nil, fmt.Errorf("must be %s, got %s", expected, v.Kind())
	}
	var list []string
	for _, e := range elems {
		if e.Kind() != KindString {
			return nil, fmt.Errorf("must be %s, got %s in the list", expected, e.Kind())
		}
		s, _ := e.Str()
		list = append(list, s)
	}
	return list, nil
}

func listText(list []string) string {
	if len(list) == 0 {
		return ""
	}
	vs := make([]Value, len(list))
	for i, s := range list {
		vs[i] = String(s)
	}
	return Array(vs...).Text()
}

func readOracles(h *Header, v Value) (err error) {
	if v.Kind() == KindString {
		s, _ := v.Str()
		h.Oracles = []string{s}
		return nil
	}
	h.Oracles, err = stringList(v, "a string or a list of strings")
	return err
}

func readTies(h *Header, v Value) error {
	choices := []string{TiesConcurrent.String(), TiesPrecede.String()}
	if v.Kind() != KindString {
		return fmt.Errorf("must be a string, got %s", v.Kind())
	}
	s, _ := v.Str()
	h.HasTies = true
	if s == choices[1] {
		h.Ties = TiesPrecede
	}
	return oneOf(s, choices)
}

func readClockError(h *Header, v Value) error {
	const expected = "must be nanoseconds, an integer from 0 on, or an object of such by node"
	good := func(v Value) (int64, error) {
		n, ok := v.Int64()
		if !ok {
			return 0, fmt.Errorf("%s, got %s", expected, v.Kind())
		}
		if n < 0 || n > MaxTime {
			return 0, fmt.Errorf("%s, got %d", expected, n)
		}
		return n, nil
	}
	ms, byNode := v.Members()
	if !byNode || v.Kind() != KindObject {
		n, err := good(v)
		h.ClockError.All = n
		return err
	}
	h.ClockError.ByNode = map[string]int64{}
	for _, m := range ms {
		n, err := good(m.Value)
		if err != nil {
			return err
		}
		node, _ := m.Key.Str()
		h.ClockError.ByNode[node] = n
	}
	return nil
}

func clockErrorText(h *Header) string {
	c := h.ClockError
	if c.ByNode == nil {
		if c.All == 0 {
			return ""
		}
		return Int(c.All).Text()
	}
	b := []byte{'{'}
	for i, node := range slices.Sorted(maps.Keys(c.ByNode)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendQuoted(b, node), ':'), Int(c.ByNode[node]).Text()...)
	}
	return string(append(b, '}'))
}

// readHeader reads the header line. The version comes first: a later version
// may have fields that this one does not know.
func readHeader(line string, h *Header) error {
	ms, next, err := parseRawMembers(line, skipSpace(line, 0), 0)
	if err == nil {
		err = atEnd(line, next)
	}
	if err != nil {
		return err
	}
	find := func(name string) (rawMember, bool) {
		i := slices.IndexFunc(ms, func(m rawMember) bool { return m.name == name })
		if i < 0 {
			return rawMember{}, false
		}
		return ms[i], true
	}
	switch m, ok := find("pinyon"); {
	case !ok:
		return syntax(0, "the header line is missing; the first line must be %s, with more fields if you like", headerForm)
	case m.value != String("history"):
		return syntax(m.valueAt, `"pinyon" must be "history", got %s; this is no history`, m.value.Text())
	}
	switch m, ok := find("version"); {
	case !ok:
		return syntax(0, `the field "version" is missing from the header; it must be %d`, nativeVersion)
	case m.value != Int(nativeVersion):
		return syntax(m.valueAt, "the version must be %d, got %s; this program reads no other", nativeVersion, m.value.Text())
	}
	for _, m := range ms {
		if m.name == "pinyon" || m.name == "version" {
			continue
		}
		i := slices.IndexFunc(headerFields, func(f headerField) bool { return f.name == m.name })
		if i < 0 {
			return syntax(m.nameAt, "unknown field %q in the header; %s", m.name, suggest(m.name, headerNames()))
		}
		if err := headerFields[i].read(h, m.value); err != nil {
			return syntax(m.valueAt, "%q %v", m.name, err)
		}
	}
	return nil
}

func headerNames() []string {
	names := []string{"pinyon", "version"}
	for _, f := range headerFields {
		names = append(names, f.name)
	}
	return names
}

// appendHeader appends the header line of h.
func appendHeader(b []byte, h *Header) []byte {
	b = append(b, headerForm[:len(headerForm)-1]...)
	for _, f := range headerFields {
		b = appendField(b, f.name, f.write(h))
	}
	return append(b, "}\n"...)
}

// appendField appends a member to an object that has one already; an empty
// text leaves it out.
func appendField(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return append(append(append(append(b, `,"`...), name...), `":`...), text...)
}

// atEnd refuses anything but white space from at on.
func atEnd(s string, at int) error {
	if at = skipSpace(s, at); at < len(s) {
		return syntax(at, "unexpected %s after the object; each line holds one object", near(s, at))
	}
	return nil
}
