package consistency_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

type registerOp = history.Op[models.RegisterIn, history.Value]

// stale makes a run of a register, of unique or of few values, in which up to
// three reads are changed.
func stale(rng *rand.Rand) (ops []registerOp) {
	values, clients := []int{3, 1 << 20}[rng.IntN(2)], 2+rng.IntN(4)
	free, state := make([]int64, clients), history.Null
	n := 10 + rng.IntN(40)
	for i := range n {
		p := rng.IntN(clients)
		at := max(free[p], int64(10*i)) // it takes effect here
		o := registerOp{Process: p, Invoke: max(free[p], at-rng.Int64N(30)), Return: at + rng.Int64N(30)}
		free[p] = o.Return + 1
		if rng.IntN(2) == 0 {
			state = history.Int(int64(1 + (i % values)))
			o.F, o.In, o.NoOut = "write", models.Write(state), true
		} else {
			o.F, o.In, o.Out = "read", models.Read(), state
		}
		if rng.IntN(12) == 0 {
			o.Outcome, o.Process = history.Info, clients+i
		}
		ops = append(ops, o)
	}
	for range rng.IntN(4) {
		if o := &ops[rng.IntN(len(ops))]; o.F == "read" {
			o.Out = history.Int(int64(1 + rng.IntN(min(n, values))))
		}
	}
	return ops
}

// TestFirstBadReturnIsTheFirst: the history cut at the return that is named is
// impossible, and the one cut at the return before it is not.
func TestFirstBadReturnIsTheFirst(t *testing.T) {
	level, err := consistency.LookupLevel("linearizable")
	if err != nil {
		t.Fatal(err)
	}
	check := func(ops []registerOp, engine string) *spec.Verdict {
		h := &history.Of[models.RegisterIn, history.Value]{Ops: ops}
		v, err := consistency.Check(context.Background(), h, models.Register(history.Null), level, consistency.Options{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	rng := rand.New(rand.NewPCG(7, 8))
	engines := map[string]int{}
	for n := range 4000 {
		ops, engine := stale(rng), []string{"auto", "search"}[n%2]
		v := check(ops, engine)
		if v.Kind != spec.Violation || v.Parts[0].Explain == nil || !v.Parts[0].Explain.AtReturn {
			continue
		}
		returns := []int{}
		for i := range ops {
			if ops[i].Outcome == history.OK {
				returns = append(returns, i)
			}
		}
		slices.SortStableFunc(returns, func(a, b int) int { return cmp.Compare(ops[a].Return, ops[b].Return) })
		n := slices.Index(returns, int(v.Parts[0].Explain.Op)) + 1
		if bad, good := check(cutAt(ops, returns, n), engine), check(cutAt(ops, returns, n-1), engine); bad.Kind != spec.Violation || good.Kind == spec.Violation {
			t.Fatalf("by %s: at return %d of %d %v, before it %v: %+v", v.Parts[0].Engine, n, len(returns), bad.Kind, good.Kind, ops)
		}
		engines[v.Parts[0].Engine]++
	}
	t.Logf("violations by engine: %v", engines)
	for _, engine := range []string{"register", "sweep", "search"} {
		if engines[engine] < 100 {
			t.Errorf("few violations by %s", engine)
		}
	}
}

// cutAt is the history at the n-th of its returns.
func cutAt(ops []registerOp, returns []int, n int) (cut []registerOp) {
	if n == 0 {
		return nil
	}
	for i, o := range ops {
		returned := slices.Contains(returns[:n], i)
		if !returned && o.Invoke > ops[returns[n-1]].Return {
			continue
		}
		if !returned {
			o.Outcome, o.Process = history.Info, 1000+i
		}
		cut = append(cut, o)
	}
	return cut
}
