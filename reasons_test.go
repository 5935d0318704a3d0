package pinyon_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// reasons are the histories that docs/ARCHITECTURE.md and docs/LIMITS.md cite:
// each file is named after the sentence that it proves.
var reasons = []struct {
	file, level, oracle string
	want                spec.Kind
}{
	{"galloping-along-a-chain-misses-the-edge-that-convicts", "sequential", "", spec.Consistent},
	{"galloping-along-a-chain-misses-the-edge-that-convicts", "real-time-writes", "", spec.Violation},
	{"an-unanswered-write-carries-order-that-it-never-needs", "linearizable", "", spec.Consistent},
	{"an-unanswered-write-carries-order-that-it-never-needs", "linearizable", "chain.yaml", spec.Violation},
	{"two-keys-that-pass-alone-fail-together-at-a-tie", "linearizable", "", spec.Violation},
	{"two-keys-that-pass-alone-fail-together-at-a-tie", "per-key-sequential", "", spec.Consistent},
	{"sequential-keys-pass-alone-and-fail-together", "sequential", "", spec.Violation},
	{"sequential-keys-pass-alone-and-fail-together", "per-key-sequential", "", spec.Consistent},
	{"bounded-staleness-lets-a-client-read-new-then-old", "bounded-staleness:k=2", "", spec.Consistent},
	{"bounded-staleness-lets-a-client-read-new-then-old", "sequential", "", spec.Violation},
	{"real-time-writes-accepts-a-read-of-a-later-write", "real-time-writes", "", spec.Consistent},
	{"real-time-writes-accepts-a-read-of-a-later-write", "ordered-sequential", "", spec.Violation},
}

func TestReasons(t *testing.T) {
	for _, c := range reasons {
		t.Run(c.file+"/"+c.level+"/"+c.oracle, func(t *testing.T) {
			level, err := consistency.LookupLevel(c.level)
			if err != nil {
				t.Fatal(err)
			}
			var list []order.Oracle
			if c.oracle != "" {
				list = append(list, loadOracle(t, filepath.Join("testdata/reasons", c.oracle)))
			}
			s := loadSubject(t, filepath.Join("testdata/reasons", c.file+".jsonl"))
			for _, o := range []consistency.Options{{}, {NoSplit: true}, {Engine: "brute"}} {
				o.Oracles = list
				v, err := consistency.CheckSubject(context.Background(), s, level, o)
				if err != nil {
					t.Fatal(err)
				}
				if v.Kind != c.want {
					t.Errorf("engine %q, split never %v: %v, want %v", o.Engine, o.NoSplit, v.Kind, c.want)
				}
			}
		})
	}
}

// What each key allows alone, the two together forbid: so the keys of these
// histories are not decided apart.
func TestReasonsKeysPassAlone(t *testing.T) {
	for _, c := range []struct{ file, level string }{
		{"two-keys-that-pass-alone-fail-together-at-a-tie", "linearizable"},
		{"sequential-keys-pass-alone-and-fail-together", "sequential"},
	} {
		level, err := consistency.LookupLevel(c.level)
		if err != nil {
			t.Fatal(err)
		}
		s := loadSubject(t, filepath.Join("testdata/reasons", c.file+".jsonl"))
		for _, key := range s.View.KeyName {
			v, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{OnlyKey: key, HasOnlyKey: true})
			if err != nil {
				t.Fatal(err)
			}
			// Nothing speaks against the key, and alone it is not believed either.
			if v.Kind != spec.Unknown || !strings.Contains(v.Parts[0].Reason, "this key alone is possible") {
				t.Errorf("%s: key %s alone is %v: %s", c.file, key, v.Kind, v.Parts[0].Reason)
			}
		}
	}
}
