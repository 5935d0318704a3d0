package kvstores

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// The limits of a link to a peer. Raft repeats what it needs, so messages are
// dropped rather than kept: nothing here may hold up the node's loop.
const (
	linkQueue   = 4096                   // messages that wait; more are dropped
	linkBatch   = 1 << 20                // bytes of one POST, unless one message is larger
	linkFlights = 8                      // POSTs that may be under way
	linkTimeout = 500 * time.Millisecond // for one POST
	linkOrder   = 20 * time.Millisecond  // how long a POST has the link for itself
)

// letter is one message on its way to a peer.
type letter struct {
	body     []byte
	snapshot bool
}

// delivery says how a POST to a peer ended, for raft to know.
type delivery struct {
	to       uint64
	failed   bool
	snapshot bool // the POST held a snapshot
}

// link carries messages to one peer: in order while the peer answers quickly,
// and a few POSTs at a time when it does not, so that a slow one holds up
// nothing for long.
type link struct {
	to      uint64
	name    string
	peers   *Peers
	queue   chan letter
	reports chan<- delivery
}

// post puts m into the queue; false: the queue was full.
func (l *link) post(m *raftpb.Message) bool {
	body, err := proto.Marshal(m)
	if err != nil {
		return false
	}
	select {
	case l.queue <- letter{body, m.GetType() == raftpb.MsgSnap}:
		return true
	default:
		return false
	}
}

// run sends until ctx ends, and returns when nothing is under way any more.
func (l *link) run(ctx context.Context) {
	var flights sync.WaitGroup
	defer flights.Wait()
	slots := make(chan struct{}, linkFlights)
	for {
		var first letter
		select {
		case first = <-l.queue:
		case <-ctx.Done():
			return
		}
		body, snapshot := l.gather(first)
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		done := make(chan struct{})
		flights.Go(func() {
			l.send(ctx, body, snapshot)
			<-slots
			close(done)
		})
		wait := time.NewTimer(linkOrder)
		select {
		case <-done:
		case <-wait.C:
		}
		wait.Stop()
	}
}

// gather packs what waits behind first into one body.
func (l *link) gather(first letter) (body []byte, snapshot bool) {
	body, snapshot = pack(nil, first.body), first.snapshot
	for len(body) < linkBatch {
		select {
		case next := <-l.queue:
			body, snapshot = pack(body, next.body), snapshot || next.snapshot
		default:
			return body, snapshot
		}
	}
	return body, snapshot
}

func (l *link) send(ctx context.Context, body []byte, snapshot bool) {
	limit, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	_, err := l.peers.Send(limit, l.name, "raft", body)
	if err != nil || snapshot {
		select {
		case l.reports <- delivery{l.to, err != nil, snapshot}:
		case <-ctx.Done():
		}
	}
}

// pack appends a message to a body, its length in front of it.
func pack(body, message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(body, uint32(len(message))), message...)
}

// unpack is the inverse of pack for a whole body.
func unpack(body []byte) ([]*raftpb.Message, error) {
	var list []*raftpb.Message
	for len(body) > 0 {
		if len(body) < 4 || len(body)-4 < int(binary.BigEndian.Uint32(body)) {
			return nil, errors.New("raft messages: the body is cut off")
		}
		size := 4 + int(binary.BigEndian.Uint32(body))
		m := new(raftpb.Message)
		if err := proto.Unmarshal(body[4:size], m); err != nil {
			return nil, fmt.Errorf("raft messages: %w", err)
		}
		list, body = append(list, m), body[size:]
	}
	return list, nil
}
