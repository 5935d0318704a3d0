package consistency

import (
	"context"
	"math"

	"pinyon/engine"
	"pinyon/engine/brute"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// firstBadReturn finds the earliest return after which the part is impossible,
// and explains it there. At the levels that it is used for, a cut of an
// allowed history is allowed when what had not returned counts as unanswered,
// so the first bad return is found by halving, from where the violation shows:
// that is most often the return itself, or near it. It gives up quietly when a
// cut cannot be decided; the explanation of the whole part then stands.
func (c *checker) firstBadReturn(ctx context.Context, t task, view *history.View, part *spec.Part, stuck int32) {
	k := c.newCutter(ctx, t, view)
	n := len(k.returns)
	if n == 0 || part.States > mostToHalve || part.Proof.Kind != spec.ProofExhausted && part.Ops > mostToHalve ||
		part.Engine == "stale-register" && part.Ops > mostStale {
		return
	}
	budget := 2*part.States + 10_000
	low, high := 0, n // up to the first low returns possible, up to the first high not
	guess, sure := k.shows(part.Proof, stuck)
	if sure {
		high = guess
	}
	var best *cut        // the one at high, if it was decided
	var core *spec.Proof // of a cut, whose operations had returned
	for step := 1; low+1 < high; {
		mid := (low + high) / 2
		switch {
		case low < guess && guess < high:
			mid = guess
		case high == guess:
			mid = guess - 1
		case low >= guess:
			mid, step = min(mid, low+step), 4*step
		}
		at := k.decide(mid, budget, false)
		switch {
		case !at.ok:
			return
		case at.Kind != spec.Violation:
			low = mid
			continue
		}
		high, best = mid, at
		sooner, sure := k.shows(at.Proof, at.later.Stuck)
		if sure {
			core = at.Proof
		}
		if sure && sooner < high {
			high, best = sooner, nil
		}
	}
	if best == nil || best.Engine != "search" {
		best = k.decide(high, max(budget, 20_000), true)
	}
	if best.ok && best.later.Explain != nil {
		best.Explain = best.later.Explain()
		k.adopt(part, best)
		if core != nil && part.Proof.Kind == spec.ProofCore {
			if until, _ := k.shows(core, -1); until == high && k.stands(core.Ops) { // what is explained is one of them
				part.Proof = core
			}
		}
	}
}

// mostToHalve is the number of states of a violation (of operations where a
// fast path found it) up to which its first bad return is looked for, as that
// takes a check for every halving.
const mostToHalve = 50_000

// mostStale is that number for the path for stale registers, which explains
// nothing but in words: an explanation is found where a search decides the cut.
const mostStale = 1000

// cutter cuts a part at its returns.
type cutter struct {
	*checker
	ctx     context.Context
	task    task
	view    *history.View
	returns []int32 // positions in the part, by return
	place   []int32 // by operation: its place among the returns; those without an answer come last
}

func (c *checker) newCutter(ctx context.Context, t task, view *history.View) *cutter {
	k := &cutter{checker: c, ctx: ctx, task: t, view: view, place: make([]int32, view.N)}
	for i := range int32(view.N) {
		if !view.Info[i] {
			k.returns = append(k.returns, i)
		}
		k.place[i] = math.MaxInt32
	}
	order.SortBy(k.returns, view.Ret)
	for at, x := range k.returns {
		k.place[x] = int32(at)
	}
	return k
}

// shows guesses how many returns it takes to see a violation: those up to the
// last one of its proof, or up to where a search was stuck (-1: it says
// nothing). sure says that so many are enough: these operations are impossible
// by themselves, and each of them is among those that returned.
func (k *cutter) shows(p *spec.Proof, stuck int32) (guess int, sure bool) {
	ops := p.Ops
	if len(ops) == 0 && stuck >= 0 {
		ops = []int32{stuck}
	}
	sure = p.Kind == spec.ProofCore
	for _, x := range ops {
		if at := k.place[x]; at < math.MaxInt32 {
			guess = max(guess, int(at)+1)
		} else {
			sure = false
		}
	}
	return guess, sure
}

// stands reports whether the core of a cut is one of the whole history too, in
// which others may write what it reads. It is asked of the twin, which looks at
// no more than the core and who writes what.
func (k *cutter) stands(core []int32) bool {
	d, err := verify.Define(k.level.Name)
	if err != nil {
		return false
	}
	ops := make([]int32, len(core))
	for i, x := range core {
		ops[i] = k.whole[k.task.keep[x]]
	}
	return brute.Core(k.subject, d, nil, ops) == nil
}

// cut is the decision of a part as it stood at one of its returns.
type cut struct {
	spec.Part
	returned int
	later    engine.Later
	keep     []int32 // its operations: positions in the part
	ok       bool    // it could be decided
}

// decide decides the part as it stood at the instant of the last of its first
// returned returns: what was invoked later is not there, and what returned later
// has no answer. Operations in the proof are positions in the part.
func (k *cutter) decide(returned int, budget int64, search bool) *cut {
	t, view, last := k.task, k.view, k.returns[returned-1]
	d := &cut{returned: returned}
	d.later.Stuck = -1
	var keep []int32 // positions in the subject's View
	var lost []bool
	focus := int32(-1)
	for i := range int32(view.N) {
		if view.Call[i] <= view.Ret[last] || k.place[i] < int32(returned) {
			if i == last {
				focus = int32(len(keep))
			}
			keep, d.keep, lost = append(keep, k.whole[t.keep[i]]), append(d.keep, i), append(lost, k.place[i] >= int32(returned))
		}
	}
	view = k.subject.Cut(keep, lost)
	rules := order.NewRules(view)
	if k.level.Order != nil && k.level.Order(view, rules) != nil {
		return d
	}
	m, err := k.machine(k.ctx, view)
	if err != nil {
		return d
	}
	d.Part, err = engine.Decide(k.ctx, engine.Task{Rules: rules, Machine: m, Eager: k.eager(), Focus: focus, Later: &d.later,
		NoPaths: k.opts.Engine == "search" || search, Limits: engine.Limits{States: budget, Memory: k.opts.MaxMemory / 4}})
	if d.Proof != nil {
		d.Proof.Translate(func(x int32) int32 { return d.keep[x] })
	}
	if d.later.Stuck >= 0 {
		d.later.Stuck = d.keep[d.later.Stuck]
	}
	d.ok = err == nil && (d.Kind == spec.Violation || d.Kind == spec.Consistent || d.Kind == spec.Vacuous)
	return d
}

// adopt takes the explanation of the cut into the part: the operation whose
// return is impossible, and the last one that returned before it.
func (k *cutter) adopt(part *spec.Part, d *cut) {
	e := d.Explain
	e.Translate(func(x int32) int32 {
		if x < 0 {
			return x
		}
		return d.keep[x]
	})
	e.AtReturn, e.Op, e.Before = true, k.returns[d.returned-1], -1
	if d.returned > 1 {
		e.Before = k.returns[d.returned-2]
	}
	part.Explain = e
}
