// Package kvstores holds the fixture stores: small replicated stores, correct
// and broken on purpose, that run as real processes and are what the laboratory
// records histories of. Each mistake is one flag (a Bug), off by default, so
// that every broken store has its correct twin.
//
// Rules that hold everywhere:
//
//  1. A store declares what it claims: a consistency level, and the oracle that
//     reads its hints. The harness holds it to that.
//  2. A reply never says more than the store knows: what may have been applied
//     is never answered with Fail.
//  3. The code that answers takes each hint from its own replica's protocol
//     state; hints cost no message.
//  4. A node listens on loopback, ends with its parent (standard input closes)
//     and on SIGTERM, and speaks to its peers only at the addresses that it was
//     given, so that a proxy can stand between.
//
// The package shares no code with the checker.
package kvstores

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Store describes one fixture store.
type Store struct {
	Name   string
	Doc    string // one line, then what it does and where the idea is from
	Model  string // the name of the sequential model, such as kv
	Claim  string // the level that it promises
	Oracle string // the oracle that reads its hints; "" for none
	// ClaimFor, where not nil, gives the level and oracle under options.
	ClaimFor func(Options) (level, oracle string)
	Options  []Option
	Valid    func(Options) error // what is wrong with their values; nil: nothing ever
	Bugs     []Bug
	Nodes    int // how many nodes it needs at least; 0: 1
	// Majority: it keeps answering at nodes that reach a majority of the nodes.
	Majority bool
	// Leaderless: no node is special, so that none can be isolated for it.
	Leaderless bool
	// Apart: its nodes do not speak to each other, so that no cut parts them.
	Apart  bool
	Ops    []string // the operations that it answers; nil: those of kv
	Keys   int      // how many keys its load has where nobody says; 0: as the others
	Wrong  string   // why it breaks its claim without any bug, or ""
	Faults []string // of one that is Wrong: the profiles under which it shows, as in Bug
	New    func(Config) (Node, error)
}

// Bug is a mistake that a store can be started with.
type Bug struct {
	Name, Doc string
	// Faults are the fault profiles under which it shows, the quickest first;
	// "none" where it shows without a fault.
	Faults []string
	// Hidden: the basic level accepts it, only the hints show it.
	Hidden bool
}

// Option is a setting of a store, given as name=value.
type Option struct{ Name, Default, Doc string }

// Options are the settings of a store, by name.
type Options map[string]string

// Config is what a node starts with.
type Config struct {
	ID      string
	Nodes   []string // all nodes, itself included, sorted
	Peers   *Peers   // how it reaches the others
	Dir     string   // where it keeps what must survive a kill; "": nowhere
	Bug     string   // the mistake to make, or ""
	Options Options
	Clock   *Clock
	Log     io.Writer // lines for people
}

// Option returns the setting called name, or otherwise.
func (c Config) Option(name, otherwise string) string {
	if v, ok := c.Options[name]; ok {
		return v
	}
	return otherwise
}

// Others returns all nodes but this one.
func (c Config) Others() []string {
	return slices.DeleteFunc(slices.Clone(c.Nodes), func(n string) bool { return n == c.ID })
}

// Majority is how many nodes make one.
func (c Config) Majority() int { return len(c.Nodes)/2 + 1 }

// Node is one running replica. Its methods are called from many goroutines.
type Node interface {
	// Do answers one operation of a client, before ctx ends or soon after.
	Do(ctx context.Context, r Request) Reply
	// Peer answers a message of another node; kind is the store's own word for
	// it, body and answer are the store's own bytes.
	Peer(ctx context.Context, from, kind string, body []byte) ([]byte, error)
	// Status says who leads, for people and for the fault profile that asks.
	Status() Status
	// Close stops everything that the node started.
	Close() error
}

// Status is what a node says of itself (GET /status).
type Status struct {
	ID      string `json:"id"`
	Leader  string `json:"leader,omitempty"` // whom it believes to lead; "": nobody, or there are no leaders
	Term    int64  `json:"term,omitempty"`
	Applied int64  `json:"applied,omitempty"`
	Ready   bool   `json:"ready"`    // it can answer clients now, as far as it knows
	Sent    int64  `json:"messages"` // messages to peers so far
	Clock   string `json:"clock"`    // the offset of its clock, such as "-1.5s"
}

// Stores returns all fixture stores, sorted by name.
func Stores() []Store {
	list := slices.Concat(plainStores(), raftStores(), hintStores())
	slices.SortFunc(list, func(a, b Store) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Lookup returns the store called name.
func Lookup(name string) (Store, error) {
	var names []string
	for _, s := range Stores() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Store{}, fmt.Errorf("there is no store %q; the stores are %s", name, strings.Join(names, ", "))
}

// Claims returns the level and the oracle that the store promises under o.
func (s Store) Claims(o Options) (level, oracle string) {
	if s.ClaimFor != nil {
		return s.ClaimFor(o)
	}
	return s.Claim, s.Oracle
}

// check says what is wrong with a configuration, before a node is made of it.
func (s Store) check(c Config) error {
	if need := max(s.Nodes, 1); len(c.Nodes) < need {
		return fmt.Errorf("%s needs at least %d nodes, got %d", s.Name, need, len(c.Nodes))
	}
	if !slices.Contains(c.Nodes, c.ID) {
		return fmt.Errorf("node %q is not among the nodes %s", c.ID, strings.Join(c.Nodes, ", "))
	}
	if c.Bug != "" && !slices.ContainsFunc(s.Bugs, func(b Bug) bool { return b.Name == c.Bug }) {
		var names []string
		for _, b := range s.Bugs {
			names = append(names, b.Name)
		}
		return fmt.Errorf("%s has no bug %q; it has: %s", s.Name, c.Bug, strings.Join(names, ", "))
	}
	for name := range c.Options {
		if !slices.ContainsFunc(s.Options, func(o Option) bool { return o.Name == name }) {
			return fmt.Errorf("%s has no option %q", s.Name, name)
		}
	}
	return nil
}
