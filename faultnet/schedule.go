package faultnet

import (
	"fmt"
	"slices"
	"time"
)

// Leader and Every are names that only schedules know; no node or client may
// have them. Leader stands for the node that leads when a step begins. Every, in
// a link, stands for all other nodes: "leader>*" are the links that the leader
// dials, "*>n2" those that lead to n2, "*>*" all between nodes.
const (
	Leader = "leader"
	Every  = "*"
)

// Topology says who there is: the nodes of a store, and the clients, each of
// which dials one node.
type Topology struct {
	Nodes   []string
	Clients []Client
}

// Client is a client and the node that it dials.
type Client struct{ Name, Node string }

// Peers returns the links between nodes, in the order of Nodes.
func (t Topology) Peers() []Link {
	var links []Link
	for _, from := range t.Nodes {
		for _, to := range t.Nodes {
			if from != to {
				links = append(links, Link{from, to})
			}
		}
	}
	return links
}

// ClientLinks returns the links from clients to their nodes, in the order of
// Clients.
func (t Topology) ClientLinks() []Link {
	var links []Link
	for _, c := range t.Clients {
		links = append(links, Link{c.Name, c.Node})
	}
	return links
}

// check says what is wrong with t.
func (t Topology) check() error {
	if len(t.Nodes) == 0 {
		return fmt.Errorf("a topology without nodes; expected at least one")
	}
	names := slices.Clone(t.Nodes)
	for _, c := range t.Clients {
		names = append(names, c.Name)
		if !slices.Contains(t.Nodes, c.Node) {
			return fmt.Errorf("client %q dials %q; expected one of the nodes %q", c.Name, c.Node, t.Nodes)
		}
	}
	seen := map[string]bool{Leader: true, Every: true}
	for _, name := range names {
		if err := checkName(name); err != nil {
			return err
		}
		if name == Leader || name == Every {
			return fmt.Errorf("%q is the name of a node or client; expected another, for it has a meaning in schedules", name)
		}
		if seen[name] {
			return fmt.Errorf("%q is the name of two nodes or clients; expected a different name for each", name)
		}
		seen[name] = true
	}
	return nil
}

// Step is one fault: from At (since the start of the run) for as long as For,
// Kind holds on all of Links, or on all of Nodes, whichever it is a fault of.
type Step struct {
	At, For time.Duration
	Kind    Kind
	Way     Way // of a fault of links
	Links   []Link
	Nodes   []string

	Delay, Jitter  time.Duration // of delay
	BytesPerSecond int64         // of throttle
	Offset         time.Duration // of clock: added to the node's clock, not 0, either sign
}

// Rule returns what a step on links asks of each of them.
func (s Step) Rule() Rule {
	return Rule{Kind: s.Kind, Delay: s.Delay, Jitter: s.Jitter, BytesPerSecond: s.BytesPerSecond}
}

// End is when the step ends.
func (s Step) End() time.Duration { return s.At + s.For }

// NeedsLeader tells whether the step names the leader.
func (s Step) NeedsLeader() bool {
	return slices.Contains(s.Nodes, Leader) ||
		slices.ContainsFunc(s.Links, func(l Link) bool { return l.From == Leader || l.To == Leader })
}

// Resolve returns the step with the names Leader and Every replaced: by leader,
// and by all other nodes. Links from a node to itself fall away, repeated ones
// too. When leader is no node of t (nobody leads), what names it falls away; a
// step that is left without links and nodes does nothing.
func (s Step) Resolve(t Topology, leader string) Step {
	stands := func(name string) []string {
		switch {
		case name == Every:
			return t.Nodes
		case name != Leader:
			return []string{name}
		case slices.Contains(t.Nodes, leader):
			return []string{leader}
		}
		return nil
	}
	var nodes []string
	for _, name := range s.Nodes {
		for _, node := range stands(name) {
			nodes = appendNew(nodes, node)
		}
	}
	var links []Link
	for _, l := range s.Links {
		for _, from := range stands(l.From) {
			for _, to := range stands(l.To) {
				if from != to {
					links = appendNew(links, Link{from, to})
				}
			}
		}
	}
	s.Nodes, s.Links = nodes, links
	return s
}

