package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pinyon/consistency/report"
	"pinyon/harness"
)

// reportFlags are those of `pinyon report`.
type reportFlags struct {
	checkFlags
	as *choice
}

func (a *app) reportCommand() *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report BUNDLE...",
		Short: "Tell of a recorded run: how it was made, its faults, and its verdict",
		Example: `  pinyon report runs/latest
  pinyon report runs/latest --as junit > run.xml
  pinyon report sweep/kvsplit-halves-seed1 --explain`,
		Long: `Reads BUNDLE, a folder that pinyon run or sweep kept, and tells how the run was
made, which faults were applied and seen to work, and what its history says,
checked again. The exit status is that of the verdict (pinyon help exit-codes).`,
		Args: args(cobra.MinimumNArgs(1), "at least one folder of a run"),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if err := f.parse(cmd); err != nil {
				return err
			}
			for _, other := range ofCheck {
				if cmd.Flags().Changed(other) {
					return usagef("--%s is for pinyon check; here it is --as text, json or junit", other)
				}
			}
			return a.report(cmd.Context(), f, dirs)
		},
	}
	f.as = word(cmd.Flags(), "as", "text", "what to print", "text", "json", "junit")
	f.add(cmd)
	for _, other := range ofCheck {
		_ = cmd.Flags().MarkHidden(other)
	}
	a.completeFlags(cmd)
	return cmd
}

// ofCheck are flags of check that report has no use for.
var ofCheck = []string{"json", "junit", "proof"}

// report checks the bundles one after the other; text tells of each at once.
func (a *app) report(ctx context.Context, f *reportFlags, dirs []string) error {
	for _, dir := range dirs {
		if err := isBundle(dir); err != nil {
			return err
		}
	}
	defer limitMemory(f.memory)()
	var ins []report.Input
	code := exitConsistent
	for i, dir := range dirs {
		in := a.checkFile(ctx, &f.checkFlags, dir)
		ins = append(ins, in)
		code = worse(code, f.code(&in))
		switch {
		case in.Err != nil:
			a.exit(in.Err)
		case f.as.value == "text":
			if err := a.tellRun(dir, i > 0); err != nil {
				return err
			}
			if err := a.text(&f.checkFlags, &in, false); err != nil {
				return err
			}
		}
	}
	var err error
	switch f.as.value {
	case "json":
		err = report.JSON(a.stdout, ins)
	case "junit":
		err = report.JUnit(a.stdout, ins)
	}
	if err == nil && code != exitConsistent {
		return &status{code: code}
	}
	return unwritten(err)
}

// isBundle refuses what pinyon run did not make.
func isBundle(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return missingFile(err)
	}
	for _, name := range []string{"run.yaml", "history.jsonl"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil
		}
	}
	return usagef("%s: expected the folder of a run, which holds history.jsonl; pinyon check takes any recorded history", dir)
}

// tellRun says how the run was made, and what became of its faults.
func (a *app) tellRun(dir string, gap bool) error {
	if gap {
		a.print("\n")
	}
	made := filepath.Join(dir, "run.yaml")
	if text, err := os.ReadFile(made); err == nil { // a sweep's bundle has none
		run := a.runCommand()
		if err := setFromYAML(run, made, text); err != nil {
			return err
		}
		a.print("run     %s\n", strings.Join(append([]string{"pinyon run"}, given(run)...), " "))
	}
	path := filepath.Join(dir, "faults.jsonl")
	text, err := os.ReadFile(path)
	if err != nil { // a run without faults may lack it
		return nil
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for n := 1; lines.Scan(); n++ {
		var e harness.Evidence
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return malformedf("%s:%d: %v", path, n, err)
		}
		a.print("fault   %s\n", faultWords(&e))
	}
	return nil
}

// faultWords says of one fault what it hit, when, and whether it worked.
func faultWords(e *harness.Evidence) string {
	text := fmt.Sprintf("%s of %s", e.Kind, e.Hits)
	switch {
	case !e.Applied:
		text += ": not applied"
	case e.Verified:
		text += fmt.Sprintf(" from %v to %v: seen to work", about(e.From), about(e.To))
	default:
		text += fmt.Sprintf(" from %v to %v: applied, and not seen to work", about(e.From), about(e.To))
	}
	if e.Error != "" {
		text += ": " + e.Error
	}
	return text
}

// about rounds a time of a run.
func about(ns int64) time.Duration { return time.Duration(ns).Round(time.Millisecond) }
