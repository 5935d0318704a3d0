package engine

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
)

// ErrMalformed marks a history that contradicts itself: its session and
// real-time edges alone form a circle.
var ErrMalformed = errors.New("session and real-time order contradict each other")

// Task is one part to decide.
type Task struct {
	Rules   *order.Rules
	Machine spec.Machine // deterministic; see spec.Deterministic
	Eager   bool         // see Problem
	Limits  Limits
	Live    *Live  // may be nil
	Focus   int32  // the operation to explain, or -1; see Explain
	Mute    bool   // leave the explanation of a violation out
	Later   *Later // where set, the explanation of a violation is left to it; may be nil
	NoPaths bool   // search, even where a fast path would decide
	Sweep   bool   // decide by the sweep or not at all
}

// Later holds what Decide left undone: the caller may have a better explanation
// of a violation, which the usual one would only delay.
type Later struct {
	Explain func() *spec.Explanation // nil: there is nothing to explain
	Stuck   int32                    // an operation near which the violation shows, or -1
}

// explain explains the part now, or leaves it for later. how may return nil.
func (t Task) explain(part *spec.Part, stuck int32, how func() *spec.Explanation) {
	switch {
	case t.Mute:
	case t.Later != nil:
		t.Later.Explain, t.Later.Stuck = how, stuck
	default:
		part.Explain = how()
	}
}

// Decide runs the whole decision on one part: contradicting hints, hard order,
// circles, fast paths, search. Where hard order is one interval order it has no circle, and the
// paths come first: they need no graph.
// Operations of the proof, the witness and the explanation are positions in
// the View of the Rules.
func Decide(ctx context.Context, t Task) (spec.Part, error) {
	r := t.Rules
	part := spec.Part{Ops: r.View.N}
	answered := false
	for _, info := range r.View.Info {
		answered = answered || !info
	}
	if !answered {
		part.Kind, part.Reason = spec.Vacuous, "no operation has an answer"
		return part, nil
	}
	if len(r.Findings) > 0 {
		return findingPart(part, r.Findings[0]), nil
	}
	var cancelled atomic.Bool
	defer context.AfterFunc(ctx, func() { cancelled.Store(true) })()
	fast := &paths.Problem{Rules: r, Machine: t.Machine, Stop: cancelled.Load}
	if t.Sweep {
		t.sweep(ctx, &part, fast)
		return part, nil
	}
	in, out, early := fast.Intervals()
	if early && t.byPath(ctx, &part, fast, paths.All) {
		return part, nil
	}
	if early && t.asRegister(ctx, &part, in, out, fast.Stop) {
		return part, nil
	}
	var g *order.Graph
	if early {
		g = order.NewIntervalGraph(r.Hard, r.View.Info, r.View.Call, in, out)
	} else {
		g = order.NewGraph(r.View.N, r.Hard, r.View.Info, r.View.Call, cancelled.Load)
	}
	if g == nil {
		part.Kind, part.Budget = spec.Unknown, timeOf(ctx)
		return part, nil
	}
	fast.Graph = g
	if !early {
		if links := g.Cycle(); links != nil {
			return cyclePart(part, links)
		}
	}
	if !early && (t.byPath(ctx, &part, fast, paths.All) || t.withoutHints(ctx, &part, g, fast.Stop)) {
		return part, nil
	}
	p := Problem{View: r.View, Graph: g, Soft: r.Soft, Machine: t.Machine, Eager: t.Eager}
	res, begun, done := t.short(ctx, &part, p, fast)
	switch {
	case begun != nil:
		res = begun.resume(t.Limits)
	case !done:
		res = Search(ctx, p, t.Limits, t.Live)
		res.States += part.States // of a short search that it did not go on with
	case part.Engine != "": // a late path
		return part, nil
	}
	t.searched(ctx, &part, p, res)
	return part, nil
}

// searched takes the outcome of a search into the part.
func (t Task) searched(ctx context.Context, part *spec.Part, p Problem, res Result) {
	part.Engine, part.Kind, part.States, part.Budget, part.Witness = "search", res.Kind, res.States, res.Budget, res.Witness
	part.Placed = len(res.Deepest)
	if res.Kind == spec.Violation {
		part.Proof = &spec.Proof{Kind: spec.ProofExhausted}
		t.explain(part, res.stuck(p.View), func() *spec.Explanation { return explainFarthest(ctx, p, res, t) })
	}
}

