package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

func kvzab() Store {
	return Store{
		Name: "kvzab", Majority: true,
		Doc: "a log that a leader orders and every replica applies, with local reads (a small Zab)\n" +
			"Writes go through the leader of an epoch and count once a majority has them; every replica applies them in order and answers reads from what it has applied. A client carries the number of the last write it has seen, and a replica that lags behind that waits. " +
			"Junqueira, Reed, Serafini, \"Zab: High-performance broadcast for primary-backup systems\", DSN 2011.",
		Model: "kv", Claim: "ordered-sequential", Oracle: "zookeeper", Options: []Option{hintsOption},
		Bugs: []Bug{{Name: "read-backwards-after-reconnect", Faults: []string{"none", "halves", "isolate-one", "kill", "chaos"},
			Doc: "a replica pays no heed to sessions: it answers reads from what it has, whatever the client has seen before, and a write as soon as the leader does."}},
		New: func(c Config) (Node, error) {
			z := &zab{circle: newCircle(c), state: Machine{}, keep: zabKeep, moved: make(chan struct{})}
			var err error
			if z.journal, err = openJournal(c.Dir, "zab", z.replay); err != nil {
				return nil, err
			}
			if err = z.settle(); err != nil {
				return nil, errors.Join(err, z.journal.close())
			}
			z.rest()
			z.every(zabTick, z.tick)
			return z, nil
		},
	}
}

const (
	zabTick   = 20 * time.Millisecond
	zabBeat   = 40 * time.Millisecond  // between two messages of a leader
	zabLag    = 5 * time.Millisecond   // for which news of a commit may be held back
	zabSilent = 300 * time.Millisecond // without a leader's message: it may be replaced
	zabAlone  = 600 * time.Millisecond // without a majority: a leader gives up
	zabCall   = 300 * time.Millisecond // how long one message to a peer may take
)

// zab is one replica. A zxid is epoch<<32 | counter; it grows along the log.
type zab struct {
	*circle
	lock     sync.Mutex // guards all that follows
	journal  *journal
	promised int64 // the newest epoch that this node takes part in
	current  int64 // the newest epoch whose leader's history it has taken over
	log      []zabEntry
	dropped  int   // entries before those in log; all counts of entries are of these, too
	base     int64 // the zxid of the last of them, 0 for none
	keep     int   // how many applied entries are kept for followers that lag

	state     Machine // of the committed part of the log
	committed int     // entries
	moved     chan struct{}

	leader   string // whom it follows; "": nobody
	heard    time.Time
	patience time.Time // when it will try to lead itself
	restored int64     // the last write in the state that the journal held
	synced   bool      // since it started it has heard from a leader with a majority
	seen     int64     // the newest epoch that anybody spoke of
	reign    *zabReign // where it leads
}

// zabEntry is one write.
type zabEntry struct {
	Zxid    int64   `json:"zxid"`
	Request Request `json:"request"`
	reply   Reply   // once it is applied
}

// zabKeep is how many applied entries a replica keeps at least.
const zabKeep = 4096

// zabRecord is what the journal holds: epochs, an entry, a cut, or a state and
// the zxid that the log after it begins above.
type zabRecord struct {
	Promised int64     `json:"promised,omitempty"`
	Current  int64     `json:"current,omitempty"`
	Entry    *zabEntry `json:"entry,omitempty"`
	Cut      int64     `json:"cut,omitempty"` // no entry above this zxid; -1: above 0
	Whole    *zabWhole `json:"whole,omitempty"`
}

// zabWhole is a state, for whoever lacks the writes that led to it.
type zabWhole struct {
	State Machine `json:"state"`
	At    int64   `json:"at"`   // the last write in it
	Base  int64   `json:"base"` // where the kept log begins; no later
}

func (z *zab) replay(record []byte) error {
	var r zabRecord
	if err := json.Unmarshal(record, &r); err != nil {
		return err
	}
	switch {
	case r.Entry != nil:
		z.log = append(z.log, *r.Entry)
	case r.Cut != 0:
		n, ok := z.find(max(r.Cut, 0))
		if !ok {
			return fmt.Errorf("a cut at an entry %d that is not there", r.Cut)
		}
		z.log = z.log[:n-z.dropped]
	case r.Whole != nil:
		z.log, z.dropped, z.base, z.committed, z.state = nil, 0, r.Whole.Base, 0, r.Whole.State.Clone()
		z.restored = r.Whole.At
	default:
		z.promised, z.current = r.Promised, r.Current
	}
	return nil
}

// settle finds what the replayed state already holds; its results are lost.
func (z *zab) settle() error {
	n, ok := z.find(max(z.restored, z.base))
	if !ok {
		return fmt.Errorf("the log lacks write %d, which the state holds", z.restored)
	}
	z.committed = n
	return nil
}

// The methods below whose comment says "held" are called with the lock held.

// noteEpochs writes the epochs down; held.
func (z *zab) noteEpochs() (end int64, err error) {
	return z.journal.append(zabRecord{Promised: z.promised, Current: z.current})
}

// add appends an entry; held.
func (z *zab) add(e zabEntry) (end int64, err error) {
	if end, err = z.journal.append(zabRecord{Entry: &e}); err == nil {
		z.log = append(z.log, e)
	}
	return end, err
}

// size is how many entries there were; held.
func (z *zab) size() int { return z.dropped + len(z.log) }

// last is the zxid of the newest entry, 0 without any; held.
func (z *zab) last() int64 { return z.zxidAt(z.size()) }

// zxidAt is the zxid of the last of n entries; held.
func (z *zab) zxidAt(n int) int64 {
	if n <= z.dropped {
		return z.base
	}
	return z.log[n-z.dropped-1].Zxid
}

