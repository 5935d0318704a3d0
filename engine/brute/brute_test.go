package brute_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

var levels = []string{
	"linearizable", "sequential", "ordered-sequential", "real-time-writes", "regular-sequential",
	"bounded-staleness:k=1", "bounded-staleness:k=2", "bounded-staleness:k=3", "bounded-staleness:t=2ns",
	"bounded-staleness:k=2,t=1ns", "per-key-sequential",
	"prefix-sequential", "prefix-linearizable", "timeline", "regular", "safe",
	"single-order:read-your-writes", "single-order:monotonic-reads", "single-order:monotonic-writes+writes-follow-reads",
}

// anything is a machine some of whose operations may return anything.
type anything struct {
	spec.Machine
	free []bool
}

func (a anything) Step(state, op int32) (int32, bool) {
	if a.free[op] {
		return state, true
	}
	return a.Machine.Step(state, op)
}

func (a anything) Steps(state, op int32) []int32 {
	if nd, ok := a.Machine.(spec.Nondeterministic); ok && !a.free[op] {
		return nd.Steps(state, op)
	}
	if next, ok := a.Step(state, op); ok {
		return []int32{next}
	}
	return nil
}

// machine is the machine of s at a level.
func machine(s *spec.Subject, d verify.Definition) spec.Machine {
	m := s.Machine(context.Background(), s.View, false)
	if free := d.Free(s.View); free != nil {
		return anything{m, free}
	}
	return m
}

// someOrder tries every permutation of every allowed set, checking each as a
// whole: the definition, read aloud. It is for six operations at most.
func someOrder(s *spec.Subject, hard *verify.Relation, d verify.Definition) bool {
	v := s.View
	for x := range int32(v.N) {
		if !v.Info[x] && hard.Has(x, x) {
			return false
		}
	}
	m := machine(s, d)
	var try func(order []int32) bool
	try = func(order []int32) bool {
		complete := true
		for x := range int32(v.N) {
			complete = complete && (v.Info[x] || slices.Contains(order, x))
		}
		if complete && respects(order, hard) && legal(m, v, order, d.Versions, map[int32][]int32{}) {
			return true
		}
		for x := range int32(v.N) {
			if !slices.Contains(order, x) && try(append(slices.Clone(order), x)) {
				return true
			}
		}
		return false
	}
	return try(nil)
}

func respects(order []int32, hard *verify.Relation) bool {
	for i := range order {
		for _, before := range order[:i+1] {
			if hard.Has(order[i], before) {
				return false
			}
		}
	}
	return true
}

// legal plays order on: past holds the versions of each key, newest last. Every
// choice of a nondeterministic model is tried.
func legal(m spec.Machine, v *history.View, order []int32, versions int, past map[int32][]int32) bool {
	if len(order) == 0 {
		return true
	}
	x, k := order[0], v.Key[order[0]]
	now := past[k]
	if now == nil {
		now = []int32{m.Init(k)}
	}
	steps := func(state int32) []int32 {
		if nd, ok := m.(spec.Nondeterministic); ok {
			return nd.Steps(state, x)
		}
		if next, ok := m.Step(state, x); ok {
			return []int32{next}
		}
		return nil
	}
	follow := func(p []int32) bool {
		past[k] = p
		ok := legal(m, v, order[1:], versions, past)
		past[k] = now
		return ok
	}
	if versions > 0 && v.Read[x] {
		for _, state := range now[max(0, len(now)-versions):] {
			if len(steps(state)) > 0 && follow(now) {
				return true
			}
		}
		return false
	}
	for _, next := range steps(now[len(now)-1]) {
		if follow(append(slices.Clone(now), next)) {
			return true
		}
	}
	return false
}

// TestDecideIsTheDefinition compares the search with all permutations.
func TestDecideIsTheDefinition(t *testing.T) {
	for name, o := range map[string]histgen.Options{
		"usual":    {Oracles: true, Lines: true, MaxOps: 5},
		"squeezed": {Oracles: true, Squeezed: true, MaxOps: 5},
	} {
		var counts [2]int
		g := histgen.New(11, o)
		for i := range 2000 {
			c := g.Next()
			s, err := c.Subject()
			if err != nil {
				t.Fatal(err)
			}
			compare(t, s, levels[i%len(levels)], c, &counts)
		}
		if counts[0] < 300 || counts[1] < 300 {
			t.Errorf("%s: verdicts are one-sided: %v", name, counts)
		}
	}
}

func compare(t *testing.T, s *spec.Subject, level string, c *histgen.Case, counts *[2]int) {
	t.Helper()
	d, err := verify.Define(level)
	if err != nil {
		t.Fatal(err)
	}
	extra := c.Extra(s.View)
	hard, err := d.Order(s.View, extra)
	if err != nil {
		t.Fatal(err)
	}
	hard.Close()
	want := someOrder(s, hard, d)
	got, order, err := brute.Decide(s, level, extra)
	if err != nil || got != want {
		t.Fatalf("%s: got %v (%v), want %v\n%s", level, got, err, want, c.Text())
	}
	if got {
		counts[0]++
		m := machine(s, d)
		if !respects(order, hard) || !legal(m, s.View, order, d.Versions, map[int32][]int32{}) {
			t.Fatalf("%s: the order %v is no witness\n%s", level, order, c.Text())
		}
	} else {
		counts[1]++
	}
}

