// Package spec says what a problem is: the Model that operations must follow,
// the Validity that says what a legal sequence is, and the Verdict. It holds
// the one place that decides what a read is (Subject.View.Read).
//
// A typed model and a typed history are erased into a Subject: columns, and a
// Machine over numbered states. Everything after that (engine, twin, verifier)
// works on numbers and never sees the user's types.
package spec

import (
	"context"

	"pinyon/engine/history"
)

// Model is a sequential specification of ONE object; the key is a column of
// the history. States are values: a step returns a new state and must not
// change the one that it was given. One of Apply, Step, StepContext and Steps
// is required.
type Model[S, In, Out any] struct {
	Name string

	// Init is the object's state before any operation. InitFor, where set,
	// wins: it knows the key.
	Init    func() S
	InitFor func(key string) S

	// Apply is for operations whose answer is a function of the state: it
	// returns the next state, the answer, and whether the operation is possible
	// in s at all.
	Apply func(s S, in In) (next S, out Out, ok bool)
	// Step reports whether in may return *out in state s, and the next state.
	// out is nil when the answer is not known: no answer came back, or it was
	// not recorded. Then any possible answer will do.
	Step func(s S, in In, out *Out) (next S, ok bool)
	// StepContext is Step for slow specifications; it should return soon after
	// ctx is done, with any result.
	StepContext func(ctx context.Context, s S, in In, out *Out) (next S, ok bool)
	// Steps is Step for nondeterministic specifications: every state that may
	// follow, none if the operation cannot return *out in s.
	Steps func(s S, in In, out *Out) []S

	// Equal compares answers for Apply; nil: ==.
	Equal func(a, b Out) bool
	// States numbers states; nil: by ==, for comparable S.
	States func() States[S]

	// ReadOnly reports whether an operation that was asked in and answered *out
	// (nil: not known) leaves every state in which it is possible unchanged. A
	// failed compare-and-set is read-only, a dequeue that found nothing too.
	// nil: the model cannot tell, and levels that ask refuse it.
	ReadOnly func(in In, out *Out) bool

	// Holds, Demands and Writes describe register-like objects and let a search
	// leave dead ends early; set all three or none. Holds is the comparable
	// thing that a state holds. Demands is what the state must hold for the
	// operation to be legal with that output (for a nil output: to have an
	// effect). Writes is what the state holds once the operation had an effect.
	// An update that cannot tell beforehand, or that some states refuse without
	// one demand to name, reports false in Writes.
	Holds   func(s S) any
	Demands func(in In, out *Out) (what any, ok bool)
	Writes  func(in In, out *Out) (what any, ok bool)
	// Texts, beside these three, says which operations put a text behind the one
	// that is held, whatever that is; nil: none is known to.
	Texts *Texts[In]
	// Avoids is what the state must not hold for a read-only operation to be
	// legal with that output, where the output says no more than that: the
	// expected value of a failed compare-and-set. It may be left out.
	Avoids func(in In, out *Out) (what any, ok bool)

	// Container, where set, lets a fast path decide in place of a search. The
	// object must then start empty.
	Container *Container[In, Out]
	// Lock, Members and Count do the same for locks with owners, for sets and
	// flags, and for numbers that are added to.
	Lock    *Lock[In, Out]
	Members *Members[In, Out]
	Count   *Count[In, Out]

	// Text writes an operation for people, Describe a state; nil: by %v.
	Text     func(in In, out *Out) string
	Describe func(s S) string

	_ struct{}
}

// States gives equal states equal numbers, counted from 0 without gaps.
type States[S any] interface {
	Number(s S) int32
	State(n int32) S
}

// Machine is the erased model: numbered states, and operations by their
// position in the View it was made for. A Machine is not safe for concurrent
// use. A panic or a user's error surfaces as *StepError panics; the engine
// turns them into errors.
type Machine interface {
	// Init returns the state of the object with this key code (View.Key) before
	// any operation.
	Init(key int32) int32
	// Step returns the state after operation op, if op with its recorded output
	// is legal in state.
	Step(state, op int32) (next int32, ok bool)
}

