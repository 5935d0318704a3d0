package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// raftSnapshot is after how many entries the log is cut, and raftTail how many
// of them stay for replicas that lag.
const (
	raftSnapshot = 20_000
	raftTail     = 5_000
)

// run is the node's one goroutine. What has piled up while the last round wrote
// to disk is taken together, so that one fsync serves it all.
func (n *raftNode) run(ctx context.Context) {
	defer close(n.ended)
	ticker := time.NewTicker(raftTick)
	defer ticker.Stop()
	for n.failure == nil {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			n.tick()
		case a := <-n.requests:
			n.accept(a)
		case list := <-n.inbox:
			n.step(list)
		case d := <-n.reports:
			n.delivered(d)
		case f := <-n.visits:
			f()
		}
		n.takeMore()
		n.askReads()
		for n.failure == nil && n.raw.HasReady() {
			n.round()
		}
		n.drain()
		n.publish()
	}
	fmt.Fprintf(n.config.Log, "%s: stopped: %v\n", n.config.ID, n.failure)
}

// pause has the loop carry out f between two rounds.
func (n *raftNode) pause(f func()) {
	done := make(chan struct{})
	n.visits <- func() { f(); close(done) }
	<-done
}

// takeMore takes what else waits, within reason.
func (n *raftNode) takeMore() {
	for range 256 {
		select {
		case a := <-n.requests:
			n.accept(a)
		case list := <-n.inbox:
			n.step(list)
		default:
			return
		}
	}
}

func (n *raftNode) tick() {
	n.ticks++
	n.lease.now = n.config.Clock.Now()
	n.raw.Tick()
	if n.startsElection() {
		_ = n.raw.Campaign()
	}
	for o, list := range n.waiting {
		for _, a := range list {
			n.propose(a)
		}
		n.keep(o, list)
	}
	n.rereads()
}

// startsElection: a node that has just started does not wait long. Where a
// majority has, nobody leads; otherwise the others tell it so (PreVote). One
// node after the other, so that they do not split the vote.
func (n *raftNode) startsElection() bool {
	turn := 2 * int64(n.number(n.config.ID))
	again := n.hasty && n.ticks > turn && n.ticks < 4*electionTicks && n.ticks%2 == 0
	return (n.ticks == turn || again) && n.raw.BasicStatus().Lead == raft.None
}

// keep puts back those of list that still wait.
func (n *raftNode) keep(o operation, list []*asked) {
	var left []*asked
	for _, a := range list {
		if a.stage.Load() != gone {
			left = append(left, a)
		}
	}
	if n.waiting[o] = left; len(left) == 0 {
		delete(n.waiting, o)
	}
}

// accept takes a request in.
func (n *raftNode) accept(a *asked) {
	if a.stage.Load() == gone {
		return
	}
	if isRead(a.F) && !n.flavor.logged {
		n.read(a)
		return
	}
	if last, known := n.state.stored(a.Request.operation()); known {
		n.reply(a, last)
		return
	}
	o := a.Request.operation()
	n.waiting[o] = append(n.waiting[o], a)
	n.propose(a)
}

// propose proposes a request, for the first time or again: when another node
// leads since, or when it was not applied in good time. To propose twice is
// harmless, because the state goes by client and seq.
func (n *raftNode) propose(a *asked) {
	s := n.raw.BasicStatus()
	again := a.proposals > 0
	switch {
	case s.Lead == raft.None:
		return
	case again && a.term == s.GetTerm() && a.lead == s.Lead && n.ticks-a.tick < retryTicks:
		return
	case !again && !a.stage.CompareAndSwap(fresh, proposed):
		return // its client gave up
	case a.stage.Load() == gone:
		return
	}
	a.tick, a.term, a.lead = n.ticks, s.GetTerm(), s.Lead
	data, err := json.Marshal(command{a.Request})
	if err == nil {
		err = n.raw.Propose(data)
	}
	if err == nil {
		a.proposals++
	} else if !again { // dropped: raft has not kept it
		a.stage.CompareAndSwap(proposed, fresh)
	}
}

// step hands messages of other nodes to raft.
func (n *raftNode) step(list []*raftpb.Message) {
	for _, m := range list {
		n.heard(m)
		if n.config.Bug == "lose-unsynced-log" {
			n.stepForgetful(m)
			continue
		}
		_ = n.raw.Step(m) // an error says that raft ignores the message
	}
}

// delivered tells raft that a peer could not be reached, or got a snapshot.
func (n *raftNode) delivered(d delivery) {
	if d.failed {
		n.raw.ReportUnreachable(d.to)
	}
	if d.snapshot {
		outcome := raft.SnapshotFinish
		if d.failed {
			outcome = raft.SnapshotFailure
		}
		n.raw.ReportSnapshot(d.to, outcome)
	}
}

