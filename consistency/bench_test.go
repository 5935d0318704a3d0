package consistency_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/models"
)

// closedLoop is what clients see that keep a register busy: each issues the
// next operation when the last returned, with unique values, and every
// operation takes effect at a random instant inside its interval.
func closedLoop(clients, n int, reads float64, seed uint64) *history.Of[models.RegisterIn, history.Value] {
	rng := rand.New(rand.NewPCG(seed, 0))
	type pending struct {
		op     int
		effect int64
	}
	h := &history.Of[models.RegisterIn, history.Value]{}
	free := make([]int64, clients) // when each client is free again
	var effects []pending
	for i := range n {
		c := 0
		for k := range free {
			if free[k] < free[c] {
				c = k
			}
		}
		start := free[c]
		end := start + 1000 + rng.Int64N(1000)
		free[c] = end + 1 + rng.Int64N(50)
		op := history.Op[models.RegisterIn, history.Value]{Process: c, F: "write", In: models.Write(history.Int(int64(i + 1))), Invoke: start, Return: end}
		if rng.Float64() < reads {
			op.F, op.In = "read", models.Read()
		}
		h.Ops = append(h.Ops, op)
		effects = append(effects, pending{i, start + rng.Int64N(end-start)})
	}
	slices.SortFunc(effects, func(a, b pending) int { return cmp.Or(cmp.Compare(a.effect, b.effect), a.op-b.op) })
	value := history.Null
	for _, e := range effects {
		if op := &h.Ops[e.op]; op.F == "read" {
			op.Out = value
		} else {
			value = op.In.Value
		}
	}
	return h
}

// BenchmarkRegister times checks of consistent register histories; states and
// nanoseconds per operation are reported.
func BenchmarkRegister(b *testing.B) {
	for _, level := range []string{"linearizable", "sequential", "bounded-staleness:k=2"} {
		for _, n := range []int{1_000, 10_000, 100_000} {
			for _, clients := range []int{4, 16} {
				b.Run(fmt.Sprintf("%s/%d/%d-clients", level, n, clients), func(b *testing.B) {
					h := closedLoop(clients, n, 0.5, 1)
					var states int64
					for b.Loop() {
						v, err := consistency.Check(context.Background(), h, models.Register(history.Null), must(level), consistency.Options{Workers: 1})
						if err != nil {
							b.Fatal(err)
						}
						states = v.Parts[0].States
						if v.Kind != 0 {
							b.Skipf("%v: %s", v.Kind, v.Parts[0].Reason)
						}
					}
					b.ReportMetric(float64(states), "states")
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
				})
			}
		}
	}
}
