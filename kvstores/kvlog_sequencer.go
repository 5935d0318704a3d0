package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// sequencer is a node's own log of what was sent to it in the current view and
// is not final yet. It is durable: a node that comes back after a kill still
// has what it took, and still knows which views it has sealed.
type sequencer struct {
	log    *wal
	view   logView
	sealed int64 // views up to this take no more
	next   int64 // the place of the next record
	tail   []logRecord
	place  map[string]int64 // of the records of the view, by ID
	broken error            // the log could not be written: nothing is taken any more
}

// The kinds of records of a sequencer's log.
const (
	takenRecord byte = iota + 1
	sealRecord
)

// taken is a record as the log keeps it.
type taken struct {
	View   int64     `json:"view"`
	Record logRecord `json:"record"`
}

// open reads the log back. What it holds of which view is known again once the
// node has applied the entries that name the view.
func (s *sequencer) open(dir string) error {
	s.place = map[string]int64{}
	if dir != "" {
		dir = filepath.Join(dir, "sequencer")
	}
	var records []walRecord
	var err error
	if s.log, records, err = openWAL(dir, 0); err != nil {
		return err
	}
	for _, r := range records {
		switch r.kind {
		case sealRecord:
			err = errors.Join(err, json.Unmarshal(r.body, &s.sealed))
		case takenRecord:
			var t taken
			if err = errors.Join(err, json.Unmarshal(r.body, &t)); t.View != s.view.Number {
				s.view, s.tail, s.place = logView{Number: t.View}, nil, map[string]int64{}
			}
			s.tail, s.place[t.Record.ID], s.next = append(s.tail, t.Record), t.Record.Index, t.Record.Index+1
		}
	}
	return err
}

// begin starts with a view; records of earlier ones are final or void by now.
// After a restart the node goes through old views again: what it read back
// belongs to a later one, and stays.
func (s *sequencer) begin(v logView) {
	switch {
	case v.Number < s.view.Number:
		return
	case v.Number > s.view.Number:
		s.tail, s.place, s.next = nil, map[string]int64{}, v.Base
		s.broken = errors.Join(s.broken, s.shorten())
	}
	s.view = v
}

// shorten drops what the log need not keep.
func (s *sequencer) shorten() error {
	records := []walRecord{{sealRecord, marshal(s.sealed)}}
	for _, r := range s.tail {
		records = append(records, walRecord{takenRecord, marshal(taken{s.view.Number, r})})
	}
	return s.log.replace(records)
}

// forget drops what has become final.
func (s *sequencer) forget(final map[string]placing) {
	var left []logRecord
	for _, r := range s.tail {
		if _, known := final[r.ID]; !known {
			left = append(left, r)
		}
	}
	s.tail = left
}

// take puts a record at the end, if the node sequences in its view. A record
// that is there keeps its place.
func (n *logNode) take(q appendQuestion) appendAnswer {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	s := &n.seq
	if q.View != n.view.Number || s.view.Number != q.View || s.sealed >= q.View || s.broken != nil {
		return appendAnswer{}
	}
	if at, known := s.place[q.Record.ID]; known {
		return appendAnswer{true, at}
	}
	// What an earlier view made final is not taken again. What this one did, because
	// the leader and most others were quicker, still gets its place in this log.
	if at, known := n.places[q.Record.ID]; known && (n.keyed || at.view != q.View) {
		return appendAnswer{}
	}
	q.Record.Index = s.next
	s.log.add(takenRecord, marshal(taken(q)))
	if s.broken = s.log.sync(); s.broken != nil {
		return appendAnswer{}
	}
	s.next++
	s.tail, s.place[q.Record.ID] = append(s.tail, q.Record), q.Record.Index
	return appendAnswer{true, q.Record.Index}
}

// sealAnswer is what a sequencer has left of a sealed view.
type sealAnswer struct {
	Sealed bool        `json:"sealed"`
	Held   bool        `json:"held"` // it was in the view, and Tail is what it has
	Tail   []logRecord `json:"tail"`
}

// seal ends a view at this node: it takes nothing more in it.
func (n *logNode) seal(view int64) sealAnswer {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	s := &n.seq
	if n.view.Number > view || s.broken != nil {
		return sealAnswer{}
	}
	if s.sealed < view {
		s.sealed = view
		s.log.add(sealRecord, marshal(view))
		if s.broken = s.log.sync(); s.broken != nil {
			return sealAnswer{}
		}
	}
	return sealAnswer{Sealed: true, Held: s.view.Number == view, Tail: slices.Clone(s.tail)}
}

// Peer answers the other nodes.
func (n *logNode) Peer(ctx context.Context, from, kind string, body []byte) ([]byte, error) {
	switch kind {
	case "append":
		var q appendQuestion
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, err
		}
		return marshal(n.take(q)), nil
	case "seal":
		var view int64
		if err := json.Unmarshal(body, &view); err != nil {
			return nil, err
		}
		return marshal(n.seal(view)), nil
	case "flush":
		var q flushQuestion
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, err
		}
		return marshal(n.flushHere(ctx, q)), nil
	case "here":
		return marshal(n.config.ID), nil
	case "raft":
		return n.raft.Peer(ctx, from, kind, body)
	}
	return nil, fmt.Errorf("unknown kind of message %q", kind)
}

func (s *sequencer) close() error { return s.log.close() }
