package paths_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
	"pinyon/models"
)

// longCase is a long history of one object.
type longCase struct {
	name, path string
	make       func(n int, spoiled bool) *spec.Subject
}

var longCases = []longCase{
	{"owner-mutex", "mutex", func(n int, spoiled bool) *spec.Subject {
		return longLock(n, spoiled, models.OwnerMutex(), func(f string, owner int) models.OwnedIn {
			return models.OwnedIn{F: f, Owner: value(owner)}
		})
	}},
	{"mutex", "members", func(n int, spoiled bool) *spec.Subject {
		return longLock(n, spoiled, models.Mutex(), func(f string, _ int) models.MutexIn { return models.MutexIn{F: f} })
	}},
	{"set", "members", longSet},
	{"flag", "members", longFlag},
	{"counter", "counter", longCount},
}

// longLock is a lock for which eight clients queue: each waits from its call on
// for those before it, so that many calls overlap. Spoiled: one in the middle
// takes the lock while another holds it.
func longLock[S, In any](n int, spoiled bool, m spec.Model[S, In, history.Value], in func(f string, owner int) In) *spec.Subject {
	r := rand.New(rand.NewPCG(5, uint64(n)))
	h := &history.Of[In, history.Value]{}
	process, free := make([]int, 8), make([]int64, 8)
	for c := range process {
		process[c] = c
	}
	now := int64(100)
	add := func(owner int, f string, call, ret int64) {
		h.Ops = append(h.Ops, history.Op[In, history.Value]{Process: owner, F: f, In: in(f, owner), Invoke: call, Return: ret, Out: history.Absent})
	}
	for intruded := !spoiled; len(h.Ops) < n; {
		c := r.IntN(8)
		taken := max(now, free[c]) + 1 + r.Int64N(5)
		given := taken + 20 + r.Int64N(20)
		answered := given + r.Int64N(10) // when another may have the lock
		add(process[c], "acquire", max(free[c]+1, taken-r.Int64N(500)), taken+r.Int64N(8))
		if !intruded && len(h.Ops) > n/2 {
			intruded = true
			add(-1, "acquire", taken+10, taken+11)
			add(-1, "release", taken+13, taken+14)
		}
		add(process[c], "release", given-1, answered)
		if now, free[c] = given, answered; r.IntN(50) == 0 { // a hundredth of the operations
			h.Ops[len(h.Ops)-1].Outcome = history.Info
			process[c] = len(h.Ops) + 8
		}
	}
	return erased(h, m)
}

func erased[S, In, Out any](h *history.Of[In, Out], m spec.Model[S, In, Out]) *spec.Subject {
	s, err := spec.Erase(h, m)
	if err != nil {
		panic(err)
	}
	return s
}

// longOps is what eight clients do that each issue the next operation when the
// last returned: draw says what, perform, in the order in which they take
// effect, what is answered.
func longOps[In, Out any](n int, draw func(r *rand.Rand, i int) (f string, in In), perform func(op *history.Op[In, Out])) *history.Of[In, Out] {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	h := &history.Of[In, Out]{Ops: make([]history.Op[In, Out], n)}
	effect, order := make([]int64, n), make([]int, 0, n)
	process, free := []int{0, 1, 2, 3, 4, 5, 6, 7}, make([]int64, 8)
	for i := range h.Ops {
		c := slices.Index(free, slices.Min(free))
		op := &h.Ops[i]
		op.F, op.In = draw(r, i)
		op.Process, op.Invoke = process[c], free[c]+1+r.Int64N(50)
		op.Return = op.Invoke + 1000 + r.Int64N(1000)
		free[c], effect[i] = op.Return, op.Invoke+r.Int64N(op.Return-op.Invoke+1)
		if r.IntN(100) == 0 {
			op.Outcome, process[c] = history.Info, i+8
			if r.IntN(2) == 0 {
				continue
			}
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(effect[a], effect[b]), a-b) })
	for _, i := range order {
		perform(&h.Ops[i])
	}
	return h
}

// longSet is a set of many elements, flag one of one.
func longSet(n int, spoiled bool) *spec.Subject  { return longMembers(n, n/20, spoiled) }
func longFlag(n int, spoiled bool) *spec.Subject { return longMembers(n, 1, spoiled) }

func longMembers(n, elements int, spoiled bool) *spec.Subject {
	there := map[history.Value]bool{}
	h := longOps(n, func(r *rand.Rand, i int) (string, models.SetIn) {
		in := []models.SetIn{models.SetAdd(history.Value{}), models.SetRemove(history.Value{}), models.SetContains(history.Value{})}[r.IntN(3)]
		in.Elem = value(r.IntN(elements))
		return in.F, in
	}, func(op *history.Op[models.SetIn, models.SetOut]) {
		had := there[op.In.Elem]
		op.Out = models.SetAnswer(had != (op.F == "add"))
		there[op.In.Elem] = op.F == "add" || had && op.F != "remove"
	})
	// Near the beginning, where few operations without an answer may explain it.
	for i, left := 200, 100; spoiled && left > 0; i++ {
		if op := &h.Ops[i]; op.F == "add" && op.Outcome == history.OK && op.Out == models.SetAnswer(true) {
			op.Out = models.SetAnswer(false)
			left--
		}
	}
	return erased(h, models.Set())
}

func longCount(n int, spoiled bool) *spec.Subject {
	sum := int64(0)
	h := longOps(n, func(r *rand.Rand, i int) (string, models.CounterIn) {
		if r.IntN(2) == 0 {
			return "read", models.CounterRead()
		}
		if r.IntN(4) == 0 {
			return "add-and-get", models.AddAndGet(1)
		}
		return "add", models.CounterAdd(1)
	}, func(op *history.Op[models.CounterIn, history.Value]) {
		if op.F != "read" {
			sum++
		}
		if op.Out = history.Absent; op.F != "add" {
			op.Out = history.Int(sum)
		}
	})
	for i := n / 2; spoiled; i++ {
		if op := &h.Ops[i]; op.F == "read" {
			op.Out = history.Int(sum / 3)
			break
		}
	}
	return erased(h, models.Counter(history.Absent))
}

// BenchmarkEffects times the paths for locks, members and numbers, from the
// columns of the history to the verdict.
func BenchmarkEffects(b *testing.B) {
	for _, c := range longCases {
		for _, spoiled := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/spoiled=%v", c.name, spoiled), func(b *testing.B) {
				s := c.make(*benchOps, spoiled)
				b.ReportAllocs()
				runtime.GC()
				before := processTime()
				for b.Loop() {
					p := &paths.Problem{Rules: rules(s), Machine: s.Machine(context.Background(), s.View, false)}
					a, by := paths.Try(p, all)
					if spoiled != (a.Kind == spec.Violation) || by != c.path {
						b.Fatalf("%v by %q: %s", a.Kind, by, a.Reason)
					}
				}
				b.ReportMetric((processTime()-before).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}
