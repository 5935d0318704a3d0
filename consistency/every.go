package consistency

import (
	"fmt"

	"pinyon/engine/spec"
)

// everyLevel decides a level that is several levels at once: each must allow
// the history, with an order of its own. The first that forbids it decides; an
// undecided one leaves the verdict open unless a later one forbids.
func (c *checker) everyLevel(v *spec.Verdict) error {
	whole := spec.Part{Ops: c.view.N, Kind: spec.Vacuous}
	for _, l := range c.level.all {
		o := c.opts
		o.Timeout, o.Progress = -1, nil // the context and the watch of the whole are over it
		one, err := CheckSubject(c.ctx, c.subject, l, o)
		if err != nil {
			return err
		}
		if len(one.Parts) != 1 {
			return fmt.Errorf("level %s: %s was decided in %d parts", c.level.Name, l.Name, len(one.Parts))
		}
		p := one.Parts[0]
		p.States += whole.States
		switch {
		case p.Kind == spec.Violation:
			p.Level = l.Name
			v.Parts = []spec.Part{p}
			return nil
		case p.Kind == spec.Consistent && whole.Kind != spec.Unknown:
			p.Orders = append(whole.Orders, spec.LevelOrder{Level: l.Name, Order: p.Witness})
			p.Witness = nil
			whole = p
		case whole.Kind == spec.Unknown:
			whole.States = p.States
		default: // unknown, or vacuous as all of them will be
			p.Orders, p.Level = nil, l.Name
			whole = p
		}
	}
	v.Parts = []spec.Part{whole}
	return nil
}
