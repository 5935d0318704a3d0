package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// QueueIn is an input of queue; Enqueue, Dequeue and Peek make one.
type QueueIn struct {
	F    string
	Elem history.Value
}

// Enqueue adds v at the end. Null cannot be an element: it is the answer of an
// empty queue.
func Enqueue(v history.Value) QueueIn { return QueueIn{"enqueue", v} }

// Dequeue takes the first element; null when there is none.
func Dequeue() QueueIn { return QueueIn{F: "dequeue"} }

// Peek asks for the first element; null when there is none.
func Peek() QueueIn { return QueueIn{F: "peek"} }

// Queue is first in, first out, and starts with the given elements, first one
// first.
func Queue(initial ...history.Value) spec.Model[Run, QueueIn, history.Value] {
	first := RunOf(initial...)
	return spec.Model[Run, QueueIn, history.Value]{
		Name:   "queue",
		Init:   func() Run { return first },
		Apply:  queueApply,
		States: func() spec.States[Run] { return newByHash(Run.hash, sameRun) },
		ReadOnly: func(in QueueIn, out *history.Value) bool {
			return in.F == "peek" || in.F == "dequeue" && out != nil && *out == history.Null
		},
		Text: func(in QueueIn, out *history.Value) string {
			if in.F == "enqueue" {
				return "enqueue " + in.Elem.Label()
			}
			return answered(in.F, out, "empty")
		},
		Describe:  func(s Run) string { return listed("[", s.n, s.words(), " ", "]") },
		Container: containerOf(spec.FIFO, len(initial), queueAccess),
	}
}

func queueAccess(in QueueIn, out *history.Value) spec.Access {
	return elementAccess(in.F, "enqueue", "peek", in.Elem, out)
}

func queueApply(s Run, in QueueIn) (next Run, out history.Value, ok bool) {
	if in.F == "enqueue" {
		if in.Elem == history.Null {
			panic("null cannot be enqueued: it is the answer of an empty queue")
		}
		return s.push(in.Elem), history.Absent, true
	}
	front := history.Null
	if s.n > 0 {
		front = s.At(0)
	}
	switch in.F {
	case "peek":
		return s, front, true
	case "dequeue":
		return s.drop(1), front, true
	}
	panic(noSuch("queue", in.F))
}

func queueOps() []operation[QueueIn, history.Value] {
	return []operation[QueueIn, history.Value]{{
		OpDoc: OpDoc{F: "enqueue", Aliases: []string{"enq", "add"}, In: "an element"},
		in:    elementInput(Enqueue), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "dequeue", Aliases: []string{"deq", "remove"}, Out: elementDoc},
		in:    noInput(Dequeue()), out: elementOutput,
	}, {
		OpDoc: OpDoc{F: "peek", Out: elementDoc},
		in:    noInput(Peek()), out: elementOutput,
	}}
}

func queueEntry() Entry {
	return entry(Entry{
		Name:    "queue",
		Doc:     "First in, first out.",
		Initial: "an array of elements, first one first; []",
	}, queueOps(), func(initial history.Value) (m spec.Model[Run, QueueIn, history.Value], err error) {
		elems, err := containerElements(initial)
		return Queue(elems...), err
	})
}
