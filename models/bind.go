package models

import (
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// operation is one row of a model's table: how a recorded call is decoded.
// Decoders return, beside the result, what they would have accepted: "" when
// all is well.
type operation[In, Out any] struct {
	OpDoc
	in func(v history.Value) (in In, want string)
	// out decodes what an OK call returned. known is false where nothing that
	// could be compared was recorded.
	out func(r recorded) (out Out, known bool, want string)
	// as tells the input who made the call; nil: the model does not ask.
	as func(in In, process history.Value) In
	// nilRead: a null output falls under the nil-read rule.
	nilRead bool
	// happened stands in for an answer that was not recorded, where it already
	// says something that the operation took effect; nil: it says nothing.
	happened *Out
}

// recorded is the call as the history holds it.
type recorded struct {
	in, out history.Value
	// foreign: the history comes from a format whose completions may repeat the
	// input where the operation returns nothing (Jepsen's).
	foreign bool
}

// repeats reports whether the output only repeats the input.
func (r recorded) repeats() bool { return r.foreign && r.out == r.in }

// entry completes e from the table of its operations and the constructor of
// its model.
func entry[S, In, Out any](e Entry, ops []operation[In, Out], model func(initial history.Value) (spec.Model[S, In, Out], error)) Entry {
	for i := range ops {
		e.Ops = append(e.Ops, ops[i].OpDoc)
	}
	e.Bind = func(h *history.Raw, o Options) (*spec.Subject, error) {
		initial := o.Initial
		if initial == history.Absent {
			initial = h.Header.Initial
		}
		m, err := model(initial)
		if err != nil {
			return nil, &history.Error{Path: h.Path, Msg: fmt.Sprintf("initial value for model %s: %v", e.Name, err)}
		}
		unknown, err := o.nilIsUnknown(h)
		if err != nil {
			return nil, err
		}
		b := &binder[In, Out]{h: h, model: e.Name, ops: ops, nilUnknown: unknown}
		v := history.NewView(h)
		d, err := b.columns(v)
		if err != nil {
			return nil, err
		}
		s, err := spec.EraseDecoded(h, v, d, m)
		if err != nil {
			return nil, err
		}
		record(v, h)
		return s, nil
	}
	return e
}

// nilIsUnknown resolves the nil-read rule in force.
func (o Options) nilIsUnknown(h *history.Raw) (bool, error) {
	rule := o.NilRead
	if rule == "" {
		rule = h.Header.NilRead
	}
	switch rule {
	case "unknown":
		return true, nil
	case "", "absent":
		return false, nil
	}
	return false, &history.Error{Path: h.Path, Msg: fmt.Sprintf("nil-read %q; expected unknown or absent", rule)}
}

// record keeps the recorded values for rules, by position in the View. Only
// what came back counts as an output.
func record(v *history.View, h *history.Raw) {
	v.In, v.Out = make([]history.Value, v.N), make([]history.Value, v.N)
	for j, i := range v.Ops {
		v.In[j] = h.Ops[i].In
		if h.Ops[i].Outcome == history.OK && !h.Ops[i].NoOut {
			v.Out[j] = h.Ops[i].Out
		}
	}
}

// binder decodes one history.
type binder[In, Out any] struct {
	h          *history.Raw
	model      string
	ops        []operation[In, Out]
	nilUnknown bool
}

// decode decodes all operations.
func (b *binder[In, Out]) decode() (*history.Of[In, Out], error) {
	h := b.h
	typed := &history.Of[In, Out]{
		Header: h.Header, Notes: h.Notes, IDs: h.IDs, Origins: h.Origins, Indexes: h.Indexes, Path: h.Path,
		Processes: h.Processes, Order: h.Order, Untimed: h.Untimed, Format: h.Format,
		Ops: make([]history.Op[In, Out], len(h.Ops)),
	}
	err := b.each(func(i int, in In, out Out, known bool) {
		raw := &h.Ops[i]
		typed.Ops[i] = history.Op[In, Out]{
			Process: raw.Process, F: raw.F, Key: raw.Key, In: in, Invoke: raw.Invoke, Return: raw.Return,
			Outcome: raw.Outcome, NoOut: raw.NoOut, Node: raw.Node, Error: raw.Error, Hints: raw.Hints,
		}
		if raw.Outcome == history.OK {
			typed.Ops[i].Out, typed.Ops[i].NoOut = out, !known
		}
	})
	return typed, err
}

// columns decodes the operations of v, the View of the history, by position.
// The failed ones, which are not there, must make sense all the same.
func (b *binder[In, Out]) columns(v *history.View) (d spec.Decoded[In, Out], err error) {
	d = spec.Decoded[In, Out]{In: make([]In, v.N), Out: make([]Out, v.N), Known: make([]bool, v.N)}
	j := 0
	err = b.each(func(i int, in In, out Out, known bool) {
		if b.h.Ops[i].Outcome == history.Fail {
			return
		}
		if d.In[j] = in; known {
			d.Out[j], d.Known[j] = out, true
		}
		j++
	})
	return d, err
}

// each decodes one operation after the other and hands it to take.
func (b *binder[In, Out]) each(take func(i int, in In, out Out, known bool)) error {
	byName := map[string]*operation[In, Out]{}
	for i := range b.ops {
		for _, name := range append([]string{b.ops[i].F}, b.ops[i].Aliases...) {
			byName[name] = &b.ops[i]
		}
	}
	last, o := "", (*operation[In, Out])(nil)
	for i := range b.h.Ops {
		if f := b.h.Ops[i].F; o == nil || f != last {
			if o = byName[fold(f)]; o == nil {
				return b.unknownName(i)
			}
			last = f
		}
		in, out, known, err := b.decodeOp(o, i)
		if err != nil {
			return err
		}
		if !known && o.happened != nil && b.h.Ops[i].Outcome == history.OK {
			out, known = *o.happened, true
		}
		take(i, in, out, known)
	}
	return nil
}

// fold maps the spellings of one name together: PUSH is push, and add_and_get
// is add-and-get.
func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

func (b *binder[In, Out]) unknownName(i int) error {
	var names []string
	for _, o := range b.ops {
		names = append(names, o.F)
	}
	f := b.h.Ops[i].F
	return b.h.Errorf(i, "model %s has no operation %q; %s", b.model, f, expected(f, names))
}

// decodeOp decodes operation i; known says that it was answered, and what it
// returned was recorded. A failed operation did not happen: what came back
// with it is ignored, and only its name and input must make sense.
func (b *binder[In, Out]) decodeOp(o *operation[In, Out], i int) (in In, out Out, known bool, err error) {
	raw := &b.h.Ops[i]
	in, want := o.in(raw.In)
	if want != "" {
		return in, out, false, b.h.Errorf(i, "%s of model %s: want %s as input, got %s", raw.F, b.model, want, got(raw.In))
	}
	if o.as != nil {
		in = o.as(in, b.process(raw.Process))
	}
	if raw.Outcome != history.OK || raw.NoOut {
		return in, out, false, nil
	}
	null := raw.Out == history.Null || raw.Out == history.Absent
	if o.nilRead && null && b.nilUnknown {
		return in, out, false, nil
	}
	foreign := b.h.Format != "" && b.h.Format != "native"
	out, known, want = o.out(recorded{raw.In, raw.Out, foreign})
	if want != "" {
		hint := ""
		if o.nilRead && null {
			hint = "; with nil-read unknown, a read of null fits anything"
		}
		return in, out, false, b.h.Errorf(i, "%s of model %s: want %s as output, got %s%s", raw.F, b.model, want, got(raw.Out), hint)
	}
	return in, out, known, nil
}

// process is the name of a process as a value.
func (b *binder[In, Out]) process(p int) history.Value {
	if b.h.Processes != nil {
		return b.h.Processes[p]
	}
	return history.Int(int64(p))
}

// got writes a value for an error message.
func got(v history.Value) string {
	if v == history.Absent {
		return "nothing"
	}
	if t := []rune(v.Text()); len(t) > 60 {
		return string(t[:57]) + "..."
	}
	return v.Text()
}
