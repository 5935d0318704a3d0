package faultnet

import (
	"context"
	"fmt"
	"net"
)

// conn is one connection through a proxy: the socket that From opened, the one
// to To, and a pipe each way between them.
type conn struct {
	p     *proxy
	socks [2]*net.TCPConn // by the direction whose bytes it reads: From's, To's (nil until dialed)
	pipes [2]*pipe
	local string // our end of the socket to To

	life    context.Context // ends with the connection
	over    context.CancelFunc
	ended   bool
	changed chan struct{} // rules have changed: connect looks again
}

func newConn(p *proxy, from *net.TCPConn) *conn {
	c := &conn{p: p, changed: make(chan struct{}, 1)}
	c.life, c.over = context.WithCancel(context.Background())
	c.socks[forward] = from
	for side := range c.pipes {
		purpose := fmt.Sprintf("%v/%d/%d", p.link, p.serial, side)
		c.pipes[side] = &pipe{c: c, side: side, dice: newDice(p.seed, purpose), wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	}
	return c
}

// connect dials To as soon as the forward way would let a dial through. A dial
// that fails travels back to From as a reset, under the rules of that way.
func (c *conn) connect() {
	target, ok := c.mayDial()
	for !ok {
		select {
		case <-c.life.Done():
			return
		case <-c.changed:
		}
		target, ok = c.mayDial()
	}
	var d net.Dialer
	s, err := d.DialContext(c.life, "tcp", target)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	switch {
	case err != nil && !c.ended:
		c.p.count.Refused++
		c.pipes[backward].push(nil, byReset)
	case err == nil && c.ended:
		abort(s.(*net.TCPConn))
	case err == nil:
		c.socks[backward] = s.(*net.TCPConn)
		c.local = s.LocalAddr().String()
		c.p.work.Go(c.pipes[forward].write)
		c.p.work.Go(c.pipes[backward].read)
	}
}

func (c *conn) mayDial() (target string, ok bool) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	return c.p.target, !c.p.rules[forward].holds() && !c.pipes[forward].hole
}

// obey applies rules that have just changed to what the connection holds.
func (c *conn) obey() {
	dropping := c.p.has(Drop)
	holed := c.pipes[forward].hole || c.pipes[backward].hole
	if c.p.has(Reset) || holed && !dropping {
		c.p.count.Resets++
		c.end(true)
		return
	}
	for _, q := range c.pipes {
		q.obey()
	}
	signal(c.changed)
}

// end closes both sockets, with RST if broken, and so ends all goroutines of
// the connection. The proxy's lock is held.
func (c *conn) end(broken bool) {
	if c.ended {
		return
	}
	c.ended = true
	for _, s := range c.socks {
		if s != nil && broken {
			abort(s)
		} else if s != nil {
			_ = s.Close()
		}
	}
	c.over()
	delete(c.p.conns, c)
}

// signal wakes whoever waits on ch, now or next.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
