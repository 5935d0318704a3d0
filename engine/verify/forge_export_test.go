package verify

import (
	"pinyon/engine/spec"
)

// Accepts returns a proof of a violation at a level without a single order that
// would be accepted, nil where there is none: it takes every step that the
// verifier takes, until there is no other, and then tries every pattern.
func Accepts(s *spec.Subject, level string) (*FilePattern, error) {
	l := weakLevels[level]
	t, err := newSights(s)
	if err != nil {
		return nil, err
	}
	for _, process := range append([]string{""}, s.View.ProcessName...) {
		for _, name := range append(l.patterns, spec.ThinAirRead) {
			c := &weak{weakLevel: l, level: level, subject: s, at: map[int64]int32{}}
			for i := range int32(s.View.N) {
				c.at[s.ID(i)] = i
			}
			r := &refuter{weak: c, sights: t, causes: map[int32][]int32{}, next: map[int32][]int32{}, step: map[[2]int32]bool{}}
			if r.ofProcess(process, name) != nil {
				continue
			}
			steps := r.everyStep()
			if ops := r.everyPattern(name); ops != nil {
				p := &FilePattern{Name: string(name), Process: process, Steps: steps}
				for _, x := range ops {
					p.Operations = append(p.Operations, s.ID(x))
				}
				return p, nil
			}
		}
	}
	return nil, nil
}

// everyStep adds every step that holds until none is left.
func (r *refuter) everyStep() (steps []FileStep) {
	n := int32(r.view.N)
	for before := -1; before < len(steps); {
		before = len(steps)
		for a := range n {
			for b := range n {
				for _, why := range []spec.StepKind{spec.StepSession, spec.StepSaw, spec.StepConflict, spec.StepOverwrites, spec.StepFollows} {
					steps = append(steps, r.stepsFor(a, b, why)...)
				}
			}
		}
	}
	return steps
}

// stepsFor adds a step from a to b for this reason, where there is none yet.
func (r *refuter) stepsFor(a, b int32, why spec.StepKind) []FileStep {
	s := FileStep{From: r.sights.subject.ID(a), To: r.sights.subject.ID(b), Why: string(why)}
	if r.step[[2]int32{a, b}] {
		return nil
	}
	reads, afters := []*int64{nil}, []*int64{nil}
	for x := range int32(r.view.N) {
		id := r.sights.subject.ID(x)
		if why == spec.StepConflict || why == spec.StepFollows {
			reads = append(reads, &id)
		}
		if why == spec.StepConflict && r.conflict == ownRead {
			afters = append(afters, &id)
		}
	}
	for _, s.Read = range reads {
		for _, s.After = range afters {
			if r.add(s) == nil {
				return []FileStep{s}
			}
		}
	}
	return nil
}

// everyPattern returns operations that make the pattern.
func (r *refuter) everyPattern(name spec.Pattern) []int32 {
	n := int32(r.view.N)
	for a := range n {
		if r.pattern(name, []int32{a}) == nil {
			return []int32{a}
		}
		for b := range n {
			if r.pattern(name, []int32{a, b}) == nil {
				return []int32{a, b}
			}
			for c := range n {
				if r.pattern(name, []int32{a, b, c}) == nil {
					return []int32{a, b, c}
				}
			}
		}
	}
	return nil
}
