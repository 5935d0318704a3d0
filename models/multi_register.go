package models

import (
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// Micro is one step of a transaction: R or W makes one.
type Micro struct {
	Write      bool
	Key, Value history.Value // Value of a read: what it saw, in an output
}

// R reads a key.
func R(key history.Value) Micro { return Micro{Key: key} }

// Saw is R as it stands in an output: it saw v.
func Saw(key, v history.Value) Micro { return Micro{Key: key, Value: v} }

// W writes v to a key.
func W(key, v history.Value) Micro { return Micro{Write: true, Key: key, Value: v} }

// Txn is the input of multi-register (R and W) and its output (Saw and W).
func Txn(steps ...Micro) List[Micro] { return ListOf(steps...) }

// MultiRegister is a set of registers, read and written by transactions: all
// steps of one, in order, are a single atomic step. A read sees what the same
// transaction wrote before it. initial is an object or map of values by key;
// other keys hold null. The state holds the keys that differ from that.
func MultiRegister(initial history.Value) spec.Model[Map, List[Micro], List[Micro]] {
	t := txns{}
	t.initial, _ = initial.Members()
	return spec.Model[Map, List[Micro], List[Micro]]{
		Name:     "multi-register",
		Init:     func() Map { return Map{} },
		Apply:    t.apply,
		ReadOnly: txnReadOnly,
		Text:     txnText,
		Describe: t.describe,
	}
}

type txns struct{ initial []history.Member }

func (t txns) get(s Map, key history.Value) history.Value {
	if v := s.Get(key); v != history.Absent {
		return v
	}
	return initialUnder(t.initial, key)
}

// put keeps states canonical: a key that holds its initial value is not there.
func (t txns) put(s Map, key, v history.Value) Map {
	if v == initialUnder(t.initial, key) {
		return s.remove(key)
	}
	return s.put(key, v)
}

func (t txns) apply(s Map, in List[Micro]) (next Map, out List[Micro], ok bool) {
	for _, m := range in.Slice() {
		if m.Write {
			s = t.put(s, m.Key, m.Value)
		} else {
			m.Value = t.get(s, m.Key)
		}
		out = out.push(m)
	}
	return s, out, true
}

// txnReadOnly holds where nothing is written but what the transaction itself
// had read there before.
func txnReadOnly(in List[Micro], out *List[Micro]) bool {
	steps := in
	if out != nil {
		steps = *out
	}
	was, now := map[history.Value]history.Value{}, map[history.Value]history.Value{}
	for _, m := range steps.Slice() {
		if _, written := now[m.Key]; m.Write {
			now[m.Key] = m.Value
		} else if !written && out != nil {
			was[m.Key] = m.Value
		}
	}
	for k, v := range now {
		if w, known := was[k]; !known || w != v {
			return false
		}
	}
	return true
}

func txnText(in List[Micro], out *List[Micro]) string {
	steps, reads := in.Slice(), false
	if out != nil {
		steps = out.Slice()
	}
	words := make([]string, len(steps))
	for i, m := range steps {
		switch {
		case m.Write:
			words[i] = "write " + m.Key.Label() + " " + m.Value.Label()
		case out != nil:
			words[i] = "read " + m.Key.Label() + " = " + m.Value.Label()
		default:
			words[i], reads = "read "+m.Key.Label(), true
		}
	}
	text := "txn " + strings.Join(words, ", ")
	if reads {
		text += " (no answer)"
	}
	return text
}

func (t txns) describe(s Map) string {
	for _, m := range t.initial {
		if !s.names(m.Key) {
			s = s.put(m.Key, m.Value)
		}
	}
	return listed("{", s.Len(), s.pairs, ", ", "}")
}

// names reports whether some key of m is what name means.
func (m Tree[V]) names(name history.Value) bool {
	for k := range m.All() {
		if means(name, k) {
			return true
		}
	}
	return false
}

const txnWant = `a list of ["r", key, null] and ["w", key, value]`

// txnInput decodes the steps. The value of a read is kept: it is usually null,
// and a history without invocations repeats the answer there.
func txnInput(v history.Value) (in List[Micro], want string) {
	elems, _ := v.Elems()
	if v.Kind() != history.KindArray {
		return in, txnWant
	}
	for i, e := range elems {
		part, _ := e.Elems()
		if e.Kind() != history.KindArray || len(part) != 3 {
			return in, fmt.Sprintf("%s (step %d is %s)", txnWant, i, got(e))
		}
		switch f, _ := part[0].Str(); f {
		case "r", "read":
			in = in.push(R(part[1]))
		case "w", "write":
			in = in.push(W(part[1], part[2]))
		default:
			return in, fmt.Sprintf("%s (step %d is %s)", txnWant, i, got(e))
		}
	}
	return in, ""
}

// txnOutput decodes the same steps with the reads filled in. A transaction
// that reads nothing may leave its output out.
func txnOutput(r recorded) (out List[Micro], known bool, want string) {
	in, _ := txnInput(r.in)
	reads := false
	for _, m := range in.Slice() {
		reads = reads || !m.Write
	}
	if _, _, want = noOutput[struct{}](r); want == "" && !reads {
		return out, false, ""
	}
	const same = "the steps of the input with the reads filled in"
	back, want := txnInput(r.out)
	if want != "" || back.Len() != in.Len() {
		return out, false, same
	}
	asked, _ := r.in.Elems()
	filled, _ := r.out.Elems()
	steps := back.Slice()
	for i, m := range in.Slice() {
		if m != steps[i] {
			return out, false, same
		}
		if !m.Write {
			was, _ := asked[i].Elems()
			now, _ := filled[i].Elems()
			if was[2] != history.Null && was[2] != now[2] {
				return out, false, same
			}
			m.Value = now[2]
		}
		out = out.push(m)
	}
	return out, true, ""
}

func multiRegisterEntry() Entry {
	return txnEntry("multi-register", "Registers that are read and written by atomic transactions.")
}

// rwRegisterEntry is the same under the name that transactional tests give it.
func rwRegisterEntry() Entry {
	return txnEntry("rw-register", "Transactions that read and write registers, each one atomic step: linearizable then means strictly serializable.")
}

func txnEntry(name, doc string) Entry {
	return entry(Entry{
		Name:       name,
		Doc:        doc,
		Initial:    "an object of values by key; {}",
		NeverSplit: true,
	}, []operation[List[Micro], List[Micro]]{{
		OpDoc: OpDoc{F: "txn", In: txnWant + ` (also "read" and "write", or keywords)`, Out: "the same with the reads filled in"},
		in:    txnInput, out: txnOutput,
	}}, func(initial history.Value) (m spec.Model[Map, List[Micro], List[Micro]], err error) {
		if _, ok := initial.Members(); !ok && initial != history.Absent && initial != history.Null {
			return m, fmt.Errorf("want an object of values by key, got %s", got(initial))
		}
		m = MultiRegister(initial)
		m.Name = name
		return m, nil
	})
}
