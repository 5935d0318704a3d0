package history

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// MaxLine bounds a line of a history file, in bytes.
const MaxLine = 64 << 20

// ReadNative reads a history in the native format, JSON Lines version 1; path
// is for messages. The header stands first, all other lines in any order.
//
// Reading is strict: an unknown, missing or repeated field, a value of the
// wrong type or out of range, a cut-off line, an event without its partner and
// an id that stands for two operations are each an *Error with line and column.
// Whether the operations fit together in time is for Validate to say. Whether
// an ok operation needed an "out" depends on the model, so an absent one is
// left Absent here, and the model's binding of recorded values decides.
//
// An empty file is an empty history. Any other error is the reader's own.
func ReadNative(path string, r io.Reader) (*Raw, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: after %d bytes: %w", path, len(text), err)
	}
	return ParseNative(context.Background(), path, string(text))
}

// smallest is how many bytes a line that holds an operation has, at least.
const smallest = len(`{"process":0,"f":"","invoke":0,"outcome":"ok"}`)

// ParseNative is ReadNative for a text in memory. It ends with the error of ctx
// soon after that has one.
func ParseNative(ctx context.Context, path, text string) (*Raw, error) {
	n := newNativeReader(path, min(roughOps(text), len(text)/smallest))
	for text != "" {
		if n.line%512 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		n.line++
		line, rest, whole := strings.Cut(text, "\n")
		if len(line) > MaxLine {
			return nil, &Error{Path: path, Line: n.line, Msg: fmt.Sprintf("the line is longer than %d bytes; each line holds one operation, event or note", MaxLine)}
		}
		if err := n.readLine(strings.TrimSuffix(line, "\r")); err != nil {
			return nil, n.locate(err, line, !whole)
		}
		text = rest
	}
	return n.finish()
}

// roughOps is about how many operations a text holds, so that their list need
// not grow.
func roughOps(text string) int {
	n := strings.Count(text, "\n")
	if strings.Contains(text[:min(len(text), 1<<16)], `"event":`) { // two lines each
		n -= strings.Count(text, `"event":"complete"`)
	}
	return n
}

// nativeReader builds a history line by line.
type nativeReader struct {
	h    *Raw
	line int   // number of the line at hand
	seq  int32 // its position among the lines after the header
	rec  record

	strings   map[string]string // one copy of each name, however often it stands
	labels    map[Value]string  // by key
	processes map[Value]int
	ids       []int64
	byID      places            // of the operations with an id of their own
	early     map[int64]*record // completions whose invocation did not come yet
}

// newNativeReader makes room for about so many operations.
func newNativeReader(path string, room int) *nativeReader {
	room = max(room, 0)
	return &nativeReader{
		h:         &Raw{Path: path, Format: "native", Ops: make([]Op[Value, Value], 0, room), Origins: make([]Origin, 0, room)},
		strings:   map[string]string{},
		labels:    map[Value]string{Absent: ""},
		processes: map[Value]int{},
		ids:       make([]int64, 0, room),
		early:     map[int64]*record{},
	}
}

// places finds operations by their ids: in a list while ids are about as great
// as operations are many, as they mostly are, and in a table otherwise.
type places struct {
	list  []int32 // by id; one more than the place, 0: none
	table map[int64]int32
	n     int64
}

func (p *places) get(id int64) (int32, bool) {
	if id >= 0 && id < int64(len(p.list)) && p.list[id] > 0 {
		return p.list[id] - 1, true
	}
	at, ok := p.table[id]
	return at, ok
}

func (p *places) set(id int64, at int32) {
	p.n++
	switch grown := int64(len(p.list)); {
	case id >= 0 && id < grown:
		p.list[id] = at + 1
	case id >= grown && id < 2*p.n+16:
		p.list = append(p.list, make([]int32, id+1-grown)...)
		p.list[id] = at + 1
	default:
		if p.table == nil {
			p.table = map[int64]int32{}
		}
		p.table[id] = at
	}
}

