package importers

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"

	"pinyon/engine/history"
)

// WriteEDN writes h as Jepsen's history.edn: one map a line, with :index,
// :time, :type, :process, :f and :value, hints and the node as extra keys, and
// :error. Loading it gives h back, and so does loading WriteNative's output of
// it:
//
//   - The first line is a comment that holds the header and says which clock
//     decides. Other tools pass over it.
//   - Keys become independent tuples [key value] where every operation has one.
//   - A process is a number, as Jepsen's clients are; one with another name
//     keeps it as an extra key.
//   - What Jepsen's keys cannot say stands in extra keys :pinyon/... .
//
// Two things are not kept, as the native format has no place for them either:
// the time and place of the :info line of an operation without an answer, and
// the process of a note. Where WriteNative replaces times that contradict the
// order of lines by positions, the EDN of its output has the positions, and
// the times as :invoke_time and :return_time.
//
// It fails with an *history.Error on an operation without a name, on a line
// order without lines, and where WriteNative cannot say that an output was not
// recorded.
func WriteEDN(w io.Writer, h *history.Raw) error {
	h, err := recorded(h)
	if err != nil {
		return err
	}
	e := &ednWriter{h: h, w: bufio.NewWriterSize(w, 1<<16), names: map[string]string{}}
	if h.Order == history.ByLine && h.Origins == nil && len(h.Ops) > 0 {
		return &history.Error{Path: h.Path, Msg: "the order of lines is the clock, but the operations have no lines"}
	}
	for i := range h.Ops {
		if h.Ops[i].F == "" {
			return h.Errorf(i, "an operation without a name cannot be written as EDN")
		}
	}
	if err := e.header(); err != nil {
		return err
	}
	e.nameProcesses()
	e.decideKeys()
	for k, line := range ednLines(h) {
		e.b = e.b[:0]
		if line.isNote {
			e.note(k, &h.Notes[line.index])
		} else {
			e.event(k, line)
		}
		e.b = append(e.b, "}\n"...)
		if _, err := e.w.Write(e.b); err != nil {
			return err
		}
	}
	return e.w.Flush()
}

// recorded returns h with outputs that were not recorded written as the native
// format does: as null reads that say nothing.
func recorded(h *history.Raw) (*history.Raw, error) {
	for i := range h.Ops {
		if h.Ops[i].NoOut && h.Ops[i].Outcome == history.OK {
			var b bytes.Buffer
			if err := history.WriteNative(&b, h); err != nil {
				return nil, err
			}
			return history.ReadNative(h.Path, &b)
		}
	}
	return h, nil
}

type ednWriter struct {
	h     *history.Raw
	w     *bufio.Writer
	b     []byte
	names map[string]string // of operations and hints, as they are written

	processes []string // by Op.Process: :process, and its name where that is another
	nemesis   string   // the process of notes
	tuples    bool     // values are [key value]
	marked    bool     // the first event says whether they are
	time      int64    // of the latest line
	invoked   int64    // operations so far
}

func (e *ednWriter) name(s string) string {
	n, ok := e.names[s]
	if !ok {
		n = ednName(s)
		e.names[s] = n
	}
	return n
}

// header writes the comment that ownHeader reads.
func (e *ednWriter) header() error {
	head, clock := e.h.Header, "times "
	if e.h.Order == history.ByLine {
		clock = "lines "
		head.Ties, head.HasTies, head.ClockError = history.TiesConcurrent, false, history.ClockError{} // lines have neither
	}
	e.w.WriteString(headerMark + clock)
	return history.WriteNative(e.w, &history.Raw{Header: head})
}

