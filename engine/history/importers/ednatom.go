package importers

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"pinyon/engine/history"
)

// The parts of the EDN reader without structure: numbers, names, strings and
// characters.

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// delimiters end a token.
var delimiters = func() (is [256]bool) {
	for _, c := range []byte(" \n\t,\r\f\v()[]{}\";\\") {
		is[c] = true
	}
	return is
}()

// token passes a run of bytes up to a delimiter and returns it.
func (r *edn) token() string {
	start := r.at
	for r.at < len(r.s) && !delimiters[r.s[r.at]] {
		r.at++
	}
	return r.s[start:r.at]
}

// atom reads a number, keyword, symbol, nil or boolean.
func (r *edn) atom() (history.Value, error) {
	start := r.at
	t := r.token()
	if t == "" || strings.IndexByte("@^~`'", t[0]) >= 0 {
		r.at = start
		return history.Absent, r.fail(start, "unexpected %s, expected an EDN value", r.near())
	}
	digits := strings.TrimLeft(t[:1], "+-") + t[1:]
	if digits != "" && isDigit(digits[0]) && len(t)-len(digits) <= 1 {
		v, ok := number(t)
		if !ok {
			return history.Absent, r.fail(start, "%q is not a number", t)
		}
		return v, nil
	}
	if v, ok := r.names[t]; ok {
		return v, nil
	}
	if err := r.checkText(t, start); err != nil {
		return history.Absent, err
	}
	var v history.Value
	switch {
	case t == "nil":
		v = history.Null
	case t == "true":
		v = history.True
	case t == "false":
		v = history.False
	case t[0] == ':' && len(t) > 1 && t[1] != ':':
		v = history.Keyword(t[1:])
	case t[0] == ':':
		return history.Absent, r.fail(start, "%q is not a keyword", t)
	default:
		v = history.Symbol(t)
	}
	r.names[strings.Clone(t)] = v
	return v, nil
}

// checkText refuses text that no canonical value could hold.
func (r *edn) checkText(t string, at int) error {
	for i, c := range t {
		if c == utf8.RuneError && !strings.HasPrefix(t[i:], "\uFFFD") {
			return r.fail(at+i, "byte 0x%02x is not valid UTF-8", t[i])
		}
		if c < ' ' {
			return r.fail(at+i, "control character 0x%02x in a name", t[i])
		}
	}
	return nil
}

// number reads an integer (with N), a decimal (with M), a ratio or a
// hexadecimal integer.
func number(t string) (history.Value, bool) {
	sign, body := "", t
	if t[0] == '+' || t[0] == '-' {
		sign, body = strings.TrimPrefix(t[:1], "+"), t[1:]
	}
	if hex := strings.ToLower(body); strings.HasPrefix(hex, "0x") {
		n, ok := new(big.Int).SetString(sign+hex[2:], 16)
		if !ok || strings.ContainsAny(hex[2:], "_+-") {
			return history.Absent, false
		}
		v, err := history.Number(n.String())
		return v, err == nil
	}
	if num, den, ok := strings.Cut(body, "/"); ok {
		n, okN := integer(sign, num)
		d, okD := integer("", den)
		return history.Ratio(n, d), okN && okD && strings.Trim(den, "0") != ""
	}
	if n, ok := integer(sign, strings.TrimSuffix(body, "N")); ok {
		return n, true
	}
	body = strings.TrimSuffix(body, "M")
	if len(body) > 1 && body[0] == '0' && isDigit(body[1]) || !plainDecimal(body) {
		return history.Absent, false
	}
	if !strings.ContainsAny(body, ".eE") {
		body += ".0" // 5M is a decimal
	}
	v, err := history.Number(sign + body)
	return v, err == nil
}

// integer reads decimal digits without a leading zero.
func integer(sign, digits string) (history.Value, bool) {
	if digits == "" || len(digits) > 1 && digits[0] == '0' || strings.Trim(digits, "0123456789") != "" {
		return history.Absent, false
	}
	if i, err := strconv.ParseInt(sign+digits, 10, 64); err == nil {
		return history.Int(i), true
	}
	v, err := history.Number(sign + digits)
	return v, err == nil
}

