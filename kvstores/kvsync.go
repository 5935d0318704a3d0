package kvstores

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

func kvsync() Store {
	return Store{
		Name: "kvsync", Leaderless: true,
		Doc: "writes go to all replicas, and are answered with ok even when one was unreachable\n" +
			"Reads are local. The last writer wins, by a clock that ticks every 10 ms; of writes in one tick each replica keeps whichever came last. A compare-and-set compares at one replica, without asking the others. Nothing survives a kill.",
		Model: "kv", Claim: "linearizable",
		Wrong:  "replicas disagree about writes in one tick of the clock, and two nodes can both compare and both set; no fault is needed",
		Faults: []string{"none"},
		New:    func(c Config) (Node, error) { return &syncing{circle: newCircle(c), copies: newCopies()}, nil },
	}
}

// syncTick is the grain of kvsync's clock.
const syncTick = 10 * time.Millisecond

type syncing struct {
	*circle
	copies *copies
}

func (s *syncing) Do(ctx context.Context, r Request) Reply {
	if why := Check(r); why != "" {
		return failed(why)
	}
	w, reply, changed := s.copies.attempt(r, s.Clock.Now().Truncate(syncTick).UnixNano())
	if !changed {
		return reply
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all sync.WaitGroup
	for _, node := range s.Others() {
		all.Go(func() { _ = s.Peers.Call(ctx, node, "write", w, nil) }) // unreachable: nobody is told
	}
	all.Wait()
	return reply
}

func (s *syncing) Peer(_ context.Context, _, kind string, body []byte) ([]byte, error) {
	var w copyWrite
	if err := json.Unmarshal(body, &w); err != nil || kind != "write" {
		return nil, fmt.Errorf("unexpected message %q: %v", kind, err)
	}
	s.copies.take(w)
	return null, nil
}

func (s *syncing) Status() Status { return Status{Ready: true} }

// copies is a replica whose last writer wins, by time.
type copies struct {
	mutex sync.Mutex
	state Machine
	times map[string]int64
}

// copyWrite is the new value of a key, null for none, and when it was written.
type copyWrite struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	Time  int64           `json:"time"` // ns
}

func newCopies() *copies { return &copies{state: Machine{}, times: map[string]int64{}} }

// attempt carries r out here; changed says whether there is a write to tell
// the others of.
func (c *copies) attempt(r Request, now int64) (w copyWrite, reply Reply, changed bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	before := c.state.Get(r.Key)
	reply = c.state.Apply(r)
	after := c.state.Get(r.Key)
	if isRead(r.F) || reply.Outcome != OK || r.F == "cas" && same(before, after) {
		return w, reply, false
	}
	c.times[r.Key] = now
	return copyWrite{r.Key, after, now}, reply, true
}

// take stores what another replica wrote, unless what is here is newer.
func (c *copies) take(w copyWrite) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if w.Time < c.times[w.Key] {
		return
	}
	c.times[w.Key] = w.Time
	if same(w.Value, null) {
		delete(c.state, w.Key)
	} else {
		c.state[w.Key] = w.Value
	}
}
