package consistency_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// litmusTest is a history of testdata/litmus with levels that accept it and
// levels that do not, separated by spaces.
type litmusTest struct{ name, accept, reject string }

func (l litmusTest) file() string {
	return filepath.Join("..", "testdata", "litmus", l.name+".jsonl")
}

// Each history is drawn in its file; its source says what happens.
var litmus = []litmusTest{
	{"load-buffering",
		"pram per-key-sequential read-your-writes monotonic-reads monotonic-writes " + soNoWFR,
		"sequential causal writes-follow-reads " + soWFR + " " + soMWWFR},
	{"store-buffering",
		"pram causal causal-memory causal-convergence per-key-sequential " + soMWWFR,
		"linearizable sequential bounded-staleness:k=1"},
	{"causality-broken",
		"pram per-key-sequential prefix-sequential read-your-writes monotonic-reads writes-follow-reads " + soNoWFR,
		"causal causal-memory causal-convergence sequential"},
	{"two-last-writers",
		"pram causal causal-memory monotonic-reads writes-follow-reads",
		"causal-convergence read-your-writes per-key-sequential sequential"},
	{"writes-reordered",
		"monotonic-reads read-your-writes writes-follow-reads prefix-sequential",
		"pram causal causal-memory causal-convergence per-key-sequential"},
	{"independent-reads",
		"pram causal causal-memory causal-convergence per-key-sequential " + soMWWFR,
		"sequential " + soMR},
	{"independent-reads-one-key",
		"pram causal causal-memory read-your-writes writes-follow-reads",
		"causal-convergence monotonic-reads per-key-sequential sequential"},
	{"convergent-not-memory",
		"causal causal-convergence per-key-sequential monotonic-reads read-your-writes",
		"causal-memory pram sequential"},
	{"back-and-forth",
		"causal read-your-writes writes-follow-reads monotonic-writes " + soMWWFR,
		"causal-memory causal-convergence pram monotonic-reads per-key-sequential"},
	{"forgotten-own-write",
		"monotonic-reads monotonic-writes writes-follow-reads prefix-sequential " + soMR,
		"read-your-writes causal pram per-key-sequential " + soRYW},
	{"both-own-writes-last",
		"monotonic-reads monotonic-writes writes-follow-reads prefix-sequential " + soMR,
		"read-your-writes causal pram per-key-sequential " + soRYW},
	{"read-goes-back",
		"read-your-writes monotonic-writes writes-follow-reads prefix-sequential " + soRYW,
		"monotonic-reads causal pram per-key-sequential " + soMR},
	{"written-before-read",
		"pram per-key-sequential monotonic-writes read-your-writes monotonic-reads " + soNoWFR,
		"writes-follow-reads causal " + soWFR},
	{"own-future",
		"prefix-sequential " + soRYW + " " + soMR + " " + soMW,
		"writes-follow-reads monotonic-writes pram causal per-key-sequential " + soWFR},
	{"thin-air",
		"",
		"linearizable prefix-sequential prefix-linearizable monotonic-writes causal pram safe"},
	{"two-winners",
		"causal causal-memory causal-convergence read-your-writes monotonic-writes",
		"pram sequential per-key-sequential prefix-sequential linearizable"},
	{"two-unanswered-winners",
		"pram causal causal-memory causal-convergence monotonic-writes",
		"prefix-sequential per-key-sequential sequential"},
	{"cas-circle",
		"per-key-sequential read-your-writes monotonic-reads " + soWFR + " " + soMR,
		"monotonic-writes writes-follow-reads pram causal " + soMW},
	{"cas-from-the-start",
		"causal causal-convergence read-your-writes",
		"causal-memory pram sequential per-key-sequential"},
	{"cas-after-a-write-of-its-value",
		"causal causal-convergence read-your-writes",
		"causal-memory pram sequential per-key-sequential"},
	{"new-then-old",
		"regular safe timeline bounded-staleness:k=2 prefix-linearizable",
		"linearizable bounded-staleness:k=1"},
	{"stale-read",
		"bounded-staleness:k=2 bounded-staleness:t=1ns ordered-sequential real-time-writes timeline sequential",
		"linearizable regular safe regular-sequential bounded-staleness:t=0s"},
	{"one-version-late",
		"bounded-staleness:k=2 ordered-sequential timeline",
		"linearizable bounded-staleness:k=1 regular safe regular-sequential"},
	{"garbage-while-written",
		"safe",
		"regular timeline prefix-linearizable causal pram monotonic-writes"},
	{"garbage-beside-an-unanswered-read",
		"",
		"safe regular"},
	{"circle-across-clocks", "regular-weak", "timeline regular"},
	{"from-the-future",
		"sequential real-time-writes regular-sequential causal pram prefix-linearizable",
		"linearizable ordered-sequential timeline regular"},
	{"writes-swapped",
		"sequential per-key-sequential causal pram prefix-sequential",
		"real-time-writes regular-sequential"},
}

// TestLitmus holds the engine and the twins against the table.
func TestLitmus(t *testing.T) {
	for _, l := range litmus {
		t.Run(l.name, func(t *testing.T) {
			raw, err := readHistory(l.file())
			if err != nil {
				t.Fatal(err)
			}
			for want, names := range map[bool]string{true: l.accept, false: l.reject} {
				for _, name := range strings.Fields(names) {
					engine, twin, err := twoVerdicts(raw, name)
					if err != nil || engine != want || twin != want {
						t.Errorf("%s: consistent=%v by the engine, %v by the twin (%v), want %v", name, engine, twin, err, want)
					}
				}
			}
		})
	}
}

// TestEndsOfHierarchy: one history is allowed by every level, one by none.
func TestEndsOfHierarchy(t *testing.T) {
	for name, want := range map[string]bool{"in-order": true, "thin-air": false} {
		raw, err := readHistory(litmusTest{name: name}.file())
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range hierarchyLevels() {
			engine, twin, err := twoVerdicts(raw, level)
			if err != nil || engine != want || twin != want {
				t.Errorf("%s: %s allows it: %v by the engine, %v by the twin (%v), want %v", name, level, engine, twin, err, want)
			}
		}
	}
}

// isView reports whether the level has no single order.
func isView(level string) bool {
	for _, name := range viewLevels {
		if name == level {
			return true
		}
	}
	return false
}
