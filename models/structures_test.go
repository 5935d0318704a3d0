package models

import (
	"context"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
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

// TestLineAgainstSlice: lines that came about differently are one state when
// they hold the same, and only then.
func TestLineAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	numbers := newByHash(func(l Line) uint64 { return l.sum }, sameLine)
	byText := map[string]int32{}
	for range 2000 {
		var l Line
		var want []history.Value
		for range r.IntN(14) {
			v := history.Int(r.Int64N(2))
			switch k := r.IntN(4); {
			case k == 0:
				l, want = l.pushFront(v), append([]history.Value{v}, want...)
			case k == 1:
				l, want = l.pushBack(v), append(want, v)
			case len(want) == 0:
			case k == 2:
				l, want = l.popFront(), want[1:]
			default:
				l, want = l.popBack(), want[:len(want)-1]
			}
		}
		for i, v := range want {
			if l.At(i) != v {
				t.Fatalf("element %d of %v is %v", i, want, l.At(i).Text())
			}
		}
		n, text := numbers.Number(l), history.Array(want...).Text()
		if known, ok := byText[text]; ok && known != n || l.Len() != len(want) {
			t.Fatalf("%s has the numbers %d and %d", text, known, n)
		}
		byText[text] = n
	}
	if len(byText) != len(numbers.states) || len(byText) < 30 {
		t.Errorf("%d states for %d contents", len(numbers.states), len(byText))
	}
}

// TestSortKeyAgainstRationals: keys of numbers sort as the numbers do.
func TestSortKeyAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	var numbers []history.Value
	for range 300 {
		text := strconv.Itoa(r.IntN(2001) - 1000)
		switch r.IntN(4) {
		case 0:
			text += "." + strconv.Itoa(r.IntN(100))
		case 1:
			text += "e" + strconv.Itoa(r.IntN(80)-40)
		case 2:
			text += strings.Repeat("0", r.IntN(25))
		}
		numbers = append(numbers, value(t, text))
	}
	for _, a := range numbers {
		for _, b := range numbers {
			p, _ := new(big.Rat).SetString(a.Text())
			q, _ := new(big.Rat).SetString(b.Text())
			if got := compareNumbers(a, b); got != p.Cmp(q) {
				t.Fatalf("%s and %s: %d", a.Text(), b.Text(), got)
			}
		}
	}
	ordered := []string{"-1e999999999", "-2", "0", "1e-999999999", "1", "1e999999999", `""`, `"a"`, `"ab"`, `"b"`, "[]", "[1]", `[1,"a"]`, "[2]", `["a"]`, `["a",1]`, `["ab"]`, "[[]]", "true"}
	for i := 1; i < len(ordered); i++ {
		if a, b := sortKey(value(t, ordered[i-1])), sortKey(value(t, ordered[i])); a >= b {
			t.Errorf("%s does not sort before %s", ordered[i-1], ordered[i])
		}
	}
}

