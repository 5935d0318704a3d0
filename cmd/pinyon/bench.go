package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	seeds, rivalSeeds int
	rival             string
	rivalTimeout      time.Duration
	budget            time.Duration
	out               string
	csv, svg          bool
	quick, update     bool
	baseline          string
	only              string
	record            string        // where recordings of stores are kept
	long              bool          // record for as long as the Pine paper does
	recordFor         time.Duration // 0: as long as the suite says, and as often
	one               string        // the job of a process that measures one case
}

func (a *app) benchCommand() *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench SUITE|FILE...",
		Short: "Measure checks of generated histories, beside another checker",
		Example: `  pinyon bench matrix --seeds 5 --csv --svg --out results
  pinyon bench matrix bursts --rival ./rivals      # built in bench/rivals
  pinyon bench history.jsonl --rival ./rivals      # one recorded history
  pinyon bench hints --only kvholipaxos --budget 30s   # records the store, then checks with and without hints
  pinyon bench --quick                             # verdicts and states only`,
		Long: `Makes histories from seeds, checks each in a process of its own, and prints a table
in Markdown. The suites are ` + strings.Join(benchNames(), ", ") + `.
The suite hints records the fixture stores that return hints, five healthy nodes of
each, and checks what was recorded with and without the hints.

Times are processor seconds from operations in memory to the verdict, the median over
the seeds; memory is what the check added to the resident memory of its process. A rival
(--rival) reads the same files; a verdict that differs from its, or from what the making
of the history implies, keeps the file and exits with 1. A rival that exceeded its limit
on a case is not run on greater ones of the same kind.

--quick measures no time. It compares verdicts and counts of states with a committed
table, and exits with 1 where a verdict differs or a count grew by more than a quarter.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			switch {
			case f.one != "":
				return a.benchOne(cmd.Context(), f.one)
			case f.quick && len(names) > 0:
				return usagef("--quick has cases of its own; it takes no suite")
			case f.quick:
				return a.benchQuick(cmd.Context(), f)
			case f.update:
				return usagef("--update goes with --quick")
			case len(names) == 0:
				return usagef("pinyon bench wants a suite (%s), a history or --quick", strings.Join(benchNames(), ", "))
			case f.seeds < 1 || f.rivalSeeds < 0 || f.budget <= 0 || f.rivalTimeout <= 0:
				return usagef("--seeds, --budget and --rival-timeout must be positive")
			}
			return a.bench(cmd, f, names)
		},
		ValidArgsFunction: cobra.FixedCompletions(benchNames(), cobra.ShellCompDirectiveDefault),
	}
	f.add(cmd)
	return cmd
}

func (f *benchFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.IntVar(&f.seeds, "seeds", 5, "how many histories are made of each case, `N`")
	fs.DurationVar(&f.budget, "budget", 20*time.Second, "`TIME` that a check may take; with hints 30s where it is not said")
	fs.StringVar(&f.only, "only", "", "run the cases whose name contains this `TEXT`")
	fs.StringVar(&f.rival, "rival", "", "another checker's `PROGRAM`, called as PROGRAM FILE --model NAME --timeout TIME")
	fs.IntVar(&f.rivalSeeds, "rival-seeds", 0, "how many of the seeds the rival checks, `N`; 0: all")
	fs.DurationVar(&f.rivalTimeout, "rival-timeout", 20*time.Second, "`TIME` that the rival may take; with hints 30s where it is not said")
	fs.StringVar(&f.out, "out", ".", "`FOLDER` for tables, plots and histories that are kept")
	fs.BoolVar(&f.csv, "csv", false, "write SUITE.csv too")
	fs.BoolVar(&f.svg, "svg", false, "write plots of time against operations and against clients too")
	fs.BoolVar(&f.quick, "quick", false, "compare verdicts and counts of states with the committed table")
	fs.BoolVar(&f.update, "update", false, "with --quick: rewrite the committed table")
	fs.StringVar(&f.baseline, "baseline", filepath.Join("bench", "testdata", "quick.csv"), "with --quick: the committed table, a `FILE`")
	fs.StringVar(&f.record, "record", "recordings", "with hints: the `FOLDER` of recordings, which are made once")
	fs.BoolVar(&f.long, "long", false, "with hints: three recordings of two minutes for each setting")
	fs.DurationVar(&f.recordFor, "record-for", 0, "with hints: one recording of each setting, this long, `TIME` (default: three of 30 s of a total order and of a log, one of 15 s of the others)")
	fs.StringVar(&f.one, "one", "", "measure one case in this process")
	fs.MarkHidden("one")
}

// hintsLimit is the time for a check of a recording with hints.
const hintsLimit = 30 * time.Second

// bench runs suites and recorded histories one after the other.
func (a *app) bench(cmd *cobra.Command, f *benchFlags, names []string) error {
	var plan [][]benchCase
	if i := slices.Index(names, hintsSuite); i >= 0 {
		for name, limit := range map[string]*time.Duration{"budget": &f.budget, "rival-timeout": &f.rivalTimeout} {
			if !cmd.Flags().Changed(name) {
				*limit = hintsLimit
			}
		}
		cases, err := a.hintCases(cmd.Context(), f)
		if cmd.Context().Err() != nil {
			a.say("interrupted while recording; what was recorded stays in %s, nothing was measured", f.record)
			return &status{code: exitUnknown}
		}
		if err != nil {
			return err
		}
		plan, names = append(plan, cases), slices.Delete(names, i, i+1)
	}
	if len(names) > 0 {
		more, err := benchPlan(names, f.only)
		if err != nil {
			return err
		}
		plan = append(plan, more...)
	}
	runner, err := newRunner(a, f)
	if err != nil {
		return err
	}
	defer runner.close()
	missing := 0
	for _, cases := range plan {
		rows, err := runner.suite(cmd.Context(), cases)
		if err != nil {
			return err
		}
		missing += len(cases) - len(rows)
		if len(rows) == 0 {
			continue // an interrupt came before
		}
		if err := a.benchReport(f, cases[0].suite, rows); err != nil {
			return err
		}
	}
	return a.benchStatus(f, runner.wrong, missing)
}

// benchStatus is how a bench ends.
func (a *app) benchStatus(f *benchFlags, wrong, missing int) error {
	if missing > 0 {
		a.say("interrupted; %s not measured", were(missing, "case"))
	}
	switch {
	case wrong == 1:
		return &status{exitViolation, fmt.Errorf("1 verdict was wrong or differed; the history is kept in %s", f.out)}
	case wrong > 1:
		return &status{exitViolation, fmt.Errorf("%d verdicts were wrong or differed; the histories are kept in %s", wrong, f.out)}
	case missing > 0:
		return &status{code: exitUnknown}
	}
	return nil
}

// benchNames are the suites that are generated and the one that is recorded.
func benchNames() []string { return append(suiteNames(), hintsSuite) }

// benchPlan is the cases of each suite, and of all files together.
func benchPlan(names []string, only string) (plan [][]benchCase, err error) {
	var files []benchCase
	for _, name := range names {
		i := slices.Index(suiteNames(), name)
		if i < 0 {
			if _, err := os.Stat(name); err != nil {
				if filepath.Ext(name) != "" || name != filepath.Base(name) { // no suite is spelt so
					return nil, missingFile(err)
				}
				return nil, usagef("unknown suite %q%s", name, didYouMean(name, benchNames(), "there are "+strings.Join(benchNames(), ", ")+", and files that exist"))
			}
			files = append(files, benchCase{suite: "files", name: filepath.Base(name), job: benchJob{File: name}, rival: true})
			continue
		}
		plan = append(plan, suites[i].cases())
	}
	plan = append(plan, files)
	for i := range plan {
		plan[i] = slices.DeleteFunc(plan[i], func(c benchCase) bool { return !strings.Contains(c.name, only) })
	}
	plan = slices.DeleteFunc(plan, func(cases []benchCase) bool { return len(cases) == 0 })
	if len(plan) == 0 {
		return nil, usagef("--only %q: no case has that in its name", only)
	}
	return plan, nil
}

// benchReport prints the table of a suite and writes its files.
func (a *app) benchReport(f *benchFlags, name string, rows []benchRow) error {
	if _, err := a.stdout.Write([]byte(benchMarkdown(name, rows))); err != nil {
		return unwritten(err)
	}
	base := filepath.Join(f.out, name)
	files := map[string]string{}
	if f.csv {
		files[base+".csv"] = benchCSV(rows)
	}
	if f.svg {
		files[base+"-operations.svg"] = plotOf("operations", name, rows)
		files[base+"-clients.svg"] = plotOf("clients", name, rows)
	}
	for path, text := range files {
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return unwritten(err)
		}
	}
	return nil
}
