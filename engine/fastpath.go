package engine

import (
	"context"

	"pinyon/engine/order"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
)

// coreStates is the number of states up to which a core is searched: that of
// any core of a dozen operations is far below.
const coreStates = 200_000

// retold is the number of operations up to which a violation that a path found
// is told from the whole history, if retoldStates states are enough for that;
// otherwise it is told from the core.
const (
	retold       = 200
	retoldStates = 20_000
)

// staleStates is the number of states after which the path for stale registers is
// asked: it knows more of them than the search.
const staleStates = 2000

// byPath tries the fast paths. It reports whether one of them decided the part;
// otherwise part.Tried says what was tried.
func (t Task) byPath(ctx context.Context, part *spec.Part, p *paths.Problem, list []paths.Path) bool {
	if t.NoPaths {
		return false
	}
	a, name := paths.Try(p, list)
	if a.Kind != spec.Unknown {
		part.Tried = a.Reason
	}
	switch a.Kind {
	case spec.Consistent:
		part.Engine, part.Kind, part.Witness = name, spec.Consistent, a.Witness
		return true
	case spec.Violation:
		if why := t.convict(ctx, part, a); why != "" {
			part.Tried = name + ": " + why
			return false
		}
		part.Engine, part.Kind = name, spec.Violation
		return true
	}
	if part.Tried != "" && a.Reason != "" {
		part.Tried += "; "
	}
	part.Tried += a.Reason
	return false
}

// sweep decides by the sweep alone.
func (t Task) sweep(ctx context.Context, part *spec.Part, p *paths.Problem) {
	if t.byPath(ctx, part, p, paths.Late[:1]) {
		return
	}
	part.Kind, part.Engine, part.Reason = spec.Unknown, "sweep", part.Tried
	if part.Tried == "" {
		part.Reason = "the sweep knows registers and keys alone"
	}
	part.Budget = timeOf(ctx)
}

// short is a search of so few states that most histories of registers are
// decided by it if at all; the late paths are tried before it goes on for long.
// It reports whether the part is decided; if not, begun is the search so far, if
// it can go on.
func (t Task) short(ctx context.Context, part *spec.Part, p Problem, fast *paths.Problem) (res Result, begun *search, done bool) {
	limits := t.Limits
	states := int64(2*t.Rules.View.N + 1000)
	swept, _ := paths.Late[0].Applies(fast)
	stale, _ := paths.Late[1].Applies(fast)
	if stale {
		states = staleStates
	}
	if t.NoPaths || !swept && !stale || limits.States > 0 && limits.States <= states {
		return Result{}, nil, false
	}
	limits.States = states
	begun = newSearch(ctx, p, limits, t.Live)
	if res = begun.run(); res.Kind != spec.Unknown || res.Budget != "states" {
		return res, nil, true
	}
	part.States = res.States
	if t.byPath(ctx, part, fast, paths.Late) {
		return res, nil, true
	}
	if begun.watcher != nil { // the paths may have shown it something else
		begun = nil
	}
	return res, begun, false
}

// convict makes the proof of a violation that a path found, and its
// explanation. A small core is searched first: it must be impossible by itself.
func (t Task) convict(ctx context.Context, part *spec.Part, a paths.Answer) (why string) {
	if a.Words != "" {
		part.Proof = &spec.Proof{Kind: spec.ProofPattern, Ops: a.Core, Words: a.Words}
		return ""
	}
	p, res := t.searchCore(ctx, a.Core)
	if res.Kind != spec.Violation {
		return "the operations that it named are possible by themselves"
	}
	part.Proof = &spec.Proof{Kind: spec.ProofCore, Ops: a.Core}
	t.explain(part, -1, func() *spec.Explanation {
		if e := t.retell(ctx); e != nil {
			return e
		}
		e := Explain(p, res, -1)
		e.Translate(func(x int32) int32 {
			if x < 0 {
				return x
			}
			return a.Core[x]
		})
		return e
	})
	return ""
}

// retell explains a violation of a small history as the search would; nil
// where that takes too long.
func (t Task) retell(ctx context.Context) *spec.Explanation {
	if t.Rules.View.N > retold {
		return nil
	}
	t.NoPaths = true
	t.Limits.States, t.Live, t.Later = retoldStates, nil, nil
	if part, err := Decide(ctx, t); err == nil && part.Kind == spec.Violation {
		return part.Explain
	}
	return nil
}

// searchCore searches some operations of the task alone.
func (t Task) searchCore(ctx context.Context, core []int32) (Problem, Result) {
	view := t.Rules.View.Slice(core)
	rules := t.Rules.Slice(core, view)
	g := order.NewGraph(view.N, rules.Hard, view.Info, view.Call, nil)
	p := Problem{View: view, Graph: g, Machine: &renamed{t.Machine, core}, Eager: t.Eager}
	return p, Search(ctx, p, Limits{States: coreStates}, nil)
}

// renamed is a machine for some of its operations.
type renamed struct {
	spec.Machine
	ops []int32
}

// Step implements spec.Machine.
func (r *renamed) Step(state, op int32) (int32, bool) { return r.Machine.Step(state, r.ops[op]) }

// Class implements spec.Classer.
func (r *renamed) Class(op int32) int32 {
	if c, ok := r.Machine.(spec.Classer); ok {
		return c.Class(r.ops[op])
	}
	return op
}

// Describe implements spec.Describer.
func (r *renamed) Describe(state int32) string { return spec.DescribeState(r.Machine, state) }
