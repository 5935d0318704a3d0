package harness

import (
	"time"

	"pinyon/engine/history"
	"pinyon/faultnet"
)

// settleWithin is how long a majority may take to notice that its leader is on
// the other side of a cut, and to have another.
const settleWithin = 500 * time.Millisecond

// served counts the operations that were answered with ok while the network was
// cut, from call to answer, by nodes that could still reach a majority both ways.
// cuts is how many faults left somebody such a majority for long enough to use
// it: they were seen to work, lasted for settleWithin, and nothing else was
// broken meanwhile (a majority one of whose nodes is dead is none).
func served(h *history.Raw, nodes []string, evidence []Evidence) (ops, cuts int) {
	for i, e := range evidence {
		side := majoritySide(nodes, e.Step)
		if !e.Verified || len(side) == 0 || e.To-e.From < int64(settleWithin) || overlapped(evidence, i) {
			continue
		}
		cuts++
		for i := range h.Ops {
			op := &h.Ops[i]
			if op.Outcome == history.OK && side[op.Node] && op.Invoke >= e.From && op.Return <= e.To {
				ops++
			}
		}
	}
	return ops, cuts
}

// overlapped reports whether another fault was under way during the i-th.
func overlapped(evidence []Evidence, i int) bool {
	for k, e := range evidence {
		if k != i && e.Applied && e.From < evidence[i].To && evidence[i].From < e.To {
			return true
		}
	}
	return false
}

// majoritySide are the nodes from which a majority (with the node itself) can be
// reached and answers during a cut of links between nodes; none where the step
// is no such cut, or leaves no majority.
func majoritySide(nodes []string, s faultnet.Step) map[string]bool {
	if s.Kind != faultnet.Drop || len(s.Links) == 0 {
		return nil
	}
	cut := map[faultnet.Link]bool{}
	for _, l := range s.Links {
		cut[l] = true
	}
	side := map[string]bool{}
	for _, a := range nodes {
		n := 0
		for _, b := range nodes {
			if a == b || !cut[faultnet.Link{From: a, To: b}] && !cut[faultnet.Link{From: b, To: a}] {
				n++
			}
		}
		if n > len(nodes)/2 {
			side[a] = true
		}
	}
	if len(side) == len(nodes) {
		return nil // everybody can: there is no side
	}
	return side
}