// TestLongHistories: ten thousand operations take memory in proportion to
// their number, not to its square.
func TestLongHistories(t *testing.T) {
	const n = 10_000
	for _, c := range []struct{ model, add, take string }{
		{"queue", "enqueue", "dequeue"}, {"deque", "push-back", "pop-front"}, {"priority-queue", "insert", ""}, {"stack", "push", "pop"}, {"log", "append", ""}, {"set", "add", ""},
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
			case c.model == "priority-queue":
				step("poll", history.Null, history.Int(n-1-i))
			case c.take == "dequeue" || c.take == "pop-front":
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
		"owner-mutex":       func() { OwnerMutex().Apply(history.Absent, OwnedIn{Owner: history.Null}) },
		"no owner":          func() { OwnerMutex().Apply(history.Absent, AcquireBy(history.Absent)) },
		"reentrant-mutex":   func() { ReentrantMutex().Apply(Hold{}, OwnedIn{Owner: history.Null}) },
		"rw-mutex":          func() { RWMutex().Apply(RWHold{}, AcquireBy(history.Null)) },
		"fenced-mutex":      func() { FencedMutex(history.Absent).Step(Fence{}, OwnedIn{Owner: history.Null}, nil) },
		"semaphore":         func() { Semaphore(1).Apply(1, SemaphoreIn{N: 1}) },
		"no permits":        func() { Semaphore(1).Apply(1, AcquirePermits(0)) },
		"priority-queue":    func() { PriorityQueue().Apply(Tree[Pile]{}, PriorityIn{}) },
		"deque":             func() { Deque().Apply(Line{}, DequeIn{}) },
		"null in a deque":   func() { Deque().Apply(Line{}, PushBack(history.Null)) },
		"unordered-queue":   func() { UnorderedQueue().Steps(Tree[Pile]{}, QueueIn{}, nil) },
		"bank":              func() { Bank(history.Absent).Step(Map{}, BankIn{}, nil) },
		"versioned-kv":      func() { VersionedKV(history.Absent).Step(Versioned{}, VersionedIn{}, nil) },
		"s2":                func() { S2(S2Stream{}).Step(S2Stream{}, S2In{}, nil) },
		"etcd":              func() { Etcd(1).Step(EtcdState{}, EtcdIn{}, nil) },
		"etcd operation":    func() { Etcd(1).Step(EtcdState{}, EtcdTxn(nil, []EtcdOp{{}}, nil), nil) },
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
	me, x := history.Int(7), history.String("x")
	check(t, OwnerMutex(), typedOp(0, AcquireBy(me), none, 0, 1), typedOp(0, TryAcquireBy(one), history.False, 2, 3), typedOp(0, ReleaseBy(me), none, 4, 5))
	check(t, ReentrantMutex(), typedOp(0, AcquireBy(me), none, 0, 1), typedOp(0, TryAcquireBy(me), history.True, 2, 3), typedOp(0, ReleaseBy(me), none, 4, 5))
	check(t, RWMutex(), typedOp(0, AcquireReadBy(me), none, 0, 1), typedOp(0, TryAcquireReadBy(one), history.True, 2, 3), typedOp(0, TryAcquireWriteBy(one), history.False, 4, 5),
		typedOp(0, ReleaseBy(me), none, 6, 7), typedOp(0, ReleaseBy(one), none, 8, 9), typedOp(0, AcquireWriteBy(me), none, 10, 11))
	check(t, FencedMutex(none), typedOp(0, AcquireBy(me), one, 0, 1), typedOp(0, TryAcquireBy(me), history.Null, 2, 3), typedOp(0, ReleaseBy(me), none, 4, 5))
	check(t, Semaphore(2), typedOp(0, AcquirePermits(2), none, 0, 1), typedOp(0, TryAcquirePermits(1), history.False, 2, 3), typedOp(0, ReleasePermits(1), none, 4, 5))
	check(t, PriorityQueue(one), typedOp(0, PriorityInsert(me), none, 0, 1), typedOp(0, PriorityPeek(), me, 2, 3), typedOp(0, PriorityPoll(), me, 4, 5))
	check(t, Deque(one), typedOp(0, PushFront(me), none, 0, 1), typedOp(0, PushBack(x), none, 2, 3), typedOp(0, PeekFront(), me, 4, 5), typedOp(0, PeekBack(), x, 6, 7),
		typedOp(0, PopBack(), x, 8, 9), typedOp(0, PopFront(), me, 10, 11))
	check(t, UnorderedQueue(one, me), typedOp(0, Dequeue(), me, 0, 1), typedOp(0, Peek(), one, 2, 3))
	check(t, Bank(none), typedOp(0, Transfer(me, x, one), Moved(true), 0, 1), typedOp(0, BankRead(), Balances(history.Member{Key: me, Value: history.Int(-1)}, history.Member{Key: x, Value: one}), 2, 3))
	check(t, ListAppend(none), typedOp(0, ListOf(AppendTo(x, one), ReadList(x)), ListOf(AppendTo(x, one), SawList(x, one)), 0, 1))
	check(t, VersionedKV(none), typedOp(0, PutVersion(x, history.Int(0)), PutDone(one), 0, 1), typedOp(0, PutVersion(x, history.Int(0)), PutRefused(), 2, 3),
		typedOp(0, GetVersion(), Versioned{Value: x, Version: one}, 4, 5))
	check(t, VersionedKV(none), typedOp(0, PutVersion(x, one), PutNoKey(), 0, 1))
	created := EtcdCompare{Key: x, Target: "create_revision", Op: "=", Value: history.Int(0)}
	check(t, Etcd(1), typedOp(0, EtcdTxn([]EtcdCompare{created}, []EtcdOp{EtcdPut("x", one, none)}, nil), value(t, `{"succeeded":true,"revision":2}`), 0, 1),
		typedOp(0, EtcdRangeAt(EtcdRange("x", "", 0), 2), value(t, `{"count":1,"revision":2}`), 2, 3), typedOp(0, EtcdDo(EtcdDelete("x")), value(t, `{"revision":3}`), 4, 5),
		typedOp(0, EtcdLease(true, one), value(t, `{"revision":3}`), 6, 7), typedOp(0, EtcdLease(false, one), value(t, `{"revision":3}`), 8, 9),
		typedOp(0, EtcdCompact(2), value(t, `{}`), 10, 11), typedOp(0, EtcdDefragment(), value(t, `{}`), 12, 13))
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
