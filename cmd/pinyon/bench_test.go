package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"pinyon/bench/gen"
)

func TestCompareQuick(t *testing.T) {
	old := []quickRow{{"a", "consistent", "queue", 100}, {"b", "violation", "search", 0}, {"c", "consistent", "search", 8}}
	for _, c := range []struct {
		name         string
		change       func(rows []quickRow) []quickRow
		worse, notes int
	}{
		{"nothing", func(r []quickRow) []quickRow { return r }, 0, 0},
		{"a quarter more states", func(r []quickRow) []quickRow { r[0].states = 125; return r }, 0, 0},
		{"more than that", func(r []quickRow) []quickRow { r[0].states = 126; return r }, 1, 0},
		{"fewer", func(r []quickRow) []quickRow { r[0].states = 1; return r }, 0, 0},
		{"some where there were none", func(r []quickRow) []quickRow { r[1].states = 1; return r }, 1, 0},
		{"a verdict", func(r []quickRow) []quickRow { r[1].verdict = "unknown"; return r }, 1, 0},
		{"an engine", func(r []quickRow) []quickRow { r[0].engine = "stack"; return r }, 0, 1},
		{"a case less", func(r []quickRow) []quickRow { return r[:2] }, 1, 0},
		{"a case more", func(r []quickRow) []quickRow { return append(r, quickRow{name: "d"}) }, 1, 0},
	} {
		worse, notes := compareQuick(old, c.change(append([]quickRow{}, old...)))
		if len(worse) != c.worse || len(notes) != c.notes {
			t.Errorf("%s: worse %q, notes %q", c.name, worse, notes)
		}
	}
}

// The committed table has a line for each quick case, and reads back.
func TestQuickTable(t *testing.T) {
	rows, err := readQuick(filepath.Join("..", "..", "bench", "testdata", "quick.csv"))
	if err != nil {
		t.Fatal(err)
	}
	cases := quickCases()
	if len(rows) != len(cases) {
		t.Fatalf("%d lines, %d cases; pinyon bench --quick --update writes them", len(rows), len(cases))
	}
	for i, c := range cases {
		implied := impliedVerdict(&c.job)
		if rows[i].name != c.name || rows[i].verdict != "unknown" && implied != "" && rows[i].verdict != implied {
			t.Errorf("line %d: %+v, want the case %q with the verdict %s", i+2, rows[i], c.name, implied)
		}
	}
}

// Names of cases are different within a suite, and every shape can be made.
func TestSuites(t *testing.T) {
	for _, s := range append(suites, struct {
		name  string
		cases func() []benchCase
	}{"quick", quickCases}) {
		seen := map[string]bool{}
		for _, c := range s.cases() {
			if seen[c.name] {
				t.Errorf("%s: two cases %q", s.name, c.name)
			}
			seen[c.name] = true
			small := *c.job.Shape // as large as is quickly made
			if small.Ops > 2000 {
				small.Ops = 2000
			}
			for small.Seed = range 3 {
				if _, err := small.History(); err != nil {
					t.Errorf("%s: %s, seed %d: %v", s.name, c.name, small.Seed, err)
				}
			}
		}
	}
}

// A process measures one case, a history in memory or a file, and an opaque
// model like the real one.
func TestBenchOne(t *testing.T) {
	for _, c := range []struct {
		stale, opaque bool
		want          string
	}{{false, false, "consistent"}, {true, false, "violation"}, {false, true, "consistent"}, {true, true, "violation"}} {
		job := benchJob{Shape: &gen.Shape{Model: "register", Clients: 4, Ops: 200, Reads: .5, Stale: c.stale, Seed: 3}, Opaque: c.opaque}
		text, err := json.Marshal(&job)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		a := &app{ctx: context.Background(), stdout: &out, stderr: io.Discard}
		if err := a.benchOne(a.ctx, string(text)); err != nil {
			t.Fatal(err)
		}
		var m measure
		if err := json.Unmarshal([]byte(out.String()), &m); err != nil {
			t.Fatal(err)
		}
		if m.Verdict != c.want || m.Ops != 200 || m.CPU <= 0 || m.Engine == "" {
			t.Errorf("%+v: %s", c, out.String())
		}
	}
}

