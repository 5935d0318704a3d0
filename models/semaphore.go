package models

import (
	"fmt"
	"math"
	"strconv"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// SemaphoreIn is an input of semaphore; AcquirePermits, TryAcquirePermits and
// ReleasePermits make one.
type SemaphoreIn struct {
	F string
	N int64 // permits, at least 1
}

// AcquirePermits takes n permits; it is possible only while there are as many.
func AcquirePermits(n int64) SemaphoreIn { return SemaphoreIn{"acquire", n} }

// TryAcquirePermits takes n permits if there are as many, and says whether it
// did.
func TryAcquirePermits(n int64) SemaphoreIn { return SemaphoreIn{"try-acquire", n} }

// ReleasePermits gives n permits back, whoever took them; it is impossible
// where fewer are taken.
func ReleasePermits(n int64) SemaphoreIn { return SemaphoreIn{"release", n} }

// Semaphore has a number of permits, which are taken and given back. Its state
// is how many are there. The output of try-acquire is history.True or
// history.False, of the others history.Absent.
func Semaphore(permits int64) spec.Model[int64, SemaphoreIn, history.Value] {
	m := spec.Model[int64, SemaphoreIn, history.Value]{
		Name: "semaphore",
		Init: func() int64 { return permits },
		Apply: func(s int64, in SemaphoreIn) (int64, history.Value, bool) {
			return semaphoreApply(s, permits, in)
		},
		ReadOnly: func(in SemaphoreIn, out *history.Value) bool {
			return in.F == "try-acquire" && (in.N > permits || out != nil && *out == history.False)
		},
		Text: func(in SemaphoreIn, out *history.Value) string {
			if in.N == 1 {
				return lockText(in.F, out)
			}
			return lockText(in.F+" "+strconv.FormatInt(in.N, 10), out)
		},
		Describe: func(s int64) string {
			return strconv.FormatInt(s, 10) + " of " + strconv.FormatInt(permits, 10) + " permits"
		},
	}
	if permits == 1 { // a lock that anyone may release
		m.Members = &spec.Members[SemaphoreIn, history.Value]{Use: func(in SemaphoreIn, out *history.Value) (use spec.MemberUse) {
			if in.N == 1 {
				use = heldUse(in.F, out)
			}
			return use
		}}
	}
	return m
}

func semaphoreApply(s, permits int64, in SemaphoreIn) (next int64, out history.Value, ok bool) {
	if in.N < 1 {
		panic("a semaphore takes and gives at least one permit")
	}
	switch in.F {
	case "acquire":
		return s - in.N, history.Absent, s >= in.N
	case "try-acquire":
		if s < in.N {
			return s, history.False, true
		}
		return s - in.N, history.True, true
	case "release":
		// Written so that nothing overflows.
		return s + min(in.N, permits-s), history.Absent, in.N <= permits-s
	}
	panic(noSuch("semaphore", in.F))
}

// permitsInput is for a number of permits, one where nothing was recorded.
func permitsInput(make func(n int64) SemaphoreIn) func(history.Value) (SemaphoreIn, string) {
	return func(v history.Value) (in SemaphoreIn, want string) {
		if v == history.Absent || v == history.Null {
			return make(1), ""
		}
		n, ok := v.Int64()
		if !ok || n < 1 {
			return in, "a number of permits from 1"
		}
		return make(n), ""
	}
}

func semaphoreEntry() Entry {
	const permits = "how many permits; 1 where absent"
	ops := []operation[SemaphoreIn, history.Value]{{
		OpDoc: OpDoc{F: "acquire", In: permits},
		in:    permitsInput(AcquirePermits), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "try-acquire", In: permits, Out: "true when it took them, false when there were fewer"},
		in:    permitsInput(TryAcquirePermits), out: boolOutput,
	}, {
		OpDoc: OpDoc{F: "release", In: permits},
		in:    permitsInput(ReleasePermits), out: noOutput[history.Value],
	}}
	return entry(Entry{
		Name:    "semaphore",
		Doc:     "A number of permits that are taken and given back, by anyone; giving back more than are taken is a violation.",
		Initial: "the number of permits; 1",
	}, ops, func(initial history.Value) (m spec.Model[int64, SemaphoreIn, history.Value], err error) {
		if initial == history.Absent || initial == history.Null {
			return Semaphore(1), nil
		}
		n, ok := initial.Int64()
		if !ok || n < 0 || n == math.MaxInt64 {
			return m, fmt.Errorf("want a number of permits from 0, got %s", got(initial))
		}
		return Semaphore(n), nil
	})
}
