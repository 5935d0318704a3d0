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
	add := func(n int, one, many string) {
		switch n {
		case 0:
		case 1:
			words = append(words, "1 "+one)
		default:
			words = append(words, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(t.of[spec.Violation], "violation", "violations")
	add(t.of[spec.Unknown], "unknown", "unknown")
	add(t.of[spec.Vacuous], "vacuous", "vacuous")
	add(t.of[spec.Consistent], "consistent", "consistent")
	add(t.errors, "without a verdict", "without a verdict")
	return fmt.Sprintf("%d files: %s", t.files, strings.Join(words, ", "))
}

// many is a number of things: "1 run", "2 runs".
func many(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// were is a number of things of which something was said: "1 run was", "2 runs
// were".
func were(n int, one string) string {
	if n == 1 {
		return "1 " + one + " was"
	}
	return many(n, one) + " were"
}
