package importers

import (
	"fmt"
	"strings"

	"pinyon/engine/history"
)

// jsonTag marks a value that EDN cannot write, such as a keyword with a space
// in its name: #pinyon/json "..." holds it as the native format does.
const jsonTag = ownPrefix + "json"

// ednText writes a value as EDN that reads back as the same value.
func ednText(v history.Value) string {
	switch v.Kind() {
	case history.KindAbsent, history.KindNull:
		return "nil"
	case history.KindBool, history.KindInt:
		return v.Text()
	case history.KindString:
		s, _ := v.Str()
		return ednString(s)
	}
	b := appendEDN(nil, v)
	if back, err := parseEDN(string(b)); err != nil || back != v {
		return "#" + jsonTag + " " + ednString(v.Text())
	}
	return string(b)
}

// plainDigits is how many digits of a decimal survive as a floating-point
// number in other tools; longer ones are written as exact decimals.
const plainDigits = 15

// appendEDN writes v as if EDN could hold every name.
func appendEDN(b []byte, v history.Value) []byte {
	elems, _ := v.Elems()
	switch v.Kind() {
	case history.KindAbsent, history.KindNull:
		return append(b, "nil"...)
	case history.KindBigInt:
		return append(append(b, v.Text()...), 'N')
	case history.KindDecimal:
		b = append(b, v.Text()...)
		if len(v.Text()) > plainDigits {
			b = append(b, 'M')
		}
		return b
	case history.KindString:
		s, _ := v.Str()
		return append(b, ednString(s)...)
	case history.KindKeyword:
		s, _ := v.Str()
		return append(append(b, ':'), s...)
	case history.KindSymbol:
		s, _ := v.Str()
		return append(b, s...)
	case history.KindChar:
		s, _ := v.Str()
		if len(s) == 1 && (s[0] <= ' ' || s[0] == 0x7f) {
			return fmt.Appendf(b, `\u%04x`, s[0])
		}
		return append(append(b, '\\'), s...)
	case history.KindRatio:
		return append(append(append(b, elems[0].Text()...), '/'), elems[1].Text()...)
	case history.KindTag:
		name, _ := elems[0].Str()
		return appendEDN(append(append(append(b, '#'), name...), ' '), elems[1])
	case history.KindArray:
		return append(appendElems(append(b, '['), elems), ']')
	case history.KindSet:
		return append(appendElems(append(b, "#{"...), elems), '}')
	case history.KindObject, history.KindMap:
		return appendMap(b, v)
	}
	return append(b, v.Text()...)
}

func appendElems(b []byte, elems []history.Value) []byte {
	for i, e := range elems {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendEDN(b, e)
	}
	return b
}

func appendMap(b []byte, v history.Value) []byte {
	members, _ := v.Members()
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendEDN(append(appendEDN(b, m.Key), ' '), m.Value)
	}
	return append(b, '}')
}

// ednString quotes s on one line.
func ednString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f || r == '\u0085' || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isKeyword reports whether :name reads back as the keyword name.
func isKeyword(name string) bool {
	v, err := parseEDN(":" + name)
	return err == nil && v == history.Keyword(name)
}

// ednName writes a name, of an operation or a hint, as a keyword where one can
// hold it and as a string elsewhere.
func ednName(name string) string {
	if isKeyword(name) {
		return ":" + name
	}
	return ednString(name)
}

// ednError writes the text of an error: as it stands where it is an EDN value
// that a log carried, such as :timed-out or [:precondition "no"], else as a
// string.
func ednError(text string) string {
	if text == "" || strings.IndexByte(":[{#", text[0]) < 0 || strings.ContainsAny(text, "\n\r;") {
		return ednString(text)
	}
	es, err := newEDN("{:error " + text + "}").entries()
	if err != nil || len(es) != 1 || es[0].value.Kind() == history.KindString || errorText(es[0]) != text {
		return ednString(text)
	}
	return text
}
