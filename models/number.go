package models

import (
	"math/big"

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