// plainDecimal reports whether t is digits[.digits][e[sign]digits], with a
// dangling point allowed as Clojure does.
func plainDecimal(t string) bool {
	mant, exp, hasExp := strings.Cut(strings.ToLower(t), "e")
	if hasExp {
		exp = strings.TrimLeft(exp[:min(1, len(exp))], "+-") + exp[min(1, len(exp)):]
		if exp == "" || strings.Trim(exp, "0123456789") != "" {
			return false
		}
	}
	whole, frac, _ := strings.Cut(mant, ".")
	return whole != "" && strings.Trim(whole+frac, "0123456789") == ""
}

// str reads the string at the current place.
func (r *edn) str() (string, error) {
	start := r.at
	var b []byte
	from := start + 1
	for i := from; i < len(r.s); {
		switch c := r.s[i]; {
		case c == '"':
			r.at = i + 1
			if b == nil {
				return r.s[from:i], nil
			}
			return string(append(b, r.s[from:i]...)), nil
		case c == '\\':
			text, n, err := r.escape(i)
			if err != nil {
				return "", err
			}
			b = append(append(b, r.s[from:i]...), text...)
			i += n
			from = i
		case c < utf8.RuneSelf:
			i++
		default:
			_, n := utf8.DecodeRuneInString(r.s[i:])
			if n == 1 {
				return "", r.fail(i, "byte 0x%02x is not valid UTF-8", c)
			}
			i += n
		}
	}
	return "", r.fail(start, "the string that starts here is not closed")
}

// escape reads the escape at offset i: its text and its length.
func (r *edn) escape(i int) (string, int, error) {
	if i+1 >= len(r.s) {
		return "", 0, r.fail(i, "the file ends inside an escape")
	}
	if k := strings.IndexByte(`tnr"\bf`, r.s[i+1]); k >= 0 {
		return "\t\n\r\"\\\b\f"[k : k+1], 2, nil
	}
	if r.s[i+1] != 'u' {
		return "", 0, r.fail(i, "unknown escape in a string")
	}
	c, ok := hex4(r.s, i+2)
	if !ok {
		return "", 0, r.fail(i, `\u must be followed by four hexadecimal digits`)
	}
	if !utf16.IsSurrogate(c) {
		return string(c), 6, nil
	}
	if strings.HasPrefix(r.s[i+6:], `\u`) {
		if low, ok := hex4(r.s, i+8); ok {
			if pair := utf16.DecodeRune(c, low); pair != utf8.RuneError {
				return string(pair), 12, nil
			}
		}
	}
	return "", 0, r.fail(i, "half of a surrogate pair")
}

func hex4(s string, at int) (rune, bool) {
	if at+4 > len(s) {
		return 0, false
	}
	n, err := strconv.ParseUint(s[at:at+4], 16, 16)
	return rune(n), err == nil
}

// char reads a character: \a, \newline, \u0041 or \o101.
func (r *edn) char() (history.Value, error) {
	start := r.at
	c, n := utf8.DecodeRuneInString(r.s[start+1:])
	if n == 0 || c == utf8.RuneError && n == 1 || c <= ' ' {
		return history.Absent, r.fail(start, "a character must follow the backslash")
	}
	r.at += 1 + n
	name := string(c) + r.token()
	if utf8.RuneCountInString(name) == 1 {
		return history.Char(name), nil
	}
	switch name {
	case "newline", "space", "tab", "return", "backspace", "formfeed":
		return history.Char(name), nil
	}
	code, err := uint64(0), error(strconv.ErrSyntax)
	switch {
	case name[0] == 'u' && len(name) == 5:
		code, err = strconv.ParseUint(name[1:], 16, 16)
	case name[0] == 'o' && len(name) <= 4:
		code, err = strconv.ParseUint(name[1:], 8, 8)
	}
	if err != nil || utf16.IsSurrogate(rune(code)) {
		return history.Absent, r.fail(start, "%q is not a character", `\`+name)
	}
	return history.Char(string(rune(code))), nil
}
