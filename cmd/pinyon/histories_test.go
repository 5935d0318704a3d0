package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/history/importers"
	"pinyon/models"
	"pinyon/oracles"
)

var (
	rowBudget  = flag.String("rows.budget", "10s", "time for each recorded history")
	hardBudget = flag.String("rows.hard", "1s", "time for each of the runs that are hard on purpose")
)

// row is one line of the manifest of recorded histories.
type row struct {
	file, flags string
	want        int
	hard        bool // hard on purpose: may stay undecided
}

// outcome is what check made of a row.
type outcome struct {
	row
	got      int
	last     string   // its summary, or why there is none
	searched []string // for each key that fell to the search, what had been tried
}

// TestRecordedHistories checks histories that other people's tools recorded,
// as their manifest says, and prints the table. They are found through
// PINYON_HISTORIES or beside the project.
func TestRecordedHistories(t *testing.T) {
	dir := historiesDir(t)
	rows := manifest(t, dir)
	outcomes := make([]outcome, len(rows))
	var wg sync.WaitGroup
	next := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range next {
				outcomes[i] = check(dir, rows[i])
			}
		})
	}
	for i := range rows {
		next <- i
	}
	close(next)
	wg.Wait()
	judge(t, outcomes)
}

func historiesDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PINYON_HISTORIES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "histories")
	}
	if _, err := os.Stat(filepath.Join(dir, "MANIFEST.tsv")); err != nil {
		t.Skipf("SKIPPED: no recorded histories: PINYON_HISTORIES is not set and ../shared/histories is not there (%v)", err)
	}
	return dir
}

// manifest reads the rows whose exit status is settled and whose model and
// oracle exist.
func manifest(t *testing.T, dir string) (rows []row) {
	t.Helper()
	for _, f := range manifestLines(t, dir) {
		want, err := strconv.Atoi(f[2])
		if err != nil || !known(f[1]) {
			continue
		}
		rows = append(rows, row{file: f[0], flags: f[1], want: want, hard: strings.HasPrefix(f[0], "splitbrain-runs/")})
	}
	return rows
}

