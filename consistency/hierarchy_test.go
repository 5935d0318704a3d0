package consistency_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

var (
	hierarchyN     = flag.Int("hierarchy.n", 3000, "histories for the test of the hierarchy of levels")
	hierarchyWrite = flag.Int("hierarchy.write", 0, "search as many histories for witnesses and write testdata/litmus/pairs")
)

// pair says that whatever the stronger level accepts the weaker one accepts.
type pair struct {
	stronger, weaker string
	// blind: only where no operation reads and writes at once. A compare-and-set
	// demands that its order be the same for everybody who knows of it.
	blind bool
	// equal: the converse holds too.
	equal bool
}

const (
	soRYW    = "single-order:read-your-writes"
	soMR     = "single-order:monotonic-reads"
	soMW     = "single-order:monotonic-writes"
	soWFR    = "single-order:writes-follow-reads"
	soRYWWFR = "single-order:read-your-writes+writes-follow-reads"
	soMRWFR  = "single-order:monotonic-reads+writes-follow-reads"
	soMWWFR  = "single-order:monotonic-writes+writes-follow-reads"
	soNoMR   = "single-order:read-your-writes+monotonic-writes+writes-follow-reads"
	soNoWFR  = "single-order:read-your-writes+monotonic-reads+monotonic-writes"
	soAll    = "single-order:read-your-writes+monotonic-reads+monotonic-writes+writes-follow-reads"
)

// hierarchy is the relation of neighbours; what follows from two pairs is not
// written down.
var hierarchy = []pair{
	// Real time over one order.
	{stronger: "linearizable", weaker: "bounded-staleness:k=1", equal: true},
	{stronger: "linearizable", weaker: "ordered-sequential"},
	{stronger: "linearizable", weaker: "regular-sequential"},
	{stronger: "ordered-sequential", weaker: "real-time-writes"},
	{stronger: "regular-sequential", weaker: "real-time-writes"},
	{stronger: "real-time-writes", weaker: "sequential"},
	{stronger: "sequential", weaker: soAll, equal: true},

	// Staleness. A stale read can be moved back to the version that it saw.
	{stronger: "bounded-staleness:k=1", weaker: "bounded-staleness:k=2"},
	{stronger: "bounded-staleness:k=2", weaker: "bounded-staleness:k=3"},
	{stronger: "linearizable", weaker: "bounded-staleness:t=0s"},
	{stronger: "bounded-staleness:t=0s", weaker: "bounded-staleness:t=1ns"},
	{stronger: "bounded-staleness:t=1ns", weaker: "bounded-staleness:t=3ns"},
	{stronger: "bounded-staleness:t=1ns", weaker: "bounded-staleness:k=2,t=1ns"},
	{stronger: "bounded-staleness:k=2", weaker: "bounded-staleness:k=2,t=1ns"},
	{stronger: "bounded-staleness:k=3", weaker: soMWWFR},
	{stronger: "bounded-staleness:k=3", weaker: "timeline"},
	{stronger: "bounded-staleness:t=3ns", weaker: soMW},
	{stronger: "bounded-staleness:t=3ns", weaker: "timeline"},
	{stronger: "bounded-staleness:k=2,t=1ns", weaker: soMW},
	{stronger: "bounded-staleness:k=2,t=1ns", weaker: "timeline"},

	// Per key.
	{stronger: "bounded-staleness:t=0s", weaker: "regular"},
	{stronger: "regular", weaker: "safe"},
	{stronger: "regular", weaker: "timeline"},
	{stronger: "ordered-sequential", weaker: "timeline"},
	{stronger: "timeline", weaker: "prefix-linearizable"},
	{stronger: "real-time-writes", weaker: "prefix-linearizable"},
	{stronger: "sequential", weaker: "per-key-sequential"},

	// Guarantees under one order.
	{stronger: soAll, weaker: soNoWFR},
	{stronger: soAll, weaker: soNoMR},
	{stronger: soAll, weaker: soMRWFR},
	{stronger: soNoWFR, weaker: soRYW},
	{stronger: soNoWFR, weaker: soMR},
	{stronger: soNoWFR, weaker: soMW},
	{stronger: soNoMR, weaker: soRYWWFR},
	{stronger: soNoMR, weaker: soMWWFR},
	{stronger: soRYWWFR, weaker: soRYW},
	{stronger: soRYWWFR, weaker: soWFR},
	{stronger: soMRWFR, weaker: soMR},
	{stronger: soMRWFR, weaker: soWFR},
	{stronger: soMWWFR, weaker: soMW},
	{stronger: soMWWFR, weaker: soWFR},
	{stronger: soMW, weaker: "prefix-sequential", equal: true},

	// Several orders.
	{stronger: "sequential", weaker: "causal-memory"},
	{stronger: "sequential", weaker: "causal-convergence"},
	{stronger: "sequential", weaker: "pram"},
	{stronger: "causal-memory", weaker: "causal"},
	{stronger: "causal-memory", weaker: "pram", blind: true},
	{stronger: "causal-convergence", weaker: "causal"},
	{stronger: "causal-convergence", weaker: "read-your-writes"},
	{stronger: "causal-convergence", weaker: "monotonic-reads"},
	{stronger: "causal-convergence", weaker: "per-key-sequential", blind: true},
	{stronger: "causal", weaker: "writes-follow-reads"},
	{stronger: "pram", weaker: "monotonic-writes"},
	{stronger: "per-key-sequential", weaker: "read-your-writes"},
	{stronger: "per-key-sequential", weaker: "monotonic-reads"},

	// A guarantee under one order and without. Under one order a process may
	// read what it writes only later unless writes follow reads.
	{stronger: soMWWFR, weaker: "writes-follow-reads"},
	{stronger: soNoMR, weaker: "read-your-writes"},
	{stronger: soWFR, weaker: "writes-follow-reads", blind: true, equal: true},
	{stronger: soRYWWFR, weaker: "read-your-writes", blind: true},
	{stronger: soMRWFR, weaker: "monotonic-reads", blind: true},
	{stronger: "read-your-writes", weaker: "monotonic-writes", blind: true},
	{stronger: "monotonic-reads", weaker: "monotonic-writes", blind: true},
	{stronger: "writes-follow-reads", weaker: "monotonic-writes"},

	// Where no operation reads and writes at once, a read whose place in the
	// order nothing else fixes stands right after the write that it saw. Then an
	// order of the writes is never in the way, and all that is left to ask is
	// that each read saw something.
	{stronger: "writes-follow-reads", weaker: soMWWFR, blind: true, equal: true},
	{stronger: "monotonic-writes", weaker: soMW, blind: true},
	{stronger: soRYW, weaker: soMW, blind: true},
	{stronger: soMR, weaker: soMW, blind: true},
	{stronger: soMW, weaker: "prefix-linearizable", blind: true, equal: true},
}

