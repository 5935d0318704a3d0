package kvstores

import (
	"encoding/binary"
	"time"

	"go.etcd.io/raft/v3"
)

// readers are the reads at this node on their way.
type readers struct {
	fresh   []*asked          // no majority was asked for them yet
	batches map[uint64]*batch // asked, by the number of the question
	known   []*batch          // answered with an index
	next    uint64
	asOf    time.Time // what was acknowledged before, is applied here
}

// batch is reads that share one question for a read index.
type batch struct {
	reads []*asked
	asked time.Time // before the question left
	tick  int64     // when it was last asked
	term  uint64
	index uint64 // the answer: what was committed at a time after asked
}

// read takes a read in.
func (n *raftNode) read(a *asked) {
	if n.mayReadAtOnce() {
		n.answerRead(a)
		return
	}
	n.reads.fresh = append(n.reads.fresh, a)
}

// mayReadAtOnce reports whether a read may be answered from what is applied,
// without asking anybody now.
func (n *raftNode) mayReadAtOnce() bool {
	switch n.config.Bug {
	case "no-read-index":
		return n.raw.BasicStatus().Lead == n.number(n.config.ID)
	case "stale-lease-read":
		return n.lease.holds()
	case "unbounded-lag":
		return true
	}
	return n.flavor.stale.within(time.Since(n.reads.asOf))
}

// answerRead answers a read from what is applied.
func (n *raftNode) answerRead(a *asked) {
	reply := n.state.Data.Apply(a.Request)
	if n.state.Revisions != nil {
		n.state.revise(a.Request, true, &reply)
	}
	n.finish(a, reply, n.flavor.read, n.state.Term, n.state.Index)
}

// askReads asks for a read index, once for all reads that came in, and, where
// the store promises how old its reads are, now and then for nobody.
func (n *raftNode) askReads() {
	s := n.raw.BasicStatus()
	refresh := n.flavor.stale.refresh(n.ticks)
	if s.Lead == raft.None || len(n.reads.fresh) == 0 && !refresh {
		return
	}
	b := &batch{reads: n.reads.fresh, asked: time.Now()}
	n.reads.fresh = nil
	n.ask(b, s.GetTerm())
}

func (n *raftNode) ask(b *batch, term uint64) {
	n.reads.next++
	b.tick, b.term = n.ticks, term
	n.reads.batches[n.reads.next] = b
	// The node's name and start time keep questions of other nodes and of this
	// one's earlier life apart.
	id := binary.BigEndian.AppendUint64([]byte(n.config.ID+"/"), uint64(n.started))
	n.raw.ReadIndex(binary.BigEndian.AppendUint64(id, n.reads.next))
}

// rereads asks again what was not answered, for the reads that still wait.
func (n *raftNode) rereads() {
	s := n.raw.BasicStatus()
	n.reads.fresh = stillWaiting(n.reads.fresh)
	for id, b := range n.reads.batches {
		if n.ticks-b.tick < rereadTicks && b.term == s.GetTerm() {
			continue
		}
		if b.reads = stillWaiting(b.reads); len(b.reads) == 0 {
			delete(n.reads.batches, id)
		} else if s.Lead != raft.None {
			delete(n.reads.batches, id)
			n.ask(b, s.GetTerm())
		}
	}
}

func stillWaiting(list []*asked) []*asked {
	var left []*asked
	for _, a := range list {
		if a.stage.Load() != gone {
			left = append(left, a)
		}
	}
	return left
}

// confirm takes the answers: the index that was committed when a majority
// confirmed who leads, which was after the question was asked.
func (n *raftNode) confirm(states []raft.ReadState) {
	for _, rs := range states {
		if len(rs.RequestCtx) < 8 {
			continue
		}
		id := binary.BigEndian.Uint64(rs.RequestCtx[len(rs.RequestCtx)-8:])
		if b := n.reads.batches[id]; b != nil {
			delete(n.reads.batches, id)
			b.index = rs.Index
			n.reads.known = append(n.reads.known, b)
		}
	}
}

// answerReads answers the reads for which enough is applied.
func (n *raftNode) answerReads() {
	var left []*batch
	for _, b := range n.reads.known {
		if n.state.Index >= b.index && b.asked.After(n.reads.asOf) {
			n.reads.asOf = b.asked
		}
		var wait []*asked
		for _, a := range b.reads {
			if n.state.Index >= b.index || n.fewMissing(a.Key, b.index) {
				n.answerRead(a)
			} else if a.stage.Load() != gone {
				wait = append(wait, a)
			}
		}
		if b.reads = wait; len(wait) > 0 || n.state.Index < b.index {
			left = append(left, b)
		}
	}
	n.reads.known = left
}