// rowsForTables are rows with and without a rival.
func rowsForTables() []benchRow {
	row := func(clients int, ours, theirs float64, verdict string) benchRow {
		c := shaped("s", "case \"of\" <clients>", gen.Shape{Model: "register", Clients: clients, Ops: 10 * clients})
		c.line = "a <line>"
		return benchRow{benchCase: c,
			ours:   []measure{{Verdict: "consistent", Engine: "search", CPU: ours, PeakMB: 12, BaseMB: 10}},
			theirs: []measure{{Verdict: verdict, CPU: theirs, Wall: 20, PeakMB: 310, BaseMB: 10}}}
	}
	last := row(16, .004, 0, "")
	last.theirs, last.missed = nil, true
	return []benchRow{row(4, .002, .004, "consistent"), row(8, .001, .1, "consistent"), row(12, .003, 19, "unknown"), last}
}

func TestBenchTables(t *testing.T) {
	rows := rowsForTables()
	text := benchMarkdown("s", rows)
	for _, want := range []string{"| 2.00 | 2.0 | 0 | 4.00 | 300.0 | 2.0 |", "| 1.00 | 2.0 | 0 | 100 | 300.0 | 100.0 |", "> 19000 | 300.0 | - |", " ... | - | - |",
		"4 cases, 0 undecided; the slowest takes 4.00 ms", "ended in 2 cases and exceeded its limit in 2", "(1 case): 100 times faster", "at worst 2.00 times", "at most 0.007 of its memory"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if again := benchMarkdown("s", rowsForTables()); again != text {
		t.Error("the same rows give another text")
	}
	if _, err := csv.NewReader(strings.NewReader(benchCSV(rows))).ReadAll(); err != nil {
		t.Error(err)
	}
}

// What hints gain stands by store, setting and engine, as a bound where a check
// did not end.
func TestHintsFaster(t *testing.T) {
	row := func(setting, variant, verdict string, cpu float64) benchRow {
		return benchRow{benchCase: benchCase{suite: hintsSuite, name: setting + ", " + variant, setting: setting, variant: variant},
			ours: []measure{{Verdict: verdict, CPU: cpu}}}
	}
	text := benchMarkdown(hintsSuite, []benchRow{
		row("kva, 8 clients, reads 0.50", "wing-gong, no hints", "unknown", 30), row("kva, 8 clients, reads 0.50", "wing-gong, hints", "consistent", .3),
		row("kva, 8 clients, reads 0.50", "search, no hints", "consistent", .25), row("kva, 8 clients, reads 0.50", "search, hints", "consistent", .1),
		row("kva, 8 clients, reads 0.50", "all, no hints", "unknown", 30), row("kva, 8 clients, reads 0.50", "all, hints", "unknown", 30),
		row("kvb, 8 clients, reads 0.50", "wing-gong, no hints", "consistent", .1), row("kvb, 8 clients, reads 0.50", "wing-gong, hints", "unknown", 30),
		row("kvb, 8 clients, reads 0.50", "search, no hints", "consistent", .1),
	})
	for _, want := range []string{"| store and setting | wing-gong | search | all |\n|---|---|---|---|\n",
		"| kva, 8 clients, reads 0.50 | >= 100 | 2.5 | - |\n", "| kvb, 8 clients, reads 0.50 | <= 0.00333 |  |  |\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// A plot is well-formed and has the lines of both; the same each time.
func TestPlot(t *testing.T) {
	for _, axis := range []string{"clients", "operations"} {
		text := plotOf(axis, "a title & more", rowsForTables())
		if text != plotOf(axis, "a title & more", rowsForTables()) {
			t.Error("the same rows give another plot")
		}
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
		if got := strings.Count(text, "<circle"); got != 4+2 {
			t.Errorf("%d points, want 6", got)
		}
	}
	if plotOf("clients", "", nil) != "" {
		t.Error("a plot of nothing")
	}
}
