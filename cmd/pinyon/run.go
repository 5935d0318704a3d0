package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"pinyon/consistency"
	"pinyon/consistency/report"
	"pinyon/engine/spec"
	"pinyon/faultnet"
	"pinyon/harness"
	"pinyon/kvstores"
)

// runFlags are those of `pinyon run`.
type runFlags struct {
	store, bug, target                string
	options                           []string
	nodes, clients, keys, values      int
	ops                               int
	duration, think, timeout          time.Duration
	rate                              float64
	mix, faults, schedule, level, out string
	oracles                           []string
	seed                              uint64
	online                            bool
	budget                            time.Duration
	expect                            *choice
	set                               []string // as they were given, for run.yaml
}

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run [RUN]",
		Short: "Start a store, break its network, record, and hold it to what it claims",
		Example: `  pinyon run --store kvraft --faults isolate-leader
  pinyon run --store kvsplit --faults halves --seed 7 --expect violation
  pinyon run --store kvfollower --option t=200ms --duration 20s
  pinyon run --target "my-adapter --port 0" --faults chaos     # any store, through a program
  pinyon run runs/latest                                       # once more, as run.yaml says`,
		Long: `Starts the nodes of a store as processes, with a proxy on every link between two
nodes and between a client and a node, puts load and a schedule of faults on it,
records what clients saw, and checks the history against the level that the store
claims. Everything is kept in a folder of its own under --out. A run that asked
for faults, none of which was seen to work, has tested nothing and is vacuous.
RUN is the folder of an earlier run, whose flags it repeats.`,
		Args: args(cobra.MaximumNArgs(1), "at most one earlier run"),
		RunE: func(cmd *cobra.Command, runs []string) error {
			if len(runs) == 1 {
				if err := again(cmd, runs[0]); err != nil {
					return err
				}
			}
			f.set = recorded(cmd)
			return a.run(cmd.Context(), f)
		},
	}
	f.add(cmd)
	a.completeFlags(cmd)
	return cmd
}

func (f *runFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.store, "store", "", "the fixture store: a `NAME` of pinyon stores")
	fs.StringVar(&f.bug, "bug", "", "a `MISTAKE` that the store shall make (pinyon stores NAME lists them)")
	fs.StringArrayVar(&f.options, "option", nil, "a setting of the store, `NAME=VALUE`; repeatable")
	fs.StringVar(&f.target, "target", "", "a `PROGRAM` with its arguments that adapts any other store (docs/LABORATORY.md, section 5)")
	fs.IntVar(&f.nodes, "nodes", 3, "how many nodes, `N`")
	fs.IntVar(&f.clients, "clients", 0, "how many clients, `N`; at least one for each node (default: twice the nodes)")
	fs.IntVar(&f.keys, "keys", 0, "how many keys, `N` (default: 4, but as the store says)")
	fs.IntVar(&f.values, "values", 0, "how many values are written, `N`; 0: every one is new")
	fs.DurationVar(&f.duration, "duration", 8*time.Second, "how long clients work, `TIME`")
	fs.IntVar(&f.ops, "ops", 0, "end after so many operations, `N`; 0: no limit")
	fs.Float64Var(&f.rate, "rate", 0, "operations a second of all clients together, `N`; 0: as fast as they can")
	fs.DurationVar(&f.think, "think", 0, "how long a client waits between two operations, `TIME`")
	fs.DurationVar(&f.timeout, "timeout", time.Second, "how long an operation may take before its outcome is unknown, `TIME`")
	fs.StringVar(&f.mix, "mix", "", "how often each operation is asked for, such as `get=50,put=50`")
	fs.StringVar(&f.faults, "faults", "none", "the `PROFILE` of faults (pinyon schedule lists them)")
	fs.StringVar(&f.schedule, "schedule", "", "replay the schedule in this `FILE`, or of an earlier run")
	fs.Uint64Var(&f.seed, "seed", 1, "the seed `N` of load and faults")
	fs.StringVar(&f.level, "level", "", "hold it to this `LEVEL` (default: what the store claims)")
	fs.StringArrayVar(&f.oracles, "oracle", nil, "with this oracle, a `NAME` of pinyon oracles, or none; repeatable (default: what the store claims)")
	fs.BoolVar(&f.online, "online", false, "check while it runs; stop at the first impossible answer, the nodes frozen")
	fs.DurationVar(&f.budget, "budget", time.Minute, "`TIME` that the check may take")
	fs.StringVar(&f.out, "out", "runs", "the `FOLDER` that gets a folder for the run")
	f.expect = word(fs, "expect", "", "exit with 0 exactly when this is the verdict", "consistent", "violation", "unknown", "vacuous")
}

