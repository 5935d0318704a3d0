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
	op := func(node string, from, to int64, o history.Outcome) history.Op[history.Value, history.Value] {
		return history.Op[history.Value, history.Value]{Node: node, Invoke: from, Return: to, Outcome: o}
	}
	h := &history.Raw{Ops: []history.Op[history.Value, history.Value]{
		op("n2", 12, 15, history.OK),   // counts
		op("n2", 8, 15, history.OK),    // began before the cut
		op("n3", 18, 25, history.OK),   // ended after it
		op("n1", 12, 15, history.OK),   // the other side
		op("n3", 12, 15, history.Fail), // refused
	}}
	e := Evidence{Step: cut, From: 10, To: 20, Verified: true}
	if ops, cuts := served(h, nodes, []Evidence{e, {Step: cut, From: 0, To: 30}}); ops != 1 || cuts != 1 {
		t.Errorf("%d operations in %d cuts, want 1 in 1: what was not seen to work is no cut", ops, cuts)
	}
	none := faultnet.Step{Kind: faultnet.Drop, Links: nodesApart(nodes)}
	if side := majoritySide(nodes, none); len(side) > 0 {
		t.Errorf("nobody reaches a majority, got %v", side)
	}
}

func nodesApart(nodes []string) []faultnet.Link { return faultnet.Topology{Nodes: nodes}.Peers() }
