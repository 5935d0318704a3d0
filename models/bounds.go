package models

import (
	"slices"
	"sort"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// CounterBounds checks every read of a counter against bounds: at least the sum
// of what was surely added before the read was invoked, and at most the sum of
// all that may have been added before it returned (for negative additions the
// other way round). It holds of every linearizable counter, and of many that
// are not: reads need not agree on an order. Each read is decided in O(log n).
func CounterBounds(h *history.Raw, o Options) (*Result, error) { return counterBounds().Run(h, o) }

func counterBounds() Analysis {
	return analysis(Analysis{
		Name:    "counter-bounds",
		Doc:     "A counter whose reads lie between the sum of the acknowledged and the sum of the attempted additions.",
		Initial: "an integer; 0",
	}, counterOps()[:2], judgeCounter)
}

// steps is a sum that grows at certain times.
type steps struct {
	at  []int64
	sum []history.Value // before any, after the first, after the second, ...
}

// stepsOf sums the numbers of ops in the order of their times.
func stepsOf(ops []int, time func(i int) int64, number func(i int) history.Value) (s steps) {
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b int) int {
		if time(a) < time(b) {
			return -1
		} else if time(a) > time(b) {
			return 1
		}
		return 0
	})
	s.sum = []history.Value{history.Int(0)}
	for _, i := range ops {
		next, _ := sum(s.sum[len(s.sum)-1], number(i))
		s.at, s.sum = append(s.at, time(i)), append(s.sum, next)
	}
	return s
}

// until returns the sum of the times for which in holds, which must be all up
// to a certain one.
func (s steps) until(in func(t int64) bool) history.Value {
	return s.sum[sort.Search(len(s.at), func(i int) bool { return !in(s.at[i]) })]
}

func judgeCounter(b *object[CounterIn, history.Value]) {
	var adds, acked, reads []int
	for _, i := range b.ops {
		switch op := &b.Ops[i]; {
		case op.Outcome == history.Fail:
		case op.In.F == "add":
			adds = append(adds, i)
			if op.Outcome == history.OK {
				acked = append(acked, i)
			}
		case b.known(i):
			reads = append(reads, i)
		}
	}
	if len(reads) == 0 {
		b.settle(spec.Vacuous, "no read returned")
		return
	}
	zero := history.Int(0)
	part := func(positive bool) func(i int) history.Value {
		return func(i int) history.Value {
			if n := b.Ops[i].In.N; compareNumbers(n, zero) > 0 == positive {
				return n
			}
			return zero
		}
	}
	surelyUp, surelyDown := stepsOf(acked, b.ret, part(true)), stepsOf(acked, b.ret, part(false))
	maybeUp, maybeDown := stepsOf(adds, b.call, part(true)), stepsOf(adds, b.call, part(false))
	start := b.initial
	if !isInt(start) {
		start = zero
	}
	for _, i := range reads {
		sure := func(ret int64) bool { return b.before(ret, b.call(i)) }
		maybe := func(call int64) bool { return !b.before(b.ret(i), call) }
		low, _ := sum(surelyUp.until(sure), maybeDown.until(maybe))
		high, _ := sum(maybeUp.until(maybe), surelyDown.until(sure))
		low, _ = sum(start, low)
		high, _ = sum(start, high)
		if out := b.Ops[i].Out; compareNumbers(out, low) < 0 || compareNumbers(out, high) > 0 {
			b.report(true, "out of bounds", []int{i}, "%s read %s, which is not between %s (what was surely added before) and %s (what may have been added by then)",
				b.Where(i), out.Label(), low.Label(), high.Label())
		}
	}
}
