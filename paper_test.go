package pinyon_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/history/importers"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
	"pinyon/oracles"
)

// paperCases are the figures of the Pine paper (arXiv 2608.17388) with the
// verdicts that they illustrate. A file is named after the sentence that it
// proves; an oracle is a file of testdata/oracles-paper, or "dependencies".
var paperCases = []struct {
	file, level, oracle string
	want                spec.Kind
}{
	{"figure-1a-a-read-may-return-a-value-while-it-is-overwritten", "linearizable", "", spec.Consistent},
	{"figure-1d-a-stale-read-is-sequential-and-one-version-behind", "linearizable", "", spec.Violation},
	{"figure-1d-a-stale-read-is-sequential-and-one-version-behind", "sequential", "", spec.Consistent},
	{"figure-1d-a-stale-read-is-sequential-and-one-version-behind", "bounded-staleness:k=2", "", spec.Consistent},
	{"figure-1d-a-stale-read-is-sequential-and-one-version-behind", "bounded-staleness:k=1", "", spec.Violation},
	{"figure-2a-revisions-forbid-what-real-time-allows", "linearizable", "", spec.Consistent},
	{"figure-2a-revisions-forbid-what-real-time-allows", "linearizable", "revision.yaml", spec.Violation},
	{"figure-3-two-ordered-pairs-side-by-side-agree", "linearizable", "streams.yaml", spec.Consistent},
	{"figure-3-with-the-writes-turned-no-order-is-left", "linearizable", "", spec.Consistent},
	{"figure-3-with-the-writes-turned-no-order-is-left", "linearizable", "streams.yaml", spec.Violation},
	{"figure-3-with-the-reads-turned-no-order-is-left", "linearizable", "", spec.Consistent},
	{"figure-3-with-the-reads-turned-no-order-is-left", "linearizable", "streams.yaml", spec.Violation},
	{"figure-6a-the-read-of-a-value-stands-before-its-write-in-the-log", "linearizable", "", spec.Consistent},
	{"figure-6a-the-read-of-a-value-stands-before-its-write-in-the-log", "linearizable", "instance.yaml", spec.Violation},
	{"figure-6b-two-reads-after-the-same-writes-disagree", "linearizable", "", spec.Consistent},
	{"figure-6b-two-reads-after-the-same-writes-disagree", "linearizable", "dependencies", spec.Violation},
	{"figure-6c-a-read-misses-a-write-that-it-depends-on", "linearizable", "", spec.Consistent},
	{"figure-6c-a-read-misses-a-write-that-it-depends-on", "linearizable", "dependencies", spec.Violation},
}

func TestPaperFigures(t *testing.T) {
	used := map[string]bool{}
	for _, c := range paperCases {
		used[c.file] = true
		name := c.file + "/" + c.level
		if c.oracle != "" {
			name += "/" + c.oracle
		}
		t.Run(name, func(t *testing.T) {
			level, err := consistency.LookupLevel(c.level)
			if err != nil {
				t.Fatal(err)
			}
			for _, engine := range []string{"search", "brute"} {
				o := consistency.Options{Engine: engine, Oracles: paperOracle(t, c.oracle)}
				v, err := consistency.CheckSubject(context.Background(), loadSubject(t, filepath.Join("testdata/paper", c.file+".jsonl")), level, o)
				if err != nil {
					t.Fatal(err)
				}
				if v.Kind != c.want {
					t.Errorf("%s: %v, want %v", engine, v.Kind, c.want)
				}
			}
		})
	}
	for _, f := range glob(t, "testdata/paper/*.jsonl") {
		if name := filepath.Base(f); !used[name[:len(name)-len(".jsonl")]] {
			t.Errorf("%s has no verdict here", f)
		}
	}
}

// Figure 3 is why hints are more than better clocks: two ordered pairs with
// nothing between them are no interval order (Fishburn, 1970), so no choice of
// invoke and return times says the same as the two streams.
func TestFigure3IsNoRealTimeOrder(t *testing.T) {
	tried := 0
	var try func(events []int, open, closed int)
	try = func(events []int, open, closed int) {
		if len(events) == 8 {
			tried++
			before := func(a, b int) bool { // a's return, its second event, before b's call
				return slices.Index(events, b) > slices.Index(events, a)+1+slices.Index(events[slices.Index(events, a)+1:], a)
			}
			for a := range 4 {
				for b := range 4 {
					if a != b && before(a, b) != (a == 0 && b == 1 || a == 2 && b == 3) {
						return
					}
				}
			}
			t.Errorf("the events %v order exactly the two pairs", events)
			return
		}
		for op := range 4 {
			switch bit := 1 << op; {
			case open&bit == 0:
				try(append(slices.Clip(events), op), open|bit, closed)
			case closed&bit == 0:
				try(append(slices.Clip(events), op), open, closed|bit)
			}
		}
	}
	try(nil, 0, 0)
	if tried != 2520 { // 8! / 2^4
		t.Errorf("tried %d arrangements, want 2520", tried)
	}
}

func paperOracle(t *testing.T, name string) []order.Oracle {
	t.Helper()
	switch name {
	case "":
		return nil
	case "dependencies":
		return []order.Oracle{{Name: name, Order: dependencies}}
	}
	return []order.Oracle{loadOracle(t, filepath.Join("testdata/oracles-paper", name))}
}

// dependencies is EPaxos' execution order: b depends on a when a's slot is at
// most what b knows of a's replica; components of the graph run along it, and
// within a component lower sequence numbers first, equal ones unordered.
func dependencies(v *history.View, r *order.Rules) error {
	replica, inst, seq, known := v.Hints["replica"], v.Hints["inst"], v.Hints["seq"], v.Hints["deps"]
	deps, rank := make([][]int32, v.N), make([]int64, v.N)
	for b := range int32(v.N) {
		rank[b], _ = seq.Int(b)
		for a := range int32(v.N) {
			at, _ := replica.Int(a)
			slot, _ := inst.Int(a)
			if upTo, ok := known.At(b, at); ok && a != b && slot <= upTo {
				deps[b] = append(deps[b], a)
			}
		}
	}
	c, err := order.NewComponents(deps, rank)
	if err != nil {
		return err
	}
	r.AddHard("", c)
	return nil
}

// loadSubject reads a history and binds it to the model that it names.
func loadSubject(t *testing.T, path string) *spec.Subject {
	t.Helper()
	h, _, err := importers.Load(path, importers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Validate(h); err != nil {
		t.Fatal(err)
	}
	m, err := models.Lookup(h.Header.Model)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Bind(h, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func loadOracle(t *testing.T, path string) order.Oracle {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o, err := oracles.Load(path, text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files match %s (%v)", pattern, err)
	}
	return files
}