// farthest is the number of states up to which a violation is searched again
// for the sake of its explanation.
const farthest = 200_000

// explainFarthest explains from the longest order of a search without pinned
// values, which stops where the outputs stop fitting rather than where they
// are doomed. It may take as many states as the search that decided, and a few
// for each operation; an order that it found by then counts if it is longer.
func explainFarthest(ctx context.Context, p Problem, res Result, t Task) *spec.Explanation {
	plain, limits := p, t.Limits
	plain.NoPins = true
	limits.States = res.States + 1_000 + min(2*int64(p.View.N), farthest)
	if _, ok := p.Machine.(spec.Tokens); ok && res.States <= farthest {
		far := Search(ctx, plain, limits, nil)
		if far.Kind == spec.Violation || far.Kind == spec.Unknown && len(far.Deepest) > len(res.Deepest) {
			return Explain(plain, far, t.Focus)
		}
	}
	return Explain(p, res, t.Focus)
}

// stuck is where a search that found no order stopped: an operation that can
// have read from nothing, or the first to return of those that its longest
// order does not hold.
func (r *Result) stuck(v *history.View) int32 {
	if r.Hopeless >= 0 {
		return r.Hopeless
	}
	placed := make([]bool, v.N)
	for _, x := range r.Deepest {
		placed[x] = true
	}
	stuck := int32(-1)
	for x := range int32(v.N) {
		if !placed[x] && !v.Info[x] && (stuck < 0 || v.Ret[x] < v.Ret[stuck]) {
			stuck = x
		}
	}
	return stuck
}

// withoutHints asks the fast paths about the order without hints, which is an
// interval order more often. What fewer edges forbid, all forbid; an order that
// they allow counts if it happens to obey all of g.
func (t Task) withoutHints(ctx context.Context, part *spec.Part, g *order.Graph, stop func() bool) bool {
	plain := *t.Rules
	plain.Hard = nil
	for _, s := range t.Rules.Hard {
		if !s.Hint {
			plain.Hard = append(plain.Hard, s)
		}
	}
	if len(plain.Hard) == len(t.Rules.Hard) {
		return false
	}
	found := *part
	t.Rules = &plain
	fast := &paths.Problem{Rules: &plain, Machine: t.Machine, Stop: stop}
	if _, _, ok := fast.Intervals(); !ok || !t.byPath(ctx, &found, fast, paths.All) || found.Kind == spec.Consistent && !obeys(g, found.Witness) {
		return false
	}
	*part = found
	return true
}

// obeys reports whether an order of operations keeps all of g.
func obeys(g *order.Graph, line []int32) bool {
	f := g.NewFrontier()
	for _, x := range line {
		if !f.Ready(x) {
			return false
		}
		f.Place(x)
	}
	return f.Left == 0
}

// findingPart is the violation that hints prove by themselves.
func findingPart(part spec.Part, f order.Finding) spec.Part {
	part.Kind, part.Engine = spec.Violation, "order"
	part.Proof = &spec.Proof{Kind: spec.ProofHints, Ops: slices.Clone(f.Ops), Words: "oracle " + f.Name + ": " + f.Words}
	return part
}

// cyclePart is the violation that a circle of hard edges proves, or the error
// when no hint and no level of a user's own has a part in it.
func cyclePart(part spec.Part, links []order.Link) (spec.Part, error) {
	p := &spec.Proof{Kind: spec.ProofCycle, HintsOnly: true}
	plain := true
	for _, l := range links {
		p.Cycle = append(p.Cycle, spec.Edge{From: l.From, To: l.To, Source: l.Source.Name, Why: l.Source.Why(l.From, l.To)})
		p.HintEdge = p.HintEdge || l.Source.Hint
		p.HintsOnly = p.HintsOnly && l.Source.Hint
		plain = plain && (l.Source.Name == order.SessionName || l.Source.Name == order.RealTimeName)
	}
	part.Kind, part.Engine, part.Proof = spec.Violation, "order", p
	if plain {
		return part, ErrMalformed
	}
	return part, nil
}
