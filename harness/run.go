// Package harness runs a store, breaks its network, records what clients saw
// and holds the history to the level that the store claims.
//
// Rules that hold everywhere:
//
//  1. A client knows three outcomes and never more than it can prove; after an
//     unknown one its process retires.
//  2. What is recorded is written before anything is checked, line by line, as
//     it happens. Times are raw; the granularity of the clock is in the header.
//  3. Every connection between two nodes, and between a client and a node, leads
//     through a proxy; the table of connections says so.
//  4. A fault counts only when it was seen to work. A run that asked for faults
//     and shows none has tested nothing: it is vacuous.
//  5. Processes, links and ports are let go of on every way out.
package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pinyon/engine/history"
	"pinyon/faultnet"
)

// Config says what to run. The zero value of every field but Target and Dir is
// useful.
type Config struct {
	Target Target
	Dir    string // the bundle's folder; it must exist

	Nodes    int           // 0: 3
	Clients  int           // 0: twice the nodes; at least one for each node
	Keys     int           // 0: as the target claims, or 4; at most 10,000
	Values   int           // how many values are written; 0: every one is new
	Duration time.Duration // 0: 8 s
	Ops      int           // at most so many operations; 0: no limit
	Rate     float64       // operations a second of all clients together; 0: no limit
	Think    time.Duration // between two operations of a client
	Timeout  time.Duration // of one operation; 0: 1 s
	Mix      Mix           // nil: DefaultMix
	Seed     uint64

	Faults   string             // a profile of faultnet; "": none
	Schedule *faultnet.Schedule // what to replay instead

	Level   string   // the level to hold it to; "": the claimed one
	Oracles []string // likewise; nil: the claimed ones

	Online bool                             // stop at the first impossible return
	Hold   func(*Stop)                      // then called, while every node is frozen for inspection; nil: they end at once
	Say    func(format string, args ...any) // progress for people; nil: nobody listens

	disarm bool // for tests: faults are recorded as applied, and do nothing
	_      struct{}
}

// defaults fills in what was left out, and refuses what makes no sense.
func (c *Config) defaults() error {
	claim := c.Target.Claim()
	def := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	def(&c.Nodes, 3)
	def(&c.Clients, 2*c.Nodes)
	def(&c.Keys, cmp.Or(claim.Keys, 4))
	if claim.Model == "log" {
		c.Keys = 1
	}
	if c.Duration == 0 {
		c.Duration = 8 * time.Second
	}
	if c.Timeout == 0 {
		c.Timeout = time.Second
	}
	if c.Faults == "" {
		c.Faults = "none"
	}
	if c.Mix == nil {
		c.Mix = DefaultMix(claim)
	}
	if c.Say == nil {
		c.Say = func(string, ...any) {}
	}
	switch {
	case c.Nodes < 1 || c.Nodes > 99:
		return fmt.Errorf("%d nodes: expected 1 to 99", c.Nodes)
	case c.Clients < c.Nodes:
		return fmt.Errorf("%d clients for %d nodes: every node needs at least one, or a cut would silence a side", c.Clients, c.Nodes)
	case c.Keys < 1 || c.Keys > 10000:
		return fmt.Errorf("%d keys: expected 1 to 10,000", c.Keys)
	case c.Values < 0 || c.Ops < 0 || c.Rate < 0 || c.Think < 0:
		return errors.New("values, operations, rate and think time cannot be negative")
	case c.Duration <= 0 || c.Timeout <= 0:
		return errors.New("the duration and the time-out must be positive")
	}
	return c.Mix.fits(claim)
}

// Topology names nodes n1, n2, ... and clients c1, c2, ..., which go round the
// nodes.
func Topology(nodes, clients int) faultnet.Topology {
	var t faultnet.Topology
	for i := range nodes {
		t.Nodes = append(t.Nodes, fmt.Sprintf("n%d", i+1))
	}
	for i := range clients {
		t.Clients = append(t.Clients, faultnet.Client{Name: fmt.Sprintf("c%d", i+1), Node: t.Nodes[i%nodes]})
	}
	return t
}

// schedule is the one to replay, which must be of this topology, or a new one.
func (c *Config) schedule(t faultnet.Topology) (*faultnet.Schedule, error) {
	if c.Schedule == nil {
		s, err := faultnet.Plan(c.Faults, c.Seed, t, c.Duration)
		return &s, err
	}
	if fmt.Sprint(c.Schedule.Topology) != fmt.Sprint(t) {
		return nil, fmt.Errorf("the schedule is for %d nodes and %d clients, the run has %d and %d",
			len(c.Schedule.Topology.Nodes), len(c.Schedule.Topology.Clients), len(t.Nodes), len(t.Clients))
	}
	return c.Schedule, nil
}

// Summary is what a run was.
type Summary struct {
	History     string // the file
	OK          int64
	Failed      int64
	Unknown     int64 // operations whose outcome no client learned
	Faults      []FaultCount
	Evidence    []Evidence
	Links       []faultnet.Counter
	Granularity int64 // of the clock, ns
	Elapsed     time.Duration
	Unread      []Unread      // keys without a last read, by node
	Asked       time.Duration // how long clients were to work
	Interrupted time.Duration // after how long an interrupt ended that; 0: none did
	Stopped     *Stop         // not nil: a run with Online found an impossible return
}

