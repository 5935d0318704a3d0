package harness

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"pinyon/engine/spec"
	"pinyon/kvstores"
)

// Row is one line of the detection matrix: a store, correct or with one bug,
// and what the demo asserts of it.
type Row struct {
	Store, Bug string
	Options    map[string]string
	Columns    []string // the profiles that it runs under; "none" is healthy
	Rate       float64  // operations a second; 0: the campaign's
	Level      string   // "": the claim
	// Correct: never accused and never unknown, under any column.
	Correct bool
	// Clean are columns under which a store that is wrong is never accused.
	Clean []string
	// Always are columns under which every run must be accused.
	Always []string
	// Majority: nodes that reach a majority go on answering during a cut.
	Majority bool
	// A row that is not correct must be accused in at least one run.
}

func (r Row) name() string {
	s := r.Store
	for _, k := range slices.Sorted(maps.Keys(r.Options)) {
		s += " " + k + "=" + r.Options[k]
	}
	if r.Bug != "" {
		s += " +" + r.Bug
	}
	return s
}

// variants are the settings under which a store appears more than once.
var variants = map[string][]map[string]string{"kvfollower": {{"k": "3"}, {"t": "300ms"}}}

// surest are the mistakes that show in nearly every run: those of the quick
// matrix.
var surest = map[string]bool{"skip-uncommitted-dependency": true, "blind-write-no-conflict": true, "no-tie-break": true,
	"read-backwards-after-reconnect": true, "unbounded-lag": true, "ack-before-commit": true, "no-read-index": true, "lose-unsynced-log": true}

// dense are the mistakes that need operations close to each other, and at which
// rate they show.
var dense = map[string]float64{"lose-causality": 3000, "no-write-back": 3000}

// Rows are those of the detection matrix: every store and every bug.
func Rows(quick bool) []Row {
	columns, shown := []string{"none", "halves", "isolate-leader", "kill", "kill-all", "chaos"}, 3
	if quick {
		columns, shown = []string{"halves"}, 1
	}
	var rows []Row
	for _, s := range kvstores.Stores() {
		for _, options := range variantsOf(s.Name) {
			rows = append(rows, correctRow(s, options, columns))
			for _, b := range s.Bugs {
				if quick && !surest[b.Name] {
					continue
				}
				rows = append(rows, Row{Store: s.Name, Bug: b.Name, Options: options, Rate: dense[b.Name], Columns: b.Faults[:min(len(b.Faults), shown)]})
			}
		}
	}
	return rows
}

// variantsOf are the settings that a store appears under; at least none.
func variantsOf(store string) []map[string]string {
	if list, ok := variants[store]; ok {
		return list
	}
	return []map[string]string{nil}
}

// correctRow is the row of a store without a bug.
func correctRow(s kvstores.Store, options map[string]string, columns []string) Row {
	r := Row{Store: s.Name, Options: options, Correct: s.Wrong == "", Columns: columns, Majority: s.Majority}
	if s.Apart { // to cut a link that nobody uses is no fault
		r.Columns = []string{"none", "pause", "kill", "kill-all"}
	}
	if i := slices.Index(r.Columns, "isolate-leader"); i >= 0 && s.Leaderless {
		r.Columns = slices.Clone(r.Columns)
		r.Columns[i] = "isolate-one"
	}
	if r.Correct {
		return r
	}
	r.Columns = s.Faults[:min(len(s.Faults), 2)]
	if !slices.Contains(r.Columns, "none") {
		r.Columns = append([]string{"none"}, r.Columns...)
		r.Clean, r.Always = []string{"none"}, s.Faults[:1]
	}
	return r
}

// Cell is what came of one row under one profile.
type Cell struct {
	Runs, Caught, Unknown, Vacuous, Errors int
	Why                                    string // of the first that is unknown, vacuous or an error
	Mute                                   int    // runs with cuts in which nobody on the majority side got an answer
}

func (c Cell) String() string {
	s := fmt.Sprintf("%d/%d", c.Caught, c.Runs)
	for _, n := range []struct {
		n    int
		mark string
	}{{c.Unknown, "?"}, {c.Vacuous, "-"}, {c.Errors, "!"}} {
		s += strings.Repeat(n.mark, min(n.n, 1))
	}
	return s
}

// Matrix is the detection matrix.
type Matrix struct {
	Rows  []Row
	Cells []map[string]*Cell // by row, by profile
	// Against and Strongest are, by row, the level that was checked and, of
	// violations, the strongest levels that still held.
	Against   []string
	Strongest [][]string
}

