package harness

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pinyon/faultnet"
)

var cut = faultnet.Step{For: 60 * time.Millisecond, Kind: faultnet.Drop, Links: []faultnet.Link{{From: "n1", To: "n2"}, {From: "n2", To: "n1"}}}

// apply carries out one step and returns its evidence.
func (e *echoes) apply(t *testing.T, s faultnet.Step) Evidence {
	t.Helper()
	list := e.nemesis.run(t.Context(), &faultnet.Schedule{Steps: []faultnet.Step{s}})
	for _, l := range s.Links {
		if there, back := e.network.Rules(l); there.Kind != faultnet.Pass || back.Kind != faultnet.Pass {
			t.Errorf("after the step %s has %v and %v", l, there, back)
		}
	}
	return list[0]
}

// A fault is verified on links that the store uses: its probes passed before,
// were blocked, and passed again.
func TestFaultIsVerified(t *testing.T) {
	e := newEchoes(t, &fakeTarget{})
	e.talk(t, cut.Links[0])
	got := e.apply(t, cut)
	if !got.Applied || !got.Verified || got.Error != "" {
		t.Errorf("evidence %+v: want applied and verified", got)
	}
	if len(e.notes) != 1 || e.notes[0].Name != "drop" || e.notes[0].To-e.notes[0].From < int64(cut.For/2) {
		t.Errorf("notes %+v: want one of the drop, as long as it was", e.notes)
	}
}

// Links that nobody uses prove nothing, however well their probes behave; the
// probes of the step before are no use of the store's.
func TestFaultOnIdleLinkIsNotVerified(t *testing.T) {
	e := newEchoes(t, &fakeTarget{})
	must(t, e.probeAll(t.Context()))
	for range 2 {
		got := e.apply(t, cut)
		if len(got.Probes) != 2 || !got.Probes[0].holds() || !got.Probes[1].holds() {
			t.Fatalf("probes %+v: want two that hold", got.Probes)
		}
		if got.Verified {
			t.Errorf("evidence %+v: verified on links that only probes used", got)
		}
	}
}

// An exchange that passes during the fault shows that there was none.
func TestFaultThatLetsThroughIsNotVerified(t *testing.T) {
	e := newEchoes(t, &fakeTarget{})
	e.nemesis.disarm = true
	e.talk(t, cut.Links[0])
	if got := e.apply(t, cut); !got.Applied || got.Verified {
		t.Errorf("evidence %+v: want applied and not verified", got)
	}
}

// A link that does not come back may have been dead by itself.
func TestFaultThatStaysIsNotVerified(t *testing.T) {
	t.Parallel() // waits for the link as long as any may take
	e := newEchoes(t, &fakeTarget{})
	e.talk(t, cut.Links[0])
	s := cut
	s.For = 400 * time.Millisecond
	e.nemesis.say = func(string, ...any) { // once the step is in place
		e.network.Aim("n2", "")
	}
	if got := e.apply(t, s); got.Verified || got.Probes[0].After {
		t.Errorf("evidence %+v: want not verified, as nobody answers afterwards", got)
	}
}

func TestFaultThatHitsNothingIsAnError(t *testing.T) {
	e := newEchoes(t, &fakeTarget{})
	if got := e.apply(t, faultnet.Step{For: time.Millisecond, Kind: faultnet.Drop}); got.Applied || got.Verified || !strings.Contains(got.Error, "hits nothing") {
		t.Errorf("evidence %+v: want an error that says that it hits nothing", got)
	}
	lead := faultnet.Step{For: time.Millisecond, Kind: faultnet.Drop, Links: []faultnet.Link{{From: faultnet.Leader, To: faultnet.Every}}}
	if got := e.apply(t, lead); got.Applied || got.Verified || !strings.Contains(got.Error, "nobody leads") {
		t.Errorf("evidence %+v: want an error that says that nobody leads", got)
	}
}

