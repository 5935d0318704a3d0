package kvstores

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// order makes the leader's tail final, now and then and when somebody asks.
func (n *logNode) order() {
	ticker := time.NewTicker(lazyOrder)
	defer ticker.Stop()
	client := fmt.Sprintf("order/%s/%d", n.config.ID, time.Now().UnixNano())
	for seq := int64(1); ; seq++ {
		all := false
		select {
		case <-n.ctx.Done():
			return
		case <-ticker.C:
			all = !n.lazy.Load()
		case <-n.kick:
			n.gather()
		}
		n.mutex.Lock()
		step := logStep{View: n.view.Number, Records: slices.Clone(n.seq.tail)}
		if !all {
			step.Records = slices.DeleteFunc(step.Records, func(r logRecord) bool { return r.Index >= n.upTo })
		}
		mine := n.leads() && n.seq.view.Number == n.view.Number
		n.mutex.Unlock()
		if mine && len(step.Records) > 0 {
			n.raft.Do(n.ctx, Request{Client: client, Seq: seq, F: "put", Key: "log", In: marshal(step)})
		}
	}
}

// gather waits for more that a round of Raft could serve, where that is keys: their
// reads come in numbers.
func (n *logNode) gather() {
	if !n.keyed {
		return
	}
	select {
	case <-time.After(orderPause):
	case <-n.ctx.Done():
	}
}

// leads: this node leads the view, and Raft; the mutex is held.
func (n *logNode) leads() bool {
	return n.view.Leader == n.config.ID && n.raft.Status().Leader == n.config.ID
}

// flushQuestion asks the leader of a view to make its records of a key final, or
// all that it has, which a log is asked for.
type flushQuestion struct {
	View int64  `json:"view"`
	Key  string `json:"key"`
}

// flushed asks the leader of the view, and reports whether it has done so.
func (n *logNode) flushed(ctx context.Context, view logView, key string) bool {
	q := flushQuestion{view.Number, key}
	if view.Leader == n.config.ID {
		return n.flushHere(ctx, q)
	}
	ctx, cancel := n.within(ctx, view, 2*memberLimit)
	defer cancel()
	var done bool
	return n.config.Peers.Call(ctx, view.Leader, "flush", q, &done) == nil && done
}

// flushHere waits until everything asked for that this node holds now is final.
func (n *logNode) flushHere(ctx context.Context, q flushQuestion) bool {
	n.mutex.Lock()
	end := int64(0)
	for _, r := range n.seq.tail {
		if !n.keyed || r.Key == q.Key {
			end = r.Index + 1
		}
	}
	n.upTo = max(n.upTo, end)
	n.mutex.Unlock()
	for {
		n.mutex.Lock()
		ok := n.leads() && n.view.Number == q.View && n.seq.view.Number == q.View
		done, changed := len(n.seq.tail) == 0 || n.seq.tail[0].Index >= end, n.changed
		n.mutex.Unlock()
		if done || !ok {
			return done && ok
		}
		select {
		case n.kick <- struct{}{}:
		default:
		}
		if !n.wait(ctx, changed) {
			return false
		}
	}
}

// manage begins a new view where this node leads Raft and the view is another's,
// lacks a node that answers, or has one that does not.
func (n *logNode) manage() {
	ticker := time.NewTicker(viewLook)
	defer ticker.Stop()
	client := fmt.Sprintf("view/%s/%d", n.config.ID, time.Now().UnixNano())
	missed := 0
	for seq := int64(1); ; seq++ {
		select {
		case <-n.ctx.Done():
			return
		case <-ticker.C:
		}
		if n.raft.Status().Leader != n.config.ID {
			continue
		}
		view, _ := n.now()
		if view.Leader == n.config.ID && (n.keyed || slices.Equal(sorted(view.Members), n.here())) {
			missed = 0
			continue
		}
		if missed++; view.Leader == n.config.ID && missed < 2 {
			continue // perhaps only a moment
		}
		missed = 0
		n.begin(client, seq)
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// here are the nodes that answer, sorted.
func (n *logNode) here() []string {
	return n.ask(n.ctx, sealLimit, func(ctx context.Context, id string) bool {
		return id == n.config.ID || n.config.Peers.Call(ctx, id, "here", nil, nil) == nil
	})
}

// ask asks all nodes at once and returns those for which it went well.
func (n *logNode) ask(ctx context.Context, limit time.Duration, question func(context.Context, string) bool) []string {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	good := make([]bool, len(n.config.Nodes))
	var all sync.WaitGroup
	for i, id := range n.config.Nodes {
		all.Go(func() { good[i] = question(ctx, id) })
	}
	all.Wait()
	var list []string
	for i, id := range n.config.Nodes {
		if good[i] {
			list = append(list, id)
		}
	}
	return sorted(list)
}

// begin ends the view and begins the next one, if a majority answers.
func (n *logNode) begin(client string, seq int64) {
	ctx, cancel := context.WithTimeout(n.ctx, 2*time.Second)
	defer cancel()
	// Whatever an earlier leader agreed on is applied here first.
	if n.raft.Do(ctx, Request{F: "get", Key: "log"}).Outcome != OK {
		return
	}
	view, _ := n.now()
	var mutex sync.Mutex
	answers, sealed := map[string]sealAnswer{}, 0
	sealing, enough := context.WithCancel(ctx)
	defer enough()
	members := n.ask(sealing, sealLimit, func(ctx context.Context, id string) bool {
		var a sealAnswer
		if id == n.config.ID {
			a = n.seal(view.Number)
		} else if n.config.Peers.Call(ctx, id, "seal", view.Number, &a) != nil {
			return false
		}
		mutex.Lock()
		answers[id] = a
		if a.Sealed {
			sealed++
		}
		if n.keyed && sealed == n.config.Majority() { // any majority has what was acknowledged, and nobody is left out
			time.AfterFunc(sealGrace, enough)
		}
		mutex.Unlock()
		return a.Sealed
	})
	tail, found := n.recover(view, answers)
	if len(members) < n.config.Majority() || !slices.Contains(members, n.config.ID) || !found {
		return
	}
	if n.keyed {
		members = slices.Clone(n.config.Nodes) // there are no others, ever
	}
	members = append([]string{n.config.ID}, slices.DeleteFunc(members, func(id string) bool { return id == n.config.ID })...)
	step := logStep{View: view.Number, Records: tail, Next: &logView{Number: view.Number + 1, Leader: n.config.ID, Members: members}}
	n.raft.Do(ctx, Request{Client: client, Seq: seq, F: "put", Key: "log", In: marshal(step)})
}

// recover is what one sealed sequencer of the view has left: the leader of the
// view if it answered, and otherwise the first that did.
func (n *logNode) recover(view logView, answers map[string]sealAnswer) ([]logRecord, bool) {
	if n.keyed {
		return n.recoverKeyed(answers), true
	}
	for _, id := range view.Members {
		if a := answers[id]; a.Sealed && a.Held {
			if n.config.Bug == "reorder-at-failover" {
				slices.Reverse(a.Tail)
			}
			return a.Tail, true
		}
	}
	return nil, len(view.Members) == 0 // the first view has none before it
}