// nameProcesses gives every process a number or, where it had one, a keyword.
func (e *ednWriter) nameProcesses() {
	count := len(e.h.Processes)
	used := map[history.Value]bool{}
	for i := range e.h.Ops {
		count = max(count, e.h.Ops[i].Process+1)
	}
	own := make([]history.Value, count)
	for p := range own {
		own[p] = history.Int(int64(p))
		if e.h.Processes != nil {
			own[p] = e.h.Processes[p]
		}
		if name, ok := own[p].Str(); ok && own[p].Kind() == history.KindString && strings.HasPrefix(name, ":") && isKeyword(name[1:]) {
			own[p] = history.Keyword(name[1:]) // how the native format writes one
		}
		used[own[p]] = true
	}
	next := int64(0)
	for _, v := range own {
		text := ednText(v)
		if k := v.Kind(); k != history.KindInt && k != history.KindKeyword {
			for used[history.Int(next)] {
				next++
			}
			text = strconv.FormatInt(next, 10) + ", :" + ownPrefix + "process " + text
			next++
		}
		e.processes = append(e.processes, text)
	}
	e.nemesis = "nemesis"
	for used[history.Keyword(e.nemesis)] {
		e.nemesis += "'"
	}
}

// decideKeys writes keys as tuples where every operation has one, and says so
// on the first event where a reader could not tell.
func (e *ednWriter) decideKeys() {
	with := 0
	for i := range e.h.Ops {
		if e.h.Ops[i].Key != "" {
			with++
		}
	}
	e.tuples = with > 0 && with == len(e.h.Ops)
	if with > 0 && !e.tuples {
		return // each key stands in its own field
	}
	looks, reads := true, false // as looksKeyed sees the calls
	for i := range e.h.Ops {
		op := &e.h.Ops[i]
		value, _ := e.values(op)
		p := split(value)
		looks = looks && p.ok && (op.F != "read" || p.value == history.Null)
		reads = reads || op.F == "read"
	}
	e.marked = len(e.h.Ops) > 0 && (looks && reads) != e.tuples
}

// values returns the :value of an operation's call and, if it was ok, of its
// completion, as the rules of settle read them. Absent: none.
func (e *ednWriter) values(op *rawOp) (call, done history.Value) {
	call, done = op.In, op.Out
	switch {
	case op.F == "txn" || op.F == "read" && microOps(op.In):
	case call == history.Absent && !setters[op.F]:
		call = history.Null
	}
	switch {
	case op.F == "txn" || getters[op.F]:
	case op.F == "cas" || op.F == "transfer":
		if done == history.True {
			done = call
		}
	case done == history.Absent && op.F != "add-and-get":
		done = call
	}
	if op.Outcome != history.OK {
		done = call
	}
	if e.tuples {
		key := history.ParseLabel(op.Key)
		call, done = history.Array(key, orNull(call)), history.Array(key, orNull(done))
	}
	return call, done
}

func orNull(v history.Value) history.Value {
	if v == history.Absent {
		return history.Null
	}
	return v
}

// untuple is what a reader takes off a tuple.
func (e *ednWriter) untuple(v history.Value) history.Value {
	if e.tuples {
		return split(v).value
	}
	return v
}

func (e *ednWriter) start(k int, at int64, kind, process, f string) {
	e.time = at
	e.b = strconv.AppendInt(append(e.b, "{:index "...), int64(k), 10)
	e.b = strconv.AppendInt(append(e.b, ", :time "...), at, 10)
	e.b = append(append(e.b, ", :type "...), kind...)
	e.b = append(append(e.b, ", :process "...), process...)
	e.b = append(append(e.b, ", :f "...), e.name(f)...)
}

// field writes one more key; an empty text leaves it out.
func (e *ednWriter) field(key, text string) {
	if text != "" {
		e.b = append(append(append(append(e.b, ", "...), key...), ' '), text...)
	}
}

// own writes one of Pinyon's keys.
func (e *ednWriter) own(key string, v history.Value) { e.field(":"+ownPrefix+key, ednText(v)) }

func (e *ednWriter) value(v history.Value) {
	if v != history.Absent {
		e.field(":value", ednText(v))
	}
}

