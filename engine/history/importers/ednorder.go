package importers

import (
	"cmp"
	"slices"

	"pinyon/engine/history"
)

// ednLine is one line to write: a note, the call of an operation, or its
// completion.
type ednLine struct {
	index  int32 // of the operation or the note
	isNote bool
	isDone bool
	at     int64 // its time, or its position where lines decide
	level  int32 // how many events of its process come before at the same time
	line   int32 // where it stood, for notes
}

// ednLines puts the events of h in the order in which they are written.
//
// Where times decide, that is the order of times. At one time calls come
// before returns, so that the lines overlap as the operations do, but no
// process calls before it got its answer. Where lines decide, it is the order
// of the lines. Notes stand before the first event that is not earlier. An
// operation without an answer ends with an :info line: where the file had one,
// else at the end.
func ednLines(h *history.Raw) []ednLine {
	var events, open []ednLine
	for i := range h.Ops {
		call, done := ednLine{index: int32(i)}, ednLine{index: int32(i), isDone: true}
		if h.Order == history.ByLine {
			o := &h.Origins[i]
			call.at, call.line, done.at, done.line = int64(o.Seq), o.Line, int64(o.DoneSeq), o.DoneLine
		} else {
			call.at, done.at = h.Ops[i].Invoke, h.Ops[i].Return
		}
		events = append(events, call)
		if h.Ops[i].Outcome == history.Info && (h.Order == history.ByTime || done.at < 0) {
			open = append(open, done)
		} else {
			events = append(events, done)
		}
	}
	if h.Order == history.ByTime {
		setLevels(h, events)
	}
	id := func(l ednLine) int64 { return h.ID(int(l.index)) }
	slices.SortStableFunc(events, func(a, b ednLine) int {
		if c := cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.level, b.level)); c != 0 {
			return c
		}
		if a.isDone != b.isDone {
			if b.isDone {
				return -1
			}
			return 1
		}
		return cmp.Compare(id(a), id(b))
	})
	slices.SortStableFunc(open, func(a, b ednLine) int {
		return cmp.Or(cmp.Compare(h.Ops[a.index].Invoke, h.Ops[b.index].Invoke), cmp.Compare(id(a), id(b)))
	})
	return append(withNotes(h, events), open...)
}

// setLevels numbers the events of each process that share a time.
func setLevels(h *history.Raw, events []ednLine) {
	order := make([]int32, len(events))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := events[a], events[b]
		p, q := &h.Ops[x.index], &h.Ops[y.index]
		return cmp.Or(cmp.Compare(p.Process, q.Process), cmp.Compare(p.Invoke, q.Invoke),
			cmp.Compare(ending(p), ending(q)), cmp.Compare(x.index, y.index)) // stable: its call before its return
	})
	for k := 1; k < len(order); k++ {
		before, e := events[order[k-1]], &events[order[k]]
		if h.Ops[before.index].Process == h.Ops[e.index].Process && before.at == e.at {
			e.level = before.level + 1
		}
	}
}

func ending(op *rawOp) int64 {
	if op.Outcome == history.Info {
		return history.Never
	}
	return op.Return
}

// withNotes puts the notes between the events.
func withNotes(h *history.Raw, events []ednLine) []ednLine {
	notes := make([]ednLine, len(h.Notes))
	for i, n := range h.Notes {
		notes[i] = ednLine{index: int32(i), isNote: true, at: n.From, line: int32(n.Line)}
	}
	before := func(n, e ednLine) bool { return n.at <= e.at }
	if h.Order == history.ByLine {
		before = func(n, e ednLine) bool { return n.line < e.line }
	} else {
		slices.SortStableFunc(notes, func(a, b ednLine) int { return cmp.Compare(a.at, b.at) })
	}
	merged := make([]ednLine, 0, len(events)+len(notes))
	for _, e := range events {
		for len(notes) > 0 && before(notes[0], e) {
			merged, notes = append(merged, notes[0]), notes[1:]
		}
		merged = append(merged, e)
	}
	return append(merged, notes...)
}
