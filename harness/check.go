package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/history/importers"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
	"pinyon/oracles"
)

// Checker holds recorded histories to a level.
type Checker struct {
	Level   string        // "": what the history claims
	Oracles []string      // nil: what it claims; empty: none
	Budget  time.Duration // 0: consistency.DefaultTimeout
	Workers int
	_       struct{}
}

// Check decides whether the history in the file was possible. An error means
// that there is no verdict.
func (c Checker) Check(ctx context.Context, path string) (*spec.Verdict, *spec.Subject, error) {
	h, _, err := importers.Load(path, importers.Options{Format: "native", Context: ctx})
	if err != nil {
		return nil, nil, err
	}
	return c.check(ctx, h)
}

func (c Checker) check(ctx context.Context, h *history.Raw) (*spec.Verdict, *spec.Subject, error) {
	if err := history.Validate(h); err != nil {
		return nil, nil, err
	}
	subject, err := bind(h)
	if err != nil {
		return nil, nil, err
	}
	level, list, err := c.level(h)
	if err != nil {
		return nil, nil, err
	}
	v, err := consistency.CheckSubject(ctx, subject, level, consistency.Options{Oracles: list, Timeout: c.Budget, Workers: c.Workers})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", h.Path, err)
	}
	return v, subject, nil
}

func bind(h *history.Raw) (*spec.Subject, error) {
	entry, err := models.Lookup(h.Header.Model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Path, err)
	}
	return entry.Bind(h, models.Options{Initial: h.Header.Initial, NilRead: h.Header.NilRead})
}

// level is the one in force, with its oracles.
func (c Checker) level(h *history.Raw) (consistency.Level, []order.Oracle, error) {
	name, names := h.Header.Level, h.Header.Oracles
	if c.Level != "" {
		name = c.Level
	}
	if name == "" {
		name = "linearizable"
	}
	if c.Oracles != nil {
		names = c.Oracles
	}
	level, err := consistency.LookupLevel(name)
	if err != nil {
		return level, nil, fmt.Errorf("%s: %w", h.Path, err)
	}
	var list []order.Oracle
	for _, n := range slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "none" }) {
		o, err := oracles.Lookup(n)
		if err != nil {
			return level, nil, fmt.Errorf("%s: %w", h.Path, err)
		}
		list = append(list, o)
	}
	return level, list, nil
}

// strongest are the strongest levels of the ladder that the history keeps.
func strongest(ctx context.Context, subject *spec.Subject, budget time.Duration) ([]string, error) {
	ladder, err := consistency.Climb(ctx, subject, consistency.Options{Timeout: budget, Workers: 1})
	if err != nil {
		return nil, err
	}
	return ladder.Strongest, nil
}