// recorded are the flags that were given, for run.yaml.
func recorded(cmd *cobra.Command) (list []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"out", "expect"}, f.Name) {
			return
		}
		if values, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range values.GetSlice() {
				list = append(list, f.Name, v)
			}
			return
		}
		list = append(list, f.Name, f.Value.String())
	})
	return list
}

// config makes the harness' configuration.
func (f *runFlags) config(ctx context.Context) (c harness.Config, err error) {
	c = harness.Config{Nodes: f.nodes, Clients: f.clients, Keys: f.keys, Values: f.values, Duration: f.duration, Ops: f.ops, Rate: f.rate,
		Think: f.think, Timeout: f.timeout, Seed: f.seed, Faults: f.faults, Level: f.level, Oracles: f.oracles, Online: f.online}
	if f.mix != "" {
		if c.Mix, err = harness.ParseMix(f.mix); err != nil {
			return c, usagef("--mix: %v", err)
		}
	}
	if f.level != "" {
		if _, err := findLevel(f.level); err != nil {
			return c, err
		}
	}
	for _, o := range f.oracles {
		if _, err := findOracle(o); o != "none" && err != nil {
			return c, err
		}
	}
	if f.schedule != "" {
		if c.Schedule, err = loadSchedule(f.schedule); err != nil {
			return c, err
		}
	}
	if err := f.numbers(); err != nil {
		return c, err
	}
	if err := checkProfile(f.faults); err != nil {
		return c, err
	}
	c.Target, err = f.newTarget(ctx)
	return c, err
}

// newTarget is the store, built in or from outside.
func (f *runFlags) newTarget(ctx context.Context) (harness.Target, error) {
	switch {
	case (f.store == "") == (f.target == ""):
		return nil, usagef("name one store: --store NAME (pinyon stores lists them) or --target PROGRAM")
	case f.target != "":
		if f.bug != "" || f.options != nil {
			return nil, usagef("--bug and --option are for --store; give them to the program itself")
		}
		t, err := harness.Program(ctx, strings.Fields(f.target))
		if err != nil {
			return nil, &status{exitFailure, fmt.Errorf("--target: %w", err)}
		}
		return t, nil
	}
	s, err := findStore(f.store)
	if err != nil {
		return nil, usagef("--store: %v", err)
	}
	if f.bug != "" && !slices.ContainsFunc(s.Bugs, func(b kvstores.Bug) bool { return b.Name == f.bug }) {
		return nil, usagef("--bug: %s has no bug %q%s", s.Name, f.bug, didYouMean(f.bug, bugNames(s), "pinyon stores "+s.Name+" lists them"))
	}
	if f.nodes < s.Nodes {
		return nil, usagef("--nodes %d: %s needs at least %d", f.nodes, s.Name, s.Nodes)
	}
	options, err := storeOptions(f.options, s)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return harness.Fixture(s, f.bug, options, program), nil
}

func bugNames(s kvstores.Store) (names []string) {
	for _, b := range s.Bugs {
		names = append(names, b.Name)
	}
	return names
}

func loadSchedule(path string) (*faultnet.Schedule, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "schedule.jsonl")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, missingFile(err)
	}
	defer file.Close()
	s, err := faultnet.Decode(file, path)
	if err != nil {
		return nil, &status{exitMalformed, err}
	}
	return &s, nil
}