// manifestLines are the rows of the manifest as they stand there: file, flags,
// exit status, model, initial value, expected verdict and more.
func manifestLines(t *testing.T, dir string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	// No csv.Reader: quotes are not special in the manifest.
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for _, line := range lines[1:] {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

// known reports whether the model and the oracle that the flags name exist.
func known(flags string) bool {
	words := strings.Fields(flags)
	for i, w := range words[:max(0, len(words)-1)] {
		if w == "--model" {
			if _, err := models.Lookup(words[i+1]); err != nil {
				return false
			}
		}
		if w == "--oracle" {
			if _, err := oracles.Lookup(words[i+1]); err != nil {
				return false
			}
		}
	}
	return true
}

// check runs the command on one row. A row that expects 0 of a history in
// which no operation has an answer is vacuous, which is never a pass.
func check(dir string, r row) outcome {
	path := filepath.Join(dir, r.file)
	budget := *rowBudget
	if r.hard {
		budget = *hardBudget
	}
	args := append([]string{"check", path, "--json", "--budget", budget}, strings.Fields(strings.ReplaceAll(r.flags, "'", ""))...)
	var out, errs bytes.Buffer
	o := outcome{row: r, got: run(args, nil, &out, &errs)}
	var report struct {
		Files []struct {
			Summary string `json:"summary"`
			Keys    []struct {
				Engine string `json:"engine"`
				Tried  string `json:"tried"`
			} `json:"keys"`
		} `json:"files"`
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || len(report.Files) != 1 {
		o.last = strings.TrimSpace(errs.String())
	} else {
		o.last = report.Files[0].Summary
		for _, key := range report.Files[0].Keys {
			if key.Engine == "search" {
				o.searched = append(o.searched, key.Tried)
			}
		}
	}
	if r.want == 0 {
		if raw, _, err := importers.Load(path, importers.Options{}); err == nil && !slices.ContainsFunc(raw.Ops, answered) {
			o.want = exitVacuous
		}
	}
	return o
}

func answered(op history.Op[history.Value, history.Value]) bool { return op.Outcome == history.OK }

// judge prints the table and fails on a wrong row, on more than 3 % of
// undecided ones among those that are not hard on purpose, or if more than 5 %
// fall to the search.
func judge(t *testing.T, outcomes []outcome) {
	t.Helper()
	var table strings.Builder
	easy, unknown, searched := 0, 0, 0
	for _, o := range outcomes {
		mark := "ok"
		switch {
		case o.got == o.want:
		case o.got == exitUnknown && o.want <= 1:
			mark = "UNKNOWN"
		default:
			mark = "WRONG"
			t.Errorf("%s %s: exit %d, want %d: %s", o.file, o.flags, o.got, o.want, o.last)
		}
		if !o.hard {
			easy++
			if mark == "UNKNOWN" {
				unknown++
			}
		}
		fmt.Fprintf(&table, "%-8s %3d %3d  %s %s\n", mark, o.want, o.got, o.file, o.flags)
		if len(o.searched) > 0 {
			searched++
			fmt.Fprintf(&table, "%17ssearched: %s\n", "", strings.Join(slices.Compact(o.searched), "; "))
		}
	}
	t.Logf("verdict, exit status wanted and got, history and flags:\n%s%d rows, %d of the %d that are not hard on purpose undecided, %d decided by the search",
		table.String(), len(outcomes), unknown, easy, searched)
	if searched*100 > 5*len(outcomes) {
		t.Errorf("%d of %d rows fall to the search, more than 5 %%", searched, len(outcomes))
	}
	if unknown*100 > 3*easy {
		t.Errorf("%d of %d rows are undecided, more than 3 %%", unknown, easy)
	}
}

// TestFailureIsPinned: Knossos says of this history that the operation whose
// completion has index 491 cannot be placed, and that 478 is the last ok one
// before it.
func TestFailureIsPinned(t *testing.T) {
	path := filepath.Join(historiesDir(t), "knossos", "cas-register", "bad", "cas-failure.edn")
	var out, errs bytes.Buffer
	if code := run([]string{"check", path, "--model", "cas-register", "--init", "0", "--nil-read", "unknown"}, nil, &out, &errs); code != exitViolation {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for _, want := range []string{`op \d+ \(index 491\) cannot be placed`, `previous ok, .*\(index 478\)`} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("nothing matches %s in\n%s", want, out.String())
		}
	}
}

// TestResidentMemory: under --max-memory the whole process stays within 25 %
// of the budget, for a model whose states lie behind pointers.
func TestResidentMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	dir := t.TempDir()
	bin, file := filepath.Join(dir, "pinyon"), filepath.Join(dir, "queue.jsonl")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var text strings.Builder
	text.WriteString(`{"pinyon":"history","version":1,"model":"queue"}` + "\n")
	for i := range 60 {
		fmt.Fprintf(&text, `{"process":%d,"f":"enqueue","in":%d,"invoke":%d,"return":%d,"outcome":"ok"}`+"\n", i, i, i, 1000+i)
	}
	text.WriteString(`{"process":60,"f":"dequeue","invoke":2000,"return":2001,"outcome":"ok","out":100}` + "\n")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "check", file, "--engine", "search", "--max-memory", "256MiB", "--budget", "100s")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peak := make(chan int)
	go func() { peak <- peakMemory(cmd.Process.Pid) }()
	_ = cmd.Wait()
	kib := <-peak
	if kib == 0 {
		t.Skip("SKIPPED: this system does not tell a process' memory")
	}
	t.Logf("resident %d MiB: %s", kib>>10, out.String())
	if cmd.ProcessState.ExitCode() != exitUnknown || !strings.Contains(out.String(), "budget of memory ran out") {
		t.Errorf("exit %d: %s", cmd.ProcessState.ExitCode(), out.String())
	}
	if kib<<10 > 256<<20*5/4 {
		t.Errorf("%d KiB resident under a budget of 256 MiB", kib)
	}
}

// peakMemory follows a process until it ends and returns the most memory that
// it had resident, in KiB. (The system's own count at the end may be that of
// the process that started it.)
func peakMemory(pid int) (kib int) {
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return kib
		}
		at := bytes.Index(text, []byte("VmHWM:"))
		if at < 0 {
			return kib // it has ended
		}
		if _, err := fmt.Sscanf(string(text[at:]), "VmHWM: %d kB", &kib); err != nil {
			return kib
		}
		time.Sleep(5 * time.Millisecond)
	}
}
