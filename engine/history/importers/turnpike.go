package importers

import (
	"strings"

	"pinyon/engine/history"
)

// turnpikeMapping reads turnpike's older tables, an operation a row. A get that
// found nothing says NotFound.
const turnpikeMapping = "process=client_id,f=op,key=key,in=value,out=output,invoke=call_ns,return=return_ns,nil=NotFound"

func readTurnpike(src *source, o *Options, rep *Report) (*history.Raw, error) {
	return readMapped(src, turnpikeMapping, o, rep)
}

// turnpikeEvents reads turnpike's tables of events, in the order of the rows:
//
//	UniqueID,ClientID,Kind,Action,Payload1,Payload2,Payload3
//	0,3,Invocation,32_write,,"{""type"":""VString"",""value"":""k1""}","{""type"":""VString"",""value"":""a""}"
//	0,3,Response,32_write,"{""type"":""VTuple"",""value"":[]}",,
//
// The payloads of a call, there may be any number of columns for them, are its
// key and its input; those of a response are its output. A lone payload column
// holds the input, or a list of key and input. The number before an action is
// no part of its name. A VString or VInt is its value, a VOption its value or
// null, and an empty VTuple nothing.
type turnpikeEvents struct {
	src      *source
	payloads []string // the names of their columns
	events   eventList
	keys     map[history.Value]history.Value
}

func readTurnpikeEvents(src *source, o *Options, rep *Report) (*history.Raw, error) {
	r := &turnpikeEvents{src: src, keys: map[history.Value]history.Value{}}
	if err := src.rows(r.checkNames, r.row); err != nil {
		return nil, err
	}
	return build(src, &r.events, o, rep)
}

func (r *turnpikeEvents) checkNames(names []string) error {
	known := map[string]bool{}
	for _, n := range names {
		if known[n] = true; strings.HasPrefix(n, "Payload") {
			r.payloads = append(r.payloads, n)
		}
	}
	for _, n := range [...]string{"ClientID", "Kind", "Action"} {
		if !known[n] {
			return r.src.noColumn(n, names)
		}
	}
	return nil
}

func (r *turnpikeEvents) row(row *tableRow) error {
	ev := event{line: row.line}
	client, err := row.cell("ClientID")
	if err != nil {
		return err
	}
	kindCell, err := row.cell("Kind")
	if err != nil {
		return err
	}
	action, err := row.cell("Action")
	if err != nil {
		return err
	}
	fail := func(c cell, msg string) error {
		return &history.Error{Path: r.src.path, Line: c.line, Col: c.col, Msg: msg}
	}
	if ev.process = client.v; client.v.Kind() != history.KindInt {
		ev.process = history.String(client.text)
	}
	ev.f = strings.ToLower(strings.TrimLeft(action.text, "0123456789"))
	ev.f = strings.TrimPrefix(ev.f, "_")
	if ev.f == "" {
		return fail(action, "the row names no action")
	}
	args, err := r.args(row)
	if err != nil {
		return err
	}
	switch kindCell.text {
	case "Invocation":
		r.call(&ev, args)
	case "Response":
		ev.kind, ev.key = evOK, r.keys[ev.process]
		own := ev.exact()
		own.out = oneOrList(args)
		own.noOut = own.out == history.Absent
	default:
		return fail(kindCell, "unknown Kind "+orNone(kindCell.text)+"; Invocation and Response are known")
	}
	r.events.add(ev)
	return nil
}

func (r *turnpikeEvents) args(row *tableRow) ([]history.Value, error) {
	var args []history.Value
	for _, name := range r.payloads {
		c, err := row.cell(name)
		if err != nil {
			return nil, err
		}
		if v := unwrapV(c.v, 0); v != history.Absent {
			args = append(args, v)
		}
	}
	return args, nil
}

func (r *turnpikeEvents) call(ev *event, args []history.Value) {
	if len(r.payloads) == 1 && len(args) == 1 && args[0].Kind() == history.KindArray {
		args, _ = args[0].Elems()
	} else if len(r.payloads) == 1 && len(args) == 1 {
		args = append([]history.Value{history.Absent}, args...)
	}
	if len(args) > 0 {
		ev.key, args = args[0], args[1:]
	}
	own := ev.exact()
	own.in = oneOrList(args)
	own.noIn = own.in == history.Absent
	r.keys[ev.process] = ev.key
}

func oneOrList(vs []history.Value) history.Value {
	switch len(vs) {
	case 0:
		return history.Absent
	case 1:
		return vs[0]
	}
	return history.Array(vs...)
}

// unwrapV takes the type off a value {type, value}.
func unwrapV(v history.Value, depth int) history.Value {
	members, _ := v.Members()
	kind, _ := v.Get("type").Str()
	if len(members) != 2 || !strings.HasPrefix(kind, "V") || depth > maxDepth {
		return v
	}
	inner := v.Get("value")
	switch elems, isList := inner.Elems(); {
	case kind == "VTuple" && isList && len(elems) == 0:
		return history.Absent
	case isList && inner.Kind() == history.KindArray:
		for i := range elems {
			elems[i] = unwrapV(elems[i], depth+1)
		}
		return history.Array(elems...)
	}
	return unwrapV(inner, depth+1)
}
