// Package history is Pinyon's currency: what concurrent clients saw of a
// store. A history is a list of operations, notes on what happened around them
// (faults, leader changes) and a header.
//
// Rules that hold everywhere: times are nanoseconds as they were recorded,
// never adjusted; an operation that did not get an answer is Info and has no
// return; nothing is silently sorted, defaulted or dropped. Operations are
// typed at the edge (Of, with the user's own input and output types) and
// columns inside (View).
package history

import (
	"fmt"
	"math"
	"strconv"
)

// Outcome says what a client knows of its operation.
type Outcome uint8

// OK: the operation took effect inside its interval. Fail: it provably did
// not take effect. Info: unknown; it may take effect at any later time, or
// never.
const (
	OK Outcome = iota
	Fail
	Info
)

func (o Outcome) String() string { return [...]string{"ok", "fail", "info"}[o] }

// Never is the return time of an operation that got no answer.
const Never = math.MaxInt64

// MaxTime bounds recorded times (either sign), so that order keys cannot
// overflow: 2^60 + 2^59 ns, fifty-four years from the start of the run.
const MaxTime = 1<<60 + 1<<59

// Hint is a named value that the store returned with a response and that says
// something about its order, such as a log index: an integer, a string, or an
// array or object of integers. Anything else counts as missing.
type Hint struct {
	Name  string
	Value Value
}

// Op is one client call. In and Out are the user's own types.
type Op[In, Out any] struct {
	Process int    // the sequential client that made the call
	F       string // the operation's name in the model, for people and rules
	Key     string // the object; "" where there is one object only
	In      In
	Out     Out // meaningful for an OK operation without NoOut

	Invoke, Return int64 // ns from the start of the run; Return is ignored for Info
	Outcome        Outcome
	NoOut          bool // OK, but what it returned was not recorded: any output fits

	Node  string // the node that was asked, for people and per-node clocks
	Error string // why it failed or has no answer, for people
	Hints []Hint
}

// Ties says what it means that one operation returned at the very instant at
// which another was invoked.
type Ties uint8

// TiesConcurrent: the two overlap (closed intervals). TiesPrecede: the first
// precedes the second, unless both have zero width.
const (
	TiesConcurrent Ties = iota
	TiesPrecede
)

func (t Ties) String() string { return [...]string{"concurrent", "precede"}[t] }

// ClockError bounds how far recorded times may be off, in nanoseconds. With
// All, "a returned before b was invoked" needs return + All < invoke, for
// every pair. With ByNode (which then names every node), it needs return +
// ByNode[a's] + ByNode[b's] < invoke; pairs of one node are exact.
type ClockError struct {
	All    int64
	ByNode map[string]int64
}

// OrderBy says which clock of a file decides real-time order.
type OrderBy uint8

// ByTime: the recorded times. ByLine: the order of the lines, as in files
// whose times run backwards (Jepsen's).
const (
	ByTime OrderBy = iota
	ByLine
)

func (o OrderBy) String() string { return [...]string{"time", "file"}[o] }

// Header is what a history says about itself; every field is optional.
type Header struct {
	Model, Level string
	Oracles      []string
	Initial      Value  // Absent: the model's own
	NilRead      string // "", "unknown" or "absent"
	FailCas      string // "", "drop" or "observe"
	Ties         Ties
	HasTies      bool // the file itself named Ties
	ClockError   ClockError
	Nodes        []string
	Seed         Value
	Source       string
	Started      string
}

// Note is something that happened around the operations, such as a fault.
type Note struct {
	Name     string
	From, To int64 // ns; To is Never where it has no end
	Detail   Value
	Line     int
}

// Origin says where an imported operation stood.
type Origin struct {
	Line, DoneLine int32 // 1-based lines of the call and of its completion; 0: none
	Seq, DoneSeq   int32 // positions of the two events in the file, notes counted; DoneSeq -1: none
	Refused        bool  // a failed operation whose completion repeats its input and carries no error
}

// Of is a history whose operations have input type In and output type Out.
// The zero header is useful. Ops alone suffice; the slices beside it are
// either nil or have one entry per operation.
type Of[In, Out any] struct {
	Header  Header
	Ops     []Op[In, Out]
	Notes   []Note
	IDs     []int64  // nil: an operation's id is its position
	Origins []Origin // nil: not imported
	Indexes []int64  // what the file itself calls each operation, see Index; nil: it does not
	Path    string   // the file, for messages; may be empty

	Processes []Value // names by Op.Process; nil: the number is the name
	Order     OrderBy
	Untimed   bool   // Invoke and Return are positions of events, not times: no level with a bound in time applies
	Format    string // the format it was read from; "" or "native"
}

// Raw is a history as a file holds it: inputs, outputs and keys are recorded
// values. Op.Key holds the key value's Label.
type Raw = Of[Value, Value]

// ID returns the id of operation i.
func (h *Of[In, Out]) ID(i int) int64 {
	if h.IDs != nil {
		return h.IDs[i]
	}
	return int64(i)
}

// Index returns what reports call operation i beside its id: the file's own
// :index of its completion, or of its call where it has none; positions in the
// file where that has no indexes. There is none in a history that was not
// imported.
func (h *Of[In, Out]) Index(i int) (int64, bool) {
	switch {
	case h.Origins == nil:
		return 0, false
	case h.Indexes != nil:
		return h.Indexes[i], true
	case h.Origins[i].DoneSeq >= 0:
		return int64(h.Origins[i].DoneSeq), true
	}
	return int64(h.Origins[i].Seq), true
}

// ProcessName returns the name of operation i's process.
func (h *Of[In, Out]) ProcessName(i int) string {
	p := h.Ops[i].Process
	if h.Processes != nil {
		return h.Processes[p].Label()
	}
	return strconv.Itoa(p)
}

// Where says where operation i stands, for messages: "op 7 (file:12)", or "op 7
// (line 12)" without a Path.
func (h *Of[In, Out]) Where(i int) string {
	s := fmt.Sprintf("op %d", h.ID(i))
	if h.Origins != nil && h.Origins[i].Line > 0 {
		return s + " (" + h.lineName(i) + ")"
	}
	return s
}

// lineName names the line on which operation i is invoked.
func (h *Of[In, Out]) lineName(i int) string {
	if h.Path == "" {
		return fmt.Sprintf("line %d", h.Origins[i].Line)
	}
	return fmt.Sprintf("%s:%d", h.Path, h.Origins[i].Line)
}

// Error is malformed input: what is wrong and where. Bad input never yields a
// verdict.
type Error struct {
	Path      string
	Line, Col int // 1-based; 0: not known
	Msg       string
}

func (e *Error) Error() string {
	s := ""
	if e.Path != "" {
		s = e.Path + ":"
	}
	if e.Line > 0 {
		s += strconv.Itoa(e.Line) + ":"
		if e.Col > 0 {
			s += strconv.Itoa(e.Col) + ":"
		}
	}
	if s != "" {
		s += " "
	}
	return s + e.Msg
}

// Errorf builds an *Error about operation i of h.
func (h *Of[In, Out]) Errorf(i int, format string, args ...any) error {
	e := &Error{Path: h.Path, Msg: fmt.Sprintf("op %d: ", h.ID(i)) + fmt.Sprintf(format, args...)}
	if h.Origins != nil {
		e.Line = int(h.Origins[i].Line)
	}
	return e
}
