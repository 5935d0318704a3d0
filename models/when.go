package models

import "pinyon/engine/history"

// when tells which operations of a history surely came one after the other, by
// the clock in force.
type when struct {
	h *history.Raw
	// slack is what a return must be before a call, at least. Where nodes have
	// clock errors of their own it is the sum of the two largest, which may leave
	// operations of better clocks unordered, but orders none wrongly.
	slack int64
	// tie: a return at the instant of a call precedes it.
	tie bool
}

func newWhen(h *history.Raw) when {
	e := h.Header.ClockError
	w := when{h: h, slack: e.All, tie: h.Header.Ties == history.TiesPrecede}
	var top, second int64
	for _, ns := range e.ByNode {
		if ns > top {
			top, second = ns, top
		} else {
			second = max(second, ns)
		}
	}
	if e.ByNode != nil {
		w.slack = top + second
	}
	if h.Order == history.ByLine {
		w.slack = 0
	}
	return w
}

func (w when) call(i int) int64 {
	if w.h.Order == history.ByLine {
		return int64(w.h.Origins[i].Seq)
	}
	return w.h.Ops[i].Invoke
}

func (w when) ret(i int) int64 {
	switch {
	case w.h.Ops[i].Outcome == history.Info:
		return history.Never
	case w.h.Order == history.ByLine:
		return int64(w.h.Origins[i].DoneSeq)
	}
	return w.h.Ops[i].Return
}

// before reports whether a return at ret precedes a call at call.
func (w when) before(ret, call int64) bool {
	return ret < call-w.slack || w.tie && ret == call-w.slack
}
