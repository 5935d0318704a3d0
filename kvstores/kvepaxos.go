package kvstores

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Times of the protocol.
const (
	epaxosTick   = 20 * time.Millisecond
	epaxosGrace  = 5 * time.Millisecond   // for which the fast path waits for those that a majority does not need
	epaxosFetch  = 50 * time.Millisecond  // without a commit that others depend on: ask for it
	epaxosDead   = 200 * time.Millisecond // without a commit: its own node, and then the others, decide it
	epaxosQueue  = 2 * time.Millisecond   // revisited: how far ahead the time is at which all shall order a request
	epaxosLate   = 15 * time.Millisecond  // with blind-write-no-conflict: how long news of a put may take its time
	epaxosQueued = 20 * time.Millisecond  // revisited: how long a replica whose clock is behind waits for that time
)

// The mistakes.
const (
	noTieBreak    = "no-tie-break"
	skipCommitted = "skip-uncommitted-dependency"
	blindWrites   = "blind-write-no-conflict"
)

func kvepaxos() Store {
	return epaxosStore("kvepaxos", "epaxos", false,
		"a state machine without a leader: whoever is asked has the others say what a request depends on (EPaxos)\n"+
			"The node asked numbers the request among its own and sends it to all; each adds the requests it knows of that conflict (one key, and not both gets), and a seq above theirs. Where all agree, it is committed; otherwise the union of a majority is accepted by a majority first. "+
			"Every node executes strongly connected components of the dependencies in their order, and inside a component by seq, then by replica, once all that they depend on is committed. "+
			"The fast path needs all nodes, not the paper's smaller quorum: so what a dead node left undecided is decided as in Paxos, an instance at a time, by whoever misses it. "+
			"Moraru, Andersen, Kaminsky, \"There Is More Consensus in Egalitarian Parliaments\", SOSP 2013; with two ballots an instance, as Sutra, \"On the correctness of Egalitarian Paxos\", 2020, found to be needed.")
}

func kvepaxosRevisited() Store {
	return epaxosStore("kvepaxos-revisited", "epaxos-revisited", true,
		"kvepaxos whose nodes order a request at a time that its first node set, so that they agree more often\n"+
			"The time is 2 ms ahead by the clock of the node asked; a node that gets the request earlier waits for it, by its own clock and for at most 20 ms. Clocks that differ cost agreement and never correctness. The time is the hint timestamp, in µs. "+
			"Tollman, Park, Ousterhout, \"EPaxos Revisited\", NSDI 2021, section 5.2 (timestamp-ordered queuing).")
}

func epaxosStore(name, oracle string, queued bool, doc string) Store {
	return Store{
		Name: name, Majority: true, Leaderless: true, Doc: doc, Model: "kv", Claim: "linearizable", Oracle: oracle,
		Options: []Option{hintsOption},
		Bugs:    epaxosBugs(queued),
		New:     func(c Config) (Node, error) { return newEpaxos(c, queued) },
	}
}

func epaxosBugs(queued bool) []Bug {
	skips := Bug{Name: skipCommitted, Faults: []string{"none", "flaky", "chaos"}, Hidden: true,
		Doc: "a get is executed although something that it depends on is not committed yet: it misses a write that comes before it by their dependencies, and that nobody has been answered yet."}
	blind := Bug{Name: blindWrites, Faults: []string{"none", "flaky", "chaos"},
		Doc: "puts do not conflict with each other, and so there is no hurry to tell of them (15 ms): nodes execute them in the order in which they learn of them, and differ from then on."}
	if queued {
		return []Bug{skips, blind}
	}
	return []Bug{skips, blind, {Name: noTieBreak, Faults: []string{"none", "flaky", "chaos"}, Hidden: true,
		Doc: "requests that depend on each other are executed in the order in which a node learnt of their commits, and not by seq and replica: nodes differ, and a get misses a write that comes before it."}}
}

// epaxos is one replica. Replicas go by their index among the sorted nodes,
// instances of each from 0.
type epaxos struct {
	*circle
	self   int
	queued bool // as in EPaxos revisited

	lock    sync.Mutex // guards all that follows
	journal *journal
	epaxosLog
	run        epaxosExecution
	waiting    map[epaxosID][]chan Reply
	asked      map[operation]epaxosID // the instance of a request, as far as it is known here
	leading    map[epaxosID]bool      // this node is deciding it
	later      map[epaxosID]time.Time // when it will try to
	stuck      []time.Time            // by replica: since when its next commit is missed
	stuckAt    []int64
	fetching   bool
	fetchTurn  int
	fastAgreed int64 // committed without an accept, for tests
}

// epaxosID names an instance.
type epaxosID struct {
	Replica int   `json:"r"`
	Inst    int64 `json:"i"`
}

