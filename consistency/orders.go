package consistency

import (
	"time"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// The orders of the levels. Reads and writes are as in spec: a read is
// read-only by input and output; everything else is a write, an operation
// without an answer too.

func reads(v *history.View) order.Filter  { return func(i int32) bool { return v.Read[i] } }
func writes(v *history.View) order.Filter { return func(i int32) bool { return !v.Read[i] } }

// asks refuses a model that cannot tell reads from writes.
func asks(v *history.View) error {
	if v.Read == nil {
		return spec.ErrCannotTell
	}
	return nil
}

func addAll(r *order.Rules, sources ...order.Source) { r.Hard = append(r.Hard, sources...) }

func orderAll(v *history.View, r *order.Rules) error {
	addAll(r, order.Session(v, nil, false))
	addAll(r, order.RealTime(v, order.Span{})...)
	return nil
}

func orderSession(v *history.View, r *order.Rules) error {
	addAll(r, order.Session(v, nil, false))
	return nil
}

func orderSessionPerKey(v *history.View, r *order.Rules) error {
	addAll(r, order.Session(v, nil, true))
	return nil
}

func orderUpdates(v *history.View, r *order.Rules) error {
	if err := asks(v); err != nil {
		return err
	}
	addAll(r, order.Session(v, nil, false))
	addAll(r, order.RealTime(v, order.Span{To: writes(v)})...)
	return nil
}

func orderWrites(v *history.View, r *order.Rules) error {
	if err := asks(v); err != nil {
		return err
	}
	addAll(r, order.Session(v, nil, false))
	addAll(r, order.RealTime(v, order.Span{From: writes(v), To: writes(v)})...)
	return nil
}

func orderRegular(v *history.View, r *order.Rules) error {
	if err := orderWrites(v, r); err != nil {
		return err
	}
	addAll(r, order.RealTime(v, order.Span{From: writes(v), To: reads(v), Within: v.Key})...)
	return nil
}

// orderEarlyReads moves the calls of reads back by t. Reads leave their
// session: one that is ordered early may come before what its process did.
func orderEarlyReads(t time.Duration) func(v *history.View, r *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		if err := asks(v); err != nil {
			return err
		}
		early := func(i int32) (int64, bool) {
			if v.Read[i] {
				return int64(t), true
			}
			return 0, false
		}
		addAll(r, order.Session(v, writes(v), false))
		addAll(r, order.RealTime(v, order.Span{Early: early})...)
		return nil
	}
}
