package consistency_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
	"pinyon/models"
)

var (
	fuzzN    = flag.Int("fuzz.n", 50_000, "histories for each of the two differential tests")
	fuzzSeed = flag.Uint64("fuzz.seed", 1, "where the differential tests start")
	fuzzKeep = flag.String("fuzz.keep", "", "folder in which a failing history is kept")
)

// fuzzLevels are the levels under test, with parameters on the scale of the
// generated times.
var fuzzLevels = []string{
	"linearizable", "sequential", "ordered-sequential", "real-time-writes", "regular-sequential",
	"bounded-staleness:k=1", "bounded-staleness:k=2", "bounded-staleness:k=3",
	"bounded-staleness:t=0s", "bounded-staleness:t=1ns", "bounded-staleness:t=3ns",
	"bounded-staleness:k=2,t=1ns", "per-key-sequential",
}

// tally counts verdicts of one level.
type tally struct{ consistent, violation int }

func TestEngineEqualsTwin(t *testing.T) {
	differential(t, histgen.Options{Oracles: true, Lines: true})
}

func TestEngineEqualsTwinSqueezed(t *testing.T) {
	differential(t, histgen.Options{Oracles: true, Lines: true, Squeezed: true})
}

// differential compares Check with the twin on -fuzz.n histories, split into
// blocks that workers take; the histories do not depend on their number.
func differential(t *testing.T, o histgen.Options) {
	const block = 1000
	blocks := make(chan int)
	tallies := make([][]tally, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for w := range tallies {
		tallies[w] = make([]tally, len(fuzzLevels))
		wg.Go(func() {
			for b := range blocks {
				if t.Failed() {
					continue
				}
				g := histgen.New(*fuzzSeed+uint64(b), o)
				rng := rand.New(rand.NewPCG(*fuzzSeed, uint64(b)))
				for range min(block, *fuzzN-b*block) {
					if !compare(t, g.Next(), rng, tallies[w]) {
						break
					}
				}
			}
		})
	}
	for b := range (*fuzzN + block - 1) / block {
		blocks <- b
	}
	close(blocks)
	wg.Wait()
	checkTallies(t, tallies)
}

// compare decides one case at one level with the engine and the twin. The two
// use different implementations of the models as well.
func compare(t *testing.T, c *histgen.Case, rng *rand.Rand, tallies []tally) bool {
	t.Helper()
	n := rng.IntN(len(fuzzLevels))
	oracles, extra := hintOracle(c, rng)
	want, got, v, err := bothVerdicts(c, fuzzLevels[n], oracles, extra, rng)
	if err == nil && want == got {
		if want {
			tallies[n].consistent++
		} else {
			tallies[n].violation++
		}
		return true
	}
	text := fmt.Sprintf("%s# level %s, edges %v, oracle %v\n", c.Text(), fuzzLevels[n], c.Edges, oracles != nil)
	t.Errorf("seed %d, history %d, level %s: the twin says consistent=%v, the engine %v (%v, %+v)\n%s",
		c.Seed, c.Number, fuzzLevels[n], want, got, err, v, text)
	if *fuzzKeep != "" {
		path := filepath.Join(*fuzzKeep, fmt.Sprintf("seed%d-%d.jsonl", c.Seed, c.Number))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
	return false
}

func bothVerdicts(c *histgen.Case, level string, oracles []order.Oracle, extra func(v *history.View) func(a, b int32) bool, rng *rand.Rand) (want, got bool, v *spec.Verdict, err error) {
	twin, err := c.Subject()
	if err != nil {
		return false, false, nil, err
	}
	if want, _, err = brute.Decide(twin, level, extra(twin.View)); err != nil {
		return false, false, nil, fmt.Errorf("twin: %w", err)
	}
	entry, err := models.Lookup(c.Model)
	if err != nil {
		return want, false, nil, err
	}
	s, err := entry.Bind(c.Raw, models.Options{})
	if err != nil {
		return want, false, nil, err
	}
	l, err := consistency.LookupLevel(level)
	if err != nil {
		return want, false, nil, err
	}
	o := consistency.Options{Oracles: oracles, Engine: []string{"auto", "search", "auto", "search", "wing-gong", "sweep"}[rng.IntN(6)],
		Timeout: -1, MaxMemory: 1 << 30, Workers: 1, NoSplit: rng.IntN(4) == 0, Debug: rng.IntN(8) == 0}
	v, err = consistency.CheckSubject(context.Background(), s, l, o)
	if o.Engine == "sweep" && err == nil && v.Kind == spec.Unknown { // not every object and order is swept
		o.Engine = "auto"
		v, err = consistency.CheckSubject(context.Background(), s, l, o)
	}
	if err != nil {
		return want, false, v, err
	}
	if v.Kind == spec.Unknown {
		return want, false, v, fmt.Errorf("undecided")
	}
	if rng.IntN(4) == 0 {
		err = evidence(s, level, v, extra(s.View))
	}
	return want, v.Kind != spec.Violation, v, err
}

// evidence lets the verifier check what the verdict carries. Only an exhausted
// search may be beyond it.
func evidence(s *spec.Subject, level string, v *spec.Verdict, extra func(a, b int32) bool) error {
	f := verify.NewFile(s, level, v)
	f.TryCore = brute.Core
	for _, name := range v.Oracles {
		f.Oracles = append(f.Oracles, verify.OracleText{Name: name})
	}
	if v.Oracles == nil {
		extra = nil
	}
	r, err := f.Check(s, extra)
	if err != nil {
		return fmt.Errorf("verifier: %w", err)
	}
	exhausted := slices.ContainsFunc(v.Parts, func(p spec.Part) bool {
		return p.Proof != nil && (p.Proof.Kind == spec.ProofExhausted || p.Proof.Kind == spec.ProofCore || p.Proof.Kind == spec.ProofPattern && p.Proof.Name == "")
	})
	if r.Answer == verify.Accepted || exhausted && r.Answer == verify.NotCheckable {
		return nil
	}
	return fmt.Errorf("verifier: %v: %s", r.Answer, r.Reason)
}

// hintOracle makes the oracles of a case and the same order by definition: its
// explicit edges, across keys, and in half of the cases the order of the hint
// "h", across keys or not.
func hintOracle(c *histgen.Case, rng *rand.Rand) ([]order.Oracle, func(v *history.View) func(a, b int32) bool) {
	var oracles []order.Oracle
	if len(c.Edges) > 0 {
		oracles = append(oracles, order.Oracle{Name: "edges", AllKeys: true, Order: func(v *history.View, r *order.Rules) error {
			r.AddHard("", &order.Pair{Before: c.Extra(v)})
			return nil
		}})
	}
	useHint, allKeys, soft := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(4) == 0
	if useHint {
		oracles = append(oracles, order.Oracle{Name: "h", AllKeys: allKeys, Order: func(v *history.View, r *order.Rules) error {
			if soft {
				r.AddSoft("", hintClock(v))
			} else {
				r.AddHard("", hintClock(v))
			}
			return nil
		}})
	}
	return oracles, func(v *history.View) func(a, b int32) bool {
		edges, h := c.Extra(v), v.Hints["h"]
		return func(a, b int32) bool {
			if edges != nil && edges(a, b) {
				return true
			}
			x, okA := h.Int(a)
			y, okB := h.Int(b)
			return useHint && !soft && okA && okB && x < y && (allKeys || v.Key[a] == v.Key[b])
		}
	}
}

func hintClock(v *history.View) *order.Clock {
	c := &order.Clock{Name: "h", Out: make([]int64, v.N), In: make([]int64, v.N)}
	for i := range int32(v.N) {
		c.Out[i], c.In[i] = order.OutNever, order.InNever
		if n, ok := v.Hints["h"].Int(i); ok {
			c.Out[i], c.In[i] = n, n
		}
	}
	return c
}

// checkTallies prints the table and requires both verdicts to be frequent:
// 20 % of each overall, 5 % at each level.
func checkTallies(t *testing.T, tallies [][]tally) {
	var all tally
	var table strings.Builder
	for n, level := range fuzzLevels {
		var sum tally
		for _, w := range tallies {
			sum.consistent += w[n].consistent
			sum.violation += w[n].violation
		}
		all.consistent += sum.consistent
		all.violation += sum.violation
		fmt.Fprintf(&table, "%-28s %8d consistent %8d violations\n", level, sum.consistent, sum.violation)
		if total := sum.consistent + sum.violation; total > 500 && min(sum.consistent, sum.violation)*20 < total {
			t.Errorf("%s: one verdict is rarer than 5 %%", level)
		}
	}
	total := all.consistent + all.violation
	t.Logf("\n%s%-28s %8d consistent %8d violations, of %d", table.String(), "all", all.consistent, all.violation, total)
	if min(all.consistent, all.violation)*5 < total {
		t.Error("one verdict is rarer than 20 % overall")
	}
}
