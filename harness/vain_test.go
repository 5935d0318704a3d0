package harness

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"pinyon/faultnet"
)

// Faults that cannot hit their store are refused before anything starts, and
// nothing else is.
func TestVain(t *testing.T) {
	for _, test := range []struct {
		store, faults, want string
	}{
		{"kvabd", "isolate-leader", "kvabd has none; isolate-one"},
		{"kvepaxos", "isolate-leader", "kvepaxos has none"},
		{"kvsingle", "isolate-leader", "those of kvsingle do not speak to each other"},
		{"kvsingle", "halves", "those of kvsingle do not speak to each other"},
		{"kvsingle", "one-way", "those of kvsingle do not speak to each other"},
		{"kvabd", "isolate-one", ""}, {"kvabd", "pause", ""}, {"kvabd", "kill", ""}, {"kvabd", "clock", ""}, {"kvabd", "chaos", ""}, {"kvabd", "none", ""},
		{"kvraft", "isolate-leader", ""}, {"kvlog", "isolate-leader", ""}, {"kvzab", "isolate-leader", ""},
		{"kvsingle", "pause", ""}, {"kvsingle", "kill-all", ""}, {"kvsingle", "none", ""}, {"kvsingle", "chaos", ""},
	} {
		c := Config{Target: fixtureOf(t, test.store, ""), Faults: test.faults, Dir: t.TempDir()}
		err := c.Vain()
		if (err == nil) != (test.want == "") || err != nil && (!errors.Is(err, ErrVain) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s under %s: %v, want %q", test.store, test.faults, err, test.want)
		}
		if test.want == "" {
			continue
		}
		if _, err := Record(t.Context(), c); !errors.Is(err, ErrVain) {
			t.Errorf("%s under %s: Record: %v", test.store, test.faults, err)
		}
		if files, err := os.ReadDir(c.Dir); err != nil || len(files) > 1 { // the schedule
			t.Errorf("%s under %s left %v, %v", test.store, test.faults, files, err)
		}
	}
	// A link of a client is one that is used.
	client := faultnet.Step{At: time.Second, For: time.Second, Kind: faultnet.Drop, Links: []faultnet.Link{{From: "c1", To: "n1"}}}
	plan := &faultnet.Schedule{Topology: Topology(3, 3), Steps: []faultnet.Step{client}}
	if err := vain(Claim{Apart: true, Leaderless: true}, plan); err != nil {
		t.Errorf("a link of a client: %v", err)
	}
}

// Of a store from outside it is known once it runs, and said before the load.
func TestVainFromOutside(t *testing.T) {
	target := &fakeTarget{}
	e := newEchoes(t, target)
	plan, err := faultnet.Plan("isolate-leader", 1, e.topo, time.Second)
	must(t, err)
	if err := e.led(t.Context(), &plan); !errors.Is(err, ErrVain) || !strings.Contains(err.Error(), "nobody leads fake") {
		t.Errorf("nobody leads: %v", err)
	}
	target.leads = "n2"
	must(t, e.led(t.Context(), &plan))
	target.leads = ""
	plan, err = faultnet.Plan("isolate-one", 1, e.topo, time.Second)
	must(t, err)
	must(t, e.led(t.Context(), &plan))
}
