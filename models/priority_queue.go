package models

import (
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// PriorityIn is an input of priority-queue; PriorityInsert, PriorityPoll and
// PriorityPeek make one.
type PriorityIn struct {
	F    string
	Elem history.Value
}

// PriorityInsert adds v. Null cannot be an element: it is the answer of an
// empty queue.
func PriorityInsert(v history.Value) PriorityIn { return PriorityIn{"insert", v} }

// PriorityPoll takes the greatest element; null when there is none.
func PriorityPoll() PriorityIn { return PriorityIn{F: "poll"} }

// PriorityPeek asks for the greatest element; null when there is none.
func PriorityPeek() PriorityIn { return PriorityIn{F: "peek"} }

// Pile is how often a container holds an element.
type Pile struct {
	Elem history.Value
	N    int
}

// PriorityQueue returns its greatest element first and starts with the given
// ones. Numbers are ordered by value, then come strings, then arrays element by
// element, so that [priority, element] works; everything else comes last. Among
// numbers of one value the decimal is the greater: 1.0 is above 1. The state
// holds each element with how often it is there, under a key that sorts.
func PriorityQueue(initial ...history.Value) spec.Model[Tree[Pile], PriorityIn, history.Value] {
	var first Tree[Pile]
	for _, v := range initial {
		first = pile(first, priorityKey(v), v, 1)
	}
	elements := containerOf(spec.ByPriority, len(initial), priorityAccess)
	if elements != nil {
		elements.Compare = func(a, b any) int { return comparePriorities(a.(history.Value), b.(history.Value)) }
	}
	return spec.Model[Tree[Pile], PriorityIn, history.Value]{
		Name:  "priority-queue",
		Init:  func() Tree[Pile] { return first },
		Apply: priorityApply,
		ReadOnly: func(in PriorityIn, out *history.Value) bool {
			return in.F == "peek" || in.F == "poll" && out != nil && *out == history.Null
		},
		Text: func(in PriorityIn, out *history.Value) string {
			if in.F == "insert" {
				return "insert " + in.Elem.Label()
			}
			return answered(in.F, out, "empty")
		},
		Describe:  describePiles,
		Container: elements,
	}
}

func priorityAccess(in PriorityIn, out *history.Value) spec.Access {
	return elementAccess(in.F, "insert", "peek", in.Elem, out)
}

// comparePriorities orders two elements as their keys do.
func comparePriorities(a, b history.Value) int {
	if a.Kind() == history.KindInt && b.Kind() == history.KindInt {
		return compareNumbers(a, b)
	}
	return strings.Compare(sortKey(a)+a.Text(), sortKey(b)+b.Text())
}

// priorityKey sorts as v does; the text behind it tells apart what sorts alike.
func priorityKey(v history.Value) history.Value { return history.String(sortKey(v) + v.Text()) }

// pile returns s with n more (or fewer) of v.
func pile(s Tree[Pile], key, v history.Value, n int) Tree[Pile] {
	n += s.Get(key).N
	if n == 0 {
		return s.remove(key)
	}
	return s.put(key, Pile{v, n})
}

// describePiles writes the elements in the order of their keys.
func describePiles(s Tree[Pile]) string {
	total := 0
	for _, p := range s.All() {
		total += p.N
	}
	return listed("{", total, func(yield func(string) bool) {
		for _, p := range s.All() {
			for range p.N {
				if !yield(p.Elem.Label()) {
					return
				}
			}
		}
	}, " ", "}")
}

func priorityApply(s Tree[Pile], in PriorityIn) (next Tree[Pile], out history.Value, ok bool) {
	if in.F == "insert" {
		if in.Elem == history.Null {
			panic("null cannot be inserted: it is the answer of an empty queue")
		}
		return pile(s, priorityKey(in.Elem), in.Elem, 1), history.Absent, true
	}
	key, top := s.last()
	out = history.Null
	if !s.empty() {
		out = top.Elem
	}
	switch {
	case in.F == "poll" && !s.empty():
		return pile(s, key, top.Elem, -1), out, true
	case in.F == "peek" || in.F == "poll":
		return s, out, true
	}
	panic(noSuch("priority-queue", in.F))
}

func priorityQueueEntry() Entry {
	ops := []operation[PriorityIn, history.Value]{{
		OpDoc: OpDoc{F: "insert", Aliases: []string{"offer", "add", "enqueue"}, In: "an element"},
		in:    elementInput(PriorityInsert), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "poll", Aliases: []string{"remove", "dequeue", "delete-max"}, Out: "the greatest " + elementDoc[len("the "):]},
		in:    noInput(PriorityPoll()), out: elementOutput,
	}, {
		OpDoc: OpDoc{F: "peek", Aliases: []string{"max"}, Out: "the greatest " + elementDoc[len("the "):]},
		in:    noInput(PriorityPeek()), out: elementOutput,
	}}
	return entry(Entry{
		Name:    "priority-queue",
		Doc:     "Greatest element first: numbers by value, then strings, then arrays element by element, such as [priority, element].",
		Initial: "an array of elements; []",
	}, ops, func(initial history.Value) (m spec.Model[Tree[Pile], PriorityIn, history.Value], err error) {
		elems, err := containerElements(initial)
		return PriorityQueue(elems...), err
	})
}
