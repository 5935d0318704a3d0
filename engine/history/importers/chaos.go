package importers

import (
	"strings"
	"time"

	"pinyon/engine/history"
)

// chaosReader reads the JSON Lines of chaos (tipocket): {"action", "proc",
// "time", "data"}, where data means what the case says it does.
//
//   - data {op, value} with op 0 or "read", 1 or "write", 2 or "cas" is an
//     operation of a register; cas takes from and to (or arg1 and arg2), and
//     its answer is ok.
//   - Any other data is kept as it is: the input of a call, and its output.
//   - An answer {unknown: true}, or one with an error, says nothing: Info.
//   - A state that stands before all operations, as the action dump or as a
//     line of its own, is the initial value if it is a number or a string.
//     It is a note too, as are states later on and the actions of the nemesis.
type chaosReader struct {
	src      *source
	events   eventList
	start    time.Time
	initial  history.Value
	invoked  bool
	register bool // every call is of a register
	cas      bool
	calls    map[history.Value]string // the operation in flight of each process
}

func readChaos(src *source, o *Options, rep *Report) (*history.Raw, error) {
	r := &chaosReader{src: src, register: true, calls: map[history.Value]string{}}
	if err := src.objects(r.line); err != nil {
		return nil, err
	}
	h, err := build(src, &r.events, o, rep)
	if err != nil {
		return nil, err
	}
	h.Header.Initial = r.initial
	if r.register && r.invoked {
		h.Header.Model = "register"
		if r.cas {
			h.Header.Model = "cas-register"
		}
	}
	return h, nil
}

func (r *chaosReader) line(es []entry, at int) error {
	ev := event{kind: evInfo, line: r.src.line(at)}
	action, data := "", history.Absent
	for _, e := range es {
		var err error
		switch e.key {
		case "action":
			action, _ = e.value.Str()
		case "proc":
			ev.process = e.value
		case "time":
			err = r.time(&ev, e)
		case "data":
			data = e.val()
		}
		if err != nil {
			return err
		}
	}
	switch {
	case action == "" && r.events.n == 0:
		members := make([]history.Member, len(es))
		for i, e := range es {
			members[i] = history.Member{Key: history.String(e.key), Value: e.val()}
		}
		data, _ = history.Object(members...)
		r.state(&ev, "state", data)
	case action == "":
		return r.src.errorAt(at, `an event without "action"`)
	case action != "invoke" && action != "return":
		r.state(&ev, action, data)
	case ev.process.Kind() != history.KindInt && ev.process.Kind() != history.KindString:
		return r.src.errorAt(at, `the event needs "proc", a number or a name`)
	case action == "invoke":
		r.call(&ev, data)
	default:
		ev.kind, ev.f = evOK, r.calls[ev.process]
		r.answer(&ev, data)
	}
	r.events.add(ev)
	return nil
}

func (r *chaosReader) time(ev *event, e entry) error {
	s, _ := e.val().Str()
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return r.src.errorAt(e.at, "%q must be a time such as 2020-05-13T10:57:38.07Z, got %s", e.key, orNone(e.src))
	}
	if r.start.IsZero() {
		r.start = t
	}
	ns := int64(t.Sub(r.start)) // saturates, so it may leave the range
	if ns > history.MaxTime || ns < -history.MaxTime {
		return r.src.errorAt(e.at, "%q is decades away from the first time", e.key)
	}
	ev.time, ev.hasTime = ns, true
	return nil
}

// state makes a note of what is no operation.
func (r *chaosReader) state(ev *event, action string, data history.Value) {
	ev.process, ev.f, ev.value = history.Keyword(action), action, data
	switch data.Kind() {
	case history.KindInt, history.KindBigInt, history.KindString:
		if !r.invoked && action == "dump" {
			r.initial = data
		}
	}
}

var chaosOps = map[history.Value]string{
	history.Int(0): "read", history.Int(1): "write", history.Int(2): "cas",
	history.String("read"): "read", history.String("write"): "write", history.String("cas"): "cas",
}

// call reads a request.
func (r *chaosReader) call(ev *event, data history.Value) {
	r.invoked = true
	ev.kind, ev.value = evInvoke, data
	ev.f = chaosOps[anyCase(data, "op")]
	own := ev.exact()
	switch ev.f {
	case "read":
		own.noIn = true
	case "write":
		own.in = orNull(anyCase(data, "value"))
	case "cas":
		r.cas = true
		own.in = history.Array(orNull(anyCase(data, "from", "arg1")), orNull(anyCase(data, "to", "arg2", "value")))
	default:
		r.register = false
		ev.f = "call"
		if own.in = data; data == history.Absent {
			own.noIn = true
		}
	}
	r.calls[ev.process] = ev.f
}

// answer reads a response.
func (r *chaosReader) answer(ev *event, data history.Value) {
	ev.value = data
	for _, name := range [...]string{"err", "error"} {
		if e := anyCase(data, name); e != history.Absent && e != history.Null && e != history.String("") {
			ev.kind = evInfo
			ev.say().err = e.Label()
		}
	}
	if anyCase(data, "unknown") == history.True {
		ev.kind = evInfo
	}
	own := ev.exact()
	switch ev.f {
	case "read":
		if own.out = orNull(anyCase(data, "value")); anyCase(data, "exists") == history.False {
			own.out = history.Null
		}
	case "cas":
		own.out = anyCase(data, "ok")
		own.noOut = own.out == history.Absent
	case "write":
		own.noOut = true
	default:
		own.out, own.noOut = data, data == history.Absent
	}
}

// anyCase returns the first member with one of the names, in any case, or
// Absent.
func anyCase(v history.Value, names ...string) history.Value {
	members, _ := v.Members()
	for _, name := range names {
		for _, m := range members {
			if s, _ := m.Key.Str(); strings.EqualFold(s, name) {
				return m.Value
			}
		}
	}
	return history.Absent
}
