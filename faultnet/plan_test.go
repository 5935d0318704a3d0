package faultnet

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// cluster is a topology of n nodes, each with a client.
func cluster(n int) (t Topology) {
	for i := range n {
		node := fmt.Sprint("n", i+1)
		t.Nodes = append(t.Nodes, node)
		t.Clients = append(t.Clients, Client{fmt.Sprint("c", i+1), node})
	}
	return t
}

// plans calls f with the plans of a profile over many seeds, sizes and lengths.
func plans(t *testing.T, name string, f func(s Schedule)) {
	t.Helper()
	i := slices.IndexFunc(profiles, func(p profile) bool { return p.Name == name })
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 9} {
		if n < profiles[i].nodes {
			if s, err := Plan(name, 1, cluster(n), time.Second); err == nil {
				t.Errorf("%s with %d nodes: %d steps, no error", name, n, len(s.Steps))
			}
			continue
		}
		for _, d := range []time.Duration{shortest, 777 * time.Millisecond, 8 * time.Second, time.Minute} {
			for seed := range uint64(30) {
				s, err := Plan(name, seed, cluster(n), d)
				must(t, err)
				f(s)
				if t.Failed() {
					t.Fatalf("%s, seed %d, %d nodes, %v: %+v", name, seed, n, d, s.Steps)
				}
			}
		}
	}
}

// each runs a test for every profile.
func each(t *testing.T, f func(t *testing.T, name string)) {
	for _, p := range Profiles() {
		t.Run(p.Name, func(t *testing.T) { f(t, p.Name) })
	}
}

// TestPlansAreHealthyAtBothEnds: for every profile, nothing is broken in the
// first tenth of the run and nothing after nine tenths; and plans are sound.
func TestPlansAreHealthyAtBothEnds(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		plans(t, name, func(s Schedule) {
			for _, step := range s.Steps {
				if step.At < s.Duration/10 || step.End() > s.Duration*9/10 {
					t.Errorf("from %v to %v of %v", step.At, step.End(), s.Duration)
				}
			}
			if err := s.Check(); err != nil {
				t.Error(err)
			}
			if (len(s.Steps) == 0) != (name == "none") {
				t.Errorf("%d steps", len(s.Steps))
			}
		})
	})
}

// TestStepsDoNotOverlap: one fault ends before the next begins, but for the
// profiles that say otherwise, in the way that they say.
func TestStepsDoNotOverlap(t *testing.T) {
	overlaps := map[string]int{}
	each(t, func(t *testing.T, name string) {
		plans(t, name, func(s Schedule) {
			for i, a := range s.Steps {
				for _, b := range s.Steps[i+1:] {
					if b.At >= a.End() {
						continue
					}
					overlaps[name]++
					switch {
					case name == "chaos" && (a.Kind.OnNodes() != b.Kind.OnNodes() || a.At == b.At && a.Way == Forward && b.Way == Backward):
					case name == "one-way" && a.At == b.At && a.For == b.For:
					case name == "clock" && a.Kind == Clock && b.Kind == Drop && b.End() <= a.End():
					default:
						t.Errorf("%+v\noverlaps %+v", a, b)
					}
				}
			}
		})
	})
	for _, name := range []string{"chaos", "one-way", "clock"} {
		if overlaps[name] == 0 {
			t.Errorf("%s: no overlap in any plan", name)
		}
	}
}

// TestOnlySomeProfilesTouchClients, and only for a moment.
func TestOnlySomeProfilesTouchClients(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		touched, longest := 0, 0.0
		plans(t, name, func(s Schedule) {
			for _, step := range s.Steps {
				if slices.ContainsFunc(step.Links, func(l Link) bool { return strings.HasPrefix(l.From, "c") }) {
					touched++
					longest = max(longest, float64(step.For)/float64(newPlanner(s).unit))
				}
			}
		})
		may := name == "flaky" || name == "refuse" || name == "chaos"
		if (touched > 0) != may || longest > 0.5 {
			t.Errorf("%d faults of links of clients, up to %.2f units; allowed %v, up to 0.5", touched, longest, may)
		}
	})
}

