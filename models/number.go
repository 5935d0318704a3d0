package models

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"pinyon/engine/history"
)

// isInt reports whether v is an integer of any size.
func isInt(v history.Value) bool {
	return v.Kind() == history.KindInt || v.Kind() == history.KindBigInt
}

// sum adds two integers exactly; ok is false when either is none.
func sum(a, b history.Value) (s history.Value, ok bool) {
	if !isInt(a) || !isInt(b) {
		return history.Absent, false
	}
	x, okX := a.Int64()
	y, okY := b.Int64()
	// The sum overflows exactly when it has the sign of neither operand.
	if t := x + y; okX && okY && (x^t)&(y^t) >= 0 {
		return history.Int(t), true
	}
	p, _ := new(big.Int).SetString(a.Text(), 10)
	q, _ := new(big.Int).SetString(b.Text(), 10)
	s, err := history.Number(p.Add(p, q).String())
	return s, err == nil
}

// isNumber reports whether v is a number.
func isNumber(v history.Value) bool { return isInt(v) || v.Kind() == history.KindDecimal }

// compareNumbers orders two numbers by value, exactly; 0 where they are equal,
// such as 1 and 1.0.
func compareNumbers(a, b history.Value) int {
	if x, ok := a.Int64(); ok {
		if y, ok := b.Int64(); ok {
			return cmp.Compare(x, y)
		}
	}
	return strings.Compare(sortKey(a), sortKey(b))
}

// sortKey writes a value as a text that sorts as the value does: numbers by
// value, then strings, then arrays element by element, a beginning before what
// goes on; everything else after them, in any fixed order. Different numbers of
// one value have one key. No exponent can make it long.
func sortKey(v history.Value) string {
	switch {
	case isNumber(v):
		return numberKey(v.Text())
	case v.Kind() == history.KindString:
		s, _ := v.Str()
		return "3" + hex.EncodeToString([]byte(s)) + " "
	case v.Kind() == history.KindArray:
		elems, _ := v.Elems()
		var b strings.Builder
		b.WriteByte('4')
		for _, e := range elems {
			b.WriteString(sortKey(e))
		}
		b.WriteByte(' ')
		return b.String()
	}
	return fmt.Sprintf("5%02d", v.Kind()) + hex.EncodeToString([]byte(v.Text())) + " "
}

// numberKey brings a number into the form ±0.digits * 10^exp, where digits
// neither begins nor ends with 0: numbers of one sign then sort by exp, and
// within one exp by digits. What is negative sorts the other way round.
func numberKey(text string) string {
	body, negative := strings.CutPrefix(text, "-")
	mantissa, power, _ := strings.Cut(body, "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	digits := strings.TrimLeft(all, "0")
	exp, _ := strconv.ParseInt(power, 10, 64) // 0 where there is none
	exp += int64(len(whole)) - int64(len(all)-len(digits))
	digits = strings.TrimRight(digits, "0")
	const middle = 1 << 40 // exponents are 32-bit numbers plus a length
	switch {
	case digits == "":
		return "1"
	case !negative:
		return fmt.Sprintf("2%014d%s ", middle+exp, digits)
	}
	flipped := []byte(digits)
	for i, d := range flipped {
		flipped[i] = '0' + '9' - d
	}
	return fmt.Sprintf("0%014d%s~", middle-exp, flipped)
}

// negated returns -n exactly; ok is false when n is no integer.
func negated(n history.Value) (m history.Value, ok bool) {
	if !isInt(n) {
		return history.Absent, false
	}
	text, negative := strings.CutPrefix(n.Text(), "-")
	if !negative && text != "0" {
		text = "-" + text
	}
	m, err := history.Number(text)
	return m, err == nil
}
