package consistency_test

import (
	"context"
	"fmt"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// TestManyKeysBeforeMerge decides histories of several keys that are too long
// for a merge to come first.
func TestManyKeysBeforeMerge(t *testing.T) {
	for _, crossed := range []bool{false, true} {
		h := &history.Of[models.RegisterIn, history.Value]{}
		add := func(process int, key, f string, v int) {
			op := history.Op[models.RegisterIn, history.Value]{Process: process, Key: key, F: f, In: models.Write(history.Int(int64(v))), Out: history.Absent}
			if f == "read" {
				op.In, op.Out = models.Read(), history.Int(int64(v))
			}
			op.Invoke = int64(2 * len(h.Ops))
			op.Return = op.Invoke + 1
			h.Ops = append(h.Ops, op)
		}
		for i := range 300 {
			add(0, "y", "write", i+1)
			add(0, "x", "write", i+1)
			add(1, "x", "read", i+1)
			add(1, "y", "read", i+1)
		}
		if crossed { // it reads the new x and then the old y
			h.Ops[len(h.Ops)-1].Out = history.Int(299)
		}
		v, err := consistency.Check(context.Background(), h, models.Register(history.Int(0)), must("sequential"), consistency.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, p := spec.Consistent, v.Parts[0]
		if crossed {
			want = spec.Violation
		}
		if p.Kind != want || p.Engine != "many-keys" {
			t.Errorf("crossed %v: %v by %s (%s)", crossed, p.Kind, p.Engine, fmt.Sprint(p.Tried, p.Reason))
		}
		if crossed && len(p.Proof.Ops) != 5 {
			t.Errorf("the core is %v", p.Proof.Ops)
		}
	}
}