// TestHowManyFaults: a run of eight seconds with three nodes has about two to
// four faults of 0.8 to 2 s, and a longer one has more.
func TestHowManyFaults(t *testing.T) {
	for _, name := range []string{"halves", "isolate-one", "isolate-leader", "majority-ring", "bridge", "refuse", "pause", "kill"} {
		total := 0
		for seed := range uint64(200) {
			s, err := Plan(name, seed, cluster(3), 8*time.Second)
			must(t, err)
			total += len(s.Steps)
			if n := len(s.Steps); n < 2 || n > 5 {
				t.Errorf("%s, seed %d: %d faults", name, seed, n)
			}
			for _, step := range s.Steps {
				least := 800 * time.Millisecond
				if name == "refuse" && !strings.Contains(step.Links[0].String(), Every) {
					least = 500 * time.Millisecond
				}
				if step.For < least || step.For > 2*time.Second {
					t.Errorf("%s, seed %d: a fault of %v", name, seed, step.For)
				}
			}
		}
		if mean := float64(total) / 200; mean < 2.3 || mean > 3.7 {
			t.Errorf("%s: %.2f faults in the mean", name, mean)
		}
	}
	s, err := Plan("halves", 1, cluster(3), 2*time.Hour)
	must(t, err)
	if n := len(s.Steps); n < 300 || n > 1500 {
		t.Errorf("%d faults in two hours", n)
	}
	s, err = Plan("hammer", 1, cluster(3), 8*time.Second)
	must(t, err)
	if n := len(s.Steps); n < 7 {
		t.Errorf("hammer: %d cuts in eight seconds", n)
	}
}

// hears says who hears whom during a step: the bytes of an end arrive, on the
// connections that it opens and on those that it answers.
func hears(top Topology, steps ...Step) map[Link]bool {
	hear := map[Link]bool{}
	for _, l := range top.Peers() {
		hear[l] = true
	}
	for _, step := range steps {
		for _, l := range step.Resolve(top, top.Nodes[0]).Links {
			if step.Way != Backward {
				hear[Link{l.To, l.From}] = false // what From sends
			}
			if step.Way != Forward {
				hear[l] = false // what To answers
			}
		}
	}
	return hear
}

// TestShapes: during a cut, who still hears whom is what the profile promises.
// A fault of links counts for both directions of traffic only where both links
// of a pair are in it, so pairs are looked at from both ends.
func TestShapes(t *testing.T) {
	shape := map[string]func(t *testing.T, top Topology, step Step, hear map[Link]bool){
		"halves":         func(t *testing.T, top Topology, _ Step, hear map[Link]bool) { sides(t, top, hear, len(top.Nodes)/2) },
		"isolate-one":    func(t *testing.T, top Topology, _ Step, hear map[Link]bool) { sides(t, top, hear, 1) },
		"isolate-leader": func(t *testing.T, top Topology, _ Step, hear map[Link]bool) { sides(t, top, hear, 1) },
		"hammer":         func(t *testing.T, top Topology, _ Step, hear map[Link]bool) { sides(t, top, hear, 1) },
		"majority-ring":  majorities,
		"bridge":         joined,
	}
	for name, check := range shape {
		t.Run(name, func(t *testing.T) {
			plans(t, name, func(s Schedule) {
				for _, step := range s.Steps {
					if step.Kind != Drop || step.Way != Both {
						t.Errorf("%s %v", step.Kind, step.Way)
					}
					check(t, s.Topology, step, hears(s.Topology, step))
				}
			})
		})
	}
}

// heard lists whom a node hears, itself too.
func heard(top Topology, hear map[Link]bool, node string) (names []string) {
	for _, other := range top.Nodes {
		if other == node || hear[Link{node, other}] {
			names = append(names, other)
		}
	}
	return names
}

// sides requires two groups, the smaller one of that size, each of which hears
// itself and nobody else.
func sides(t *testing.T, top Topology, hear map[Link]bool, small int) {
	for _, node := range top.Nodes {
		group := heard(top, hear, node)
		for _, other := range group {
			if !slices.Equal(heard(top, hear, other), group) {
				t.Errorf("%s hears %v, %s hears %v", node, group, other, heard(top, hear, other))
			}
		}
		if n := len(group); n != small && n != len(top.Nodes)-small {
			t.Errorf("%s hears %v; want a group of %d or the others", node, group, small)
		}
	}
}

// majorities requires that each node hears a majority, that hears it, too, and
// no two nodes the same one.
func majorities(t *testing.T, top Topology, _ Step, hear map[Link]bool) {
	seen := map[string]string{}
	for _, node := range top.Nodes {
		group := heard(top, hear, node)
		if len(group) <= len(top.Nodes)/2 {
			t.Errorf("%s hears only %v", node, group)
		}
		for _, other := range group {
			if !slices.Contains(heard(top, hear, other), node) {
				t.Errorf("%s hears %s, but not the other way", node, other)
			}
		}
		if twin, ok := seen[fmt.Sprint(group)]; ok {
			t.Errorf("%s and %s both hear %v", node, twin, group)
		}
		seen[fmt.Sprint(group)] = node
	}
}

