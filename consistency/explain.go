package consistency

import (
	"cmp"
	"context"
	"slices"

	"pinyon/engine"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// firstBadReturn finds the earliest return after which the part is impossible,
// and explains it there. At the levels that it is used for, a cut of an
// allowed history is allowed when what had not returned counts as unanswered,
// so the first bad return is found by halving. It gives up quietly when a cut
// cannot be decided; the explanation of the whole part then stands.
func (c *checker) firstBadReturn(ctx context.Context, t task, part *spec.Part) {
	var returns []int32 // positions in the part, by return
	view := c.view.Slice(t.keep)
	for i := range int32(view.N) {
		if !view.Info[i] {
			returns = append(returns, i)
		}
	}
	slices.SortStableFunc(returns, func(a, b int32) int { return cmp.Compare(view.Ret[a], view.Ret[b]) })
	budget := 4*part.States + 10_000
	low, high := 0, len(returns) // up to returns[:low] possible, up to returns[:high] not
	var best spec.Part
	var bestKeep []int32
	for low+1 < high {
		mid := (low + high) / 2
		p, keep, ok := c.decideCut(ctx, t, returns[:mid], view.Ret[returns[mid-1]], budget)
		switch {
		case !ok:
			return
		case p.Kind == spec.Violation:
			high, best, bestKeep = mid, p, keep
		default:
			low = mid
		}
	}
	if best.Explain == nil {
		p, keep, ok := c.decideCut(ctx, t, returns[:high], view.Ret[returns[high-1]], budget)
		if !ok || p.Explain == nil {
			return
		}
		best, bestKeep = p, keep
	}
	c.adoptCut(part, best, bestKeep, returns[:high])
}

// decideCut decides the part as it stood at the instant of a return: what was
// invoked later is not there, and what returned later has no answer.
func (c *checker) decideCut(ctx context.Context, t task, returned []int32, at int64, budget int64) (p spec.Part, keep []int32, ok bool) {
	view := c.view.Slice(t.keep)
	answered := make(map[int32]bool, len(returned))
	for _, i := range returned {
		answered[c.whole[t.keep[i]]] = true
	}
	var local []int32
	for i := range int32(view.N) {
		if view.Call[i] <= at || answered[c.whole[t.keep[i]]] {
			keep = append(keep, c.whole[t.keep[i]])
			local = append(local, i)
		}
	}
	cut := c.subject.Cut(keep, func(i int32) bool { return !answered[i] })
	rules := order.NewRules(cut)
	if c.level.Order != nil && c.level.Order(cut, rules) != nil {
		return p, nil, false
	}
	m, err := c.machine(ctx, cut)
	if err != nil {
		return p, nil, false
	}
	focus := int32(slices.Index(local, returned[len(returned)-1]))
	p, err = engine.Decide(ctx, engine.Task{Rules: rules, Machine: m, Eager: c.eager(), Focus: focus,
		Limits: engine.Limits{States: budget, Memory: c.opts.MaxMemory / 4}})
	return p, local, err == nil && (p.Kind == spec.Violation && p.Explain != nil || p.Kind == spec.Consistent || p.Kind == spec.Vacuous)
}

// adoptCut takes the explanation of the cut into the part: the operation whose
// return is impossible, and the last one that returned before it.
func (c *checker) adoptCut(part *spec.Part, cut spec.Part, local, returned []int32) {
	e := cut.Explain
	up := func(x int32) int32 {
		if x < 0 {
			return x
		}
		return local[x]
	}
	e.Translate(up)
	e.AtReturn, e.Op, e.Before = true, returned[len(returned)-1], -1
	if len(returned) > 1 {
		e.Before = returned[len(returned)-2]
	}
	part.Explain = e
}
