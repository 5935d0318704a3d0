package importers

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"pinyon/engine/history"
)

// edn is a strict reader of EDN values. It covers what Clojure prints: all of
// the EDN grammar, ratios, hexadecimal integers (inside #object[...]) and the
// symbolic floats ##Inf, ##-Inf and ##NaN, which become symbols. Numbers are
// exact; 1.5M is the decimal 1.5 and 1N is the integer 1.
type edn struct {
	s     string
	at    int
	names map[string]history.Value // keywords and symbols seen: interning is the cost of reading

	fields map[history.Value]string // keys of operations seen
}

// maxDepth bounds nesting. Real histories nest four or five.
const maxDepth = 60

// entry is one entry of a map at the level of operations, with its place.
type entry struct {
	key   string // a keyword's name, a string, or the text of anything else
	value history.Value
	src   string // the value as it was written
	at    int

	num   int64 // with isNum: the integer, in place of value, which is Absent
	isNum bool
}

// isOrdinal names the fields whose values are numbers that hardly repeat. They
// are read as such: a Value for each would be half the cost of a file.
func isOrdinal(key string) bool {
	switch key {
	case "time", "index", "invoke_ns", "complete_ns", "Call", "Return", "call_ns", "return_ns":
		return true
	}
	return false
}

// plainInt reads a short decimal integer at an offset, and where it ends. All
// else is left to the general reader.
func plainInt(s string, at int) (n int64, end int, ok bool) {
	end = at
	if end < len(s) && s[end] == '-' {
		end++
	}
	first := end
	for end < len(s) && isDigit(s[end]) && end-first < 18 {
		n = n*10 + int64(s[end]-'0')
		end++
	}
	digits := end - first
	delimited := end < len(s) && (isSpace(s[end]) || s[end] == '}')
	if !delimited || digits == 0 || digits > 1 && s[first] == '0' {
		return 0, at, false
	}
	if first > at {
		n = -n
	}
	return n, end, true
}

func newEDN(text string) *edn {
	return &edn{s: text, names: map[string]history.Value{}, fields: map[history.Value]string{}}
}

// parseEDN reads the one EDN value that text holds.
func parseEDN(text string) (history.Value, error) {
	r := newEDN(text)
	v, err := r.value(0)
	if err != nil {
		return history.Absent, err
	}
	if err := r.skip(0); err != nil {
		return history.Absent, err
	}
	if r.at < len(r.s) {
		return history.Absent, r.fail(r.at, "unexpected %s after the value", r.near())
	}
	return v, nil
}

