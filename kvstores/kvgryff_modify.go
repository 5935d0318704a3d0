package kvstores

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// successor is the carstamp of the read-modify-write that is built on s.
func (s stamp) successor() stamp { return stamp{s[0], s[1], s[2] + 1} }

// errUndecided: the nodes did not come to agree in time.
var errUndecided = errors.New("not decided in time")

// modify carries out a read-modify-write. What comes next after the version
// that it is built on is agreed upon by single-decree Paxos, an instance for
// each carstamp: so every carstamp has one value. A proposal that may have been
// accepted somewhere is not given up before the instance is decided; where
// another one won, this one has had no effect and is built anew.
func (g *gryff) modify(ctx context.Context, r Request, q gryffFind) Reply {
	leave, err := g.enter(ctx, r.Key)
	if err != nil {
		return failed(err.Error())
	}
	defer leave()
	for {
		base, agreed, err := g.find(ctx, q)
		if err != nil {
			return failed(err.Error())
		}
		m := Machine{}
		if !same(base.Value, null) {
			m[r.Key] = base.Value
		}
		reply := m.Apply(r)
		switch {
		case reply.Outcome != OK:
			return reply
		case r.F == "cas" && same(reply.Out, []byte("false")):
			return g.learned(reply, base, agreed)
		}
		own := proposal{Key: r.Key, Stamp: base.Stamp.successor(), Value: compact(m.Get(r.Key)),
			ID: fmt.Sprintf("%s-%s-%d", g.ID, g.began, g.count.Add(1))}
		won, exposed, err := g.decide(ctx, own)
		if err == nil {
			err = g.spread(ctx, version{r.Key, won.Stamp, won.Value})
			exposed = won.ID == own.ID
		}
		switch {
		case err != nil && exposed:
			return unknown(err.Error())
		case err != nil:
			return failed(err.Error())
		case won.ID == own.ID:
			return g.stamped(reply, won.Stamp)
		}
	}
}

// decide brings the instance of own to an end and returns what won. exposed
// says, where there is an error, that own may yet win.
func (g *gryff) decide(ctx context.Context, own proposal) (won proposal, exposed bool, err error) {
	at := ballot{1, own.ID}
	for ctx.Err() == nil {
		asked := prepare{own.Key, own.Stamp, at}
		promises, err := ask(ctx, g.circle, "prepare", asked, func() (promise, error) { return g.acceptors.prepare(asked) }, g.Majority(), true)
		if err != nil {
			return won, exposed, err
		}
		high, granted := highest(promises)
		if granted {
			won = own
			if high.Accepted != nil {
				won = *high.Accepted
			}
			won.Ballot = at
			exposed = exposed || won.ID == own.ID
			promises, err = ask(ctx, g.circle, "accept", won, func() (promise, error) { return g.acceptors.accept(won) }, g.Majority(), true)
			if err != nil {
				return won, exposed, err
			}
			if high, granted = highest(promises); granted {
				return won, false, nil
			}
		}
		at.N = max(at.N, high.Promised.N) + 1
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rand.Int64N(int64(5 * time.Millisecond)))):
		}
	}
	return won, exposed, errUndecided
}

// highest puts answers together: the highest promise, what was accepted at the
// highest ballot, and whether all granted what was asked.
func highest(list []promise) (p promise, granted bool) {
	granted = true
	for _, q := range list {
		granted = granted && q.Granted
		if p.Promised.compare(q.Promised) < 0 {
			p.Promised = q.Promised
		}
		if q.Accepted != nil && (p.Accepted == nil || p.Accepted.Ballot.compare(q.Accepted.Ballot) < 0) {
			p.Accepted = q.Accepted
		}
	}
	return p, granted
}

// gryffQueue lets the read-modify-writes of a key through one at a time, at one
// node: they would only outbid each other.
type gryffQueue struct {
	turn    chan struct{}
	waiting int
}

// enter waits for the turn of a key; leave gives it back.
func (g *gryff) enter(ctx context.Context, key string) (leave func(), err error) {
	g.turns.Lock()
	q := g.queue[key]
	if q == nil {
		q = &gryffQueue{turn: make(chan struct{}, 1)}
		g.queue[key] = q
	}
	q.waiting++
	g.turns.Unlock()
	done := func() {
		g.turns.Lock()
		defer g.turns.Unlock()
		if q.waiting--; q.waiting == 0 {
			delete(g.queue, key)
		}
	}
	select {
	case q.turn <- struct{}{}:
		return func() { <-q.turn; done() }, nil
	case <-ctx.Done():
		done()
		return nil, errors.New("others of its key came first, for too long")
	}
}