// Demo runs every row under each of its columns with as many seeds, and a bug
// that got away with more, up to four times as many: whether a mistake shows in
// a run is a matter of chance, whether a correct store is accused is not.
func Demo(ctx context.Context, c *Campaign, rows []Row, seeds int) (*Matrix, error) {
	m := &Matrix{Rows: rows, Cells: make([]map[string]*Cell, len(rows)), Against: make([]string, len(rows)), Strongest: make([][]string, len(rows))}
	for i := range rows {
		m.Cells[i] = map[string]*Cell{}
	}
	for round := range 4 {
		var cases []Case
		var of []int
		for i, r := range rows {
			if round > 0 && (r.Correct || m.caught(i)) {
				continue
			}
			for _, p := range r.Columns {
				for s := range seeds {
					cases = append(cases, Case{Store: r.Store, Bug: r.Bug, Options: r.Options, Faults: p, Level: r.Level, Rate: r.Rate, Seed: uint64(round*seeds + s + 1)})
					of = append(of, i)
				}
			}
		}
		results, err := c.Run(ctx, cases)
		if err != nil {
			return m, err
		}
		if len(results) < len(cases) {
			return m, context.Cause(ctx)
		}
		for k, r := range results {
			m.add(of[k], r)
		}
	}
	return m, nil
}

func (m *Matrix) caught(row int) bool {
	for _, c := range m.Cells[row] {
		if c.Caught > 0 {
			return true
		}
	}
	return false
}

func (m *Matrix) add(row int, r CaseResult) {
	c := m.Cells[row][r.Faults]
	if c == nil {
		c = &Cell{}
		m.Cells[row][r.Faults] = c
	}
	c.Runs++
	if r.Cuts > 0 && r.Served == 0 {
		c.Mute++
	}
	switch r.Verdict {
	case spec.Consistent.String():
	case spec.Violation.String():
		c.Caught++
	case spec.Unknown.String():
		c.Unknown++
	case spec.Vacuous.String():
		c.Vacuous++
	default:
		c.Errors++
	}
	if r.Verdict != spec.Violation.String() && r.Why != "" && c.Why == "" {
		c.Why = r.Why
	}
	if r.Against != "" {
		m.Against[row] = r.Against
	}
	if m.Strongest[row] == nil && len(r.Strongest) > 0 {
		m.Strongest[row] = r.Strongest
	}
}

// Broken lists what the matrix asserts and does not show. Vacuous: faults were
// asked for, and in no run of a column was one seen to work.
func (m *Matrix) Broken() (broken []string, vacuous bool) {
	say := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	for i, r := range m.Rows {
		for _, p := range r.Columns {
			c := m.Cells[i][p]
			if c == nil {
				say("%s under %s did not run", r.name(), p)
				continue
			}
			switch {
			case c.Errors > 0:
				say("%s under %s: %d of %d runs failed: %s", r.name(), p, c.Errors, c.Runs, c.Why)
			case c.Unknown > 0:
				say("%s under %s: %d of %d runs undecided: %s", r.name(), p, c.Unknown, c.Runs, c.Why)
			case c.Caught > 0 && (r.Correct || slices.Contains(r.Clean, p)):
				say("%s under %s: accused in %d of %d runs, and it is correct there", r.name(), p, c.Caught, c.Runs)
			case c.Caught < c.Runs && slices.Contains(r.Always, p):
				say("%s under %s: accused in %d of %d runs only, expected all", r.name(), p, c.Caught, c.Runs)
			}
			if r.Majority && c.Mute > 0 {
				say("%s under %s: the majority side of the cuts got no answer in %d of %d runs", r.name(), p, c.Mute, c.Runs)
			}
			if c.Vacuous == c.Runs {
				vacuous = true
				say("%s under %s is vacuous: %s", r.name(), p, c.Why)
			}
		}
		if !r.Correct && !m.caught(i) {
			say("%s was never accused", r.name())
		}
	}
	return broken, vacuous
}

// Print writes the matrix: rows by store and bug, columns by profile.
func (m *Matrix) Print(out io.Writer) error {
	var columns []string
	for _, r := range m.Rows {
		for _, p := range r.Columns {
			if !slices.Contains(columns, p) {
				columns = append(columns, p)
			}
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "store\t%s\tchecked\tstill holds\n", strings.ReplaceAll(strings.Join(columns, "\t"), "none", "healthy"))
	for i, r := range m.Rows {
		fmt.Fprintf(w, "%s", r.name())
		for _, p := range columns {
			fmt.Fprint(w, "\t")
			if c := m.Cells[i][p]; c != nil {
				fmt.Fprint(w, c)
			}
		}
		fmt.Fprintf(w, "\t%s\t%s\n", m.Against[i], strings.Join(m.Strongest[i], " "))
	}
	return w.Flush()
}