func appendNew[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// Schedule is what happens to a topology during a run, and where it came from.
// Its steps are in the order of At. Steps may overlap, but no two on the same
// node, or on the same way of the same link: so the end of a step is always the
// end of its fault.
type Schedule struct {
	Version  int    // 1
	Profile  string // a name of Profiles, or any other for a schedule made by hand
	Seed     uint64
	Topology Topology
	Duration time.Duration // of the run
	Steps    []Step
}

// version is that of the schedules that this package writes and reads.
const version = 1

// Check says what is wrong with s, step by step.
func (s Schedule) Check() error {
	if err := s.checkHeader(); err != nil {
		return fmt.Errorf("faultnet: schedule: %w", err)
	}
	taken := occupancy{t: s.Topology, ends: map[place]taking{}}
	for i, step := range s.Steps {
		err := s.checkStep(step)
		if err == nil {
			err = taken.add(step, fmt.Sprintf("step %d", i))
		}
		if err == nil && i > 0 && step.At < s.Steps[i-1].At {
			err = fmt.Errorf("it begins at %v, before the one ahead of it; expected steps in the order of their times", step.At)
		}
		if err != nil {
			return fmt.Errorf("faultnet: schedule: step %d: %w", i, err)
		}
	}
	return nil
}

// checkHeader checks all but the steps.
func (s Schedule) checkHeader() error {
	switch {
	case s.Version != version:
		return fmt.Errorf("version %d; expected %d", s.Version, version)
	case s.Duration <= 0:
		return fmt.Errorf("duration %v; expected one above 0", s.Duration)
	}
	return s.Topology.check()
}

// checkStep checks one step by itself.
func (s Schedule) checkStep(step Step) error {
	switch {
	case !step.Kind.OnLinks() && !step.Kind.OnNodes():
		return fmt.Errorf("kind %q; expected one of %s, %s", step.Kind, joinKinds(linkKinds[1:]), joinKinds(nodeKinds))
	case step.At < 0:
		return fmt.Errorf("at %v; expected 0 or later", step.At)
	case step.For <= 0:
		return fmt.Errorf("for %v; expected more than 0", step.For)
	case step.At > s.Duration || step.For > s.Duration-step.At:
		return fmt.Errorf("at %v for %v; expected an end within the run's %v", step.At, step.For, s.Duration)
	case step.Kind.OnNodes():
		return s.checkNodes(step)
	}
	return s.checkLinks(step)
}

func (s Schedule) checkNodes(step Step) error {
	switch {
	case len(step.Links) > 0 || len(step.Nodes) == 0:
		return fmt.Errorf("%s: %d links, %d nodes; expected nodes only", step.Kind, len(step.Links), len(step.Nodes))
	case step.Way != Both || step.Rule() != (Rule{Kind: step.Kind}):
		return fmt.Errorf("%s: way, delay, jitter or bytes_per_second; expected them with faults of links only", step.Kind)
	case (step.Offset != 0) != (step.Kind == Clock):
		return fmt.Errorf("%s: offset %v; expected one that is not 0, with clock only", step.Kind, step.Offset)
	}
	for i, name := range step.Nodes {
		if name != Leader && !slices.Contains(s.Topology.Nodes, name) {
			return fmt.Errorf("%s: unknown node %q; expected %s or one of %q", step.Kind, name, Leader, s.Topology.Nodes)
		}
		if slices.Contains(step.Nodes[:i], name) {
			return fmt.Errorf("%s: node %q stands twice; expected each once", step.Kind, name)
		}
	}
	return nil
}

func (s Schedule) checkLinks(step Step) error {
	switch {
	case len(step.Nodes) > 0 || len(step.Links) == 0:
		return fmt.Errorf("%s: %d nodes, %d links; expected links only", step.Kind, len(step.Nodes), len(step.Links))
	case step.Offset != 0:
		return fmt.Errorf("%s: offset %v; expected it with clock only", step.Kind, step.Offset)
	case step.Way > Backward:
		return fmt.Errorf("%s: %v; expected both, forward or backward", step.Kind, step.Way)
	}
	if err := step.Rule().check(); err != nil {
		return err
	}
	for i, l := range step.Links {
		if err := l.check(); err != nil {
			return err
		}
		if !s.Topology.has(l) {
			return fmt.Errorf("%s: unknown link %q; expected one between the nodes %q (also %s and %s), or from a client to its node", step.Kind, l, s.Topology.Nodes, Leader, Every)
		}
		if slices.Contains(step.Links[:i], l) {
			return fmt.Errorf("%s: link %q stands twice; expected each once", step.Kind, l)
		}
	}
	return nil
}

// has tells whether l can stand in a step.
func (t Topology) has(l Link) bool {
	node := func(name string) bool {
		return name == Leader || name == Every || slices.Contains(t.Nodes, name)
	}
	return node(l.From) && node(l.To) || slices.Contains(t.Clients, Client{l.From, l.To})
}
