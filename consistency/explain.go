package consistency

import (
	"context"
	"slices"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// firstBadReturn finds the earliest return after which the part is impossible,
// and explains it there. At the levels that it is used for, a cut of an
// allowed history is allowed when what had not returned counts as unanswered,
// so the first bad return is found by halving, from where the violation shows:
// that is most often the return itself, or near it. It gives up quietly when a
// cut cannot be decided; the explanation of the whole part then stands.
func (c *checker) firstBadReturn(ctx context.Context, t task, view *history.View, part *spec.Part, stuck int32) {
	var returns []int32 // positions in the part, by return
	for i := range int32(view.N) {
		if !view.Info[i] {
			returns = append(returns, i)
		}
	}
	order.SortBy(returns, view.Ret)
	if len(returns) == 0 || part.States > mostToHalve || part.Proof.Kind != spec.ProofExhausted && part.Ops > mostToHalve ||
		part.Engine == "stale-register" && part.Ops > mostStale {
		return
	}
	budget := 2*part.States + 10_000
	low, high := 0, len(returns) // up to returns[:low] possible, up to returns[:high] not
	guess, sure := shows(part.Proof, returns, stuck)
	if sure {
		high = guess
	}
	for step := 1; low+1 < high; {
		mid := (low + high) / 2
		switch {
		case low < guess && guess < high:
			mid = guess
		case high <= guess:
			mid, step = max(mid, high-step), 2*step
		default:
			mid, step = min(mid, low+step), 2*step
		}
		p, _, ok := c.decideCut(ctx, t, returns[:mid], view, budget, true)
		switch {
		case !ok:
			return
		case p.Kind == spec.Violation:
			high = mid
		default:
			low = mid
		}
	}
	best, keep, ok := c.decideCut(ctx, t, returns[:high], view, max(budget, 20_000), false)
	if ok && best.Explain != nil {
		c.adoptCut(part, best, keep, returns[:high])
	}
}

// shows guesses how many returns it takes to see a violation: those up to the
// last one of its proof, or up to where a search was stuck (-1: it says
// nothing). sure says that so many are enough: these operations are impossible
// by themselves, and each of them is among those that returned.
func shows(p *spec.Proof, returns []int32, stuck int32) (guess int, sure bool) {
	of := map[int32]bool{}
	for _, x := range p.Ops {
		of[x] = true
	}
	if len(of) == 0 {
		of[stuck] = true
	}
	found := 0
	for i, x := range returns {
		if of[x] {
			guess = i + 1
			found++
		}
	}
	return guess, p.Kind == spec.ProofCore && found == len(of)
}

// mostToHalve is the number of states of a violation (of operations where a
// fast path found it) up to which its first bad return is looked for, as that
// takes a check for every halving.
const mostToHalve = 50_000

// mostStale is that number for the path for stale registers, which explains
// nothing but in words: an explanation is found where a search decides the cut.
const mostStale = 1000

// decideCut decides the part as it stood at the instant of the last of these
// returns: what was invoked later is not there, and what returned later has no
// answer.
func (c *checker) decideCut(ctx context.Context, t task, returned []int32, view *history.View, budget int64, mute bool) (p spec.Part, keep []int32, ok bool) {
	at := view.Ret[returned[len(returned)-1]]
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
	p, err = engine.Decide(ctx, engine.Task{Rules: rules, Machine: m, Eager: c.eager(), Focus: focus, Mute: mute,
		NoPaths: c.opts.Engine == "search" || !mute, Limits: engine.Limits{States: budget, Memory: c.opts.MaxMemory / 4}})
	return p, local, err == nil && (p.Kind == spec.Violation || p.Kind == spec.Consistent || p.Kind == spec.Vacuous)
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
