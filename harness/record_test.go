package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/faultnet"
)

// A whole run with a real store and real faults: what the clients did stands in
// the history, the header says how exact its clock is, faults are notes in it,
// and the folder holds all that a bundle does.
func TestRecord(t *testing.T) {
	t.Parallel()
	c := Config{Target: fixtureOf(t, "kvraft", ""), Faults: "isolate-one", Duration: 2 * time.Second, Rate: 300, Keys: 3, Seed: 5}
	sum := recorded(t, c)
	h := loaded(t, sum.History)
	if h.Header.ClockError.All != sum.Granularity || sum.Granularity < 1 {
		t.Errorf("the header's clock error is %d, the clock's steps are %d", h.Header.ClockError.All, sum.Granularity)
	}
	if fmt.Sprint(h.Header.Nodes) != "[n1 n2 n3]" || h.Header.Model != "kv" || h.Header.Level != "linearizable" || h.Header.Seed != history.Int(5) {
		t.Errorf("header %+v", h.Header)
	}
	if n := sum.OK + sum.Failed + sum.Unknown; n != int64(len(h.Ops)) || sum.OK < 10 {
		t.Errorf("%d operations in the summary, %d in the history, %d ok", n, len(h.Ops), sum.OK)
	}
	nodes, last := map[string]bool{}, map[string]bool{}
	for i, op := range h.Ops {
		nodes[op.Node] = true
		if op.F == "get" && op.Outcome == history.OK && op.Return > h.Ops[len(h.Ops)-1].Invoke-int64(time.Second) {
			last[op.Node+" "+op.Key] = true
		}
		if h.Origins[i].DoneLine == 0 {
			t.Errorf("operation %d has no end", h.ID(i))
		}
	}
	if len(nodes) != 3 || len(last) != 9 {
		t.Errorf("asked %v, last reads %v; want 3 nodes and 3 keys at each", nodes, last)
	}
	checkFaultFiles(t, sum, h)
	verdict, _, err := Checker{}.Check(t.Context(), sum.History)
	must(t, err)
	if verdict.Kind != spec.Consistent {
		t.Errorf("kvraft: %s", verdict.Kind)
	}
}

// checkFaultFiles compares summary, notes, schedule and evidence.
func checkFaultFiles(t *testing.T, sum *Summary, h *history.Raw) {
	t.Helper()
	dir := filepath.Dir(sum.History)
	if len(sum.Faults) != 1 || sum.Faults[0].Kind != faultnet.Drop || sum.Faults[0].Applied != len(h.Notes) || sum.Faults[0].Verified == 0 {
		t.Errorf("faults %+v, %d notes: want drops, each a note, some verified; evidence %+v", sum.Faults, len(h.Notes), sum.Evidence)
	}
	dropped := int64(0)
	for _, l := range sum.Links {
		dropped += l.DroppedForward + l.DroppedBackward
	}
	if dropped == 0 {
		t.Error("no byte was dropped")
	}
	text, err := os.ReadFile(filepath.Join(dir, "schedule.jsonl"))
	must(t, err)
	s, err := faultnet.Decode(bytes.NewReader(text), "schedule.jsonl")
	must(t, err)
	text, err = os.ReadFile(filepath.Join(dir, "faults.jsonl"))
	must(t, err)
	if n := bytes.Count(text, []byte("\n")); n != len(s.Steps) || n != len(sum.Evidence) {
		t.Errorf("%d steps, %d lines of evidence, %d in the summary", len(s.Steps), n, len(sum.Evidence))
	}
	var e Evidence
	must(t, json.NewDecoder(bytes.NewReader(text)).Decode(&e))
	if len(e.Probes) == 0 {
		t.Errorf("evidence without probes: %s", text)
	}
	for _, n := range []string{"n1", "n2", "n3"} {
		if _, err := os.Stat(filepath.Join(dir, "node-"+n+".log")); err != nil {
			t.Error(err)
		}
	}
}

