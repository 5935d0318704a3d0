package main

import (
	"fmt"
	"strings"

	"pinyon/consistency/report"
	"pinyon/engine/spec"
)

// tally counts the verdicts of several files.
type tally struct {
	files, errors int
	of            [spec.Vacuous + 1]int
}

func (t *tally) add(in *report.Input) {
	t.files++
	if in.Err != nil {
		t.errors++
		return
	}
	t.of[in.Verdict.Kind]++
}

// String is the last line about several files.
func (t *tally) String() string {
	var words []string
	add := func(n int, word string) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, word))
		}
	}
	add(t.of[spec.Violation], spec.Violation.String())
	add(t.of[spec.Unknown], spec.Unknown.String())
	add(t.of[spec.Vacuous], spec.Vacuous.String())
	add(t.of[spec.Consistent], spec.Consistent.String())
	add(t.errors, "without a verdict")
	return fmt.Sprintf("%d files: %s", t.files, strings.Join(words, ", "))
}
