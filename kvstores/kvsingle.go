package kvstores

import (
	"context"
	"errors"
	"sync"
)

// plainStores are the stores without consensus.
func plainStores() []Store { return []Store{kvsingle()} }

func kvsingle() Store {
	return Store{
		Name:  "kvsingle",
		Doc:   "one map behind one lock, on the first node; the others send their clients away",
		Model: "kv", Claim: "linearizable",
		New: func(c Config) (Node, error) { return &single{config: c, state: Machine{}}, nil },
	}
}

type single struct {
	config Config
	mutex  sync.Mutex
	state  Machine
}

func (s *single) Do(_ context.Context, r Request) Reply {
	if s.config.ID != s.config.Nodes[0] {
		return failed("not the server")
	}
	if why := Check(r); why != "" {
		return failed(why)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.state.Apply(r)
}

func (s *single) Peer(context.Context, string, string, []byte) ([]byte, error) {
	return nil, errors.New("kvsingle has no peers")
}

func (s *single) Status() Status { return Status{Leader: s.config.Nodes[0], Ready: true} }
func (s *single) Close() error   { return nil }
