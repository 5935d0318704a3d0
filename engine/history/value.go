package history

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unique"
)

// Kind says what a Value holds.
type Kind uint8

// The kinds of a Value. Int holds what fits an int64, BigInt every other
// integer, Decimal every number that was written with a point or an exponent.
// The kinds from Keyword on exist for lossless EDN.
const (
	KindAbsent Kind = iota
	KindNull
	KindBool
	KindInt
	KindBigInt
	KindDecimal
	KindString
	KindArray
	KindObject
	KindKeyword
	KindSymbol
	KindSet
	KindMap
	KindChar
	KindRatio
	KindTag
)

var kindNames = [...]string{"nothing", "null", "a boolean", "an integer", "an integer", "a decimal", "a string",
	"an array", "an object", "a keyword", "a symbol", "a set", "a map", "a character", "a ratio", "a tagged value"}

// String names the kind in words that fit "expected ..., got ...".
func (k Kind) String() string { return kindNames[k] }

// Value is one recorded value, comparable, of sixteen bytes. Two Values are ==
// exactly when they are the same value: numbers are exact (never float64),
// objects and sets do not depend on the order of their members, 7 and "7"
// differ, and so do 1 and 1.0. The zero Value is "absent", which is not null.
type Value struct {
	h   unique.Handle[atom] // integers: the one handle of integers
	num int64               // KindInt: the integer; 0 for every other kind
}

// atom is the canonical content behind a Value: its text is canonical JSON. An
// integer has none, as most values are integers and nearly all of them differ.
type atom struct {
	kind Kind
	text string
}

var integers = unique.Make(atom{kind: KindInt})

func intern(k Kind, text string) Value { return Value{h: unique.Make(atom{k, text})} }

// Absent is the zero Value: no value was recorded.
var Absent = Value{}

// Null is JSON's null, EDN's nil.
var Null = intern(KindNull, "null")

// True and False are the booleans.
var (
	True  = intern(KindBool, "true")
	False = intern(KindBool, "false")
)

// Bool returns True or False.
func Bool(b bool) Value {
	if b {
		return True
	}
	return False
}

// Int returns the integer i.
func Int(i int64) Value { return Value{integers, i} }

// String returns the string s.
func String(s string) Value { return intern(KindString, string(appendQuoted(nil, s))) }

// Keyword returns the EDN keyword :name (name without the colon).
func Keyword(name string) Value { return tagged(KindKeyword, "$kw", string(appendQuoted(nil, name))) }

// Symbol returns the EDN symbol name.
func Symbol(name string) Value { return tagged(KindSymbol, "$sym", string(appendQuoted(nil, name))) }

// charNames are the characters that EDN names.
var charNames = map[string]string{"newline": "\n", "return": "\r", "space": " ", "tab": "\t", "backspace": "\b", "formfeed": "\f"}

// Char returns the EDN character c, which may be given by its EDN name
// ("newline"): \newline and \u000a are one character.
func Char(c string) Value {
	if named, ok := charNames[c]; ok {
		c = named
	}
	return tagged(KindChar, "$char", string(appendQuoted(nil, c)))
}

// Ratio returns the EDN ratio num/den of two integers in lowest terms, as
// Clojure reads it: 2/4 is 1/2, and 4/2 is the integer 2. What cannot be a
// ratio (a denominator of 0) stays as it was written.
func Ratio(num, den Value) Value {
	p, okP := new(big.Int).SetString(num.Text(), 10)
	q, okQ := new(big.Int).SetString(den.Text(), 10)
	if okP && okQ && q.Sign() != 0 {
		r := new(big.Rat).SetFrac(p, q)
		num, _ = Number(r.Num().String())
		den, _ = Number(r.Denom().String())
		if r.IsInt() {
			return num
		}
	}
	return tagged(KindRatio, "$ratio", "["+num.Text()+","+den.Text()+"]")
}

// Tag returns an EDN tagged literal, #name v.
func Tag(name string, v Value) Value {
	return tagged(KindTag, "$tag", "["+string(appendQuoted(nil, name))+","+v.Text()+"]")
}

func tagged(k Kind, tag, body string) Value {
	return intern(k, `{"`+tag+`":`+body+`}`)
}

// Array returns the list of vs, in order.
func Array(vs ...Value) Value { return intern(KindArray, joined(vs)) }

// Set returns the set of vs; order and repetition do not matter.
func Set(vs ...Value) Value {
	s := slices.Clone(vs)
	slices.SortFunc(s, Compare)
	return tagged(KindSet, "$set", joined(slices.Compact(s)))
}

func joined(vs []Value) string {
	b := []byte{'['}
	for i, v := range vs {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.AppendText(b)
	}
	return string(append(b, ']'))
}

