package models

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/history/importers"
	"pinyon/engine/spec"
)

// TestRecordedAnalyses judges the recorded histories that other tools' checkers
// come with, and expects what those say.
func TestRecordedAnalyses(t *testing.T) {
	dir := os.Getenv("PINYON_HISTORIES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "histories")
	}
	if _, err := os.Stat(filepath.Join(dir, "MANIFEST.tsv")); err != nil {
		t.Skipf("SKIPPED: no recorded histories (%v)", err)
	}
	for _, c := range []struct {
		file, analysis string
		want           spec.Kind
		bad            string // names of the bad findings
	}{
		{"jepsen-checker-tests/counter-ignore-failed.edn", "counter-bounds", spec.Consistent, ""},
		{"jepsen-checker-tests/counter-incomplete.edn", "counter-bounds", spec.Consistent, ""},
		{"jepsen-checker-tests/counter-initial-invalid.edn", "counter-bounds", spec.Violation, "out of bounds"},
		{"jepsen-checker-tests/counter-initial-read.edn", "counter-bounds", spec.Consistent, ""},
		{"jepsen-checker-tests/counter-interleaved.edn", "counter-bounds", spec.Violation, "out of bounds"},
		{"jepsen-checker-tests/counter-rolling.edn", "counter-bounds", spec.Violation, "out of bounds"},
		{"elle-cli/jepsen/counter.edn", "counter-bounds", spec.Vacuous, ""}, // it has no read
		{"issues/counter-unbounded.edn", "counter-bounds", spec.Consistent, ""},
		{"jepsen-checker-tests/queue-concurrent.edn", "total-queue", spec.Consistent, ""},
		{"jepsen-checker-tests/queue-dequeue-from-nowhere.edn", "total-queue", spec.Violation, "unexpected"},
		{"jepsen-checker-tests/queue-possible-enqueue.edn", "total-queue", spec.Vacuous, ""}, // nothing was answered
		{"jepsen-checker-tests/total-queue-pathological.edn", "total-queue", spec.Violation, "unexpected"},
		{"jepsen-checker-tests/total-queue-pathological.edn", "once-queue", spec.Violation, "duplicated, unexpected"},
		{"jepsen-checker-tests/total-queue-sane.edn", "total-queue", spec.Consistent, ""},
		{"issues/drain-crashed.edn", "total-queue", spec.Unknown, ""},
		{"jepsen-checker-tests/set-lost-unexpected.edn", "set-final", spec.Violation, "lost, unexpected"},
		{"jepsen-checker-tests/set-lost-unexpected.edn", "set-full", spec.Violation, "lost, unexpected"},
		{"jepsen-checker-tests/unique-ids-dups.edn", "unique-ids", spec.Violation, "duplicated"},
		{"elle-cli/jepsen/long-fork.edn", "long-fork", spec.Violation, "long fork"},
		{"elle-cli/jepsen/set_full.json", "set-full", spec.Violation, "lost, unexpected"},
	} {
		keyed := "auto"
		if strings.HasSuffix(c.file, "set_full.json") {
			keyed = "no" // its reads carry no key
		}
		h, rep, err := importers.Load(filepath.Join(dir, c.file), importers.Options{Keyed: keyed})
		if err != nil {
			t.Error(err)
			continue
		}
		if h.Header.NilRead == "" {
			h.Header.NilRead = rep.Defaults.NilRead
		}
		a, err := LookupAnalysis(c.analysis)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Run(h, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := badNames(r); r.Kind != c.want || got != c.bad {
			t.Errorf("%s %s: %v (%s), bad %q; want %v, %q\n%s", c.file, c.analysis, r.Kind, r.Reason, got, c.want, c.bad, strings.Join(r.Verdict(a.Name).Notices, "\n"))
		}
	}
}

// badNames lists the names of bad findings, each once, sorted.
func badNames(r *Result) string {
	var names []string
	for _, f := range r.Findings {
		if f.Bad && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func TestAnalyses(t *testing.T) {
	for _, c := range []struct {
		name, analysis string
		calls          []call
		at             func(i int) (from, to int64)
		want           spec.Kind
		findings       string // name of each, in order
	}{
		{"a read of what was added", "counter-bounds", []call{{"add", "2", ""}, {"add", "-1", ""}, {"read", "", "1"}}, sequential, spec.Consistent, ""},
		{"a lost addition", "counter-bounds", []call{{"add", "2", ""}, {"add", "-1", ""}, {"read", "", "2"}}, sequential, spec.Violation, "out of bounds"},
		{"no subset adds up to 1, and it is within bounds", "counter-bounds", []call{{"add", "2", ""}, {"read", "", "1"}}, overlapping, spec.Consistent, ""},
		{"bounds go both ways", "counter-bounds", []call{{"add", "2", ""}, {"add", "-3", ""}, {"read", "", "-3"}, {"read", "", "-4"}, {"read", "", "3"}}, overlapping, spec.Violation, "out of bounds out of bounds"},
		{"beyond 64 bits", "counter-bounds", []call{{"add", "9223372036854775807", ""}, {"add", "9223372036854775807", ""}, {"read", "", "18446744073709551614"}}, sequential, spec.Consistent, ""},
		{"no read", "counter-bounds", []call{{"add", "2", ""}}, sequential, spec.Vacuous, ""},
		{"read out", "total-queue", []call{{"enqueue", "1", ""}, {"enqueue", "2", ""}, {"dequeue", "", "2"}, {"drain", "", "[1]"}}, sequential, spec.Consistent, "reordered"},
		{"read out in order", "once-queue", []call{{"enqueue", "1", ""}, {"enqueue", "2", ""}, {"dequeue", "", "1"}, {"drain", "", "[2]"}, {"dequeue", "", "null"}}, sequential, spec.Consistent, ""},
		{"out of order", "once-queue", []call{{"enqueue", "1", ""}, {"enqueue", "2", ""}, {"dequeue", "", "2"}, {"drain", "", "[1]"}}, sequential, spec.Violation, "reordered"},
		{"a drain out of order", "once-queue", []call{{"enqueue", "1", ""}, {"enqueue", "2", ""}, {"drain", "", "[2,1]"}}, sequential, spec.Violation, "reordered"},
		{"no order between overlapping ones", "once-queue", []call{{"enqueue", "1", ""}, {"enqueue", "2", ""}, {"drain", "", "[2,1]"}}, overlapping, spec.Consistent, ""},
		{"twice", "total-queue", []call{{"enqueue", "1", ""}, {"dequeue", "", "1"}, {"dequeue", "", "1"}}, sequential, spec.Consistent, "duplicated"},
		{"once means once", "once-queue", []call{{"enqueue", "1", ""}, {"dequeue", "", "1"}, {"dequeue", "", "1"}}, sequential, spec.Violation, "duplicated"},
		{"too early", "total-queue", []call{{"dequeue", "", "1"}, {"enqueue", "1", ""}}, sequential, spec.Violation, "unexpected"},
		{"lost", "total-queue", []call{{"enqueue", "1", ""}, {"enqueue", "2", ""}, {"dequeue", "", "2"}}, sequential, spec.Violation, "lost"},
		{"a set that keeps", "set-full", []call{{"add", "1", ""}, {"read", "", "[1]"}}, sequential, spec.Consistent, ""},
		{"a set that was late", "set-full", []call{{"add", "1", ""}, {"read", "", "[]"}, {"read", "", "[1]"}}, sequential, spec.Consistent, "stale"},
		{"a set that lost", "set-full", []call{{"add", "1", ""}, {"read", "", "[1]"}, {"read", "", "[]"}}, sequential, spec.Violation, "lost"},
		{"a set with an element twice", "set-full", []call{{"add", "1", ""}, {"read", "", "[1,1]"}}, sequential, spec.Violation, "duplicated"},
		{"never seen", "set-full", []call{{"add", "1", ""}, {"read", "", "[]"}}, overlapping, spec.Unknown, ""},
		{"not read", "set-full", []call{{"add", "1", ""}}, sequential, spec.Vacuous, ""},
		{"the last read counts", "set-final", []call{{"add", "1", ""}, {"read", "", "[]"}, {"read", "", "[1]"}}, sequential, spec.Consistent, ""},
		{"added after the last read", "set-final", []call{{"read", "", "[]"}, {"add", "1", ""}}, sequential, spec.Consistent, ""},
		{"read before it was added", "set-final", []call{{"read", "", "[1]"}, {"add", "1", ""}}, sequential, spec.Violation, "unexpected"},
		{"not read at the end", "set-final", []call{{"add", "1", ""}}, sequential, spec.Unknown, ""},
		{"ids", "unique-ids", []call{{"generate", "", "1"}, {"generate", "", `"1"`}}, sequential, spec.Consistent, ""},
		{"an id twice", "unique-ids", []call{{"generate", "", "1"}, {"generate", "", "1"}}, sequential, spec.Violation, "duplicated"},
		{"one saw more", "long-fork", []call{{"read", `[["r","x",null],["r","y",null]]`, `[["r","x",1],["r","y",null]]`}, {"read", `[["r","y",null],["r","x",null]]`, `[["r","y",1],["r","x",1]]`}}, overlapping, spec.Consistent, ""},
		{"each saw one", "long-fork", []call{{"write", `[["w","x",1]]`, ""}, {"read", `[["r","x",null],["r","y",null]]`, `[["r","x",1],["r","y",null]]`}, {"read", `[["r","y",null],["r","x",null]]`, `[["r","y",1],["r","x",null]]`}}, overlapping, spec.Violation, "long fork"},
		{"a key with two values", "long-fork", []call{{"read", `[["r","x",null],["r","y",null]]`, `[["r","x",1],["r","y",null]]`}, {"read", `[["r","y",null],["r","x",null]]`, `[["r","y",1],["r","x",2]]`}}, overlapping, spec.Unknown, ""},
	} {
		a, err := LookupAnalysis(c.analysis)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Run(raw(t, c.calls, c.at), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var names []string
		for _, f := range r.Findings {
			names = append(names, f.Name)
			if len(f.Ops) == 0 || f.Text == "" {
				t.Errorf("%s: finding %+v", c.name, f)
			}
		}
		v := r.Verdict(a.Name)
		if got := strings.Join(names, " "); r.Kind != c.want || v.Kind != c.want || got != c.findings || (r.Reason != "") != (c.want > spec.Violation) {
			t.Errorf("%s: %v (%s), findings %q; want %v, %q", c.name, r.Kind, r.Reason, got, c.want, c.findings)
		}
	}
}

// TestCounterBoundsAgainstDefinition compares the sums with those over all
// pairs.
func TestCounterBoundsAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	verdicts := map[spec.Kind]int{}
	for range 3000 {
		h := &history.Raw{}
		h.Header.Ties = history.Ties(rng.IntN(2))
		h.Header.ClockError.All = rng.Int64N(2)
		for i := range 2 + rng.IntN(7) {
			from := rng.Int64N(12)
			op := history.Op[history.Value, history.Value]{Process: i, F: "read", Out: history.Int(rng.Int64N(9) - 4), Invoke: from, Return: from + 1 + rng.Int64N(4)}
			if i > 0 {
				op.F, op.In, op.Out, op.Outcome = "add", history.Int(rng.Int64N(7)-3), history.Absent, history.Outcome(rng.IntN(3))
			}
			h.Ops = append(h.Ops, op)
		}
		before := func(a, b history.Op[history.Value, history.Value]) bool {
			e := h.Header.ClockError.All
			return a.Outcome != history.Info && (a.Return+e < b.Invoke || h.Header.Ties == history.TiesPrecede && a.Return+e == b.Invoke)
		}
		read := h.Ops[0]
		out, _ := read.Out.Int64()
		low, high := int64(0), int64(0)
		for _, add := range h.Ops[1:] {
			n, _ := add.In.Int64()
			switch {
			case add.Outcome == history.Fail || before(read, add):
			case before(add, read):
				low, high = low+n, high+n
			default:
				low, high = low+min(n, 0), high+max(n, 0)
			}
		}
		want := spec.Consistent
		if out < low || out > high {
			want = spec.Violation
		}
		r, err := CounterBounds(h, Options{})
		if err != nil || r.Kind != want {
			t.Fatalf("%v %v, want %v: %d between %d and %d", r.Kind, err, want, out, low, high)
		}
		verdicts[want]++
	}
	if min(verdicts[spec.Consistent], verdicts[spec.Violation]) < 500 {
		t.Errorf("one-sided: %v", verdicts)
	}
}

// TestAnalysesSplitByKey: each key is an object of its own, and the worst
// decides.
func TestAnalysesSplitByKey(t *testing.T) {
	h := raw(t, []call{{"generate", "", "1"}, {"generate", "", "1"}, {"generate", "", "1"}}, sequential)
	h.Ops[0].Key, h.Ops[1].Key, h.Ops[2].Key = "a", "b", "b"
	a, _ := LookupAnalysis("unique-ids")
	r, err := a.Run(h, Options{})
	if err != nil || r.Kind != spec.Violation || len(r.Parts) != 2 || r.Parts[0].Kind != spec.Consistent || len(r.Findings) != 1 || r.Findings[0].Key != "b" {
		t.Errorf("%+v, %v", r, err)
	}
	h.Ops[0].F = "genrate"
	if _, err := a.Run(h, Options{}); err == nil || !strings.Contains(err.Error(), "did you mean generate?") {
		t.Error(err)
	}
	if _, err := LookupAnalysis("total-qeue"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "did you mean total-queue?") {
		t.Error(err)
	}
}

// TestBankNeedsItsBalances: what the accounts held at first must be given where
// the first read does not show it.
func TestBankNeedsItsBalances(t *testing.T) {
	h := raw(t, []call{{"transfer", `{"from":0,"to":1,"amount":4}`, "true"}, {"read", "", `{"0":6,"1":4}`}}, sequential)
	if _, err := lookup(t, "bank").Bind(h, Options{}); err == nil || !strings.Contains(err.Error(), "give the balances at the start") {
		t.Error(err)
	}
	h.Ops[0].Outcome = history.Fail // then it changed nothing
	if !possible(bindTo(t, "bank", h, Options{})) {
		t.Error("the read is what there was")
	}
}
