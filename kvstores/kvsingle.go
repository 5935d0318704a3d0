package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
)

// plainStores are the stores without consensus.
func plainStores() []Store {
	return []Store{kvsingle(), kvforward(), kvsplit(), kvsync(), kvquorum(), kvabd()}
}

func kvsingle() Store {
	return Store{
		Name: "kvsingle", Apart: true,
		Doc:   "one map behind one lock, on the first node; the others send their clients away",
		Model: "kv", Claim: "linearizable",
		New: func(c Config) (Node, error) {
			b, err := openBook(c.Dir)
			return &single{c, b}, err
		},
	}
}

type single struct {
	config Config
	book   *book
}

func (s *single) Do(_ context.Context, r Request) Reply {
	if s.config.ID != s.config.Nodes[0] {
		r := failed("not the server")
		r.Never = true
		return r
	}
	if why := Check(r); why != "" {
		return failed(why)
	}
	return s.book.do(r)
}

func (s *single) Peer(context.Context, string, string, []byte) ([]byte, error) {
	return nil, errors.New("kvsingle has no peers")
}

func (s *single) Status() Status { return Status{Leader: s.config.Nodes[0], Ready: true} }
func (s *single) Close() error   { return s.book.journal.close() }

// book is a Machine that survives a kill: it notes every update before it
// answers, and answers nothing that is not noted.
type book struct {
	mutex   sync.Mutex // guards state and the order of the journal
	state   Machine
	journal *journal
}

// openBook opens the book kept in dir; "" for one that is lost at a kill.
func openBook(dir string) (*book, error) {
	b := &book{state: Machine{}}
	var err error
	b.journal, err = openJournal(dir, "book", func(record []byte) error {
		var r Request
		if err := json.Unmarshal(record, &r); err != nil {
			return err
		}
		b.state.Apply(r)
		return nil
	})
	return b, err
}

// do carries out a checked request.
func (b *book) do(r Request) Reply {
	b.mutex.Lock()
	reply, end, err := b.apply(r)
	b.mutex.Unlock()
	return b.settle(reply, end, err)
}

// apply carries out a request and notes it; the caller holds the lock, and
// answers with what settle says.
func (b *book) apply(r Request) (reply Reply, end int64, err error) {
	reply, end = b.state.Apply(r), b.journal.end()
	if !isRead(r.F) && reply.Outcome == OK {
		if end, err = b.journal.append(r); err == nil {
			err = b.compact()
		}
	}
	return reply, end, err
}

// compact writes the journal anew, as puts, where most of it is of no use; the
// caller holds the lock.
func (b *book) compact() error {
	if !b.journal.full(len(b.state)) {
		return nil
	}
	records := make([]any, 0, len(b.state))
	for key, value := range b.state {
		records = append(records, Request{F: "put", Key: key, In: value})
	}
	return b.journal.rewrite(records)
}

// settle is reply once all that it rests on survives.
func (b *book) settle(reply Reply, end int64, err error) Reply {
	if err == nil {
		err = b.journal.sync(end)
	}
	if err != nil {
		return unknown("the journal failed: " + err.Error())
	}
	return reply
}
