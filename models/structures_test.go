package models

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

func TestListAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var l List[int]
		var want []int
		for range r.IntN(200) {
			if len(want) > 0 && r.IntN(3) == 0 {
				l, want = l.cell().rest, want[:len(want)-1]
			} else {
				v := r.IntN(4)
				l, want = l.push(v), append(want, v)
			}
		}
		if !slices.Equal(l.Slice(), want) || l != ListOf(want...) {
			t.Fatalf("got %v, want %v", l.Slice(), want)
		}
		for n := range len(want) + 1 {
			if p := l.prefix(n); p != ListOf(want[:n]...) {
				t.Fatalf("the first %d of %v are %v", n, want, p.Slice())
			}
		}
	}
}

// TestRunsAreNumberedByContent: runs that came about differently are one state
// when they hold the same, and only then.
func TestRunsAreNumberedByContent(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	numbers := newByHash(Run.hash, sameRun)
	byText := map[string]int32{}
	for range 2000 {
		var run Run
		var want []history.Value
		for range r.IntN(12) {
			if len(want) > 0 && r.IntN(2) == 0 {
				run, want = run.drop(1), want[1:]
			} else {
				v := history.Int(r.Int64N(2))
				run, want = run.push(v), append(want, v)
			}
		}
		for i, v := range want {
			if run.At(i) != v {
				t.Fatalf("element %d of %v is %v", i, want, run.At(i).Text())
			}
		}
		n, text := numbers.Number(run), history.Array(want...).Text()
		if known, ok := byText[text]; ok && known != n {
			t.Fatalf("%s has the numbers %d and %d", text, known, n)
		}
		byText[text] = n
	}
	if len(byText) != len(numbers.states) || len(byText) < 30 {
		t.Errorf("%d states for %d contents", len(numbers.states), len(byText))
	}
}

// TestEqualHashesAreTakenApart: a hash only finds candidates.
func TestEqualHashesAreTakenApart(t *testing.T) {
	numbers := newByHash(func(Run) uint64 { return 1 }, sameRun)
	a, b := RunOf(history.Int(1)), RunOf(history.Int(2))
	if numbers.Number(a) == numbers.Number(b) || numbers.Number(a) != numbers.Number(RunOf(history.Int(1))) {
		t.Error("a constant hash changes the numbers")
	}
}

func TestMapAgainstGoMap(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		var m Map
		want := map[history.Value]history.Value{}
		for range r.IntN(200) {
			k, v := history.Int(r.Int64N(40)), history.Int(r.Int64N(3))
			if r.IntN(3) == 0 {
				m = m.remove(k)
				delete(want, k)
			} else {
				m, want[k] = m.put(k, v), v
			}
		}
		var again Map // the same content, in the order of the keys
		n := 0
		for k, v := range m.All() {
			if want[k] != v || m.Get(k) != v {
				t.Fatalf("%s holds %s", k.Text(), v.Text())
			}
			again, n = again.put(k, v), n+1
		}
		if n != len(want) || m.Len() != n || m != again {
			t.Fatalf("%d keys, want %d; the shape depends on the content alone: %v", n, len(want), m == again)
		}
	}
}

func TestSum(t *testing.T) {
	for _, c := range [][3]string{
		{"1", "2", "3"}, {"-1", "1", "0"},
		{"9223372036854775807", "1", "9223372036854775808"},
		{"-9223372036854775808", "-1", "-9223372036854775809"},
		{"-9223372036854775808", "9223372036854775807", "-1"},
		{"9223372036854775808", "-1", "9223372036854775807"},
		{"18446744073709551616", "18446744073709551616", "36893488147419103232"},
	} {
		if s, ok := sum(value(t, c[0]), value(t, c[1])); !ok || s != value(t, c[2]) {
			t.Errorf("%s + %s = %s", c[0], c[1], s.Text())
		}
	}
	if _, ok := sum(history.Int(1), history.String("1")); ok {
		t.Error("a string was added")
	}
}

