package consistency

import (
	"context"
	"errors"
	"fmt"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/views"
)

// decideViews decides a level that has no single order of all operations.
type decideViews func(ctx context.Context, p views.Problem) (spec.Part, error)

func viewLevel(d decideViews) func(params) (Level, error) {
	return func(params) (Level, error) { return Level{views: d}, nil }
}

func causalLevel(s views.Strength) func(params) (Level, error) {
	return viewLevel(func(ctx context.Context, p views.Problem) (spec.Part, error) { return views.CausalLevel(ctx, p, s) })
}

func sessionLevel(g views.Guarantees) func(params) (Level, error) {
	return viewLevel(func(ctx context.Context, p views.Problem) (spec.Part, error) { return views.SessionLevel(ctx, p, g) })
}

// ErrOptions marks options that do not go together.
var ErrOptions = errors.New("options")

// byViews decides a level without a single order, all keys together.
func (c *checker) byViews(v *spec.Verdict) (err error) {
	whole := task{keep: positions(c.view.N)}
	defer func() {
		if r := recover(); r != nil {
			err = c.partPanic(whole, r)
		}
	}()
	if c.opts.Oracles != nil {
		return fmt.Errorf("%w: level %s has no single order of all operations, which an oracle could strengthen; drop the oracle or choose another level", ErrOptions, c.level.Name)
	}
	if c.opts.Engine == "brute" {
		return fmt.Errorf("%w: level %s is not decided by the engine brute", ErrOptions, c.level.Name)
	}
	machine := func(view *history.View) (spec.Machine, error) { return c.machine(c.ctx, view) }
	limits := engine.Limits{States: c.opts.MaxStates, Memory: c.opts.MaxMemory, Heap: c.heap, Forget: true}
	part, err := c.level.views(c.ctx, views.Problem{View: c.view, Machine: machine, Limits: limits, Live: &c.live})
	if err != nil {
		return fmt.Errorf("level %s: %w", c.level.Name, err)
	}
	if c.opts.HasOnlyKey {
		part.Key = c.opts.OnlyKey
	}
	part.Translate(func(x int32) int32 { return c.whole[x] })
	finishPart(&part)
	v.Parts = []spec.Part{part}
	return nil
}
