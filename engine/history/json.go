package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A small strict JSON reader. encoding/json cannot serve here: it accepts
// repeated members, repairs broken UTF-8, and does not say at which column a
// well-formed but wrong member stands.

// SyntaxError says where in a text the JSON (or EDN) grammar is broken.
type SyntaxError struct {
	Offset int // bytes from the start of the text
	Msg    string
}

func (e *SyntaxError) Error() string { return e.Msg }

func syntax(at int, format string, args ...any) error {
	return &SyntaxError{at, fmt.Sprintf(format, args...)}
}

// maxDepth bounds the nesting of values, so that no input exhausts the stack.
const maxDepth = 200

// ParseValue reads one JSON value, with nothing but white space around it.
// Errors are *SyntaxError.
func ParseValue(text string) (Value, error) {
	v, at, err := parseValue(text, skipSpace(text, 0), 0)
	if err != nil {
		return Absent, err
	}
	if at = skipSpace(text, at); at != len(text) {
		return Absent, syntax(at, "unexpected %s after the value", near(text, at))
	}
	return v, nil
}

func skipSpace(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\t' || s[at] == '\n' || s[at] == '\r') {
		at++
	}
	return at
}

// near quotes what stands at an offset, for messages.
func near(s string, at int) string {
	if at >= len(s) {
		return "end of line"
	}
	r, n := utf8.DecodeRuneInString(s[at:])
	if r == utf8.RuneError && n == 1 {
		return fmt.Sprintf("byte 0x%02x", s[at])
	}
	return strconv.QuoteRune(r)
}

func parseValue(s string, at, depth int) (Value, int, error) {
	if depth > maxDepth {
		return Absent, at, syntax(at, "values are nested deeper than %d", maxDepth)
	}
	if at >= len(s) {
		return Absent, at, syntax(at, "a value is missing at the end of the line")
	}
	switch c := s[at]; {
	case c == '{':
		return parseObject(s, at, depth)
	case c == '[':
		elems, next, err := parseArray(s, at, depth)
		if err != nil {
			return Absent, next, err
		}
		return Array(elems...), next, nil
	case c == '"':
		str, next, err := unquote(s, at)
		if err != nil {
			return Absent, next, err
		}
		return String(str), next, nil
	case c == '-' || c >= '0' && c <= '9':
		return parseNumber(s, at)
	}
	for _, w := range [...]struct {
		word string
		v    Value
	}{{"null", Null}, {"true", True}, {"false", False}} {
		if strings.HasPrefix(s[at:], w.word) {
			return w.v, at + len(w.word), nil
		}
	}
	return Absent, at, syntax(at, "unexpected %s, expected a JSON value", near(s, at))
}

func parseNumber(s string, at int) (Value, int, error) {
	end := at
	if s[end] == '-' {
		end++
	}
	digits := func() int {
		from := end
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		return end - from
	}
	first := end
	if n := digits(); n == 0 || n > 1 && s[first] == '0' {
		return Absent, at, syntax(at, "malformed number")
	}
	if end < len(s) && s[end] == '.' {
		end++
		if digits() == 0 {
			return Absent, at, syntax(at, "malformed number: digits must follow the point")
		}
	}
	if end < len(s) && (s[end] == 'e' || s[end] == 'E') {
		end++
		if end < len(s) && (s[end] == '+' || s[end] == '-') {
			end++
		}
		if digits() == 0 {
			return Absent, at, syntax(at, "malformed number: digits must follow the exponent sign")
		}
	}
	v, err := Number(s[at:end])
	if err != nil {
		return Absent, at, syntax(at, "%v", err)
	}
	return v, end, nil
}