func (e *ednWriter) note(k int, n *history.Note) {
	e.start(k, n.From, ":info", ":"+e.nemesis, n.Name)
	e.value(n.Detail)
	switch n.To {
	case n.From:
	case history.Never:
		e.own("to", noEnd)
	default:
		e.own("to", history.Int(n.To))
	}
}

func (e *ednWriter) event(k int, line ednLine) {
	op := &e.h.Ops[line.index]
	call, done := e.values(op)
	if line.isDone {
		e.completion(k, int(line.index), call, done)
	} else {
		e.start(k, op.Invoke, ":invoke", e.processes[op.Process], op.F)
		e.value(call)
		if got := e.readInput(op, call, done); got != op.In && op.In == history.Absent {
			e.own("no-in", history.True)
		} else if got != op.In {
			e.own("in", op.In)
		}
		if e.h.ID(int(line.index)) != e.invoked {
			e.own("id", history.Int(e.h.ID(int(line.index))))
		}
		if e.marked && e.invoked == 0 {
			e.own("keyed", history.Bool(e.tuples))
		}
		e.invoked++
	}
	if op.Key != "" && !e.tuples {
		e.own("key", history.ParseLabel(op.Key))
	}
}

// readInput is the input that a reader takes from the values of a call and its
// completion; where the two would disagree, one that is not the operation's.
func (e *ednWriter) readInput(op *rawOp, call, done history.Value) history.Value {
	in := input(op.F, e.untuple(call))
	if settled, _ := settle(op.F, e.untuple(call), e.untuple(done)); op.Outcome == history.OK && in == op.In {
		return settled
	}
	return in
}

func (e *ednWriter) completion(k, i int, call, done history.Value) {
	op := &e.h.Ops[i]
	kind, at := [...]string{":ok", ":fail", ":info"}[op.Outcome], op.Return
	if op.Outcome == history.Info {
		at = e.time // nobody knows when
	}
	e.start(k, at, kind, e.processes[op.Process], op.F)
	e.value(done)
	e.hints(op)
	if op.Error != "" {
		e.field(":error", ednError(op.Error))
	}
	if op.Outcome == history.OK {
		_, got := settle(op.F, e.untuple(call), e.untuple(done))
		switch {
		case got == op.Out:
		case op.Out == history.Absent:
			e.own("no-out", history.True)
		default:
			e.own("out", op.Out)
		}
	}
	if op.Outcome == history.Fail && op.F == "cas" {
		want := op.Error == ""
		if e.h.Origins != nil {
			want = e.h.Origins[i].Refused
		}
		if looks := op.Error == "" && orNull(done) != history.Null; looks != want {
			e.own("refused", history.Bool(want))
		}
	}
}

// jepsenKeys are no names for hints.
var jepsenKeys = map[string]bool{"type": true, "process": true, "f": true, "value": true, "time": true, "index": true, "error": true}

// hints writes the hints of an operation as extra keys, and its node. From the
// first that no extra key can hold on, all stand in one list, in order.
func (e *ednWriter) hints(op *rawOp) {
	node, rest := "", []history.Value(nil)
	for _, h := range op.Hints {
		if h.Value == history.Absent {
			continue
		}
		plain, ok := hint(h.Value)
		ok = ok && plain == h.Value && len(rest) == 0 && !jepsenKeys[h.Name] && !strings.HasPrefix(h.Name, ownPrefix)
		if !ok || !strings.HasPrefix(e.name(h.Name), ":") {
			rest = append(rest, history.Array(history.String(h.Name), h.Value))
			continue
		}
		if h.Name == "node" || h.Name == "host" {
			node = nodeName(plain)
		}
		e.field(e.name(h.Name), ednText(h.Value))
	}
	if len(rest) > 0 {
		e.own("hints", history.Array(rest...))
	}
	if op.Node != node {
		e.own("node", history.String(op.Node))
	}
}
