package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func kvgryff() Store {
	return Store{
		Name: "kvgryff", Majority: true, Leaderless: true,
		Doc: "registers of majorities whose gets take one round, and compare-and-set beside them (Gryff-RSC)\n" +
			"Versions are ordered by carstamps: a counter, a writer, and how many read-modify-writes were built on that write. A get answers the newest version of a majority without writing it back; where the majority did not agree, " +
			"the client carries the version along, and its next operation stores it before it reads. A read-modify-write is built on the newest version found, and the nodes agree by Paxos on which one comes next after that version. " +
			"Burke, Cheng, Lloyd, \"Gryff: Unifying Consensus and Shared Registers\", NSDI 2020; Helt, Burke, Levy, Lloyd, \"Regular Sequential Serializability and Regular Sequential Consistency\", SOSP 2021.",
		Model: "kv", Claim: "regular-sequential", Oracle: "gryff", Options: []Option{hintsOption},
		Bugs: []Bug{{Name: "lose-causality", Faults: []string{"none", "flaky", "hammer", "chaos"},
			Doc: "what a client carries is dropped: after it saw a new value, it, or whoever reads what it wrote, may see the old one."}},
		New: func(c Config) (Node, error) {
			g, err := openRegisters(c.Dir)
			if err != nil {
				return nil, err
			}
			a, err := openAcceptors(c.Dir)
			if err != nil {
				return nil, errors.Join(err, g.journal.close())
			}
			return &gryff{circle: newCircle(c), registers: g, acceptors: a, queue: map[string]*gryffQueue{},
				began: strconv.FormatInt(time.Now().UnixNano(), 36)}, nil
		},
	}
}

type gryff struct {
	*circle
	registers *registers
	acceptors *acceptors
	began     string // tells this life of the node from others
	count     atomic.Int64

	turns sync.Mutex // guards queue
	queue map[string]*gryffQueue
}

// gryffFind is what is asked in the first round of every operation: store what
// the client carries, then say what you have.
type gryffFind struct {
	Key     string   `json:"key"`
	Carried *version `json:"carried,omitempty"`
}

func (g *gryff) Do(ctx context.Context, r Request) Reply {
	reply := g.operate(ctx, r)
	if reply.Outcome == Fail {
		reply.Carried = r.Carried // whoever fails has learned nothing
	}
	return reply
}

func (g *gryff) operate(ctx context.Context, r Request) Reply {
	if why := Check(r); why != "" {
		return failed(why)
	}
	find := gryffFind{Key: r.Key}
	if len(r.Carried) > 0 && g.Bug != "lose-causality" {
		if err := json.Unmarshal(r.Carried, &find.Carried); err != nil {
			return failed("carried: expected a version: " + err.Error())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch r.F {
	case "get":
		v, agreed, err := g.find(ctx, find)
		if err != nil {
			return failed(err.Error())
		}
		return g.learned(okay(v.Value), v, agreed)
	case "put":
		return g.write(ctx, find, compact(r.In))
	case "delete":
		return g.write(ctx, find, null)
	}
	return g.modify(ctx, r, find)
}

// learned is the reply to an operation that read v and changed nothing.
func (g *gryff) learned(r Reply, v version, agreed bool) Reply {
	r = g.stamped(r, v.Stamp)
	if !agreed {
		r.Carried = marshal(v)
	}
	return r
}

// stamped adds the hint of an operation, and lets the client carry nothing.
func (g *gryff) stamped(r Reply, s stamp) Reply {
	r.Carried = null
	return g.hint(r, "carstamp", s[:])
}

// find asks a majority for the newest version, and says whether it agreed: then
// that version, and what was carried, is at a majority.
func (g *gryff) find(ctx context.Context, q gryffFind) (v version, agreed bool, err error) {
	local := func() (version, error) { return g.found(q) }
	list, err := ask(ctx, g.circle, "find", q, local, g.Majority(), false)
	if err != nil {
		return v, false, err
	}
	v, agreed = newest(list)
	return v, agreed, nil
}

func (g *gryff) found(q gryffFind) (version, error) {
	if q.Carried != nil {
		if err := g.registers.store(*q.Carried); err != nil {
			return version{}, err
		}
	}
	return g.registers.read(q.Key), nil
}

func (g *gryff) write(ctx context.Context, q gryffFind, value json.RawMessage) Reply {
	v, _, err := g.find(ctx, q)
	if err != nil {
		return failed(err.Error()) // nothing new was stored anywhere
	}
	v, err = g.registers.write(q.Key, value, v.Stamp, writerID(g.Config))
	if err == nil {
		err = g.spread(ctx, v)
	}
	if err != nil {
		return unknown(err.Error())
	}
	return g.stamped(okay(nil), v.Stamp)
}

// spread stores v at a majority.
func (g *gryff) spread(ctx context.Context, v version) error {
	local := func() (bool, error) { return true, g.registers.store(v) }
	_, err := ask(ctx, g.circle, "store", v, local, g.Majority(), true)
	return err
}

func (g *gryff) Peer(_ context.Context, _, kind string, body []byte) ([]byte, error) {
	switch kind {
	case "find":
		return served(body, g.found)
	case "store":
		return served(body, func(v version) (bool, error) { return true, g.registers.store(v) })
	case "prepare":
		return served(body, g.acceptors.prepare)
	case "accept":
		return served(body, g.acceptors.accept)
	}
	return nil, fmt.Errorf("unexpected message %q", kind)
}

// served answers a message of a peer by f.
func served[In, Out any](body []byte, f func(In) (Out, error)) ([]byte, error) {
	var in In
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	out, err := f(in)
	if err != nil {
		return nil, err
	}
	return marshal(out), nil
}

func (g *gryff) Status() Status { return Status{Ready: true} }

func (g *gryff) Close() error {
	return errors.Join(g.circle.Close(), g.registers.journal.close(), g.acceptors.journal.close())
}
