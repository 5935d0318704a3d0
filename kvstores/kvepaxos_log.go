package kvstores

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// epaxosStage is how far an instance has come at a replica.
type epaxosStage int

// An instance that is only reserved has its request, and no dependencies yet.
const (
	reserved epaxosStage = iota
	preAccepted
	accepted
	committed
)

// epaxosValue is what is decided of an instance. Without a request it does
// nothing, and nothing follows it.
type epaxosValue struct {
	Request *Request `json:"q,omitempty"`
	Seq     int64    `json:"s"`
	Deps    []int64  `json:"d"`           // by replica: the last instance that it depends on, -1: none
	Time    int64    `json:"t,omitempty"` // revisited: when to order it, µs
}

// epaxosEntry is what a replica knows of one instance. Promised is the highest
// ballot that it has seen, Ballot the one in which it took over the value: kept
// apart, because a promise alone says nothing of the value (Sutra 2020).
type epaxosEntry struct {
	ID       epaxosID    `json:"id"`
	Promised int64       `json:"p,omitempty"`
	Ballot   int64       `json:"b,omitempty"`
	Stage    epaxosStage `json:"g"`
	epaxosValue

	touched  time.Time
	learnt   int64 // committed as the so many-th here
	executed bool
	reply    Reply
	missing  *epaxosID // what it was last seen to wait for
}

// epaxosLog is all that a replica knows, and what it needs to find conflicts.
type epaxosLog struct {
	space  [][]*epaxosEntry // by replica and instance; nil: never heard of
	front  []int64          // by replica: the first instance that is not committed here
	wanted []int64          // by replica: the highest instance that anything depends on
	keys   map[string]*epaxosKey
	learnt int64
	blind  bool // puts do not conflict
}

// epaxosKey is what is known of the requests of one key.
type epaxosKey struct {
	list [][]*epaxosEntry // by replica, by instance
	seq  int64            // the highest
	done []int            // by replica: so many from the start of its list are executed
}

func newEpaxosLog(n int, blind bool) epaxosLog {
	l := epaxosLog{space: make([][]*epaxosEntry, n), front: make([]int64, n), keys: map[string]*epaxosKey{}, blind: blind}
	l.wanted = l.none()
	return l
}

// none are dependencies on nothing.
func (l *epaxosLog) none() []int64 { return slices.Repeat([]int64{-1}, len(l.space)) }

// at is an entry, or nil.
func (l *epaxosLog) at(id epaxosID) *epaxosEntry {
	if id.Inst < int64(len(l.space[id.Replica])) {
		return l.space[id.Replica][id.Inst]
	}
	return nil
}

// check refuses what no replica of this store can have sent.
func (l *epaxosLog) check(id epaxosID, v epaxosValue) error {
	if id.Replica < 0 || id.Replica >= len(l.space) || id.Inst < 0 || id.Inst > 1<<40 || len(v.Deps) != len(l.space) {
		return fmt.Errorf("instance %v with dependencies %v: expected an instance of one of %d replicas", id, v.Deps, len(l.space))
	}
	return nil
}

// enter puts an entry in its place.
func (l *epaxosLog) enter(x *epaxosEntry) {
	row := l.space[x.ID.Replica]
	for int64(len(row)) <= x.ID.Inst {
		row = append(row, nil)
	}
	row[x.ID.Inst] = x
	l.space[x.ID.Replica] = row
}

// index makes an entry, whose value has just changed, known to those that look
// for conflicts.
func (l *epaxosLog) index(x *epaxosEntry) {
	if x.Stage == committed {
		for q, last := range x.Deps {
			l.wanted[q] = max(l.wanted[q], last)
		}
		for f := &l.front[x.ID.Replica]; ; *f++ {
			if next := l.at(epaxosID{x.ID.Replica, *f}); next == nil || next.Stage != committed {
				break
			}
		}
	}
	if x.Request == nil || x.Stage == reserved {
		return
	}
	k := l.keys[x.Request.Key]
	if k == nil {
		k = &epaxosKey{list: make([][]*epaxosEntry, len(l.space)), done: make([]int, len(l.space))}
		l.keys[x.Request.Key] = k
	}
	k.seq = max(k.seq, x.Seq)
	list := k.list[x.ID.Replica]
	at, known := slices.BinarySearchFunc(list, x.ID.Inst, func(y *epaxosEntry, i int64) int { return int(y.ID.Inst - i) })
	if !known {
		k.list[x.ID.Replica] = slices.Insert(list, at, x)
		k.done[x.ID.Replica] = min(k.done[x.ID.Replica], at)
	}
}

// conflicts returns v's seq and dependencies with those added that this replica
// knows of. A seq is above those of all requests of the key, gets too: so an
// operation that is invoked after another was answered has a higher one.
func (l *epaxosLog) conflicts(id epaxosID, v epaxosValue) (seq int64, deps []int64) {
	seq, deps = v.Seq, slices.Clone(v.Deps)
	k := l.keys[v.Request.Key]
	if k == nil {
		return max(seq, 1), deps
	}
	for q, list := range k.list {
		for i := len(list) - 1; i >= 0 && list[i].ID.Inst > deps[q]; i-- {
			if list[i].ID != id && l.interfere(v.Request, list[i].Request) {
				deps[q] = list[i].ID.Inst
				break
			}
		}
	}
	return max(seq, k.seq+1), deps
}

// interfere reports whether the order of two requests of a key matters; of one
// that came to nothing it is not known any more what it was.
func (l *epaxosLog) interfere(a, b *Request) bool {
	switch {
	case b == nil:
		return true
	case l.blind && a.F == "put" && b.F == "put":
		return false
	}
	return !isRead(a.F) || !isRead(b.F)
}

// keep notes an entry whose value or promise has changed; held. It counts once
// the journal is synced up to end.
func (e *epaxos) keep(x *epaxosEntry) (end int64, err error) {
	x.touched = time.Now()
	if e.at(x.ID) == nil {
		e.enter(x)
	}
	if x.Request != nil {
		if _, known := e.asked[x.Request.operation()]; !known {
			e.asked[x.Request.operation()] = x.ID
		}
	}
	if x.Stage == committed && x.learnt == 0 {
		e.learnt++
		x.learnt = e.learnt
		e.run.pending = append(e.run.pending, x)
	}
	e.index(x)
	return e.journal.append(x)
}

// replay takes a record of the journal in.
func (e *epaxos) replay(record []byte) error {
	var r epaxosEntry
	if err := json.Unmarshal(record, &r); err != nil {
		return err
	}
	if err := e.check(r.ID, r.epaxosValue); err != nil {
		return err
	}
	x := e.at(r.ID)
	if x == nil {
		x = &r
	}
	x.Promised, x.Ballot, x.Stage, x.epaxosValue = r.Promised, r.Ballot, r.Stage, r.epaxosValue
	_, err := e.keep(x) // the journal is not open yet: nothing is written
	return err
}