// joined requires one node that hears all, and two groups without it that do
// not hear each other.
func joined(t *testing.T, top Topology, _ Step, hear map[Link]bool) {
	var rest Topology
	bridges := 0
	for _, node := range top.Nodes {
		if len(heard(top, hear, node)) == len(top.Nodes) {
			bridges++
		} else {
			rest.Nodes = append(rest.Nodes, node)
		}
	}
	if bridges != 1 {
		t.Errorf("%d nodes hear all, want 1", bridges)
	}
	sides(t, rest, hear, len(rest.Nodes)/2)
}

// TestOneWayIsOneWay: whoever is not heard hears, over every connection.
func TestOneWayIsOneWay(t *testing.T) {
	plans(t, "one-way", func(s Schedule) {
		if len(s.Steps)%2 != 0 {
			t.Fatalf("%d steps, want pairs", len(s.Steps))
		}
		for i := 0; i < len(s.Steps); i += 2 {
			a, b := s.Steps[i], s.Steps[i+1]
			if a.Way != Forward || b.Way != Backward || a.Kind != Drop || b.Kind != Drop {
				t.Errorf("%v and %v", a.Way, b.Way)
			}
			hear := hears(s.Topology, a, b)
			cut := 0
			for _, l := range a.Links {
				if !slices.Contains(b.Links, Link{l.To, l.From}) {
					t.Errorf("%v loses what %s sends, but %s>%s lets it answer", l, l.From, l.To, l.From)
				}
				if hear[Link{l.To, l.From}] || !hear[l] {
					t.Errorf("%v: %s hears %v, %s hears %v", l, l.To, hear[Link{l.To, l.From}], l.From, hear[l])
				}
			}
			for _, ok := range hear {
				if !ok {
					cut++
				}
			}
			if cut != len(a.Links) || len(b.Links) != cut {
				t.Errorf("%d pairs are cut, want %d", cut, len(a.Links))
			}
		}
	})
}

// TestKinds: the profiles of one kind have that one only, and over many seeds
// the others have all that they promise.
func TestKinds(t *testing.T) {
	want := map[string][]Kind{
		"none": nil, "halves": {Drop}, "isolate-one": {Drop}, "isolate-leader": {Drop}, "majority-ring": {Drop}, "bridge": {Drop}, "one-way": {Drop},
		"flaky": {Delay, Drop, Reset, Stall}, "refuse": {Refuse}, "pause": {Pause}, "kill": {Kill}, "kill-all": {Kill}, "hammer": {Drop}, "clock": {Clock, Drop},
		"chaos": {Clock, Delay, Drop, Kill, Pause, Refuse, Reset, Stall, Throttle},
	}
	each(t, func(t *testing.T, name string) {
		var got []Kind
		leads := false
		plans(t, name, func(s Schedule) {
			for _, step := range s.Steps {
				got = appendNew(got, step.Kind)
				leads = leads || step.NeedsLeader()
			}
		})
		slices.Sort(got)
		if !slices.Equal(got, want[name]) {
			t.Errorf("kinds %v, want %v", got, want[name])
		}
		if want := slices.Contains([]string{"isolate-leader", "pause", "kill", "clock", "chaos"}, name); leads != want {
			t.Errorf("asks for the leader: %v, want %v", leads, want)
		}
	})
}

// TestKillAllKillsAll, briefly, with time to work between.
func TestKillAllKillsAll(t *testing.T) {
	plans(t, "kill-all", func(s Schedule) {
		ended := time.Duration(0)
		for _, step := range s.Steps {
			if !slices.Equal(step.Nodes, s.Topology.Nodes) {
				t.Errorf("%v die, of %v", step.Nodes, s.Topology.Nodes)
			}
			if worked := step.At - ended; ended > 0 && worked < step.For {
				t.Errorf("dead for %v after %v of work", step.For, worked)
			}
			ended = step.End()
		}
	})
}

