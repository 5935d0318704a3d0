package paths_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// busyRegister is a long history of clients that each issue the next operation
// when the last returned: reads and writes of so many values (0: each its own),
// some writes without an answer; stale: one read in the middle returns what
// was overwritten long before.
func busyRegister(n, clients, values int, reads, crashed float64, stale bool) *spec.Subject {
	r := rand.New(rand.NewPCG(11, uint64(n)))
	h := &history.Of[models.RegisterIn, history.Value]{Ops: make([]history.Op[models.RegisterIn, history.Value], n)}
	effect, order := make([]int64, n), make([]int, 0, n)
	free, process := make([]int64, clients), make([]int, clients)
	for c := range process {
		process[c] = c
	}
	retired := clients
	for i := range h.Ops {
		c := 0
		for k := range free {
			if free[k] < free[c] {
				c = k
			}
		}
		op := &h.Ops[i]
		op.Process = process[c]
		op.Invoke = free[c] + 1 + r.Int64N(50)
		op.Return = op.Invoke + 1000 + r.Int64N(1000)
		free[c] = op.Return
		effect[i] = op.Invoke + r.Int64N(op.Return-op.Invoke+1)
		if r.Float64() < reads {
			op.F, op.In = "read", models.Read()
		} else {
			v := i + 1
			if values > 0 {
				v = 1 + r.IntN(values)
			}
			op.F, op.In, op.Out = "write", models.Write(value(v)), history.Absent
			if r.Float64() < crashed {
				op.Outcome = history.Info
				process[c] = retired
				retired++
				if r.IntN(2) == 0 {
					continue
				}
			}
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(effect[a], effect[b]), a-b) })
	state := value(0)
	for _, i := range order {
		if h.Ops[i].F == "write" {
			state = h.Ops[i].In.Value
		} else {
			h.Ops[i].Out = state
		}
	}
	if stale {
		for i := n / 2; ; i++ {
			if h.Ops[i].F == "read" {
				h.Ops[i].Out = value(0)
				break
			}
		}
	}
	s, err := spec.Erase(h, models.Register(value(0)))
	if err != nil {
		panic(err)
	}
	return s
}

// BenchmarkRegister times registers from the columns of the history to the
// verdict.
func BenchmarkRegister(b *testing.B) {
	for _, c := range []struct {
		ops, clients, values int
		reads, crashed       float64
	}{
		{2000, 8, 5, .5, 0}, {2000, 16, 5, .5, 0}, {2000, 32, 5, .5, 0}, {2000, 32, 50, .5, 0}, {2000, 32, 50, .01, 0}, {2000, 32, 5, .01, 0}, {2000, 32, 0, .5, 0},
		{100_000, 16, 5, .5, .005}, {100_000, 16, 50, .5, .005}, {1_000_000, 16, 0, .5, .005},
	} {
		for _, stale := range []bool{false, true} {
			b.Run(fmt.Sprintf("ops=%d/clients=%d/values=%d/reads=%v/crashed=%v/stale=%v", c.ops, c.clients, c.values, c.reads, c.crashed, stale), func(b *testing.B) {
				s := busyRegister(c.ops, c.clients, c.values, c.reads, c.crashed, stale)
				b.ReportAllocs()
				by, states := "", int64(0)
				for b.Loop() {
					ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
					part, err := engine.Decide(ctx, engine.Task{Rules: rules(s), Machine: s.Machine(ctx, s.View, false), Eager: true, Focus: -1, Mute: true})
					cancel()
					if by = part.Engine; err != nil || part.Kind == spec.Unknown || stale != (part.Kind == spec.Violation) {
						b.Fatalf("%v by %s (%s): %v", part.Kind, by, part.Tried, err)
					}
					states = part.States
				}
				b.ReportMetric(float64(states), "states")
				b.Log(by)
			})
		}
	}
}
