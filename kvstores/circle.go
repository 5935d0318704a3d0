package kvstores

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// patience is how long a node tries to answer one operation.
	patience = 800 * time.Millisecond
	// callTimeout bounds one message to a peer.
	callTimeout = 600 * time.Millisecond
	// hedge is how long a node waits for those that it asked first before it
	// asks the others too.
	hedge = 20 * time.Millisecond
)

// errNoMajority says that too few nodes answered in time.
var errNoMajority = errors.New("no majority answered")

// circle is a node among its peers, and what it has started: goroutines that
// end with it.
type circle struct {
	Config
	life  context.Context
	end   context.CancelFunc
	turn  atomic.Uint64 // whom to ask first
	mutex sync.Mutex    // guards over
	over  bool
	work  sync.WaitGroup
}

func newCircle(c Config) *circle {
	life, end := context.WithCancel(context.Background())
	return &circle{Config: c, life: life, end: end}
}

// spawn runs f, which ends when life does, unless the node is closed.
func (c *circle) spawn(f func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.over {
		c.work.Go(f)
	}
}

// Close ends what was spawned and waits for it.
func (c *circle) Close() error {
	c.mutex.Lock()
	c.over = true
	c.mutex.Unlock()
	c.end()
	c.work.Wait()
	return nil
}

// every calls f each period until the node is closed.
func (c *circle) every(period time.Duration, f func()) {
	c.spawn(func() {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			select {
			case <-c.life.Done():
				return
			case <-tick.C:
				f()
			}
		}
	})
}

// hint adds a hint to a reply, unless the node was started without hints.
func (c *circle) hint(r Reply, name string, value any) Reply {
	if c.Option("hints", "on") != "off" {
		r.Hints = map[string]any{name: value}
	}
	return r
}

// call sends one message and bounds the wait by the node's life.
func (c *circle) call(to, kind string, in, out any, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(c.life, timeout)
	defer cancel()
	return c.Peers.Call(ctx, to, kind, in, out)
}

// answers collects what nodes said.
type answers[A any] struct {
	node string
	said A
	err  error
}

// ask gives a message to the nodes and returns what the first need of them
// answer; the node itself is asked by calling local. With all, every node is
// asked at once. Without, a majority that changes from call to call is asked
// first, and the others only where one of them fails or is slow: so any two
// majorities take turns, as they do where clients are at different distances.
// Those that are slower than the first need are neither waited for nor called
// off.
func ask[A any](ctx context.Context, c *circle, kind string, in any, local func() (A, error), need int, all bool) ([]A, error) {
	n := len(c.Nodes)
	heard := make(chan answers[A], n)
	first := int(c.turn.Add(1) % uint64(n))
	asked := 0
	more := func(count int) {
		for ; asked < min(count, n); asked++ {
			node := c.Nodes[(first+asked)%n]
			c.spawn(func() {
				a := answers[A]{node: node}
				if node == c.ID {
					a.said, a.err = local()
				} else {
					a.err = c.call(node, kind, in, &a.said, callTimeout)
				}
				heard <- a
			})
		}
	}
	if all {
		more(n)
	} else {
		more(need)
	}
	slow := time.NewTimer(hedge)
	defer slow.Stop()
	var said []A
	var last error
	for failures := 0; failures <= n-need; {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w in time", errNoMajority)
		case <-c.life.Done():
			return nil, errNoMajority
		case <-slow.C:
			more(n)
		case a := <-heard:
			if a.err != nil {
				failures, last = failures+1, a.err
				more(n)
			} else if said = append(said, a.said); len(said) == need {
				return said, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: %s", errNoMajority, plain(last))
}

// plain is err without addresses, which differ from run to run.
func plain(err error) string {
	if wire := new(url.Error); errors.As(err, &wire) {
		return reason(err)
	}
	return err.Error()
}
