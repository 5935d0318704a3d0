package main

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pinyon/harness"
)

// demoFlags are those of `pinyon demo`.
type demoFlags struct {
	quick    bool
	only     []string
	seeds    int
	parallel int
	duration time.Duration
	rate     float64
	out      string
	power    bool
}

func (a *app) demoCommand() *cobra.Command {
	f := &demoFlags{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show which store is caught with which mistake, under which faults",
		Example: `  pinyon demo
  pinyon demo --quick
  pinyon demo --store kvraft,kvabd --seeds 5`,
		Long: `Runs every fixture store, correct and with each of its mistakes, healthy and under
the faults that matter, and prints in how many of the runs it was caught. The
table asserts what it shows: a correct store is never accused and never
undecided, and every mistake is caught under at least one profile. "?" marks a
cell with a run that was undecided, "-" one in which no fault was seen to work, "!"
one with a run that failed.`,
		Args: args(cobra.NoArgs, "no words"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&f.quick, "quick", false, "one run a cell, and fewer cells")
	fs.StringSliceVar(&f.only, "store", nil, "these stores only, `NAME,...`")
	fs.IntVar(&f.seeds, "seeds", 1, "runs a cell, `N`; a mistake that gets away gets up to three times as many more")
	fs.BoolVar(&f.power, "power", true, "also how long it takes until a mistake shows, by clients and rate")
	fs.DurationVar(&f.duration, "duration", 4*time.Second, "of each run, `TIME`")
	fs.Float64Var(&f.rate, "rate", 400, "operations a second of all clients of a run, `N`")
	fs.IntVar(&f.parallel, "parallel", 3*runtime.GOMAXPROCS(0), "how many runs at once, `N`")
	fs.StringVar(&f.out, "out", "", "keep results and runs that did not pass in this `FOLDER`")
	return cmd
}

func (a *app) demo(ctx context.Context, f *demoFlags) error {
	var rows []harness.Row
	for _, r := range harness.Rows(f.quick) {
		if len(f.only) == 0 || slices.Contains(f.only, r.Store) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return usagef("--store %s: no such store; pinyon stores lists them", strings.Join(f.only, ","))
	}
	if f.quick {
		f.seeds = 1
	}
	c, err := f.campaign(a)
	if err != nil {
		return err
	}
	m, err := harness.Demo(ctx, c, rows, f.seeds)
	if err := m.Print(a.stdout); err != nil {
		return unwritten(err)
	}
	if err != nil {
		return err
	}
	if f.power && !f.quick {
		if err := a.power(ctx, c, rows); err != nil {
			return err
		}
	}
	return a.asserted(m)
}

// asserted says whether the matrix shows what it must.
func (a *app) asserted(m *harness.Matrix) error {
	broken, vacuous := m.Broken()
	for _, b := range broken {
		a.print("%s\n", b)
	}
	switch {
	case vacuous:
		a.print("vacuous: faults were asked for, and none was seen to work\n")
		return &status{code: exitVacuous}
	case len(broken) > 0:
		a.print("the matrix does not hold: %s\n", many(len(broken), "finding"))
		return &status{code: exitViolation}
	}
	a.print("the matrix holds: no correct store is accused or undecided, every mistake is caught\n")
	return nil
}

func (f *demoFlags) campaign(a *app) (*harness.Campaign, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return nil, err
		}
	}
	done := 0
	return &harness.Campaign{Dir: f.out, Program: program, Parallel: f.parallel, Duration: f.duration, Budget: 20 * time.Second,
		Rate: f.rate, Timeout: 500 * time.Millisecond, Strongest: true,
		Done: func(r harness.CaseResult) {
			done++
			a.say("run %d: %s: %s", done, r.Name(), strings.TrimSpace(r.Verdict+" "+r.Why))
		}}, nil
}

// power prints how soon each mistake shows.
func (a *app) power(ctx context.Context, c *harness.Campaign, rows []harness.Row) error {
	list, err := harness.Power(ctx, c, rows, 1)
	if err != nil {
		return err
	}
	a.print("\n")
	return unwritten(harness.PrintPower(a.stdout, list))
}
