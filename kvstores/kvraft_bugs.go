package kvstores

import (
	"fmt"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

// lateBytes is what lose-unsynced-log gathers before it writes.
const lateBytes = 256 << 10

// raftBugs are the mistakes of kvraft.
func raftBugs() []Bug {
	return []Bug{
		{Name: "stale-lease-read", Doc: `the leader answers reads while it holds a lease, without asking a majority
The lease runs 150 ms by the node's own clock, read once a tick, from when
heartbeats were answered, and is never shortened: a leader that was paused, or
whose clock was set back, believes in it for too long.`, Faults: []string{"pause", "chaos", "clock"}},
		noReadIndex(),
		retryTwice("kvraft"),
		{Name: "ack-before-commit", Doc: `the leader answers when a request is in its own log, not when it is committed
Its result is computed from the entries before it in that log.`,
			Faults: []string{"isolate-leader", "halves", "kill", "chaos"}},
		{Name: "lose-unsynced-log", Doc: fmt.Sprintf(`the log stays in memory until %d KiB have gathered, though it is said to be on disk
A node that is killed comes back without its last entries and votes, and in a
hurry to lead (without PreVote). Shows when a majority is killed, and for certain
when all are.`, lateBytes>>10),
			Faults: []string{"kill-all", "kill", "chaos"}},
		{Name: "stale-leader-cas", Doc: `whoever believes to lead decides a cas by its own log and answers at once
A leader that lost its majority does not notice, because it does not look
whether the others still answer.`, Faults: []string{"isolate-leader", "halves", "one-way", "chaos"}},
	}
}

func noReadIndex() Bug {
	return Bug{Name: "no-read-index", Doc: `whoever believes to lead answers reads from its own state, without asking a majority
A leader that lost its majority does not notice, because it does not look
whether the others still answer.`, Faults: []string{"isolate-leader", "pause", "halves", "chaos"}}
}

func retryTwice(store string) Bug {
	return Bug{Name: "apply-retry-twice", Doc: `no table of clients: a request that is proposed again is applied again
Shows where a proposal survives a change of leader and so does its repetition.`,
		Faults: []string{"flaky", "pause", "chaos"}, Hidden: store == "kvholipaxos"}
}

// clings reports whether the mistake includes that a leader without a majority
// goes on believing.
func (n *raftNode) clings() bool {
	return n.config.Bug == "no-read-index" || n.config.Bug == "stale-leader-cas"
}

// answerEarly is the mistakes that answer from the leader's own log, before
// anything is committed; entries are those just appended.
func (n *raftNode) answerEarly(entries []*raftpb.Entry) {
	only := ""
	switch n.config.Bug {
	case "ack-before-commit":
	case "stale-leader-cas":
		only = "cas"
	default:
		return
	}
	if n.raw.BasicStatus().RaftState != raft.StateLeader {
		return
	}
	for _, e := range entries {
		p, err := place(e)
		if err != nil || p.command == nil || only != "" && p.F != only || len(n.waiting[p.operation()]) == 0 {
			continue
		}
		r, known := n.speculate(p)
		for _, a := range n.waiting[p.operation()] {
			if known {
				n.reply(a, r)
			}
		}
		n.keep(p.operation(), n.waiting[p.operation()])
	}
}

// speculate is the result that p will have if everything before it in the log
// of this node is committed.
func (n *raftNode) speculate(p placed) (result, bool) {
	guess := raftState{Data: Machine{}, Clients: map[string]result{}, twice: true}
	if v, ok := n.state.Data[p.Key]; ok {
		guess.Data[p.Key] = v
	}
	entries, err := n.storage.Entries(n.state.Index+1, p.index, 1<<62)
	if err != nil && p.index > n.state.Index+1 {
		return result{}, false
	}
	for _, e := range entries {
		before, err := place(e)
		if err != nil || before.command == nil || before.Key != p.Key {
			continue
		}
		guess.apply(before)
	}
	return guess.apply(p), true
}

// stepForgetful is Step for a node that may have lost what it had promised to
// keep: where raft would notice and stop, it goes on with what it has.
func (n *raftNode) stepForgetful(m *raftpb.Message) {
	defer func() {
		if why := recover(); why != nil {
			fmt.Fprintf(n.config.Log, "%s: ignored: %v\n", n.config.ID, why)
		}
	}()
	if last, err := n.storage.LastIndex(); err == nil && m.GetType() == raftpb.MsgHeartbeat && m.GetCommit() > last {
		m.Commit = new(last)
	}
	_ = n.raw.Step(m)
}

// lease is what stale-lease-read goes by.
type lease struct {
	now   time.Time // the node's clock, as of the last tick
	acks  map[uint64]time.Time
	until time.Time
}

// holds reports whether the lease runs, by the clock as of the last tick.
func (l *lease) holds() bool { return l.now.Before(l.until) }

// heard renews the lease when a majority has answered the leader, and gives it
// up when another node leads.
func (n *raftNode) heard(m *raftpb.Message) {
	if n.config.Bug != "stale-lease-read" {
		return
	}
	l, s := &n.lease, n.raw.BasicStatus()
	switch m.GetType() {
	case raftpb.MsgHeartbeat, raftpb.MsgApp, raftpb.MsgSnap:
		if m.GetTerm() >= s.GetTerm() {
			*l = lease{now: l.now}
		}
	case raftpb.MsgHeartbeatResp, raftpb.MsgAppResp:
		if s.RaftState != raft.StateLeader || m.GetTerm() != s.GetTerm() {
			return
		}
		if l.acks == nil {
			l.acks = map[uint64]time.Time{}
		}
		l.acks[m.GetFrom()] = n.config.Clock.Now()
		var times []time.Time
		for _, t := range l.acks {
			times = append(times, t)
		}
		slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
		if others := n.config.Majority() - 1; others > 0 && len(times) >= others {
			if until := times[others-1].Add(electionTicks * raftTick); until.After(l.until) {
				l.until = until
			}
		}
	}
}
