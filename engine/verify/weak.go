package verify

import (
	"fmt"
	"slices"

	"pinyon/engine/spec"
)

// weakLevel is a level without a single order, as it is written down: what must
// be there for a consistent history, and what refutes.
type weakLevel struct {
	evidence evidence
	conflict conflict
	patterns []spec.Pattern // that refute it, with ThinAirRead
	steps    []spec.StepKind
}

// evidence is what a consistent part must carry.
type evidence uint8

const (
	hasSaw evidence = 1 << iota // what each operation saw
	hasArbitration
	hasViews
)

// conflict is which write a read must have seen when it saw another of the key.
type conflict uint8

const (
	noConflict conflict = iota
	inPast              // one in its causal past
	inView              // one before it in the order of its process
	ownWrite            // an earlier one of its process (read-your-writes)
	ownRead             // one that its process saw earlier (monotonic-reads)
)

var (
	causalSteps    = []spec.StepKind{spec.StepSession, spec.StepSaw}
	causalPatterns = []spec.Pattern{spec.CyclicCO, spec.WriteCOInitRead, spec.WriteCORead}
	viewSteps      = []spec.StepKind{spec.StepSession, spec.StepSaw, spec.StepConflict, spec.StepOverwrites}
	viewPatterns   = []spec.Pattern{spec.WriteHBInitRead, spec.CyclicHB}
)

var weakLevels = map[string]weakLevel{
	"regular-weak":        {hasSaw, noConflict, []spec.Pattern{spec.StaleRead}, nil},
	"pram":                {hasViews, inView, viewPatterns, viewSteps},
	"causal":              {hasSaw, noConflict, causalPatterns, causalSteps},
	"causal-memory":       {hasSaw | hasViews, inView, append(viewPatterns, causalPatterns...), viewSteps},
	"causal-convergence":  {hasSaw | hasArbitration, inPast, append(causalPatterns, spec.CyclicCF), append(causalSteps, spec.StepConflict)},
	"read-your-writes":    {hasSaw | hasArbitration, ownWrite, []spec.Pattern{spec.ForgottenWrite, spec.CyclicWrites}, []spec.StepKind{spec.StepSaw, spec.StepConflict}},
	"monotonic-reads":     {hasSaw | hasArbitration, ownRead, []spec.Pattern{spec.ForgottenWrite, spec.CyclicWrites}, []spec.StepKind{spec.StepSaw, spec.StepConflict}},
	"monotonic-writes":    {hasSaw | hasArbitration, noConflict, []spec.Pattern{spec.CyclicWrites}, []spec.StepKind{spec.StepSaw, spec.StepSession}},
	"writes-follow-reads": {hasSaw | hasArbitration, noConflict, []spec.Pattern{spec.CyclicWrites}, []spec.StepKind{spec.StepSaw, spec.StepFollows}},
}

// checkWeak is Check for a level without a single order. Its files are not
// split: causality crosses keys.
func (f *File) checkWeak(s *spec.Subject, l weakLevel) (r Result, err error) {
	defer func() {
		if err = caught(recover(), err); err != nil {
			r = Result{}
		}
	}()
	switch {
	case len(f.Oracles) > 0:
		return refuse("level %s has no single order, which an oracle could strengthen", f.Level), nil
	case f.Split || len(f.Parts) != 1:
		return refuse("level %s is about all keys together: the file must have one part", f.Level), nil
	case f.Parts[0].Key != "" && (len(s.View.KeyName) != 1 || f.Parts[0].Key != s.View.KeyName[0]):
		return refuse("the only part is named %q, which is not the only key", f.Parts[0].Key), nil
	case f.Parts[0].Verdict != f.Verdict:
		return refuse("the part is %s, the file says %s", f.Parts[0].Verdict, f.Verdict), nil
	case s.View.Read == nil:
		return Result{}, spec.ErrCannotTell
	}
	c := &weak{weakLevel: l, level: f.Level, part: &f.Parts[0], subject: s, at: map[int64]int32{}}
	for i := range int32(s.View.N) {
		c.at[s.ID(i)] = i
	}
	return c.verdict()
}

// weak is one run of checkWeak.
type weak struct {
	weakLevel
	level   string
	part    *FilePart
	subject *spec.Subject
	at      map[int64]int32 // id -> position
}

func (c *weak) verdict() (Result, error) {
	p := c.part
	kind, err := spec.ParseKind(p.Verdict)
	if err != nil {
		return refuse("%v", err), nil
	}
	answered := slices.Contains(c.subject.View.Info, false)
	switch {
	case len(p.Order) > 0 || len(p.Cycle) > 0:
		return refuse("level %s has no single order of all operations, and the part has one, or a cycle in it", c.level), nil
	case kind != spec.Consistent && len(p.Saw)+len(p.Arbitration)+len(p.Views) > 0:
		return refuse("the part is no pass and has evidence of one"), nil
	case kind != spec.Violation && (p.Exhausted || p.Pattern != nil):
		return refuse("the part is no violation and has a proof of one"), nil
	case kind == spec.Unknown:
		return cannot("the part is unknown: there is nothing to check"), nil
	case (kind == spec.Vacuous) == answered:
		return refuse("the part is %v, and whether an operation got an answer is %v", kind, answered), nil
	case kind == spec.Vacuous:
		return Result{}, nil
	case kind == spec.Consistent:
		return c.result(c.consistent()), nil
	case p.Exhausted && p.Pattern != nil:
		return refuse("the part has two proofs"), nil
	case p.Exhausted:
		return cannot("the part rests on a search that tried everything"), nil
	case p.Pattern == nil:
		return refuse("the part is a violation and has no proof"), nil
	}
	return c.result(c.refuted(p.Pattern)), nil
}

// result is the answer that the error means; a model that is not register-like
// is nobody's fault.
func (c *weak) result(err error) Result {
	switch err {
	case nil:
		return Result{}
	case errNotRegisters:
		return cannot("%v", err)
	}
	if step, failed := err.(*spec.StepError); failed {
		panic(step)
	}
	return refuse("%v", err)
}

// positions turns ids into positions.
func (c *weak) positions(ids []int64) ([]int32, error) {
	list := make([]int32, len(ids))
	for k, id := range ids {
		x, ok := c.at[id]
		if !ok {
			return nil, fmt.Errorf("there is no operation %d", id)
		}
		list[k] = x
	}
	return list, nil
}
