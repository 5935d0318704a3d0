package kvstores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// Times of the protocol. Raft counts ticks: a follower that hears nothing for
// 10 to 20 of them (150 to 300 ms) starts an election, a leader says that it is
// there every 2 (30 ms).
const (
	raftTick      = 15 * time.Millisecond
	electionTicks = 10
	beatTicks     = 2
	retryTicks    = 8                      // propose again what was not applied by then
	rereadTicks   = 10                     // ask again for a read index
	raftPatience  = 600 * time.Millisecond // for one request, where its context does not end earlier: twice an election
)

// raftNode is one replica. One goroutine, run, owns everything below the line
// and is the only one to call raft; the others hand it things through channels,
// and it never waits for any of them.
type raftNode struct {
	config Config
	flavor raftFlavor
	names  []string // by raft's number less one

	requests chan *asked
	inbox    chan []*raftpb.Message
	reports  chan delivery
	visits   chan func()
	status   atomic.Pointer[Status]
	cancel   context.CancelFunc
	ended    chan struct{} // run has returned
	links    sync.WaitGroup
	closing  sync.Once
	closeErr error

	// ----
	raw     *raft.RawNode
	storage *raft.MemoryStorage
	log     *wal
	hard    *raftpb.HardState // the last one
	state   raftState
	backlog []placed // committed, not applied yet
	drained int64    // the tick at which the backlog was last applied
	failure error    // why the loop must end
	link    map[uint64]*link
	started int64 // ns; tells this life of the node from others
	ticks   int64
	waiting map[operation][]*asked // for their entry to be applied
	reads   readers
	lease   lease
	saved   uint64 // the index of the last snapshot
	sent    map[raftpb.MessageType]int64
	hasty   bool // of lose-unsynced-log: it comes back after a kill
}

// asked is a request of a client at this node.
type asked struct {
	Request
	answer chan Reply   // room for one
	stage  atomic.Int32 // fresh, proposed or gone
	// How often it was proposed, and of the newest proposal: when, and to whom.
	proposals  int
	tick       int64
	term, lead uint64
}

// The stages of a request. Whoever moves it away from fresh decides what may be
// said of it: the loop, that it may be applied; its client's goroutine, which
// gave up, that it never will be.
const (
	fresh int32 = iota
	proposed
	gone
)

func newRaftNode(c Config, f raftFlavor) (*raftNode, error) {
	n := &raftNode{config: c, flavor: f, names: slices.Sorted(slices.Values(c.Nodes)),
		requests: make(chan *asked, 256), inbox: make(chan []*raftpb.Message, 1024), reports: make(chan delivery, 256), visits: make(chan func()),
		ended: make(chan struct{}), storage: raft.NewMemoryStorage(), link: map[uint64]*link{},
		waiting: map[operation][]*asked{}, started: time.Now().UnixNano(), sent: map[raftpb.MessageType]int64{},
		state: raftState{Data: Machine{}, Clients: map[string]result{}, twice: c.Bug == "apply-retry-twice"}}
	if f.revisions {
		n.state.Revisions = map[string]uint64{}
	}
	if n.config.Log == nil {
		n.config.Log = io.Discard
	}
	n.reads.batches = map[uint64]*batch{}
	if err := n.load(); err != nil {
		return nil, err
	}
	var err error
	n.raw, err = raft.NewRawNode(&raft.Config{
		ID: n.number(c.ID), ElectionTick: electionTicks, HeartbeatTick: beatTicks, Storage: n.storage,
		Applied: n.state.Index, MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 256, MaxUncommittedEntriesSize: 64 << 20,
		PreVote: !n.hasty, CheckQuorum: !n.clings(), Logger: raftLogger{n.config.Log},
	})
	if err != nil {
		return nil, errors.Join(err, n.log.close())
	}
	n.publish()
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	for _, name := range c.Others() {
		l := &link{n.number(name), name, c.Peers, make(chan letter, linkQueue), n.reports}
		n.link[l.to] = l
		n.links.Go(func() { l.run(ctx) })
	}
	go n.run(ctx)
	return n, nil
}

// number is what raft calls a node.
func (n *raftNode) number(name string) uint64 { return uint64(slices.Index(n.names, name) + 1) }

// name is the inverse of number, "" of nobody.
func (n *raftNode) name(number uint64) string {
	if number < 1 || number > uint64(len(n.names)) {
		return ""
	}
	return n.names[number-1]
}

