package importers

import (
	"pinyon/engine/history"
)

// extras keeps what an event says beyond Jepsen's own fields: the error, the
// node, and every other field as a hint. The completion's override the
// invocation's. A field that no hint can hold is dropped and counted.
func (b *builder) extras(op *rawOp, ev *event) {
	if text := ev.error(); text != "" {
		op.Error = text
	}
	if ev.said != nil {
		b.extraHints(op, ev.said.extra)
	}
	own := ev.seldom()
	for _, h := range own.hints {
		op.Hints = setHint(op.Hints, h.Name, h.Value)
	}
	if own.node != history.Absent {
		op.Node, _ = own.node.Str()
	}
}

func (b *builder) extraHints(op *rawOp, extra []history.Hint) {
	for _, e := range extra {
		if e.Value == history.Null {
			continue // nil is how Clojure says that a field is absent
		}
		v, ok := hint(e.Value)
		if !ok {
			b.rep.Dropped[e.Name]++
			continue
		}
		if e.Name == "node" || e.Name == "host" {
			op.Node = nodeName(v)
		}
		op.Hints = setHint(op.Hints, e.Name, v)
	}
}

func nodeName(v history.Value) string {
	if s, ok := v.Str(); ok {
		return s
	}
	return v.Text()
}

func setHint(hints []history.Hint, name string, v history.Value) []history.Hint {
	for i := range hints {
		if hints[i].Name == name {
			hints[i].Value = v
			return hints
		}
	}
	return append(hints, history.Hint{Name: name, Value: v})
}

// hint returns v in a form that a hint can hold: an int64, a string (keywords
// and symbols become strings), or an array or object of int64.
func hint(v history.Value) (history.Value, bool) {
	switch v.Kind() {
	case history.KindInt, history.KindString:
		return v, true
	case history.KindKeyword, history.KindSymbol:
		name, ok := v.Str()
		return history.String(name), ok
	case history.KindArray:
		elems, _ := v.Elems()
		for _, e := range elems {
			if e.Kind() != history.KindInt {
				return history.Absent, false
			}
		}
		return v, true
	case history.KindObject, history.KindMap:
		return objectHint(v)
	}
	return history.Absent, false
}

// objectHint renames the members of an EDN map by strings, as JSON would.
func objectHint(v history.Value) (history.Value, bool) {
	members, _ := v.Members()
	for i, m := range members {
		if m.Value.Kind() != history.KindInt {
			return history.Absent, false
		}
		members[i].Key = history.String(fName(m.Key))
	}
	o, err := history.Object(members...)
	return o, err == nil && o.Kind() == history.KindObject
}
