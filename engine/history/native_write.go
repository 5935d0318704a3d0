package history

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
)

// WriteNative writes h in the native format: the header, then operations in
// the order of their invocation, equal times by id, with each note before the
// first operation that is invoked at or after the note's start. Equal
// histories are written as equal bytes, and ReadNative gives h back but for
// origins, which then name the new file's lines.
//
// A history whose line order is the clock (ByLine) keeps its verdict: see
// NativeTimes. Its ties and clock error are left out, as lines have neither.
//
// An operation whose answer was not recorded (NoOut) is written as a read of
// null under "nil_read":"unknown", which means the same; where that is not
// possible, WriteNative fails with an *Error.
func WriteNative(w io.Writer, h *Raw) error {
	nw, err := newNativeWriter(h)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	buf := appendHeader(nil, &nw.header)
	if _, err := b.Write(buf); err != nil {
		return err
	}
	notes := nw.notes
	for _, i := range nw.order {
		buf = buf[:0]
		for len(notes) > 0 && notes[0].From <= nw.clock.invoke(i) {
			buf = appendNote(buf, notes[0])
			notes = notes[1:]
		}
		if _, err := b.Write(nw.appendOp(buf, i)); err != nil {
			return err
		}
	}
	for _, note := range notes {
		if _, err := b.Write(appendNote(nil, note)); err != nil {
			return err
		}
	}
	return b.Flush()
}

type nativeWriter struct {
	h       *Raw
	header  Header
	clock   nativeClock
	order   []int32 // operations as they are written
	withIDs bool
	notes   []Note
}

func newNativeWriter(h *Raw) (*nativeWriter, error) {
	nw := &nativeWriter{h: h, header: h.Header, clock: nativeClock{h: h}}
	if h.Order == ByLine {
		if h.Origins == nil {
			return nil, &Error{Path: h.Path, Msg: "the order of lines is the clock, but the operations have no lines"}
		}
		nw.clock.lines = !NativeTimes(h)
		nw.header.Ties, nw.header.HasTies, nw.header.ClockError = TiesConcurrent, false, ClockError{}
	}
	if err := nw.unrecorded(); err != nil {
		return nil, err
	}
	nw.order = make([]int32, len(h.Ops))
	for i := range nw.order {
		nw.order[i] = int32(i)
	}
	slices.SortStableFunc(nw.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(nw.clock.invoke(a), nw.clock.invoke(b)), cmp.Compare(h.ID(int(a)), h.ID(int(b))))
	})
	for k, i := range nw.order {
		nw.withIDs = nw.withIDs || h.ID(int(i)) != int64(k)
	}
	nw.notes = nw.clock.moved(h.Notes)
	slices.SortStableFunc(nw.notes, func(a, b Note) int { return cmp.Compare(a.From, b.From) })
	return nw, nil
}

// unrecorded finds a way to write answers that were not recorded. The format
// can only say that a read's null means nothing, and says it of all reads.
func (nw *nativeWriter) unrecorded() error {
	first, null := -1, false
	for i := range nw.h.Ops {
		op := &nw.h.Ops[i]
		read := op.F == "read" || op.F == "get"
		switch {
		case op.Outcome == OK && op.NoOut && !read:
			return nw.h.Errorf(i, "the answer of this %s was not recorded, and the native format can say so of a read or get only", op.F)
		case op.Outcome == OK && op.NoOut && first < 0:
			first = i
		case op.Outcome == OK && !op.NoOut && read && op.Out == Null:
			null = true
		}
	}
	if first < 0 || nw.header.NilRead == "unknown" {
		return nil
	}
	if null {
		return nw.h.Errorf(first, "the answer was not recorded, and other reads returned null; the native format cannot tell the two apart")
	}
	nw.header.NilRead = "unknown"
	return nil
}

func (nw *nativeWriter) appendOp(b []byte, i int32) []byte {
	op := &nw.h.Ops[i]
	b = append(append(b, `{"process":`...), nw.process(int(i))...)
	if nw.withIDs {
		b = appendField(b, "id", strconv.FormatInt(nw.h.ID(int(i)), 10))
	}
	b = append(appendQuoted(append(b, `,"f":`...), op.F), `,"key":`...)
	if op.Key == "" {
		b = b[:len(b)-len(`,"key":`)]
	} else {
		b = append(b, ParseLabel(op.Key).Text()...)
	}
	b = appendField(b, "in", op.In.Text())
	b = strconv.AppendInt(append(b, `,"invoke":`...), nw.clock.invoke(i), 10)
	if op.Outcome != Info {
		b = strconv.AppendInt(append(b, `,"return":`...), nw.clock.done(i), 10)
	}
	b = append(append(append(b, `,"outcome":"`...), op.Outcome.String()...), '"')
	switch {
	case op.Outcome == OK && op.NoOut:
		b = append(b, `,"out":null`...)
	case op.Outcome == OK:
		b = appendField(b, "out", op.Out.Text())
	}
	if op.Node != "" {
		b = appendQuoted(append(b, `,"node":`...), op.Node)
	}
	if e := nw.errorText(i); e != "" {
		b = appendQuoted(append(b, `,"error":`...), e)
	}
	return append(nw.appendHints(b, i), "}\n"...)
}

// process writes the name of operation i's process, an integer or a string.
func (nw *nativeWriter) process(i int) string {
	p := nw.h.Ops[i].Process
	if nw.h.Processes == nil {
		return strconv.Itoa(p)
	}
	v := nw.h.Processes[p]
	if k := v.Kind(); k != KindInt && k != KindString {
		v = String(v.Label())
	}
	return v.Text()
}

// errorText is the error of operation i. A failed compare-and-set without one
// would read back as refused by the store, so where the origin says otherwise
// it gets one.
func (nw *nativeWriter) errorText(i int32) string {
	op := &nw.h.Ops[i]
	if op.Outcome == Fail && op.F == "cas" && op.Error == "" && nw.h.Origins != nil && !nw.h.Origins[i].Refused {
		return "no refusal was recorded"
	}
	return op.Error
}

func (nw *nativeWriter) appendHints(b []byte, i int32) []byte {
	hints := nw.h.Ops[i].Hints
	if nw.clock.lines {
		hints = nw.clock.withTimes(i)
	}
	return appendHints(b, hints)
}

// appendHints writes the field "hints", where there is one to write.
func appendHints(b []byte, hints []Hint) []byte {
	from := len(b)
	for _, hint := range hints {
		if hint.Value == Absent {
			continue
		}
		if len(b) == from {
			b = append(b, `,"hints":{`...)
		} else {
			b = append(b, ',')
		}
		b = append(append(appendQuoted(b, hint.Name), ':'), hint.Value.Text()...)
	}
	if len(b) > from {
		b = append(b, '}')
	}
	return b
}

func appendNote(b []byte, n Note) []byte {
	b = appendQuoted(append(b, `{"note":`...), n.Name)
	b = strconv.AppendInt(append(b, `,"from":`...), n.From, 10)
	if n.To != Never {
		b = strconv.AppendInt(append(b, `,"to":`...), n.To, 10)
	}
	return append(appendField(b, "detail", n.Detail.Text()), "}\n"...)
}
