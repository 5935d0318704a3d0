package consistency_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
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
	definition, err := verify.Define("linearizable")
	if err != nil {
		t.Fatal(err)
	}
	cores, told := 0, 0 // and those that hold the operation that is explained
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
		if p := v.Parts[0].Proof; p.Kind == spec.ProofCore {
			cores++
			if slices.Contains(p.Ops, v.Parts[0].Explain.Op) {
				told++
			}
			s, err := spec.Erase(&history.Of[models.RegisterIn, history.Value]{Ops: ops}, models.Register(history.Null))
			if err == nil {
				err = brute.Core(s, definition, nil, p.Ops)
			}
			if err != nil {
				t.Fatalf("%v is no core: %v: %+v", p.Ops, err, ops)
			}
		}
	}
	t.Logf("violations by engine: %v; of %d cores %d hold the operation that is explained", engines, cores, told)
	if cores < 100 || told*10 < cores*9 {
		t.Errorf("of %d cores %d hold the operation that is explained", cores, told)
	}
	for _, engine := range []string{"register", "sweep", "search"} {
		if engines[engine] < 100 {
			t.Errorf("few violations by %s", engine)
		}
	}
}

// TestLongExplanation: of two stale reads in a long run the first is explained,
// whichever a fast path met, by an order that leads up to it.
func TestLongExplanation(t *testing.T) {
	level, err := consistency.LookupLevel("linearizable")
	if err != nil {
		t.Fatal(err)
	}
	const first, second, n = 3000, 4500, 6000
	var ops []registerOp
	for i := range n {
		at, value := int64(10*i), history.Int(int64(i/2))
		o := registerOp{Process: i % 3, Invoke: at, Return: at + 15}
		if i%2 == 0 {
			o.F, o.In, o.NoOut = "write", models.Write(value), true
		} else {
			o.Invoke = at + 6
			o.F, o.In, o.Out = "read", models.Read(), value
		}
		if i == first+1 || i == second+1 {
			o.Out = history.Int(int64(i/2 - 700))
		}
		ops = append(ops, o)
	}
	for _, engine := range []string{"auto", "search"} {
		h := &history.Of[models.RegisterIn, history.Value]{Ops: ops}
		v, err := consistency.Check(context.Background(), h, models.Register(history.Null), level, consistency.Options{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		p := v.Parts[0]
		if p.Kind != spec.Violation || p.Explain == nil {
			t.Fatalf("by %s: %v, explained %v", engine, p.Kind, p.Explain != nil)
		}
		if e := p.Explain; e.Op != first+1 || len(e.Prefix) < first-4 || e.State == "" {
			t.Errorf("by %s: operation %d after an order of %d and %q, want %d after nearly as many", engine, e.Op, len(e.Prefix), e.State, first+1)
		}
		if engine == "auto" && !slices.Contains(p.Proof.Ops, first+1) {
			t.Errorf("%v are impossible, and %d is explained", p.Proof.Ops, first+1)
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
