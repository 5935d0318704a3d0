package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// A small register for the tests here: enough to make hard and easy histories.

type call struct {
	write bool
	value int
}

type op = history.Op[call, int]

func register() spec.Model[int, call, int] {
	return spec.Model[int, call, int]{
		Name: "register",
		Init: func() int { return 0 },
		Step: func(s int, in call, out *int) (int, bool) {
			if in.write {
				return in.value, true
			}
			return s, out == nil || *out == s
		},
		ReadOnly: func(in call, _ *int) bool { return !in.write },
	}
}

func write(p, v int, from, to int64) op {
	return op{Process: p, F: "write", In: call{true, v}, Invoke: from, Return: to}
}

func read(p, v int, from, to int64) op {
	return op{Process: p, F: "read", Out: v, Invoke: from, Return: to}
}

func lost(o op) op { o.Outcome = history.Info; return o }

// problem erases a history under linearizability.
func problem(t testing.TB, ops []op, m spec.Model[int, call, int]) (*order.Rules, func(ctx context.Context) spec.Machine) {
	t.Helper()
	s, err := spec.Erase(&history.Of[call, int]{Ops: ops}, m)
	if err != nil {
		t.Fatal(err)
	}
	r := order.NewRules(s.View)
	r.Hard = append(r.Hard, order.Session(s.View, nil, false))
	r.Hard = append(r.Hard, order.RealTime(s.View, order.Span{})...)
	return r, func(ctx context.Context) spec.Machine { return s.Machine(ctx, s.View, false) }
}

func decide(t testing.TB, ops []op, limits Limits) spec.Part {
	t.Helper()
	r, machine := problem(t, ops, register())
	part, err := Decide(context.Background(), Task{Rules: r, Machine: machine(context.Background()), Eager: true, Limits: limits, Focus: -1})
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// TestManyConcurrentWrites: 252 writes that overlap and return in the order of
// their calls, then a read of the last (porcupine issue 6 has the shape).
func TestManyConcurrentWrites(t *testing.T) {
	var ops []op
	for i := range 252 {
		ops = append(ops, write(i, i+1, int64(i), int64(1000+i)))
	}
	ops = append(ops, read(0, 252, 2000, 2001))
	part := decide(t, ops, Limits{})
	t.Logf("%d states", part.States)
	if part.Kind != spec.Consistent || part.States > 10_000 {
		t.Errorf("%v after %d states, want consistent within 10,000", part.Kind, part.States)
	}
}

// unanswered is a run of 4 clients with 3,000 operations whose last ten got no
// answer; bad makes one late read impossible.
func unanswered(seed uint64, bad bool) []op {
	rng := rand.New(rand.NewPCG(seed, 0))
	var ops []op
	value, now := 0, int64(0)
	for i := range 2990 {
		now += 2
		p := i % 4
		if rng.IntN(2) == 0 {
			value = i + 1
			ops = append(ops, write(p, value, now, now+1+int64(rng.IntN(6))))
		} else {
			out := value
			if bad && i > 2900 {
				out, bad = -1, false
			}
			ops = append(ops, read(p, out, now, now+1))
		}
		now = max(now, ops[len(ops)-1].Return)
	}
	for i := range 10 {
		ops = append(ops, lost(write(100+i, 10_000+i, now+int64(i), 0)))
	}
	return append(ops, read(200, 10_004, now+50, now+51), read(200, 10_007, now+52, now+53))
}

func TestTenUnansweredAtTheEnd(t *testing.T) {
	for seed := range uint64(5) {
		for _, bad := range []bool{false, true} {
			part := decide(t, unanswered(seed, bad), Limits{})
			t.Logf("seed %d, bad %v: %v, %d states", seed, bad, part.Kind, part.States)
			if (part.Kind == spec.Violation) != bad || part.Kind == spec.Unknown || part.States > 10_000 {
				t.Errorf("seed %d, bad %v: %v after %d states, want it decided within 10,000", seed, bad, part.Kind, part.States)
			}
		}
	}
}

// hard is a history that takes the search very long: concurrent writes of
// different values and a read of none of them.
func hard(n int) []op {
	var ops []op
	for i := range n {
		ops = append(ops, write(i, i+1, int64(i), int64(1000+i)))
	}
	return append(ops, read(n, -1, 2000, 2001))
}

func TestEachBudgetStopsAlone(t *testing.T) {
	cases := []struct {
		name    string
		limits  Limits
		timeout time.Duration
		budget  string
	}{
		{"states", Limits{States: 5000}, time.Hour, "states"},
		{"memory", Limits{Memory: 4 << 20}, time.Hour, "memory"},
		{"time", Limits{}, 50 * time.Millisecond, "time"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, machine := problem(t, hard(60), register())
			ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
			defer cancel()
			part, err := Decide(ctx, Task{Rules: r, Machine: machine(ctx), Eager: true, Limits: c.limits, Focus: -1})
			if err != nil || part.Kind != spec.Unknown || part.Budget != c.budget || part.Placed == 0 {
				t.Errorf("%v, budget %q, %d placed, error %v; want unknown by %s", part.Kind, part.Budget, part.Placed, err, c.budget)
			}
			if c.limits.States > 0 && part.States != c.limits.States {
				t.Errorf("stopped at %d states, want %d", part.States, c.limits.States)
			}
		})
	}
}