// TestLongHistories: ten thousand operations take memory in proportion to
// their number, not to its square.
func TestLongHistories(t *testing.T) {
	const n = 10_000
	for _, c := range []struct{ model, add, take string }{
		{"queue", "enqueue", "dequeue"}, {"stack", "push", "pop"}, {"log", "append", ""}, {"set", "add", ""},
	} {
		h := &history.Raw{}
		step := func(f string, in, out history.Value) {
			i := len(h.Ops)
			h.Ops = append(h.Ops, history.Op[history.Value, history.Value]{F: f, In: in, Out: out, Invoke: int64(2 * i), Return: int64(2*i + 1)})
		}
		for i := range int64(n) {
			step(c.add, history.Int(i), history.Absent)
		}
		for i := range int64(n) {
			switch {
			case c.model == "queue":
				step(c.take, history.Null, history.Int(i))
			case c.model == "stack":
				step(c.take, history.Null, history.Int(n-1-i))
			case c.model == "log":
				step("get", history.Int(i), history.Int(i))
			default:
				step("contains", history.Int(i), history.True)
			}
		}
		s := bindTo(t, c.model, h, Options{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := s.Machine(context.Background(), s.View, false)
		state, ok := m.Init(0), true
		for i := range int32(s.View.N) {
			if state, ok = m.Step(state, i); !ok {
				t.Fatalf("%s: operation %d, %s", c.model, i, s.Text(i))
			}
		}
		runtime.ReadMemStats(&after)
		// Quadratic would be 10^8 elements of 8 bytes.
		if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 {
			t.Errorf("%s: %d operations took %d MiB", c.model, s.View.N, used>>20)
		} else {
			t.Logf("%s: %d MiB", c.model, used>>20)
		}
	}
}

// TestForeignInputPanics: an input of another model is a programming error, not
// an impossible operation.
func TestForeignInputPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"cas of a register": func() { Register(history.Null).Apply(history.Null, Cas(history.Null, history.Null)) },
		"register":          func() { CasRegister(history.Null).Apply(history.Null, RegisterIn{}) },
		"kv":                func() { KV(history.Null).Apply(history.Null, KVIn{}) },
		"counter":           func() { Counter(history.Absent).Step(Count{}, CounterIn{}, nil) },
		"set":               func() { Set().Apply(Map{}, SetIn{}) },
		"queue":             func() { Queue().Apply(Run{}, QueueIn{}) },
		"null in a queue":   func() { Queue().Apply(Run{}, Enqueue(history.Null)) },
		"stack":             func() { Stack().Apply(List[history.Value]{}, StackIn{}) },
		"null on a stack":   func() { Stack().Apply(List[history.Value]{}, Push(history.Null)) },
		"log":               func() { Log().Step(LogState{}, LogIn{}, nil) },
		"mutex":             func() { Mutex().Apply(false, MutexIn{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// typedOp is an operation as a library user writes it.
func typedOp[In, Out any](process int, in In, out Out, from, to int64) history.Op[In, Out] {
	return history.Op[In, Out]{Process: process, In: in, Out: out, Invoke: from, Return: to}
}

// TestTypedUse checks every model without any recorded values.
func TestTypedUse(t *testing.T) {
	one, none := history.Int(1), history.Absent
	check(t, Register(none), typedOp(0, Write(one), none, 0, 1), typedOp(0, Read(), one, 2, 3))
	check(t, CasRegister(one), typedOp(0, Cas(one, history.Null), history.True, 0, 1), typedOp(0, Read(), history.Null, 2, 3))
	check(t, KV(none), typedOp(0, Append("a"), none, 0, 1), typedOp(0, CasKey(history.String("a"), one), history.True, 2, 3),
		typedOp(0, AddKey(2), history.Int(3), 4, 5), typedOp(0, Put(one), none, 6, 7), typedOp(0, Delete(), none, 8, 9), typedOp(0, Get(), history.Null, 10, 11))
	check(t, Counter(none), typedOp(0, CounterAdd(1), none, 0, 1), typedOp(0, AddAndGet(2), history.Int(3), 2, 3), typedOp(0, CounterRead(), history.Int(3), 4, 5))
	check(t, Set(one), typedOp(0, SetAdd(one), SetAnswer(false), 0, 1), typedOp(0, SetRead(), SetElements(one), 2, 3),
		typedOp(0, SetRemove(one), SetAnswer(true), 4, 5), typedOp(0, SetContains(one), SetAnswer(false), 6, 7))
	check(t, Queue(), typedOp(0, Enqueue(one), none, 0, 1), typedOp(0, Peek(), one, 2, 3), typedOp(0, Dequeue(), one, 4, 5))
	check(t, Stack(), typedOp(0, Push(one), none, 0, 1), typedOp(0, StackPeek(), one, 2, 3), typedOp(0, Pop(), one, 4, 5))
	check(t, Log(), typedOp(0, LogAppend(one), LogOut{Value: history.Int(0)}, 0, 1), typedOp(0, LogGet(0), LogOut{Value: one}, 2, 3),
		typedOp(0, LogRead(0), LogOut{List: ListOf(one)}, 4, 5), typedOp(0, LogTrim(1), LogOut{}, 6, 7))
	check(t, Mutex(), typedOp(0, Acquire(), none, 0, 1), typedOp(0, TryAcquire(), history.False, 2, 3), typedOp(0, Release(), none, 4, 5))
	x := history.String("x")
	check(t, MultiRegister(none), typedOp(0, Txn(W(x, one), R(x)), Txn(W(x, one), Saw(x, one)), 0, 1))
}

func check[S, In, Out any](t *testing.T, m spec.Model[S, In, Out], ops ...history.Op[In, Out]) {
	t.Helper()
	s, err := spec.Erase(&history.Of[In, Out]{Ops: ops}, m)
	if err != nil {
		t.Fatal(err)
	}
	if !possible(s) {
		state, placed := run(s)
		t.Errorf("%s: stops after %d operations, in state %s", m.Name, placed, state)
	}
}
