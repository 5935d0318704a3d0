package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pinyon/consistency"
	"pinyon/consistency/report"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// checkFlags are the flags of check beside those of reading.
type checkFlags struct {
	readFlags
	level     string
	oracles   []string
	split     *choice
	engine    *choice
	expect    *choice
	color     *choice
	key       string
	hasKey    bool
	budget    time.Duration
	maxStates int64
	maxMemory string
	memory    int64 // of maxMemory; 0: the default
	workers   int
	failFast  bool
	json      bool
	explain   bool
	verbose   bool
	debug     bool
	proof     string
	junit     string
	set       []string // the flags as they were given, to repeat the check
}

func (a *app) checkCommand() *cobra.Command {
	f := &checkFlags{}
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Decide whether recorded histories were possible",
		Example: `  pinyon check history.jsonl                      # model and level as the file's header says
  pinyon check history.edn --model cas-register --init 0
  pinyon check run.jsonl --model kv --level sequential --oracle etcd
  pinyon check *.jsonl --expect consistent --json
  zcat big.jsonl.gz | pinyon check - --model register --budget 10s --max-memory 512MiB`,
		Long: `Decides for each FILE ("-": standard input) whether its operations fit one order
that the level allows and in which every output is what the model gives. The
exit status says which (pinyon help exit-codes). Where a rule is named in several
places, flags outrank the file's header, the header outranks what the format
implies (pinyon help formats), and that outranks the model's own.`,
		Args: args(cobra.MinimumNArgs(1), "at least one file"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := f.parse(cmd); err != nil {
				return err
			}
			if err := f.placeProof(files); err != nil {
				return err
			}
			return a.check(cmd.Context(), f, files)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	f.add(cmd)
	a.completeFlags(cmd)
	return cmd
}

// allLevels is the value of --level that asks every level.
const allLevels = "all"

func (f *checkFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	f.readFlags.add(cmd)
	fs.StringVar(&f.level, "level", "", "the consistency level: a `NAME` of pinyon levels, a YAML file, or all of them (default: the header's, else linearizable)")
	fs.StringArrayVar(&f.oracles, "oracle", nil, "what hints say about order: a `NAME` of pinyon oracles, a YAML file, or none; repeatable (default: the header's)")
	f.split = word(fs, "split", "auto", "whether keys may be decided apart where the level allows it", "auto", "never")
	fs.StringVar(&f.key, "key", "", "check the operations of this `KEY` only")
	f.engine = word(fs, "engine", "auto", "how to decide; search takes no fast path, sweep reads registers in time order or cannot tell, wing-gong searches without knowing the object, brute tries every order of a small history", "auto", "search", "sweep", "wing-gong", "brute")
	fs.DurationVar(&f.budget, "budget", consistency.DefaultTimeout, "`TIME` that a file may take, with --level all each level; 0: no limit")
	fs.Int64Var(&f.maxStates, "max-states", 0, "how many states a key may take, `N`; 0: no limit")
	fs.StringVar(&f.maxMemory, "max-memory", "", "memory that a file may take: a `SIZE` such as 512MiB (default: half of what there is)")
	fs.IntVar(&f.workers, "workers", 0, "how many keys are decided at once, `N`; 0: one for each processor")
	fs.BoolVar(&f.failFast, "fail-fast", false, "stop at the first violation in the order of keys")
	f.expect = word(fs, "expect", "", "exit with 0 exactly when every file has this verdict", "consistent", "violation", "unknown", "vacuous")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	fs.StringVar(&f.junit, "junit", "", "write the verdicts as JUnit XML to this `FILE` too")
	fs.BoolVar(&f.explain, "explain", false, "say of every candidate why it cannot come next")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "list consistent keys too, the import report, and elapsed times")
	f.color = word(fs, "color", "auto", "colours on stdout", "auto", "always", "never")
	fs.StringVar(&f.proof, "proof", "", "write the evidence to this `FILE`, for pinyon verify")
	fs.BoolVar(&f.debug, "debug", false, "check that no step of the model changes its argument")
}

