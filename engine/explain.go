package engine

import (
	"fmt"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// explain says in operations how far the search got: the longest order found
// and, for every operation that could come next by order, why it cannot.
func explain(r *order.Rules, g *order.Graph, m spec.Machine, res Result) *spec.Explanation {
	f := g.NewFrontier()
	for _, x := range res.Deepest {
		f.Place(x)
	}
	e := &spec.Explanation{Prefix: res.Deepest, Op: -1, Before: -1}
	v := r.View
	for j := range g.Chains {
		x := f.Head(j)
		if x < 0 {
			continue
		}
		if e.Op < 0 || v.Ret[x] < v.Ret[e.Op] {
			e.Op = x
		}
		e.Refused = append(e.Refused, refusal(r, g, f, m, res, x))
	}
	for _, x := range res.Deepest {
		if !v.Info[x] && (e.Before < 0 || v.Ret[x] > v.Ret[e.Before]) {
			e.Before = x
		}
	}
	if e.Op >= 0 {
		if state, ok := res.DeepestState[v.Key[e.Op]]; ok {
			e.State = spec.DescribeState(m, state)
		}
	}
	return e
}

// refusal says why x does not follow the deepest order.
func refusal(r *order.Rules, g *order.Graph, f *order.Frontier, m spec.Machine, res Result, x int32) spec.Refusal {
	no := spec.Refusal{Op: x, After: -1}
	if !f.Ready(x) {
		no.Why = "must follow an operation that is not placed"
		if a, s, ok := f.Blocker(x); ok {
			no.After, no.Why = a, fmt.Sprintf("%s: %s", s.Name, s.Why(a, x))
		}
		return no
	}
	state := res.DeepestState[r.View.Key[x]]
	no.Why = "leads to no complete order: every continuation was tried"
	if _, ok := m.Step(state, x); !ok {
		no.Why = "not legal when the state is " + spec.DescribeState(m, state)
	}
	return no
}
