package harness

import (
	"maps"
	"slices"
	"testing"

	"pinyon/engine/history"
	"pinyon/faultnet"
)

func TestServedCountsTheMajoritySide(t *testing.T) {
	nodes := []string{"n1", "n2", "n3"}
	cut := faultnet.Step{Kind: faultnet.Drop, Links: []faultnet.Link{{From: "n1", To: "n2"}, {From: "n1", To: "n3"}, {From: "n2", To: "n1"}, {From: "n3", To: "n1"}}}
	if side := slices.Sorted(maps.Keys(majoritySide(nodes, cut))); !slices.Equal(side, []string{"n2", "n3"}) {
		t.Errorf("side %v", side)
	}
	const tenth = int64(settleWithin) / 10
	op := func(node string, from, to int64, o history.Outcome) history.Op[history.Value, history.Value] {
		return history.Op[history.Value, history.Value]{Node: node, Invoke: from * tenth, Return: to * tenth, Outcome: o}
	}
	h := &history.Raw{Ops: []history.Op[history.Value, history.Value]{
		op("n2", 12, 15, history.OK),   // counts
		op("n2", 8, 15, history.OK),    // began before the cut
		op("n3", 18, 25, history.OK),   // ended after it
		op("n1", 12, 15, history.OK),   // the other side
		op("n3", 12, 15, history.Fail), // refused
	}}
	e := Evidence{Step: cut, From: 10 * tenth, To: 20 * tenth, Applied: true, Verified: true}
	unseen, short, later := e, e, e
	unseen.Verified, unseen.Applied, unseen.From, unseen.To = false, false, 0, 30*tenth
	short.From, short.To = 0, 9*tenth
	later.From, later.To = 20*tenth, 24*tenth
	kill := Evidence{Step: faultnet.Step{Kind: faultnet.Kill, Nodes: []string{"n2"}}, From: 19 * tenth, To: 24 * tenth, Applied: true}
	for _, test := range []struct {
		name      string
		evidence  []Evidence
		ops, cuts int
	}{
		{"one cut", []Evidence{e}, 1, 1},
		{"what was not seen to work is no cut", []Evidence{e, unseen}, 1, 1},
		{"what is too short for a new leader is none", []Evidence{e, short}, 1, 1},
		{"one after the other", []Evidence{e, later}, 1, 1},
		{"a node of the majority is dead meanwhile", []Evidence{e, kill}, 0, 0},
	} {
		if ops, cuts := served(h, nodes, test.evidence); ops != test.ops || cuts != test.cuts {
			t.Errorf("%s: %d operations in %d cuts, want %d in %d", test.name, ops, cuts, test.ops, test.cuts)
		}
	}
	none := faultnet.Step{Kind: faultnet.Drop, Links: nodesApart(nodes)}
	if side := majoritySide(nodes, none); len(side) > 0 {
		t.Errorf("nobody reaches a majority, got %v", side)
	}
}

func nodesApart(nodes []string) []faultnet.Link { return faultnet.Topology{Nodes: nodes}.Peers() }