// locate turns an error about the line at hand into an *Error.
func (n *nativeReader) locate(err error, line string, cut bool) error {
	s, ok := err.(*SyntaxError)
	if !ok {
		return err
	}
	e := &Error{Path: n.h.Path, Line: n.line, Col: s.Offset + 1, Msg: s.Msg}
	if cut && (s.Offset >= len(line) || !strings.HasSuffix(strings.TrimSpace(line), "}")) {
		e.Msg = "the last line is cut off: " + e.Msg
	}
	return e
}

func (n *nativeReader) intern(s string) string {
	if c, ok := n.strings[s]; ok {
		return c
	}
	c := strings.Clone(s) // s is a piece of its line
	n.strings[c] = c
	return c
}

func (n *nativeReader) readLine(line string) error {
	start := skipSpace(line, 0)
	switch {
	case n.line == 1 && strings.HasPrefix(line, "\uFEFF"):
		return syntax(0, "the file starts with a byte order mark; remove it")
	case start == len(line):
		return syntax(0, "an empty line; remove it")
	case n.line == 1:
		return readHeader(line, &n.h.Header)
	}
	n.rec = record{line: n.line, seq: n.seq}
	n.seq++
	next, err := eachMember(line, start, func(name string, nameAt, valueAt int) (int, error) {
		return n.rec.member(line, name, nameAt, valueAt, n.intern)
	})
	if err == nil {
		err = atEnd(line, next)
	}
	if err != nil {
		return err
	}
	return n.take(&n.rec)
}

// take adds what a line records to the history.
func (n *nativeReader) take(rec *record) error {
	sh, err := rec.shape()
	if err != nil {
		return err
	}
	switch sh {
	case noteLine:
		n.addNote(rec)
		return nil
	case completeLine:
		return n.complete(rec)
	case invokeLine:
		return n.invoke(rec)
	}
	i, err := n.add(rec, rec.num[fInvoke])
	if err != nil {
		return err
	}
	return n.settle(i, rec, fReturn)
}

func (n *nativeReader) addNote(rec *record) {
	note := Note{Name: rec.str[fNote], From: rec.num[fFrom], To: Never, Detail: rec.val[fDetail], Line: rec.line}
	if rec.has(fTo) {
		note.To = rec.num[fTo]
	}
	n.h.Notes = append(n.h.Notes, note)
}

// add appends the operation that rec opens, without its answer, and returns
// its index.
func (n *nativeReader) add(rec *record, invoke int64) (int32, error) {
	i := int32(len(n.h.Ops))
	id := int64(i)
	if rec.has(fID) {
		id = rec.num[fID]
		if other, known := n.byID.get(id); known {
			return 0, syntax(rec.at[fID], "the id %d stands for two operations, here and in line %d; ids must differ", id, n.h.Origins[other].Line)
		}
		n.byID.set(id, i)
	}
	n.ids = append(n.ids, id)
	process, known := n.processes[rec.val[fProcess]]
	if !known {
		process = len(n.processes)
		n.processes[rec.val[fProcess]] = process
		n.h.Processes = append(n.h.Processes, rec.val[fProcess])
	}
	key, known := n.labels[rec.val[fKey]]
	if !known {
		key = rec.val[fKey].Label()
		n.labels[rec.val[fKey]] = key
	}
	n.h.Ops = append(n.h.Ops, Op[Value, Value]{
		Process: process, F: rec.str[fF], Key: key, In: rec.val[fIn],
		Invoke: invoke, Return: Never, Outcome: Info, Node: rec.str[fNode],
	})
	n.h.Origins = append(n.h.Origins, Origin{
		Line: int32(rec.line), Seq: rec.seq, DoneSeq: -1,
	})
	return i, nil
}

// invoke opens the operation of an invoke event.
func (n *nativeReader) invoke(rec *record) error {
	i, err := n.add(rec, rec.num[fTime])
	if err != nil {
		return err
	}
	id := rec.num[fID]
	done, ok := n.early[id]
	if !ok {
		return nil
	}
	delete(n.early, id)
	err = n.settle(i, done, fTime)
	if s, ok := err.(*SyntaxError); ok { // it stands on the completion's line
		return &Error{Path: n.h.Path, Line: done.line, Col: s.Offset + 1, Msg: s.Msg}
	}
	return err
}

