package consistency_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/spec"
	"pinyon/engine/views"
	"pinyon/models"
)

var breadthN = flag.Int("breadth.n", 3000, "histories for each of the differential tests of the levels beside the first ones")

// viewLevels have no single order.
var viewLevels = []string{
	"pram", "causal", "causal-memory", "causal-convergence",
	"read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads", "regular-weak",
}

// orderLevels are the later levels of one order, with some sets of guarantees.
var orderLevels = []string{
	"prefix-sequential", "prefix-linearizable", "timeline", "regular", "safe",
	"single-order:read-your-writes", "single-order:monotonic-reads", "single-order:monotonic-writes",
	"single-order:writes-follow-reads", "single-order:read-your-writes+monotonic-reads",
	"single-order:read-your-writes+monotonic-reads+monotonic-writes",
	"single-order:read-your-writes+monotonic-reads+monotonic-writes+writes-follow-reads",
	"k-linearizability:k=1", "k-linearizability:k=2", "k-linearizability:k=3",
	"prefix-staleness:k=1", "prefix-staleness:k=2", "prefix-staleness:t=0s", "prefix-staleness:t=2ns", "prefix-staleness:k=2,t=1ns",
	"cosmos-docs:k=1,t=2ns", "cosmos-docs:k=2,t=1ns", "cosmos-tla2018:k=1", "cosmos-tla2018:k=2",
	"cosmos-tla2022:k=1", "cosmos-tla2022:k=2", "cosmos-tla2022:k=3",
}

// registerModels are those that levels without a single order accept.
var registerModels = []string{"register", "cas-register", "kv"}

func TestViewsEqualTwin(t *testing.T) {
	for name, o := range map[string]histgen.Options{
		"one store": {Lines: true, RegisterLike: true, MaxOps: 6, WriteHeavy: true, ManyKeys: true},
		"weak":      {Lines: true, Weak: true, MaxOps: 6},
		"spread":    {Weak: true, MaxOps: 7, WriteHeavy: true, ManyKeys: true},
		"squeezed":  {Lines: true, Weak: true, Squeezed: true, MaxOps: 6, Processes: 2},
	} {
		t.Run(name, func(t *testing.T) {
			o.Models = registerModels
			table := newBreadth(viewLevels)
			table.run(t, o, func(c *histgen.Case, level string, rng *rand.Rand) (want, got bool, err error) {
				twin, err := c.Subject()
				if err != nil {
					return false, false, err
				}
				if want, err = brute.DecideViews(twin, level); err != nil {
					return false, false, fmt.Errorf("twin: %w", err)
				}
				got, err = engineVerdict(c, level, rng)
				return want, got, err
			})
			table.print(t)
		})
	}
}

func TestOrdersEqualTwin(t *testing.T) {
	for name, o := range map[string]histgen.Options{
		"usual":    {Oracles: true, Lines: true},
		"squeezed": {Oracles: true, Lines: true, Squeezed: true},
		"weak":     {Oracles: true, Lines: true, Weak: true, Models: registerModels, ManyKeys: true},
	} {
		t.Run(name, func(t *testing.T) {
			table := newBreadth(orderLevels)
			table.run(t, o, func(c *histgen.Case, level string, rng *rand.Rand) (want, got bool, err error) {
				oracles, extra := hintOracle(c, rng)
				want, got, _, err = bothVerdicts(c, level, oracles, extra, rng)
				return want, got, err
			})
			table.print(t)
		})
	}
}

// engineVerdict is what the engine says, without oracles.
func engineVerdict(c *histgen.Case, level string, rng *rand.Rand) (consistent bool, err error) {
	entry, err := models.Lookup(c.Model)
	if err != nil {
		return false, err
	}
	s, err := entry.Bind(c.Raw, models.Options{})
	if err != nil {
		return false, err
	}
	l, err := consistency.LookupLevel(level)
	if err != nil {
		return false, err
	}
	v, err := consistency.CheckSubject(context.Background(), s, l, consistency.Options{
		Timeout: -1, MaxMemory: 1 << 30, Workers: 1, NoSplit: rng.IntN(4) == 0, Debug: rng.IntN(8) == 0})
	if err != nil {
		return false, err
	}
	if v.Kind == spec.Unknown {
		return false, errors.New("undecided")
	}
	if rng.IntN(4) == 0 {
		err = evidence(s, level, v, nil)
	}
	return v.Kind != spec.Violation, err
}

// breadth counts verdicts by level, for all workers.
type breadth struct {
	levels []string
	mutex  sync.Mutex
	counts []tally
}

func newBreadth(levels []string) *breadth {
	return &breadth{levels: levels, counts: make([]tally, len(levels))}
}

// run compares -breadth.n histories, in blocks that do not depend on the
// number of workers; each history is decided at one level.
func (b *breadth) run(t *testing.T, o histgen.Options, both func(c *histgen.Case, level string, rng *rand.Rand) (want, got bool, err error)) {
	const size = 500
	blocks := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := range blocks {
				if !t.Failed() {
					b.block(t, histgen.New(*fuzzSeed+uint64(n), o), rand.New(rand.NewPCG(*fuzzSeed, uint64(n))), min(size, *breadthN-n*size), both)
				}
			}
		})
	}
	for n := range (*breadthN + size - 1) / size {
		blocks <- n
	}
	close(blocks)
	wg.Wait()
}

func (b *breadth) block(t *testing.T, g *histgen.Gen, rng *rand.Rand, count int, both func(c *histgen.Case, level string, rng *rand.Rand) (want, got bool, err error)) {
	t.Helper()
	counts := make([]tally, len(b.levels))
	for range count {
		c, n := g.Next(), rng.IntN(len(b.levels))
		want, got, err := both(c, b.levels[n], rng)
		if err != nil || want != got {
			b.report(t, c, b.levels[n], want, got, err)
			break
		}
		if want {
			counts[n].consistent++
		} else {
			counts[n].violation++
		}
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for n := range counts {
		b.counts[n].consistent += counts[n].consistent
		b.counts[n].violation += counts[n].violation
	}
}

func (b *breadth) report(t *testing.T, c *histgen.Case, level string, want, got bool, err error) {
	t.Helper()
	refused := ""
	if errors.Is(err, views.ErrModel) {
		refused = " (the engine refuses the model)"
	}
	t.Errorf("seed %d, history %d, level %s: the twin says consistent=%v, the engine %v (%v)%s\n%s",
		c.Seed, c.Number, level, want, got, err, refused, c.Text())
	if *fuzzKeep != "" {
		path := filepath.Join(*fuzzKeep, fmt.Sprintf("breadth-%s-%d-%d.jsonl", level, c.Seed, c.Number))
		if err := os.WriteFile(path, c.Text(), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// print writes the table; each level must have met both verdicts in 15 % of its
// histories.
func (b *breadth) print(t *testing.T) {
	t.Helper()
	var table strings.Builder
	for n, level := range b.levels {
		c := b.counts[n]
		total := c.consistent + c.violation
		fmt.Fprintf(&table, "%-84s %8d consistent %8d violations\n", level, c.consistent, c.violation)
		if total > 200 && min(c.consistent, c.violation)*100 < 15*total {
			t.Errorf("%s: one verdict is rarer than 15 %%", level)
		}
	}
	t.Logf("\n%s", table.String())
}