func (f *checkFlags) parse(cmd *cobra.Command) error {
	if err := f.readFlags.parse(cmd); err != nil {
		return err
	}
	if cmd.Flags().Changed("level") {
		if f.level == "" {
			return usagef("--level is empty; leave it out for the history's own")
		}
		if f.level != allLevels {
			if _, err := findLevel(f.level); err != nil {
				return err
			}
		}
	}
	if f.hasKey = cmd.Flags().Changed("key"); f.hasKey && f.proof != "" {
		return usagef("--proof needs the whole history; it does not go with --key")
	}
	switch {
	case f.proof != "" && f.failFast:
		return usagef("--proof needs every key; it does not go with --fail-fast")
	case f.budget < 0 || f.maxStates < 0 || f.workers < 0:
		return usagef("--budget, --max-states and --workers cannot be negative")
	}
	if f.maxMemory != "" {
		var err error
		if f.memory, err = parseSize(f.maxMemory); err != nil {
			return usagef("--max-memory: %v", err)
		}
	}
	f.set = given(cmd)
	return nil
}

// given lists the flags that were given and bear on the verdict, for the
// command that repeats it.
func given(cmd *cobra.Command) []string {
	talk := []string{"key", "json", "as", "explain", "verbose", "color", "expect", "fail-fast", "workers", "proof", "junit", "debug"}
	var set []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(talk, f.Name) {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				set = append(set, "--"+f.Name, report.ShellWord(v))
			}
			return
		}
		set = append(set, "--"+f.Name)
		if f.Value.Type() != "bool" {
			set = append(set, report.ShellWord(f.Value.String()))
		}
	})
	return set
}

// check checks the files one after the other and reports each as it is known.
func (a *app) check(ctx context.Context, f *checkFlags, files []string) error {
	defer limitMemory(f.memory)()
	var ins []report.Input
	code := exitConsistent
	tally := &tally{}
	for i, path := range files {
		in := a.checkFile(ctx, f, path)
		ins = append(ins, in)
		own := f.code(&in)
		code = worse(code, own)
		tally.add(&in)
		if in.Err != nil {
			a.exit(in.Err)
		} else if !f.json {
			if err := a.text(f, &in, i > 0); err != nil {
				return err
			}
		}
		if ctx.Err() != nil && i+1 < len(files) {
			a.say("interrupted: %d of %d files were not checked", len(files)-i-1, len(files))
			code = worse(code, exitUnknown)
			break
		}
	}
	if f.junit != "" {
		if err := writeJUnit(f.junit, ins); err != nil {
			return err
		}
	}
	if f.json {
		if err := report.JSON(a.stdout, ins); err != nil {
			return unwritten(err)
		}
	} else if len(files) > 1 {
		a.print("\n%s\n", tally)
	}
	if code != exitConsistent {
		return &status{code: code}
	}
	return nil
}

// writeJUnit writes the verdicts to a file.
func writeJUnit(path string, ins []report.Input) error {
	var b bytes.Buffer
	err := report.JUnit(&b, ins)
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		return &status{exitFailure, fmt.Errorf("--junit: %w", err)}
	}
	return nil
}

// code is the exit status of one file.
func (f *checkFlags) code(in *report.Input) int {
	if in.Err != nil {
		return codeOf(in.Err)
	}
	if f.expect.value == "" {
		return verdictCode(in.Verdict.Kind)
	}
	expected, _ := spec.ParseKind(f.expect.value) // Set let no other word in
	return expectedCode(in.Verdict.Kind, expected)
}

func (a *app) text(f *checkFlags, in *report.Input, gap bool) error {
	if gap {
		a.print("\n")
	}
	return unwritten(report.Text(a.stdout, in, report.Options{
		Color: colorful(f.color.value, a.stdout), Verbose: f.verbose, Explain: f.explain,
	}))
}

// unwritten marks an error of writing, which is no error of what was read.
func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return &status{exitFailure, fmt.Errorf("the report could not be written: %w", err)}
}

// checkFile checks one history; in.Err is why there is no verdict.
func (a *app) checkFile(ctx context.Context, f *checkFlags, path string) (in report.Input) {
	in = report.Input{Path: path, Budget: report.Budget{Time: f.budget, States: f.maxStates, Memory: f.memory}}
	in.Err = a.decide(ctx, f, path, &in)
	in.ErrCode = codeOf(in.Err)
	return in
}

