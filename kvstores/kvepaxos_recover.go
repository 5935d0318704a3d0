package kvstores

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// epaxosBatch is how many entries one answer to a fetch has, and how many
// instances a replica recovers at a time.
const (
	epaxosBatch   = 256
	epaxosRecover = 16
)

// tick looks for commits that are missed: they are asked for, and where nobody
// has them, this node decides the instance.
func (e *epaxos) tick() {
	now := time.Now()
	e.lock.Lock()
	defer e.lock.Unlock()
	missed := false
	for q := range e.space {
		last := max(int64(len(e.space[q]))-1, e.wanted[q])
		switch from := e.front[q]; {
		case from > last:
			e.stuck[q] = time.Time{}
		case e.stuck[q].IsZero() || e.stuckAt[q] != from:
			e.stuck[q], e.stuckAt[q] = now, from
		default:
			missed = missed || now.Sub(e.stuck[q]) > epaxosFetch
			e.revive(q, last, now)
		}
	}
	if others := e.Others(); missed && !e.fetching && len(others) > 0 {
		e.fetching = true
		e.fetchTurn++
		node := others[e.fetchTurn%len(others)]
		e.spawn(func() { e.fetch(node) })
	}
}

// revive recovers instances of replica q that have not been decided for long;
// held. Its own node comes first, the others one after the other.
func (e *epaxos) revive(q int, last int64, now time.Time) {
	turn := (e.self - q + len(e.Nodes)) % len(e.Nodes)
	patient := epaxosDead + time.Duration(turn)*epaxosDead/3
	for i := e.front[q]; i <= min(last, e.front[q]+epaxosRecover-1); i++ {
		id := epaxosID{q, i}
		since := e.stuck[q]
		if x := e.at(id); x != nil {
			if x.Stage == committed {
				continue
			}
			since = x.touched
		}
		if now.Sub(since) < patient || e.leading[id] || now.Before(e.later[id]) {
			continue
		}
		e.leading[id] = true
		e.spawn(func() {
			if err := e.recover(id); err != nil && !errors.Is(err, errPreempted) {
				fmt.Fprintf(e.Log, "%s: recovery of instance %v: %v\n", e.ID, id, err)
			}
			e.rest(id)
		})
	}
}

// rest ends this node's attempt to decide an instance; it waits a random time
// before the next, so that two do not stay in each other's way.
func (e *epaxos) rest(id epaxosID) {
	e.lock.Lock()
	defer e.lock.Unlock()
	delete(e.leading, id)
	if x := e.at(id); x != nil && x.Stage == committed {
		delete(e.later, id)
		return
	}
	e.later[id] = time.Now().Add(epaxosDead/3 + rand.N(epaxosDead))
}

// recover decides an instance in a ballot of this node, from what a majority
// knows of it:
//
//  1. A value that somebody accepted may be decided: of those the one of the
//     highest ballot.
//  2. The fast path decides what all replicas ordered alike in ballot 0. So
//     where all of a majority did, that may be decided, and otherwise it is not,
//     nor ever will be, because they take no more part in ballot 0.
//  3. Else nothing is decided: a request that anybody knows is ordered anew, and
//     where nobody knows one, the instance does nothing.
func (e *epaxos) recover(id epaxosID) error {
	m := epaxosMessage{ID: id, Ballot: e.ballot(id), epaxosValue: epaxosValue{Deps: e.none()}}
	list, err := e.gather(e.poll("prepare", m, e.prepare), nil, e.most)
	if err != nil {
		return err
	}
	v, sure := chosen(list)
	if m.epaxosValue = v; !sure {
		list, err = e.gather(e.poll("preaccept", m, e.preAccept), nil, e.most)
		if err != nil {
			return err
		}
		m.epaxosValue = union(list)
	}
	return e.settle(m)
}

// ballot is a ballot of this node above all that it has seen of an instance.
func (e *epaxos) ballot(id epaxosID) int64 {
	e.lock.Lock()
	defer e.lock.Unlock()
	n, seen := int64(len(e.Nodes)), int64(0)
	if x := e.at(id); x != nil {
		seen = x.Promised
	}
	return (seen/n+1)*n + int64(e.self)
}

// chosen is the value to be proposed (sure), or the request to be ordered anew.
func chosen(list []*epaxosEntry) (v epaxosValue, sure bool) {
	var best *epaxosEntry
	alike := true
	for _, x := range list {
		alike = alike && x.Stage == preAccepted && x.Ballot == 0
		if x.Stage == accepted && (best == nil || x.Ballot > best.Ballot) {
			best = x
		}
		if x.Request != nil {
			v = x.epaxosValue
		}
	}
	switch {
	case best != nil:
		return best.epaxosValue, true
	case v.Request == nil:
		return epaxosValue{Deps: slices.Repeat([]int64{-1}, len(list[0].Deps))}, true
	}
	return v, alike && agreed(list)
}

// epaxosNews asks for what is committed from some instances on.
type epaxosNews struct {
	From []int64 `json:"from"`
}

// fetch asks a node for commits.
func (e *epaxos) fetch(node string) {
	for more := true; more; {
		e.lock.Lock()
		q := epaxosNews{append([]int64(nil), e.front...)}
		e.lock.Unlock()
		var list []epaxosMessage
		more = e.call(node, "fetch", q, &list, callTimeout) == nil && e.learnAll(list) && len(list) >= epaxosBatch
	}
	e.lock.Lock()
	e.fetching = false
	e.lock.Unlock()
}

// learnAll takes decisions over and reports whether any was new.
func (e *epaxos) learnAll(list []epaxosMessage) (news bool) {
	e.lock.Lock()
	defer e.lock.Unlock()
	for _, m := range list {
		if e.check(m.ID, m.epaxosValue) != nil {
			continue
		}
		is, err := e.decided(m)
		if news = news || is; err != nil {
			fmt.Fprintf(e.Log, "%s: %v\n", e.ID, err)
		}
	}
	e.advance()
	return news
}

// fetched answers a fetch, the replicas in turn so that none is left behind.
func (e *epaxos) fetched(q epaxosNews) ([]epaxosMessage, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	list := []epaxosMessage{}
	if len(q.From) != len(e.space) {
		return nil, fmt.Errorf("a fetch from %v: expected %d replicas", q.From, len(e.space))
	}
	for r, from := range q.From {
		share := (epaxosBatch - len(list)) / (len(q.From) - r)
		for i := max(from, 0); i < int64(len(e.space[r])) && share > 0; i++ {
			if x := e.space[r][i]; x != nil && x.Stage == committed {
				list = append(list, epaxosMessage{ID: x.ID, epaxosValue: x.epaxosValue})
				share--
			}
		}
	}
	return list, nil
}
