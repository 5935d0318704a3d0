package harness

import (
	"context"
	"time"

	"pinyon/engine/history"
)

// Target is a store under test: how its nodes start, how a client speaks to
// one, and what it promises. The fixture stores are one implementation, a
// program that speaks JSON Lines (Program) is another; a store from outside
// needs nothing else.
//
// Every address that a method is given leads through a proxy. Methods are
// called from many goroutines.
type Target interface {
	// Claim says what the store promises.
	Claim() Claim
	// Command says how the process of one node is started, first and again
	// after a kill.
	Command(n NodeSpec) (Command, error)
	// Ping has one exchange with the node behind address, without an effect.
	Ping(ctx context.Context, address string) error
	// Bootstrap is called once, when every node answers pings; nodes are
	// addresses by name.
	Bootstrap(ctx context.Context, nodes map[string]string) error
	// Leader names the node that leads, as most nodes see it; "" where nobody
	// does, or no node is special.
	Leader(ctx context.Context, nodes map[string]string) (string, error)
	// Connect makes a client called name of the node behind address.
	Connect(ctx context.Context, name, address string) (Client, error)
}

// Clocked is a Target whose nodes have a clock that can be shifted.
type Clocked interface {
	// Shift sets the offset of the node's clock, and Offset reads it back.
	Shift(ctx context.Context, address string, offset time.Duration) error
	Offset(ctx context.Context, address string) (time.Duration, error)
}

// Closer is a Target that holds something until the end of the run.
type Closer interface{ Close() error }

// Claim is what a store promises, and what of its model it answers.
type Claim struct {
	Name    string
	Model   string
	Level   string
	Oracles []string
	Ops     []string      // the operations that it answers
	Keys    int           // the number of keys that suits it; 0: any
	Read    string        // the one that reads a key at the end; "": none does
	Initial history.Value // Absent: the model's own
	NilRead string        // "": absent
	// What is known of the store beforehand, to refuse faults that cannot hit it.
	Leaderless bool // no node ever leads
	Apart      bool // the nodes do not speak to each other
}

// NodeSpec is where one node stands.
type NodeSpec struct {
	ID     string
	Listen string            // the address on which it must listen
	Dir    string            // where it keeps what survives a kill; it exists
	Nodes  []string          // all nodes, sorted
	Peers  map[string]string // where it reaches each of the others
}

// Command is a process to start.
type Command struct {
	Path string
	Args []string
	Env  []string // beside the harness' own
}

// Client carries out operations one after the other.
type Client interface {
	// Do carries out one operation. ctx has a deadline. It returns Fail only
	// for what provably had no effect.
	Do(ctx context.Context, op Operation) Result
	Close()
}

// Operation is what a client asks for.
type Operation struct {
	F   string
	Key history.Value
	In  history.Value // Absent: none
}

// Result is what it learned.
type Result struct {
	Outcome history.Outcome
	Out     history.Value // Absent: none
	Error   string
	Hints   []history.Hint
	Never   bool // it failed, and this node will never answer otherwise
}
