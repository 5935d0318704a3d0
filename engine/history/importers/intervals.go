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
	process []history.Value // of each operation; Absent: the file does not say
	epoch   bool            // times are dates
}

func newIntervals(src *source) *intervals {
	n := src.room(20)
	h := &history.Raw{Ops: make([]rawOp, 0, n), Origins: make([]history.Origin, 0, n)}
	return &intervals{src: src, h: h, process: make([]history.Value, 0, n)}
}

// add appends an operation; line is 0 where several files make one history.
func (x *intervals) add(process history.Value, op rawOp, line int32) {
	seq := int32(len(x.h.Ops))
	origin := history.Origin{Line: line, DoneLine: line, Seq: seq, DoneSeq: seq, Index: int64(seq), DoneIndex: int64(seq)}
	if op.Outcome == history.Info {
		op.Return = history.Never
		origin.DoneLine, origin.DoneSeq, origin.DoneIndex = 0, -1, -1
	}
	x.h.Ops, x.h.Origins = append(x.h.Ops, op), append(x.h.Origins, origin)
	x.process = append(x.process, process)
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
	b := &builder{src: x.src, opts: o, rep: rep, h: x.h, names: map[history.Value]bool{}, clients: map[history.Value]*client{}}
	for _, p := range x.process {
		b.names[p] = true
	}
	for _, i := range byTime {
		ev := event{process: x.process[i], line: x.h.Origins[i].Line}
		c := b.clients[ev.process]
		if c == nil {
			c = &client{process: -1}
			b.clients[ev.process] = c
		}
		if err := b.name(&ev, c); err != nil {
			return nil, err
		}
		x.h.Ops[i].Process = c.process
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
