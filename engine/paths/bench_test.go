package paths_test

import (
	"cmp"
	"container/heap"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
)

var benchOps = flag.Int("bench.ops", 1_000_000, "operations of a history")

// busy is a long history of clients that each issue the next operation when
// the last returned, every one taking effect at a random instant inside its
// interval: 1 % of the adds without an answer (half of them happened), 10 %
// peeks, and enough takes that the structure is often empty.
func busy(structure string, n, clients int) []event {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	ops, effect := make([]event, n), make([]int64, n)
	free, order := make([]int64, clients), make([]int, 0, n)
	retired := clients
	f := names[structure]
	process := make([]int, clients)
	for c := range process {
		process[c] = c
	}
	for i := range ops {
		c := 0
		for k := range free {
			if free[k] < free[c] {
				c = k
			}
		}
		op := &ops[i]
		op.process, op.value = process[c], i+1
		op.call = free[c] + 1 + r.Int64N(50)
		op.ret = op.call + 1000 + r.Int64N(1000)
		free[c] = op.ret
		effect[i] = op.call + r.Int64N(op.ret-op.call+1)
		switch x := r.Float64(); {
		case x < 0.45:
			op.f = f[0]
			if op.told = true; r.IntN(100) == 0 {
				op.lost = true
				process[c] = retired
				retired++
				if r.IntN(2) == 0 {
					continue // it never happened
				}
				effect[i] += r.Int64N(5000)
			}
		case x < 0.9:
			op.f = f[1]
		default:
			op.f = f[2]
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(effect[a], effect[b]), a-b) })
	performAll(structure, ops, order, r)
	return ops
}

// performAll performs a long history; a log's get looks near its end.
func performAll(structure string, ops []event, order []int, r *rand.Rand) {
	held, top := []int{}, &greatest{}
	f, first := names[structure], 0
	for _, i := range order {
		op := &ops[i]
		op.out = nil
		switch {
		case op.f == f[0]:
			op.out = []int{len(held)}
			held = append(held, op.value)
			heap.Push(top, op.value)
		case structure == "log":
			if op.index = max(0, len(held)-r.IntN(8)); op.f == f[2] {
				op.out = held[op.index:len(held):len(held)]
			} else if op.index < len(held) {
				op.out = []int{held[op.index]}
			}
		case structure == "priority-queue" && top.Len() > 0:
			op.out = []int{(*top)[0]}
			if op.f == f[1] {
				heap.Pop(top)
			}
		case structure == "stack" && len(held) > 0:
			op.out = []int{held[len(held)-1]}
			if op.f == f[1] {
				held = held[:len(held)-1]
			}
		case structure == "queue" && first < len(held):
			op.out = []int{held[first]}
			if op.f == f[1] {
				first++
			}
		}
	}
}

type greatest []int

func (g greatest) Len() int           { return len(g) }
func (g greatest) Less(i, j int) bool { return g[i] > g[j] }
func (g greatest) Swap(i, j int)      { g[i], g[j] = g[j], g[i] }
func (g *greatest) Push(x any)        { *g = append(*g, x.(int)) }
func (g *greatest) Pop() any {
	last := (*g)[len(*g)-1]
	*g = (*g)[:len(*g)-1]
	return last
}

// spoil exchanges the answers of two takes (of a log, two gets) that lie some
// way apart in the middle.
func spoil(structure string, ops []event) {
	take := names[structure][1]
	var some []int
	for i := len(ops) / 2; len(some) < 50; i++ {
		if ops[i].f == take && ops[i].out != nil && !ops[i].lost {
			some = append(some, i)
		}
	}
	a, b := some[0], some[49]
	ops[a].out, ops[b].out = ops[b].out, ops[a].out
}

// processTime is the processor time of the process so far, on all processors.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPaths times the paths on long histories: from the columns of the
// history to the verdict, the replay of the order that was found included.
func BenchmarkPaths(b *testing.B) {
	for _, name := range structures {
		for _, spoiled := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/spoiled=%v", name, spoiled), func(b *testing.B) {
				ops := busy(name, *benchOps, 8)
				want := spec.Consistent
				if spoiled {
					spoil(name, ops)
					want = spec.Violation
				}
				s := subject(name, ops, history.TiesConcurrent)
				b.ReportAllocs()
				runtime.GC()
				before := processTime()
				for b.Loop() {
					p := &paths.Problem{Rules: rules(s), Machine: s.Machine(context.Background(), s.View, false)}
					a, by := paths.Try(p, all)
					if a.Kind != want || by != name {
						b.Fatalf("%v by %q: %s", a.Kind, by, a.Reason)
					}
				}
				b.ReportMetric((processTime()-before).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}
