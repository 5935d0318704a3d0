package faultnet

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// Network is a set of links, each a proxy. Its methods may be called at the
// same time. Make one with New.
type Network struct {
	seed uint64

	mu      sync.Mutex
	proxies map[Link]*proxy
	targets map[string]string // by node: where it listens
	closed  bool
}

// New returns a network without links; the jitter of delays comes from the seed.
func New(seed uint64) *Network {
	return &Network{seed: seed, proxies: map[Link]*proxy{}, targets: map[string]string{}}
}

// Open makes the link l and returns the address that l.From must dial to reach
// l.To. The link passes everything on; it refuses dials as long as nobody has
// said with Aim where l.To listens. Opening a link again returns its address.
func (n *Network) Open(l Link) (addr string, err error) {
	if err := l.check(); err != nil {
		return "", fmt.Errorf("faultnet: open: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return "", fmt.Errorf("faultnet: open %v: the network is closed: %w", l, net.ErrClosed)
	}
	if p := n.proxies[l]; p != nil {
		return p.port.addr, nil
	}
	port, err := reserve()
	if err != nil {
		return "", fmt.Errorf("faultnet: open %v: %w", l, err)
	}
	p := newProxy(l, n.seed, port)
	if err := p.aim(n.targets[l.To]); err != nil {
		return "", errors.Join(fmt.Errorf("faultnet: open %v: %w", l, err), p.close())
	}
	n.proxies[l] = p
	return port.addr, nil
}

// Aim says that node listens at target from now on; "" says that it is down, so
// that dials to it are refused. It holds for all links to node, also for those
// opened later. Say "" before a process ends: its port may soon be another's. Existing connections live and die with the process at their
// other end. Should a proxy fail to listen again, the next Set or Heal of its
// link tries once more and returns the error.
func (n *Network) Aim(node, target string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.targets[node] = target
	for l, p := range n.proxies {
		if l.To == node {
			_ = p.aim(target)
		}
	}
}

// Set makes r the rule of l, for one way or for both, at once and also for the
// connections in flight. The error says what is wrong with the rule, that there
// is no such link, or that the link cannot listen again; the rule is in force
// in that last case.
func (n *Network) Set(l Link, w Way, r Rule) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("faultnet: set %v: %w", l, err)
	}
	if w > Backward {
		return fmt.Errorf("faultnet: set %v: %v is no way; expected both, forward or backward", l, w)
	}
	n.mu.Lock()
	p := n.proxies[l]
	n.mu.Unlock()
	if p == nil {
		return fmt.Errorf("faultnet: set %v: no such link; open it first", l)
	}
	if err := p.set(w, r); err != nil {
		return fmt.Errorf("faultnet: set %v to %s: %w", l, r.Kind, err)
	}
	return nil
}

// Heal lets l pass both ways. A connection of which something was dropped is
// reset: what it would deliver from here on has a hole.
func (n *Network) Heal(l Link) error { return n.Set(l, Both, Rule{Kind: Pass}) }

// HealAll heals every link, in order, whatever fails on the way; the errors are
// joined.
func (n *Network) HealAll() (err error) {
	for _, l := range n.Links() {
		err = errors.Join(err, n.Heal(l))
	}
	return err
}

// Links lists the open links in order.
func (n *Network) Links() []Link {
	n.mu.Lock()
	defer n.mu.Unlock()
	links := make([]Link, 0, len(n.proxies))
	for l := range n.proxies {
		links = append(links, l)
	}
	slices.SortFunc(links, Link.Compare)
	return links
}

// Addr returns the address that l.From must dial, "" if l is not open.
func (n *Network) Addr(l Link) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.proxies[l]; p != nil {
		return p.port.addr
	}
	return ""
}

// Rules returns what is in force on l; pass where it is not open.
func (n *Network) Rules(l Link) (forwards, backwards Rule) {
	n.mu.Lock()
	p := n.proxies[l]
	n.mu.Unlock()
	if p == nil {
		return Rule{Kind: Pass}, Rule{Kind: Pass}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rules[forward], p.rules[backward]
}

// Counter says what a link has done since it was opened.
type Counter struct {
	Link    Link  `json:"link"`
	Dials   int64 `json:"dials"`   // connections accepted from From; the operating system answers those that a rule or a node that is down refuses, unseen
	Refused int64 `json:"refused"` // of these, how many never reached To: nobody listened there, or the rule was reset
	Resets  int64 `json:"resets"`  // connections that the rule reset broke, or the end of a drop

	Forward         int64 `json:"forward"`  // bytes of From written to To
	Backward        int64 `json:"backward"` // bytes of To written to From
	DroppedForward  int64 `json:"dropped_forward"`
	DroppedBackward int64 `json:"dropped_backward"`

	LastForwarded time.Time `json:"last_forwarded,omitzero"` // when the last byte went on, either way; zero: never
}

// Counters returns the counters of all links, in the order of the links. A byte
// is counted as forwarded before the end that it goes to can see it; what a
// write under way (at most 32 KiB a connection and way) has not passed on when it
// is interrupted or fails is taken back. So nothing that was forwarded is ever
// missing, and under a rule that lets nothing through the counts are final when
// Set returns. LastForwarded follows a moment later.
func (n *Network) Counters() []Counter {
	var all []Counter
	for _, p := range n.sorted() {
		p.mu.Lock()
		all = append(all, p.count)
		p.mu.Unlock()
	}
	return all
}

// Outgoing returns the local addresses ("127.0.0.1:43512") of the connections
// that proxies hold open to their targets, sorted: every other connection to a
// target bypasses the network. A connection stands in the table of the
// operating system for a moment before and after it stands here; so read that
// table first, then this, and accuse only what two such rounds found.
func (n *Network) Outgoing() []string {
	var all []string
	for _, p := range n.sorted() {
		p.mu.Lock()
		for c := range p.conns {
			if c.local != "" {
				all = append(all, c.local)
			}
		}
		p.mu.Unlock()
	}
	slices.Sort(all)
	return all
}

// sorted lists the proxies in the order of their links.
func (n *Network) sorted() []*proxy {
	var ps []*proxy
	for _, l := range n.Links() {
		n.mu.Lock()
		ps = append(ps, n.proxies[l])
		n.mu.Unlock()
	}
	return ps
}

// Close resets every connection, gives the ports back and returns when all
// goroutines have ended. Closing again does nothing. The counters can still be
// read.
func (n *Network) Close() (err error) {
	n.mu.Lock()
	closed := n.closed
	n.closed = true
	n.mu.Unlock()
	if closed {
		return nil
	}
	for _, p := range n.sorted() {
		if e := p.close(); e != nil {
			err = errors.Join(err, fmt.Errorf("faultnet: close %v: %w", p.link, e))
		}
	}
	return err
}
