package verify

import (
	"errors"
	"fmt"

	"pinyon/engine/spec"
)

// Cycle checks that edges refute s at the level with this full name, joined
// with extra (nil: none): each holds by the definition directly, they chain
// into a circle, and an operation that had to happen stands on it (operations
// without an answer may all have never happened). Sources and reasons are words
// and are not checked.
func Cycle(s *spec.Subject, level string, extra func(a, b int32) bool, edges []spec.Edge) error {
	d, err := Define(level)
	if err != nil {
		return err
	}
	return d.circle(s, extra, edges)
}

// circle is Cycle.
func (d Definition) circle(s *spec.Subject, extra func(a, b int32) bool, edges []spec.Edge) error {
	if err := d.usable(s.View); err != nil {
		return err
	}
	if len(edges) == 0 {
		return errors.New("the cycle has no edges")
	}
	required := false
	for i, e := range edges {
		if e.From < 0 || e.To < 0 || int(e.From) >= s.View.N || int(e.To) >= s.View.N {
			return fmt.Errorf("edge %d of the cycle names an operation that does not exist", i)
		}
		if !d.Holds(s.View, e.From, e.To) && (extra == nil || !extra(e.From, e.To)) {
			return fmt.Errorf("edge %d of the cycle does not hold: nothing puts %s before %s", i, name(s, e.From), name(s, e.To))
		}
		if next := edges[(i+1)%len(edges)]; e.To != next.From {
			return fmt.Errorf("the cycle is not closed: edge %d ends at %s, the next begins at %s", i, name(s, e.To), name(s, next.From))
		}
		required = required || !s.View.Info[e.From]
	}
	if !required {
		return errors.New("no operation of the cycle got an answer: all of them may have never happened")
	}
	return nil
}