// TestCancelIsPrompt: cancelling ends a search within 100 ms, also inside a
// slow step that takes the context.
func TestCancelIsPrompt(t *testing.T) {
	slow := register()
	step := slow.Step
	slow.Step = nil
	slow.StepContext = func(ctx context.Context, s int, in call, out *int) (int, bool) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		return step(s, in, out)
	}
	for _, m := range []spec.Model[int, call, int]{register(), slow} {
		r, machine := problem(t, hard(60), m)
		ctx, cancel := context.WithCancel(context.Background())
		var at time.Time
		time.AfterFunc(30*time.Millisecond, func() { at = time.Now(); cancel() })
		part, err := Decide(ctx, Task{Rules: r, Machine: machine(ctx), Eager: true, Limits: Limits{}, Focus: -1})
		if took := time.Since(at); err != nil || part.Kind != spec.Unknown || part.Budget != "cancelled" || took > 100*time.Millisecond {
			t.Errorf("%v %q, error %v, %v after the cancel", part.Kind, part.Budget, err, took)
		}
	}
}

// TestConstantHashSameVerdicts: with every configuration in one bucket the
// search is slow and right.
func TestConstantHashSameVerdicts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	count := map[spec.Kind]int{}
	for range 3000 {
		ops := randomOps(rng)
		r, machine := problem(t, ops, register())
		g := order.NewGraph(r.View.N, r.Hard, r.View.Info, r.View.Call, nil)
		plain := Search(context.Background(), Problem{View: r.View, Graph: g, Machine: machine(context.Background()), Eager: true}, Limits{}, nil)
		s := newSearch(context.Background(), Problem{View: r.View, Graph: g, Machine: machine(context.Background()), Eager: true}, Limits{}, nil)
		s.memo.hash = func([]byte) uint64 { return 42 }
		constant := s.run()
		if plain.Kind != constant.Kind || plain.States != constant.States {
			t.Fatalf("%v in %d states, with a constant hash %v in %d: %v", plain.Kind, plain.States, constant.Kind, constant.States, ops)
		}
		count[plain.Kind]++
	}
	t.Log(count)
	if count[spec.Consistent] < 300 || count[spec.Violation] < 300 {
		t.Errorf("one verdict is rare: %v", count)
	}
}

func randomOps(rng *rand.Rand) []op {
	var ops []op
	for p := range 2 + rng.IntN(3) {
		now := int64(rng.IntN(4))
		for range 1 + rng.IntN(4) {
			end := now + int64(rng.IntN(6))
			o := read(p, rng.IntN(3), now, end)
			if rng.IntN(2) == 0 {
				o = write(p, 1+rng.IntN(2), now, end)
			}
			if rng.IntN(8) == 0 {
				ops = append(ops, lost(o))
				break
			}
			ops = append(ops, o)
			now = end + int64(rng.IntN(3))
		}
	}
	return ops
}

// TestResumedSearchGoesOn: a search that a limit stopped goes on as if it had
// not been stopped, however often.
func TestResumedSearchGoesOn(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	ctx, stopped := context.Background(), 0
	for range 3000 {
		r, machine := problem(t, randomOps(rng), register())
		p := Problem{View: r.View, Graph: order.NewGraph(r.View.N, r.Hard, r.View.Info, r.View.Call, nil), Machine: machine(ctx), Eager: true}
		whole := Search(ctx, p, Limits{}, nil)
		live := &Live{}
		s := newSearch(ctx, p, Limits{States: 1}, live)
		part := s.run()
		for limit := int64(2); part.Kind == spec.Unknown; limit += 1 + rng.Int64N(5) {
			stopped++
			part = s.resume(Limits{States: limit})
		}
		if part.Kind != whole.Kind || part.States != whole.States || !slices.Equal(part.Witness, whole.Witness) || live.States.Load() != whole.States || live.Bytes.Load() != 0 {
			t.Fatalf("resumed %+v (live %d states, %d bytes), whole %+v", part, live.States.Load(), live.Bytes.Load(), whole)
		}
	}
	if stopped < 3000 {
		t.Errorf("stopped only %d times", stopped)
	}
}