// TestHammerHitsOneNode, and plans of another seed another one.
func TestHammerHitsOneNode(t *testing.T) {
	victims := map[string]bool{}
	plans(t, "hammer", func(s Schedule) {
		for _, step := range s.Steps {
			if !slices.Equal(step.Links, s.Steps[0].Links) {
				t.Errorf("%v, then %v", s.Steps[0].Links, step.Links)
			}
		}
		victims[s.Steps[0].Links[0].String()] = true
	})
	if len(victims) < 5 {
		t.Errorf("always the same victims: %v", victims)
	}
}

// TestSameSeedSameBytes, and another seed gives others.
func TestSameSeedSameBytes(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		texts := map[string]bool{}
		for seed := range uint64(20) {
			var two [2]string
			for i := range two {
				s, err := Plan(name, seed, cluster(5), 20*time.Second)
				must(t, err)
				s.Seed = 0 // it stands in the header
				var b bytes.Buffer
				must(t, Encode(&b, s))
				two[i] = b.String()
			}
			if two[0] != two[1] {
				t.Errorf("seed %d gives\n%s\nand\n%s", seed, two[0], two[1])
			}
			texts[two[0]] = true
		}
		if name != "none" && len(texts) != 20 {
			t.Errorf("20 seeds gave %d schedules", len(texts))
		}
	})
}

// TestPlanRefusesNonsense: wrong calls say what was wrong and what was expected.
func TestPlanRefusesNonsense(t *testing.T) {
	three := cluster(3)
	for _, c := range []struct {
		name string
		t    Topology
		d    time.Duration
		want string
	}{
		{"havles", three, time.Second, `faultnet: plan: unknown profile "havles"; expected one of none, halves, isolate-one,`},
		{"halves", cluster(1), time.Second, "faultnet: plan halves: 1 node; expected at least 2"},
		{"halves", three, time.Millisecond, "a run of 1ms; expected at least 100ms"},
		{"halves", Topology{}, time.Second, "a topology without nodes"},
		{"flaky", Topology{Nodes: []string{"n1"}}, time.Second, "nothing to break"},
		{"pause", Topology{Nodes: []string{"n1", "n1"}}, time.Second, `"n1" is the name of two nodes or clients`},
		{"pause", Topology{Nodes: []string{"n1", ""}}, time.Second, "an empty name"},
		{"pause", Topology{Nodes: []string{"leader"}}, time.Second, `"leader" is the name of a node or client; expected another`},
		{"pause", Topology{Nodes: []string{"a>b"}}, time.Second, `name "a>b": expected printable text`},
		{"pause", Topology{Nodes: []string{"n1"}, Clients: []Client{{"c1", "n2"}}}, time.Second, `client "c1" dials "n2"; expected one of the nodes ["n1"]`},
		{"pause", Topology{Nodes: []string{"n1"}, Clients: []Client{{"n1", "n1"}}}, time.Second, `"n1" is the name of two`},
	} {
		if _, err := Plan(c.name, 1, c.t, c.d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v\nwant %s", c.name, c.t, err, c.want)
		}
	}
}

// TestResolve: the leader and everybody else are replaced, nobody cuts himself
// off from himself, and without a leader nothing is left of what names him.
func TestResolve(t *testing.T) {
	top := cluster(3)
	step := Step{Kind: Drop, Links: []Link{{Leader, Every}, {Every, Leader}, {"n1", "n2"}, {"n2", "n3"}, {"c1", "n1"}}, Nodes: []string{"n2", Leader}}
	if !step.NeedsLeader() {
		t.Error("the step does not need the leader")
	}
	for leader, want := range map[string]string{
		"n2": "[n2>n1 n2>n3 n1>n2 n3>n2 c1>n1] [n2]",
		"n3": "[n3>n1 n3>n2 n1>n3 n2>n3 n1>n2 c1>n1] [n2 n3]",
		"":   "[n1>n2 n2>n3 c1>n1] [n2]",
		"n9": "[n1>n2 n2>n3 c1>n1] [n2]",
	} {
		got := step.Resolve(top, leader)
		if text := fmt.Sprint(got.Links, " ", got.Nodes); text != want || got.NeedsLeader() {
			t.Errorf("leader %q: %s, want %s", leader, text, want)
		}
	}
	all := Step{Links: []Link{{Every, Every}}}.Resolve(top, "")
	if !slices.Equal(all.Links, top.Peers()) {
		t.Errorf("*>* is %v, want %v", all.Links, top.Peers())
	}
	if text := fmt.Sprint(step.Links[0], " ", step.Nodes[1]); text != "leader>* leader" {
		t.Errorf("Resolve has changed its step to %s", text)
	}
}
