package consistency_test

import (
	"context"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// adds is a history in which n clients add different powers of two to the
// counter of a key at once, and one reads what no sum of them is.
func adds(key string, n int) (ops []history.Op[int, int]) {
	for i := range n {
		ops = append(ops, history.Op[int, int]{Key: key, In: 1 << i, Invoke: 10, Return: 99})
	}
	return append(ops, history.Op[int, int]{Key: key, Out: -1, Invoke: 10, Return: 99})
}

func counter() spec.Model[int, int, int] {
	return spec.Model[int, int, int]{
		Name: "counter",
		Init: func() int { return 0 },
		Step: func(s, in int, out *int) (int, bool) {
			return s + in, in != 0 || out == nil || *out == s
		},
		ReadOnly: func(in int, _ *int) bool { return in == 0 },
	}
}

func checkAdds(t *testing.T, level string, ops []history.Op[int, int], o consistency.Options) *spec.Verdict {
	t.Helper()
	for i := range ops {
		ops[i].Process = i
	}
	l, err := consistency.LookupLevel(level)
	if err != nil {
		t.Fatal(err)
	}
	v, err := consistency.Check(context.Background(), &history.Of[int, int]{Ops: ops}, counter(), l, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestUnknownKeyIsNoPass: at a level that is not local, a key whose budget ran
// out leaves the whole unknown, whatever the other keys say.
func TestUnknownKeyIsNoPass(t *testing.T) {
	ops := append(adds("hard", 14), history.Op[int, int]{Key: "easy", In: 1, Invoke: 10, Return: 99})
	if v := checkAdds(t, "sequential", ops, consistency.Options{MaxStates: 500}); v.Kind != spec.Unknown {
		t.Errorf("%v, want unknown", v.Kind)
	}
}

// TestKeysOverTheirShareOfMemory: what does not fit into one worker's share of
// the memory is decided with all of it, so the verdict does not depend on the
// number of workers.
func TestKeysOverTheirShareOfMemory(t *testing.T) {
	for _, workers := range []int{1, 8} {
		var ops []history.Op[int, int]
		for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			ops = append(ops, history.Op[int, int]{Key: key, In: 1, Invoke: 10, Return: 99})
		}
		v := checkAdds(t, "linearizable", append(ops, adds("hard", 14)...), consistency.Options{Workers: workers, MaxMemory: 8 << 20})
		if v.Kind != spec.Violation {
			t.Errorf("%d workers: %v, want a violation", workers, v.Kind)
		}
	}
}
