package importers

import (
	"pinyon/engine/history"
)

// s2Reader reads the records.jsonl of S2's verification: an event a line, in
// the order of the file,
//
//	{"event":{"Start":{"Append":{...}}},"client_id":2,"op_id":9}
//	{"event":{"Finish":"AppendIndefiniteFailure"},"client_id":2,"op_id":9}
//
// of one log without a key. What they become:
//
//	f           in                                              out
//	append      {num_records, record_hashes, match_seq_num,     {tail}
//	             set_fencing_token, fencing_token}
//	read        -                                               {tail, stream_hash}
//	check-tail  -                                               {tail}
//
// Members that are null are left out; what else an event carries is kept. Hashes
// are exact over all of uint64. Hints: tail, match_seq_num, fencing_token and
// set_fencing_token. A definite failure is Fail, as is a read that failed; an
// indefinite one is Info.
type s2Reader struct {
	src    *source
	events eventList
	calls  map[history.Value]s2Call // by client
}

type s2Call struct {
	f  string
	id history.Value
}

// s2Finish says what a finish event answers, and with what outcome.
var s2Finish = map[string]struct {
	f string
	kind
}{
	"AppendSuccess": {"append", evOK}, "AppendDefiniteFailure": {"append", evFail}, "AppendIndefiniteFailure": {"append", evInfo},
	"ReadSuccess": {"read", evOK}, "ReadFailure": {"read", evFail},
	"CheckTailSuccess": {"check-tail", evOK}, "CheckTailFailure": {"check-tail", evFail},
}

var s2Start = map[string]string{"Append": "append", "Read": "read", "CheckTail": "check-tail"}

var s2Hints = map[string]bool{"tail": true, "match_seq_num": true, "fencing_token": true, "set_fencing_token": true}

func readS2(src *source, o *Options, rep *Report) (*history.Raw, error) {
	r := &s2Reader{src: src, calls: map[history.Value]s2Call{}}
	if err := src.objects(r.line); err != nil {
		return nil, err
	}
	return build(src, &r.events, o, rep)
}

func (r *s2Reader) line(es []entry, at int) error {
	ev := event{line: r.src.line(at)}
	var what entry
	id := history.Absent
	for _, e := range es {
		switch e.key {
		case "event":
			what = e
		case "client_id":
			ev.process = e.value
		case "op_id":
			id = e.value
		default:
			ev.also(e.key, e.val())
		}
	}
	if k := ev.process.Kind(); k != history.KindInt && k != history.KindString {
		return r.src.errorAt(at, `the event needs "client_id", a number or a name`)
	}
	start, finish := what.value.Get("Start"), what.value.Get("Finish")
	var err error
	switch {
	case start != history.Absent && finish == history.Absent:
		err = r.call(&ev, start, id, what.at)
	case finish != history.Absent && start == history.Absent:
		err = r.answer(&ev, finish, id, what.at)
	default:
		err = r.src.errorAt(at, `"event" must hold Start or Finish`)
	}
	r.events.add(ev)
	return err
}

// variant splits an enum of Rust's: a name alone, or an object of one member.
func variant(v history.Value) (name string, fields history.Value) {
	if name, ok := v.Str(); ok {
		return name, history.Absent
	}
	if members, _ := v.Members(); len(members) == 1 {
		name, _ := members[0].Key.Str()
		return name, members[0].Value
	}
	return v.Label(), history.Absent
}

func (r *s2Reader) call(ev *event, start, id history.Value, at int) error {
	name, fields := variant(start)
	ev.f = s2Start[name]
	if ev.f == "" {
		return r.src.errorAt(at, "unknown start %s; Append, Read and CheckTail are known", orNone(name))
	}
	if before, open := r.calls[ev.process]; open {
		return r.src.errorAt(at, "%s starts %s while its %s (op_id %s) has no end", ev.who(), ev.f, before.f, before.id.Text())
	}
	r.calls[ev.process] = s2Call{ev.f, id}
	own := ev.exact()
	own.in = ev.take(fields)
	own.noIn = own.in == history.Absent
	return nil
}

func (r *s2Reader) answer(ev *event, finish, id history.Value, at int) error {
	name, fields := variant(finish)
	how, known := s2Finish[name]
	call, open := r.calls[ev.process]
	switch {
	case !known:
		return r.src.errorAt(at, "unknown finish %s; AppendSuccess, AppendDefiniteFailure, AppendIndefiniteFailure, "+
			"ReadSuccess, ReadFailure, CheckTailSuccess and CheckTailFailure are known", orNone(name))
	case !open:
		return r.src.errorAt(at, "%s finishes %s without having started it", ev.who(), how.f)
	case call.f != how.f || call.id != id:
		return r.src.errorAt(at, "%s finishes %s (op_id %s), but what it started is %s (op_id %s)", ev.who(), how.f, id.Text(), call.f, call.id.Text())
	}
	delete(r.calls, ev.process)
	ev.kind, ev.f = how.kind, how.f
	if how.kind != evOK {
		ev.say().err = name
	}
	own := ev.exact()
	own.out = ev.take(fields)
	own.noOut = own.out == history.Absent
	return nil
}

// take returns the fields of an event without those that are null, and keeps
// those that say something of the order as hints.
func (ev *event) take(fields history.Value) history.Value {
	members, ok := fields.Members()
	if !ok {
		return fields
	}
	rest := members[:0]
	for _, m := range members {
		if m.Value == history.Null {
			continue
		}
		rest = append(rest, m)
		if name, _ := m.Key.Str(); s2Hints[name] {
			ev.also(name, m.Value)
		}
	}
	v, _ := history.Object(rest...)
	return v
}
