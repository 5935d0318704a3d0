package history

import (
	"cmp"
	"math"
	"slices"
)

// NativeTimes reports whether WriteNative writes the recorded times of h. It
// does not where the order of lines is the clock of h (ByLine) and the times
// put some return and some call the other way round: then it writes the
// positions of events as times, and keeps what was recorded as the hints
// invoke_time and return_time.
func NativeTimes(h *Raw) bool {
	if h.Order == ByTime {
		return true
	}
	if h.Origins == nil {
		return false
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		if beyond(op.Invoke) || op.Outcome != Info && (beyond(op.Return) || op.Return < op.Invoke) {
			return false
		}
	}
	lines, times := nativeClock{h, true}, nativeClock{h, false}
	return slices.Equal(lines.blocks(), times.blocks())
}

func beyond(t int64) bool { return t > MaxTime || t < -MaxTime }

// nativeClock gives the times that are written: positions of events where
// lines is set, else what was recorded.
type nativeClock struct {
	h     *Raw
	lines bool
}

func (c nativeClock) invoke(i int32) int64 {
	if c.lines {
		return int64(c.h.Origins[i].Seq)
	}
	return c.h.Ops[i].Invoke
}

func (c nativeClock) done(i int32) int64 {
	if c.lines {
		return int64(c.h.Origins[i].DoneSeq)
	}
	return c.h.Ops[i].Return
}

// event is the call or the return of an operation.
type event struct {
	op     int32
	isDone bool
	at     int64
}

func (c nativeClock) events() []event {
	es := make([]event, 0, 2*len(c.h.Ops))
	for i := range c.h.Ops {
		es = append(es, event{int32(i), false, c.invoke(int32(i))})
		if c.h.Ops[i].Outcome != Info {
			es = append(es, event{int32(i), true, c.done(int32(i))})
		}
	}
	slices.SortStableFunc(es, func(a, b event) int {
		if d := cmp.Compare(a.at, b.at); d != 0 || a.isDone == b.isDone {
			return d
		}
		if b.isDone {
			return -1 // at one instant calls come before returns: the two overlap
		}
		return 1
	})
	return es
}

// blocks cuts the events into runs of calls and runs of returns, and gives the
// run of each event (2i and 2i+1 of operation i; -1: no return). One operation
// returned before another was called exactly when its return stands in an
// earlier run, so clocks with equal blocks order all pairs alike.
func (c nativeClock) blocks() []int32 {
	runs := make([]int32, 2*len(c.h.Ops))
	for i := range runs {
		runs[i] = -1
	}
	run, isDone := int32(0), false
	for _, e := range c.events() {
		if e.isDone != isDone {
			run, isDone = run+1, e.isDone
		}
		if e.isDone {
			runs[2*e.op+1] = run
		} else {
			runs[2*e.op] = run
		}
	}
	return runs
}

// withTimes returns the hints of operation i and the recorded times, unless
// the store itself returned hints of these names.
func (c nativeClock) withTimes(i int32) []Hint {
	op := &c.h.Ops[i]
	hints := slices.Clone(op.Hints)
	add := func(name string, t int64) {
		if !slices.ContainsFunc(hints, func(h Hint) bool { return h.Name == name }) {
			hints = append(hints, Hint{name, Int(t)})
		}
	}
	add("invoke_time", op.Invoke)
	if op.Outcome != Info {
		add("return_time", op.Return)
	}
	return hints
}

// moved returns the notes by this clock. A time becomes the position of the
// first event that was recorded at or after it; as recorded times run
// backwards now and then, the greatest time so far stands for each event's.
func (c nativeClock) moved(notes []Note) []Note {
	notes = slices.Clone(notes)
	if !c.lines {
		return notes
	}
	es := c.events()
	recorded, end, latest := nativeClock{c.h, false}, int64(0), int64(math.MinInt64)
	so := make([]int64, len(es))
	for k, e := range es {
		t := recorded.invoke(e.op)
		if e.isDone {
			t = recorded.done(e.op)
		}
		latest = max(latest, t)
		so[k], end = latest, e.at+1
	}
	position := func(t int64) int64 {
		k, _ := slices.BinarySearch(so, t)
		if k == len(es) {
			return end
		}
		return es[k].at
	}
	for i := range notes {
		notes[i].From = position(notes[i].From)
		if notes[i].To != Never {
			notes[i].To = position(notes[i].To)
		}
	}
	return notes
}