// run records one run and checks it.
func (a *app) run(ctx context.Context, f *runFlags) (err error) {
	c, err := f.config(ctx)
	if err != nil {
		return err
	}
	if t, ok := c.Target.(harness.Closer); ok {
		defer func() { err = errors.Join(err, t.Close()) }()
	}
	if err := f.fits(&c); err != nil {
		return err
	}
	if c.Dir, err = newRunDir(f.out, f.seed); err != nil {
		return err
	}
	c.Say = a.say
	c.Hold = func(s *harness.Stop) { a.inspect(ctx, s) }
	a.say("%s in %s", c.Target.Claim().Name, c.Dir)
	if err := writeRunYAML(filepath.Join(c.Dir, "run.yaml"), f.set); err != nil {
		return err
	}
	sum, err := harness.Record(ctx, c)
	if sum == nil && ctx.Err() != nil {
		a.say("interrupted before anything was recorded: %v", err)
		return &status{code: exitUnknown}
	}
	if sum == nil {
		return err
	}
	if err != nil {
		a.say("%v", err) // what was recorded is checked all the same
	}
	code, bad := a.judge(f, &c, sum)
	if err = errors.Join(err, bad); err != nil {
		return &status{exitFailure, err}
	}
	if code != exitConsistent {
		return &status{code: code}
	}
	return nil
}

// inspect says where a run with --online stopped and, at a terminal, keeps the
// frozen nodes until an interrupt.
func (a *app) inspect(ctx context.Context, s *harness.Stop) {
	var nodes []string
	for id, pid := range s.Process {
		nodes = append(nodes, fmt.Sprintf("%s is process %d", id, pid))
	}
	slices.Sort(nodes)
	a.say("stopped at %s; the nodes are frozen: %s", s.Where, strings.Join(nodes, ", "))
	if in, ok := a.stdin.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		a.say("look at them as long as you like; an interrupt ends them")
		<-ctx.Done()
	}
}

// judge checks what was recorded, prints it, and returns the exit status.
func (a *app) judge(f *runFlags, c *harness.Config, sum *harness.Summary) (int, error) {
	check := &checkFlags{budget: f.budget}
	cmd := &cobra.Command{}
	check.add(cmd)
	if f.budget != consistency.DefaultTimeout {
		if err := cmd.Flags().Set("budget", f.budget.String()); err != nil {
			return exitFailure, err
		}
	}
	if err := check.parse(cmd); err != nil {
		return exitFailure, err
	}
	// An interrupt ended the load; what was recorded is checked all the same,
	// unless a second one comes, which ends the program.
	fresh := *a
	fresh.ctx = context.WithoutCancel(a.ctx)
	in := fresh.checkFile(fresh.ctx, check, sum.History)
	if in.Err != nil {
		return exitFailure, in.Err
	}
	if err := writeVerdict(filepath.Join(c.Dir, "verdict.json"), in); err != nil {
		return exitFailure, err
	}
	sum.Print(a.stdout)
	if s := sum.Stopped; s != nil {
		a.print("stopped     at the answer of %s, the first that no order explains\n", s.Where)
	}
	if err := unwritten(report.Text(a.stdout, &in, report.Options{})); err != nil {
		return exitFailure, err
	}
	kind := in.Verdict.Kind
	if why := sum.Vacuous(); why != "" && kind == spec.Consistent {
		kind = spec.Vacuous
		a.print("vacuous: %s\n", why)
	}
	a.print("kept in     %s\n", c.Dir)
	a.print("again       pinyon run %s\n", report.ShellWord(c.Dir))
	if f.expect.value == "" {
		return verdictCode(kind), nil
	}
	expected, _ := spec.ParseKind(f.expect.value)
	return expectedCode(kind, expected), nil
}

func writeVerdict(path string, in report.Input) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(report.JSON(file, []report.Input{in}), file.Close())
}