// complete answers the operation of a complete event, or keeps the answer
// until the invocation comes.
func (n *nativeReader) complete(rec *record) error {
	id := rec.num[fID]
	i, known := n.byID.get(id)
	if !known {
		if other, twice := n.early[id]; twice {
			return syntax(rec.at[fID], "op %d completes twice, here and in line %d", id, other.line)
		}
		kept := *rec
		n.early[id] = &kept
		return nil
	}
	switch o := n.h.Origins[i]; {
	case o.DoneLine == o.Line:
		return syntax(rec.at[fID], "op %d completes here, but line %d already holds the whole operation", id, o.Line)
	case o.DoneLine > 0:
		return syntax(rec.at[fID], "op %d completes twice, here and in line %d; it was invoked in line %d", id, o.DoneLine, o.Line)
	}
	return n.settle(i, rec, fTime)
}

// settle gives operation i the answer that rec records; its return time stands
// in the field when.
func (n *nativeReader) settle(i int32, rec *record, when field) error {
	op, from := &n.h.Ops[i], &n.h.Origins[i]
	switch s := rec.str[fOutcome]; s {
	case "ok":
		op.Outcome = OK
	case "fail":
		op.Outcome = Fail
	case "info":
		op.Outcome = Info
	default:
		return syntax(rec.at[fOutcome], "unknown outcome %q; %s", s, suggest(s, []string{"ok", "fail", "info"}))
	}
	switch {
	case op.Outcome == Info && rec.has(fReturn):
		return syntax(rec.at[fReturn], `an info operation has no "return": nobody knows when it ended; leave it out, or say ok or fail`)
	case op.Outcome != Info && !rec.has(when):
		return syntax(0, `the field "return" is missing; only an info operation has none`)
	case op.Outcome != OK && rec.has(fOut):
		return syntax(rec.at[fOut], `%s operation carries no "out": only an answer that is ok has one`, a(op.Outcome))
	case rec.has(fNode) && op.Node != "" && rec.str[fNode] != op.Node:
		return syntax(rec.at[fNode], "op %d was sent to node %q in line %d, and %q answers; an operation has one node", n.ids[i], op.Node, from.Line, rec.str[fNode])
	}
	if op.Outcome != Info {
		op.Return = rec.num[when]
	}
	op.Out, op.Hints, op.Error = rec.val[fOut], rec.hints, rec.str[fError]
	if rec.has(fNode) {
		op.Node = rec.str[fNode]
	}
	from.DoneLine, from.DoneSeq = int32(rec.line), rec.seq
	// A native completion repeats nothing, so an error is all that tells a
	// refused compare from a request that never arrived.
	from.Refused = op.Outcome == Fail && op.F == "cas" && op.Error == ""
	return nil
}

func a(o Outcome) string {
	if o == Fail {
		return "a fail"
	}
	return "an " + o.String()
}

// finish checks what only the whole file can tell.
func (n *nativeReader) finish() (*Raw, error) {
	if len(n.early) > 0 {
		first := slices.MinFunc(slices.Collect(maps.Values(n.early)), func(a, b *record) int { return a.line - b.line })
		return nil, &Error{Path: n.h.Path, Line: first.line, Col: first.at[fID] + 1,
			Msg: fmt.Sprintf("op %d completes, but no line invokes it", first.num[fID])}
	}
	ordinals := true
	for i, id := range n.ids {
		ordinals = ordinals && id == int64(i)
		other, taken := n.byID.get(int64(i))
		if id != int64(i) || !taken || other == int32(i) {
			continue
		}
		return nil, &Error{Path: n.h.Path, Line: int(n.h.Origins[i].Line), Col: 1,
			Msg: fmt.Sprintf("the operation has no id, so it is op %d by its position, and line %d gives that id to another; give ids to all operations or to none", id, n.h.Origins[other].Line)}
	}
	if !ordinals {
		n.h.IDs = n.ids
	}
	return n.h, nil
}