// round does what raft wants done, in its order: first the log is durable, then
// messages leave, then committed entries are applied and answered.
func (n *raftNode) round() {
	rd := n.raw.Ready()
	if n.failure = n.persist(rd); n.failure != nil {
		return
	}
	for _, m := range rd.Messages {
		n.send(m)
	}
	n.answerEarly(rd.Entries)
	for _, e := range rd.CommittedEntries {
		p, err := place(e)
		n.failure = errors.Join(n.failure, err)
		n.backlog = append(n.backlog, p)
	}
	n.confirm(rd.ReadStates)
	n.raw.Advance(rd)
}

// persist writes a round's entries, votes and snapshot to the log.
func (n *raftNode) persist(rd raft.Ready) error {
	must := rd.MustSync
	var err error
	if s := rd.Snapshot; !raft.IsEmptySnap(s) {
		must = true
		n.log.add(snapshotRecord, encode(s, &err))
		n.saved, n.backlog = s.GetMetadata().GetIndex(), nil
		err = errors.Join(err, n.storage.ApplySnapshot(s), n.state.restore(s.GetData()))
	}
	for _, e := range rd.Entries {
		n.log.add(entryRecord, encode(e, &err))
	}
	if h := rd.HardState; h != nil && !raft.IsEmptyHardState(h) {
		n.hard = h
		n.log.add(hardRecord, encode(h, &err))
		err = errors.Join(err, n.storage.SetHardState(h))
	}
	err = errors.Join(err, n.storage.Append(rd.Entries))
	if err == nil && must {
		err = n.log.sync()
	}
	return err
}

// encode is m as bytes; an error is joined to *err.
func encode(m proto.Message, err *error) []byte {
	b, e := proto.Marshal(m)
	*err = errors.Join(*err, e)
	return b
}

func (n *raftNode) send(m *raftpb.Message) {
	n.sent[m.GetType()]++
	if l := n.link[m.GetTo()]; l != nil && !l.post(m) {
		n.delivered(delivery{l.to, true, m.GetType() == raftpb.MsgSnap})
	}
}

// drain applies the backlog and answers who waits for it.
func (n *raftNode) drain() {
	if len(n.backlog) > 0 && n.due() {
		for _, p := range n.backlog {
			r := n.state.apply(p)
			if n.flavor.observe != nil && p.command != nil && r.Index == p.index {
				n.flavor.observe(p)
			}
			n.applied(p, r)
		}
		n.backlog, n.drained = nil, n.ticks
	}
	n.answerReads()
	if n.failure == nil && !n.flavor.whole && n.state.Index >= n.saved+raftSnapshot {
		n.failure = n.compact(raftTail)
	}
}

// applied answers the requests whose entry p is: any proposal of a request will
// do, as all have its one result. Without the table of clients
// (apply-retry-twice) that is the first; a later one changes the state again.
func (n *raftNode) applied(p placed, r result) {
	if p.command == nil {
		return
	}
	o := p.operation()
	for _, a := range n.waiting[o] {
		n.reply(a, r)
	}
	delete(n.waiting, o)
}

// reply answers a request by the result of its entry.
func (n *raftNode) reply(a *asked, r result) {
	n.finish(a, r.Reply, n.flavor.entry, r.Term, r.Index)
}

// finish answers a request once, with the hints that belong to it.
func (n *raftNode) finish(a *asked, r Reply, hints func(term, index uint64) map[string]any, term, index uint64) {
	if a.stage.Swap(gone) == gone {
		return
	}
	switch {
	case r.Outcome != OK || n.config.Option("hints", "on") == "off":
		r.Hints = nil
	case r.Hints == nil:
		r.Hints = hints(term, index)
	}
	a.answer <- r
}

// compact writes a snapshot of what is applied and forgets entries before it,
// but for a tail of so many.
func (n *raftNode) compact(tail uint64) error {
	data, err := json.Marshal(&n.state)
	if err != nil {
		return err
	}
	s, err := n.storage.CreateSnapshot(n.state.Index, nil, data)
	if err != nil {
		return err
	}
	last, err := n.storage.LastIndex()
	if err != nil {
		return err
	}
	n.saved = n.state.Index
	records := []walRecord{{snapshotRecord, encode(s, &err)}}
	if n.hard != nil {
		records = append(records, walRecord{hardRecord, encode(n.hard, &err)})
	}
	if last > n.saved {
		entries, loadErr := n.storage.Entries(n.saved+1, last+1, 1<<62)
		err = errors.Join(err, loadErr)
		for _, e := range entries {
			records = append(records, walRecord{entryRecord, encode(e, &err)})
		}
	}
	if err = errors.Join(err, n.log.replace(records)); err != nil {
		return err
	}
	first, err := n.storage.FirstIndex()
	if err == nil && n.saved > tail && n.saved-tail > first {
		err = n.storage.Compact(n.saved - tail)
	}
	return err
}