// A run whose injectors do nothing is vacuous, in a run and in a campaign.
func TestDisarmedRunIsVacuous(t *testing.T) {
	t.Parallel()
	sum := recorded(t, Config{Target: fixtureOf(t, "kvraft", ""), Faults: "halves", Duration: time.Second, Rate: 200, Seed: 1, disarm: true})
	if len(sum.Faults) != 1 || sum.Faults[0].Applied == 0 || sum.Faults[0].Verified != 0 || sum.Vacuous() == "" {
		t.Errorf("faults %+v, vacuous: %q", sum.Faults, sum.Vacuous())
	}
	c := &Campaign{Program: self(t), Duration: time.Second, Rate: 200, disarm: true}
	m, err := Demo(t.Context(), c, []Row{{Store: "kvraft", Columns: []string{"kill"}, Correct: true}}, 1)
	must(t, err)
	if broken, vacuous := m.Broken(); !vacuous || len(broken) == 0 {
		t.Errorf("the demo with injectors that do nothing: vacuous %v, %v", vacuous, broken)
	}
}

// What is not on the disk is lost where every node dies at once, and a store
// that says otherwise is caught; one that tells the truth is not. Nobody is left
// without an answer by a node that is known to be dead.
func TestKillAllFindsWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	for bug, want := range map[string]spec.Kind{"": spec.Consistent, "lose-unsynced-log": spec.Violation} {
		sum := recorded(t, Config{Target: fixtureOf(t, "kvraft", bug), Faults: "kill-all", Duration: 2 * time.Second, Rate: 300, Seed: 5})
		if len(sum.Faults) != 1 || sum.Faults[0].Verified == 0 {
			t.Fatalf("%q: no fault was seen to work: %+v", bug, sum.Evidence)
		}
		verdict, _, err := Checker{}.Check(t.Context(), sum.History)
		must(t, err)
		if verdict.Kind != want {
			t.Errorf("kvraft with bug %q: %s, want %s", bug, verdict.Kind, want)
		}
		if sum.Failed == 0 {
			t.Errorf("%q: nobody was refused by a dead node", bug)
		}
	}
}

// A node that dials another without the proxy is caught, whatever it sends.
func TestBypassIsCaught(t *testing.T) {
	t.Parallel()
	inner := fixtureOf(t, "kvforward", "")
	var mutex sync.Mutex
	first := ""
	target := wrapped{inner, func(n NodeSpec) (Command, error) {
		mutex.Lock()
		defer mutex.Unlock()
		c, err := inner.Command(n)
		if first == "" {
			first = n.Listen
		} else {
			c.Env = append(c.Env, "PINYON_DIRECT="+first)
		}
		return c, err
	}}
	_, err := try(t, Config{Target: target, Duration: time.Second, Rate: 50})
	if !errors.Is(err, ErrBypass) || !strings.Contains(err.Error(), "to n1") {
		t.Errorf("error %v, want %v, to n1", err, ErrBypass)
	}
}

// Nor may two nodes meet at a port that the harness knows nothing of.
func TestBypassAtAnotherPortIsCaught(t *testing.T) {
	t.Parallel()
	held, side, err := reserve()
	must(t, err)
	defer held.Close()
	inner := fixtureOf(t, "kvforward", "")
	target := wrapped{inner, func(n NodeSpec) (Command, error) {
		c, err := inner.Command(n)
		c.Env = append(c.Env, map[string]string{"n1": "PINYON_SIDE=" + side, "n2": "PINYON_DIRECT=" + side, "n3": "PINYON_NONE=1"}[n.ID])
		return c, err
	}}
	_, err = try(t, Config{Target: target, Duration: time.Second, Rate: 50})
	if !errors.Is(err, ErrBypass) || !strings.Contains(err.Error(), "n1") || !strings.Contains(err.Error(), "n2") {
		t.Errorf("error %v, want %v, between n1 and n2", err, ErrBypass)
	}
}

