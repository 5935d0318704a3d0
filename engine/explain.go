package engine

import (
	"fmt"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// Explain says in operations how far a search that found no order got: the
// longest order found and, for every operation that could come next and for
// focus, why it cannot. focus is the operation that the reader should look at;
// -1 picks the first to return of those that are left.
func Explain(p Problem, res Result, focus int32) *spec.Explanation {
	x := newExplainer(p, res)
	e := &spec.Explanation{Prefix: res.Deepest, Op: focus, Before: -1}
	v := p.View
	for j := range p.Graph.Chains {
		head := x.f.Head(j)
		if head < 0 {
			continue
		}
		if focus < 0 && (e.Op < 0 || v.Ret[head] < v.Ret[e.Op]) {
			e.Op = head
		}
	}
	for j := range p.Graph.Chains {
		if head := x.f.Head(j); head >= 0 && head != e.Op {
			e.Refused = append(e.Refused, x.refusal(head))
		}
	}
	for _, op := range res.Deepest {
		if !v.Info[op] && (e.Before < 0 || v.Ret[op] > v.Ret[e.Before]) {
			e.Before = op
		}
	}
	if e.Op >= 0 && !x.f.Placed[e.Op] {
		e.Refused = append(e.Refused, x.refusal(e.Op))
	}
	e.Refused = x.demanders(e.Refused)
	e.Forced = x.forced(e.Op)
	if e.Op >= 0 {
		if state, ok := res.DeepestState[v.Key[e.Op]]; ok {
			e.State = spec.DescribeState(p.Machine, state)
		}
	}
	return e
}

// explainer stands at the end of the longest order found.
type explainer struct {
	Problem
	res    Result
	f      *order.Frontier
	object []int32
	pins   *pins
}

func newExplainer(p Problem, res Result) *explainer {
	x := &explainer{Problem: p, res: res, f: p.Graph.NewFrontier()}
	s := &search{Problem: p}
	s.objects()
	x.object = s.object
	if !p.NoPins {
		x.pins = newPins(p.Machine, p.View, p.Graph, s.object, len(s.state))
	}
	watcher := watch(p.Machine)
	for _, op := range res.Deepest {
		x.f.Place(op)
		if watcher != nil {
			watcher.Placed(op)
		}
		if x.pins != nil {
			x.pins.count(op, -1)
		}
	}
	return x
}

// forced follows hard order back from op through updates at the end of the
// longest order: up to three steps, each with its reason.
func (x *explainer) forced(op int32) (edges []spec.Edge) {
	for i := len(x.res.Deepest) - 1; op >= 0 && i >= 0 && len(edges) < 3; i-- {
		a := x.res.Deepest[i]
		if x.View.Key[a] != x.View.Key[op] || x.View.Read != nil && x.View.Read[a] {
			continue
		}
		s, ok := x.Graph.Edge(a, op)
		if !ok {
			break
		}
		edges = append(edges, spec.Edge{From: a, To: op, Source: s.Name, Why: s.Why(a, op)})
		op = a
	}
	return edges
}

// demanders adds the operations that refusals name as in need of a value, with
// the reason why they could not come before it is overwritten.
func (x *explainer) demanders(refused []spec.Refusal) []spec.Refusal {
	listed := map[int32]bool{}
	for _, r := range refused {
		listed[r.Op] = true
	}
	for _, r := range refused {
		if r.Demander != nil && !listed[*r.Demander] {
			listed[*r.Demander] = true
			refused = append(refused, x.refusal(*r.Demander))
		}
	}
	return refused
}

// refusal says why op does not follow the longest order.
func (x *explainer) refusal(op int32) spec.Refusal {
	no := spec.Refusal{Op: op, After: -1}
	if !x.f.Ready(op) {
		no.Why = "must follow an operation that is not placed"
		if a, s, ok := x.f.Blocker(op); ok {
			no.After, no.Why = a, fmt.Sprintf("%s: %s", s.Name, s.Why(a, op))
		}
		return no
	}
	now := x.res.DeepestState[x.View.Key[op]]
	next, ok := x.Machine.Step(now, op)
	switch {
	case !ok:
		no.Why = "not legal when the state is " + spec.DescribeState(x.Machine, now)
	case x.pins != nil && x.pins.strands(op, x.object[op], now, next):
		no.Demander = x.demander(op, now)
		no.Why = fmt.Sprintf("would overwrite %s for good", spec.DescribeState(x.Machine, now))
	case x.res.Kind == spec.Violation:
		no.Why = "leads to no complete order: every continuation was tried"
	default: // another search has shown it
		no.Why = "leads to no complete order"
	}
	return no
}

// demander is the required operation, first to return of those left, that
// still demands what the state now holds.
func (x *explainer) demander(op, now int32) *int32 {
	held := x.pins.cell(x.object[op], x.pins.tokens.Held(now))
	var found *int32
	for i := range int32(x.View.N) {
		if i != op && !x.f.Placed[i] && x.pins.demand[i] == held && (found == nil || x.View.Ret[i] < x.View.Ret[*found]) {
			found = &i
		}
	}
	return found
}