// decide fills in what is known of the history at path.
func (a *app) decide(ctx context.Context, f *checkFlags, path string, in *report.Input) error {
	l, err := a.loadUntil(ctx, path, &f.readFlags)
	if err != nil {
		return err
	}
	in.Format, in.Import, in.Notices = l.report.Format, l.report.Lines(), l.notices()
	in.Repeat = strings.Join(append([]string{"pinyon check", report.ShellWord(path)}, f.set...), " ")
	if ok, err := l.analyse(f, in); ok || err != nil {
		return err
	}
	subject, err := l.bind(&f.readFlags)
	if err != nil {
		return err
	}
	asked := f.level
	if asked == allLevels {
		asked = "" // the verdict is that of the level that the history claims
	}
	level, err := l.level(asked)
	if err != nil {
		return err
	}
	in.Level = level.Name
	list, err := l.oracles(f.oracles)
	if err != nil {
		return err
	}
	for i := range list {
		in.Oracles = append(in.Oracles, list[i].Name)
	}
	opts, err := f.options(subject.View, list)
	if err != nil {
		return err
	}
	progress := a.newProgress(path)
	opts.Progress = progress.show
	verdict, err := consistency.CheckSubject(ctx, subject, level, opts)
	progress.clear()
	if err != nil {
		return located(path, err)
	}
	in.Subject, in.Verdict, in.Rules = subject, verdict, l.rules
	if f.level == allLevels {
		opts.Progress = nil
		if in.Ladder, err = consistency.Climb(ctx, subject, opts); err != nil {
			return located(path, err)
		}
	}
	if f.proof != "" {
		return writeProof(f, l, subject, level, list, verdict)
	}
	return nil
}

// loadUntil is load, given up when ctx is done: reading a large file may take
// long, and whoever interrupts it does not want to wait.
func (a *app) loadUntil(ctx context.Context, path string, f *readFlags) (*loaded, error) {
	type result struct {
		l   *loaded
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{err: fmt.Errorf("%s: reading failed: %v", path, r)}
			}
		}()
		l, err := a.load(path, f)
		done <- result{l, err}
	}()
	select {
	case r := <-done:
		return r.l, r.err
	case <-ctx.Done():
		return nil, &status{exitUnknown, fmt.Errorf("%s: interrupted while it was read", path)}
	}
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// located puts the file before an error that does not name it.
func located(path string, err error) error {
	if strings.Contains(err.Error(), path) {
		return err
	}
	return &status{codeOf(err), &prefixed{path, err}}
}

// prefixed is an error behind a path.
type prefixed struct {
	path string
	err  error
}

func (p *prefixed) Error() string { return p.path + ": " + p.err.Error() }
func (p *prefixed) Unwrap() error { return p.err }

func (f *checkFlags) options(v *history.View, list []order.Oracle) (consistency.Options, error) {
	o := consistency.Options{
		Oracles: list, Engine: f.engine.value, MaxStates: f.maxStates, MaxMemory: f.memory, Timeout: f.budget,
		Workers: f.workers, NoSplit: f.split.value == "never", FailFast: f.failFast, Debug: f.debug,
	}
	if f.budget == 0 {
		o.Timeout = -1 // none; zero would be the default
	}
	if !f.hasKey {
		return o, nil
	}
	for _, name := range []string{f.key, history.ParseLabel(f.key).Label(), history.String(f.key).Label()} {
		if slices.Contains(v.KeyName, name) {
			o.OnlyKey, o.HasOnlyKey = name, true
			return o, nil
		}
	}
	return o, usagef("--key: no operation has the key %q%s", f.key, didYouMean(f.key, v.KeyName, "-v lists them"))
}

// limitMemory makes the collector work harder when memory nears the budget:
// what the searches hold is counted by themselves, what they dropped is not.
func limitMemory(budget int64) (restore func()) {
	if budget <= 0 {
		budget = consistency.DefaultMemory()
	}
	old := debug.SetMemoryLimit(budget + budget/10)
	return func() { debug.SetMemoryLimit(old) }
}
