package kvstores

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// epaxosMessage asks for something in a ballot; a prepare needs no value.
type epaxosMessage struct {
	ID     epaxosID `json:"id"`
	Ballot int64    `json:"b,omitempty"`
	epaxosValue
}

// epaxosVote answers it: the entry as it now stands.
type epaxosVote struct {
	Granted bool         `json:"granted"`
	Entry   *epaxosEntry `json:"entry,omitempty"`
}

// errPreempted says that another node decides the instance, or has.
var errPreempted = errors.New("another node decides it")

// step lets change alter an entry, and answers once that survives. What is
// committed is not altered any more, and is no vote.
func (e *epaxos) step(m epaxosMessage, change func(*epaxosEntry) bool) (epaxosVote, error) {
	if m.Deps == nil {
		m.Deps = e.none()
	}
	if err := e.check(m.ID, m.epaxosValue); err != nil {
		return epaxosVote{}, err
	}
	e.lock.Lock()
	x := e.at(m.ID)
	if x == nil {
		x = &epaxosEntry{ID: m.ID, epaxosValue: epaxosValue{Deps: e.none()}}
	}
	end, err := e.journal.end(), error(nil)
	granted := x.Stage != committed && change(x)
	if granted {
		end, err = e.keep(x)
	}
	vote := epaxosVote{granted, &epaxosEntry{ID: x.ID, Promised: x.Promised, Ballot: x.Ballot, Stage: x.Stage, epaxosValue: x.epaxosValue}}
	e.lock.Unlock()
	return vote, errors.Join(err, e.journal.sync(end))
}

// preAccept adds what this replica knows of conflicts.
func (e *epaxos) preAccept(m epaxosMessage) (epaxosVote, error) {
	if m.Request == nil {
		return epaxosVote{}, fmt.Errorf("instance %v: expected a request", m.ID)
	}
	if m.Time > 0 && m.Ballot == 0 {
		e.hold(m.Time)
	}
	return e.step(m, func(x *epaxosEntry) bool {
		if m.Ballot < x.Promised || m.Ballot == x.Ballot && x.Stage >= accepted {
			return false
		}
		x.Promised, x.Ballot, x.Stage, x.epaxosValue = m.Ballot, m.Ballot, preAccepted, m.epaxosValue
		x.Seq, x.Deps = e.conflicts(m.ID, m.epaxosValue)
		return true
	})
}

// hold waits for the time (µs) at which a request is to be ordered.
func (e *epaxos) hold(t int64) {
	e.pause(min(time.UnixMicro(t).Sub(e.Clock.Now()), epaxosQueued))
}

// pause waits, but not longer than the node lives.
func (e *epaxos) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-e.life.Done():
	}
}

// accept takes a value over.
func (e *epaxos) accept(m epaxosMessage) (epaxosVote, error) {
	return e.step(m, func(x *epaxosEntry) bool {
		if m.Ballot < x.Promised {
			return false
		}
		x.Promised, x.Ballot, x.Stage, x.epaxosValue = m.Ballot, m.Ballot, accepted, m.epaxosValue
		return true
	})
}

// prepare promises to take part in no ballot below.
func (e *epaxos) prepare(m epaxosMessage) (epaxosVote, error) {
	return e.step(m, func(x *epaxosEntry) bool {
		if m.Ballot <= x.Promised {
			return false
		}
		x.Promised = m.Ballot
		return true
	})
}