// Vacuous says why the run tested nothing, or "".
func (s *Summary) Vacuous() string {
	planned, verified := 0, 0
	for _, f := range s.Faults {
		planned += f.Planned
		verified += f.Verified
	}
	if planned > 0 && verified == 0 {
		if planned == 1 {
			return "1 fault was planned and was not seen to work"
		}
		return fmt.Sprintf("%d faults were planned and none was seen to work", planned)
	}
	return ""
}

// ErrBypass: a connection to a node does not lead through a proxy.
var ErrBypass = errors.New("a connection bypasses the proxies")

// Record runs the store under the schedule and records history.jsonl,
// schedule.jsonl, faults.jsonl and node-*.log in c.Dir. When ctx ends the load
// stops, the network heals, and what was recorded stays. Whatever happens, no
// process and no port is left.
func Record(ctx context.Context, c Config) (sum *Summary, err error) {
	if err := c.defaults(); err != nil {
		return nil, err
	}
	topo := Topology(c.Nodes, c.Clients)
	plan, err := c.schedule(topo)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(vain(c.Target.Claim(), plan), save(filepath.Join(c.Dir, "schedule.jsonl"), plan)); err != nil {
		return nil, err
	}
	cl, err := newCluster(c.Target, topo, c.Dir, c.Seed)
	defer func() { err = errors.Join(err, cl.close()) }() // also while a panic passes
	if err != nil {
		return nil, err
	}
	starting, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := cl.start(starting); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Target.Claim().Name, err)
	}
	if err := cl.led(ctx, plan); err != nil {
		return nil, err
	}
	return record(ctx, &c, cl, plan)
}

func save(path string, s *faultnet.Schedule) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(faultnet.Encode(f, *s), f.Close())
}

// record puts load and faults on a running store.
func record(ctx context.Context, c *Config, cl *cluster, plan *faultnet.Schedule) (*Summary, error) {
	clk := newClock()
	sum := &Summary{History: filepath.Join(c.Dir, "history.jsonl"), Granularity: clk.granularity(), Asked: c.Duration}
	file, err := os.Create(sum.History)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rec, err := history.NewRecorder(file, c.header(cl.topo, sum.Granularity))
	if err != nil {
		return nil, err
	}
	work := &workload{mix: c.Mix, keys: c.Keys, values: c.Values, log: c.Target.Claim().Model == "log"}
	l := &load{cluster: cl, clock: clk, recorder: rec, work: work, config: c}
	bypass := watchBypass(cl)
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	online := c.watch(working, sum.History, cl, stop)

	evidence := make(chan []Evidence, 1)
	n := &nemesis{cluster: cl, clock: clk, note: rec.Note, say: c.Say, disarm: c.disarm}
	go func() { evidence <- n.run(working, plan) }()
	l.run(working)
	if ctx.Err() != nil {
		sum.Interrupted = time.Duration(clk.now())
	}
	stop(errDone) // a fault without load shows nothing
	sum.Evidence = <-evidence
	sum.Stopped = online()
	if sum.Stopped != nil && c.Hold != nil {
		c.Hold(sum.Stopped)
	}
	if sum.Stopped == nil {
		err = cl.network.HealAll()
		if f := c.Target.Claim().Read; f != "" && err == nil {
			sum.Unread = l.lastReads(context.WithoutCancel(ctx), f, work.log)
		}
	}
	sum.Faults, sum.Links = countFaults(sum.Evidence), cl.network.Counters()
	sum.OK, sum.Failed, sum.Unknown = l.counts[history.OK].Load(), l.counts[history.Fail].Load(), l.counts[history.Info].Load()
	sum.Elapsed = time.Duration(clk.now())
	if t, ok := c.Target.(interface{ Err() error }); ok { // a program that died
		err = errors.Join(err, t.Err())
	}
	return sum, errors.Join(err, bypass(), rec.Err(), file.Sync(), writeFaults(filepath.Join(c.Dir, "faults.jsonl"), sum.Evidence))
}

// errDone ends the faults of a run whose load is done.
var errDone = errors.New("the load is done")

// header is the history's.
func (c *Config) header(t faultnet.Topology, granularity int64) *history.Header {
	claim := c.Target.Claim()
	h := &history.Header{Model: claim.Model, Level: claim.Level, Oracles: claim.Oracles, Initial: claim.Initial, NilRead: claim.NilRead,
		ClockError: history.ClockError{All: granularity}, Nodes: t.Nodes, Seed: history.Int(int64(c.Seed)),
		Source: "pinyon run: " + claim.Name, Started: time.Now().UTC().Format(time.RFC3339)}
	if c.Level != "" {
		h.Level = c.Level
	}
	if c.Oracles != nil {
		h.Oracles = c.Oracles
	}
	return h
}
