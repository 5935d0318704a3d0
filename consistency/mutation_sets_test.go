package consistency_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// lossy is a register whose writes may be lost, so that its states are sets;
// a read tells the values that it may have held apart.
func lossy() spec.Model[int, histgen.Call, history.Value] {
	return spec.Model[int, histgen.Call, history.Value]{
		Name: "lossy register",
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

// TestNondeterministicEqualsTwin: over sets of states too, the engine decides
// what the twin decides.
func TestNondeterministicEqualsTwin(t *testing.T) {
	counts := map[bool]int{}
	rng := rand.New(rand.NewPCG(9, 9))
	for _, o := range []histgen.Options{{MaxOps: 8}, {MaxOps: 8, Squeezed: true}} {
		o.Models, o.MaxKeys = []string{"register"}, 2
		g := histgen.New(11, o)
		for i := range 2000 {
			c, level := g.Next(), fuzzLevels[i%len(fuzzLevels)]
			h := &history.Of[histgen.Call, history.Value]{Header: c.Raw.Header}
			for _, op := range c.Raw.Ops {
				h.Ops = append(h.Ops, history.Op[histgen.Call, history.Value]{Process: op.Process, F: op.F, Key: op.Key,
					In: histgen.Call{F: op.F, In: op.In}, Out: op.Out, Invoke: op.Invoke, Return: op.Return, Outcome: op.Outcome, Node: op.Node})
			}
			s, err := spec.Erase(h, lossy())
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := brute.Decide(s, level, nil)
			if err != nil {
				t.Fatal(err)
			}
			l, err := consistency.LookupLevel(level)
			if err != nil {
				t.Fatal(err)
			}
			v, err := consistency.Check(context.Background(), h, lossy(), l, consistency.Options{NoSplit: rng.IntN(2) == 0})
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Kind != spec.Violation; got != want || v.Kind == spec.Unknown {
				t.Fatalf("%s: %v, the twin says consistent=%v\n%s", level, v.Kind, want, c.Text())
			}
			counts[want]++
		}
	}
	if counts[true] < 400 || counts[false] < 400 {
		t.Errorf("one-sided: %v", counts)
	}
}

// TestLevelsThatAskForReads: a level whose definition asks what a read is
// refuses a model that cannot tell; the others do not.
func TestLevelsThatAskForReads(t *testing.T) {
	mute := lossy()
	mute.ReadOnly = nil
	h := &history.Of[histgen.Call, history.Value]{Ops: []history.Op[histgen.Call, history.Value]{
		{F: "write", In: histgen.Call{F: "write", In: history.Int(1)}, Return: 1}}}
	for _, level := range fuzzLevels {
		l, err := consistency.LookupLevel(level)
		if err != nil {
			t.Fatal(err)
		}
		_, err = consistency.Check(context.Background(), h, mute, l, consistency.Options{})
		asks := level != "linearizable" && level != "sequential" && level != "per-key-sequential"
		if errors.Is(err, spec.ErrCannotTell) != asks {
			t.Errorf("%s: %v", level, err)
		}
	}
}

// TestTimesRunForwards: where lines are the clock, a bound in time wants times
// that agree with them.
func TestTimesRunForwards(t *testing.T) {
	call := func(f string) histgen.Call { return histgen.Call{F: f, In: history.Int(1)} }
	h := &history.Of[histgen.Call, history.Value]{Order: history.ByLine,
		Origins: []history.Origin{{Line: 1, Seq: 0, DoneSeq: 1}, {Line: 3, Seq: 2, DoneSeq: 3}},
		Ops: []history.Op[histgen.Call, history.Value]{
			{F: "write", In: call("write"), Invoke: 10, Return: 20},
			{Process: 1, F: "read", In: call("read"), Out: history.Int(1), Invoke: 5, Return: 30},
		}}
	for level, refused := range map[string]bool{"linearizable": false, "bounded-staleness:k=2": false, "bounded-staleness:t=1ns": true} {
		l, err := consistency.LookupLevel(level)
		if err != nil {
			t.Fatal(err)
		}
		_, err = consistency.Check(context.Background(), h, lossy(), l, consistency.Options{})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "run forwards") {
			t.Errorf("%s: %v", level, err)
		}
	}
}
