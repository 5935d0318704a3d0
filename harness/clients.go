package harness

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pinyon/engine/history"
	"pinyon/faultnet"
)

// load is the work of all clients of a run.
type load struct {
	cluster  *cluster
	clock    clock
	recorder *history.Recorder
	work     *workload
	config   *Config

	ids       atomic.Int64 // the last operation
	processes atomic.Int64 // the last process
	left      atomic.Int64 // operations that may still begin; below 0: none
	counts    [3]atomic.Int64
}

// run lets every client work until ctx ends, the duration is over, or all
// operations have begun. It does not cut off what is in flight: that runs to
// its end or its own time-out.
func (l *load) run(ctx context.Context) {
	l.left.Store(int64(l.config.Ops))
	var wg sync.WaitGroup
	until := time.Now().Add(l.config.Duration)
	for i, c := range l.cluster.topo.Clients {
		gen := l.work.generator(l.config.Seed, uint64(i))
		wg.Go(func() { l.client(ctx, c, gen, until) })
	}
	wg.Wait()
}

// more reports whether another operation may begin.
func (l *load) more(ctx context.Context, until time.Time) bool {
	return ctx.Err() == nil && time.Now().Before(until) && (l.config.Ops == 0 || l.left.Add(-1) >= 0) && l.recorder.Err() == nil
}

// client is one client: a process after the other, each of which ends with the
// first operation whose outcome it does not learn.
func (l *load) client(ctx context.Context, c faultnet.Client, gen *generator, until time.Time) {
	s := &session{load: l, name: c.Name, link: faultnet.Link{From: c.Name, To: c.Node}}
	defer s.close()
	pace := newPacer(l.config.Rate, len(l.cluster.topo.Clients), l.config.Think)
	for l.more(ctx, until) {
		op := gen.operation()
		r := s.do(op)
		gen.saw(op, r)
		if r.Outcome != history.OK && !sleep(ctx, 20*time.Millisecond) { // a refusing or dead node is not hammered
			return
		}
		if !pace.wait(ctx) {
			return
		}
	}
}

// session is what a client is between two unknown outcomes: one process, one
// connection.
type session struct {
	*load
	name    string
	link    faultnet.Link
	process int
	client  Client
}

func (s *session) close() {
	if s.client != nil {
		s.client.Close()
		s.client = nil
	}
}

// do carries out one operation and records both its ends.
func (s *session) do(op Operation) Result {
	if s.client == nil {
		s.process = int(s.processes.Add(1)) - 1
		ctx, cancel := context.WithTimeout(context.Background(), s.config.Timeout)
		client, err := s.cluster.target.Connect(ctx, fmt.Sprintf("%s.%d", s.name, s.process), s.cluster.network.Addr(s.link))
		cancel()
		if err != nil { // the operation was never sent
			return Result{Outcome: history.Fail, Error: err.Error()}
		}
		s.client = client
	}
	id := s.ids.Add(1) - 1
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Timeout)
	defer cancel()
	s.recorder.Call(history.Called{ID: id, Process: s.process, F: op.F, Key: op.Key, In: op.In, Node: s.link.To, Time: s.clock.now()})
	r := s.client.Do(ctx, op)
	s.recorder.End(history.Ended{ID: id, Time: s.clock.now(), Outcome: r.Outcome, Out: r.Out, Error: r.Error, Hints: r.Hints})
	s.counts[r.Outcome].Add(1)
	if r.Outcome == history.Info {
		s.close() // the process retires: whether its operation happens later, nobody knows
	}
	return r
}

// quietWithin is how long a node that is to be read at the end may go without
// answering any such read.
const quietWithin = healWithin

// Unread are keys without a last read at one node.
type Unread struct {
	Node string
	Keys []string
	Why  string // of the last attempt
}

// lastReads reads every key at every node, once the store is quiet, and returns
// what could not be read, in the order of the nodes.
func (l *load) lastReads(ctx context.Context, f string, log bool) []Unread {
	nodes := l.cluster.topo.Nodes
	lists := make([]Unread, len(nodes))
	var wg sync.WaitGroup
	for i, id := range nodes {
		wg.Go(func() { lists[i] = l.lastReadsAt(ctx, id, f, log) })
	}
	wg.Wait()
	return slices.DeleteFunc(lists, func(u Unread) bool { return len(u.Keys) == 0 })
}

// lastReadsAt is lastReads at one node. A read that fails is tried again after
// the other keys, less and less often, until the node has answered none for
// quietWithin, or says that it never will.
func (l *load) lastReadsAt(ctx context.Context, id, f string, log bool) Unread {
	s := &session{load: l, name: admin, link: faultnet.Link{From: admin, To: id}}
	defer s.close()
	u := Unread{Node: id}
	var left []int
	for k := range l.config.Keys {
		left = append(left, k)
	}
	pause, until := lastReadPause, time.Now().Add(quietWithin)
	for len(left) > 0 && time.Now().Before(until) {
		op := Operation{F: f, Key: keyName(left[0])}
		if log {
			op.In = history.Int(0)
		}
		if r := s.do(op); r.Outcome != history.OK {
			left, u.Why = append(left[1:], left[0]), r.Error
			if r.Never || !sleep(ctx, pause) {
				break
			}
			pause = min(2*pause, 4*lastReadPause)
			continue
		}
		left, pause, until = left[1:], lastReadPause, time.Now().Add(quietWithin)
	}
	slices.Sort(left)
	for _, k := range left {
		u.Keys = append(u.Keys, keyName(k).Label())
	}
	return u
}

// lastReadPause is how long nothing is asked after an attempt that failed, the
// first time; it doubles up to four times that.
const lastReadPause = 25 * time.Millisecond

// pacer spaces the operations of one client: by its part of the rate of all,
// and by the time it thinks.
type pacer struct {
	gap, think time.Duration
	next       time.Time
}

func newPacer(rate float64, clients int, think time.Duration) *pacer {
	p := &pacer{think: think, next: time.Now()}
	if rate > 0 {
		p.gap = time.Duration(float64(time.Second) * float64(clients) / rate)
	}
	return p
}

// wait waits for the next operation's turn. A client that is late does not
// catch up with a burst.
func (p *pacer) wait(ctx context.Context) bool {
	if p.think > 0 && !sleep(ctx, p.think) {
		return false
	}
	if p.gap == 0 {
		return true
	}
	p.next = p.next.Add(p.gap)
	if late := time.Now(); p.next.Before(late) {
		p.next = late
		return true
	}
	return sleep(ctx, time.Until(p.next))
}