// hierarchyLevels lists the levels of the hierarchy.
func hierarchyLevels() (names []string) {
	for _, p := range hierarchy {
		for _, name := range []string{p.stronger, p.weaker} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// hierarchyOptions are the histories that the hierarchy is held against. None
// is ordered by its lines: there real time and the time that bounds staleness
// are two clocks, and levels of the one do not compare with levels of the other.
var hierarchyOptions = []histgen.Options{
	{Models: registerModels, Weak: true, MaxOps: 6, ManyKeys: true, MaxKeys: 2},
	{Models: []string{"register"}, Weak: true, MaxOps: 6, MaxKeys: 2},
	{Models: registerModels, Weak: true, MaxOps: 5, Squeezed: true},
	{Models: []string{"register"}, Weak: true, MaxOps: 7, ManyKeys: true, MaxKeys: 2, Processes: 3},
	{Models: registerModels, RegisterLike: true, MaxOps: 6, WriteHeavy: true},
}

// decider decides histories at all levels of the hierarchy.
type decider struct {
	names  []string
	levels []consistency.Level
}

func newDecider(t *testing.T) *decider {
	t.Helper()
	d := &decider{names: hierarchyLevels()}
	for _, name := range d.names {
		l, err := consistency.LookupLevel(name)
		if err != nil {
			t.Fatal(err)
		}
		d.levels = append(d.levels, l)
	}
	return d
}

func (d *decider) index(level string) int { return slices.Index(d.names, level) }

func decide(s *spec.Subject, l consistency.Level) (consistent bool, err error) {
	v, err := consistency.CheckSubject(context.Background(), s, l, consistency.Options{Timeout: -1, MaxMemory: 1 << 30, Workers: 1})
	if err == nil && v.Kind == spec.Unknown {
		err = errors.New("undecided")
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", l.Name, err)
	}
	return v.Kind != spec.Violation, nil
}

func bind(raw *history.Raw) (*spec.Subject, error) {
	entry, err := models.Lookup(raw.Header.Model)
	if err != nil {
		return nil, err
	}
	return entry.Bind(raw, models.Options{})
}

func (d *decider) all(raw *history.Raw) ([]bool, error) {
	s, err := bind(raw)
	if err != nil {
		return nil, err
	}
	verdicts := make([]bool, len(d.levels))
	for i, l := range d.levels {
		if verdicts[i], err = decide(s, l); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// isBlind reports that no operation reads and writes at once.
func isBlind(raw *history.Raw) bool {
	return !slices.ContainsFunc(raw.Ops, func(op history.Op[history.Value, history.Value]) bool { return op.F == "cas" })
}

// separations counts, by stronger and weaker level, the histories that the
// first accepts and the second rejects, on all histories and on blind ones.
type separations struct {
	mutex      sync.Mutex
	all, blind [][]int
}

func (s *separations) add(verdicts []bool, blind bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for a, x := range verdicts {
		for b, y := range verdicts {
			if x && !y {
				s.all[a][b]++
				if blind {
					s.blind[a][b]++
				}
			}
		}
	}
}

func newSeparations(n int) *separations {
	s := &separations{}
	for range n {
		s.all, s.blind = append(s.all, make([]int, n)), append(s.blind, make([]int, n))
	}
	return s
}

// TestHierarchy holds every pair against random histories. It logs the pairs
// of levels that no history separates and that do not follow from the list:
// either the list lacks one, or there were too few histories.
func TestHierarchy(t *testing.T) {
	d := newDecider(t)
	found := newSeparations(len(d.names))
	eachHistory(t, *hierarchyN, func(c *histgen.Case) bool {
		verdicts, err := d.all(c.Raw)
		if err != nil {
			t.Errorf("%v\n%s", err, c.Text())
			return false
		}
		blind := isBlind(c.Raw)
		found.add(verdicts, blind)
		for _, p := range hierarchy {
			strong, weak := verdicts[d.index(p.stronger)], verdicts[d.index(p.weaker)]
			if (!p.blind || blind) && (strong && !weak || p.equal && weak && !strong) {
				t.Errorf("%s accepts=%v, %s accepts=%v\n%s", p.stronger, strong, p.weaker, weak, c.Text())
				return false
			}
		}
		return true
	})
	for _, l := range litmus {
		raw, err := readHistory(l.file())
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := d.all(raw)
		if err != nil {
			t.Fatal(err)
		}
		found.add(verdicts, isBlind(raw))
	}
	d.logSeparations(t, found)
}

// logSeparations says what was not separated, and how often neighbours were.
func (d *decider) logSeparations(t *testing.T, found *separations) {
	t.Helper()
	follows, blindly := closure(d, false), closure(d, true)
	for a, strong := range d.names {
		for b, weak := range d.names {
			if a == b {
				continue
			}
			if found.all[a][b] == 0 && !follows[a][b] {
				t.Logf("no history separates %s, accepting, from %s", strong, weak)
			} else if found.blind[a][b] == 0 && !blindly[a][b] {
				t.Logf("no blind history separates %s, accepting, from %s", strong, weak)
			}
			if p := slices.IndexFunc(hierarchy, func(p pair) bool { return p.stronger == weak && p.weaker == strong && !p.equal }); p >= 0 {
				t.Logf("%6d of %s are not %s", found.all[a][b], strong, weak)
			}
		}
	}
}

// eachHistory calls f for n histories from several workers until it returns
// false.
func eachHistory(t *testing.T, n int, f func(c *histgen.Case) bool) {
	const size = 250
	blocks := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for b := range blocks {
				g := histgen.New(*fuzzSeed+uint64(b), hierarchyOptions[b%len(hierarchyOptions)])
				for range min(size, n-b*size) {
					if t.Failed() || !f(g.Next()) {
						break
					}
				}
			}
		})
	}
	for b := range (n + size - 1) / size {
		blocks <- b
	}
	close(blocks)
	wg.Wait()
}

// closure is what follows from the list, with the pairs for blind histories or
// without.
func closure(d *decider, blind bool) [][]bool {
	n := len(d.names)
	follows := make([][]bool, n)
	for a := range follows {
		follows[a] = make([]bool, n)
		follows[a][a] = true
	}
	for _, p := range hierarchy {
		if p.blind && !blind {
			continue
		}
		a, b := d.index(p.stronger), d.index(p.weaker)
		follows[a][b] = true
		follows[b][a] = follows[b][a] || p.equal
	}
	for mid := range n {
		for a := range n {
			for b := range n {
				follows[a][b] = follows[a][b] || follows[a][mid] && follows[mid][b]
			}
		}
	}
	return follows
}

// TestHierarchyIsNeighbours: no pair of the list follows from the others.
func TestHierarchyIsNeighbours(t *testing.T) {
	d := newDecider(t)
	whole := hierarchy
	defer func() { hierarchy = whole }()
	for i, p := range whole {
		hierarchy = slices.Delete(slices.Clone(whole), i, i+1)
		if !p.equal && closure(d, p.blind)[d.index(p.stronger)][d.index(p.weaker)] {
			t.Errorf("%s, %s follows from other pairs", p.stronger, p.weaker)
		}
	}
}

// file is where the history that separates a pair is kept.
func (p pair) file() string {
	name := strings.NewReplacer(":", "-", "=", "-", "+", "-", ",", "-")
	return filepath.Join("..", "testdata", "litmus", "pairs", name.Replace(p.weaker)+"--not--"+name.Replace(p.stronger)+".jsonl")
}

// TestPairsAreSeparated checks the kept history of each pair: the weaker level
// accepts it and the stronger one does not.
func TestPairsAreSeparated(t *testing.T) {
	if *hierarchyWrite > 0 {
		writeWitnesses(t, *hierarchyWrite)
	}
	for _, p := range hierarchy {
		if p.equal {
			continue
		}
		raw, err := readHistory(p.file())
		if err != nil {
			t.Error(err)
			continue
		}
		if ok, err := separates(raw, p); !ok || err != nil {
			t.Errorf("%s does not separate (%v)", p.file(), err)
		}
	}
}

func readHistory(path string) (*history.Raw, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return history.ReadNative(path, bytes.NewReader(text))
}

// separates reports whether the weaker level accepts raw and the stronger one
// rejects it.
func separates(raw *history.Raw, p pair) (bool, error) {
	s, err := bind(raw)
	if err != nil {
		return false, err
	}
	verdicts := [2]bool{}
	for i, name := range []string{p.weaker, p.stronger} {
		l, err := consistency.LookupLevel(name)
		if err != nil {
			return false, err
		}
		if verdicts[i], err = decide(s, l); err != nil {
			return false, err
		}
	}
	return verdicts[0] && !verdicts[1], nil
}

// writeWitnesses searches the smallest history for each pair and keeps it.
func writeWitnesses(t *testing.T, n int) {
	t.Helper()
	d := newDecider(t)
	var mutex sync.Mutex
	best := make([]*history.Raw, len(hierarchy))
	eachHistory(t, n, func(c *histgen.Case) bool {
		raw := plainly(c.Raw)
		verdicts, err := d.all(raw)
		if err != nil {
			return true // a history that is not well-formed without its clock error or ties
		}
		mutex.Lock()
		defer mutex.Unlock()
		for i, p := range hierarchy {
			if verdicts[d.index(p.weaker)] && !verdicts[d.index(p.stronger)] && (!p.blind || isBlind(raw)) {
				if small := shrink(raw, p); best[i] == nil || cost(small) < cost(best[i]) {
					best[i] = small
				}
			}
		}
		return true
	})
	for i, p := range hierarchy {
		if p.equal || best[i] == nil {
			continue
		}
		var b bytes.Buffer
		best[i].Header.Source = fmt.Sprintf("%s accepts it, %s does not", p.weaker, p.stronger)
		if err := history.WriteNative(&b, best[i]); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(p.file()), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p.file(), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cost makes short histories of answered operations of few keys the best.
func cost(raw *history.Raw) int {
	keys, sum := map[string]bool{}, 0
	for i := range raw.Ops {
		op := &raw.Ops[i]
		keys[op.Key] = true
		sum += 100 + int(op.Return-op.Invoke)
		if op.Outcome != history.OK {
			sum += 50
		}
		if op.F == "cas" {
			sum += 20
		}
	}
	return sum + 30*len(keys)
}

// plainly drops what a history needs not have: nodes, hints, clock error,
// failed operations.
func plainly(raw *history.Raw) *history.Raw {
	plain := &history.Raw{Header: history.Header{Model: raw.Header.Model}}
	for _, op := range raw.Ops {
		if op.Outcome == history.Fail {
			continue
		}
		op.Node, op.Hints, op.Error = "", nil, ""
		plain.Ops = append(plain.Ops, op)
	}
	slices.SortStableFunc(plain.Ops, func(a, b history.Op[history.Value, history.Value]) int {
		if a.Invoke != b.Invoke {
			return int(a.Invoke - b.Invoke)
		}
		return int(a.Return - b.Return)
	})
	return plain
}

// shrink leaves out operations while the history still separates the pair.
func shrink(raw *history.Raw, p pair) *history.Raw {
	for i := 0; i < len(raw.Ops); {
		less := *raw
		less.Ops = slices.Delete(slices.Clone(raw.Ops), i, i+1)
		if ok, err := separates(&less, p); ok && err == nil {
			raw, i = &less, 0
		} else {
			i++
		}
	}
	return raw
}
