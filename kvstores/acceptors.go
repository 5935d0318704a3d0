package kvstores

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
)

// ballot orders the attempts to decide an instance; ID is the proposal's own,
// so that no two have the same.
type ballot struct {
	N  int64  `json:"n"`
	ID string `json:"id"`
}

func (b ballot) compare(c ballot) int {
	return cmp.Or(cmp.Compare(b.N, c.N), strings.Compare(b.ID, c.ID))
}

// proposal is what may come next after a version: its carstamp names the
// instance, ID the operation that made it.
type proposal struct {
	Key    string          `json:"key"`
	Stamp  stamp           `json:"stamp"`
	Value  json.RawMessage `json:"value"`
	ID     string          `json:"id"`
	Ballot ballot          `json:"ballot"`
}

// prepare asks for a promise: to grant nothing below a ballot.
type prepare struct {
	Key    string `json:"key"`
	Stamp  stamp  `json:"stamp"`
	Ballot ballot `json:"ballot"`
}

// promise answers a prepare or an accept.
type promise struct {
	Granted  bool      `json:"granted"`
	Promised ballot    `json:"promised"`
	Accepted *proposal `json:"accepted,omitempty"`
}

// instance is what an acceptor remembers of one decision.
type instance struct {
	Key      string    `json:"key"`
	Stamp    stamp     `json:"stamp"`
	Promised ballot    `json:"promised"`
	Accepted *proposal `json:"accepted,omitempty"`
	Floor    bool      `json:"floor,omitempty"` // in the journal: up to here all is forgotten
}

// keptInstances is how many instances of a key an acceptor remembers; it grants
// nothing in those that it has forgotten, which is always safe.
const keptInstances = 64

// acceptors are the memory of Paxos (Lamport, "Paxos Made Simple", 2001) at one
// node: what it promised and accepted survives a kill before anybody hears of it.
type acceptors struct {
	mutex   sync.Mutex
	keys    map[string]*keyInstances
	journal *journal
}

// keyInstances are those of one key, by carstamp; below floor all is forgotten.
type keyInstances struct {
	list  []instance
	floor stamp
}

func openAcceptors(dir string) (*acceptors, error) {
	a := &acceptors{keys: map[string]*keyInstances{}}
	var err error
	a.journal, err = openJournal(dir, "acceptors", func(record []byte) error {
		var i instance
		if err := json.Unmarshal(record, &i); err != nil {
			return err
		}
		if k := a.of(i.Key); i.Floor {
			k.floor = i.Stamp
		} else {
			k.put(i)
		}
		return nil
	})
	return a, err
}

func (a *acceptors) of(key string) *keyInstances {
	k := a.keys[key]
	if k == nil {
		k = &keyInstances{}
		a.keys[key] = k
	}
	return k
}

// at finds an instance; known is false where it was never heard of.
func (k *keyInstances) at(s stamp) (i int, known bool) {
	return slices.BinarySearchFunc(k.list, s, func(i instance, s stamp) int { return i.Stamp.compare(s) })
}

func (k *keyInstances) put(i instance) {
	at, known := k.at(i.Stamp)
	if known {
		k.list[at] = i
		return
	}
	k.list = slices.Insert(k.list, at, i)
	if len(k.list) > keptInstances {
		k.floor = k.list[0].Stamp
		k.list = slices.Delete(k.list, 0, 1)
	}
}

// step lets change alter an instance and answers once that survives.
func (a *acceptors) step(key string, s stamp, change func(*instance) bool) (promise, error) {
	a.mutex.Lock()
	k := a.of(key)
	if s.compare(k.floor) <= 0 {
		a.mutex.Unlock()
		return promise{}, errors.New("that instance is forgotten")
	}
	now := instance{Key: key, Stamp: s}
	if at, known := k.at(s); known {
		now = k.list[at]
	}
	end, err := a.journal.end(), error(nil)
	granted := change(&now)
	if granted {
		if end, err = a.journal.append(now); err == nil {
			k.put(now)
			err = a.compact()
		}
	}
	a.mutex.Unlock()
	if err = errors.Join(err, a.journal.sync(end)); err != nil {
		return promise{}, err
	}
	return promise{granted, now.Promised, now.Accepted}, nil
}

// compact writes the journal anew where most of it is of no use; the caller
// holds the lock.
func (a *acceptors) compact() error {
	if !a.journal.full(len(a.keys) * (keptInstances + 1)) {
		return nil
	}
	var records []any
	for key, k := range a.keys {
		records = append(records, instance{Key: key, Stamp: k.floor, Floor: true})
		for _, i := range k.list {
			records = append(records, i)
		}
	}
	return a.journal.rewrite(records)
}

func (a *acceptors) prepare(p prepare) (promise, error) {
	return a.step(p.Key, p.Stamp, func(i *instance) bool {
		if p.Ballot.compare(i.Promised) <= 0 {
			return false
		}
		i.Promised = p.Ballot
		return true
	})
}

func (a *acceptors) accept(p proposal) (promise, error) {
	return a.step(p.Key, p.Stamp, func(i *instance) bool {
		if p.Ballot.compare(i.Promised) < 0 {
			return false
		}
		i.Promised, i.Accepted = p.Ballot, &p
		return true
	})
}
