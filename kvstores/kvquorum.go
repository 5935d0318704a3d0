package kvstores

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

func kvquorum() Store {
	return Store{
		Name: "kvquorum", Leaderless: true,
		Doc: "quorums of one: local reads, and writes that reach the others later, if at all\n" +
			"A write is answered at once and sent to the others every 20 ms, once, without waiting for an answer. The last writer wins by the nodes' clocks. Nothing survives a kill.",
		Model: "kv", Claim: "linearizable",
		Wrong:  "reads are local and replication is asynchronous: a read misses a write that another node has answered; no fault is needed",
		Faults: []string{"none"},
		New: func(c Config) (Node, error) {
			q := &quorum{circle: newCircle(c), copies: newCopies()}
			q.every(quorumFlush, q.flush)
			return q, nil
		},
	}
}

// quorumFlush is how long kvquorum keeps writes to itself.
const quorumFlush = 20 * time.Millisecond

type quorum struct {
	*circle
	copies *copies
	mutex  sync.Mutex
	unsent []copyWrite
}

func (q *quorum) Do(_ context.Context, r Request) Reply {
	if why := Check(r); why != "" {
		return failed(why)
	}
	w, reply, changed := q.copies.attempt(r, q.Clock.Now().UnixNano())
	if changed {
		q.mutex.Lock()
		q.unsent = append(q.unsent, w)
		q.mutex.Unlock()
	}
	return reply
}

// flush sends what was written since the last time; whom it does not reach
// never hears of it.
func (q *quorum) flush() {
	q.mutex.Lock()
	batch := q.unsent
	q.unsent = nil
	q.mutex.Unlock()
	if len(batch) == 0 {
		return
	}
	for _, node := range q.Others() {
		q.spawn(func() { _ = q.call(node, "writes", batch, nil, callTimeout) })
	}
}

func (q *quorum) Peer(_ context.Context, _, kind string, body []byte) ([]byte, error) {
	var batch []copyWrite
	if err := json.Unmarshal(body, &batch); err != nil || kind != "writes" {
		return nil, fmt.Errorf("unexpected message %q: %v", kind, err)
	}
	for _, w := range batch {
		q.copies.take(w)
	}
	return null, nil
}

func (q *quorum) Status() Status { return Status{Ready: true} }
