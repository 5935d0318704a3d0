package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// unsettled are the rows of the manifest that name a model and no verdict, as
// nobody published one.
func unsettled(t *testing.T, dir string) (rows []row) {
	t.Helper()
	for _, f := range manifestLines(t, dir) {
		if f[2] == "-" && f[5] == "unknown" && f[1] != "" && known(f[1]) && !isReading(f[0]) {
			rows = append(rows, row{file: f[0], flags: f[1]})
		}
	}
	return rows
}

func isReading(file string) bool {
	for _, r := range readings {
		if r.file == file {
			return true
		}
	}
	return false
}

// tooLarge are unsettled rows of more operations than trying every order takes.
// That a violation stands there is no wonder: the object that was recorded is
// the tool's example of an unsafe one.
var tooLarge = "violin/my-unsafe-stack/"

// TestUnsettledHistories: of a history whose verdict nobody published, the
// engine says what trying every order says.
func TestUnsettledHistories(t *testing.T) {
	dir := historiesDir(t)
	verdicts := map[int]int{}
	for _, r := range unsettled(t, dir) {
		args := append([]string{"check", filepath.Join(dir, r.file), "--budget", *rowBudget}, strings.Fields(r.flags)...)
		got, out, errs := call(args...)
		verdicts[got]++
		want := exitViolation
		if !strings.HasPrefix(r.file, tooLarge) {
			want, _, _ = call(append(args, "--engine", "brute")...)
		}
		if got != want || got > exitViolation {
			t.Errorf("%s %s: exit %d, every order %d\n%s%s", r.file, r.flags, got, want, out, errs)
		}
	}
	t.Logf("consistent %d, violations %d", verdicts[exitConsistent], verdicts[exitViolation])
}

// unchecked are the files with a row of the manifest that no test checks, each
// with the reason.
var unchecked = map[string]string{}

// TestEveryRecordedHistoryIsAccountedFor: each row of the manifest is checked
// as it says, under another reading, or against trying every order; else it
// stands in unchecked.
func TestEveryRecordedHistoryIsAccountedFor(t *testing.T) {
	dir := historiesDir(t)
	type key struct{ file, flags string }
	accounted, counts := map[key]bool{}, [3]int{}
	for _, r := range manifest(t, dir) {
		accounted[key{r.file, r.flags}] = true
	}
	counts[0] = len(accounted)
	for _, r := range unsettled(t, dir) {
		accounted[key{r.file, r.flags}] = true
		counts[1]++
	}
	files, missing := map[string]bool{}, 0
	rows := manifestLines(t, dir)
	for _, f := range rows {
		files[f[0]] = true
		switch {
		case accounted[key{f[0], f[1]}]:
		case f[2] == "-" && isReading(f[0]):
			counts[2]++
		case unchecked[f[0]] != "":
			missing++
			t.Logf("not checked: %s %s: %s", f[0], f[1], unchecked[f[0]])
		default:
			t.Errorf("%s %s (exit %s): no test checks this row; put it into readings, or into unchecked with the reason", f[0], f[1], f[2])
		}
	}
	for file := range unchecked {
		if !files[file] {
			t.Errorf("%s stands in unchecked and not in the manifest", file)
		}
	}
	t.Logf("%d rows: %d as the manifest says, %d against trying every order, %d under other readings, %d not checked", len(rows), counts[0], counts[1], counts[2], missing)
}
