package consistency_test

import (
	"context"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// rawOp is an operation of a register: a write of in, or a read that returned
// out where in is 0 (out 0: nothing had been written).
func rawOp(process int, node, key string, in, out int64, from, to int64) history.Op[history.Value, history.Value] {
	op := history.Op[history.Value, history.Value]{Process: process, Node: node, Key: key, Invoke: from, Return: to}
	switch {
	case in != 0:
		op.F, op.In = "write", history.Int(in)
	case out != 0:
		op.F, op.Out = "read", history.Int(out)
	default:
		op.F, op.Out = "read", history.Null
	}
	return op
}

func checkRaw(t *testing.T, h *history.Raw, level string) *spec.Verdict {
	t.Helper()
	entry, err := models.Lookup("register")
	if err != nil {
		t.Fatal(err)
	}
	s, err := entry.Bind(h, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := consistency.LookupLevel(level)
	if err != nil {
		t.Fatal(err)
	}
	v, err := consistency.CheckSubject(context.Background(), s, l, consistency.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestClockErrorsByNodeJoinKeys: each node's own clock is exact, so n1 orders
// the read of x before the write of y, n2 the read of y before the write of x,
// and each read saw the other node's write. Either key alone is possible.
func TestClockErrorsByNodeJoinKeys(t *testing.T) {
	h := &history.Raw{Header: history.Header{ClockError: history.ClockError{ByNode: map[string]int64{"n1": 50, "n2": 50}}}}
	h.Ops = []history.Op[history.Value, history.Value]{
		rawOp(0, "n1", "x", 0, 1, 0, 5), rawOp(1, "n1", "y", 1, 0, 6, 20),
		rawOp(2, "n2", "y", 0, 1, 0, 5), rawOp(3, "n2", "x", 1, 0, 6, 20),
	}
	if v := checkRaw(t, h, "linearizable"); v.Kind != spec.Violation || v.Split {
		t.Errorf("%v, split %v; want a violation of the whole", v.Kind, v.Split)
	}
	h.Header.ClockError = history.ClockError{All: 100}
	if v := checkRaw(t, h, "linearizable"); v.Kind != spec.Consistent {
		t.Errorf("%v with one clock error for all", v.Kind)
	}
}

// TestRegularSequentialByKey: the read of y returned nothing after a write of
// x had returned, before which a reader had seen y written.
func TestRegularSequentialByKey(t *testing.T) {
	h := &history.Raw{Ops: []history.Op[history.Value, history.Value]{
		rawOp(0, "", "y", 1, 0, 0, 100),
		rawOp(1, "", "y", 0, 1, 1, 2), rawOp(1, "", "x", 0, 0, 3, 4),
		rawOp(2, "", "x", 1, 0, 5, 6), rawOp(3, "", "y", 0, 0, 7, 8),
	}}
	for level, want := range map[string]spec.Kind{"regular-sequential": spec.Consistent, "linearizable": spec.Violation} {
		if v := checkRaw(t, h, level); v.Kind != want {
			t.Errorf("%s: %v, want %v", level, v.Kind, want)
		}
	}
}

// TestOnlyLocalLevelsAreSplit: keys are decided apart at the levels that are
// local, and nowhere else, whatever the history.
func TestOnlyLocalLevelsAreSplit(t *testing.T) {
	local := map[string]bool{"linearizable": true, "bounded-staleness": true, "per-key-sequential": true,
		"regular": true, "k-linearizability": true, "safe": true, "timeline": true, "prefix-linearizable": true}
	params := map[string]string{"bounded-staleness": ":k=2,t=1ns", "single-order": ":monotonic-reads", "k-linearizability": ":k=2",
		"prefix-staleness": ":t=1ns", "cosmos-docs": ":k=1,t=1ns", "cosmos-tla2018": ":k=1", "cosmos-tla2022": ":k=1"}
	h := &history.Raw{Ops: []history.Op[history.Value, history.Value]{rawOp(0, "", "x", 1, 0, 0, 1), rawOp(1, "", "y", 1, 0, 0, 1)}}
	for _, info := range consistency.Levels() {
		name := info.Name + params[info.Name]
		if v := checkRaw(t, h, name); v.Split != local[info.Name] {
			t.Errorf("%s: split %v", name, v.Split)
		}
	}
}
