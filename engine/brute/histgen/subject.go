package histgen

import (
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// Call is an operation's name and input, the input type of Subject's model.
type Call struct {
	F  string
	In history.Value
}

// Subject erases the case under this package's own reading of its model, for
// tests that need no other. It fails where an operation's answer has no
// meaning, never for a history that Next returned.
func (c *Case) Subject() (*spec.Subject, error) {
	h := &history.Of[Call, history.Value]{
		Header: c.Raw.Header, IDs: c.Raw.IDs, Origins: c.Raw.Origins, Indexes: c.Raw.Indexes, Path: c.Raw.Path,
		Processes: c.Raw.Processes, Order: c.Raw.Order,
	}
	for i := range c.Raw.Ops {
		op := &c.Raw.Ops[i]
		h.Ops = append(h.Ops, history.Op[Call, history.Value]{
			Process: op.Process, F: op.F, Key: op.Key, In: Call{op.F, op.In}, Out: op.Out,
			Invoke: op.Invoke, Return: op.Return, Outcome: op.Outcome,
			NoOut: op.NoOut || op.Out == history.Absent && answers(op.F),
			Node:  op.Node, Error: op.Error, Hints: op.Hints,
		})
	}
	s, err := spec.Erase(h, Model(c.Model, c.Raw.Header.Initial))
	if err != nil {
		return nil, fmt.Errorf("history %d of seed %d: %w", c.Number, c.Seed, err)
	}
	return s, nil
}

// answers reports whether f returns something wherever it is recorded.
func answers(f string) bool {
	switch f {
	case "write", "put", "delete", "enqueue", "push", "acquire", "release":
		return false
	}
	return true
}

// Model is this package's reading of a model, typed.
func Model(name string, initial history.Value) spec.Model[*object, Call, history.Value] {
	m := spec.Model[*object, Call, history.Value]{
		Name: name,
		Init: func() *object { return newObject(name, initial) },
		Step: func(s *object, in Call, out *history.Value) (*object, bool) {
			next := s.clone()
			got, ok := next.apply(name, in.F, in.In)
			return next, ok && (out == nil || got == history.Absent || *out == history.Absent || same(name, got, *out))
		},
		States:   func() spec.States[*object] { return &states{numbers: map[string]int32{}} },
		ReadOnly: readOnly,
		Text: func(in Call, out *history.Value) string {
			s := in.F
			if in.In != history.Absent {
				s += " " + in.In.Text()
			}
			if out != nil && *out != history.Absent {
				s += " -> " + out.Text()
			}
			return s
		},
		Describe: (*object).text,
	}
	if name == "register" || name == "cas-register" || name == "kv" {
		m.Holds = func(s *object) any { return s.val }
		m.Demands = func(in Call, out *history.Value) (any, bool) { return demands(name, in, out) }
		m.Writes = writes
	}
	return m
}

// demands is what a key must hold for a read to answer *out, or for a cas to
// succeed. Nothing is known of a read without an answer, nor of a cas that
// failed.
func demands(model string, in Call, out *history.Value) (any, bool) {
	named := func(v history.Value) (any, bool) {
		if model == "kv" && v == history.Null {
			v = history.Absent
		}
		return v, true
	}
	switch {
	case reads(in.F) && out != nil:
		return named(*out)
	case in.F == "cas" && (out == nil || *out == history.True):
		pair, _ := in.In.Elems()
		return named(pair[0])
	}
	return nil, false
}

// writes is what a key holds after an update that had an effect.
func writes(in Call, _ *history.Value) (any, bool) {
	switch in.F {
	case "write", "put":
		return in.In, true
	case "delete":
		return history.Absent, true
	case "cas":
		pair, _ := in.In.Elems()
		return pair[1], true
	}
	return nil, false
}

// same compares answers; what a set holds has no order.
func same(model string, a, b history.Value) bool {
	x, listed := a.Elems()
	y, _ := b.Elems()
	if model == "set" && listed {
		return history.Set(x...) == history.Set(y...)
	}
	return a == b
}

// readOnly: what the input and the answer say about the effect.
func readOnly(in Call, out *history.Value) bool {
	if reads(in.F) {
		return true
	}
	if pair, ok := in.In.Elems(); ok && in.F == "cas" && pair[0] == pair[1] {
		return true
	}
	if out == nil {
		return false
	}
	switch in.F {
	case "cas":
		return *out == history.False
	case "remove", "try-acquire":
		return *out == history.False
	case "add": // a set's
		return *out == history.False
	case "dequeue", "pop":
		return *out == history.Null
	}
	return false
}

// states numbers objects by their text.
type states struct {
	numbers map[string]int32
	all     []*object
}

func (s *states) Number(o *object) int32 {
	text := o.text()
	n, ok := s.numbers[text]
	if !ok {
		n = int32(len(s.all))
		s.numbers[text] = n
		s.all = append(s.all, o)
	}
	return n
}

func (s *states) State(n int32) *object { return s.all[n] }
