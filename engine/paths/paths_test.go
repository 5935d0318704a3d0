package paths_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
	"pinyon/models"
)

type queueOp = history.Op[models.QueueIn, history.Value]

func enqueue(p, v int, from, to int64) queueOp {
	return queueOp{Process: p, F: "enqueue", In: models.Enqueue(value(v)), Invoke: from, Return: to}
}

// dequeue sees nothing where v is 0.
func dequeue(p, v int, from, to int64) queueOp {
	op := queueOp{Process: p, F: "dequeue", In: models.Dequeue(), Invoke: from, Return: to, Out: history.Null}
	if v > 0 {
		op.Out = value(v)
	}
	return op
}

func lost(op queueOp) queueOp { op.Outcome = history.Info; return op }

func queueOf(t *testing.T, m spec.Model[models.Run, models.QueueIn, history.Value], ops ...queueOp) *spec.Subject {
	t.Helper()
	s, err := spec.Erase(&history.Of[models.QueueIn, history.Value]{Ops: ops}, m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func try(s *spec.Subject, r *order.Rules) (paths.Answer, string) {
	return paths.Try(&paths.Problem{Rules: r, Machine: s.Machine(context.Background(), s.View, false)}, all)
}

// TestPathsStandBack: what a path does not know it leaves alone, and says why;
// each of these histories is consistent.
func TestPathsStandBack(t *testing.T) {
	blind := dequeue(1, 1, 2, 3)
	blind.NoOut = true
	keyed := enqueue(1, 1, 2, 3)
	keyed.Key = "k"
	for _, c := range []struct {
		name, reason string
		s            *spec.Subject
	}{
		{"the same element twice", "two operations add the same element", queueOf(t, models.Queue(),
			enqueue(1, 1, 0, 1), dequeue(1, 1, 2, 3), enqueue(1, 1, 4, 5), dequeue(1, 1, 6, 7))},
		{"several keys", "there are several keys", queueOf(t, models.Queue(), enqueue(1, 1, 0, 1), keyed)},
		{"a take whose answer was not recorded", "what an operation took out was not recorded",
			queueOf(t, models.Queue(), enqueue(1, 1, 0, 1), blind, dequeue(1, 0, 4, 5))},
		{"a session at one instant", "the hard order is not one interval order",
			queueOf(t, models.Queue(), enqueue(1, 1, 0, 1), dequeue(1, 1, 1, 2), enqueue(2, 2, 0, 5))},
		{"elements at the start", "", queueOf(t, models.Queue(value(5)), dequeue(1, 5, 0, 1))},
	} {
		a, name := try(c.s, rules(c.s))
		if want := "queue: " + c.reason; a.Kind != spec.Unknown || name != "" || c.reason != "" && a.Reason != want || c.reason == "" && a.Reason != "" {
			t.Errorf("%s: %v by %q: %q, want %q", c.name, a.Kind, name, a.Reason, want)
		}
		if part := decide(t, c.s, false, engine.Limits{}); part.Kind != spec.Consistent {
			t.Errorf("%s: %v", c.name, part.Kind)
		}
	}
}

// TestPathsKnowOnlyPlainValidity: under a validity of another kind the machine
// says nothing of a container.
func TestPathsKnowOnlyPlainValidity(t *testing.T) {
	s := queueOf(t, models.Queue(), enqueue(1, 1, 0, 1), dequeue(2, 0, 2, 3))
	m, err := spec.KStale(2).Over(s.Machine(context.Background(), s.View, false), s.View)
	if err != nil {
		t.Fatal(err)
	}
	if a, name := paths.Try(&paths.Problem{Rules: rules(s), Machine: m}, all); a.Kind != spec.Unknown || name != "" || a.Reason != "" {
		t.Errorf("%v by %q: %q", a.Kind, name, a.Reason)
	}
}

// TestEqualPriorities: elements of one priority are told apart by nothing that
// the path knows.
func TestEqualPriorities(t *testing.T) {
	m := models.PriorityQueue()
	m.Container.Compare = func(a, b any) int { return 0 }
	call := func(in models.PriorityIn, out history.Value, from int64) history.Op[models.PriorityIn, history.Value] {
		return history.Op[models.PriorityIn, history.Value]{F: in.F, In: in, Out: out, Invoke: from, Return: from + 1}
	}
	s, err := spec.Erase(&history.Of[models.PriorityIn, history.Value]{Ops: []history.Op[models.PriorityIn, history.Value]{
		call(models.PriorityInsert(value(1)), history.Absent, 0), call(models.PriorityInsert(value(2)), history.Absent, 2),
		call(models.PriorityPoll(), value(1), 4)}}, m)
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := try(s, rules(s)); a.Kind != spec.Unknown || a.Reason != "priority-queue: two elements have the same priority" {
		t.Errorf("%v: %q", a.Kind, a.Reason)
	}
}

// TestEngineSearchTakesNoPath: a search that was asked for is one.
func TestEngineSearchTakesNoPath(t *testing.T) {
	s := queueOf(t, models.Queue(), enqueue(1, 1, 0, 1), dequeue(2, 1, 2, 3))
	if part := decide(t, s, true, engine.Limits{}); part.Engine != "search" || part.Kind != spec.Consistent {
		t.Errorf("%v by %s", part.Kind, part.Engine)
	}
	if part := decide(t, s, false, engine.Limits{}); part.Engine != "queue" || part.Kind != spec.Consistent {
		t.Errorf("%v by %s", part.Kind, part.Engine)
	}
}

// TestCoreIsLeast: of a long history the core names the operations that
// matter, and package brute accepts it, and nothing less or else.
func TestCoreIsLeast(t *testing.T) {
	var ops []queueOp
	for i := range 1000 {
		ops = append(ops, enqueue(1, i+1, int64(10*i), int64(10*i+1)))
	}
	for i := range 1000 {
		v := i + 1
		if i == 500 || i == 501 {
			v = 1003 - v + 0 // 502 before 501
		}
		ops = append(ops, dequeue(2, v, int64(20_000+10*i), int64(20_001+10*i)))
	}
	s := queueOf(t, models.Queue(), ops...)
	part := decide(t, s, false, engine.Limits{})
	if part.Engine != "queue" || part.Proof == nil || part.Proof.Kind != spec.ProofCore {
		t.Fatalf("%+v", part)
	}
	want := []int32{500, 501, 1500, 1501}
	if got := part.Proof.Ops; len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("core %v, want %v", got, want)
	}
	for _, c := range []struct {
		name, err string
		ops       []int32
	}{
		{"the core", "", want},
		{"without a take", "is left out", want[:3]},
		{"other operations", "an order of these operations is legal", []int32{1, 1001}},
		{"an operation twice", "stands twice", []int32{500, 501, 1500, 1501, 500}},
	} {
		err := coreAt(s, "linearizable", c.ops)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
	if coreAt(s, "bounded-staleness:k=2", want) == nil {
		t.Error("a core was accepted at a level with another validity")
	}
}

// TestLostTakesInCores: a take without an answer may have taken an element of
// the core, so the core holds one for each that nobody else took.
func TestLostTakesInCores(t *testing.T) {
	// 1 is in the queue when it is seen empty, and the lost take comes too late.
	late := queueOf(t, models.Queue(), enqueue(1, 1, 0, 1), dequeue(2, 0, 2, 3), lost(dequeue(3, 0, 4, 5)), lost(dequeue(4, 0, 6, 7)))
	part := decide(t, late, false, engine.Limits{})
	if part.Kind != spec.Violation || part.Engine != "queue" {
		t.Fatalf("%+v", part)
	}
	if err := coreAt(late, "linearizable", part.Proof.Ops); err != nil {
		t.Errorf("core %v: %v", part.Proof.Ops, err)
	}
	for _, ops := range [][]int32{{0, 1}, {0, 1, 3}} {
		if err := coreAt(late, "linearizable", ops); err == nil {
			t.Errorf("core %v was accepted", ops)
		}
	}
	// Two elements must be gone, and there is one take to do it.
	two := queueOf(t, models.Queue(), enqueue(1, 1, 0, 1), enqueue(1, 2, 2, 3), enqueue(1, 3, 4, 5), lost(dequeue(3, 0, 0, 5)), dequeue(2, 3, 6, 7))
	if part := decide(t, two, false, engine.Limits{}); part.Kind != spec.Violation || part.Engine != "queue" {
		t.Errorf("%+v", part)
	} else if err := coreAt(two, "linearizable", part.Proof.Ops); err != nil {
		t.Errorf("core %v: %v", part.Proof.Ops, err)
	}
	// Here it comes in time.
	early := queueOf(t, models.Queue(), enqueue(1, 1, 0, 1), dequeue(2, 0, 2, 3), lost(dequeue(3, 0, 1, 5)))
	if part := decide(t, early, false, engine.Limits{}); part.Kind != spec.Consistent || part.Engine != "queue" {
		t.Errorf("%+v", part)
	}
}

// TestLargeCore: where more than a dozen operations are needed, the proof names
// them as a pattern.
func TestLargeCore(t *testing.T) {
	var ops []queueOp
	for i := range 20 {
		at := int64(10 * i)
		ops = append(ops, enqueue(1+i, i+1, at, at+1), dequeue(101+i, i+1, at+15, at+16))
	}
	ops = append(ops, dequeue(300, 0, 5, 195))
	part := decide(t, queueOf(t, models.Queue(), ops...), false, engine.Limits{})
	if part.Kind != spec.Violation || part.Engine != "queue" || part.Proof.Kind != spec.ProofPattern || len(part.Proof.Ops) != 41 {
		t.Errorf("%v by %s: %+v", part.Kind, part.Engine, part.Proof)
	}
}

// TestDeepStack: nesting is no recursion, and costs no square.
func TestDeepStack(t *testing.T) {
	n := 50_000
	ops := make([]event, 2*n)
	for i := range n {
		ops[i] = event{process: i % 4, call: int64(10 * i), ret: int64(10*i + 5), f: "push", value: i + 1}
		ops[n+i] = event{process: i % 4, call: int64(10 * (n + i)), ret: int64(10*(n+i) + 5), f: "pop", out: []int{n - i}}
	}
	s := subject("stack", ops, history.TiesConcurrent)
	if a, name := try(s, rules(s)); a.Kind != spec.Consistent || name != "stack" {
		t.Errorf("%v by %q: %s", a.Kind, name, a.Reason)
	}
	ops[n].out, ops[n+n/2].out = ops[n+n/2].out, ops[n].out
	s = subject("stack", ops, history.TiesConcurrent)
	if a, name := try(s, rules(s)); a.Kind != spec.Violation || name != "stack" || len(a.Core) > 12 {
		t.Errorf("%v by %q: %s, core of %d", a.Kind, name, a.Reason, len(a.Core))
	}
}

// TestPathsStop: a path that is told to stop cannot tell.
func TestPathsStop(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, name := range structures[:3] {
		ops, ties := generate(r, name, shape{ops: 20, processes: 3})
		s := subject(name, ops, ties)
		p := &paths.Problem{Rules: rules(s), Machine: s.Machine(context.Background(), s.View, false), Stop: func() bool { return true }}
		if a, _ := paths.Try(p, all); a.Kind != spec.Unknown || !strings.Contains(a.Reason, "stopped") {
			t.Errorf("%s: %v, %q", name, a.Kind, a.Reason)
		}
	}
}
