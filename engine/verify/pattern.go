package verify

import (
	"fmt"
	"slices"

	"pinyon/engine/spec"
)

// refuted checks the proof of a violation: every step follows from the history
// and from steps before it, and the steps make the pattern. What an operation
// saw counts only where it can have seen one thing alone, and happened for sure.
func (c *weak) refuted(p *FilePattern) error {
	t, err := newSights(c.subject)
	if err != nil {
		return err
	}
	r := &refuter{weak: c, sights: t, causes: map[int32][]int32{}, next: map[int32][]int32{}, step: map[[2]int32]bool{}}
	ops, err := c.positions(p.Operations)
	if err != nil {
		return err
	}
	name := spec.Pattern(p.Name)
	if name != spec.ThinAirRead && !slices.Contains(c.patterns, name) {
		return fmt.Errorf("%q is no pattern that level %s forbids", p.Name, c.level)
	}
	if c.level == "regular-weak" {
		return c.noSource(t, p, ops)
	}
	if err := r.ofProcess(p.Process, name); err != nil {
		return err
	}
	for k, s := range p.Steps {
		if err := r.add(s); err != nil {
			return fmt.Errorf("step %d of the proof: %w", k, err)
		}
	}
	if err := r.pattern(name, ops); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// refuter is one proof under check.
type refuter struct {
	*weak
	*sights
	sure    []bool             // by operation: it happened
	inOrder func(x int32) bool // a member of the order of the process that the proof is about; nil: it is about none
	causes  map[int32][]int32  // by operation: what comes after it by a step of causality so far
	next    map[int32][]int32  // and by any step
	step    map[[2]int32]bool
}

func (r *refuter) name(x int32) string { return r.sights.name(x) }

// ofProcess prepares a proof about the order of one process. At pram, the reads
// of other processes have no part in it. At causal-memory, updates that are not
// in the causal past of the process, as far as that is sure, have none.
func (r *refuter) ofProcess(name string, pattern spec.Pattern) error {
	v := r.view
	r.sure = r.happened(func(int32) bool { return true })
	about := r.level == "pram" || pattern == spec.WriteHBInitRead || pattern == spec.CyclicHB
	if !about {
		if name != "" {
			return fmt.Errorf("%s is not about one process, and the proof names %s", pattern, name)
		}
		return nil
	}
	process := int32(slices.Index(v.ProcessName, name))
	if process < 0 {
		return fmt.Errorf("there is no process %q", name)
	}
	own := func(x int32) bool { return v.Process[x] == process }
	if r.level == "pram" {
		r.sure = r.happened(func(x int32) bool { return !v.Read[x] || own(x) })
		r.inOrder = func(x int32) bool { return r.sure[x] && (!v.Read[x] || own(x)) }
		return nil
	}
	past := r.surePast(process)
	r.inOrder = func(x int32) bool { return own(x) && !v.Info[x] || r.write[x] >= 0 && past[x] }
	return nil
}

// surePast is what the answered operations of a process know of, by sessions
// and by what was surely seen.
func (r *refuter) surePast(process int32) []bool {
	past := make([]bool, r.view.N)
	before := make([]int32, r.view.N)
	var queue []int32
	for p, ops := range r.session {
		last := int32(-1)
		for _, x := range ops {
			before[x] = last
			if r.view.Info[x] {
				continue
			}
			last = x
			if int32(p) == process {
				past[x] = true
				queue = append(queue, x)
			}
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, y := range [...]int32{before[queue[0]], r.only(queue[0])} {
			if y >= 0 && !past[y] {
				past[y] = true
				queue = append(queue, y)
			}
		}
	}
	return past
}

// add checks one step and adds it to those that hold.
func (r *refuter) add(s FileStep) error {
	ids := []int64{s.From, s.To}
	for _, id := range []*int64{s.Read, s.After} {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	ops, err := r.positions(ids)
	if err != nil {
		return err
	}
	step := spec.Step{From: ops[0], To: ops[1], Why: spec.StepKind(s.Why), Read: -1, After: -1}
	if s.Read != nil {
		step.Read = ops[2]
	}
	if s.After != nil {
		step.After = ops[len(ops)-1]
	}
	if !slices.Contains(r.steps, step.Why) {
		return fmt.Errorf("%q is no reason at level %s", s.Why, r.level)
	}
	if !r.holds(step) {
		return fmt.Errorf("it does not hold that %s comes before %s (%s)", r.name(step.From), r.name(step.To), s.Why)
	}
	r.next[step.From] = append(r.next[step.From], step.To)
	if step.Why == spec.StepSession || step.Why == spec.StepSaw {
		r.causes[step.From] = append(r.causes[step.From], step.To)
	}
	r.step[[2]int32{step.From, step.To}] = true
	return nil
}

// holds reports whether a step follows.
func (r *refuter) holds(s spec.Step) bool {
	reads := s.Why == spec.StepConflict || s.Why == spec.StepFollows
	if reads != (s.Read >= 0) || (s.After >= 0) != (s.Why == spec.StepConflict && r.conflict == ownRead) {
		return false
	}
	switch s.Why {
	case spec.StepSession:
		writes := r.write[s.From] >= 0 && r.write[s.To] >= 0
		return session(r.view, s.From, s.To) && (writes || r.level != "monotonic-writes")
	case spec.StepSaw:
		// At pram only who stands in the order saw something; with an order of
		// writes, a write stands after what it saw.
		ofWrites := slices.Contains(r.patterns, spec.CyclicWrites)
		return r.saw(s.To, s.From) && (!ofWrites || r.write[s.To] >= 0) && (r.level != "pram" || r.inOrder(s.To))
	case spec.StepFollows:
		return r.saw(s.Read, s.From) && r.write[s.To] >= 0 && session(r.view, s.Read, s.To)
	case spec.StepConflict:
		return r.saw(s.Read, s.To) && s.From != s.To && r.rival(s.From, s.Read) && r.mustHaveSeen(s)
	case spec.StepOverwrites:
		return r.overwrites(s.From, s.To)
	}
	return false
}

// saw reports whether x surely happened and can have seen only w.
func (r *refuter) saw(x, w int32) bool { return r.sure[x] && r.only(x) == w }

// mustHaveSeen reports whether s.Read must have seen s.From.
func (r *refuter) mustHaveSeen(s spec.Step) bool {
	switch r.conflict {
	case inPast:
		return path(r.causes, s.From, s.Read)
	case inView:
		return r.inOrder != nil && r.inOrder(s.From) && r.inOrder(s.Read) && path(r.next, s.From, s.Read)
	case ownWrite:
		return session(r.view, s.From, s.Read)
	case ownRead:
		return session(r.view, s.After, s.Read) && r.saw(s.After, s.From)
	}
	return false
}

// overwrites reports whether w overwrites what x saw, so that in the order of
// the process it comes after x.
func (r *refuter) overwrites(x, w int32) bool {
	seen := r.only(x)
	if r.inOrder == nil || !r.inOrder(x) || !r.inOrder(w) || !r.sure[x] || seen == nothing || !r.rival(w, x) {
		return false
	}
	return seen == initially || seen != w && path(r.next, seen, w)
}

// path reports whether steps lead from a to b.
func path(steps map[int32][]int32, a, b int32) bool {
	seen := map[int32]bool{}
	for queue := []int32{a}; len(queue) > 0; queue = queue[1:] {
		for _, y := range steps[queue[0]] {
			if y == b {
				return true
			}
			if !seen[y] {
				seen[y] = true
				queue = append(queue, y)
			}
		}
	}
	return false
}

// sizes is how many operations a pattern has; none: a circle of two or more.
var sizes = map[spec.Pattern][]int{
	spec.ThinAirRead: {1}, spec.WriteCOInitRead: {2}, spec.WriteHBInitRead: {2}, spec.WriteCORead: {3}, spec.ForgottenWrite: {2, 3},
}

// pattern checks that the steps make the pattern of these operations.
func (r *refuter) pattern(name spec.Pattern, ops []int32) error {
	if n := sizes[name]; n != nil && !slices.Contains(n, len(ops)) || len(ops) == 0 {
		return fmt.Errorf("it is not made of %d operations", len(ops))
	}
	x, w := ops[len(ops)-1], ops[0]
	before := r.causes // of the patterns of causality
	if name == spec.WriteHBInitRead {
		before = r.next
	}
	switch name {
	case spec.ThinAirRead:
		if !r.sure[x] || r.want[x] < 0 || len(r.maySee(x)) > 0 || r.level == "pram" && !r.inOrder(x) {
			return fmt.Errorf("%s may not have happened, or something may have written what it saw", r.name(x))
		}
	case spec.WriteCOInitRead, spec.WriteHBInitRead:
		if !r.saw(x, initially) || !r.rival(w, x) || !path(before, w, x) {
			return fmt.Errorf("%s does not come before %s, or that may have seen something else than the initial value", r.name(w), r.name(x))
		}
		if name == spec.WriteHBInitRead && (!r.inOrder(x) || !r.inOrder(w)) {
			return fmt.Errorf("%s or %s does not stand in the order of the process", r.name(w), r.name(x))
		}
	case spec.WriteCORead:
		if over := ops[1]; !r.saw(x, w) || w == over || !r.rival(over, x) || !path(before, w, over) || !path(before, over, x) {
			return fmt.Errorf("%s does not come between %s and %s, or that may have seen something else", r.name(over), r.name(w), r.name(x))
		}
	case spec.ForgottenWrite:
		return r.forgotten(ops)
	default:
		return r.circle(ops)
	}
	return nil
}

// forgotten checks a read of the initial value that must have seen a write: an
// earlier one of its process, or one that its process had seen before.
func (r *refuter) forgotten(ops []int32) error {
	w, x := ops[0], ops[len(ops)-1]
	must := r.conflict == ownWrite && len(ops) == 2 && session(r.view, w, x) ||
		r.conflict == ownRead && len(ops) == 3 && session(r.view, ops[1], x) && r.saw(ops[1], w)
	if !r.saw(x, initially) || !r.rival(w, x) || !must {
		return fmt.Errorf("%s need not have seen %s, or may have seen something else than the initial value", r.name(x), r.name(w))
	}
	return nil
}

// circle checks that a step leads from each operation to the next, and from
// the last to the first.
func (r *refuter) circle(ops []int32) error {
	for k, x := range ops {
		y := ops[(k+1)%len(ops)]
		if !r.step[[2]int32{x, y}] {
			return fmt.Errorf("no step leads from %s to %s", r.name(x), r.name(y))
		}
	}
	return nil
}
