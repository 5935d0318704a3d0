package importers

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"pinyon/engine/history"
)

// violinOps are the names of the operations, by model. add and remove are
// what the harness of java.util.concurrent calls them in both.
var violinOps = map[string]map[string]string{
	"queue": {"add": "enqueue", "enq": "enqueue", "enqueue": "enqueue", "remove": "dequeue", "deq": "dequeue", "dequeue": "dequeue"},
	"stack": {"add": "push", "push": "push", "remove": "pop", "pop": "pop"},
}

// violinEmpty are the names of "there was nothing", unless the log itself adds
// such a value.
var violinEmpty = map[string]bool{"empty": true, "EMPTY": true, "-1": true, "nil": true, "null": true, "none": true, "NotFound": true}

// violin reads a log of calls and returns:
//
//	# @object atomic-queue
//	[1] call add(7)
//	[1] return
//	[2] call remove
//	[2] return empty
type violin struct {
	src    *source
	model  string
	added  map[string]bool
	called map[history.Value]string // the operation in flight of each process
	events eventList
}

// readViolin reads violin's queue and stack logs. The number in brackets is
// the process; most logs use a new one for each operation.
func readViolin(src *source, o *Options, rep *Report) (*history.Raw, error) {
	v := &violin{src: src, added: map[string]bool{}, called: map[history.Value]string{}}
	if err := src.lines(v.scan); err != nil {
		return nil, err
	}
	if v.model == "" {
		return nil, src.errorOn(1, "no line \"# @object atomic-queue\" or \"# @object atomic-stack\" says what the object is")
	}
	if err := src.lines(v.line); err != nil {
		return nil, err
	}
	h, err := build(src, &v.events, o, rep)
	if err == nil {
		h.Header.Model = v.model
	}
	return h, err
}

// scan finds the object, and which names of nothing are added as values.
func (v *violin) scan(text string, line int32, _ int) error {
	text = strings.TrimSpace(text)
	if object, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(text, "#")), "@object"); ok && text[0] == '#' {
		object = strings.TrimSpace(object)
		model := map[string]string{"atomic-queue": "queue", "atomic-stack": "stack"}[object]
		if model == "" || v.model != "" && v.model != model {
			return v.src.errorOn(line, "unknown or second object %q; atomic-queue and atomic-stack are known", object)
		}
		v.model = model
		return nil
	}
	if _, arg, ok := strings.Cut(text, "("); ok {
		if arg = strings.TrimSpace(strings.TrimSuffix(arg, ")")); violinEmpty[arg] {
			v.added[arg] = true
		}
	}
	return nil
}

func (v *violin) line(text string, line int32, _ int) error {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '#' {
		return nil
	}
	if !utf8.ValidString(text) {
		return v.src.errorOn(line, "the line is not valid UTF-8")
	}
	id, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
	if text[0] != '[' || !ok || err != nil {
		return v.src.errorOn(line, "expected [number] call or [number] return")
	}
	ev := event{process: history.Int(n), line: line}
	verb, arg, _ := strings.Cut(strings.TrimSpace(rest), " ")
	arg = strings.TrimSpace(arg)
	switch verb {
	case "call":
		err = v.call(&ev, arg)
	case "return":
		err = v.ret(&ev, arg)
	default:
		err = v.src.errorOn(line, "expected call or return after [%s], got %q", id, verb)
	}
	v.events.add(ev)
	return err
}

func (v *violin) call(ev *event, text string) error {
	name, arg, hasArg := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	f := violinOps[v.model][name]
	if f == "" {
		return v.src.errorOn(ev.line, "%s: unknown operation %q of a %s", ev.who(), name, v.model)
	}
	arg, closed := strings.CutSuffix(arg, ")")
	arg = strings.TrimSpace(arg)
	if hasArg != closed || setters[f] != (arg != "") {
		return v.src.errorOn(ev.line, "%s: %q has the wrong arguments: an operation that adds takes one value, one that removes none", ev.who(), text)
	}
	ev.kind, ev.f, ev.value = evInvoke, f, violinValue(arg)
	if !setters[f] {
		ev.value = history.Absent
	}
	v.called[ev.process] = f
	return nil
}

func (v *violin) ret(ev *event, text string) error {
	ev.kind, ev.f = evOK, v.called[ev.process]
	delete(v.called, ev.process)
	switch {
	case setters[ev.f] && (text == "" || text == "true" || text == "ok"):
	case setters[ev.f]:
		return v.src.errorOn(ev.line, "%s: %s returns nothing, got %q", ev.who(), ev.f, text)
	case ev.f == "":
		// build says that nothing was called
	case text == "":
		return v.src.errorOn(ev.line, "%s: %s returned nothing; expected a value or empty", ev.who(), ev.f)
	case violinEmpty[text] && !v.added[text]:
		ev.value = history.Null
	default:
		ev.value = violinValue(text)
	}
	return nil
}

// violinValue is an integer where it reads as one, and a string otherwise.
func violinValue(text string) history.Value {
	if n, ok := signed(text); ok {
		return n
	}
	return history.String(text)
}

func signed(text string) (history.Value, bool) {
	if digits, neg := strings.CutPrefix(text, "-"); neg {
		return integer("-", digits)
	}
	return integer("", text)
}
