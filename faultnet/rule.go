package faultnet

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind names a fault.
type Kind string

// The faults of a link are rules of its proxy (see Rule). Those of a node are
// done to its process by whoever runs it, and stand here because schedules name
// them: Kill ends it at once and starts it again on the same data when the step
// ends, Pause stops it (SIGSTOP) for as long, Clock shifts its clock.
const (
	Pass     Kind = "pass"
	Delay    Kind = "delay"
	Drop     Kind = "drop"
	Stall    Kind = "stall"
	Reset    Kind = "reset"
	Refuse   Kind = "refuse"
	Throttle Kind = "throttle"

	Kill  Kind = "kill"
	Pause Kind = "pause"
	Clock Kind = "clock"
)

var (
	linkKinds = []Kind{Pass, Delay, Drop, Stall, Reset, Refuse, Throttle}
	nodeKinds = []Kind{Kill, Pause, Clock}
)

// OnLinks tells whether k is a fault of links (and no healthy state).
func (k Kind) OnLinks() bool { return k != Pass && slices.Contains(linkKinds, k) }

// OnNodes tells whether k is a fault of nodes.
func (k Kind) OnNodes() bool { return slices.Contains(nodeKinds, k) }

// Way is a direction of a link, as seen from the end that opened its
// connections.
type Way uint8

// Forward: the bytes that From sends. Backward: the bytes that To answers.
const (
	Both Way = iota
	Forward
	Backward
)

var wayNames = [...]string{"both", "forward", "backward"}

func (w Way) String() string {
	if int(w) < len(wayNames) {
		return wayNames[w]
	}
	return fmt.Sprintf("Way(%d)", uint8(w))
}

// MarshalText implements encoding.TextMarshaler.
func (w Way) MarshalText() ([]byte, error) {
	if int(w) >= len(wayNames) {
		return nil, fmt.Errorf("%v is no way; expected %s", w, strings.Join(wayNames[:], ", "))
	}
	return []byte(w.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Way) UnmarshalText(text []byte) error {
	i := slices.Index(wayNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("way %q: expected %s", text, strings.Join(wayNames[:], ", "))
	}
	*w = Way(i)
	return nil
}

// Inside a proxy the two directions are indices: of the rules, of the pipes of
// a connection, and of the socket that a pipe reads from.
const (
	forward  = 0
	backward = 1
)

// sides lists the directions that w stands for.
func (w Way) sides() []int {
	switch w {
	case Forward:
		return []int{forward}
	case Backward:
		return []int{backward}
	}
	return []int{forward, backward}
}

// Rule says what a link does to the bytes of one direction, or of both. The
// zero value passes them on.
//
//   - pass: bytes go on as they come.
//   - delay: each chunk waits for Delay and a random part of Jitter more. Chunks
//     wait side by side and keep their order, so a long transfer loses Delay
//     once, not once a chunk. A proxy holds at most 256 MiB a connection and way.
//   - drop: silence. Bytes, ends of stream and resets are read, counted and
//     thrown away; new connections are accepted and stay silent, and reach To
//     only when the forward way drops nothing. A connection that lost something
//     cannot go on: it stays silent for as long as either way drops, and is then
//     reset at both ends.
//   - stall: what was read is held (up to 16 MiB a connection and way, then the
//     sender blocks) and delivered, in order and complete, once the rule changes
//     to one that lets it through.
//   - reset: connections end with RST at both ends, the existing ones now, new
//     ones as soon as they are accepted. The other way cannot be spared.
//   - refuse: a new dial is refused by the operating system (ECONNREFUSED),
//     whichever way the rule stands for; existing connections go on. A connection
//     that the operating system had taken but the proxy had not yet is reset.
//   - throttle: at most BytesPerSecond, over all connections of the link.
type Rule struct {
	Kind           Kind
	Delay, Jitter  time.Duration // of delay; neither negative, not both zero
	BytesPerSecond int64         // of throttle; at least 1
}

// check says what is wrong with r as the rule of a link.
func (r Rule) check() error {
	switch {
	case r.Kind.OnNodes():
		return fmt.Errorf("%s is a fault of nodes; a link takes one of %s", r.Kind, joinKinds(linkKinds))
	case r.Kind != "" && !slices.Contains(linkKinds, r.Kind):
		return fmt.Errorf("unknown kind %q; expected one of %s", r.Kind, joinKinds(linkKinds))
	case r.Delay < 0 || r.Jitter < 0:
		return fmt.Errorf("%s: delay %v, jitter %v: expected none below 0", r.Kind, r.Delay, r.Jitter)
	case r.Kind == Delay && r.Delay == 0 && r.Jitter == 0:
		return fmt.Errorf("delay: delay and jitter are both 0; expected at least one above")
	case r.Kind != Delay && (r.Delay != 0 || r.Jitter != 0):
		return fmt.Errorf("%s: takes neither delay nor jitter; expected them with delay only", r.Kind)
	case r.Kind == Throttle && r.BytesPerSecond < 1:
		return fmt.Errorf("throttle: %d bytes per second: expected at least 1", r.BytesPerSecond)
	case r.Kind != Throttle && r.BytesPerSecond != 0:
		return fmt.Errorf("%s: takes no bytes per second; expected them with throttle only", r.Kind)
	}
	return nil
}

// holds tells whether nothing at all gets through under r, a dial included.
func (r Rule) holds() bool { return r.Kind == Drop || r.Kind == Stall }

func joinKinds(kinds []Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}
