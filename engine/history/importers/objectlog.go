package importers

import (
	"strings"
	"unicode/utf8"

	"pinyon/engine/history"
)

// logObjects are the objects of the logs of fptlin, PolyLin and fastlin, by the
// first line: the model, and what the methods are called there.
var logObjects = map[string]struct {
	model   string
	methods map[string]string
}{
	"stack": {"stack", map[string]string{"push": "push", "pop": "pop", "peek": "peek"}},
	"queue": {"queue", map[string]string{"enq": "enqueue", "enqueue": "enqueue", "deq": "dequeue", "dequeue": "dequeue", "peek": "peek"}},
	"deque": {"deque", map[string]string{"push_front": "push-front", "push_back": "push-back", "pop_front": "pop-front", "pop_back": "pop-back",
		"peek_front": "peek-front", "peek_back": "peek-back"}},
	"pqueue":        {"priority-queue", pqueueMethods},
	"priorityqueue": {"priority-queue", pqueueMethods},
	"set": {"set", map[string]string{"insert": "add", "add": "add", "remove": "remove", "contains": "contains",
		"contains_true": "contains", "contains_false": "contains"}},
	"rmw": {"cas-register", map[string]string{"read_modify_write": "cas", "rmw": "cas"}},
}

var pqueueMethods = map[string]string{"insert": "insert", "poll": "poll", "peek": "peek"}

// objectLog reads a log with an operation a line, in any of the orders that
// the tools use; a line shows its own by where the method stands:
//
//	# stack
//	0 1 5 PUSH 1     process, start, end, method, values
//	0 PUSH 1 1 5     process, method, values, start, end
//	push 1 1 5       method, values, start, end: no process is known
//
// A value of -1 or EMPTY that a removal returned, and that nothing added, says
// that there was nothing. A set's second value is the answer, 1 or 0; where
// there is none, the operation succeeded. A read-modify-write of a and b is a
// compare-and-set that found a.
type objectLog struct {
	src     *source
	model   string
	methods map[string]string
	added   map[string]bool // names of nothing that are values here
	x       *intervals
	words   []string // of the line at hand
}

// logHeader returns the object that a line "# stack" names, "" for any other.
func logHeader(line string) string {
	name, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
	name = strings.ToLower(strings.TrimSpace(name))
	if _, known := logObjects[name]; !ok || !known {
		return ""
	}
	return name
}

func readObjectLog(src *source, o *Options, rep *Report) (*history.Raw, error) {
	if err := refuseLineOrder(src, rep); err != nil {
		return nil, err
	}
	l := &objectLog{src: src, added: map[string]bool{}, x: newIntervals(src)}
	if err := src.lines(l.scan); err != nil {
		return nil, err
	}
	if l.model == "" {
		return nil, src.errorOn(1, "no line says what the object is; # stack, # queue, # deque, # pqueue, # set and # rmw are known")
	}
	if err := src.lines(l.line); err != nil {
		return nil, err
	}
	h, err := l.x.finish(o, rep)
	if err != nil {
		return nil, err
	}
	if h.Header.Model = l.model; l.methods["rmw"] != "" {
		h.Header.Initial = history.Int(0)
	}
	return h, nil
}

// scan finds the object, and which names of nothing are added as values.
func (l *objectLog) scan(text string, line int32, _ int) error {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "#") {
		name := logHeader(text)
		if name == "" {
			return nil // a comment
		}
		if l.model != "" && l.model != logObjects[name].model {
			return l.src.errorOn(line, "a second object %q", name)
		}
		l.model, l.methods = logObjects[name].model, logObjects[name].methods
		return nil
	}
	if row, ok := l.cutLogRow(text); ok && len(row.values) > 0 && violinEmpty[row.values[0]] && setters[l.methods[row.method]] {
		l.added[row.values[0]] = true
	}
	return nil
}

// logRow is a line by its parts.
type logRow struct {
	process, method, start, end string
	values                      []string
}

// cutLogRow finds the parts of a line by its method, the first word that is no
// number. They stay valid until the next call.
func (l *objectLog) cutLogRow(text string) (logRow, bool) {
	l.words = l.words[:0]
	for word := range strings.FieldsSeq(text) {
		l.words = append(l.words, word)
	}
	words := l.words
	at := 0
	for at < len(words) {
		if _, number := signed(words[at]); !number {
			break
		}
		at++
	}
	row := logRow{}
	n := len(words)
	switch {
	case at == 3 && n > 3:
		row = logRow{process: words[0], start: words[1], end: words[2], values: words[4:]}
	case at <= 1 && n >= at+3:
		row = logRow{start: words[n-2], end: words[n-1], values: words[at+1 : n-2]}
		if at == 1 {
			row.process = words[0]
		}
	default:
		return row, false
	}
	row.method = strings.ToLower(words[at])
	return row, true
}

func (l *objectLog) line(text string, line int32, _ int) error {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '#' {
		return nil
	}
	if !utf8.ValidString(text) {
		return l.src.errorOn(line, "the line is not valid UTF-8")
	}
	row, ok := l.cutLogRow(text)
	if !ok {
		return l.src.errorOn(line, "expected [process] start end method values, or [process] method values start end, got %q", orNone(text))
	}
	process := history.Absent
	if row.process != "" {
		process, _ = signed(row.process)
	}
	op := rawOp{F: l.methods[row.method]}
	if op.F == "" {
		return l.src.errorOn(line, "unknown method %q of a %s", row.method, l.model)
	}
	start, _ := signed(row.start)
	end, _ := signed(row.end)
	var okStart, okEnd bool
	op.Invoke, okStart = start.Int64()
	op.Return, okEnd = end.Int64()
	if !okStart || !okEnd {
		return l.src.errorOn(line, "start %q and end %q must be integers of 64 bits", row.start, row.end)
	}
	if !l.values(&op, &row) {
		return l.src.errorOn(line, "%s has the wrong values: %q", row.method, strings.Join(row.values, " "))
	}
	l.x.add(process, op, line)
	return nil
}

// values sets input and output from the values of a row.
func (l *objectLog) values(op *rawOp, row *logRow) bool {
	n := len(row.values)
	switch {
	case l.model == "set":
		op.Out = history.Bool(row.method != "contains_false")
		if n == 2 {
			op.Out = history.Bool(row.values[1] == "1" || strings.EqualFold(row.values[1], "true"))
		}
		if n != 1 && (n != 2 || strings.Contains(row.method, "_")) {
			return false
		}
		op.In = violinValue(row.values[0])
	case op.F == "cas":
		if n != 2 {
			return false
		}
		op.In, op.Out = history.Array(violinValue(row.values[0]), violinValue(row.values[1])), history.True
	case setters[op.F]:
		if n != 1 {
			return false
		}
		op.In = violinValue(row.values[0])
	case n != 1:
		return false
	case violinEmpty[row.values[0]] && !l.added[row.values[0]]:
		op.Out = history.Null
	default:
		op.Out = violinValue(row.values[0])
	}
	return true
}
