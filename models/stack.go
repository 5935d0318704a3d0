package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// StackIn is an input of stack; Push, Pop and StackPeek make one.
type StackIn struct {
	F    string
	Elem history.Value
}

// Push puts v on top. Null cannot be an element: it is the answer of an empty
// stack.
func Push(v history.Value) StackIn { return StackIn{"push", v} }

// Pop takes the top element; null when there is none.
func Pop() StackIn { return StackIn{F: "pop"} }

// StackPeek asks for the top element; null when there is none.
func StackPeek() StackIn { return StackIn{F: "peek"} }

// Stack is last in, first out, and starts with the given elements, the top one
// last.
func Stack(initial ...history.Value) spec.Model[List[history.Value], StackIn, history.Value] {
	first := ListOf(initial...)
	return spec.Model[List[history.Value], StackIn, history.Value]{
		Name:  "stack",
		Init:  func() List[history.Value] { return first },
		Apply: stackApply,
		ReadOnly: func(in StackIn, out *history.Value) bool {
			return in.F == "peek" || in.F == "pop" && out != nil && *out == history.Null
		},
		Text: func(in StackIn, out *history.Value) string {
			if in.F == "push" {
				return "push " + in.Elem.Label()
			}
			return answered(in.F, out, "empty")
		},
		Describe: func(s List[history.Value]) string {
			return listed("[", s.Len(), Run{s, s.Len()}.words(), " ", "]")
		},
		Container: containerOf(spec.LIFO, len(initial), stackAccess),
	}
}

func stackAccess(in StackIn, out *history.Value) spec.Access {
	return elementAccess(in.F, "push", "peek", in.Elem, out)
}

func stackApply(s List[history.Value], in StackIn) (next List[history.Value], out history.Value, ok bool) {
	if in.F == "push" {
		if in.Elem == history.Null {
			panic("null cannot be pushed: it is the answer of an empty stack")
		}
		return s.push(in.Elem), history.Absent, true
	}
	c, top := s.cell(), history.Null
	if c.n > 0 {
		top = c.last
	}
	switch in.F {
	case "peek":
		return s, top, true
	case "pop":
		return c.rest, top, true
	}
	panic(noSuch("stack", in.F))
}

func stackEntry() Entry {
	ops := []operation[StackIn, history.Value]{{
		OpDoc: OpDoc{F: "push", Aliases: []string{"add"}, In: "an element"},
		in:    elementInput(Push), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "pop", Aliases: []string{"remove"}, Out: elementDoc},
		in:    noInput(Pop()), out: elementOutput,
	}, {
		OpDoc: OpDoc{F: "peek", Aliases: []string{"top"}, Out: elementDoc},
		in:    noInput(StackPeek()), out: elementOutput,
	}}
	return entry(Entry{
		Name:    "stack",
		Doc:     "Last in, first out.",
		Initial: "an array of elements, the top one last; []",
	}, ops, func(initial history.Value) (m spec.Model[List[history.Value], StackIn, history.Value], err error) {
		elems, err := containerElements(initial)
		return Stack(elems...), err
	})
}