func newEpaxos(c Config, queued bool) (Node, error) {
	e, err := makeEpaxos(c, queued)
	if err != nil {
		return nil, err
	}
	e.advance()
	e.every(epaxosTick, e.tick)
	return e, nil
}

// makeEpaxos is a replica that does nothing by itself yet.
func makeEpaxos(c Config, queued bool) (*epaxos, error) {
	n := len(c.Nodes)
	e := &epaxos{circle: newCircle(c), self: slices.Index(c.Nodes, c.ID), queued: queued,
		epaxosLog: newEpaxosLog(n, c.Bug == blindWrites), run: newEpaxosExecution(c.Bug),
		waiting: map[epaxosID][]chan Reply{}, asked: map[operation]epaxosID{},
		leading: map[epaxosID]bool{}, later: map[epaxosID]time.Time{}, stuck: make([]time.Time, n), stuckAt: make([]int64, n)}
	var err error
	e.journal, err = openJournal(c.Dir, "epaxos", e.replay)
	return e, err
}

// Do numbers a request among this node's instances, has it decided, and answers
// once it is executed here. What was numbered may come to be executed whatever
// this node sees of it, and a get stands in everybody's dependencies, so all
// that is not executed in time is unknown.
func (e *epaxos) Do(ctx context.Context, r Request) Reply {
	if why := Check(r); why != "" {
		return failed(why)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := e.begin(r)
	if err != nil {
		return unknown(err.Error())
	}
	select {
	case a := <-reply:
		return a
	case <-ctx.Done():
		return unknown("not executed here in time")
	case <-e.life.Done():
		return unknown("the node stops")
	}
}

// begin starts an instance for r, or joins the one that this node knows of it.
func (e *epaxos) begin(r Request) (<-chan Reply, error) {
	reply := make(chan Reply, 1)
	r.Carried = nil
	e.lock.Lock()
	if id, known := e.asked[r.operation()]; known && r.Client != "" {
		e.join(id, reply)
		e.lock.Unlock()
		return reply, nil
	}
	x := e.reserve(r)
	e.waiting[x.ID] = append(e.waiting[x.ID], reply)
	e.leading[x.ID] = true
	end, err := e.keep(x)
	m := epaxosMessage{ID: x.ID, epaxosValue: x.epaxosValue}
	e.lock.Unlock()
	if err = errors.Join(err, e.journal.sync(end)); err != nil {
		return nil, err
	}
	e.spawn(func() {
		if err := e.lead(m); err != nil {
			fmt.Fprintf(e.Log, "%s: instance %v: %v\n", e.ID, m.ID, err)
		}
		e.rest(m.ID)
	})
	return reply, nil
}

// join waits for an instance that is there; held.
func (e *epaxos) join(id epaxosID, reply chan Reply) {
	if x := e.at(id); x != nil && x.executed {
		reply <- e.hinted(x)
		return
	}
	e.waiting[id] = append(e.waiting[id], reply)
}

// reserve makes this node's next instance; held. With queues the replicas order
// the request later, this one as all others; otherwise this one does now.
func (e *epaxos) reserve(r Request) *epaxosEntry {
	x := &epaxosEntry{ID: epaxosID{e.self, int64(len(e.space[e.self]))}, touched: time.Now()}
	x.Request, x.Deps = &r, e.none()
	if e.queued {
		x.Time = e.Clock.Now().Add(epaxosQueue).UnixMicro()
		return x
	}
	x.Seq, x.Deps = e.conflicts(x.ID, x.epaxosValue)
	x.Stage = preAccepted
	return x
}

// hinted is the reply of an executed entry; held.
func (e *epaxos) hinted(x *epaxosEntry) Reply {
	r := x.reply
	if r.Outcome != OK || e.Option("hints", "on") == "off" {
		return r
	}
	r.Hints = map[string]any{"replica": x.ID.Replica, "inst": x.ID.Inst, "seq": x.Seq, "deps": slices.Clone(x.Deps)}
	if e.queued {
		r.Hints["timestamp"] = x.Time
	}
	return r
}

func (e *epaxos) Peer(_ context.Context, _, kind string, body []byte) ([]byte, error) {
	switch kind {
	case "preaccept":
		return served(body, e.preAccept)
	case "accept":
		return served(body, e.accept)
	case "prepare":
		return served(body, e.prepare)
	case "commit":
		return served(body, func(m epaxosMessage) (bool, error) { return true, e.learn(m) })
	case "fetch":
		return served(body, e.fetched)
	}
	return nil, fmt.Errorf("unexpected message %q", kind)
}

func (e *epaxos) Status() Status {
	e.lock.Lock()
	defer e.lock.Unlock()
	return Status{Ready: true, Applied: e.run.count}
}

func (e *epaxos) Close() error { return errors.Join(e.circle.Close(), e.journal.close()) }
