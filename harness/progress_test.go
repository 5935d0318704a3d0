package harness

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/faultnet"
	"pinyon/kvstores"
)

var everyMinority = flag.Bool("minorities.all", false, "TestMinoritiesMayDie kills each pair of five nodes")

// Whichever minority of the nodes of a store with hints is killed in mid-run, the
// others acknowledge reads and writes before it is back, and the store keeps what
// it claims: of three nodes each one, of five three pairs that hit every node.
//
// With -minorities.all each pair of five.
func TestMinoritiesMayDie(t *testing.T) {
	if testing.Short() {
		t.Skip("runs of some seconds")
	}
	for _, s := range kvstores.Stores() {
		if s.Oracle == "" && s.ClaimFor == nil || s.Wrong != "" {
			continue
		}
		pairs := [][]string{{"n1", "n2"}, {"n3", "n4"}, {"n5", "n1"}}
		if *everyMinority {
			pairs = nil
			for i := range 5 {
				for j := range i {
					pairs = append(pairs, []string{fmt.Sprint("n", j+1), fmt.Sprint("n", i+1)})
				}
			}
		}
		for _, minorities := range [][][]string{{{"n1"}, {"n2"}, {"n3"}}, pairs} {
			nodes := 2*len(minorities[0]) + 1
			t.Run(s.Name+"/"+strings.Join(Topology(nodes, nodes).Nodes, "-"), func(t *testing.T) {
				t.Parallel()
				killed(t, s.Name, nodes, minorities)
			})
		}
	}
}

// killed kills one minority after the other.
func killed(t *testing.T, store string, nodes int, minorities [][]string) {
	const down, up = 1500 * time.Millisecond, 700 * time.Millisecond
	schedule := &faultnet.Schedule{Version: 1, Profile: "minorities", Seed: 1, Topology: Topology(nodes, 2*nodes)}
	for _, list := range minorities {
		schedule.Duration += up
		schedule.Steps = append(schedule.Steps, faultnet.Step{At: schedule.Duration, For: down, Kind: faultnet.Kill, Nodes: list})
		schedule.Duration += down
	}
	schedule.Duration += up
	sum := recorded(t, Config{Target: fixtureOf(t, store, ""), Nodes: nodes, Clients: 2 * nodes, Duration: schedule.Duration, Rate: 200, Seed: 1, Schedule: schedule})
	h := loaded(t, sum.History)
	if len(sum.Evidence) != len(minorities) {
		t.Fatalf("%d faults, want %d", len(sum.Evidence), len(minorities))
	}
	for _, e := range sum.Evidence {
		if !e.Applied || e.To-e.From < int64(down)/2 {
			t.Errorf("killing %s: %+v", e.Hits, e)
			continue
		}
		count := map[string]int{}
		for _, op := range h.Ops {
			if op.Outcome == history.OK && !slices.Contains(e.Step.Nodes, op.Node) && op.Invoke >= e.From && op.Return <= e.To {
				count[op.F]++
			}
		}
		read, write := count["get"], count["put"]+count["append"]
		if t.Logf("%s dead: %v acknowledged by the others", e.Hits, count); min(read, write) == 0 {
			t.Errorf("while %s were dead: %d reads and %d writes acknowledged by the others", e.Hits, read, write)
		}
	}
	verdict, _, err := Checker{Budget: time.Minute}.Check(t.Context(), sum.History)
	if err != nil || verdict.Kind != spec.Consistent {
		t.Errorf("%v %v", verdict, err)
	}
}
