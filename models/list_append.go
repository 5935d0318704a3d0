package models

import (
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// ListStep is one step of a list-append transaction: AppendTo or ReadList makes
// one, SawList one that stands in an output.
type ListStep struct {
	Append bool
	Key    history.Value
	Elem   history.Value       // of an append
	List   List[history.Value] // of a read: what it saw, in an output
}

// AppendTo appends v to the list under a key.
func AppendTo(key, v history.Value) ListStep { return ListStep{Append: true, Key: key, Elem: v} }

// ReadList reads the list under a key.
func ReadList(key history.Value) ListStep { return ListStep{Key: key} }

// SawList is ReadList as it stands in an output: it saw vs.
func SawList(key history.Value, vs ...history.Value) ListStep {
	return ListStep{Key: key, List: ListOf(vs...)}
}

// ListAppend is a set of lists, appended to and read by transactions: all steps
// of one, in order, are a single atomic step, so that linearizable means
// strictly serializable. A read sees what the same transaction appended before
// it. initial is an object or map of arrays by key; other lists are empty. The
// input is List(AppendTo, ReadList), the output the same with SawList.
func ListAppend(initial history.Value) spec.Model[Tree[List[history.Value]], List[ListStep], List[ListStep]] {
	l := lists{}
	l.initial, _ = initial.Members()
	return spec.Model[Tree[List[history.Value]], List[ListStep], List[ListStep]]{
		Name:  "list-append",
		Init:  func() Tree[List[history.Value]] { return Tree[List[history.Value]]{} },
		Apply: l.apply,
		ReadOnly: func(in List[ListStep], _ *List[ListStep]) bool {
			for _, step := range in.Slice() {
				if step.Append {
					return false
				}
			}
			return true
		},
		Text:     listAppendText,
		Describe: l.describe,
	}
}

// lists holds the initial lists; a state holds those that were appended to.
type lists struct{ initial []history.Member }

func (l lists) get(s Tree[List[history.Value]], key history.Value) List[history.Value] {
	if s.has(key) {
		return s.Get(key)
	}
	elems, _ := initialUnder(l.initial, key).Elems()
	return ListOf(elems...)
}

func (l lists) apply(s Tree[List[history.Value]], in List[ListStep]) (next Tree[List[history.Value]], out List[ListStep], ok bool) {
	for _, step := range in.Slice() {
		if step.Append {
			s = s.put(step.Key, l.get(s, step.Key).push(step.Elem))
		} else {
			step.List = l.get(s, step.Key)
		}
		out = out.push(step)
	}
	return s, out, true
}

func (l lists) describe(s Tree[List[history.Value]]) string {
	for _, m := range l.initial {
		if !s.names(m.Key) {
			elems, _ := m.Value.Elems()
			s = s.put(m.Key, ListOf(elems...))
		}
	}
	return listed("{", s.Len(), s.pairs, ", ", "}")
}

func listAppendText(in List[ListStep], out *List[ListStep]) string {
	steps, reads := in.Slice(), false
	if out != nil {
		steps = out.Slice()
	}
	words := make([]string, len(steps))
	for i, step := range steps {
		switch {
		case step.Append:
			words[i] = "append " + step.Elem.Label() + " to " + step.Key.Label()
		case out != nil:
			words[i] = "read " + step.Key.Label() + " = " + label(step.List)
		default:
			words[i], reads = "read "+step.Key.Label(), true
		}
	}
	text := "txn " + strings.Join(words, ", ")
	if reads {
		text += " (no answer)"
	}
	return text
}

const listWant = `a list of ["append", key, value] and ["r", key, null]`

// listSteps decodes steps; filled: reads hold what they saw, null for nothing.
func listSteps(v history.Value, filled bool) (steps List[ListStep], want string) {
	elems, _ := v.Elems()
	if v.Kind() != history.KindArray {
		return steps, listWant
	}
	for i, e := range elems {
		part, _ := e.Elems()
		f := ""
		if e.Kind() == history.KindArray && len(part) == 3 {
			f, _ = part[0].Str()
		}
		switch {
		case f == "append":
			steps = steps.push(AppendTo(part[1], part[2]))
		case (f == "r" || f == "read") && !filled:
			steps = steps.push(ReadList(part[1]))
		case (f == "r" || f == "read") && (part[2] == history.Null || part[2].Kind() == history.KindArray):
			saw, _ := part[2].Elems()
			steps = steps.push(SawList(part[1], saw...))
		default:
			return steps, fmt.Sprintf("%s (step %d is %s)", listWant, i, got(e))
		}
	}
	return steps, ""
}

// listInput decodes the steps. The value of a read is usually null; a history
// without invocations repeats the answer there.
func listInput(v history.Value) (List[ListStep], string) { return listSteps(v, false) }

// listOutput decodes the same steps with the reads filled in. A transaction
// that reads nothing may leave its output out.
func listOutput(r recorded) (out List[ListStep], known bool, want string) {
	in, _ := listSteps(r.in, false)
	reads := false
	for _, step := range in.Slice() {
		reads = reads || !step.Append
	}
	if _, _, want = noOutput[struct{}](r); want == "" && !reads {
		return out, false, ""
	}
	out, want = listSteps(r.out, true)
	if back, _ := listSteps(r.out, false); want != "" || back != in {
		return List[ListStep]{}, false, "the steps of the input with the reads filled in"
	}
	return out, true, ""
}

func listAppendEntry() Entry {
	type state = Tree[List[history.Value]]
	return entry(Entry{
		Name:       "list-append",
		Doc:        "Transactions that append to lists and read them, each one atomic step: linearizable then means strictly serializable.",
		Initial:    "an object of arrays by key; {}",
		NeverSplit: true,
	}, []operation[List[ListStep], List[ListStep]]{{
		OpDoc: OpDoc{F: "txn", In: listWant + ` (also "read", or keywords)`, Out: "the same with the reads filled in, null for an empty list"},
		in:    listInput, out: listOutput,
	}}, func(initial history.Value) (m spec.Model[state, List[ListStep], List[ListStep]], err error) {
		ms, ok := initial.Members()
		if !ok && initial != history.Absent && initial != history.Null {
			return m, fmt.Errorf("want an object of arrays by key, got %s", got(initial))
		}
		for _, list := range ms {
			if list.Value.Kind() != history.KindArray {
				return m, fmt.Errorf("want an array under %s, got %s", list.Key.Label(), got(list.Value))
			}
		}
		return ListAppend(initial), nil
	})
}
