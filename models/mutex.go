package models

import (
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// MutexIn is an input of mutex; Acquire, TryAcquire and Release make one.
type MutexIn struct{ F string }

// Acquire takes the lock; it is possible only while it is free.
func Acquire() MutexIn { return MutexIn{"acquire"} }

// TryAcquire takes the lock if it is free, and says whether it did.
func TryAcquire() MutexIn { return MutexIn{"try-acquire"} }

// Release frees the lock, whoever holds it; it is impossible while it is free.
func Release() MutexIn { return MutexIn{"release"} }

// Mutex is a lock without an owner, free at first. Its state says whether it is
// held. The output of try-acquire is history.True or history.False, of the
// others history.Absent.
func Mutex() spec.Model[bool, MutexIn, history.Value] {
	return spec.Model[bool, MutexIn, history.Value]{
		Name:  "mutex",
		Init:  func() bool { return false },
		Apply: mutexApply,
		ReadOnly: func(in MutexIn, out *history.Value) bool {
			return in.F == "try-acquire" && out != nil && *out == history.False
		},
		Text: func(in MutexIn, out *history.Value) string { return lockText(in.F, out) },
		Describe: func(held bool) string {
			if held {
				return "held"
			}
			return "free"
		},
		Members: &spec.Members[MutexIn, history.Value]{Use: func(in MutexIn, out *history.Value) spec.MemberUse {
			return heldUse(in.F, out)
		}},
	}
}

// heldUse is what an operation on a lock that anyone may release does: the lock
// is one member, which is there while it is held.
func heldUse(f string, out *history.Value) (use spec.MemberUse) {
	attempt := f == "try-acquire"
	switch {
	case !attempt && out != nil && *out != history.Absent:
		// The step refuses it.
	case f == "acquire", attempt && out != nil && *out == history.True:
		use.Kind = spec.MemberEnter
	case f == "release":
		use.Kind = spec.MemberLeave
	case attempt && out == nil:
		use.Kind = spec.MemberPut
	case attempt && *out == history.False:
		use.Kind = spec.MemberIn
	}
	return use
}

// lockText writes an operation of a lock; only an attempt has an answer.
func lockText(f string, out *history.Value) string {
	if strings.HasPrefix(f, "try-") {
		return answered(f, out, "null")
	}
	return f
}

func mutexApply(held bool, in MutexIn) (next bool, out history.Value, ok bool) {
	switch in.F {
	case "acquire":
		return true, history.Absent, !held
	case "try-acquire":
		return true, history.Bool(!held), true
	case "release":
		return false, history.Absent, held
	}
	panic(noSuch("mutex", in.F))
}

func mutexEntry() Entry {
	ops := []operation[MutexIn, history.Value]{{
		OpDoc: OpDoc{F: "acquire", Aliases: []string{"lock"}},
		in:    noInput(Acquire()), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "try-acquire", Aliases: []string{"try-lock"}, Out: "true when it took the lock, false when it was held"},
		in:    noInput(TryAcquire()), out: boolOutput,
	}, {
		OpDoc: OpDoc{F: "release", Aliases: []string{"unlock"}},
		in:    noInput(Release()), out: noOutput[history.Value],
	}}
	return entry(Entry{
		Name:    "mutex",
		Doc:     "A lock that anyone may release; releasing a free one is a violation.",
		Initial: `"free"`,
	}, ops, func(initial history.Value) (m spec.Model[bool, MutexIn, history.Value], err error) {
		return Mutex(), free(initial)
	})
}

// free refuses any initial value of a lock but free.
func free(initial history.Value) error {
	if initial != history.Absent && initial != history.Null && initial != history.String("free") {
		return fmt.Errorf("want \"free\", got %s", got(initial))
	}
	return nil
}

// heldBy writes the state of a lock with an owner, Absent when it is free.
func heldBy(owner history.Value) string {
	if owner == history.Absent {
		return "free"
	}
	return "held by " + owner.Label()
}
