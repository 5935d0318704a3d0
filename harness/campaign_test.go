package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pinyon/engine/spec"
)

// quickCases are three runs of one store.
func quickCases() (cases []Case) {
	for seed := range 3 {
		cases = append(cases, Case{Store: "kvforward", Faults: "none", Seed: uint64(seed + 1)})
	}
	return cases
}

// A campaign that was interrupted goes on where it stopped: what has a result
// is not run again, and a last line that was cut off is.
func TestCampaignGoesOn(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	var ran []string
	campaign := func(dir string) *Campaign {
		return &Campaign{Dir: dir, Program: self(t), Parallel: 2, Duration: 300 * time.Millisecond, Rate: 100, Done: func(r CaseResult) {
			mutex.Lock()
			defer mutex.Unlock()
			ran = append(ran, r.Name())
		}}
	}
	dir := t.TempDir()
	results := filepath.Join(dir, "results.jsonl")
	early := `{"store":"kvforward","faults":"none","seed":2,"verdict":"violation","why":"as it was"}` + "\n" + `{"store":"kvforward","fau`
	must(t, os.WriteFile(results, []byte(early), 0o644))
	list, err := campaign(dir).Run(t.Context(), quickCases())
	must(t, err)
	if len(list) != 3 || list[1].Why != "as it was" || !list[0].Passed() || !list[2].Passed() {
		t.Errorf("results %+v", list)
	}
	if len(ran) != 2 {
		t.Errorf("ran %v, want the two without a result", ran)
	}
	again, err := campaign(dir).Run(t.Context(), quickCases())
	must(t, err)
	if len(ran) != 2 || fmt.Sprint(again) != fmt.Sprint(list) {
		t.Errorf("once more: ran %v, results %+v, want %+v", ran, again, list)
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 1 {
		t.Errorf("%d entries in the folder: runs that passed were kept", len(files))
	}
}

// A run that did not pass keeps its folder, which says the same once more.
func TestCampaignKeepsWhatDidNotPass(t *testing.T) {
	t.Parallel()
	c := &Campaign{Dir: t.TempDir(), Program: self(t), Duration: 1200 * time.Millisecond, Rate: 300, First: true, Budget: 20 * time.Second}
	list, err := c.Run(t.Context(), []Case{{Store: "kvquorum", Faults: "halves", Keys: 1, Seed: 1}, {Store: "nobody", Faults: "none", Seed: 1}})
	must(t, err)
	if len(list) != 2 || list[0].Verdict != "violation" || list[1].Verdict != "error" || !strings.Contains(list[1].Why, "nobody") {
		t.Fatalf("results %+v", list)
	}
	r := list[0]
	v, _, err := Checker{}.Check(t.Context(), filepath.Join(r.Bundle, "history.jsonl"))
	must(t, err)
	if v.Kind != spec.Violation || r.FirstOps < 2 || r.FirstOps > r.Ops || r.FirstTime <= 0 {
		t.Errorf("verdict %s of the bundle, result %+v", v.Kind, r)
	}
	tally := TallyOf(list)
	if tally.Runs != 2 || tally.Violations != 1 || tally.Errors != 1 {
		t.Errorf("tally %+v", tally)
	}
}

// What an interrupt leaves out has no result, and the rest is all there.
func TestCampaignEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := &Campaign{Program: self(t), Duration: 200 * time.Millisecond, Rate: 50, Done: func(CaseResult) { cancel() }}
	list, err := c.Run(ctx, quickCases())
	must(t, err)
	if len(list) == 0 || len(list) == 3 {
		t.Errorf("%d results, want some and not all", len(list))
	}
}

// Of a violation a campaign says which levels still hold: of one stale read, all
// that do not go by real time between clients.
func TestStrongest(t *testing.T) {
	h := parsed(t, []byte(`{"pinyon":"history","version":1,"model":"kv"}
{"id":0,"process":0,"f":"put","key":"k0","in":1,"invoke":0,"return":10,"outcome":"ok"}
{"id":1,"process":0,"f":"put","key":"k0","in":2,"invoke":20,"return":30,"outcome":"ok"}
{"id":2,"process":1,"f":"get","key":"k0","out":1,"invoke":40,"return":50,"outcome":"ok"}
`))
	v, subject, err := Checker{}.check(t.Context(), h)
	must(t, err)
	list, err := strongest(t.Context(), subject, 20*time.Second)
	must(t, err)
	if v.Kind != spec.Violation || fmt.Sprint(list) != "[ordered-sequential]" {
		t.Errorf("%s, and %v still hold; want a violation and ordered-sequential", v.Kind, list)
	}
}

func TestCaseNames(t *testing.T) {
	k := Case{Store: "kvfollower", Bug: "unbounded-lag", Options: map[string]string{"k": "3"}, Faults: "kill", Level: "bounded-staleness:k=3", Clients: 25, Rate: 0.5, Seed: 4}
	if got, want := k.Name(), "kvfollower-unbounded-lag-k3-kill-bounded-staleness-k3-clients25-rate0.5-seed4"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
	if got := (Tally{Runs: 30, Passed: 30, Verified: 7}).String(); !strings.Contains(got, "fewer than 0.1 of") {
		t.Errorf("30 runs that passed: %q, want the rule of three", got)
	}
	if got, want := (Tally{Runs: 1, Passed: 1, Verified: 1}).String(), "1 run, 1 fault seen to work: 1 passed, 0 violations, 0 unknown, 0 vacuous, 0 failed to run"; got != want {
		t.Errorf("%q, want %q: three runs or fewer bound nothing", got, want)
	}
}
