package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Times of kvlog.
const (
	lazyOrder   = 120 * time.Millisecond // how often the leader orders what has gathered
	orderPause  = 20 * time.Millisecond  // kvskyros: how long a round that reads ask for waits for more of them
	logPatience = 750 * time.Millisecond // for one operation: a failover, and what follows it
	viewLook    = 50 * time.Millisecond  // how often it looks after the others
	memberLimit = 400 * time.Millisecond // for one message to a sequencer
	sealLimit   = 250 * time.Millisecond // how long nodes have to say that they are there
	sealGrace   = 40 * time.Millisecond  // kvskyros: how long the others have once a majority has said so
)

func kvlog() Store {
	return Store{
		Name: "kvlog",
		Doc: `a shared log whose tail is ordered late (after Erwin of LazyLog)
Luo, Alagappan, Ganesan, LazyLog: A New Shared Log Abstraction for Low-Latency
Applications, SOSP 2024. An append goes to all sequencers of the view at once,
each of which puts it at the end of a log of its own; when all have it, it is
acknowledged, without a position. The leader's log is the order: it is made
final bit by bit, through Raft, every 120 ms or when somebody reads a position
that has no entry yet. Views are agreed on through Raft too. The leader of Raft
begins a view: it seals the one before at a majority of the nodes, makes final
what one sealed sequencer of that view has left, in that sequencer's order, and
names those that answered as the new sequencers. Every sequencer had all that
was acknowledged, and two majorities meet, so nothing is lost; and what was
acknowledged before something else was sent stands before it in every log.
Hints, over the whole log. view, of an append that in which it was acknowledged,
of a read that of the replica; seqIdx, for each sequencer the place that the
append has there, counted from the beginning of the whole log, the leader's
first (a node that is no sequencer counts as the leader); idx, of a read, the
last final position that its replica knew.`,
		Model: "log", Claim: "linearizable", Oracle: "erwin",
		Options: []Option{hintsOption},
		Ops:     []string{"append", "get", "read"},
		Bugs: []Bug{{Name: "reorder-at-failover", Doc: `a new view makes final what it finds in an order of its own
It takes the last first, and not the order that a sequencer had.`,
			Faults: []string{"isolate-leader", "pause", "kill", "chaos"}}},
		New: func(c Config) (Node, error) { return newLogNode(c, false) },
	}
}

// logRecord is an append on its way. ID is client and number, so that what is
// sent twice is one.
type logRecord struct {
	ID    string          `json:"id"`
	Key   string          `json:"key,omitempty"` // kvskyros: what it writes
	Value json.RawMessage `json:"value"`
	Index int64           `json:"index"` // its place at a sequencer
}

// logView is who sequences, from which position on.
type logView struct {
	Number  int64    `json:"number"`
	Leader  string   `json:"leader"`
	Members []string `json:"members"` // the leader first
	Base    int64    `json:"base"`
}

// logNode is one node: a replica of what is final and of the view, and a
// sequencer where the view names it.
type logNode struct {
	config Config
	raft   *raftNode
	keyed  bool            // it is kvskyros
	ctx    context.Context // ends when the node closes
	cancel context.CancelFunc
	work   sync.WaitGroup
	kick   chan struct{} // somebody waits for the tail to be made final
	lazy   atomic.Bool   // for tests: nothing is made final of its own accord

	mutex   sync.Mutex
	changed chan struct{} // closed, and made anew, when what follows changes
	upTo    int64         // records at lower places are to be made final at once
	final   []json.RawMessage
	data    Machine            // kvskyros: what they come to
	places  map[string]placing // of final records, by ID
	view    logView
	ended   context.Context // done when the view ends
	end     context.CancelFunc
	seq     sequencer
}

// placing is where a record became final, and in which view it was sent.
type placing struct{ position, view int64 }

// logStep is what an entry of Raft's log says: records become final in the
// view; where Next is given, it also ends the view.
type logStep struct {
	View    int64       `json:"view"`
	Records []logRecord `json:"records,omitempty"`
	Next    *logView    `json:"next,omitempty"`
}

