package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// onlineEvery is how often what was recorded so far is checked.
const onlineEvery = 250 * time.Millisecond

// Stop says where a run with Online stopped.
type Stop struct {
	Op      int64          // the operation whose return made the history impossible
	Where   string         // its place in the history
	Process map[string]int // the frozen processes of the nodes
	Verdict *spec.Verdict
}

// errImpossible ends the load.
var errImpossible = errors.New("an answer was impossible")

// watch checks the growing history every so often, and at the first impossible
// return stops the load with every node frozen. The returned function ends it.
// What is in flight counts as unanswered: a violation of a part is one of the
// whole.
func (c *Config) watch(ctx context.Context, path string, cl *cluster, stop context.CancelCauseFunc) (end func() *Stop) {
	if !c.Online {
		return func() *Stop { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var found *Stop
	wg.Go(func() {
		for sleep(ctx, onlineEvery) {
			bad, err := c.impossible(ctx, path)
			if err != nil && ctx.Err() == nil {
				c.Say("online: %v", err)
			}
			if bad != nil {
				bad.Process = cl.pids()
				if err := cl.freeze(); err != nil {
					c.Say("online: freezing: %v", err)
				}
				found = bad
				stop(errImpossible)
				return
			}
		}
	})
	return func() *Stop {
		cancel()
		wg.Wait()
		return found
	}
}

// impossible looks for the first return that no order explains.
func (c *Config) impossible(ctx context.Context, path string) (*Stop, error) {
	h, i, v, err := shortest(ctx, path)
	if err != nil || h == nil {
		return nil, err
	}
	return &Stop{Op: h.ID(i), Where: h.Where(i), Verdict: v}, nil
}

// firstImpossible says how many operations had ended, and how many seconds had
// passed, when the first impossible return came.
func firstImpossible(ctx context.Context, path string) (ops int64, seconds float64, err error) {
	h, i, _, err := shortest(ctx, path)
	if err != nil || h == nil {
		return 0, 0, err
	}
	for k := range h.Ops {
		if h.Origins[k].DoneLine > 0 {
			ops++
		}
	}
	return ops, time.Duration(h.Ops[i].Return).Seconds(), nil
}

// shortest finds the shortest part of a recorded history that is a violation,
// and the operation that ends it; no history where the whole is none. What is
// in flight at the end of a part counts as unanswered there, so a violation of a
// part is one of everything that follows it, and the parts can be halved.
func shortest(ctx context.Context, path string) (h *history.Raw, op int, v *spec.Verdict, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1] // empty, or one that is being written
	check := func(n int) (*spec.Verdict, *history.Raw, error) {
		h, err := history.ReadNative(path, bytes.NewReader(bytes.Join(lines[:n], nil)))
		if err != nil {
			return nil, nil, err
		}
		v, _, err := Checker{Budget: 5 * time.Second, Workers: 1}.check(ctx, h)
		return v, h, err
	}
	lo, hi := 1, len(lines) // the first lo lines are possible, the first hi are not
	if v, h, err = check(hi); err != nil || v.Kind != spec.Violation {
		return nil, 0, nil, err
	}
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		part, prefix, err := check(mid)
		if err != nil {
			return nil, 0, nil, err
		}
		if part.Kind == spec.Violation {
			hi, v, h = mid, part, prefix
		} else {
			lo = mid
		}
	}
	for i := range h.Ops {
		if int(h.Origins[i].DoneLine) == hi {
			return h, i, v, nil
		}
	}
	return nil, 0, nil, fmt.Errorf("%s: line %d makes the history impossible, but ends no operation", path, hi)
}