// Do hands the request to the loop and waits. What it may say when time is up
// is decided by whether the loop has proposed it.
func (n *raftNode) Do(ctx context.Context, r Request) Reply {
	if why := Check(r); why != "" {
		return failed(why)
	}
	ctx, cancel := context.WithTimeout(ctx, raftPatience)
	defer cancel()
	a := &asked{Request: r, answer: make(chan Reply, 1)}
	if r.Client == "" { // nobody who could ask again
		a.Client = fmt.Sprintf("%s/%d/%p", n.config.ID, time.Now().UnixNano(), a)
	}
	select {
	case n.requests <- a:
	case <-ctx.Done():
		return failed("the node was too busy to take the request")
	case <-n.ended:
		return failed("the node has stopped")
	}
	select {
	case reply := <-a.answer:
		return reply
	case <-ctx.Done():
	case <-n.ended:
	}
	was := a.stage.Swap(gone)
	select {
	case reply := <-a.answer: // it came just now
		return reply
	default:
	}
	switch {
	case isRead(r.F):
		return failed("the read was not answered in time")
	case was == fresh:
		return failed("no leader in time; the request was not proposed")
	}
	return unknown("proposed, and not known to be applied in time")
}

// Peer takes the messages of another node.
func (n *raftNode) Peer(_ context.Context, _, kind string, body []byte) ([]byte, error) {
	if kind != "raft" {
		return nil, fmt.Errorf("unknown kind of message %q", kind)
	}
	list, err := unpack(body)
	if err != nil {
		return nil, err
	}
	select {
	case n.inbox <- list:
		return nil, nil
	default:
		return nil, errors.New("the node is too busy to take messages")
	}
}

// Status says what the loop last published.
func (n *raftNode) Status() Status { return *n.status.Load() }

// Close stops the loop and the links, and closes the log.
func (n *raftNode) Close() error {
	n.closing.Do(func() {
		n.cancel()
		<-n.ended
		n.links.Wait()
		n.closeErr = n.log.close()
	})
	return n.closeErr
}

// The kinds of records in the log.
const (
	hardRecord byte = iota + 1
	entryRecord
	snapshotRecord
)

// load reads the log back into storage and state.
func (n *raftNode) load() error {
	late := 0
	if n.config.Bug == "lose-unsynced-log" {
		late = lateBytes
		_, err := os.Stat(filepath.Join(n.config.Dir, "wal"))
		n.hasty = n.config.Dir != "" && err == nil
	}
	var records []walRecord
	var err error
	if n.log, records, err = openWAL(n.config.Dir, late); err != nil {
		return err
	}
	var voters []uint64
	for i := range n.names {
		voters = append(voters, uint64(i+1))
	}
	first := &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{ConfState: &raftpb.ConfState{Voters: voters},
		Index: new(uint64(0)), Term: new(uint64(0))}}
	err = n.storage.ApplySnapshot(first)
	for _, r := range records {
		err = errors.Join(err, n.reload(r))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", n.log.path, err), n.log.close())
	}
	return nil
}

func (n *raftNode) reload(r walRecord) error {
	switch r.kind {
	case hardRecord:
		n.hard = new(raftpb.HardState)
		return errors.Join(proto.Unmarshal(r.body, n.hard), n.storage.SetHardState(n.hard))
	case entryRecord:
		e := new(raftpb.Entry)
		return errors.Join(proto.Unmarshal(r.body, e), n.storage.Append([]*raftpb.Entry{e}))
	case snapshotRecord:
		s := new(raftpb.Snapshot)
		if err := proto.Unmarshal(r.body, s); err != nil {
			return err
		}
		n.saved = s.GetMetadata().GetIndex()
		return errors.Join(n.storage.ApplySnapshot(s), n.state.restore(s.GetData()))
	}
	return fmt.Errorf("unknown kind of record %d", r.kind)
}

// publish renews what Status says.
func (n *raftNode) publish() {
	s := n.raw.BasicStatus()
	n.status.Store(&Status{Leader: n.name(s.Lead), Term: int64(s.GetTerm()), Applied: int64(n.state.Index), Ready: s.Lead != raft.None})
}

// raftLogger passes on what raft complains about. Raft panics where its log
// contradicts what it promised to others; that must end the node.
type raftLogger struct{ out io.Writer }

func (raftLogger) Debug(...any)          {}
func (raftLogger) Debugf(string, ...any) {}
func (raftLogger) Info(...any)           {}
func (raftLogger) Infof(string, ...any)  {}

func (raftLogger) Warning(...any)              {}
func (raftLogger) Warningf(string, ...any)     {}
func (l raftLogger) Error(v ...any)            { fmt.Fprintln(l.out, v...) }
func (l raftLogger) Errorf(f string, v ...any) { fmt.Fprintf(l.out, f+"\n", v...) }
func (raftLogger) Fatal(v ...any)              { panic(fmt.Sprint(v...)) }
func (raftLogger) Fatalf(f string, v ...any)   { panic(fmt.Sprintf(f, v...)) }
func (raftLogger) Panic(v ...any)              { panic(fmt.Sprint(v...)) }
func (raftLogger) Panicf(f string, v ...any)   { panic(fmt.Sprintf(f, v...)) }
