package faultnet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Profile is a family of schedules.
type Profile struct {
	Name string
	Doc  string // one sentence
}

// profile also says how to make a schedule.
type profile struct {
	Profile
	nodes int // at least so many
	plan  func(*planner)
}

// profiles is the registry. Except where it says otherwise, a cut is silence
// (Drop) on the links between nodes, both ways, and leaves the links of clients
// alone, so that each side has clients that go on asking.
var profiles = []profile{
	{Profile{"none", "no fault"}, 1, func(*planner) {}},
	{Profile{"halves", "the nodes fall into two halves that do not hear each other"}, 2, (*planner).halves},
	{Profile{"isolate-one", "one node is cut off from all others"}, 2, (*planner).isolateOne},
	{Profile{"isolate-leader", "the node that leads is cut off from all others"}, 2, (*planner).isolateLeader},
	{Profile{"majority-ring", "each node hears a majority, no two the same one"}, 3, (*planner).majorityRing},
	{Profile{"bridge", "two halves that hear each other only through one node"}, 3, (*planner).bridge},
	{Profile{"one-way", "some nodes hear the others but are not heard by them"}, 2, (*planner).oneWay},
	{Profile{"flaky", "single links are slow, silent, stalled or reset for a moment, those of clients too"}, 1, (*planner).flaky},
	{Profile{"refuse", "dials to or from one node are refused, or for a moment those of one client"}, 1, (*planner).refuse},
	{Profile{"pause", "a node, often the leader, is stopped and goes on later as if nothing had been"}, 1, (*planner).pause},
	{Profile{"kill", "a node, the leader, or a majority dies at once and restarts on its data"}, 1, (*planner).kill},
	{Profile{"kill-all", "all nodes die at one instant and restart together on their data"}, 1, (*planner).killAll},
	{Profile{"hammer", "the same node is cut off again and again, briefly"}, 2, (*planner).hammer},
	{Profile{"clock", "the clock of a node, often the leader, is wrong; every other time the node is cut off meanwhile"}, 1, (*planner).clock},
	{Profile{"chaos", "a mix of all, faults of nodes and of links at the same time"}, 1, (*planner).chaos},
}

// Profiles lists the profiles, the simple ones first.
func Profiles() []Profile {
	var all []Profile
	for _, p := range profiles {
		all = append(all, p.Profile)
	}
	return all
}

// shortest is the shortest run for which faults are planned.
const shortest = 100 * time.Millisecond

// Plan makes the schedule of a profile for a topology and a run of length d (at
// least 100 ms). The same arguments give the same schedule, in every version.
//
//  1. The run is healthy for its first tenth and again from nine tenths on.
//  2. Faults stand in units of d/8 up to 8 s (two to four faults of 0.8 to 2
//     units for most profiles); longer runs get slightly longer faults, at most
//     8 s each, and more of them.
//  3. One fault ends before the next begins; only chaos overlaps two different
//     ones, clock may cut off the node whose clock is wrong, and one-way is two
//     steps at the same time: what the deaf side sends, on the connections that
//     it opened and on those that it answers.
//  4. Only flaky, refuse and chaos touch links of clients.
//
// It is an error when there is no such profile, the topology is malformed or too
// small for the profile, or d is too short.
func Plan(name string, seed uint64, t Topology, d time.Duration) (Schedule, error) {
	s := Schedule{Version: version, Profile: name, Seed: seed, Topology: t, Duration: d}
	i := slices.IndexFunc(profiles, func(p profile) bool { return p.Name == name })
	switch {
	case i < 0:
		var names []string
		for _, p := range profiles {
			names = append(names, p.Name)
		}
		return s, fmt.Errorf("faultnet: plan: unknown profile %q; expected one of %s", name, strings.Join(names, ", "))
	case d < shortest:
		return s, fmt.Errorf("faultnet: plan %s: a run of %v; expected at least %v", name, d, shortest)
	}
	if err := t.check(); err != nil {
		return s, fmt.Errorf("faultnet: plan %s: %w", name, err)
	}
	if len(t.Nodes) < profiles[i].nodes {
		return s, fmt.Errorf("faultnet: plan %s: %d node; expected at least %d", name, len(t.Nodes), profiles[i].nodes)
	}
	p := newPlanner(s)
	profiles[i].plan(p)
	if len(p.steps) == 0 && name != "none" {
		return s, fmt.Errorf("faultnet: plan %s: nothing to break; expected more nodes, or a client", name)
	}
	slices.SortStableFunc(p.steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	s.Steps = p.steps
	return s, nil
}
