package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// AcquireReadBy takes an rw-mutex for reading; others may read meanwhile.
func AcquireReadBy(owner history.Value) OwnedIn { return OwnedIn{"acquire-read", owner} }

// AcquireWriteBy takes an rw-mutex for writing; nobody else holds it meanwhile.
func AcquireWriteBy(owner history.Value) OwnedIn { return OwnedIn{"acquire-write", owner} }

// TryAcquireReadBy is AcquireReadBy where that is possible, and says whether it
// was.
func TryAcquireReadBy(owner history.Value) OwnedIn { return OwnedIn{"try-acquire-read", owner} }

// TryAcquireWriteBy is AcquireWriteBy where that is possible, and says whether
// it was.
func TryAcquireWriteBy(owner history.Value) OwnedIn { return OwnedIn{"try-acquire-write", owner} }

// RWHold is the state of an rw-mutex: its writer, or its readers with how often
// each holds it. Without either it is free.
type RWHold struct {
	Writer  history.Value
	Readers Map
}

// RWMutex is a lock that either one writer holds, or any number of readers. A
// reader may take it again for reading and releases it as often; nobody may
// take it for writing while a reader or writer holds it, also where that is
// the same owner. The output of an attempt is history.True or history.False, of
// the others history.Absent.
func RWMutex() spec.Model[RWHold, OwnedIn, history.Value] {
	return spec.Model[RWHold, OwnedIn, history.Value]{
		Name:     "rw-mutex",
		Init:     func() RWHold { return RWHold{} },
		Apply:    rwApply,
		ReadOnly: attemptFailed,
		Text:     func(in OwnedIn, out *history.Value) string { return lockText(in.F, out) },
		Describe: func(s RWHold) string {
			if s.Readers.empty() {
				return heldBy(s.Writer)
			}
			return "read by " + listed("", s.Readers.Len(), s.Readers.words, " ", "")
		},
	}
}

func rwApply(s RWHold, in OwnedIn) (next RWHold, out history.Value, ok bool) {
	who := in.holder()
	canRead := s.Writer == history.Absent
	canWrite := s == RWHold{}
	switch in.F {
	case "acquire-read":
		return s.read(who, 1), history.Absent, canRead
	case "acquire-write":
		return RWHold{Writer: who}, history.Absent, canWrite
	case "try-acquire-read":
		if !canRead {
			return s, history.False, true
		}
		return s.read(who, 1), history.True, true
	case "try-acquire-write":
		if !canWrite {
			return s, history.False, true
		}
		return RWHold{Writer: who}, history.True, true
	case "release":
		if s.Writer == who {
			return RWHold{}, history.Absent, true
		}
		return s.read(who, -1), history.Absent, s.Readers.has(who)
	}
	panic(noSuch("rw-mutex", in.F))
}

// read changes how often a reader holds the lock.
func (s RWHold) read(who history.Value, by int64) RWHold {
	n, _ := s.Readers.Get(who).Int64()
	if n+by <= 0 {
		s.Readers = s.Readers.remove(who)
	} else {
		s.Readers = s.Readers.put(who, history.Int(n+by))
	}
	return s
}

func rwMutexEntry() Entry {
	return entry(Entry{
		Name:    "rw-mutex",
		Doc:     "A lock that one process holds for writing, or any number for reading; only a holder may release it.",
		Initial: `"free"`,
	}, []operation[OwnedIn, history.Value]{
		owned("acquire-read", []string{"read-lock", "rlock"}, ""),
		owned("acquire-write", []string{"write-lock", "acquire", "lock"}, ""),
		owned("try-acquire-read", []string{"try-read-lock", "try-rlock"}, attemptDoc),
		owned("try-acquire-write", []string{"try-write-lock", "try-acquire", "try-lock"}, attemptDoc),
		owned("release", []string{"unlock", "runlock"}, ""),
	}, func(initial history.Value) (spec.Model[RWHold, OwnedIn, history.Value], error) {
		return RWMutex(), free(initial)
	})
}