func (r *edn) fail(at int, format string, args ...any) error {
	return &history.SyntaxError{Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// near quotes what stands at the current place, for messages.
func (r *edn) near() string {
	if r.at >= len(r.s) {
		return "end of file"
	}
	c, n := utf8.DecodeRuneInString(r.s[r.at:])
	if c == utf8.RuneError && n == 1 {
		return fmt.Sprintf("byte 0x%02x", r.s[r.at])
	}
	return fmt.Sprintf("%q", c)
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == ',' || c == '\r' || c == '\f' || c == '\v'
}

// skip passes white space, comments and discarded values.
func (r *edn) skip(depth int) error {
	for r.at < len(r.s) {
		switch c := r.s[r.at]; {
		case isSpace(c):
			r.at++
		case c == ';':
			n := strings.IndexByte(r.s[r.at:], '\n')
			if n < 0 {
				r.at = len(r.s)
				return nil
			}
			r.at += n
		case strings.HasPrefix(r.s[r.at:], "#_"):
			r.at += 2
			if _, err := r.value(depth + 1); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// value reads one value at the current place.
func (r *edn) value(depth int) (history.Value, error) {
	if depth > maxDepth {
		return history.Absent, r.fail(r.at, "values are nested deeper than %d", maxDepth)
	}
	if err := r.skip(depth); err != nil {
		return history.Absent, err
	}
	if r.at >= len(r.s) {
		return history.Absent, r.fail(r.at, "a value is missing at the end of the file")
	}
	switch c := r.s[r.at]; c {
	case '[':
		return r.list(1, ']', depth, history.Array)
	case '(':
		return r.list(1, ')', depth, history.Array)
	case '{', '#':
		if c == '{' {
			return r.mapValue(depth)
		}
		return r.dispatch(depth)
	case '"':
		s, err := r.str()
		return history.String(s), err
	case '\\':
		return r.char()
	case ']', ')', '}':
		return history.Absent, r.fail(r.at, "%q closes nothing", r.s[r.at])
	}
	return r.atom()
}

// list reads values up to the closing byte, past an opening of n bytes.
func (r *edn) list(n int, closing byte, depth int, build func(...history.Value) history.Value) (history.Value, error) {
	start := r.at
	r.at += n
	elems := make([]history.Value, 0, 4)
	for {
		if err := r.skip(depth); err != nil {
			return history.Absent, err
		}
		switch {
		case r.at >= len(r.s):
			return history.Absent, r.fail(start, "the %q that starts here is not closed", r.s[start:start+n])
		case r.s[r.at] == closing:
			r.at++
			return build(elems...), nil
		case strings.IndexByte("])}", r.s[r.at]) >= 0:
			return history.Absent, r.fail(r.at, "unexpected %s, expected %q", r.near(), closing)
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return history.Absent, err
		}
		elems = append(elems, v)
	}
}

func (r *edn) mapValue(depth int) (history.Value, error) {
	start := r.at
	var members []history.Member
	err := r.pairs(depth, func(k history.Value, _ int) error {
		v, err := r.value(depth + 1)
		members = append(members, history.Member{Key: k, Value: v})
		return err
	})
	if err != nil {
		return history.Absent, err
	}
	v, err := history.Object(members...)
	if err != nil {
		return history.Absent, r.fail(start, "the key %s stands twice in the map that starts here", repeated(members))
	}
	return v, nil
}

// repeated names the first key that stands twice.
func repeated(members []history.Member) string {
	seen := map[history.Value]bool{}
	for _, m := range members {
		if seen[m.Key] {
			return m.Key.Label()
		}
		seen[m.Key] = true
	}
	return ""
}

// pairs reads the map at the current place. For each key it calls visit, which
// reads the value at the current place.
func (r *edn) pairs(depth int, visit func(k history.Value, keyAt int) error) error {
	start := r.at
	r.at++
	for {
		if err := r.skip(depth); err != nil {
			return err
		}
		if r.at >= len(r.s) {
			return r.fail(start, "the map that starts here is not closed")
		}
		if r.s[r.at] == '}' {
			r.at++
			return nil
		}
		keyAt := r.at
		k, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if err := r.skip(depth); err != nil {
			return err
		}
		if r.at < len(r.s) && r.s[r.at] == '}' {
			return r.fail(keyAt, "the map's last key has no value")
		}
		if err := visit(k, keyAt); err != nil {
			return err
		}
	}
}

// entries reads the map at the current place as the fields of an operation.
func (r *edn) entries() ([]entry, error) {
	es := make([]entry, 0, 8)
	err := r.pairs(0, func(k history.Value, keyAt int) (err error) {
		e := entry{at: keyAt}
		if name, ok := r.fields[k]; ok {
			e.key = name
		} else {
			e.key = fName(k)
			r.fields[k] = e.key
		}
		for i := range es {
			if es[i].key == e.key {
				return r.fail(keyAt, "the key %s stands twice in one operation", k.Label())
			}
		}
		valueAt := r.at
		if isOrdinal(e.key) {
			e.num, r.at, e.isNum = plainInt(r.s, r.at)
		}
		if !e.isNum {
			e.value, err = r.value(1)
		}
		e.src = r.s[valueAt:r.at]
		es = append(es, e)
		return err
	})
	return es, err
}

// dispatch reads what starts with '#': a set, a symbolic float or a tagged
// literal.
func (r *edn) dispatch(depth int) (history.Value, error) {
	start := r.at
	switch rest := r.s[r.at+1:]; {
	case strings.HasPrefix(rest, "{"):
		return r.list(2, '}', depth, history.Set)
	case strings.HasPrefix(rest, "#"):
		r.at += 2
		if name := r.token(); name == "Inf" || name == "-Inf" || name == "NaN" {
			return history.Symbol("##" + name), nil
		}
		return history.Absent, r.fail(start, "unknown symbolic value; ##Inf, ##-Inf and ##NaN are known")
	}
	name, err := r.tag()
	if err != nil {
		return history.Absent, err
	}
	v, err := r.value(depth + 1)
	if err != nil {
		return history.Absent, err
	}
	if text, ok := v.Str(); ok && name == jsonTag && v.Kind() == history.KindString {
		if v, err = history.ParseValue(text); err != nil {
			return history.Absent, r.fail(start, "#%s: %v", jsonTag, err)
		}
		return v, nil
	}
	return history.Tag(name, v), nil
}

// tag reads '#' and the name of a tag.
func (r *edn) tag() (string, error) {
	start := r.at
	r.at++
	name := r.token()
	if err := r.checkText(name, start); err != nil {
		return "", err
	}
	if name == "" || strings.IndexByte(`<"\`, name[0]) >= 0 || isDigit(name[0]) {
		return "", r.fail(start, "unreadable: '#' must be followed by '{', '_' or a tag")
	}
	return name, nil
}