// lossy is a register whose writes may be lost, and whose reads may also see
// the write before: several states may follow a write.
func lossy() spec.Model[int, histgen.Call, history.Value] {
	return spec.Model[int, histgen.Call, history.Value]{
		Name: "lossy",
		Init: func() int { return 0 },
		Steps: func(s int, in histgen.Call, out *history.Value) []int {
			switch n, _ := in.In.Int64(); {
			case in.F == "write":
				return []int{int(n), s}
			case out == nil || *out == history.Int(int64(s)) || s == 0 && *out == history.Null:
				return []int{s}
			}
			return nil
		},
		ReadOnly: func(in histgen.Call, _ *history.Value) bool { return in.F == "read" },
	}
}

func TestNondeterministicModels(t *testing.T) {
	var counts [2]int
	g := histgen.New(5, histgen.Options{Models: []string{"register"}, MaxOps: 5})
	for i := range 1500 {
		c := g.Next()
		h := &history.Of[histgen.Call, history.Value]{Header: c.Raw.Header, Order: c.Raw.Order, Origins: c.Raw.Origins}
		for _, op := range c.Raw.Ops {
			h.Ops = append(h.Ops, history.Op[histgen.Call, history.Value]{Process: op.Process, F: op.F, Key: op.Key,
				In: histgen.Call{F: op.F, In: op.In}, Out: op.Out, Invoke: op.Invoke, Return: op.Return, Outcome: op.Outcome, Node: op.Node})
		}
		s, err := spec.Erase(h, lossy())
		if err != nil {
			t.Fatal(err)
		}
		compare(t, s, levels[i%len(levels)], c, &counts)
	}
	if counts[0] < 200 || counts[1] < 200 {
		t.Errorf("verdicts are one-sided: %v", counts)
	}
}

// TestDecideFunc: a level of one's own, made of the pieces of a known one, has
// its verdicts.
func TestDecideFunc(t *testing.T) {
	g := histgen.New(9, histgen.Options{MaxOps: 7})
	for range 3000 {
		c := g.Next()
		s, err := c.Subject()
		if err != nil {
			t.Fatal(err)
		}
		d, _ := verify.Define("bounded-staleness:k=2")
		want, _, err := brute.Decide(s, "bounded-staleness:k=2", nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := brute.DecideFunc(s, func(a, b int32) bool { return d.Holds(s.View, a, b) }, spec.KStale(2))
		if err != nil || got != want {
			t.Fatalf("got %v (%v), want %v\n%s", got, err, want, c.Text())
		}
	}
}

// TestSessionsAcrossKeys pins that a level is one order of all keys. Two
// processes write one key and then read the other; each sees nothing. Where
// only the session orders the two operations of a process (they touch at one
// instant, or within the clock error), each key alone is linearizable, and the
// whole is not.
//
//	p0: write x 1 [0,1]  read y -> null [1,2]
//	p1: write y 1 [0,1]  read x -> null [1,2]
func TestSessionsAcrossKeys(t *testing.T) {
	one, op := history.Int(1), func(p int, f, key string, in, out history.Value, at int64) history.Op[history.Value, history.Value] {
		return history.Op[history.Value, history.Value]{Process: p, F: f, Key: key, In: in, Out: out, Invoke: at, Return: at + 1}
	}
	raw := &history.Raw{Ops: []history.Op[history.Value, history.Value]{
		op(0, "write", "x", one, history.Absent, 0), op(0, "read", "y", history.Absent, history.Null, 1),
		op(1, "write", "y", one, history.Absent, 0), op(1, "read", "x", history.Absent, history.Null, 1),
	}}
	s, err := (&histgen.Case{Raw: raw, Model: "register"}).Subject()
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"linearizable", "bounded-staleness:k=1", "sequential"} {
		if ok, order, err := brute.Decide(s, level, nil); ok || err != nil {
			t.Errorf("%s: the whole passes by %v (%v)", level, order, err)
		}
		for _, members := range s.View.Keys() {
			part := *s
			part.View = s.View.Slice(members)
			if ok, _, err := brute.Decide(&part, level, nil); !ok || err != nil {
				t.Errorf("%s: a key alone fails (%v)", level, err)
			}
		}
	}
}

func TestDecideErrors(t *testing.T) {
	h := &history.Of[int, int]{Ops: make([]history.Op[int, int], brute.MaxOps+1)}
	m := spec.Model[int, int, int]{Name: "m", Init: func() int { return 0 },
		Apply: func(s, in int) (int, int, bool) {
			if in == 7 {
				panic("seven")
			}
			return s, 0, true
		}}
	s, err := spec.Erase(h, m)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := brute.Decide(s, "linearizable", nil); !errors.Is(err, brute.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	h.Ops = h.Ops[:2]
	h.Ops[1].In = 7
	if s, err = spec.Erase(h, m); err != nil {
		t.Fatal(err)
	}
	if _, _, err := brute.Decide(s, "ordered-sequential", nil); !errors.Is(err, spec.ErrCannotTell) {
		t.Errorf("no ReadOnly: %v", err)
	}
	if _, _, err := brute.Decide(s, "serialisable", nil); err == nil {
		t.Error("an unknown level has a verdict")
	}
	var step *spec.StepError
	if _, _, err := brute.Decide(s, "sequential", nil); !errors.As(err, &step) || step.Op != 1 {
		t.Errorf("a panic in the model: %v", err)
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, level := range []string{"linearizable", "sequential", "bounded-staleness:k=2"} {
		b.Run(level, func(b *testing.B) {
			g := histgen.New(1, histgen.Options{})
			subjects := make([]*spec.Subject, 2000)
			for i := range subjects {
				s, err := g.Next().Subject()
				if err != nil {
					b.Fatal(err)
				}
				subjects[i] = s
			}
			for i := 0; b.Loop(); i++ {
				if _, _, err := brute.Decide(subjects[i%len(subjects)], level, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