func TestEvidence(t *testing.T) {
	good := Probe{At: "n1>n2", Busy: true, Before: true, During: true, After: true}
	idle, open, early, late := good, good, good, good
	idle.Busy, open.During, early.Before, late.After = false, false, false, false
	for _, test := range []struct {
		name string
		e    Evidence
		want bool
	}{
		{"good", Evidence{Applied: true, Probes: []Probe{good}}, true},
		{"one of two links in use", Evidence{Applied: true, Probes: []Probe{good, idle}}, true},
		{"idle", Evidence{Applied: true, Probes: []Probe{idle}}, false},
		{"passed during", Evidence{Applied: true, Probes: []Probe{good, open}}, false},
		{"blocked before", Evidence{Applied: true, Probes: []Probe{good, early}}, false},
		{"blocked after", Evidence{Applied: true, Probes: []Probe{late, good}}, false},
		{"no probe", Evidence{Applied: true}, false},
		{"not applied", Evidence{Probes: []Probe{good}}, false},
		{"not taken back", Evidence{Applied: true, Error: "no", Probes: []Probe{good}}, false},
	} {
		if test.e.judge(); test.e.Verified != test.want {
			t.Errorf("%s: verified %v, want %v", test.name, test.e.Verified, test.want)
		}
	}
	counts := countFaults([]Evidence{{Kind: faultnet.Kill, Applied: true}, {Kind: faultnet.Drop, Applied: true, Verified: true}, {Kind: faultnet.Drop}})
	want := []FaultCount{{faultnet.Drop, 2, 1, 1}, {faultnet.Kill, 1, 1, 0}}
	if !slices.Equal(counts, want) {
		t.Errorf("counted %+v, want %+v", counts, want)
	}
	if s := (&Summary{Faults: want}); s.Vacuous() != "" {
		t.Errorf("with one fault that worked: %q", s.Vacuous())
	}
	if s := (&Summary{Faults: want[1:]}); s.Vacuous() == "" {
		t.Error("a run of whose faults none worked is not vacuous")
	}
}

// Steps that overlap keep out of each other's way: each way of a link has the
// rule of the step that still holds it.
func TestOverlappingSteps(t *testing.T) {
	e := newEchoes(t, &fakeTarget{})
	l := faultnet.Link{From: "n1", To: "n2"}
	there := &faultnet.Step{Kind: faultnet.Drop, Way: faultnet.Forward, Links: []faultnet.Link{l}}
	back := &faultnet.Step{Kind: faultnet.Stall, Way: faultnet.Backward, Links: []faultnet.Link{l}}
	want := func(when string, f, b faultnet.Kind) {
		t.Helper()
		if forth, back := e.network.Rules(l); forth.Kind != f || back.Kind != b {
			t.Errorf("%s: %s and %s, want %s and %s", when, forth.Kind, back.Kind, f, b)
		}
	}
	must(t, e.nemesis.apply(t.Context(), there))
	want("one step", faultnet.Drop, faultnet.Pass)
	must(t, e.nemesis.apply(t.Context(), back))
	want("two steps", faultnet.Drop, faultnet.Stall)
	must(t, e.nemesis.undo(t.Context(), there))
	want("the second is left", faultnet.Pass, faultnet.Stall)
	must(t, e.nemesis.undo(t.Context(), back))
	want("none is left", faultnet.Pass, faultnet.Pass)
}

// What cannot be taken back somewhere is taken back everywhere else.
func TestUndoGoesOnAfterAnError(t *testing.T) {
	e := newEchoes(t, processEchoes(t, "n1"))
	ghost := faultnet.Step{Kind: faultnet.Drop, Links: []faultnet.Link{{From: "n1", To: "n2"}, {From: "ghost", To: "n1"}, {From: "n1", To: "n3"}}}
	if err := e.nemesis.apply(t.Context(), &ghost); err == nil {
		t.Error("a link that is not there: no error")
	}
	for _, to := range []string{"n2", "n3"} {
		must(t, e.network.Set(faultnet.Link{From: "n1", To: to}, faultnet.Both, faultnet.Rule{Kind: faultnet.Drop}))
	}
	if err := e.nemesis.undo(t.Context(), &ghost); err == nil || !strings.Contains(err.Error(), "ghost") {
		t.Errorf("undo: %v, want an error about the link that is not there", err)
	}
	for _, to := range []string{"n2", "n3"} {
		if there, _ := e.network.Rules(faultnet.Link{From: "n1", To: to}); there.Kind != faultnet.Pass {
			t.Errorf("n1>%s is not healed: %v", to, there)
		}
	}
	kill := faultnet.Step{Kind: faultnet.Kill, Nodes: []string{"n1", "n2"}}
	if err := e.nemesis.undo(t.Context(), &kill); err == nil || !strings.Contains(err.Error(), "node n1: ") {
		t.Errorf("undo: %v, want that n1 does not start", err)
	}
	if p := e.nodes["n2"].process; p == nil || !p.alive() {
		t.Error("n2 was not started again, because n1 could not be")
	}
}

// A dead node refuses dials over every link, and is back on the same address.
func TestKilledNodeRefusesDials(t *testing.T) {
	e := newEchoes(t, processEchoes(t))
	kill := faultnet.Step{For: 100 * time.Millisecond, Kind: faultnet.Kill, Nodes: []string{"n1", "n3"}}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	must(t, e.nemesis.undo(ctx, &kill)) // the first start
	before := e.pids()
	dial := func(from, to string) error {
		c, err := net.Dial("tcp", e.network.Addr(faultnet.Link{From: from, To: to}))
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	must(t, e.nemesis.apply(ctx, &kill))
	for _, l := range []faultnet.Link{{From: "n2", To: "n1"}, {From: "c1", To: "n1"}, {From: admin, To: "n3"}} {
		if err := dial(l.From, l.To); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s while it is dead: %v, want that it is refused", l, err)
		}
	}
	must(t, dial("n1", "n2"))
	must(t, e.nemesis.undo(ctx, &kill))
	if got := e.apply(t, kill); !got.Verified {
		t.Errorf("evidence %+v: want verified", got)
	}
	if after := e.pids(); after["n1"] == before["n1"] || after["n3"] == before["n3"] {
		t.Errorf("processes %v, then %v: want others", before, after)
	}
}

