package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pinyon/engine/history"
	"pinyon/engine/history/importers"
	"pinyon/models"
)

// readFlags say how to read a history; check, verify and convert share them.
// An empty string leaves a matter to the header, the format and the model, in
// this order.
type readFlags struct {
	model, format, init  string
	mapping              string
	keyed, numeric       *choice
	nilRead, ties        *choice
	order, failCas       *choice
	clockError           string
	strict               bool
	initial              history.Value // of init
	clock                time.Duration // of clockError
	hasInit, hasClockErr bool
	entry                *models.Entry // of a model that is a file, or stands in a proof
}

func (f *readFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.model, "model", "", "what the object is: a `NAME` of pinyon models, or a YAML file (default: the header's)")
	fs.StringVar(&f.format, "format", "", "the file's format: a `NAME` of pinyon help formats (default: detected)")
	fs.StringVar(&f.mapping, "map", "", "what the columns of a CSV table or of JSON Lines mean, as `NAME=COLUMN,...` (pinyon help formats)")
	f.keyed = word(fs, "keyed", "auto", "whether the values of a foreign file are [key value]", "auto", "yes", "no")
	fs.StringVar(&f.init, "init", "", "the initial value, as `JSON` (default: the header's, the format's or the model's)")
	f.nilRead = word(fs, "nil-read", "", "what a read of null means: the answer was not recorded, or nothing was there", "unknown", "absent")
	f.ties = word(fs, "ties", "", "how an operation stands to one invoked at the instant of its return", "concurrent", "precede")
	f.order = word(fs, "order", "", "which clock decides: the order of the lines, or the recorded times", "file", "time")
	f.failCas = word(fs, "fail-cas", "", "what a refused compare-and-set is: dropped, or an observation", "drop", "observe")
	f.numeric = word(fs, "numeric", "exact", "whether 1 and 1.0 differ, or are equal", "exact", "equal")
	fs.StringVar(&f.clockError, "clock-error", "", "how far recorded times may be off: a `DURATION` such as 5ms")
	fs.BoolVar(&f.strict, "strict", false, "refuse a process that goes on after an operation without an answer")
}

// parse reads the values that are not plain words, and refuses names that do
// not exist.
func (f *readFlags) parse(cmd *cobra.Command) error {
	var err error
	if f.hasInit = cmd.Flags().Changed("init"); f.hasInit {
		if f.initial, err = history.ParseValue(f.init); err != nil {
			return usagef("--init %q is not JSON: %v (a string needs its quotes: --init '\"a\"')", f.init, err)
		}
	}
	if f.hasClockErr = cmd.Flags().Changed("clock-error"); f.hasClockErr {
		f.clock, err = time.ParseDuration(f.clockError)
		if err != nil || f.clock < 0 {
			return usagef("--clock-error %q: expected a duration such as 5ms", f.clockError)
		}
	}
	if f.model != "" {
		_, analysis := models.LookupAnalysis(f.model)
		e, err := findModel(f.model)
		if err != nil && analysis != nil {
			return err
		}
		if e.Text != "" {
			f.entry = &e
		}
	}
	if f.mapping != "" {
		if _, err := importers.ParseMapping(f.mapping); err != nil {
			return usagef("--map: %v", err)
		}
		if f.format != "" && f.format != "table" {
			return usagef("--map reads the format table, not %s", f.format)
		}
	}
	names := formatNames()
	if f.format != "" && !slices.Contains(names, f.format) {
		return usagef("--format: unknown format %q%s", f.format, didYouMean(f.format, names, "there are "+strings.Join(names, ", ")))
	}
	return nil
}

func formatNames() []string {
	var names []string
	for _, i := range importers.Formats() {
		names = append(names, i.Name)
	}
	return names
}

// parseSize reads a number of bytes: 512MiB, 2GiB, 64KiB, 100MB, 1024B. Whoever
// writes 512 means no bytes, so the unit must be there.
func parseSize(text string) (int64, error) {
	units := []struct {
		suffix string
		bytes  int64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
		{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
	}
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/u.bytes {
			break
		}
		return n * u.bytes, nil
	}
	return 0, fmt.Errorf("%q is no size; expected a number with a unit, such as 512MiB", text)
}
