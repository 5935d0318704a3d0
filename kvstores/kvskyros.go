package kvstores

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
)

func kvskyros() Store {
	return Store{
		Name: "kvskyros",
		Doc: `keys whose writes are durable first and ordered later (after Skyros)
Ganesan, Alagappan, Arpaci-Dusseau, Arpaci-Dusseau, Exploiting Nil-Externality for
Fast Replicated Storage, SOSP 2021. A put or delete, whose answer says nothing of
the state, goes to all replicas, each of which puts it at the end of its
durability log; it is acknowledged when the leader and a supermajority have it, f
+ ceil(f/2) + 1 of 2f + 1. The leader makes its log final bit by bit, through
Raft, which stands for the consensus log: every 120 ms, and within 20 ms when
somebody reads a key that it has writes of or a write finds no supermajority.
Raft's leader begins a view: it seals the one before at a majority and recovers
what enough of their logs hold, first what enough of them have first; an
acknowledged write is in enough of any majority's logs, and in front of whatever
was sent after its acknowledgement.
Hints, over the whole store. view and, for a write, leader, the leader's place
among the replicas in the order of their names; DIdx, the write's place in each
replica's durability log, counted from the beginning, -1 where it was not known
to be when it was acknowledged; CIdx, for a get, the last place of the consensus
log that its replica had. A write that was sent before, in an earlier view, only
has its view.`,
		Model: "kv", Claim: "linearizable", Oracle: "skyros",
		Options: []Option{hintsOption},
		Ops:     []string{"get", "put", "delete"},
		Keys:    2, // so that several of the few writes that a failover finds are of one key
		Bugs: []Bug{{Name: "forget-durability-order", Doc: `a new view recovers the writes, and not the order of the durability logs
It takes the last first.`, Faults: []string{"isolate-leader", "pause", "kill", "chaos"}}},
		New: func(c Config) (Node, error) { return newLogNode(c, true) },
	}
}

// doKeyed answers a get, put or delete.
func (n *logNode) doKeyed(ctx context.Context, r Request) Reply {
	if r.F != "get" && r.F != "put" && r.F != "delete" {
		return failed("unknown operation " + r.F)
	}
	if why := Check(r); why != "" {
		return failed(why)
	}
	if r.F != "get" {
		return n.append(ctx, r, marshal(Request{F: r.F, Key: r.Key, In: r.In}))
	}
	return n.upToDate(ctx, r.Key, func() Reply {
		n.mutex.Lock()
		defer n.mutex.Unlock()
		return n.hinted(okay(n.data.Get(r.Key)), map[string]any{"view": n.view.Number, "CIdx": int64(len(n.final)) - 1})
	})
}

// carryOut applies a final record to the keys; the mutex is held.
func (n *logNode) carryOut(r logRecord) {
	var q Request
	if n.keyed && json.Unmarshal(r.Value, &q) == nil {
		n.data.Apply(q)
	}
}

// supermajority is f + ceil(f/2) + 1 of 2f + 1 replicas.
func (n *logNode) supermajority() int {
	f := (len(n.config.Nodes) - 1) / 2
	return f + (f+1)/2 + 1
}

// durable is the hints of a write that the leader and a supermajority have.
func (n *logNode) durable(view logView, answers []appendAnswer) map[string]any {
	places, held := slices.Repeat([]int64{-1}, len(n.config.Nodes)), 0
	for i, a := range answers {
		if a.Taken {
			places[slices.Index(n.config.Nodes, view.Members[i])] = a.Index
			held++
		}
	}
	if !answers[0].Taken || held < n.supermajority() {
		return nil
	}
	return map[string]any{"view": view.Number, "leader": slices.Index(n.config.Nodes, view.Leader), "DIdx": places}
}

// recoverKeyed is what the durability logs of a sealed view come to: every
// record that enough of them hold, one before another where enough have it
// first (or alone). Of m logs, enough is what a supermajority leaves in any m.
func (n *logNode) recoverKeyed(answers map[string]sealAnswer) []logRecord {
	place := []map[string]int{}
	records, holders := map[string]logRecord{}, map[string]int{}
	for _, a := range answers {
		if !a.Sealed {
			continue
		}
		at := map[string]int{}
		if a.Held {
			for i, r := range a.Tail {
				at[r.ID], records[r.ID] = i, r
				holders[r.ID]++
			}
		}
		place = append(place, at)
	}
	enough := n.supermajority() + len(place) - len(n.config.Nodes)
	var list []logRecord
	for id, r := range records {
		if holders[id] >= enough {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b logRecord) int { return -cmp.Compare(a.ID, b.ID) })
	list = topological(list, func(a, b logRecord) bool {
		first := 0
		for _, at := range place {
			i, has := at[a.ID]
			if j, both := at[b.ID]; has && (!both || i < j) {
				first++
			}
		}
		return first >= enough
	})
	if n.config.Bug == "forget-durability-order" {
		slices.Reverse(list)
	}
	return list
}

// topological sorts so that whatever is before another stands before it. Where that
// goes in a circle, which only records do that were sent at the same time, the
// one with the fewest in front of it is next.
func topological(list []logRecord, before func(a, b logRecord) bool) []logRecord {
	waits := make([]int, len(list)) // how many are in front
	for i := range list {
		for j := range list {
			if i != j && before(list[j], list[i]) {
				waits[i]++
			}
		}
	}
	done := make([]bool, len(list))
	var sorted []logRecord
	for range list {
		next := -1
		for i := range list {
			if !done[i] && (next < 0 || waits[i] < waits[next]) {
				next = i
			}
		}
		done[next], sorted = true, append(sorted, list[next])
		for i := range list {
			if !done[i] && before(list[next], list[i]) {
				waits[i]--
			}
		}
	}
	return sorted
}
