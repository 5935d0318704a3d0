package kvstores

import (
	"encoding/json"
	"fmt"

	"go.etcd.io/raft/v3/raftpb"
)

// command is what an entry of the log says. Every proposal of one request says
// the same: the replicated state goes by client and seq.
type command struct{ Request }

// operation names a request of a client; a retry has the same name.
type operation struct {
	client string
	seq    int64
}

func (r Request) operation() operation { return operation{r.Client, r.Seq} }

// result is a stored answer, and the entry that gave it.
type result struct {
	Seq   int64  `json:"seq"`
	Reply Reply  `json:"reply"`
	Term  uint64 `json:"term"`
	Index uint64 `json:"index"`
}

// raftState is what every replica computes from the log: the keys, and for each
// client the result of its last request. A client is sequential, so one result
// each is enough to answer a retry without applying it again.
type raftState struct {
	Index   uint64            `json:"index"` // of the last entry applied
	Term    uint64            `json:"term"`  // of that entry
	Data    Machine           `json:"data"`
	Clients map[string]result `json:"clients"`
	// Revision counts the writes that changed something, and Revisions has by key
	// the one that wrote it: nil where the store has no such hints.
	Revision  uint64            `json:"revision,omitempty"`
	Revisions map[string]uint64 `json:"revisions,omitempty"`

	twice bool // the mistake apply-retry-twice: there is no table of clients
}

// placed is a command and its place in the log.
type placed struct {
	term, index uint64
	*command    // nil: a leader only marked the beginning of its term
}

// place reads an entry of the log.
func place(e *raftpb.Entry) (placed, error) {
	p := placed{term: e.GetTerm(), index: e.GetIndex()}
	if len(e.GetData()) == 0 {
		return p, nil
	}
	p.command = new(command)
	if err := json.Unmarshal(e.GetData(), p.command); err != nil {
		return p, fmt.Errorf("entry %d is no command: %w", p.index, err)
	}
	return p, nil
}

// apply carries out a command, once, and returns its result.
func (s *raftState) apply(p placed) result {
	s.Term, s.Index = p.term, p.index
	if p.command == nil {
		return result{}
	}
	if last, known := s.stored(p.operation()); known {
		return last
	}
	_, held := s.Data[p.Key]
	r := result{p.Seq, s.Data.Apply(p.Request), p.term, p.index}
	if s.Revisions != nil {
		s.revise(p.Request, held, &r.Reply)
	}
	if !s.twice {
		s.Clients[p.Client] = r
	}
	return r
}

// revise counts a write, if it changed something, and puts the revisions into
// the reply, as etcd does: every answer carries the store's, and a read that of
// the value it found.
func (s *raftState) revise(r Request, held bool, reply *Reply) {
	changed := reply.Outcome == OK && !isRead(r.F)
	switch {
	case r.F == "cas":
		changed = changed && string(reply.Out) == "true"
	case r.F == "delete":
		changed = changed && held
	}
	if changed {
		s.Revision++
		s.Revisions[r.Key] = s.Revision
	}
	if _, there := s.Data[r.Key]; !there {
		delete(s.Revisions, r.Key)
	}
	reply.Hints = map[string]any{"revision": s.Revision}
	if mod, ok := s.Revisions[r.Key]; ok && isRead(r.F) {
		reply.Hints["mod_revision"] = mod
	}
}

// stored is the result of a request that was carried out already.
func (s *raftState) stored(o operation) (result, bool) {
	last, known := s.Clients[o.client]
	switch {
	case !known || o.seq > last.Seq:
		return result{}, false
	case o.seq < last.Seq:
		return result{Seq: o.seq, Reply: unknown("a later request of this client was carried out already")}, true
	}
	return last, true
}

// restore replaces the state by a snapshot's.
func (s *raftState) restore(data []byte) error {
	fresh := raftState{twice: s.twice}
	if err := json.Unmarshal(data, &fresh); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if fresh.Data == nil || fresh.Clients == nil {
		return fmt.Errorf("snapshot at entry %d lacks keys or clients", fresh.Index)
	}
	if s.Revisions != nil && fresh.Revisions == nil {
		fresh.Revisions = map[string]uint64{}
	}
	*s = fresh
	return nil
}
