package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// OwnedIn is an input of the locks that know who holds them: AcquireBy,
// TryAcquireBy and ReleaseBy make one, for rw-mutex also AcquireReadBy and
// AcquireWriteBy, TryAcquireReadBy and TryAcquireWriteBy. In a recorded history
// the owner is the process.
type OwnedIn struct {
	F     string
	Owner history.Value
}

// AcquireBy takes the lock for owner.
func AcquireBy(owner history.Value) OwnedIn { return OwnedIn{"acquire", owner} }

// TryAcquireBy takes the lock for owner if it can be had, and says whether it
// did.
func TryAcquireBy(owner history.Value) OwnedIn { return OwnedIn{"try-acquire", owner} }

// ReleaseBy gives back what owner holds; it is impossible for anyone else.
func ReleaseBy(owner history.Value) OwnedIn { return OwnedIn{"release", owner} }

// holder is the owner of an input. Without one, what is held by nobody would
// look free.
func (in OwnedIn) holder() history.Value {
	if in.Owner == history.Absent {
		panic(in.F + " of a lock with owners names no owner")
	}
	return in.Owner
}

// OwnerMutex is a lock that only its holder may release, free at first. The
// holder cannot take it again. Its state is the holder, history.Absent while it
// is free. The output of try-acquire is history.True or history.False, of the
// others history.Absent.
func OwnerMutex() spec.Model[history.Value, OwnedIn, history.Value] {
	return spec.Model[history.Value, OwnedIn, history.Value]{
		Name:     "owner-mutex",
		Init:     func() history.Value { return history.Absent },
		Apply:    ownerMutexApply,
		ReadOnly: attemptFailed,
		Text:     func(in OwnedIn, out *history.Value) string { return lockText(in.F, out) },
		Describe: heldBy,
		Lock:     &spec.Lock[OwnedIn, history.Value]{Use: ownedUse},
	}
}

// ownedUse is what an operation on a lock with owners does.
func ownedUse(in OwnedIn, out *history.Value) spec.LockUse {
	use, attempt := spec.LockUse{Owner: in.Owner}, in.F == "try-acquire"
	switch {
	case !attempt && out != nil && *out != history.Absent:
		// The step refuses it.
	case in.F == "acquire", attempt && out != nil && *out == history.True:
		use.Kind = spec.LockTake
	case in.F == "release":
		use.Kind = spec.LockGive
	case attempt && out == nil:
		use.Kind = spec.LockMaybe
	case attempt && *out == history.False:
		use.Kind = spec.LockFail
	}
	return use
}

// attemptFailed holds for an attempt that did not get the lock, the only
// read-only operation of a lock.
func attemptFailed(in OwnedIn, out *history.Value) bool {
	return in.F != "release" && out != nil && *out == history.False
}

func ownerMutexApply(s history.Value, in OwnedIn) (next, out history.Value, ok bool) {
	who, isFree := in.holder(), s == history.Absent
	switch in.F {
	case "acquire":
		return who, history.Absent, isFree
	case "try-acquire":
		if !isFree {
			return s, history.False, true
		}
		return who, history.True, true
	case "release":
		return history.Absent, history.Absent, s == who
	}
	panic(noSuch("owner-mutex", in.F))
}

// byProcess makes the process the owner.
func byProcess(in OwnedIn, process history.Value) OwnedIn {
	in.Owner = process
	return in
}

// owned is the row of one operation of a lock with owners. One that attempts
// answers true or false, any other nothing.
func owned(f string, aliases []string, answer string) operation[OwnedIn, history.Value] {
	o := operation[OwnedIn, history.Value]{
		OpDoc: OpDoc{F: f, Aliases: aliases, Out: answer},
		in:    noInput(OwnedIn{F: f}), as: byProcess, out: noOutput[history.Value],
	}
	if answer != "" {
		o.out = boolOutput
	}
	return o
}

const attemptDoc = "true when it took the lock, else false"

func ownedOps() []operation[OwnedIn, history.Value] {
	return []operation[OwnedIn, history.Value]{
		owned("acquire", []string{"lock"}, ""),
		owned("try-acquire", []string{"try-lock"}, attemptDoc),
		owned("release", []string{"unlock"}, ""),
	}
}

func ownerMutexEntry() Entry {
	return entry(Entry{
		Name:    "owner-mutex",
		Doc:     "A lock that only the process that holds it may release, and that its holder cannot take again.",
		Initial: `"free"`,
	}, ownedOps(), func(initial history.Value) (spec.Model[history.Value, OwnedIn, history.Value], error) {
		return OwnerMutex(), free(initial)
	})
}
