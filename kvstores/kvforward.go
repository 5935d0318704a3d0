package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

func kvforward() Store {
	return Store{
		Name: "kvforward",
		Doc: "the first node leads for ever, the others forward to it\n" +
			"Nothing is replicated: without its leader the store answers nothing. A request that was forwarded and got no answer may have been applied, and is answered with info.",
		Model: "kv", Claim: "linearizable",
		New: func(c Config) (Node, error) {
			f := &forwardNode{circle: newCircle(c)}
			var err error
			if c.ID == f.leader() {
				f.book, err = openBook(c.Dir)
			}
			return f, err
		},
	}
}

type forwardNode struct {
	*circle
	book *book // the leader's
}

func (f *forwardNode) leader() string { return f.Nodes[0] }

func (f *forwardNode) Do(ctx context.Context, r Request) Reply {
	if why := Check(r); why != "" {
		return failed(why)
	}
	if f.ID == f.leader() {
		return f.book.do(r)
	}
	return forwarded(ctx, f.circle, f.leader(), r)
}

// forwarded is the leader's answer to r. Only a message that provably did not
// reach the leader fails: after any other error r may have been applied.
func forwarded(ctx context.Context, c *circle, leader string, r Request) Reply {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var reply Reply
	err := c.Peers.Call(ctx, leader, "do", r, &reply)
	switch {
	case errors.Is(err, ErrNotSent):
		return failed("the leader cannot be reached")
	case err != nil:
		return unknown("forwarded, but no answer came: " + reason(err))
	case reply.Outcome != OK && reply.Outcome != Fail && reply.Outcome != Info:
		return unknown("forwarded, and the answer made no sense")
	}
	return reply
}

func (f *forwardNode) Peer(_ context.Context, _, kind string, body []byte) ([]byte, error) {
	var r Request
	if err := json.Unmarshal(body, &r); err != nil || kind != "do" {
		return nil, fmt.Errorf("unexpected message %q: %v", kind, err)
	}
	if f.ID != f.leader() {
		return marshal(failed("not the leader")), nil
	}
	return marshal(f.book.do(r)), nil
}

func (f *forwardNode) Status() Status { return Status{Leader: f.leader(), Ready: true} }

func (f *forwardNode) Close() error {
	err := f.circle.Close()
	if f.book != nil {
		err = errors.Join(err, f.book.journal.close())
	}
	return err
}