// unquote reads the JSON string that starts at s[at].
func unquote(s string, at int) (string, int, error) {
	if at >= len(s) || s[at] != '"' {
		return "", at, syntax(at, "unexpected %s, expected a string", near(s, at))
	}
	var b []byte
	from := at + 1
	for i := from; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			if b == nil {
				return s[from:i], i + 1, nil
			}
			return string(append(b, s[from:i]...)), i + 1, nil
		case c == '\\':
			r, n, err := unescape(s, i)
			if err != nil {
				return "", i, err
			}
			b = append(append(b, s[from:i]...), r...)
			i += n
			from = i
		case c < ' ':
			return "", i, syntax(i, "control character in a string; write it as an escape")
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				return "", i, syntax(i, "byte 0x%02x is not valid UTF-8", s[i])
			}
			i += n
		}
	}
	return "", at, syntax(at, "the string that starts here is not closed")
}

// unescape reads one escape at s[i] and returns its text and its length.
func unescape(s string, i int) (string, int, error) {
	if i+1 >= len(s) {
		return "", 0, syntax(i, "the string ends inside an escape")
	}
	if k := strings.IndexByte(`"\/bfnrt`, s[i+1]); k >= 0 {
		return "\"\\/\b\f\n\r\t"[k : k+1], 2, nil
	}
	if s[i+1] != 'u' {
		return "", 0, syntax(i, "unknown escape \\%c", s[i+1])
	}
	r, ok := hex4(s, i+2)
	if !ok {
		return "", 0, syntax(i, "\\u must be followed by four hexadecimal digits")
	}
	if utf16.IsSurrogate(r) {
		low, ok := rune(0), false
		if strings.HasPrefix(s[min(i+6, len(s)):], `\u`) {
			low, ok = hex4(s, i+8)
		}
		pair := utf16.DecodeRune(r, low)
		if !ok || pair == utf8.RuneError {
			return "", 0, syntax(i, "half of a surrogate pair")
		}
		return string(pair), 12, nil
	}
	return string(r), 6, nil
}

func hex4(s string, at int) (rune, bool) {
	if at+4 > len(s) {
		return 0, false
	}
	n, err := strconv.ParseUint(s[at:at+4], 16, 32)
	return rune(n), err == nil
}

func parseArray(s string, at, depth int) ([]Value, int, error) {
	elems := []Value{}
	at = skipSpace(s, at+1)
	for {
		if at < len(s) && s[at] == ']' {
			return elems, at + 1, nil
		}
		v, next, err := parseValue(s, at, depth+1)
		if err != nil {
			return nil, next, err
		}
		elems = append(elems, v)
		if at, err = separator(s, next, ']'); err != nil {
			return nil, at, err
		}
	}
}

// separator passes a comma, and stops before the closing byte; a comma right
// before the closing byte is an error.
func separator(s string, at int, closing byte) (int, error) {
	at = skipSpace(s, at)
	switch {
	case at >= len(s):
		return at, syntax(at, "unexpected end of line, expected ',' or %q", closing)
	case s[at] == closing:
		return at, nil
	case s[at] != ',':
		return at, syntax(at, "unexpected %s, expected ',' or %q", near(s, at), closing)
	}
	at = skipSpace(s, at+1)
	if at < len(s) && s[at] == closing {
		return at, syntax(at, "a comma before %q", closing)
	}
	return at, nil
}

// rawMember is one member of an object with the offsets of its parts.
type rawMember struct {
	name            string
	value           Value
	nameAt, valueAt int
}

// eachMember walks the object at s[at]. visit gets each member's name and
// where name and value start, and returns where the value ends.
func eachMember(s string, at int, visit func(name string, nameAt, valueAt int) (next int, err error)) (int, error) {
	if at >= len(s) || s[at] != '{' {
		return at, syntax(at, "unexpected %s, expected an object", near(s, at))
	}
	at = skipSpace(s, at+1)
	for {
		if at < len(s) && s[at] == '}' {
			return at + 1, nil
		}
		name, next, err := unquote(s, at)
		if err != nil {
			return next, err
		}
		next = skipSpace(s, next)
		if next >= len(s) || s[next] != ':' {
			return next, syntax(next, "unexpected %s, expected ':'", near(s, next))
		}
		if next, err = visit(name, at, skipSpace(s, next+1)); err != nil {
			return next, err
		}
		if at, err = separator(s, next, '}'); err != nil {
			return at, err
		}
	}
}

