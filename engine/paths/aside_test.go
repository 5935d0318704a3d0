package paths_test

import (
	"context"
	"testing"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// TestRefusedCompareAndSets: where what a refused compare-and-set must not find is
// there in the order that was found first, a write that nobody read makes room.
func TestRefusedCompareAndSets(t *testing.T) {
	op := func(process int, in models.RegisterIn, out history.Value, call, ret int64, outcome history.Outcome) history.Op[models.RegisterIn, history.Value] {
		return history.Op[models.RegisterIn, history.Value]{Process: process, F: in.F, In: in, Out: out, Invoke: call, Return: ret, Outcome: outcome}
	}
	write := func(process, v int, call, ret int64) history.Op[models.RegisterIn, history.Value] {
		return op(process, models.Write(value(v)), history.Absent, call, ret, history.OK)
	}
	lost := func(process, v int, call int64) history.Op[models.RegisterIn, history.Value] {
		return op(process, models.Write(value(v)), history.Absent, call, 0, history.Info)
	}
	refused := func(process, v int, call, ret int64) history.Op[models.RegisterIn, history.Value] {
		return op(process, models.Cas(value(v), value(90+process)), history.False, call, ret, history.OK)
	}
	read := func(process, v int, call, ret int64) history.Op[models.RegisterIn, history.Value] {
		return op(process, models.Read(), value(v), call, ret, history.OK)
	}
	type ops = []history.Op[models.RegisterIn, history.Value]
	for name, c := range map[string]struct {
		ops  ops
		want spec.Kind
	}{
		"an unanswered write comes between":           {ops{write(1, 1, 0, 1), lost(2, 2, 0), refused(3, 1, 3, 4)}, spec.Consistent},
		"between two that are refused the same":       {ops{write(1, 1, 0, 1), lost(2, 2, 0), refused(3, 1, 3, 4), refused(3, 1, 5, 6)}, spec.Consistent},
		"it is too late":                              {ops{write(1, 1, 0, 1), lost(2, 2, 9), refused(3, 1, 3, 4)}, spec.Violation},
		"it would leave what must not be there":       {ops{write(1, 1, 0, 1), lost(2, 1, 0), refused(3, 1, 3, 4)}, spec.Violation},
		"somebody reads the value afterwards":         {ops{write(1, 1, 0, 1), lost(2, 2, 0), refused(3, 1, 3, 4), read(4, 1, 5, 6)}, spec.Violation},
		"the first of two that overlap goes last":     {ops{write(1, 1, 0, 5), write(2, 2, 1, 5), refused(3, 2, 6, 7)}, spec.Consistent},
		"the second of two that overlap goes last":    {ops{write(1, 1, 0, 5), write(2, 2, 1, 5), refused(3, 1, 6, 7)}, spec.Consistent},
		"neither of two can be the last":              {ops{write(1, 1, 0, 5), write(2, 2, 1, 5), refused(3, 1, 6, 7), refused(3, 2, 8, 9)}, spec.Violation},
		"an unanswered write serves one after both":   {ops{write(1, 1, 0, 5), write(2, 2, 1, 5), refused(3, 1, 6, 7), lost(4, 3, 2), refused(3, 2, 8, 9)}, spec.Consistent},
		"a later write is taken forward, between two": {ops{write(1, 1, 0, 1), refused(2, 1, 3, 9), write(3, 3, 4, 20), write(4, 4, 12, 30)}, spec.Consistent},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := spec.Erase(&history.Of[models.RegisterIn, history.Value]{Ops: c.ops}, models.CasRegister(value(0)))
			if err != nil {
				t.Fatal(err)
			}
			part, err := engine.Decide(context.Background(), engine.Task{Rules: rules(s), Machine: s.Machine(context.Background(), s.View, false), Eager: true, Focus: -1})
			if err != nil || part.Kind != c.want || c.want == spec.Consistent && part.Engine != "register" {
				t.Errorf("%v by %s, tried %q, %v", part.Kind, part.Engine, part.Tried, err)
			}
			againstTwin(t, s)
		})
	}
}
