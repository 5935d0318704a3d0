package faultnet

import (
	"errors"
	"net"
	"sync"
	"time"
)

// proxy is one link: a port, the rules of its two ways, and its connections.
//
// One lock guards all of it, connections and their queues included; nobody
// reads, writes or dials while holding it. A change of rules takes control
// first, so that one change is complete before the next begins.
type proxy struct {
	link   Link
	seed   uint64
	port   *port
	listen func() (net.Listener, error) // the port's; tests make it fail
	stop   chan struct{}                // closed by close
	work   sync.WaitGroup               // all goroutines of the proxy

	control sync.Mutex

	mu       sync.Mutex
	quiet    *sync.Cond // a write has ended
	rules    [2]Rule
	free     [2]time.Time // throttle: when the next piece may go
	target   string
	listener net.Listener // nil while dials are refused
	conns    map[*conn]struct{}
	serial   int // connections so far
	count    Counter
	closed   bool
}

func newProxy(l Link, seed uint64, port *port) *proxy {
	p := &proxy{link: l, seed: seed, port: port, listen: port.listen, stop: make(chan struct{}), conns: map[*conn]struct{}{}}
	p.quiet = sync.NewCond(&p.mu)
	p.rules = [2]Rule{{Kind: Pass}, {Kind: Pass}}
	p.count.Link = l
	return p
}

// aim changes where To listens.
func (p *proxy) aim(target string) error {
	p.control.Lock()
	defer p.control.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	return p.attend()
}

// set changes the rules. The order matters: first the rule, so that no new
// write begins against it, then the writes under way, then what is held.
func (p *proxy) set(w Way, r Rule) error {
	if r.Kind == "" {
		r.Kind = Pass
	}
	p.control.Lock()
	defer p.control.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, side := range w.sides() {
		p.rules[side] = r
		p.free[side] = time.Time{}
	}
	if r.holds() {
		p.interrupt(w)
	}
	for c := range p.conns {
		c.obey()
	}
	return p.attend()
}

// interrupt ends the writes under way in w and waits until they have returned;
// what they had not written yet stays in the queue. Under a rule that holds
// everything back no other write begins meanwhile.
func (p *proxy) interrupt(w Way) {
	for _, side := range w.sides() {
		for c := range p.conns {
			c.pipes[side].interrupt()
		}
		for p.writes(side) {
			p.quiet.Wait()
		}
	}
}

// writes tells whether a write of that direction is under way.
func (p *proxy) writes(side int) bool {
	for c := range p.conns {
		if c.pipes[side].writing {
			return true
		}
	}
	return false
}

// has tells whether the rule of either way is one of the kinds.
func (p *proxy) has(kinds ...Kind) bool {
	for _, k := range kinds {
		if p.rules[forward].Kind == k || p.rules[backward].Kind == k {
			return true
		}
	}
	return false
}

// attend listens, or stops to, as the rules and the target want. A dial to a
// node that is down is refused, unless the silence of the link hides that.
func (p *proxy) attend() error {
	wanted := !p.closed && !p.has(Refuse) && (p.target != "" || p.has(Drop, Stall, Reset))
	switch {
	case wanted && p.listener == nil:
		ln, err := p.listen()
		if err != nil {
			return err
		}
		p.listener = ln
		p.work.Go(func() { p.accept(ln) })
	case !wanted && p.listener != nil:
		err := p.listener.Close()
		p.listener = nil
		return err
	}
	if p.closed {
		return net.ErrClosed
	}
	return nil
}

// accept admits connections until ln is closed.
func (p *proxy) accept(ln net.Listener) {
	for {
		s, err := ln.Accept()
		switch {
		case err == nil:
			p.admit(s.(*net.TCPConn))
		case errors.Is(err, net.ErrClosed):
			return
		default: // out of descriptors, or the dialer gave up: go on, but not in a tight loop
			select {
			case <-p.stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

// admit begins the life of an accepted connection.
func (p *proxy) admit(s *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		abort(s)
		return
	}
	p.count.Dials++
	if p.has(Reset) {
		p.count.Refused++
		p.count.Resets++
		abort(s)
		return
	}
	p.serial++
	c := newConn(p, s)
	p.conns[c] = struct{}{}
	p.work.Go(c.connect)
	p.work.Go(c.pipes[forward].read)
	p.work.Go(c.pipes[backward].write)
}

// close ends everything and waits for it.
func (p *proxy) close() error {
	p.control.Lock()
	defer p.control.Unlock()
	p.mu.Lock()
	p.closed = true
	close(p.stop)
	for c := range p.conns {
		c.end(true)
	}
	err := p.attend()
	p.mu.Unlock()
	p.work.Wait()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, p.port.close())
}

// abort closes s with RST.
func abort(s *net.TCPConn) {
	_ = s.SetLinger(0)
	_ = s.Close()
}