// repeats finds a name that comes twice, in a slice while names are few.
type repeats struct {
	few  [16]string
	n    int // how many of few are there
	many map[string]bool
}

// again adds name and reports whether it was there.
func (r *repeats) again(name string) bool {
	switch {
	case r.many != nil:
		known := r.many[name]
		r.many[name] = true
		return known
	case slices.Contains(r.few[:r.n], name):
		return true
	case r.n < len(r.few):
		r.few[r.n] = name
		r.n++
		return false
	}
	r.many = map[string]bool{name: true}
	for _, n := range r.few {
		r.many[n] = true
	}
	return false
}

// parseRawMembers reads the object at s[at], in order, refusing repeats.
func parseRawMembers(s string, at, depth int) ([]rawMember, int, error) {
	var ms []rawMember
	var names repeats
	next, err := eachMember(s, at, func(name string, nameAt, valueAt int) (int, error) {
		if names.again(name) {
			return nameAt, syntax(nameAt, "the field %q stands twice", name)
		}
		v, next, err := parseValue(s, valueAt, depth+1)
		ms = append(ms, rawMember{name, v, nameAt, valueAt})
		return next, err
	})
	return ms, next, err
}

func parseObject(s string, at, depth int) (Value, int, error) {
	raw, next, err := parseRawMembers(s, at, depth)
	if err != nil {
		return Absent, next, err
	}
	if len(raw) == 1 && strings.HasPrefix(raw[0].name, "$") {
		v, err := untag(raw[0])
		return v, next, err
	}
	ms := make([]Member, len(raw))
	for i, m := range raw {
		ms[i] = Member{String(m.name), m.value}
	}
	v, err := Object(ms...)
	return v, next, err
}

// untag reads the forms of values that JSON lacks: {"$kw":"a"} and the like.
func untag(m rawMember) (Value, error) {
	elems, list := m.value.Elems()
	list = list && m.value.Kind() == KindArray
	str, _ := m.value.Str()
	isStr := m.value.Kind() == KindString
	switch {
	case m.name == "$kw" && isStr:
		return Keyword(str), nil
	case m.name == "$sym" && isStr:
		return Symbol(str), nil
	case m.name == "$char" && isStr:
		return Char(str), nil
	case m.name == "$set" && list:
		return Set(elems...), nil
	case m.name == "$ratio" && list && len(elems) == 2 && isIntegral(elems[0]) && isIntegral(elems[1]):
		return Ratio(elems[0], elems[1]), nil
	case m.name == "$tag" && list && len(elems) == 2 && elems[0].Kind() == KindString:
		name, _ := elems[0].Str()
		return Tag(name, elems[1]), nil
	case m.name == "$map" && list:
		ms := make([]Member, 0, len(elems))
		for _, e := range elems {
			kv, ok := e.Elems()
			if !ok || len(kv) != 2 || e.Kind() != KindArray {
				return Absent, syntax(m.valueAt, "$map takes a list of [key, value]")
			}
			ms = append(ms, Member{kv[0], kv[1]})
		}
		v, err := Object(ms...)
		if err != nil {
			return Absent, syntax(m.valueAt, "%v", err)
		}
		return v, nil
	}
	return Absent, syntax(m.nameAt, "unknown or malformed special value %q", m.name)
}

func isIntegral(v Value) bool { return v.Kind() == KindInt || v.Kind() == KindBigInt }

// appendQuoted appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD, so that every text is JSON; readers refuse them before they get here.
func appendQuoted(b []byte, s string) []byte {
	if plainText(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// plainText reports whether s is ASCII that needs no escape.
func plainText(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
