package models

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"pinyon/engine/history"
)

// ErrKind is what a model from a file stops with where a value has the wrong
// kind, such as a sum with null. It is no verdict about the store.
var ErrKind = errors.New("a value of the wrong kind")

// eval returns the value of x in a state. The error wraps ErrKind.
func (x *expr) eval(state history.Value, in *fileIn) (history.Value, error) {
	switch x.op {
	case opLiteral:
		return x.lit, nil
	case opState:
		return state, nil
	case opPart:
		return in.part(x.part), nil
	case opAnd, opOr:
		l, err := x.l.truth(state, in)
		if err != nil || l == (x.op == opOr) {
			return history.Bool(l), err
		}
		r, err := x.r.truth(state, in)
		return history.Bool(r), err
	case opNot:
		l, err := x.l.truth(state, in)
		return history.Bool(!l), err
	}
	l, err := x.l.eval(state, in)
	if err != nil {
		return l, err
	}
	var r history.Value
	if x.r != nil {
		if r, err = x.r.eval(state, in); err != nil {
			return r, err
		}
	}
	return x.apply(l, r)
}

// truth is eval for what must be true or false.
func (x *expr) truth(state history.Value, in *fileIn) (bool, error) {
	v, err := x.eval(state, in)
	if err != nil {
		return false, err
	}
	b, ok := v.Bool()
	if !ok {
		return false, fmt.Errorf("%w: %s is %s here, and a condition is true or false", ErrKind, x.text, got(v))
	}
	return b, nil
}

// apply computes an operator that needs all its operands.
func (x *expr) apply(l, r history.Value) (history.Value, error) {
	switch x.op {
	case opEqual:
		return history.Bool(l == r), nil
	case opUnequal:
		return history.Bool(l != r), nil
	case opIsNumber:
		return history.Bool(isNumber(l)), nil
	}
	for _, side := range []struct {
		e *expr
		v history.Value
	}{{x.l, l}, {x.r, r}} {
		if side.e != nil && !isNumber(side.v) {
			return history.Absent, fmt.Errorf("%w: %s is %s here, and %q takes numbers (a condition such as isNumber(%s) leaves it out)",
				ErrKind, side.e.text, got(side.v), x.text, side.e.text)
		}
	}
	switch x.op {
	case opLess:
		return history.Bool(compareNumbers(l, r) < 0), nil
	case opAtMost:
		return history.Bool(compareNumbers(l, r) <= 0), nil
	case opMore:
		return history.Bool(compareNumbers(l, r) > 0), nil
	case opAtLeast:
		return history.Bool(compareNumbers(l, r) >= 0), nil
	case opNegate:
		return opposite(l), nil
	case opSubtract:
		r = opposite(r)
	}
	return addNumbers(l, r)
}

// opposite is -v of a number.
func opposite(v history.Value) history.Value {
	text, negative := strings.CutPrefix(v.Text(), "-")
	if !negative {
		text = "-" + text
	}
	m, _ := history.Number(text) // a number's text, with another sign
	if m == history.Absent || text == "-0" {
		return v
	}
	return m
}

// maxDigits bounds how far apart the digits of a sum may lie.
const maxDigits = 10_000

// addNumbers adds two numbers exactly: integers give an integer, anything else
// a decimal.
func addNumbers(a, b history.Value) (history.Value, error) {
	if s, ok := sum(a, b); ok {
		return s, nil
	}
	x, ex := scaled(a)
	y, ey := scaled(b)
	low := min(ex, ey)
	if max(ex, ey)-low > maxDigits {
		return history.Absent, fmt.Errorf("%w: the digits of %s and %s are too far apart for an exact sum", ErrKind, got(a), got(b))
	}
	shift := func(n *big.Int, by int64) *big.Int {
		return n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(by), nil))
	}
	total := shift(x, ex-low)
	total.Add(total, shift(y, ey-low))
	v, err := history.Number(total.String() + "e" + strconv.FormatInt(low, 10))
	if err != nil {
		return v, fmt.Errorf("%w: %v", ErrKind, err)
	}
	return v, nil
}

// scaled takes a number apart into n and exp: it is n * 10^exp.
func scaled(v history.Value) (n *big.Int, exp int64) {
	mantissa, power, _ := strings.Cut(v.Text(), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	fraction = strings.TrimRight(fraction, "0")
	exp, _ = strconv.ParseInt(power, 10, 64) // 0 where there is none
	n, _ = new(big.Int).SetString(whole+fraction, 10)
	return n, exp - int64(len(fraction))
}
