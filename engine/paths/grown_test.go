package paths_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// pieces are what is appended: each its own, few that never end one another, or
// few of which one may end another.
var pieces = [][]string{nil, {"x;", "y;", "z;"}, {"a", "b", "ab", "ba"}}

// grownCase makes a history of one key whose texts are put, appended and read.
func grownCase(r *rand.Rand, s shape) *spec.Subject {
	ops := intervals(r, s)
	in, out := make([]models.KVIn, len(ops)), make([]history.Value, len(ops))
	some, puts := pieces[r.IntN(len(pieces))], 0.2*r.Float64()
	word := func(i int) string {
		if some == nil || r.IntN(4) == 0 {
			return string(rune('A'+i)) + ";"
		}
		return some[r.IntN(len(some))]
	}
	for i := range ops {
		switch x := r.Float64(); {
		case x < puts:
			ops[i].f, in[i] = "put", models.Put(history.String(word(i)))
		case x < puts+0.05:
			ops[i].f, in[i] = "put", models.Put(history.String(word(i)+word(i)))
		case x < puts+0.1:
			ops[i].f, in[i] = "cas", models.CasKey(history.Null, history.String(word(i)))
			ops[i].told = r.IntN(2) == 0 // it expects anything
		case x < puts+0.45:
			ops[i].f, in[i] = "append", models.Append(word(i))
		default:
			ops[i].f, in[i] = "get", models.Get()
		}
		ops[i].lost = r.Float64() < s.lostAdds && ops[i].f != "get" || r.Float64() < s.lostTakes
	}
	initial := []history.Value{history.Null, history.String(""), history.String("x;")}[r.IntN(3)]
	simulateTexts(r, ops, in, out, initial)
	for range r.IntN(3) { // spoil what was read
		if x := r.IntN(len(ops)); ops[x].f == "get" {
			if out[x] = history.String(word(x)); r.IntN(2) == 0 {
				out[x] = out[r.IntN(len(ops))]
			}
		}
	}
	h := &history.Of[models.KVIn, history.Value]{Ops: make([]history.Op[models.KVIn, history.Value], len(ops))}
	for i := range ops {
		e, op := &ops[i], &h.Ops[i]
		op.Process, op.F, op.Invoke, op.Return, op.In = e.process, e.f, e.call, e.ret, in[i]
		if op.Out = out[i]; e.lost {
			op.Outcome, op.Out = history.Info, history.Absent
		} else if op.F == "get" && op.Out == history.Absent {
			op.Out = history.Null
		}
	}
	subject, err := spec.Erase(h, models.KV(initial))
	if err != nil {
		panic(err)
	}
	return subject
}

// simulateTexts performs the operations along a random order that their intervals
// allow.
func simulateTexts(r *rand.Rand, ops []event, in []models.KVIn, out []history.Value, state history.Value) {
	m := models.KV(state)
	along(r, ops, func(x int) {
		if ops[x].f == "cas" && !ops[x].told {
			in[x].Value = state
		}
		if next, got, ok := m.Apply(state, in[x]); ok {
			state, out[x] = next, got
		}
	})
}

// TestGrownTextsEqualSearch compares the register path with the search where
// texts are appended to, at levels of every kind of hard order.
func TestGrownTextsEqualSearch(t *testing.T) {
	for k := range 2 {
		t.Run([]string{"one", "two"}[k], func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(17, uint64(k)))
			c := &tally{}
			for i := range *fuzzN {
				s := grownCase(r, small(r))
				level := registerLevels[r.IntN(len(registerLevels))]
				rules := leveled(t, s, level, r)
				c.register(t, s, level, rules)
				if i%50 == 0 && level == "linearizable" && len(rules.Hard) < 3 {
					againstTwin(t, s)
				}
			}
			t.Logf("%d consistent, %d violations, %d left to the search", c.yes, c.no, c.unknown)
			decided := c.yes + c.no
			if c.yes*100 < 15*decided || c.no*100 < 15*decided || c.unknown > 2*decided {
				t.Error("lopsided")
			}
		})
	}
}

// step is an operation of a process of its own, unless it is the first's.
func step(process int, in models.KVIn, out string, call int64, outcome history.Outcome) history.Op[models.KVIn, history.Value] {
	v := history.Absent
	if in.F == "get" {
		v = history.String(out)
	}
	return history.Op[models.KVIn, history.Value]{Process: process, F: in.F, In: in, Out: v, Invoke: call, Return: call + 1, Outcome: outcome}
}

// key is a history of one key.
func key(t *testing.T, initial history.Value, ops ...history.Op[models.KVIn, history.Value]) *spec.Subject {
	s, err := spec.Erase(&history.Of[models.KVIn, history.Value]{Ops: ops}, models.KV(initial))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGrownTexts pins histories that are easy to get wrong.
func TestGrownTexts(t *testing.T) {
	put, app, get, text := models.Put, models.Append, models.Get(), history.String
	for name, c := range map[string]struct {
		s    *spec.Subject
		want spec.Kind
	}{
		"what an unanswered cas would have found need not have been there": {key(t, history.Null,
			step(0, app("b"), "", 0, history.OK), step(0, put(text("a")), "", 2, history.OK), step(0, put(text("x")), "", 4, history.OK),
			step(1, models.CasKey(text("ab"), text("x")), "", 9, history.Info), step(0, get, "x", 6, history.OK)), spec.Consistent},
		"put, and later appended": {key(t, history.Null,
			step(0, put(text("ab")), "", 0, history.OK), step(0, get, "ab", 2, history.OK), step(0, put(text("a")), "", 4, history.OK),
			step(0, app("b"), "", 6, history.OK), step(0, get, "ab", 8, history.OK)), spec.Consistent},
		"an append that came too late is of the core": {key(t, text("x;"),
			step(0, get, "x;", 0, history.OK), step(0, app("z;"), "", 2, history.OK), step(0, get, "x;", 4, history.OK), step(0, get, "x;z;", 6, history.OK),
			step(0, app("F;"), "", 8, history.OK), step(0, get, "x;z;F;", 10, history.OK), step(0, app("z;"), "", 12, history.OK)), spec.Violation},
	} {
		t.Run(name, func(t *testing.T) {
			part, err := engine.Decide(context.Background(), engine.Task{Rules: rules(c.s), Machine: c.s.Machine(context.Background(), c.s.View, false), Eager: true, Focus: -1})
			if err != nil || part.Kind != c.want || strings.Contains(part.Tried, "possible by themselves") {
				t.Errorf("%v by %s, tried %q, %v", part.Kind, part.Engine, part.Tried, err)
			}
			againstTwin(t, c.s)
		})
	}
}

// TestCoreOfTexts: what made the beginning of a text is of its core, too.
func TestCoreOfTexts(t *testing.T) {
	s := key(t, history.Null, step(0, models.Put(history.String("x")), "", 0, history.OK), step(0, models.Append("a"), "", 2, history.OK),
		step(0, models.Append("b"), "", 4, history.OK), step(0, models.Get(), "xab", 6, history.OK))
	for _, core := range [][]int32{{2, 3}, {1, 2, 3}, {0, 1, 3}, {0, 1, 2, 3}} {
		if err := coreAt(s, "linearizable", core); err == nil {
			t.Errorf("%v is no core", core)
		}
	}
}
