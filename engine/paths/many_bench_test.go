package paths_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
	"pinyon/models"
)

// busyKeys is a long history of clients that each issue the next operation, on
// any key, when the last returned; half of them read. stale: one read in the
// middle returns the initial value.
func busyKeys(n, clients, keys int, stale bool) *spec.Subject {
	r := rand.New(rand.NewPCG(12, uint64(n)))
	h := &history.Of[models.RegisterIn, history.Value]{Ops: make([]history.Op[models.RegisterIn, history.Value], n)}
	effect, order := make([]int64, n), make([]int, n)
	free, key := make([]int64, clients), make([]int, n)
	for i := range h.Ops {
		c := 0
		for k := range free {
			if free[k] < free[c] {
				c = k
			}
		}
		op := &h.Ops[i]
		key[i] = r.IntN(keys)
		op.Process, op.Key = c, fmt.Sprint("k", key[i])
		op.Invoke = free[c] + 1 + r.Int64N(50)
		op.Return = op.Invoke + 1000 + r.Int64N(1000)
		free[c] = op.Return
		effect[i], order[i] = op.Invoke+r.Int64N(op.Return-op.Invoke+1), i
		if op.F, op.In = "read", models.Read(); r.IntN(2) == 0 {
			op.F, op.In, op.Out = "write", models.Write(value(i+1)), history.Absent
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(effect[a], effect[b]), a-b) })
	state := slices.Repeat([]history.Value{value(0)}, keys)
	for _, i := range order {
		if h.Ops[i].F == "write" {
			state[key[i]] = h.Ops[i].In.Value
		} else {
			h.Ops[i].Out = state[key[i]]
		}
	}
	for i := n / 2; stale; i++ {
		if stale = h.Ops[i].F != "read"; !stale {
			h.Ops[i].Out = value(0)
		}
	}
	s, err := spec.Erase(h, models.Register(value(0)))
	if err != nil {
		panic(err)
	}
	return s
}

// BenchmarkManyKeys times the path over 100 keys, from the rules to the answer.
func BenchmarkManyKeys(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		for _, level := range []string{"sequential", "ordered-sequential", "real-time-writes", "regular-sequential", "prefix-staleness:t=10us"} {
			for _, stale := range []bool{false, true} {
				b.Run(fmt.Sprintf("ops=%d/%s/stale=%v", n, level, stale), func(b *testing.B) {
					s := busyKeys(n, 20, 100, stale)
					l, err := consistency.LookupLevel(level)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportAllocs()
					for b.Loop() {
						rules := order.NewRules(s.View)
						if err := l.Order(s.View, rules); err != nil {
							b.Fatal(err)
						}
						begin := time.Now()
						p := &paths.Problem{Rules: rules, Machine: s.Machine(context.Background(), s.View, false)}
						a, _ := paths.Try(p, []paths.Path{paths.ManyKeys})
						if a.Kind == spec.Unknown || stale != (a.Kind == spec.Violation) {
							b.Fatalf("%v: %s", a.Kind, a.Reason)
						}
						b.Log(time.Since(begin), len(a.Core), a.Words)
					}
				})
			}
		}
	}
}
