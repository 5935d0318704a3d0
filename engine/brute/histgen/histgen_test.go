package histgen_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/models"
)

var levels = []string{
	"linearizable", "sequential", "ordered-sequential", "real-time-writes", "regular-sequential",
	"bounded-staleness:k=2", "bounded-staleness:t=2ns", "bounded-staleness:k=2,t=1ns", "per-key-sequential",
}

// modes are the ways in which the generator is used.
var modes = map[string]histgen.Options{
	"usual":    {Oracles: true, Lines: true},
	"squeezed": {Oracles: true, Squeezed: true},
}

// TestBothVerdictsAreFrequent holds the generator to its purpose: a fuzz test
// that meets one verdict only proves nothing.
func TestBothVerdictsAreFrequent(t *testing.T) {
	const cases = 600
	for mode, o := range modes {
		t.Run(mode, func(t *testing.T) {
			var all [2]int
			table := fmt.Sprintf("violations in %% of %d histories, %s\n%-14s", cases, mode, "")
			for _, l := range levels {
				table += fmt.Sprintf(" %28s", l)
			}
			for _, model := range histgen.Models {
				o.Models = []string{model}
				table += fmt.Sprintf("\n%-14s", model)
				for _, level := range levels {
					bad := violations(t, histgen.New(1, o), level, cases)
					all[0] += cases - bad
					all[1] += bad
					table += fmt.Sprintf(" %27.1f%%", 100*float64(bad)/cases)
					if share := float64(bad) / cases; share < 0.05 || share > 0.95 {
						t.Errorf("%s at %s: %d violations of %d", model, level, bad, cases)
					}
				}
			}
			if share := float64(all[1]) / float64(all[0]+all[1]); share < 0.2 || share > 0.8 {
				t.Errorf("%.2f of all verdicts are violations", share)
			}
			t.Log(table)
		})
	}
}

func violations(t *testing.T, g *histgen.Gen, level string, cases int) (bad int) {
	for range cases {
		c := g.Next()
		s, err := c.Subject()
		if err != nil {
			t.Fatal(err)
		}
		ok, _, err := brute.Decide(s, level, c.Extra(s.View))
		if err != nil {
			t.Fatalf("%v\n%s", err, c.Text())
		}
		if !ok {
			bad++
		}
	}
	return bad
}

func TestHistoriesAreWellFormed(t *testing.T) {
	seen := map[string]int{}
	for _, o := range modes {
		g := histgen.New(7, o)
		for range 5000 {
			c := g.Next()
			if err := history.Validate(c.Raw); err != nil {
				t.Fatalf("%v\n%s", err, c.Text())
			}
			for what, is := range features(c) {
				if is {
					seen[what]++
				}
			}
		}
	}
	for _, what := range []string{"info", "fail", "edges", "hints", "by line", "by node", "one error", "precede", "zero width", "keys"} {
		if seen[what] < 300 {
			t.Errorf("%d of 10000 histories have %s", seen[what], what)
		}
	}
	t.Log(seen)
}

func features(c *histgen.Case) map[string]bool {
	f := map[string]bool{
		"edges": len(c.Edges) > 0, "by line": c.Raw.Order == history.ByLine,
		"by node":   c.Raw.Header.ClockError.ByNode != nil,
		"one error": c.Raw.Header.ClockError.All > 0, "precede": c.Raw.Header.Ties == history.TiesPrecede,
	}
	keys := map[string]bool{}
	for _, op := range c.Raw.Ops {
		keys[op.Key] = true
		f["info"] = f["info"] || op.Outcome == history.Info
		f["fail"] = f["fail"] || op.Outcome == history.Fail
		f["hints"] = f["hints"] || op.Hints != nil
		f["zero width"] = f["zero width"] || op.Outcome == history.OK && op.Invoke == op.Return
	}
	f["keys"] = len(keys) > 1
	return f
}

// TestModelsAgree compares the registry's models with the simulation, which
// shares nothing with them: a history has the same verdict under both.
func TestModelsAgree(t *testing.T) {
	for _, model := range histgen.Models {
		e, err := models.Lookup(model)
		if err != nil {
			t.Errorf("%s: %v", model, err)
			continue
		}
		g := histgen.New(21, histgen.Options{Models: []string{model}})
		for range 1500 {
			c := g.Next()
			own, err := c.Subject()
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.Bind(c.Raw, models.Options{})
			if err != nil {
				t.Fatalf("%v\n%s", err, c.Text())
			}
			for _, level := range []string{"linearizable", "sequential"} {
				want, _, errWant := brute.Decide(own, level, nil)
				got, _, errGot := brute.Decide(s, level, nil)
				if got != want || errWant != nil || errGot != nil {
					t.Fatalf("%s: %v (%v) by the model, %v (%v) by the simulation\n%s", level, got, errGot, want, errWant, c.Text())
				}
			}
			if !slices.Equal(s.View.Read, own.View.Read) {
				t.Fatalf("reads are %v by the model, %v by the simulation\n%s", s.View.Read, own.View.Read, c.Text())
			}
		}
	}
}

// TestTextIsAFile: what a failing test prints can be read again.
func TestTextIsAFile(t *testing.T) {
	g := histgen.New(2, modes["usual"])
	for range 500 {
		c := g.Next()
		raw, err := history.ReadNative("case", bytes.NewReader(c.Text()))
		if err != nil || len(raw.Ops) != len(c.Raw.Ops) {
			t.Fatalf("%v\n%s", err, c.Text())
		}
	}
}

func TestSameSeedSameHistories(t *testing.T) {
	a, b := histgen.New(3, modes["usual"]), histgen.New(3, modes["usual"])
	for range 200 {
		if x, y := a.Next(), b.Next(); !reflect.DeepEqual(x, y) {
			t.Fatalf("the histories differ:\n%s\n%s", x.Text(), y.Text())
		}
	}
}

func BenchmarkNext(b *testing.B) {
	g := histgen.New(1, histgen.Options{})
	for b.Loop() {
		g.Next()
	}
}