// Member is one entry of an object or map.
type Member struct{ Key, Value Value }

// Object returns the object or map with the members ms, whose keys must
// differ. With keys that are all strings it is a JSON object; otherwise it is
// an EDN map. It fails on a repeated key.
func Object(ms ...Member) (Value, error) {
	s := slices.Clone(ms)
	slices.SortFunc(s, func(a, b Member) int { return Compare(a.Key, b.Key) })
	plain := true
	for i, m := range s {
		if i > 0 && m.Key == s[i-1].Key {
			return Absent, fmt.Errorf("the key %s stands twice", m.Key.Text())
		}
		plain = plain && m.Key.Kind() == KindString
	}
	// {"$kw":"a"} is a keyword, so an object that only looks like one is a map.
	if len(s) == 1 && plain && strings.HasPrefix(s[0].Key.Text(), `"$`) {
		plain = false
	}
	if plain {
		b := []byte{'{'}
		for i, m := range s {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.Value.AppendText(append(m.Key.AppendText(b), ':'))
		}
		return intern(KindObject, string(append(b, '}'))), nil
	}
	pairs := make([]Value, len(s))
	for i, m := range s {
		pairs[i] = Array(m.Key, m.Value)
	}
	return tagged(KindMap, "$map", joined(pairs)), nil
}

// Number returns the number that text writes, JSON's grammar with an optional
// leading plus. Integers stay exact at any size; a decimal keeps its exact
// value: 1.50 and 1.5 are one value, 1.0 and 1 are two.
func Number(text string) (Value, error) {
	t := strings.TrimPrefix(text, "+")
	if isInteger(t) {
		if i, err := strconv.ParseInt(t, 10, 64); err == nil {
			return Int(i), nil
		}
		neg, digits := strings.HasPrefix(t, "-"), strings.TrimLeft(strings.TrimPrefix(t, "-"), "0")
		if neg {
			digits = "-" + digits
		}
		return intern(KindBigInt, digits), nil
	}
	return decimal(t)
}

func isInteger(t string) bool {
	d := strings.TrimPrefix(t, "-")
	for i := range len(d) {
		if d[i] < '0' || d[i] > '9' {
			return false
		}
	}
	return d != ""
}

// decimal canonicalizes a number with a point or an exponent.
func decimal(t string) (Value, error) {
	bad := fmt.Errorf("%q is not a number", t)
	body, neg := t, false
	if strings.HasPrefix(body, "-") {
		body, neg = body[1:], true
	}
	mant, expText, hasExp := strings.Cut(strings.ToLower(body), "e")
	exp := int64(0)
	if hasExp {
		e, err := strconv.ParseInt(expText, 10, 32)
		if err != nil {
			return Absent, bad
		}
		exp = e
	}
	whole, frac, _ := strings.Cut(mant, ".")
	if whole == "" && frac == "" || strings.Trim(whole+frac, "0123456789") != "" {
		return Absent, bad
	}
	// value = 0.digits * 10^exp
	digits := strings.TrimLeft(whole+frac, "0")
	exp += int64(len(whole)) - int64(len(whole+frac)-len(digits))
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return intern(KindDecimal, "0.0"), nil
	}
	if exp-1 != int64(int32(exp-1)) {
		return Absent, fmt.Errorf("the exponent of %q is out of range", t) // its text could not be read again
	}
	text := placePoint(digits, exp)
	if neg {
		text = "-" + text
	}
	return intern(KindDecimal, text), nil
}