// What one seed plans is the same bytes every time, and a schedule that was
// saved is the one that runs.
func TestSavedScheduleIsReplayed(t *testing.T) {
	t.Parallel()
	topo := Topology(3, 6)
	var files [2][]byte
	var plan faultnet.Schedule
	for i := range files {
		var err error
		plan, err = faultnet.Plan("chaos", 9, topo, time.Second)
		must(t, err)
		path := filepath.Join(t.TempDir(), "schedule.jsonl")
		must(t, save(path, &plan))
		files[i], err = os.ReadFile(path)
		must(t, err)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("one seed, two schedules")
	}
	saved, err := faultnet.Plan("isolate-one", 3, topo, time.Second)
	must(t, err)
	sum := recorded(t, Config{Target: fixtureOf(t, "kvforward", ""), Schedule: &saved, Duration: time.Second, Rate: 100})
	if len(sum.Evidence) != len(saved.Steps) {
		t.Fatalf("%d faults, the schedule has %d", len(sum.Evidence), len(saved.Steps))
	}
	for i, s := range saved.Steps {
		if got, want := sum.Evidence[i].Hits, describe(s.Resolve(topo, "")); got != want || !sum.Evidence[i].Applied {
			t.Errorf("fault %d hit %s, the schedule says %s", i, got, want)
		}
	}
	c := Config{Target: fixtureOf(t, "kvforward", ""), Schedule: &saved, Clients: 7}
	if _, err := try(t, c); err == nil || !strings.Contains(err.Error(), "6 clients, the run has 3 and 7") {
		t.Errorf("a schedule of another topology: %v", err)
	}
	twice := saved
	twice.Steps = append([]faultnet.Step{saved.Steps[0]}, saved.Steps...)
	if _, err := try(t, Config{Target: fixtureOf(t, "kvforward", ""), Schedule: &twice}); err == nil {
		t.Error("a schedule whose steps hold one link twice was accepted")
	}
}

// Online ends at the first impossible return, with every node stopped.
func TestOnlineStopsWithNodesFrozen(t *testing.T) {
	t.Parallel()
	states := map[string]string{}
	c := Config{Target: fixtureOf(t, "kvquorum", ""), Online: true, Keys: 1, Rate: 300, Duration: 8 * time.Second, Faults: "pause", Seed: 2}
	began := time.Now()
	c.Hold = func(s *Stop) {
		for id, pid := range s.Process {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			_, rest, _ := strings.Cut(string(text), ") ")
			states[id] = rest[:min(len(rest), 1)]
		}
	}
	sum := recorded(t, c)
	if sum.Stopped == nil || sum.Stopped.Verdict.Kind != spec.Violation {
		t.Fatalf("kvquorum was not stopped: %+v", sum)
	}
	if fmt.Sprint(states) != "map[n1:T n2:T n3:T]" {
		t.Errorf("states of the nodes %v, want all stopped", states)
	}
	if took := time.Since(began); took > c.Duration {
		t.Errorf("it took %s", took)
	}
	h := loaded(t, sum.History)
	found := false
	for i := range h.Ops {
		found = found || h.ID(i) == sum.Stopped.Op && h.Ops[i].Outcome == history.OK
	}
	if !found {
		t.Errorf("stopped at operation %d, which the history does not hold", sum.Stopped.Op)
	}
}

// A run leaves no goroutine behind.
func TestRunLeavesNoGoroutine(t *testing.T) {
	recorded(t, Config{Target: fixtureOf(t, "kvforward", ""), Faults: "flaky", Duration: 500 * time.Millisecond, Rate: 100})
	eventually(t, "the end of every goroutine", func() bool { return len(goroutines()) == 0 })
}

// A folder that cannot be written is an error, and no process is left.
func TestRecordInAFolderThatIsNotThere(t *testing.T) {
	c := Config{Target: fixtureOf(t, "kvforward", ""), Dir: filepath.Join(t.TempDir(), "missing")}
	if _, err := Record(t.Context(), c); err == nil {
		t.Error("no error")
	}
	if len(processes(t, c.Dir)) > 0 {
		t.Error("processes are left")
	}
	// A file where the history should be a folder, half way through the start.
	c.Dir = t.TempDir()
	must(t, os.Mkdir(filepath.Join(c.Dir, "history.jsonl"), 0o755))
	if _, err := Record(t.Context(), c); err == nil {
		t.Error("no error")
	}
	if left := processes(t, c.Dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// A store whose nodes end at once says which, and where its log is.
func TestNodeThatDoesNotStart(t *testing.T) {
	t.Parallel()
	inner := fixtureOf(t, "kvforward", "")
	target := wrapped{inner, func(n NodeSpec) (Command, error) {
		c, err := inner.Command(n)
		if n.ID == "n2" {
			c.Args = append(c.Args, "--bug", "no-such")
		}
		return c, err
	}}
	if _, err := try(t, Config{Target: target}); err == nil || !strings.Contains(err.Error(), "node n2 ended") || !strings.Contains(err.Error(), "no-such") || !strings.Contains(err.Error(), "node-n2.log") {
		t.Errorf("error %v, want that n2 ended, why, and the name of its log", err)
	}
}
