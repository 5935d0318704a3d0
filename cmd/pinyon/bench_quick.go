package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"pinyon/bench/gen"
)

// Budgets of the quick cases. The one of states makes a case that no longer
// ends the same everywhere; the one of time is for machines that stand still.
const (
	quickStates = 500_000
	quickTime   = 60 * time.Second
)

// quickRow is a line of the committed table.
type quickRow struct {
	name, verdict, engine string
	states                int64
}

// quickCases are small cases of every suite, and of what makes histories hard.
func quickCases() (cases []benchCase) {
	for _, values := range matrixValues {
		for _, stale := range []bool{false, true} {
			for _, reads := range []float64{.01, .5, .99} {
				for _, clients := range []int{4, 16, 32} {
					cases = append(cases, shaped("quick", fmt.Sprintf("register, %s, %s, reads %.2f, clients %d", valuesText(values), staleText(stale), reads, clients),
						gen.Shape{Model: "register", Clients: clients, Ops: 2000, Reads: reads, Values: values, Stale: stale}))
				}
			}
		}
	}
	cases = append(cases, burstCases()...)
	hard := gen.Shape{Model: "cas-register", Clients: 8, Ops: 2000, Reads: .5, Values: 5, Cas: .3, FailedCas: .5, Ties: true, Crash: .01, Law: "heavy"}
	for _, model := range []string{"register", "cas-register", "queue", "stack", "priority-queue", "set", "counter", "mutex", "log"} {
		for _, stale := range []bool{false, true} {
			s := hard
			s.Model, s.Stale, s.Full = model, stale, .05
			if model != "register" && model != "cas-register" {
				s.Values, s.Reads = 0, .1
			}
			cases = append(cases, shaped("quick", model+", hard, "+staleText(stale), s))
		}
	}
	for _, level := range []string{"linearizable", "sequential", "ordered-sequential", "regular-sequential"} {
		c := shaped("quick", "kv, 10 keys, "+level, gen.Shape{Model: "kv", Clients: 8, Ops: 1000, Reads: .5, Keys: 10})
		c.job.Level = level
		cases = append(cases, c)
	}
	for _, stale := range []bool{false, true} {
		c := shaped("quick", "opaque, "+staleText(stale), gen.Shape{Model: "register", Clients: 6, Ops: 1000, Reads: .5, Stale: stale})
		c.job.Opaque, c.job.Engine = true, "search"
		cases = append(cases, c)
	}
	return cases
}

// benchQuick compares the quick cases with the committed table.
func (a *app) benchQuick(ctx context.Context, f *benchFlags) error {
	old, err := readQuick(f.baseline)
	if err != nil && !f.update {
		return err
	}
	rows, err := runQuick(ctx, quickCases())
	if err != nil {
		return err
	}
	if f.update {
		if err := os.WriteFile(f.baseline, []byte(quickCSV(rows)), 0o666); err != nil {
			return unwritten(err)
		}
		a.say("%s written to %s", many(len(rows), "case"), f.baseline)
		return nil
	}
	worse, notes := compareQuick(old, rows)
	for _, line := range append(worse, notes...) {
		a.print("%s\n", line)
	}
	a.print("%s, %d worse than in %s\n", many(len(rows), "case"), len(worse), f.baseline)
	if len(worse) > 0 {
		return &status{code: exitViolation}
	}
	return nil
}

// runQuick runs cases in processes of their own, one for each processor at a
// time.
func runQuick(ctx context.Context, cases []benchCase) ([]quickRow, error) {
	self, err := ownProgram()
	if err != nil {
		return nil, err
	}
	rows, errs := make([]quickRow, len(cases)), make([]error, len(cases))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for i := range next {
				job := cases[i].job
				job.Budget, job.MaxStates = quickTime, quickStates
				m, err := runOne(ctx, self, &job)
				if err != nil {
					errs[i] = fmt.Errorf("%s: %w", cases[i].name, err)
					continue
				}
				rows[i] = quickRow{cases[i].name, m.Verdict, m.Engine, m.States}
				if want := impliedVerdict(&job); m.Verdict != "unknown" && m.Verdict != want && want != "" {
					errs[i] = fmt.Errorf("%s: %s, but its making implies %s", cases[i].name, m.Verdict, want)
				}
			}
		})
	}
	for i := range cases {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// compareQuick lists what is worse than it was, and what is merely different.
func compareQuick(old, rows []quickRow) (worse, notes []string) {
	was := map[string]quickRow{}
	for _, r := range old {
		was[r.name] = r
	}
	for _, r := range rows {
		o, ok := was[r.name]
		delete(was, r.name)
		switch {
		case !ok:
			worse = append(worse, r.name+": not in the table; --update writes it")
		case o.verdict != r.verdict:
			worse = append(worse, fmt.Sprintf("%s: the verdict was %s and is %s", r.name, o.verdict, r.verdict))
		case 4*r.states > 5*o.states:
			worse = append(worse, fmt.Sprintf("%s: it took %d states by %s and takes %d by %s", r.name, o.states, o.engine, r.states, r.engine))
		case o.engine != r.engine:
			notes = append(notes, fmt.Sprintf("%s: decided by %s, no longer by %s", r.name, r.engine, o.engine))
		}
	}
	for _, r := range old {
		if _, left := was[r.name]; left {
			worse = append(worse, r.name+": in the table, and no longer a case; --update takes it out")
		}
	}
	return worse, notes
}

func quickCSV(rows []quickRow) string {
	var b strings.Builder
	b.WriteString("case,verdict,engine,states\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%s,%s,%s,%d\n", csvText(r.name), r.verdict, csvText(r.engine), r.states)
	}
	return b.String()
}

func readQuick(path string) (rows []quickRow, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &status{exitNoInput, fmt.Errorf("%w: run it in the root of the source, or name the table with --baseline", err)}
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, malformedf("%s: %v", path, err)
	}
	for i, r := range records {
		if i == 0 {
			continue
		}
		if len(r) != 4 {
			return nil, malformedf("%s:%d: expected 4 columns, got %d", path, i+1, len(r))
		}
		states, err := strconv.ParseInt(r[3], 10, 64)
		if err != nil {
			return nil, malformedf("%s:%d: states: %v", path, i+1, err)
		}
		rows = append(rows, quickRow{r[0], r[1], r[2], states})
	}
	return rows, nil
}
