package consistency

import (
	"errors"

	"pinyon/engine/brute"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// brute decides with the twin, which tries every order: for small histories
// and for doubt.
func (c *checker) brute(v *spec.Verdict) error {
	part := spec.Part{Ops: c.view.N, Engine: "brute"}
	if c.opts.HasOnlyKey {
		part.Key = c.opts.OnlyKey
	}
	s := *c.subject
	s.View = c.view
	if len(c.rules.Findings) > 0 && c.answered() > 0 {
		f := c.rules.Findings[0]
		part.Kind, part.Proof = spec.Violation, &spec.Proof{Kind: spec.ProofHints, Words: "oracle " + f.Name + ": " + f.Words}
		for _, x := range f.Ops {
			part.Proof.Ops = append(part.Proof.Ops, c.whole[x])
		}
		v.Parts = []spec.Part{part}
		return nil
	}
	consistent, line, err := c.bruteDecide(&s)
	switch {
	case errors.Is(err, brute.ErrTooLarge):
		part.Kind, part.Reason = spec.Unknown, err.Error()
	case err != nil:
		return c.partPanic(task{keep: positions(c.view.N)}, err)
	case c.answered() == 0:
		part.Kind, part.Reason = spec.Vacuous, "no operation has an answer"
	case consistent:
		part.Kind = spec.Consistent
		for _, x := range line {
			part.Witness = append(part.Witness, c.whole[x])
		}
	default:
		part.Kind, part.Proof = spec.Violation, &spec.Proof{Kind: spec.ProofExhausted}
	}
	v.Parts = []spec.Part{part}
	return nil
}

// bruteDecide asks the twin by the level's name, so that it builds the order
// from its own definition; a user's level has none and is taken as it is.
func (c *checker) bruteDecide(s *spec.Subject) (bool, []int32, error) {
	if c.level.entitled != nil {
		return brute.DecideDefinition(s, verify.PerOperation(c.level.Name, c.level.entitled), c.hinted)
	}
	if _, err := LookupLevel(c.level.Name); err == nil {
		return brute.Decide(s, c.level.Name, c.hinted)
	}
	hard := func(a, b int32) bool {
		for _, r := range c.rules.Hard {
			if r.Precedes(a, b) {
				return true
			}
		}
		return false
	}
	return brute.DecideFunc(s, hard, c.level.Validity)
}

// hinted is the hard order of the oracles alone.
func (c *checker) hinted(a, b int32) bool {
	for _, r := range c.rules.Hard {
		if r.Hint && r.Precedes(a, b) {
			return true
		}
	}
	return false
}

func (c *checker) answered() (n int) {
	for _, info := range c.view.Info {
		if !info {
			n++
		}
	}
	return n
}