// applied is the zxid of the last write in the state; held.
func (z *zab) applied() int64 { return z.zxidAt(z.committed) }

// commit applies the log up to n entries; held.
func (z *zab) commit(n int) error {
	if n <= z.committed {
		return nil
	}
	for ; z.committed < n; z.committed++ {
		e := &z.log[z.committed-z.dropped]
		e.reply = z.state.Apply(e.Request)
	}
	close(z.moved)
	z.moved = make(chan struct{})
	return z.compact()
}

// compact drops the oldest entries where there are many; held.
func (z *zab) compact() error {
	if z.committed-z.dropped <= 2*z.keep {
		return nil
	}
	from := z.committed - z.keep
	z.base = z.zxidAt(from)
	z.log, z.dropped = slices.Clone(z.log[from-z.dropped:]), from
	return z.rewrite()
}

// rewrite writes the journal anew; held.
func (z *zab) rewrite() error {
	records := []any{zabRecord{Promised: z.promised, Current: z.current},
		zabRecord{Whole: &zabWhole{z.state, z.applied(), z.base}}}
	for i := range z.log {
		records = append(records, zabRecord{Entry: &z.log[i]})
	}
	return z.journal.rewrite(records)
}

// rest puts off this node's own attempt to lead; held.
func (z *zab) rest() {
	z.patience = time.Now().Add(zabSilent + time.Duration(rand.Int64N(int64(zabSilent))))
}

func (z *zab) Do(ctx context.Context, r Request) Reply {
	reply := z.operate(ctx, r)
	if reply.Outcome == Fail {
		reply.Carried = r.Carried
	}
	return reply
}

func (z *zab) operate(ctx context.Context, r Request) Reply {
	if why := Check(r); why != "" {
		return failed(why)
	}
	var carried int64
	if len(r.Carried) > 0 {
		if err := json.Unmarshal(r.Carried, &carried); err != nil {
			return failed("carried: expected a zxid: " + err.Error())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if isRead(r.F) {
		return z.read(ctx, r, carried)
	}
	return z.write(ctx, r)
}

// read answers from what is applied here, once that is as new as what the
// client has seen.
func (z *zab) read(ctx context.Context, r Request, carried int64) Reply {
	z.lock.Lock()
	defer z.lock.Unlock()
	if z.Bug == "read-backwards-after-reconnect" {
		carried = 0
	}
	if !z.synced || !z.await(ctx, carried) {
		return failed("this replica lags behind")
	}
	return z.zxided(z.state.Apply(r), z.applied())
}

// await waits until the writes up to zxid are applied; held, but not while it waits.
func (z *zab) await(ctx context.Context, zxid int64) bool {
	for z.applied() < zxid {
		moved := z.moved
		z.lock.Unlock()
		select {
		case <-ctx.Done():
		case <-moved:
		}
		z.lock.Lock()
		if ctx.Err() != nil {
			return z.applied() >= zxid
		}
	}
	return true
}

// zxided adds the hint of an answer, which the client also carries.
func (z *zab) zxided(r Reply, zxid int64) Reply {
	r.Carried = marshal(zxid)
	return z.hint(r, "zxid", zxid)
}

// zabWritten answers a forwarded write: where it stands in the log.
type zabWritten struct {
	Zxid  int64 `json:"zxid"`
	Reply Reply `json:"reply"`
}

// write has the leader order r, and answers once it is applied here.
func (z *zab) write(ctx context.Context, r Request) Reply {
	z.lock.Lock()
	leader := z.leader
	z.lock.Unlock()
	var w zabWritten
	switch leader {
	case "":
		return failed("no leader")
	case z.ID:
		w = z.propose(ctx, r)
	default:
		err := z.Peers.Call(ctx, leader, "write", r, &w)
		switch {
		case errors.Is(err, ErrNotSent):
			return failed("the leader cannot be reached")
		case err != nil:
			return unknown("forwarded, but no answer came: " + reason(err))
		}
	}
	if w.Reply.Outcome == Fail && w.Zxid == 0 {
		return failed(w.Reply.Error)
	}
	if w.Zxid == 0 {
		return unknown(w.Reply.Error)
	}
	if z.Bug == "read-backwards-after-reconnect" {
		return z.zxided(w.Reply, w.Zxid)
	}
	z.lock.Lock()
	defer z.lock.Unlock()
	if !z.await(ctx, w.Zxid) {
		return unknown("ordered, but not applied here in time")
	}
	return z.result(w.Zxid)
}

// result is what the applied write at zxid answered here; held.
func (z *zab) result(zxid int64) Reply {
	n, ok := z.find(zxid)
	if !ok || n <= z.dropped || z.log[n-z.dropped-1].reply.Outcome == "" {
		return unknown("another leader's writes took its place")
	}
	return z.zxided(z.log[n-z.dropped-1].reply, zxid)
}

func (z *zab) Peer(ctx context.Context, from, kind string, body []byte) ([]byte, error) {
	switch kind {
	case "write":
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return served(body, func(r Request) (zabWritten, error) { return z.propose(ctx, r), nil })
	case "vote":
		return served(body, z.vote)
	case "sync":
		return served(body, func(m zabSync) (zabSynced, error) { return z.follow(from, m) })
	}
	return nil, fmt.Errorf("unexpected message %q", kind)
}

func (z *zab) Status() Status {
	z.lock.Lock()
	defer z.lock.Unlock()
	return Status{Leader: z.leader, Term: z.promised, Applied: z.applied(),
		Ready: z.synced && z.leader != "" && (z.reign == nil || z.reign.established)}
}

func (z *zab) Close() error { return errors.Join(z.circle.Close(), z.journal.close()) }