func newLogNode(c Config, keyed bool) (*logNode, error) {
	n := &logNode{config: c, keyed: keyed, data: Machine{}, kick: make(chan struct{}, 1), changed: make(chan struct{}), places: map[string]placing{}}
	if err := n.seq.open(c.Dir); err != nil {
		return nil, err
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.ended, n.end = context.WithCancel(n.ctx)
	var err error
	n.raft, err = newRaftNode(c, raftFlavor{entry: raftHints, read: raftHints, whole: true, observe: n.observe})
	if err != nil {
		return nil, errors.Join(err, n.seq.log.close())
	}
	n.work.Go(n.manage)
	n.work.Go(n.order)
	return n, nil
}

// observe applies an entry of Raft's log.
func (n *logNode) observe(p placed) {
	var s logStep
	if json.Unmarshal(p.In, &s) != nil {
		return
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if s.View != n.view.Number { // of a leader that was replaced meanwhile
		return
	}
	for _, r := range s.Records {
		if _, known := n.places[r.ID]; !known {
			n.places[r.ID] = placing{int64(len(n.final)), s.View}
			n.final = append(n.final, r.Value)
			n.carryOut(r)
		}
	}
	if s.Next != nil {
		n.view = *s.Next
		n.view.Base = int64(len(n.final))
		n.seq.begin(n.view)
		n.end()
		n.ended, n.end = context.WithCancel(n.ctx)
	}
	n.seq.forget(n.places)
	close(n.changed)
	n.changed = make(chan struct{})
}

// wait waits for a change of the replica's state.
func (n *logNode) wait(ctx context.Context, changed <-chan struct{}) bool {
	again := time.NewTimer(viewLook)
	defer again.Stop()
	select {
	case <-changed:
	case <-again.C:
	case <-n.ctx.Done():
		return false
	case <-ctx.Done():
		return false
	}
	return ctx.Err() == nil
}

// now is a copy of the view, and the channel that tells of the next change.
func (n *logNode) now() (logView, <-chan struct{}) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.view, n.changed
}

// within is ctx with a limit, which also ends when the view does: whoever waits for
// a node of a view that is over waits in vain.
func (n *logNode) within(ctx context.Context, view logView, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.view.Number != view.Number {
		cancel()
		return ctx, cancel
	}
	stop := context.AfterFunc(n.ended, cancel)
	return ctx, func() { stop(); cancel() }
}

// Do answers an append, get or read.
func (n *logNode) Do(ctx context.Context, r Request) Reply {
	ctx, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	if n.keyed {
		return n.doKeyed(ctx, r)
	}
	switch r.F {
	case "append":
		if !json.Valid(r.In) {
			return failed("append needs a value in")
		}
		return n.append(ctx, r, compact(r.In))
	case "get", "read":
		var at int64
		if json.Unmarshal(r.In, &at) != nil || at < 0 {
			return failed(r.F + " needs a position in, from 0")
		}
		return n.read(ctx, r.F, at)
	}
	return failed("unknown operation " + r.F)
}

// append sends a record to the sequencers of the view, and to those of the next
// where it ends meanwhile, until all of one view have it.
func (n *logNode) append(ctx context.Context, r Request, value json.RawMessage) Reply {
	record := logRecord{ID: fmt.Sprintf("%s#%d", r.Client, r.Seq), Key: r.Key, Value: value}
	if r.Client == "" { // nobody who could ask again
		record.ID = fmt.Sprintf("/%s/%d/%p", n.config.ID, time.Now().UnixNano(), &record)
	}
	sent := false
	for {
		view, changed := n.now()
		if at, known := n.placed(record.ID); known {
			// It was sent before, and its places in the sequencers' logs say nothing
			// where another log than the leader's was made final.
			return n.hinted(okay(nil), map[string]any{"view": at.view})
		}
		if len(view.Members) > 0 && n.raft.Status().Ready {
			sent = true
			answers := n.spread(ctx, view, record)
			if hints := n.enough(view, answers); hints != nil {
				return n.hinted(okay(nil), hints)
			}
			if n.keyed && answers[0].Taken && n.flushed(ctx, view, r.Key) {
				n.raft.Do(ctx, Request{F: "get", Key: "log"}) // then it is final here too
				continue
			}
		}
		switch {
		case n.wait(ctx, changed):
		case sent:
			return unknown("sent to sequencers, and not known to be at all of them in time")
		default:
			return failed("no view in time; the record was not sent")
		}
	}
}

func (n *logNode) placed(id string) (placing, bool) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	at, known := n.places[id]
	return at, known
}