// TestForgettingChangesNoVerdict: a search with hardly any room for
// configurations searches some again, and says the same.
func TestForgettingChangesNoVerdict(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 10))
	ctx, count, again := context.Background(), map[spec.Kind]int{}, 0
	for range 3000 {
		r, machine := problem(t, randomOps(rng), register())
		p := Problem{View: r.View, Graph: order.NewGraph(r.View.N, r.Hard, r.View.Info, r.View.Call, nil), Machine: machine(ctx), NoPins: true}
		whole := Search(ctx, p, Limits{}, nil)
		tables := spec.BytesOf(p.Machine) // which the machine has filled by now
		got := Search(ctx, p, Limits{Memory: 2*tables + 2, Forget: true}, nil)
		if got.Kind != whole.Kind || got.States < whole.States || !slices.Equal(got.Witness, whole.Witness) {
			t.Fatalf("%v in %d states, forgetting %v in %d", whole.Kind, whole.States, got.Kind, got.States)
		}
		if count[got.Kind]++; got.States > whole.States {
			again++
		}
	}
	t.Logf("%v, of which %d met a configuration again", count, again)
	if count[spec.Consistent] < 300 || count[spec.Violation] < 300 || again < 100 {
		t.Error("one side is rare")
	}
}

// TestPanicNamesTheOperation: what a user's step throws is a *spec.StepError.
func TestPanicNamesTheOperation(t *testing.T) {
	m := register()
	step := m.Step
	m.Step = func(s int, in call, out *int) (int, bool) {
		if in.value == 2 {
			panic("boom")
		}
		return step(s, in, out)
	}
	r, machine := problem(t, []op{write(0, 1, 0, 1), write(0, 2, 2, 3)}, m)
	defer func() {
		e, ok := recover().(*spec.StepError)
		if !ok || e.Op != 1 || !strings.Contains(e.Error(), "boom") {
			t.Errorf("recovered %v, want a StepError of operation 1", e)
		}
	}()
	_, _ = Decide(context.Background(), Task{Rules: r, Machine: machine(context.Background()), Eager: true, Limits: Limits{}, Focus: -1})
	t.Error("no panic")
}

// TestMemoryIsWhatItSays: the bytes that the memo counts are what the heap
// holds, within 25 %.
func TestMemoryIsWhatItSays(t *testing.T) {
	for _, bits := range []int{0, 2} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := newMemo(40, bits)
		key := make([]byte, 40)
		for i := range 1_000_000 {
			copy(key, fmt.Sprint(i))
			m.insert(key)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		if m.count != 1_000_000 || held > m.bytes*5/4 || held < m.bytes*3/4 {
			t.Errorf("%d keys; counted %d bytes, held %d", m.count, m.bytes, held)
		}
		if m.insert(key) {
			t.Error("a key was new twice")
		}
	}
}

// TestMemoKnowsWhatFewerKnew: a key is known where one of its list has none but
// its bits, whatever came in between, and no other.
func TestMemoKnowsWhatFewerKnew(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	known, fresh := 0, 0
	for range 200 {
		m := newMemo(3, 2)
		var all [][]byte
		for range 60 {
			key := []byte{byte(rng.IntN(3)), byte(rng.IntN(64)), byte(rng.IntN(4))}
			want := !slices.ContainsFunc(all, func(old []byte) bool {
				return old[0] == key[0] && old[1]&^key[1] == 0 && old[2]&^key[2] == 0
			})
			if got := m.insert(key); got != want {
				t.Fatalf("%v after %v: new is %v, want %v", key, all, got, want)
			}
			if all = append(all, key); want {
				fresh++
			} else {
				known++
			}
		}
	}
	if known < 1000 || fresh < 1000 {
		t.Errorf("%d known, %d new", known, fresh)
	}
}

// TestMalformedCircle: session and real time that contradict each other are
// an error, not a verdict.
func TestMalformedCircle(t *testing.T) {
	r, machine := problem(t, []op{write(0, 1, 0, 1), write(0, 2, 2, 3)}, register())
	back := &order.Clock{Name: order.RealTimeName, Out: []int64{order.OutNever, 0}, In: []int64{1, order.InNever}}
	r.AddHard(order.RealTimeName, back)
	part, err := Decide(context.Background(), Task{Rules: r, Machine: machine(context.Background()), Eager: true, Limits: Limits{}, Focus: -1})
	if !errors.Is(err, ErrMalformed) || len(part.Proof.Cycle) != 2 {
		t.Errorf("%v, %+v", err, part)
	}
}
