package importers

import (
	"cmp"
	"slices"

	"pinyon/engine/history"
)

// rawOp is an operation of recorded values.
type rawOp = history.Op[history.Value, history.Value]

// intervals collects the operations of formats that record both ends of one
// together, so that times and not lines decide their order.
type intervals struct {
	src     *source
	h       *history.Raw
	numbers map[history.Value]int // of the processes; an operation has its number until finish names it
	names   []history.Value       // by number; Absent: the file does not say
	epoch   bool                  // times are dates

	nameless int // operations whose process the file does not say
}

func newIntervals(src *source) *intervals {
	n := src.room()
	h := &history.Raw{Ops: make([]rawOp, 0, n), Origins: make([]history.Origin, 0, n)}
	return &intervals{src: src, h: h, numbers: map[history.Value]int{}}
}

// add appends an operation; process is Absent where the file does not say, and
// line is 0 where several files make one history.
func (x *intervals) add(process history.Value, op rawOp, line int32) {
	seq := int32(len(x.h.Ops))
	origin := history.Origin{Line: line, DoneLine: line, Seq: seq, DoneSeq: seq}
	if op.Outcome == history.Info {
		op.Return = history.Never
		origin.DoneLine, origin.DoneSeq = 0, -1
	}
	n, known := x.numbers[process]
	if !known {
		n = len(x.names)
		x.numbers[process] = n
		x.names = append(x.names, process)
	}
	op.Process = n
	if process == history.Absent {
		x.nameless++
	}
	x.h.Ops, x.h.Origins = append(x.h.Ops, op), append(x.h.Origins, origin)
}

// finish numbers the processes, in the order of invocations. One that goes on
// after an operation without an answer gets a new name, as in the logs of
// events.
func (x *intervals) finish(o *Options, rep *Report) (*history.Raw, error) {
	rep.Timed = true
	x.rebase(rep)
	byTime := make([]int32, len(x.h.Ops))
	for i := range byTime {
		byTime[i] = int32(i)
	}
	slices.SortStableFunc(byTime, func(a, b int32) int {
		return cmp.Compare(x.h.Ops[a].Invoke, x.h.Ops[b].Invoke)
	})
	x.numbers = nil // it is large where processes are many
	x.h.Processes = make([]history.Value, 0, len(x.names)+x.nameless)
	b := &builder{src: x.src, opts: o, rep: rep, h: x.h, known: x.names}
	clients := make([]client, len(x.names))
	for k, i := range byTime {
		if err := x.src.interrupted(int32(k)); err != nil {
			return nil, err
		}
		n := x.h.Ops[i].Process
		ev, c := event{process: x.names[n], line: x.h.Origins[i].Line}, &clients[n]
		if err := b.name(&ev, c); err != nil {
			return nil, err
		}
		x.h.Ops[i].Process = int(c.process)
		if x.h.Ops[i].Outcome == history.Info {
			c.retired = max(ev.line, 1)
		}
	}
	rep.warnRenamed()
	return x.h, nil
}

// rebase counts times from the first invocation where they are too great, as
// nanoseconds since 1970 are.
func (x *intervals) rebase(rep *Report) {
	first, beyond := int64(0), false
	for i := range x.h.Ops {
		op := &x.h.Ops[i]
		if i == 0 || op.Invoke < first {
			first = op.Invoke
		}
		beyond = beyond || op.Invoke > history.MaxTime || op.Outcome != history.Info && op.Return > history.MaxTime
	}
	if !x.epoch && (!beyond || first <= 0) {
		return
	}
	for i := range x.h.Ops {
		op := &x.h.Ops[i]
		op.Invoke -= first
		if op.Outcome != history.Info {
			op.Return -= first
		}
	}
	rep.warn("times are counted from the first invocation, which is at %d", first)
}
