package models

import (
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// Fence is the state of a fenced mutex: its holder (history.Absent: free) and
// the last token. Where an acquisition was not answered, its token is not
// known, and Last is the smallest that it may have been: whatever token may
// follow any other may follow that one, so nothing else need be remembered.
// Last is history.Absent before any token is known.
type Fence struct{ Owner, Last history.Value }

// FencedMutex is a lock that only its holder may release, and that gives out a
// token with each acquisition: an integer above all earlier ones and above
// initial, where that is one. The output of acquire is the token, of
// try-acquire the token, or history.Null when the lock was held, of release
// history.Absent.
func FencedMutex(initial history.Value) spec.Model[Fence, OwnedIn, history.Value] {
	first := Fence{}
	if isInt(initial) {
		first.Last = initial
	}
	return spec.Model[Fence, OwnedIn, history.Value]{
		Name: "fenced-mutex",
		Init: func() Fence { return first },
		Step: fencedStep,
		ReadOnly: func(in OwnedIn, out *history.Value) bool {
			return in.F == "try-acquire" && out != nil && *out == history.Null
		},
		Text: func(in OwnedIn, out *history.Value) string {
			if in.F == "release" {
				return in.F
			}
			return answered(in.F, out, "held")
		},
		Describe: func(s Fence) string {
			if s.Last == history.Absent {
				return heldBy(s.Owner)
			}
			return heldBy(s.Owner) + ", token " + s.Last.Label()
		},
		Lock: &spec.Lock[OwnedIn, history.Value]{Fenced: true, Use: func(in OwnedIn, out *history.Value) spec.LockUse {
			return fencedUse(in, out, first)
		}},
	}
}

// fencedUse is what an operation does to a fenced mutex; a token that is not
// above the initial one is left to the step.
func fencedUse(in OwnedIn, out *history.Value, first Fence) spec.LockUse {
	use := spec.LockUse{Owner: in.Owner}
	switch {
	case in.F == "release":
		use.Kind = spec.LockGive
	case out == nil:
		use.Kind = spec.LockMaybe
	case *out == history.Null && in.F == "try-acquire":
		use.Kind = spec.LockFail
	default:
		if token, small := out.Int64(); small {
			if _, ok := first.take(in.Owner, out); ok {
				use.Kind, use.Token = spec.LockTake, token
			}
		}
	}
	return use
}

func fencedStep(s Fence, in OwnedIn, out *history.Value) (next Fence, ok bool) {
	who := in.holder()
	switch in.F {
	case "try-acquire":
		if s.Owner != history.Absent {
			return s, out == nil || *out == history.Null
		}
		return s.take(who, out)
	case "acquire":
		if s.Owner != history.Absent {
			return s, false
		}
		return s.take(who, out)
	case "release":
		return Fence{Last: s.Last}, s.Owner == who
	}
	panic(noSuch("fenced-mutex", in.F))
}

// take gives the lock to who, with the token *out, or some token.
func (s Fence) take(who history.Value, token *history.Value) (next Fence, ok bool) {
	if token == nil {
		least, _ := sum(s.Last, history.Int(1)) // Absent where no token is known
		return Fence{who, least}, true
	}
	if !isInt(*token) {
		return s, false
	}
	return Fence{who, *token}, s.Last == history.Absent || compareNumbers(*token, s.Last) > 0
}

func tokenOutput(orHeld bool) func(r recorded) (history.Value, bool, string) {
	return func(r recorded) (out history.Value, known bool, want string) {
		switch {
		case isInt(r.out):
			return r.out, true, ""
		case !orHeld:
			return out, false, "a token, which is an integer"
		case r.out == history.Null || r.out == history.False:
			return history.Null, true, ""
		}
		return out, false, "a token, which is an integer, or null or false"
	}
}

func fencedMutexEntry() Entry {
	ops := ownedOps()
	ops[0].Out, ops[0].out = "the token, an integer above all earlier ones", tokenOutput(false)
	ops[1].Out, ops[1].out = "the token, or null (also false) when the lock was held", tokenOutput(true)
	return entry(Entry{
		Name:    "fenced-mutex",
		Doc:     "A lock that only its holder may release, and whose acquisitions return tokens that grow.",
		Initial: "an integer that all tokens lie above; none",
	}, ops, func(initial history.Value) (m spec.Model[Fence, OwnedIn, history.Value], err error) {
		if initial != history.Absent && initial != history.Null && !isInt(initial) {
			return m, fmt.Errorf("want an integer, got %s", got(initial))
		}
		return FencedMutex(initial), nil
	})
}
