package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pinyon/consistency"
	"pinyon/harness"
	"pinyon/kvstores"
)

// sweepFlags are those of `pinyon sweep`.
type sweepFlags struct {
	stores, faults, options []string
	bug, seeds, shard, out  string
	clients, keys, parallel int
	rate                    float64
	duration, budget        time.Duration
	level, mix              string
}

func (a *app) sweepCommand() *cobra.Command {
	f := &sweepFlags{}
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Run many seeds, stores and fault profiles; keep every run that did not pass",
		Example: `  pinyon sweep --store kvraft --faults halves,kill,chaos --seeds 1-30
  pinyon sweep --store kvraft --bug no-read-index --faults isolate-leader --seeds 1-10
  pinyon sweep --store all --faults chaos --seeds 1-100 --shard 2/4 --out sweeps/2   # then: pinyon merge sweeps/*`,
		Long: `Runs every store under every profile with every seed, several at once. Results
stand in OUT/results.jsonl, a line as each run ends; with the same OUT an
interrupted sweep goes on where it stopped, which needs the same --duration,
--rate and --mix (OUT/settings.json). Runs that did not pass keep their
folder in OUT, for pinyon check and pinyon run --schedule.`,
		Args: args(cobra.NoArgs, "no words"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.sweep(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringSliceVar(&f.stores, "store", nil, "the stores, `NAME,...` of pinyon stores, or all that are correct")
	fs.StringVar(&f.bug, "bug", "", "a `MISTAKE` that every one of them shall make")
	fs.StringArrayVar(&f.options, "option", nil, "a setting of the stores, `NAME=VALUE`; repeatable")
	fs.StringSliceVar(&f.faults, "faults", []string{"none"}, "the `PROFILES` of faults, or all")
	fs.StringVar(&f.seeds, "seeds", "1-10", "the seeds, `FROM-TO`")
	fs.IntVar(&f.clients, "clients", 0, "how many clients, `N` (default: twice the nodes)")
	fs.IntVar(&f.keys, "keys", 0, "how many keys, `N` (default: 4, but as the store says)")
	fs.Float64Var(&f.rate, "rate", 500, "operations a second of all clients of a run, `N`; 0: as fast as they can")
	fs.StringVar(&f.mix, "mix", "", "how often each operation is asked for, such as `get=50,put=50`")
	fs.DurationVar(&f.duration, "duration", 4*time.Second, "of each run, `TIME`")
	fs.StringVar(&f.level, "level", "", "hold them to this `LEVEL` without oracles (default: what each claims)")
	fs.DurationVar(&f.budget, "budget", time.Minute, "`TIME` that each check may take")
	fs.IntVar(&f.parallel, "parallel", runtime.GOMAXPROCS(0), "how many runs at once, `N`")
	fs.StringVar(&f.shard, "shard", "", "only each n-th run, from the i-th: `I/N`")
	fs.StringVar(&f.out, "out", "sweep", "the `FOLDER` of results")
	return cmd
}

func (a *app) sweep(ctx context.Context, f *sweepFlags) error {
	each := runFlags{nodes: 3, clients: f.clients, keys: f.keys, rate: f.rate, duration: f.duration, timeout: time.Second, budget: f.budget}
	if err := each.numbers(); err != nil {
		return err
	}
	cases, err := f.cases()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var mix harness.Mix
	if f.mix != "" {
		if mix, err = harness.ParseMix(f.mix); err != nil {
			return usagef("--mix: %v", err)
		}
	}
	done := 0
	c := &harness.Campaign{Dir: f.out, Program: program, Parallel: f.parallel, Duration: f.duration, Budget: f.budget, Rate: f.rate, Mix: mix,
		Done: func(r harness.CaseResult) {
			done++
			a.say("%d/%d %s: %s", done, len(cases), r.Name(), strings.TrimSpace(r.Verdict+" "+r.Why))
		}}
	if cases, err = a.worthwhile(c, cases); err != nil {
		return err
	}
	if done, err = a.settle(f, mix, cases); err != nil {
		return err
	}
	list, err := c.Run(ctx, cases)
	return errors.Join(err, a.results(list, len(cases)))
}

// worthwhile leaves out the runs whose faults cannot hit their store, and says
// so: a sweep crosses all stores with all profiles.
func (a *app) worthwhile(c *harness.Campaign, cases []harness.Case) (list []harness.Case, err error) {
	var why []string
	count := map[string]int{}
	for _, k := range cases {
		vain := c.Vain(k)
		if !errors.Is(vain, harness.ErrVain) {
			list = append(list, k)
			continue
		}
		of := fmt.Sprintf("%s under %s: %v", k.Store, k.Faults, vain)
		if count[of]++; count[of] == 1 {
			why = append(why, of)
		}
	}
	if len(list) == 0 && len(why) > 0 {
		return nil, usagef("%s", strings.Join(why, "\n"))
	}
	for _, of := range why {
		a.say("left out: %s of %s", many(count[of], "run"), of)
	}
	return list, nil
}

// results prints what did not pass and the count, and gives the exit status.
func (a *app) results(list []harness.CaseResult, of int) error {
	code := exitConsistent
	for _, r := range list {
		if r.Passed() {
			continue
		}
		a.print("%-10s %s", r.Verdict, r.Name())
		if r.Why != "" {
			a.print("  %s", r.Why)
		}
		if r.Bundle != "" {
			a.print("  %s", r.Bundle)
		}
		a.print("\n")
	}
	t := harness.TallyOf(list)
	switch {
	case t.Violations > 0:
		code = exitViolation
	case t.Errors > 0:
		code = exitFailure
	case t.Unknown > 0 || len(list) < of:
		code = exitUnknown
	case t.Vacuous > 0 || t.Runs == 0:
		code = exitVacuous
	}
	if len(list) < of {
		a.print("%d of %s not made\n", of-len(list), were(of, "run"))
	}
	a.print("%s\n", t)
	if code != exitConsistent {
		return &status{code: code}
	}
	return nil
}

// cases are the runs of a sweep, or of its part.
func (f *sweepFlags) cases() ([]harness.Case, error) {
	if len(f.stores) == 0 {
		return nil, usagef("name the stores: --store NAME,... (pinyon stores lists them), or --store all")
	}
	if slices.Equal(f.stores, []string{"all"}) {
		f.stores = nil
		for _, s := range kvstores.Stores() {
			if s.Wrong == "" {
				f.stores = append(f.stores, s.Name)
			}
		}
	}
	if slices.Equal(f.faults, []string{"all"}) {
		f.faults = profileNames()
	}
	options, err := f.check()
	if err != nil {
		return nil, err
	}
	var from, to uint64
	first, last, ok := strings.Cut(f.seeds, "-")
	if !ok {
		last = first
	}
	from, errFrom := strconv.ParseUint(first, 10, 63)
	to, errTo := strconv.ParseUint(last, 10, 63)
	if errors.Join(errFrom, errTo) != nil || to < from || to-from > 1e6 {
		return nil, usagef("--seeds %q: expected FROM-TO, such as 1-10", f.seeds)
	}
	var cases []harness.Case
	for _, s := range f.stores {
		for _, p := range f.faults {
			for seed := from; seed <= to; seed++ {
				cases = append(cases, harness.Case{Store: s, Bug: f.bug, Options: options, Faults: p, Seed: seed, Clients: f.clients, Keys: f.keys, Level: f.level})
			}
		}
	}
	return f.part(cases)
}

// check refuses names that nobody has before anything starts, and gives the
// options.
func (f *sweepFlags) check() (map[string]string, error) {
	var stores []kvstores.Store
	for _, name := range f.stores {
		s, err := findStore(name)
		if err != nil {
			return nil, usagef("--store: %v", err)
		}
		if f.bug != "" && !slices.Contains(bugNames(s), f.bug) {
			return nil, usagef("--bug: %s has no bug %q%s", name, f.bug, didYouMean(f.bug, bugNames(s), "pinyon stores "+name+" lists them"))
		}
		stores = append(stores, s)
	}
	for _, p := range f.faults {
		if err := checkProfile(p); err != nil {
			return nil, err
		}
	}
	if f.level != "" {
		if _, err := consistency.LookupLevel(f.level); err != nil {
			return nil, usagef("--level: %v", err)
		}
	}
	return storeOptions(f.options, stores...)
}

// part is the shard that was asked for.
func (f *sweepFlags) part(cases []harness.Case) ([]harness.Case, error) {
	if f.shard == "" {
		return cases, nil
	}
	var i, n int
	if _, err := fmt.Sscanf(f.shard, "%d/%d", &i, &n); err != nil || i < 1 || n < i {
		return nil, usagef("--shard %q: expected I/N, such as 1/4", f.shard)
	}
	var mine []harness.Case
	for k, c := range cases {
		if k%n == i-1 {
			mine = append(mine, c)
		}
	}
	return mine, nil
}

func (a *app) mergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "merge SWEEP...",
		Short:   "Put the results of several sweeps, or of the parts of one, together",
		Example: `  pinyon merge sweeps/1 sweeps/2`,
		Args:    args(cobra.MinimumNArgs(1), "the folders of sweeps"),
		RunE: func(_ *cobra.Command, dirs []string) error {
			var list []harness.CaseResult
			seen := map[string]string{}
			for _, dir := range dirs {
				part, err := harness.ReadResults(filepath.Join(dir, "results.jsonl"))
				if err != nil {
					return missingFile(err)
				}
				for _, r := range part {
					if other, twice := seen[r.Name()]; twice {
						return malformedf("%s: the run %s stands in %s too; each counts once", dir, r.Name(), other)
					}
					seen[r.Name()] = dir
					list = append(list, r)
				}
			}
			return a.results(list, len(list))
		},
	}
}