func (n *logNode) hinted(r Reply, hints map[string]any) Reply {
	if n.config.Option("hints", "on") != "off" {
		r.Hints = hints
	}
	return r
}

// appendQuestion and appendAnswer are the messages of an append.
type appendQuestion struct {
	View   int64     `json:"view"`
	Record logRecord `json:"record"`
}

type appendAnswer struct {
	Taken bool  `json:"taken"`
	Index int64 `json:"index"`
}

// spread sends a record to all sequencers of the view.
func (n *logNode) spread(ctx context.Context, view logView, record logRecord) []appendAnswer {
	ctx, cancel := n.within(ctx, view, memberLimit)
	defer cancel()
	answers := make([]appendAnswer, len(view.Members))
	var all sync.WaitGroup
	for i, id := range view.Members {
		all.Go(func() {
			q := appendQuestion{view.Number, record}
			if id == n.config.ID {
				answers[i] = n.take(q)
			} else if n.config.Peers.Call(ctx, id, "append", q, &answers[i]) != nil {
				answers[i] = appendAnswer{}
			}
		})
	}
	all.Wait()
	return answers
}

// enough is the hints of an append that enough sequencers have taken, nil where
// they are too few: all of the view. A node that is none counts as the leader.
func (n *logNode) enough(view logView, answers []appendAnswer) map[string]any {
	if n.keyed {
		return n.durable(view, answers)
	}
	places := slices.Repeat([]int64{answers[0].Index}, len(n.config.Nodes))
	for i, a := range answers {
		if !a.Taken {
			return nil
		}
		places[n.column(view.Leader, view.Members[i])] = a.Index
	}
	return map[string]any{"view": view.Number, "seqIdx": places}
}

// column is the place of a node in seqIdx: the leader first, then the others.
func (n *logNode) column(leader, id string) int {
	if id == leader {
		return 0
	}
	others := slices.DeleteFunc(slices.Clone(n.config.Nodes), func(x string) bool { return x == leader })
	return 1 + slices.Index(others, id)
}

// read answers from what is final, where that reaches the position.
func (n *logNode) read(ctx context.Context, f string, at int64) Reply {
	if r, ok := n.have(at); ok && f == "get" {
		return r
	}
	return n.upToDate(ctx, "", func() Reply { return n.answer(f, at) })
}

// upToDate answers when this replica has everything that was acknowledged
// before: the leader makes final all that it holds (of the key, where there are
// keys), and then a read index of Raft says how far this replica must be, and
// that the view has not changed.
func (n *logNode) upToDate(ctx context.Context, key string, answer func() Reply) Reply {
	for {
		view, changed := n.now()
		if view.Leader != "" && n.flushed(ctx, view, key) {
			if a := n.raft.Do(ctx, Request{F: "get", Key: "log"}); a.Outcome == OK {
				if after, _ := n.now(); after.Number == view.Number {
					return answer()
				}
				continue
			}
		}
		if !n.wait(ctx, changed) {
			return failed("the read was not answered in time")
		}
	}
}

// have answers a get of a position that is final here.
func (n *logNode) have(at int64) (Reply, bool) {
	n.mutex.Lock()
	known := at < int64(len(n.final))
	n.mutex.Unlock()
	if !known {
		return Reply{}, false
	}
	return n.answer("get", at), true
}

// answer answers a get or read from what is final here.
func (n *logNode) answer(f string, at int64) Reply {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	end := int64(len(n.final))
	out := null
	switch {
	case f == "read":
		out = marshal(n.final[min(at, end):])
	case at < end:
		out = n.final[at]
	}
	return n.hinted(okay(out), map[string]any{"view": n.view.Number, "idx": end - 1})
}

// Status says who leads the view.
func (n *logNode) Status() Status {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	s := n.raft.Status()
	return Status{Leader: n.view.Leader, Term: n.view.Number, Applied: int64(len(n.final)), Ready: s.Ready && n.view.Leader != ""}
}

// Close stops everything.
func (n *logNode) Close() error {
	n.cancel()
	err := n.raft.Close()
	n.work.Wait()
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return errors.Join(err, n.seq.close())
}
