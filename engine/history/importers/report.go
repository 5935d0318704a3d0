package importers

import (
	"fmt"
	"slices"
	"strings"

	"pinyon/engine/history"
)

// Report says what an import found, decided, skipped and dropped.
type Report struct {
	Path, Format, Why string          // Path: the file that was read; Why: what told the format
	Defaults          Defaults        // the rules that the format implies
	Order             history.OrderBy // the clock that decides: times or lines
	Timed             bool            // the operations carry recorded times, not positions in the file
	Keyed             bool            // the values were [key value]
	OK, Fail, Info    int             // operations by outcome
	Keys, Processes   int             // how many
	Notes             int             // lines of processes that are no clients
	Inversions        int             // how often an event's time is before that of the event above it
	FirstInversion    int32           // the line of the first
	Skipped           int             // lines that are no operations
	SkippedFirst      []string        // the first three, with their numbers
	Renamed           []string        // new names of processes that went on after an Info
	Dropped           map[string]int  // fields that no hint can hold, and how often
	Results           string          // what results.edn beside a Jepsen history says; "": there is none
	Warnings          []string        // what a person should know
	_                 struct{}
}

func (r *Report) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

func (r *Report) skip(line int32, text string) {
	if r.Skipped++; r.Skipped <= 3 {
		const most = 120
		text = strings.ToValidUTF8(text, "\uFFFD")
		if short := []rune(text); len(short) > most {
			text = string(short[:most]) + "..."
		}
		r.SkippedFirst = append(r.SkippedFirst, fmt.Sprintf("line %d: %s", line, text))
	}
}

func (r *Report) warnRenamed() {
	if n := len(r.Renamed); n > 0 {
		r.warn("%s a process went on after an operation without an answer and got a new name (%s)", times(n), first(r.Renamed))
	}
}

func times[N int | int64](n N) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

// first lists at most three names.
func first(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// count fills in what the history itself tells.
func (r *Report) count(h *history.Raw) {
	keys, processes := map[string]bool{}, make([]bool, len(h.Processes))
	for i := range h.Ops {
		op := &h.Ops[i]
		switch op.Outcome {
		case history.OK:
			r.OK++
		case history.Fail:
			r.Fail++
		case history.Info:
			r.Info++
		}
		keys[op.Key] = true
		if !processes[op.Process] {
			processes[op.Process] = true
			r.Processes++
		}
	}
	r.Keys, r.Notes = len(keys), len(h.Notes)
	if r.Inversions > 0 {
		r.warn("times run backwards %s, first at line %d; trusted: the order of %s", times(r.Inversions), r.FirstInversion, trusted(r.Order))
	}
}

func trusted(o history.OrderBy) string {
	if o == history.ByLine {
		return "the lines"
	}
	return "the times"
}

// Lines returns the report as people read it.
func (r *Report) Lines() []string {
	lines := []string{
		fmt.Sprintf("%s: %s (%s)", r.Path, r.Format, r.Why),
		fmt.Sprintf("%d operations: %d ok, %d fail, %d info; keys %d, processes %d, notes %d",
			r.OK+r.Fail+r.Info, r.OK, r.Fail, r.Info, r.Keys, r.Processes, r.Notes),
		fmt.Sprintf("order of %s; by default nil reads are %s, a failed cas is %s, the initial value is %s",
			trusted(r.Order), r.Defaults.NilRead, map[string]string{"drop": "dropped", "observe": "an observation"}[r.Defaults.FailCas], initialText(r.Defaults.Initial)),
	}
	if r.Keyed {
		lines = append(lines, "values are [key value]")
	}
	if r.Skipped > 0 {
		lines = append(lines, fmt.Sprintf("%d lines skipped that are no operations:", r.Skipped))
		for _, s := range r.SkippedFirst {
			lines = append(lines, "  "+s)
		}
	}
	if len(r.Dropped) > 0 {
		var fields []string
		for name, n := range r.Dropped {
			fields = append(fields, fmt.Sprintf("%s (%s)", name, times(n)))
		}
		slices.Sort(fields)
		lines = append(lines, "fields dropped, no hint can hold them: "+strings.Join(fields, ", "))
	}
	if r.Results != "" {
		lines = append(lines, r.Results)
	}
	for _, w := range r.Warnings {
		lines = append(lines, "warning: "+w)
	}
	return lines
}

func initialText(v history.Value) string {
	if v == history.Absent {
		return "the model's"
	}
	return v.Text()
}