// learn takes a decision over, and executes what has waited for it.
func (e *epaxos) learn(m epaxosMessage) error {
	if err := e.check(m.ID, m.epaxosValue); err != nil {
		return err
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	_, err := e.decided(m)
	e.advance()
	return err
}

// decided notes a decision; held. It need not survive: it can be learnt again.
func (e *epaxos) decided(m epaxosMessage) (bool, error) {
	x := e.at(m.ID)
	if x == nil {
		x = &epaxosEntry{ID: m.ID}
	}
	if x.Stage == committed {
		if x.Seq != m.Seq || !slices.Equal(x.Deps, m.Deps) || (x.Request == nil) != (m.Request == nil) {
			return false, fmt.Errorf("instance %v was decided twice: %+v and %+v", m.ID, x.epaxosValue, m.epaxosValue)
		}
		return false, nil
	}
	if r := x.Request; r != nil && m.Request == nil && e.asked[r.operation()] == m.ID {
		delete(e.asked, r.operation()) // if it is asked for again, that is another instance
	}
	x.Stage, x.epaxosValue = committed, m.epaxosValue
	_, err := e.keep(x)
	return true, err
}

// poll asks all others, and with self this node, and returns their answers as
// they come.
func (e *epaxos) poll(kind string, m epaxosMessage, self func(epaxosMessage) (epaxosVote, error)) <-chan answers[epaxosVote] {
	heard := make(chan answers[epaxosVote], len(e.Nodes))
	for _, node := range e.Nodes {
		if node == e.ID && self == nil {
			continue
		}
		e.spawn(func() {
			a := answers[epaxosVote]{node: node}
			if node == e.ID {
				a.said, a.err = self(m)
			} else {
				a.err = e.call(node, kind, m, &a.said, callTimeout)
			}
			heard <- a
		})
	}
	return heard
}

// gather collects the entries of those who grant, beginning with what is
// already granted, until enough says so. late is true when only those are
// waited for that a majority does not need.
func (e *epaxos) gather(heard <-chan answers[epaxosVote], list []*epaxosEntry, enough func(list []*epaxosEntry, late bool) bool) ([]*epaxosEntry, error) {
	grace := time.NewTimer(epaxosGrace)
	defer grace.Stop()
	late := false
	for answered := len(list); answered < len(e.Nodes) && !enough(list, late); {
		select {
		case <-e.life.Done():
			return nil, errNoMajority
		case <-grace.C:
			late = true
		case a := <-heard:
			answered++
			x := a.said.Entry
			switch {
			case a.err != nil || x == nil:
			case a.said.Granted:
				list = append(list, x)
			case x.Stage == committed:
				return nil, errors.Join(errPreempted, e.learn(epaxosMessage{ID: x.ID, epaxosValue: x.epaxosValue}))
			default:
				return nil, errPreempted
			}
		}
	}
	if !enough(list, true) {
		return nil, errNoMajority
	}
	return list, nil
}

// lead decides a new instance of this node, in ballot 0.
func (e *epaxos) lead(m epaxosMessage) error {
	var list []*epaxosEntry
	self := e.preAccept
	if !e.queued { // this node has ordered it already
		list, self = []*epaxosEntry{{ID: m.ID, Stage: preAccepted, epaxosValue: m.epaxosValue}}, nil
	}
	list, err := e.gather(e.poll("preaccept", m, self), list, e.heard)
	if err != nil {
		return err
	}
	m.epaxosValue = union(list)
	if e.fast(list) {
		return e.commit(m, true)
	}
	return e.settle(m)
}

// heard is enough in ballot 0: all, or a majority where all of them would not
// agree, or are waited for too long.
func (e *epaxos) heard(list []*epaxosEntry, late bool) bool {
	return len(list) == len(e.Nodes) || len(list) >= e.Majority() && (late || !agreed(list))
}

// fast reports whether what was heard in ballot 0 is decided with that.
func (e *epaxos) fast(list []*epaxosEntry) bool {
	return len(list) == len(e.Nodes) && agreed(list)
}

// agreed reports whether all name the same seq and dependencies.
func agreed(list []*epaxosEntry) bool {
	for _, x := range list[1:] {
		if x.Seq != list[0].Seq || !slices.Equal(x.Deps, list[0].Deps) {
			return false
		}
	}
	return true
}

// union joins what replicas know of one request.
func union(list []*epaxosEntry) epaxosValue {
	v := list[0].epaxosValue
	v.Deps = slices.Clone(v.Deps)
	for _, x := range list[1:] {
		v.Seq = max(v.Seq, x.Seq)
		for q, last := range x.Deps {
			v.Deps[q] = max(v.Deps[q], last)
		}
	}
	return v
}

// settle has a majority accept m's value, which is decided with that.
func (e *epaxos) settle(m epaxosMessage) error {
	_, err := e.gather(e.poll("accept", m, e.accept), nil, e.most)
	if err != nil {
		return err
	}
	return e.commit(m, false)
}

// most is enough for all but the fast path.
func (e *epaxos) most(list []*epaxosEntry, _ bool) bool { return len(list) >= e.Majority() }

// commit tells everybody of a decision.
func (e *epaxos) commit(m epaxosMessage, fast bool) error {
	for _, node := range e.Others() {
		e.spawn(func() {
			if e.blind && m.Request != nil && m.Request.F == "put" {
				e.pause(epaxosLate)
			}
			_ = e.call(node, "commit", m, nil, callTimeout)
		})
	}
	if fast {
		e.lock.Lock()
		e.fastAgreed++
		e.lock.Unlock()
	}
	return e.learn(m)
}
