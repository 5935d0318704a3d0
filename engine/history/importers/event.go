package importers

import (
	"strings"

	"pinyon/engine/history"
)

// kind is the type of an event.
type kind uint8

const (
	evInvoke kind = iota
	evOK
	evFail
	evInfo
)

var kinds = map[string]kind{"invoke": evInvoke, "ok": evOK, "fail": evFail, "info": evInfo}

func (k kind) String() string { return [...]string{":invoke", ":ok", ":fail", ":info"}[k] }

func (k kind) outcome() history.Outcome {
	return [...]history.Outcome{history.Info, history.OK, history.Fail, history.Info}[k]
}

// event is one line of a log: something was invoked, completed or noted.
//
// Its fields stand by size: histories are long, and events are many.
type event struct {
	kind              kind
	hasTime, hasIndex bool
	line              int32
	process           history.Value // Absent: the file does not say
	f                 string        // "": the file does not say
	value             history.Value // Absent: none
	key               history.Value // Absent: not a field of this format, or inside value
	time, index       int64
	said              *saidFields
	pair              *pair // what tuple found
	own               *ownFields
}

// saidFields are what most events do not say; apart because events are many.
type saidFields struct {
	err   string         // the text of :error
	extra []history.Hint // fields that are not Jepsen's own
}

// say returns these fields, to be set.
func (ev *event) say() *saidFields {
	if ev.said == nil {
		ev.said = &saidFields{}
	}
	return ev.said
}

// also keeps a field that is not Jepsen's own.
func (ev *event) also(name string, v history.Value) {
	said := ev.say()
	said.extra = append(said.extra, history.Hint{Name: name, Value: v})
}

// error is the text of :error, "" where there is none.
func (ev *event) error() string {
	if ev.said == nil {
		return ""
	}
	return ev.said.err
}

// newEvent reads the fields of one operation map; at is where it starts.
// withKey makes :key the key of the operation instead of a hint.
func newEvent(src *source, es []entry, at int, withKey bool) (event, error) {
	ev := event{line: src.line(at)}
	typed := false
	for _, e := range es {
		var err error
		switch e.key {
		case "type":
			name, _ := e.value.Str()
			if ev.kind, typed = kinds[name]; !typed {
				err = src.errorAt(e.at, "unknown :type %s; invoke, ok, fail and info are known", e.src)
			}
		case "process":
			if e.value != history.Null && ev.process == history.Absent {
				ev.process = e.value // a name of our own outranks it
			}
		case "f":
			ev.f = fName(e.value)
		case "value":
			ev.value = e.value
		case "time":
			ev.time, ev.hasTime, err = ordinal(src, e)
		case "index":
			ev.index, ev.hasIndex, err = ordinal(src, e)
		case "error":
			if text := errorText(e); text != "" {
				ev.say().err = text
			}
		case "key":
			if withKey {
				ev.key = e.value
				break
			}
			fallthrough
		default:
			if strings.HasPrefix(e.key, ownPrefix) {
				err = ev.ownField(src, e)
				break
			}
			ev.also(e.key, e.val())
		}
		if err != nil {
			return ev, err
		}
	}
	if !typed {
		return ev, src.errorAt(at, "an operation without :type")
	}
	return ev, nil
}

// fName is the name of an operation: a keyword without its colon.
func fName(v history.Value) string {
	if v == history.Null {
		return ""
	}
	if name, ok := v.Str(); ok {
		return name
	}
	return v.Label()
}

// ordinal reads :time or :index; nil and -1 mean that there is none.
func ordinal(src *source, e entry) (int64, bool, error) {
	n, ok := e.int64()
	switch {
	case e.value == history.Null:
		return 0, false, nil
	case !ok:
		return 0, false, src.errorAt(e.at, ":%s must be an integer, got %s", e.key, e.src)
	case n > history.MaxTime || n < -history.MaxTime:
		return 0, false, src.errorAt(e.at, ":%s %d is out of range", e.key, n)
	}
	return n, n != -1 || src.exact, nil
}

// int64 returns the integer that the entry holds.
func (e *entry) int64() (int64, bool) {
	if e.isNum {
		return e.num, true
	}
	return e.value.Int64()
}

// val returns the value of the entry, however it was read.
func (e *entry) val() history.Value {
	if e.isNum {
		return history.Int(e.num)
	}
	return e.value
}

// errorText is what an :error says: a string without quotes, anything else as
// it was written.
func errorText(e entry) string {
	if e.value == history.Null {
		return ""
	}
	if s, ok := e.value.Str(); ok && e.value.Kind() == history.KindString {
		return s
	}
	return e.src
}

// who names the event's process, for messages.
func (ev *event) who() string {
	if ev.process == history.Absent {
		return "a process without a name"
	}
	return "process " + ev.process.Label()
}
