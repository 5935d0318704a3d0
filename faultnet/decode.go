package faultnet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxLine bounds a line of a schedule file: half a million links.
const maxLine = 16 << 20

// Decode reads a schedule that Encode wrote, or a person. It refuses whatever is
// not exactly a schedule: a field that is unknown, missing, repeated, null or of
// the wrong type, unknown kinds, ways, nodes and links, negative times, a step
// out of order or beyond the run, and two steps at the same time on one node or
// one way of a link. The error begins with path:line and says what was expected.
func Decode(r io.Reader, path string) (Schedule, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	var s Schedule
	taken := occupancy{ends: map[place]taking{}}
	line := 0
	for in.Scan() {
		var err error
		if line++; line == 1 {
			s, err = decodeHeader(in.Bytes())
			taken.t = s.Topology
		} else {
			err = s.decodeStep(in.Bytes(), &taken, line)
		}
		if err != nil {
			return Schedule{}, fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
	err := in.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return Schedule{}, fmt.Errorf("%s:%d: a line of more than %d bytes; expected one step a line", path, line+1, maxLine)
	case err != nil:
		return Schedule{}, fmt.Errorf("%s:%d: %w", path, line+1, err)
	case line == 0:
		return Schedule{}, fmt.Errorf(`%s:1: an empty file; expected a header, {"pinyon":"schedule","version":%d,...}`, path, version)
	}
	return s, nil
}

func decodeHeader(text []byte) (s Schedule, err error) {
	var what string
	err = object(text, []field{
		{"pinyon", true, into(&what)}, {"version", true, into(&s.Version)}, {"profile", true, into(&s.Profile)},
		{"seed", true, into(&s.Seed)}, {"duration", true, intoSpan(&s.Duration)},
		{"nodes", true, intoList(&s.Topology.Nodes, into)}, {"clients", false, intoList(&s.Topology.Clients, intoClient)},
	})
	switch {
	case err != nil:
		return s, err
	case what != magic:
		return s, fmt.Errorf("pinyon is %q; expected %q", what, magic)
	}
	return s, s.checkHeader()
}

// intoClient reads a client of the header.
func intoClient(c *Client) func([]byte) error {
	return func(text []byte) error {
		return object(text, []field{{"name", true, into(&c.Name)}, {"node", true, into(&c.Node)}})
	}
}

// decodeStep appends the step of a line.
func (s *Schedule) decodeStep(text []byte, taken *occupancy, line int) error {
	var step Step
	err := object(text, []field{
		{"at", true, intoSpan(&step.At)}, {"for", true, intoSpan(&step.For)}, {"kind", true, into(&step.Kind)}, {"way", false, intoText(&step.Way)},
		{"links", false, intoList(&step.Links, intoText)}, {"nodes", false, intoList(&step.Nodes, into)},
		{"delay", false, intoSpan(&step.Delay)}, {"jitter", false, intoSpan(&step.Jitter)},
		{"bytes_per_second", false, into(&step.BytesPerSecond)}, {"offset", false, intoSpan(&step.Offset)},
	})
	if err == nil {
		err = s.checkStep(step)
	}
	if n := len(s.Steps); err == nil && n > 0 && step.At < s.Steps[n-1].At {
		err = fmt.Errorf("at %v is before the line above; expected steps in the order of their times", step.At)
	}
	if err == nil {
		err = taken.add(step, fmt.Sprintf("line %d", line))
	}
	s.Steps = append(s.Steps, step)
	return err
}

// field is a member that an object may have, or must.
type field struct {
	name string
	must bool
	read func(text []byte) error
}

// object reads a JSON object with exactly these fields. The standard library
// would take a repeated member, another case, a null, and broken UTF-8.
func object(text []byte, fields []field) error {
	if !utf8.Valid(text) {
		return errors.New("not UTF-8; expected a JSON object in UTF-8")
	}
	in := json.NewDecoder(bytes.NewReader(text))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("%s; expected a JSON object", notJSON(err))
	}
	seen := map[string]bool{}
	for in.More() {
		if err := member(in, fields, seen); err != nil {
			return err
		}
	}
	if _, err := in.Token(); err != nil {
		return fmt.Errorf("%s; expected the end of the object", notJSON(err))
	}
	if _, err := in.Token(); err != io.EOF {
		return errors.New("something after the object; expected the end of the line")
	}
	for _, f := range fields {
		if f.must && !seen[f.name] {
			return fmt.Errorf("no field %q; expected %s", f.name, fieldNames(fields))
		}
	}
	return nil
}

// member reads one name and its value.
func member(in *json.Decoder, fields []field, seen map[string]bool) error {
	token, err := in.Token()
	name, ok := token.(string)
	if err != nil || !ok {
		return fmt.Errorf("%s; expected the name of a field", notJSON(err))
	}
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	switch {
	case i < 0:
		return fmt.Errorf("unknown field %q; expected %s", name, fieldNames(fields))
	case seen[name]:
		return fmt.Errorf("field %q stands twice; expected it once", name)
	}
	seen[name] = true
	var value json.RawMessage
	if err := in.Decode(&value); err != nil {
		return fmt.Errorf("%s: %s; expected a JSON value", name, notJSON(err))
	}
	if err := fields[i].read(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// notJSON words an error of the JSON reader; nil means well-formed but another
// kind of value.
func notJSON(err error) string {
	switch {
	case err == nil:
		return "another JSON value"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the line ends early"
	}
	return err.Error()
}

func fieldNames(fields []field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// into reads a string or an integer.
func into[T any](to *T) func([]byte) error {
	return func(text []byte) error {
		if err := json.Unmarshal(text, to); err != nil || string(text) == "null" {
			return fmt.Errorf("%s; expected %s", text, expected(to))
		}
		return nil
	}
}

// expected names the type that to points to.
func expected(to any) string {
	switch to.(type) {
	case *uint64:
		return "an integer, 0 or more"
	case *int, *int64:
		return "an integer"
	}
	return "a string"
}

// intoText reads a string that T knows how to parse.
func intoText[T any, P interface {
	*T
	UnmarshalText([]byte) error
}](to *T) func([]byte) error {
	return func(text []byte) error {
		var s string
		if err := into(&s)(text); err != nil {
			return err
		}
		return P(to).UnmarshalText([]byte(s))
	}
}

// intoSpan reads a duration.
func intoSpan(to *time.Duration) func([]byte) error {
	return func(text []byte) error {
		var s string
		if err := into(&s)(text); err != nil {
			return fmt.Errorf(`%s; expected a duration as a string, like "1.2s"`, text)
		}
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf(`%q; expected a duration like "1.2s" or "850ms"`, s)
		}
		*to = d
		return nil
	}
}

// intoList reads an array, each element with the reader that each gives.
func intoList[T any](to *[]T, each func(*T) func([]byte) error) func([]byte) error {
	return func(text []byte) error {
		var elems []json.RawMessage
		if err := json.Unmarshal(text, &elems); err != nil || elems == nil {
			return fmt.Errorf("%.40s; expected an array", text)
		}
		for i, e := range elems {
			var x T
			if err := each(&x)(e); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
			*to = append(*to, x)
		}
		return nil
	}
}
