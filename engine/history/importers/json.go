package importers

import (
	"errors"
	"strings"

	"pinyon/engine/history"
)

// jsonRows reads the JSON objects that stand one after another in a text, as
// flat lists of fields. Only the outermost level is read here, for the places
// of its fields; the values go to history.ParseValue, which is strict.
type jsonRows struct {
	src *source
	at  int
	end int // where the text to read ends
}

func (r *jsonRows) fail(at int, format string, args ...any) error {
	return r.src.errorAt(at, format, args...)
}

func (r *jsonRows) skip() {
	for r.at < r.end && strings.IndexByte(" \t\r\n", r.src.text[r.at]) >= 0 {
		r.at++
	}
}

// next passes white space and returns the byte there, 0 at the end.
func (r *jsonRows) next() byte {
	r.skip()
	if r.at >= r.end {
		return 0
	}
	return r.src.text[r.at]
}

// object reads the object at the current place.
func (r *jsonRows) object() ([]entry, error) {
	start := r.at
	if r.next() != '{' {
		return nil, r.fail(r.at, "expected a JSON object")
	}
	r.at++
	es := make([]entry, 0, 8)
	for c := r.next(); c != '}'; c = r.next() {
		if len(es) > 0 {
			if c != ',' {
				return nil, r.unclosed(start, "expected ',' or '}'")
			}
			r.at++
			r.skip()
		}
		e, err := r.field(start)
		if err != nil {
			return nil, err
		}
		for i := range es {
			if es[i].key == e.key {
				return nil, r.fail(e.at, "the field %q stands twice", e.key)
			}
		}
		es = append(es, e)
	}
	r.at++
	return es, nil
}

func (r *jsonRows) unclosed(start int, expected string) error {
	if r.at >= r.end {
		return r.fail(start, "the object that starts here is not closed")
	}
	return r.fail(r.at, "%s", expected)
}

// field reads "name": value.
func (r *jsonRows) field(start int) (entry, error) {
	e := entry{at: r.at}
	if r.next() != '"' {
		return e, r.unclosed(start, "expected a field's name in quotes")
	}
	name, src, err := r.value()
	if err != nil {
		return e, err
	}
	if e.key = src[1 : len(src)-1]; strings.IndexByte(src, '\\') >= 0 {
		e.key, _ = name.Str()
	}
	if r.next() != ':' {
		return e, r.unclosed(start, "expected ':'")
	}
	r.at++
	r.skip()
	if isOrdinal(e.key) {
		from := r.at
		if e.num, r.at, e.isNum = plainInt(r.src.text[:r.end], r.at); e.isNum {
			e.src = r.src.text[from:r.at]
			return e, nil
		}
	}
	e.value, e.src, err = r.value()
	return e, err
}

// value reads the value at the current place and returns its text too.
func (r *jsonRows) value() (history.Value, string, error) {
	from := r.at
	text := r.src.text[from:r.extent()]
	v, err := history.ParseValue(text)
	if err != nil {
		var syntax *history.SyntaxError
		if errors.As(err, &syntax) {
			from += syntax.Offset
		}
		return history.Absent, "", r.fail(from, "%v", err)
	}
	r.at += len(text)
	return v, text, nil
}

// extent returns where the value at the current place ends, as far as quotes
// and brackets tell.
func (r *jsonRows) extent() int {
	depth, quoted := 0, false
	for i := r.at; i < r.end; i++ {
		switch c := r.src.text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case depth == 0 && strings.IndexByte(", \t\r\n:", c) >= 0:
			return i
		}
	}
	return r.end
}

// objects calls visit with each JSON object of the source: one after another,
// or the elements of one array.
func (s *source) objects(visit func(es []entry, at int) error) error {
	r := &jsonRows{src: s, end: len(s.text)}
	array := r.next() == '['
	if array {
		r.at++
	}
	for n := int32(0); ; n++ {
		first := n == 0
		if err := s.interrupted(n); err != nil {
			return err
		}
		c := r.next()
		switch {
		case c == ']' && array:
			r.at++
			if r.next() != 0 {
				return s.errorAt(r.at, "unexpected text after the history's end")
			}
			return nil
		case c == 0 && !array:
			return nil
		case c == ',' && array && !first:
			r.at++
			r.skip()
		case array && !first:
			return s.errorAt(r.at, "expected ',' or ']' after an operation")
		}
		start := r.at
		es, err := r.object()
		if err == nil {
			err = visit(es, start)
		}
		if err != nil {
			return err
		}
	}
}
