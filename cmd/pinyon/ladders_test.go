package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The ladders of recorded histories, under a budget of states that gives the
// same on every machine.
const (
	ladderGolden = "testdata/ladders.txt"
	ladderPage   = "../../docs/LADDER.md"
	ladderOps    = 5000 // larger histories are left out
)

// TestLaddersOfRecordedHistories pins what --level all says of the recorded
// runs of Jepsen's register test and of Splitbrain: which levels hold and which
// fail, the smallest bounds, and how many reads were stale. -update rewrites
// the file; a level that held and now fails, or the other way round, is an
// error even then.
func TestLaddersOfRecordedHistories(t *testing.T) {
	dir := historiesDir(t)
	rows := ladderRows(t, dir)
	texts := make([]string, len(rows))
	var wg sync.WaitGroup
	next := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range next {
				texts[i] = ladderText(t, dir, rows[i])
			}
		})
	}
	for i := range rows {
		next <- i
	}
	close(next)
	wg.Wait()
	got := strings.Join(texts, "\n")
	want, err := os.ReadFile(ladderGolden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for _, c := range contradictions(string(want), got) {
		t.Error(c)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(ladderGolden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(want) {
		t.Errorf("%s says something else (-update rewrites it):\n%s", ladderGolden, firstDifferentLine(string(want), got))
	}
}

// ladderRows are the rows of the manifest that are laddered.
func ladderRows(t *testing.T, dir string) (rows []row) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(line, "\t")
		ops, _ := strconv.Atoi(f[7])
		if (strings.HasPrefix(f[0], "fast-jepsen/") || strings.HasPrefix(f[0], "splitbrain")) && ops <= ladderOps {
			rows = append(rows, row{file: f[0], flags: f[1]})
		}
	}
	if len(rows) < 5 {
		t.Fatalf("only %d rows of the manifest are there", len(rows))
	}
	return rows
}

// ladderText is the ladder of one history in a few lines.
func ladderText(t *testing.T, dir string, r row) string {
	args := append([]string{"check", filepath.Join(dir, r.file), "--level", "all", "--max-states", "2000", "--budget", "0", "--workers", "1", "--json"}, strings.Fields(r.flags)...)
	var out, errs bytes.Buffer
	if code := run(args, nil, &out, &errs); code > exitVacuous {
		t.Errorf("%s: exit %d: %s", r.file, code, errs.String())
		return r.file
	}
	var document struct {
		Files []struct {
			Ladder struct {
				Levels []struct{ Level, Verdict string }
				K      *int   `json:"smallest_k"`
				T      *int64 `json:"smallest_t"`
				Stale  *struct {
					Total struct {
						Reads, Stale int
						Versions     int    `json:"max_versions"`
						Time         *int64 `json:"max_time"`
					}
				} `json:"staleness"`
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &document); err != nil || len(document.Files) != 1 || document.Files[0].Ladder.Stale == nil {
		t.Errorf("%s: %v: %s", r.file, err, out.String())
		return r.file
	}
	l := document.Files[0].Ladder
	levels := map[string][]string{}
	for _, v := range l.Levels {
		levels[v.Verdict] = append(levels[v.Verdict], v.Level)
	}
	k, bound, age := "none", "none", ""
	if l.K != nil {
		k = strconv.Itoa(*l.K)
	}
	if l.T != nil {
		bound = time.Duration(*l.T).String()
	}
	total := l.Stale.Total
	if total.Time != nil {
		age = " and " + time.Duration(*total.Time).String()
	}
	return fmt.Sprintf("%s\n  consistent  %s\n  violation   %s\n  unknown     %s\n  smallest    k %s, t %s\n  stale       %d of %d reads (%.2f %%), at most %d versions%s\n",
		r.file, strings.Join(levels["consistent"], " "), strings.Join(levels["violation"], " "), strings.Join(levels["unknown"], " "),
		k, bound, total.Stale, total.Reads, 100*float64(total.Stale)/float64(max(1, total.Reads)), total.Versions, age)
}

// contradictions lists the levels that hold in one text and fail in the other,
// of one file.
func contradictions(old, now string) (found []string) {
	before, after := ladderVerdicts(old), ladderVerdicts(now)
	for key, verdict := range before {
		if v := after[key]; v != "" && v != verdict {
			found = append(found, fmt.Sprintf("%s: was %s, is %s", key, verdict, v))
		}
	}
	slices.Sort(found)
	return found
}

// ladderVerdicts reads the decided levels of every file.
func ladderVerdicts(text string) map[string]string {
	verdicts, file := map[string]string{}, ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case !strings.HasPrefix(line, " "):
			file = strings.TrimSpace(line)
		case words[0] == "consistent" || words[0] == "violation":
			for _, level := range words[1:] {
				verdicts[file+" "+level] = words[0]
			}
		}
	}
	return verdicts
}

func firstDifferentLine(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n  there  %s\n  now    %s", i+1, a[i], b[i])
		}
	}
	return "one of them is longer"
}

// TestLaddersOfTheDocs: docs/LADDER.md shows what the command prints of recorded
// histories. (What it shows of testdata the test of the documents runs.)
func TestLaddersOfTheDocs(t *testing.T) {
	dir := historiesDir(t)
	page, err := os.ReadFile(ladderPage)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```text\n\\$ pinyon ([^\n]*)\n.*?^```$")
	shown := 0
	got := block.ReplaceAllStringFunc(string(page), func(text string) string {
		shown++
		command := block.FindStringSubmatch(text)[1]
		var out, errs bytes.Buffer
		if code := run(strings.Fields(strings.ReplaceAll(command, "$PINYON_HISTORIES", dir)), nil, &out, &errs); code > exitVacuous {
			t.Errorf("%s: exit %d: %s", command, code, errs.String())
		}
		return "```text\n$ pinyon " + command + "\n" + strings.ReplaceAll(out.String(), dir, "$PINYON_HISTORIES") + "```"
	})
	if shown == 0 {
		t.Error("the page shows no recorded history")
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(ladderPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != string(page) {
		t.Errorf("%s shows something else (go test ./cmd/pinyon -run LaddersOfTheDocs -update rewrites it):\n%s", ladderPage, firstDifferentLine(string(page), got))
	}
}
