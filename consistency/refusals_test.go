package consistency_test

import (
	"context"
	"strings"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// storeBuffering is two processes that each write one key and read the other
// as it was: each key alone is sequential, both together are not.
func storeBuffering() *history.Of[models.KVIn, history.Value] {
	op := func(p int, key, f string, in models.KVIn, out history.Value, at int64) history.Op[models.KVIn, history.Value] {
		return history.Op[models.KVIn, history.Value]{Process: p, F: f, Key: key, In: in, Out: out, Invoke: at, Return: at + 1}
	}
	one := history.Int(1)
	return &history.Of[models.KVIn, history.Value]{Ops: []history.Op[models.KVIn, history.Value]{
		op(1, "x", "put", models.Put(one), history.Absent, 0), op(1, "y", "get", models.Get(), history.Null, 2),
		op(2, "y", "put", models.Put(one), history.Absent, 0), op(2, "x", "get", models.Get(), history.Null, 2),
	}}
}

// TestOneKeyMayOnlyConvict: what one key alone allows is no pass at a level
// that is not local.
func TestOneKeyMayOnlyConvict(t *testing.T) {
	for level, want := range map[string]spec.Kind{"sequential": spec.Unknown, "per-key-sequential": spec.Consistent, "pram": spec.Unknown} {
		v, err := consistency.Check(context.Background(), storeBuffering(), models.KV(history.Absent), must(level),
			consistency.Options{OnlyKey: "x", HasOnlyKey: true})
		if err != nil || v.Kind != want {
			t.Errorf("%s: %v, %v; want %v", level, v, err, want)
		}
	}
}

// TestNoHistoryIsAnError: a nil history, as a reader that failed gives it, is no
// empty one.
func TestNoHistoryIsAnError(t *testing.T) {
	var h *history.Of[models.KVIn, history.Value]
	if v, err := consistency.Check(context.Background(), h, models.KV(history.Absent), must("linearizable"), consistency.Options{}); err == nil {
		t.Errorf("%v, want an error", v.Kind)
	}
}

// TestBoundInTimeNeedsTimes: positions of events are no times.
func TestBoundInTimeNeedsTimes(t *testing.T) {
	h := storeBuffering()
	h.Untimed = true
	for level, refused := range map[string]bool{"bounded-staleness:t=1ms": true, "bounded-staleness:k=2": false, "linearizable": false} {
		_, err := consistency.Check(context.Background(), h, models.KV(history.Absent), must(level), consistency.Options{})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "no time") {
			t.Errorf("%s: %v", level, err)
		}
	}
}

// TestNoLevelIsNoPass: the zero Level, as a mistyped name gives it, is refused.
func TestNoLevelIsNoPass(t *testing.T) {
	level, err := consistency.LookupLevel("linearisable")
	if err == nil {
		t.Fatal("no error for a level that does not exist")
	}
	if v, err := consistency.Check(context.Background(), storeBuffering(), models.KV(history.Absent), level, consistency.Options{}); err == nil {
		t.Errorf("%v, want an error", v.Kind)
	}
}
