package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// SetIn is an input of set; SetAdd, SetRemove, SetContains and SetRead make
// one.
type SetIn struct {
	F    string
	Elem history.Value
}

// SetOut is an output of set; SetAnswer or SetElements makes one.
type SetOut struct {
	Answer history.Value // of add, remove and contains: true or false
	Elems  Map           // of read: the elements, as keys
}

// SetAdd adds v; the answer says whether it was new.
func SetAdd(v history.Value) SetIn { return SetIn{"add", v} }

// SetRemove removes v; the answer says whether it was there.
func SetRemove(v history.Value) SetIn { return SetIn{"remove", v} }

// SetContains asks whether v is there.
func SetContains(v history.Value) SetIn { return SetIn{"contains", v} }

// SetRead asks for all elements.
func SetRead() SetIn { return SetIn{F: "read"} }

// SetAnswer is the output of add, remove and contains.
func SetAnswer(yes bool) SetOut { return SetOut{Answer: history.Bool(yes)} }

// SetElements is the output of read. A set holds nothing twice, so no read can
// have returned a list with repetitions.
func SetElements(vs ...history.Value) SetOut {
	m := mapOf(vs)
	if m.Len() < len(vs) {
		return SetOut{Answer: history.Array(vs...)}
	}
	return SetOut{Elems: m}
}

func mapOf(vs []history.Value) (m Map) {
	for _, v := range vs {
		m = m.put(v, history.True)
	}
	return m
}

// Set is a set of values that starts with the given ones.
func Set(initial ...history.Value) spec.Model[Map, SetIn, SetOut] {
	first := mapOf(initial)
	return spec.Model[Map, SetIn, SetOut]{
		Name:  "set",
		Init:  func() Map { return first },
		Apply: setApply,
		ReadOnly: func(in SetIn, out *SetOut) bool {
			return in.F == "read" || in.F == "contains" || out != nil && out.Answer == history.False
		},
		Text: setText,
		Describe: func(s Map) string {
			return listed("{", s.Len(), s.words, " ", "}")
		},
		Members: &spec.Members[SetIn, SetOut]{Use: setUse, Initial: func(member any) bool {
			return first.Get(member.(history.Value)) != history.Absent
		}},
	}
}

// setUse is what an operation does to one element of a set. A read of the whole
// set is about all of them.
func setUse(in SetIn, out *SetOut) spec.MemberUse {
	use := spec.MemberUse{Member: in.Elem}
	yes := out != nil && out.Answer == history.True
	switch {
	case out == nil && in.F == "add":
		use.Kind = spec.MemberPut
	case out == nil && in.F == "remove":
		use.Kind = spec.MemberDrop
	case out == nil:
		use.Kind = spec.MemberNothing
	case out.Elems != (Map{}) || !yes && out.Answer != history.False:
		// A read, or the step refuses it.
	case in.F == "add" && yes:
		use.Kind = spec.MemberEnter
	case in.F == "remove" && yes:
		use.Kind = spec.MemberLeave
	case in.F == "remove", in.F == "contains" && !yes:
		use.Kind = spec.MemberOut
	case in.F == "add", in.F == "contains":
		use.Kind = spec.MemberIn
	}
	return use
}

func setApply(s Map, in SetIn) (next Map, out SetOut, ok bool) {
	has := s.Get(in.Elem) != history.Absent
	switch in.F {
	case "add":
		if has {
			return s, SetAnswer(false), true
		}
		return s.put(in.Elem, history.True), SetAnswer(true), true
	case "remove":
		return s.remove(in.Elem), SetAnswer(has), true
	case "contains":
		return s, SetAnswer(has), true
	case "read":
		return s, SetOut{Elems: s}, true
	}
	panic(noSuch("set", in.F))
}

// words yields the keys as people write them.
func (m Tree[V]) words(yield func(string) bool) {
	for k := range m.All() {
		if !yield(k.Label()) {
			return
		}
	}
}

func setText(in SetIn, out *SetOut) string {
	switch {
	case in.F != "read" && out == nil && in.F == "add":
		return "add " + in.Elem.Label() // most stores do not answer
	case in.F != "read" && out == nil:
		return answered(in.F+" "+in.Elem.Label(), nil, "")
	case in.F != "read":
		return answered(in.F+" "+in.Elem.Label(), &out.Answer, "null")
	case out == nil:
		return "read (no answer)"
	case out.Answer != history.Absent:
		return "read = " + out.Answer.Label()
	}
	return "read = " + listed("{", out.Elems.Len(), out.Elems.words, " ", "}")
}

// setBool decodes true and false; optional: what merely acknowledges says
// nothing about whether the element was new.
func setBool(optional bool) func(r recorded) (SetOut, bool, string) {
	return func(r recorded) (out SetOut, known bool, want string) {
		_, isBool := r.out.Bool()
		_, _, other := noOutput[struct{}](r)
		switch {
		case optional && (r.repeats() || !isBool && other == ""):
			return out, false, ""
		case !isBool:
			return out, false, "true or false"
		}
		return SetOut{Answer: r.out}, true, ""
	}
}

func setElementsOutput(r recorded) (out SetOut, known bool, want string) {
	if k := r.out.Kind(); k != history.KindArray && k != history.KindSet {
		return out, false, "an array or set of the elements"
	}
	elems, _ := r.out.Elems()
	return SetElements(elems...), true, ""
}

func setEntry() Entry {
	ops := []operation[SetIn, SetOut]{{
		OpDoc: OpDoc{F: "add", In: "an element", Out: "true when it was new, else false; optional"},
		in:    anyInput(SetAdd), out: setBool(true),
	}, {
		OpDoc: OpDoc{F: "remove", In: "an element", Out: "true when it was there, else false"},
		in:    anyInput(SetRemove), out: setBool(false),
	}, {
		OpDoc: OpDoc{F: "contains", In: "an element", Out: "true or false"},
		in:    anyInput(SetContains), out: setBool(false),
	}, {
		OpDoc: OpDoc{F: "read", Out: "all elements, in any order"},
		in:    noInput(SetRead()), out: setElementsOutput,
	}}
	return entry(Entry{
		Name:    "set",
		Doc:     "A set of values.",
		Initial: "an array of elements; []",
	}, ops, func(initial history.Value) (m spec.Model[Map, SetIn, SetOut], err error) {
		elems, err := elementsOf(initial)
		return Set(elems...), err
	})
}