// Nondeterministic is a Machine whose step yields several states; Step is then
// not called. Sets turns it into a deterministic Machine over sets of states.
type Nondeterministic interface {
	Machine
	Steps(state, op int32) []int32
}

// Classer is implemented by a Machine that knows which operations step alike:
// operations of equal class have equal steps in every state. It lets the
// engine treat them as interchangeable.
type Classer interface{ Class(op int32) int32 }

// Tokens is implemented by a Machine over register-like objects: what
// operations demand and write, and what states hold, as numbers (-1: nothing
// is known).
type Tokens interface {
	Demand(op int32) int32  // legal only where this is held
	Want(op int32) int32    // has an effect only where this is held
	Write(op int32) int32   // what is held once it had an effect
	Observes(op int32) bool // it demands nothing by name, yet may be illegal
	Held(state int32) int32
}

// Appends is implemented by Tokens over a model with Texts.
type Appends interface {
	Piece(op int32) (piece string, ok bool)  // what it puts behind
	Text(token int32) (text string, ok bool) // what it would be put behind; not ok: nothing can be
	Token(text string) int32                 // what is held once a text is
	Absent() (token int32, ok bool)          // what is held where there is no text, if that is not the text ""
}

// Avoider is implemented by Tokens that know what an operation must not find.
type Avoider interface {
	Avoid(op int32) int32 // legal exactly where something else is held; -1: not known
}

// Recent is implemented by a Machine whose reads may see any of the last k
// versions of base.
type Recent interface{ Versions() (k int, base Machine) }

// Sizer is implemented by a Machine that knows about how many bytes its tables
// hold; they count towards a search's budget of memory.
type Sizer interface{ Bytes() int64 }

// BytesOf is the size of m's tables, 0 where it does not know.
func BytesOf(m Machine) int64 {
	if s, ok := m.(Sizer); ok {
		return s.Bytes()
	}
	return 0
}

// Describer writes a state for people.
type Describer interface{ Describe(state int32) string }

// Validity is what a legal sequence is. Over wraps the model's Machine; nil is
// RVal: each output is what the model's step gives in the state that the
// operations before it left. v is the View whose positions are the operations.
type Validity struct {
	Name string
	Over func(m Machine, v *history.View) (Machine, error)
	// EagerReads promises that under Over, too, a read never changes a state, so
	// that a search may place a read as soon as it is legal. Leave it out when in
	// doubt: the search is then slower and still right.
	EagerReads bool
}

// Subject is an erased history under an erased model.
type Subject struct {
	Model string
	View  *history.View // with Read set, where the model can tell
	// Machine makes a fresh machine for v, the View of the Subject or a Slice
	// of it. ctx reaches slow steps. With debug, every step is checked for
	// changing its argument.
	Machine func(ctx context.Context, v *history.View, debug bool) Machine
	// Asks reports whether operation i is read-only whatever its answer; nil:
	// the model cannot tell.
	Asks func(i int32) bool
	// Text writes operation i of the View (its input and output).
	Text   func(i int32) string
	ID     func(i int32) int64
	Where  func(i int32) string // "op 7 (file:12)"
	Origin func(i int32) (history.Origin, bool)
	Index  func(i int32) (int64, bool) // what the file calls it, see history.Of.Index

	OK, Failed, Unanswered int // operations by outcome, the failed ones too
	Constrained            int // outputs that had to fit
}

// Cut returns the View of the operations keep (positions in s.View), in
// which those that are lost have no answer, as if the run had been cut before
// their return.
func (s *Subject) Cut(keep []int32, lost []bool) *history.View {
	v := s.View.Slice(keep) // with columns of its own
	for j, i := range keep {
		if !lost[j] {
			continue
		}
		v.Info[j], v.Ret[j], v.Return[j] = true, history.Never, history.Never
		if v.Read != nil {
			v.Read[j], v.Idle[j] = false, s.Asks(i)
		}
	}
	return v
}
