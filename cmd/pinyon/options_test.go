package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readings are recorded histories whose verdict depends on an option, or that
// are decided by another model than their manifest's flags name.
var readings = []struct {
	file, flags string
	want        int
}{
	{"issues/k8-float-vs-int.edn", "--model cas-register --init 42", exitViolation},
	{"issues/k8-float-vs-int.edn", "--model cas-register --init 42 --numeric equal", exitConsistent},
	{"issues/mutex-foreign-release.edn", "--model mutex", exitConsistent},
	{"issues/mutex-foreign-release.edn", "--model owner-mutex", exitViolation},
	{"issues/nil-ok-read.edn", "--model cas-register --init null --nil-read unknown", exitConsistent},
	{"issues/nil-ok-read.edn", "--model cas-register --init null --nil-read absent", exitViolation},
	{"issues/out-of-order-lines.edn", "--model cas-register --init 0 --order time", exitConsistent},
	{"issues/out-of-order-lines.edn", "--model cas-register --init 0 --order file", exitViolation},
	{"issues/proc-reuse-after-info.edn", "--model cas-register --init null", exitConsistent},
	{"issues/proc-reuse-after-info.edn", "--model cas-register --init null --strict", exitMalformed},
	{"issues/tie-timestamps.edn", "--model cas-register --init 0 --order time --ties concurrent", exitConsistent},
	{"issues/tie-timestamps.edn", "--model cas-register --init 0 --order time --ties precede", exitViolation},
	{"issues/drain-crashed.edn", "--model total-queue", exitUnknown},
	{"jepsen-checker-tests/counter-ignore-failed.edn", "--model counter-bounds", exitConsistent},
	{"jepsen-checker-tests/counter-incomplete.edn", "--model counter-bounds", exitConsistent},
	{"jepsen-checker-tests/counter-initial-invalid.edn", "--model counter-bounds", exitViolation},
	{"jepsen-checker-tests/counter-initial-read.edn", "--model counter-bounds", exitConsistent},
	{"jepsen-checker-tests/counter-interleaved.edn", "--model counter-bounds", exitViolation},
	{"jepsen-checker-tests/counter-rolling.edn", "--model counter-bounds", exitViolation},
	{"jepsen-checker-tests/queue-concurrent.edn", "--model total-queue", exitConsistent},
	{"jepsen-checker-tests/queue-dequeue-from-nowhere.edn", "--model total-queue", exitViolation},
	{"jepsen-checker-tests/queue-possible-enqueue.edn", "--model total-queue", exitVacuous}, // valid there; no operation has an answer
	{"jepsen-checker-tests/total-queue-pathological.edn", "--model total-queue", exitViolation},
	{"jepsen-checker-tests/total-queue-sane.edn", "--model total-queue", exitConsistent},
	{"jepsen-checker-tests/set-lost-unexpected.edn", "--model set-final", exitViolation},
	{"jepsen-checker-tests/unique-ids-dups.edn", "--model unique-ids", exitViolation},
	{"elle-cli/jepsen/set_full.json", "--model set-full --keyed no", exitViolation},
	{"elle-cli/jepsen/long-fork.edn", "--model long-fork", exitViolation},
	{"elle-cli/jepsen/bank.edn", "--model bank", exitConsistent},
	{"elle-cli/jepsen/bank-tidb.edn", "--model bank", exitViolation},
	{"elle-cli/jepsen/bank-neg.edn", "--model bank", exitConsistent},
	{"elle/paper-example.edn", "--model list-append", exitViolation},
	{"elle/si-without-g-single.edn", "--model list-append", exitViolation}, // its second transaction misses what the first appended before
	{"elle-cli/elle/paper-example.edn", "--model list-append", exitViolation},
	{"elle-cli/elle/rw-register.json", "--model rw-register", exitViolation},
	{"fast-jepsen/20180612T165047.000Z/independent/node1/history.edn", "--model register --init null", exitConsistent},
	{"fast-jepsen/20180612T165047.000Z/independent/node2/history.edn", "--model register --init null", exitConsistent},
	{"jepsen-rs/ex_history.edn", "--model rw-register", exitConsistent},
}

func TestReadings(t *testing.T) {
	dir := historiesDir(t)
	for _, r := range readings {
		var out, errs bytes.Buffer
		if got := run(append([]string{"check", filepath.Join(dir, r.file)}, strings.Fields(r.flags)...), nil, &out, &errs); got != r.want {
			t.Errorf("%s %s: exit %d, want %d\n%s%s", r.file, r.flags, got, r.want, out.String(), errs.String())
		}
	}
}

// TestUntimedFiles: what an importer read without times reaches the level, and
// a bound in time is refused; options that do not go together are wrong usage.
func TestUntimedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.txt")
	text := "0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t0\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[string]int{
		"--level bounded-staleness:t=1s":     exitMalformed,
		"--level bounded-staleness:k=2,t=1s": exitMalformed,
		"--level bounded-staleness:k=2":      exitConsistent,
		"--level linearizable":               exitViolation,
		"--level causal --engine brute":      exitUsage,
	} {
		var out, errs bytes.Buffer
		args := append([]string{"check", path, "--model", "register", "--init", "0"}, strings.Fields(flags)...)
		if got := run(args, nil, &out, &errs); got != want {
			t.Errorf("%s: exit %d, want %d\n%s%s", flags, got, want, out.String(), errs.String())
		}
	}
}