// A step hits all its nodes at one instant; each waits for the other here, as
// nobody would who comes one after the other.
func TestNodesAreHitTogether(t *testing.T) {
	arrived := make(chan string, 2)
	err := together([]string{"n1", "n2", "n3"}, func(id string) error {
		if id == "n3" {
			return errors.New("n3 fails")
		}
		arrived <- id
		for until := time.Now().Add(5 * time.Second); len(arrived) < 2; time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				return errors.New(id + " is alone")
			}
		}
		return nil
	})
	if err == nil || err.Error() != "n3 fails" {
		t.Errorf("error %v, want that n3 fails and no other", err)
	}
}

// When the run ends in the middle of a fault, the fault is taken back at once,
// and what has not begun does not begin.
func TestStepsEndWithTheRun(t *testing.T) {
	e := newEchoes(t, &fakeTarget{})
	ctx, cancel := context.WithCancel(t.Context())
	e.nemesis.say = func(string, ...any) { cancel() }
	long, later := cut, cut
	long.For, later.At = time.Hour, time.Hour
	began := time.Now()
	list := e.nemesis.run(ctx, &faultnet.Schedule{Steps: []faultnet.Step{long, later}})
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	if !list[0].Applied || list[1].Applied {
		t.Errorf("applied %v and %v, want the first only", list[0].Applied, list[1].Applied)
	}
	if there, _ := e.network.Rules(cut.Links[0]); there.Kind != faultnet.Pass {
		t.Errorf("the link is not healed: %v", there)
	}
}

// A delay counts when an exchange takes that long, and not longer afterwards.
func TestDelayIsVerified(t *testing.T) {
	e := newEchoes(t, &fakeTarget{})
	s := faultnet.Step{For: 300 * time.Millisecond, Kind: faultnet.Delay, Delay: 100 * time.Millisecond, Links: cut.Links[:1]}
	e.talk(t, s.Links[0])
	if got := e.apply(t, s); !got.Verified {
		t.Errorf("evidence %+v: want verified", got)
	}
	e.nemesis.disarm = true
	if got := e.apply(t, s); got.Verified {
		t.Errorf("evidence %+v: want not verified, as nothing was slow", got)
	}
}

// A probe that cannot succeed would take every silence for a fault: before the
// load begins every link must pass one.
func TestEveryLinkIsProbedBefore(t *testing.T) {
	e := newEchoes(t, &fakeTarget{})
	must(t, e.probeAll(t.Context()))
	must(t, e.network.Set(faultnet.Link{From: "n1", To: "n3"}, faultnet.Both, faultnet.Rule{Kind: faultnet.Reset}))
	if err := e.probeAll(t.Context()); err == nil || !strings.Contains(err.Error(), "n1>n3") {
		t.Errorf("with a dead link: %v, want an error that names n1>n3", err)
	}
	if err := e.ping(t.Context(), faultnet.Link{From: "n1", To: "n9"}, time.Second); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Errorf("a link without an address: %v", err)
	}
}

// Two steps of one node take turns, however late the first one is: the end of
// one is not in the middle of the other.
func TestStepsOfANodeTakeTurns(t *testing.T) {
	target := &fakeTarget{}
	e := newEchoes(t, target)
	step := faultnet.Step{For: 50 * time.Millisecond, Kind: faultnet.Clock, Nodes: []string{"n2", "n1"}, Offset: time.Second}
	other := faultnet.Step{For: 50 * time.Millisecond, Kind: faultnet.Clock, Nodes: []string{"n1", "n2"}, Offset: time.Second}
	for _, got := range e.nemesis.run(t.Context(), &faultnet.Schedule{Steps: []faultnet.Step{step, other}}) {
		if !got.Verified {
			t.Errorf("evidence %+v: want verified", got)
		}
	}
	want := []time.Duration{time.Second, time.Second, 0, 0, time.Second, time.Second, 0, 0}
	if !slices.Equal(target.shifts, want) {
		t.Errorf("clocks were shifted by %v, want %v", target.shifts, want)
	}
	// What has its turn after the end of the run is not applied.
	ctx, cancel := context.WithCancel(t.Context())
	e.nemesis.say = func(string, ...any) { cancel() }
	list := e.nemesis.run(ctx, &faultnet.Schedule{Steps: []faultnet.Step{step, other}})
	if list[0].Applied == list[1].Applied {
		t.Errorf("applied: %v and %v, want one of them", list[0].Applied, list[1].Applied)
	}
}
