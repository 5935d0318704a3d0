package views

import (
	"cmp"
	"maps"
	"slices"

	"pinyon/engine/spec"
)

// trace is what must come before what, in the order in which it was found: each
// step rests on older ones only. It remembers why, so that a circle can be
// shown with all that it rests on.
type trace struct {
	r     *reader
	steps []spec.Step
	into  [][]int32 // by operation: the steps that end there
	base  int32     // the first so many steps are sessions and what was seen
	whole bool      // a conflict may rest on conflicts, not on causality alone
}

func newTrace(r *reader) *trace { return &trace{r: r, into: make([][]int32, r.v.N)} }

// before adds that a comes before b.
func (t *trace) before(a, b int32, why spec.StepKind) {
	t.add(spec.Step{From: a, To: b, Why: why, Read: -1, After: -1})
}

func (t *trace) add(s spec.Step) {
	t.into[s.To] = append(t.into[s.To], int32(len(t.steps)))
	t.steps = append(t.steps, s)
}

// node adds a node that is no operation.
func (t *trace) node() int32 {
	t.into = append(t.into, nil)
	return int32(len(t.into) - 1)
}

// has reports whether a step leads from a to b already.
func (t *trace) has(a, b int32) bool {
	return slices.ContainsFunc(t.into[b], func(s int32) bool { return t.steps[s].From == a })
}

// causality adds the sessions and what was seen.
func (t *trace) causality() {
	for _, ops := range t.r.session {
		for i, x := range ops {
			if i > 0 {
				t.before(ops[i-1], x, spec.StepSession)
			}
			if w := t.r.saw[x]; w >= 0 {
				t.before(w, x, spec.StepSaw)
			}
		}
	}
	t.base = int32(len(t.steps))
}

// pairs are the steps without their reasons.
func (t *trace) pairs() [][2]int32 {
	pairs := make([][2]int32, len(t.steps))
	for i, s := range t.steps {
		pairs[i] = [2]int32{s.From, s.To}
	}
	return pairs
}

// path returns the steps of a shortest way from a to b among the oldest
// limit; nil: there is none.
func (t *trace) path(a, b, limit int32) []int32 {
	next := map[int32]int32{b: -1} // by operation: the step that leads on to b
	for queue := []int32{b}; len(queue) > 0; queue = queue[1:] {
		for _, i := range t.into[queue[0]] {
			from := t.steps[i].From
			if _, seen := next[from]; seen || i >= limit {
				continue
			}
			next[from] = i
			if from == a {
				return t.follow(a, b, next)
			}
			queue = append(queue, from)
		}
	}
	return nil
}

func (t *trace) follow(a, b int32, next map[int32]int32) (way []int32) {
	for x := a; x != b; x = t.steps[next[x]].To {
		way = append(way, next[x])
	}
	return way
}

// circle returns steps that form a circle, nil where there is none.
func (t *trace) circle() []int32 {
	_, ops := sorted(len(t.into), t.pairs())
	if ops == nil {
		return nil
	}
	first := int32(-1) // a step of it, if possible one that is no session
	for k, from := range ops {
		to := ops[(k+1)%len(ops)]
		for _, i := range t.into[to] {
			if s := t.steps[i]; s.From == from && (first < 0 || t.steps[first].Why == spec.StepSession) {
				first = i
			}
		}
	}
	s := t.steps[first]
	return append([]int32{first}, t.path(s.To, s.From, int32(len(t.steps)))...)
}

// merged writes a way out, with each run of a session as one step.
func (t *trace) merged(way []int32) (steps []spec.Step) {
	for _, i := range way {
		s, last := t.steps[i], len(steps)-1
		if last >= 0 && s.Why == spec.StepSession && steps[last].Why == spec.StepSession {
			steps[last].To = s.To
			continue
		}
		steps = append(steps, s)
	}
	return steps
}

// proof is the pattern of these operations, which rests on the ways.
func (t *trace) proof(name spec.Pattern, words string, ops []int32, ways ...[]int32) *spec.Proof {
	age := map[spec.Step]int32{} // the steps needed, by the age of their last part
	needed := map[int32]bool{}
	var need func(way []int32)
	need = func(way []int32) {
		for _, i := range way {
			if !needed[i] {
				needed[i] = true
				need(t.reasons(i))
			}
		}
		at := 0
		for _, s := range t.merged(way) {
			for ; t.steps[way[at]].To != s.To; at++ {
			}
			if old, ok := age[s]; !ok || way[at] < old {
				age[s] = way[at]
			}
			at++
		}
	}
	for _, way := range ways {
		need(way)
	}
	steps := slices.SortedFunc(maps.Keys(age), func(a, b spec.Step) int {
		return cmp.Or(cmp.Compare(age[a], age[b]), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return &spec.Proof{Kind: spec.ProofPattern, Name: name, Words: words, Ops: ops, Steps: steps}
}

// reasons is the way that step i rests on, among older ones.
func (t *trace) reasons(i int32) []int32 {
	s := t.steps[i]
	limit := t.base
	if t.whole {
		limit = i
	}
	switch {
	case s.Why == spec.StepConflict && s.After < 0 && t.base > 0:
		return t.path(s.From, s.Read, limit)
	case s.Why == spec.StepOverwrites && t.r.saw[s.From] >= 0:
		return t.path(t.r.saw[s.From], s.To, limit)
	}
	return nil
}

// round is the proof by a circle of steps.
func (t *trace) round(name spec.Pattern, words string, circle []int32) *spec.Proof {
	for i := range circle { // so that no session runs over its end
		if t.steps[circle[i]].Why != spec.StepSession {
			circle = slices.Concat(circle[i:], circle[:i])
			break
		}
	}
	var ops []int32
	for _, s := range t.merged(circle) {
		ops = append(ops, s.From)
	}
	return t.proof(name, words+": each must come before the next, and the last before the first", ops, circle)
}

// certain reports whether the proof stands whatever was seen elsewhere: every
// operation whose sight it rests on can have seen one thing only.
func (r *reader) certain(p *spec.Proof) bool {
	if p.Kind != spec.ProofPattern || p.Name == "" {
		return false
	}
	for _, s := range p.Steps {
		switch {
		case s.Why == spec.StepSaw && !r.forced(s.To),
			(s.Why == spec.StepConflict || s.Why == spec.StepFollows) && !r.forced(s.Read),
			s.Why == spec.StepOverwrites && !r.forced(s.From),
			s.After >= 0 && !r.forced(s.After):
			return false
		}
	}
	switch last := p.Ops[len(p.Ops)-1]; p.Name {
	case spec.WriteCOInitRead, spec.WriteCORead, spec.WriteHBInitRead:
		return r.forced(last)
	case spec.ForgottenWrite:
		return r.forced(last) && (len(p.Ops) == 2 || r.forced(p.Ops[1]))
	}
	return true
}

// tried is the proof that every choice of what was seen fails; p says how the
// one that went farthest does.
func tried(p *spec.Proof) *spec.Proof {
	switch {
	case p == nil || p.Kind == spec.ProofCycle:
		return &spec.Proof{Kind: spec.ProofExhausted}
	case p.Kind == spec.ProofExhausted:
		return p
	}
	p.Kind = spec.ProofExhausted
	p.Words = "no choice of what each may have seen is possible; all were tried. The one that went farthest fails so:\n" + p.Words
	return p
}