// placePoint writes 0.digits * 10^exp, plainly unless that would be long.
func placePoint(digits string, exp int64) string {
	n := int64(len(digits))
	switch {
	case exp > 60 || exp < -60:
		return digits[:1] + "." + orZero(digits[1:]) + "e" + strconv.FormatInt(exp-1, 10)
	case exp <= 0:
		return "0." + strings.Repeat("0", int(-exp)) + digits
	case exp >= n:
		return digits + strings.Repeat("0", int(exp-n)) + ".0"
	}
	return digits[:exp] + "." + digits[exp:]
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// Kind says what v holds.
func (v Value) Kind() Kind {
	switch {
	case v.h == integers:
		return KindInt
	case v == Absent:
		return KindAbsent
	}
	return v.h.Value().kind
}

// Text returns v as canonical JSON ("" when absent). Equal values have equal
// texts and different values have different texts.
func (v Value) Text() string {
	switch {
	case v.h == integers:
		return strconv.FormatInt(v.num, 10)
	case v == Absent:
		return ""
	}
	return v.h.Value().text
}

// AppendText appends v's Text to b.
func (v Value) AppendText(b []byte) []byte {
	if v.h == integers {
		return strconv.AppendInt(b, v.num, 10)
	}
	return append(b, v.Text()...)
}

// Int64 returns the integer that v holds, if it fits an int64.
func (v Value) Int64() (int64, bool) { return v.num, v.h == integers }

// Bool returns the boolean that v holds, if it holds one.
func (v Value) Bool() (b, ok bool) { return v == True, v == True || v == False }

// Str returns the string, or the name of the keyword or symbol, that v holds.
func (v Value) Str() (string, bool) {
	switch v.Kind() {
	case KindString:
		s, _, err := unquote(v.Text(), 0)
		return s, err == nil
	case KindKeyword, KindSymbol, KindChar:
		t := v.Text()
		s, _, err := unquote(t, strings.IndexByte(t, ':')+1)
		return s, err == nil
	}
	return "", false
}

// Elems returns the elements of an array or set (or of a ratio or tagged
// value: its two parts); ok is false for any other kind.
func (v Value) Elems() (elems []Value, ok bool) {
	switch v.Kind() {
	case KindArray:
		elems = canonicalElems(v.Text(), 0)
	case KindSet, KindRatio, KindTag:
		elems = canonicalElems(v.Text(), strings.IndexByte(v.Text(), ':')+1)
	default:
		return nil, false
	}
	return elems, true
}

// Members returns the entries of an object or map, sorted by Compare of keys.
func (v Value) Members() (ms []Member, ok bool) {
	switch v.Kind() {
	case KindObject:
		ms = canonicalMembers(v.Text())
	case KindMap:
		for _, p := range canonicalElems(v.Text(), strings.IndexByte(v.Text(), ':')+1) {
			kv, _ := p.Elems()
			ms = append(ms, Member{kv[0], kv[1]})
		}
	default:
		return nil, false
	}
	return ms, true
}

// Get returns the member of an object with the string key name, or Absent.
func (v Value) Get(name string) Value {
	ms, _ := v.Members()
	for _, m := range ms {
		if m.Key == String(name) {
			return m.Value
		}
	}
	return Absent
}

// Label returns v as people write it: a string without its quotes where no
// other value could be meant, a keyword as :name, everything else as JSON.
// Different values have different labels; the absent value's is "".
func (v Value) Label() string {
	switch v.Kind() {
	case KindString:
		s, _ := v.Str()
		if plainLabel(s) {
			return s
		}
	case KindKeyword:
		if s, _ := v.Str(); plainLabel(s) {
			return ":" + s
		}
	}
	return v.Text()
}

// plainLabel reports whether s without quotes can only mean the string s.
func plainLabel(s string) bool {
	if s == "" || s == "null" || s == "true" || s == "false" {
		return false
	}
	for i, r := range s {
		if r <= ' ' || r == '"' || r == utf8.RuneError || r == 0x7f {
			return false
		}
		if i == 0 && strings.ContainsRune("-+.0123456789{[:", r) {
			return false
		}
	}
	return true
}

// ParseLabel is the inverse of Label: JSON where s is JSON, :name for a
// keyword, and otherwise the string s itself.
func ParseLabel(s string) Value {
	if s == "" {
		return Absent
	}
	if v, err := ParseValue(s); err == nil {
		return v
	}
	if len(s) > 1 && s[0] == ':' {
		return Keyword(s[1:])
	}
	return String(s)
}

// Compare orders values totally and the same in every process: by kind, then
// by integer, then by text.
func Compare(a, b Value) int {
	if a == b {
		return 0
	}
	if c := cmp.Compare(a.Kind(), b.Kind()); c != 0 {
		return c
	}
	if a.Kind() == KindInt {
		return cmp.Compare(a.num, b.num)
	}
	return strings.Compare(a.Text(), b.Text())
}

// FoldNumbers returns v with every decimal of integral value below 10^60
// replaced by the integer, at any depth: the meaning of --numeric equal.
func (v Value) FoldNumbers() Value {
	switch v.Kind() {
	case KindDecimal:
		if whole, ok := strings.CutSuffix(v.Text(), ".0"); ok && isInteger(whole) {
			n, _ := Number(whole)
			return n
		}
	case KindArray, KindSet:
		elems, _ := v.Elems()
		for i := range elems {
			elems[i] = elems[i].FoldNumbers()
		}
		if v.Kind() == KindSet {
			return Set(elems...)
		}
		return Array(elems...)
	case KindObject, KindMap:
		ms, _ := v.Members()
		for i := range ms {
			ms[i] = Member{ms[i].Key.FoldNumbers(), ms[i].Value.FoldNumbers()}
		}
		if o, err := Object(ms...); err == nil {
			return o
		}
	}
	return v
}
