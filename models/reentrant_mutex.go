package models

import (
	"strconv"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// Hold is the state of a reentrant mutex: its holder (history.Absent: free) and
// how often that one has taken it.
type Hold struct {
	Owner history.Value
	Depth int
}

// ReentrantMutex is a lock that its holder may take again, and that is free
// once the holder has released it as often. The output of try-acquire is
// history.True or history.False, of the others history.Absent.
func ReentrantMutex() spec.Model[Hold, OwnedIn, history.Value] {
	return spec.Model[Hold, OwnedIn, history.Value]{
		Name:     "reentrant-mutex",
		Init:     func() Hold { return Hold{} },
		Apply:    reentrantApply,
		ReadOnly: attemptFailed,
		Text:     func(in OwnedIn, out *history.Value) string { return lockText(in.F, out) },
		Describe: func(s Hold) string {
			if s.Depth < 2 {
				return heldBy(s.Owner)
			}
			return heldBy(s.Owner) + ", " + strconv.Itoa(s.Depth) + " times"
		},
		Lock: &spec.Lock[OwnedIn, history.Value]{Reentrant: true, Use: ownedUse},
	}
}

func reentrantApply(s Hold, in OwnedIn) (next Hold, out history.Value, ok bool) {
	who := in.holder()
	can := s.Owner == history.Absent || s.Owner == who
	switch in.F {
	case "acquire":
		return Hold{who, s.Depth + 1}, history.Absent, can
	case "try-acquire":
		if !can {
			return s, history.False, true
		}
		return Hold{who, s.Depth + 1}, history.True, true
	case "release":
		if s.Depth > 1 {
			next = Hold{s.Owner, s.Depth - 1}
		}
		return next, history.Absent, s.Owner == who
	}
	panic(noSuch("reentrant-mutex", in.F))
}

func reentrantMutexEntry() Entry {
	return entry(Entry{
		Name:    "reentrant-mutex",
		Doc:     "A lock that the process that holds it may take again; it is free once it was released as often.",
		Initial: `"free"`,
	}, ownedOps(), func(initial history.Value) (spec.Model[Hold, OwnedIn, history.Value], error) {
		return ReentrantMutex(), free(initial)
	})
}
