package consistency

import (
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// Entitlement is what one operation is promised; see PerOperation. The zero
// value is linearizable, spec.Entitlement describes the fields.
type Entitlement = spec.Entitlement

// PerOperation is a level that promises different things to different
// operations, as a store does that answers some reads from a cache: one order
// of all operations, in which each output is what the model gives, and
//
//	an operation that returned before another was invoked comes first, unless
//	one of the two is Untimed; an Early read counts as invoked that much earlier;
//	the operations of a process keep their order, but for those that are
//	Sessionless.
//
// of says what operation i of v is promised; it must not depend on anything
// but that operation. More relaxed entitlements never refuse what stricter ones
// allow. Where no operation is relaxed it is linearizable; where all are
// Untimed, sequential; where only reads are, real-time-writes; where reads are
// Early and Sessionless, bounded-staleness:t.
func PerOperation(name string, of func(v *history.View, i int32) Entitlement) Level {
	classify := func(v *history.View) []Entitlement {
		list := make([]Entitlement, v.N)
		for i := range list {
			list[i] = of(v, int32(i))
		}
		return list
	}
	return Level{
		Name: name, Local: true, entitled: of,
		Doc:      "One order of all operations; real time and session order bind each operation as far as its class says.",
		Source:   "linearizable, sequential and bounded-staleness:t, each for its own operations",
		WhyLocal: "what real time is left is an interval order; where session order goes beyond it, the history is not split",
		Order:    func(v *history.View, r *order.Rules) error { return orderEntitled(v, r, classify(v)) },
	}
}

func orderEntitled(v *history.View, r *order.Rules, list []Entitlement) error {
	early := false
	for _, e := range list {
		early = early || e.Early > 0
	}
	if early && v.Read == nil {
		return spec.ErrCannotTell
	}
	timed := func(i int32) bool { return !list[i].Untimed }
	span := order.Span{From: timed, To: timed}
	if early {
		span.Early = func(i int32) (int64, bool) {
			t, ok := list[i].EarlyRead(v.Read[i])
			if !ok {
				return 0, false
			}
			return int64(t), true
		}
	}
	addAll(r, order.Session(v, func(i int32) bool { return !list[i].Sessionless }, false))
	addAll(r, order.RealTime(v, span)...)
	return nil
}

// needsTimes reports whether a level has a bound in time for some operation of
// v.
func (l Level) needsTimes(v *history.View) bool {
	if l.timed || l.entitled == nil {
		return l.timed
	}
	for i := range int32(v.N) {
		if l.entitled(v, i).Early > 0 {
			return true
		}
	}
	return false
}
