package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// UnorderedQueue hands out its elements in any order, and starts with the given
// ones; Enqueue, Dequeue and Peek make its inputs. A dequeue takes any element,
// and a peek shows any; either answers null exactly when there is none. A
// dequeue whose answer is not known may have taken any, so its step yields a
// state for each.
func UnorderedQueue(initial ...history.Value) spec.Model[Tree[Pile], QueueIn, history.Value] {
	var first Tree[Pile]
	for _, v := range initial {
		first = pile(first, v, v, 1)
	}
	return spec.Model[Tree[Pile], QueueIn, history.Value]{
		Name:  "unordered-queue",
		Init:  func() Tree[Pile] { return first },
		Steps: unorderedSteps,
		ReadOnly: func(in QueueIn, out *history.Value) bool {
			return in.F == "peek" || in.F == "dequeue" && out != nil && *out == history.Null
		},
		Text: func(in QueueIn, out *history.Value) string {
			if in.F == "enqueue" {
				return "enqueue " + in.Elem.Label()
			}
			return answered(in.F, out, "empty")
		},
		Describe: describePiles,
	}
}

func unorderedSteps(s Tree[Pile], in QueueIn, out *history.Value) []Tree[Pile] {
	switch in.F {
	case "enqueue":
		if in.Elem == history.Null {
			panic("null cannot be enqueued: it is the answer of an empty queue")
		}
		return []Tree[Pile]{pile(s, in.Elem, in.Elem, 1)}
	case "peek", "dequeue":
	default:
		panic(noSuch("unordered-queue", in.F))
	}
	none := s.empty()
	switch {
	case none && (out == nil || *out == history.Null), in.F == "peek" && out == nil:
		return []Tree[Pile]{s}
	case none:
		return nil
	case out == nil:
		var next []Tree[Pile]
		for v := range s.All() {
			next = append(next, pile(s, v, v, -1))
		}
		return next
	case !s.has(*out):
		return nil
	case in.F == "peek":
		return []Tree[Pile]{s}
	}
	return []Tree[Pile]{pile(s, *out, *out, -1)}
}

func unorderedQueueEntry() Entry {
	return entry(Entry{
		Name:    "unordered-queue",
		Doc:     "A queue that hands out its elements in any order. Many dequeues without an answer make it slow: each may have taken any element.",
		Initial: "an array of elements; []",
	}, queueOps(), func(initial history.Value) (m spec.Model[Tree[Pile], QueueIn, history.Value], err error) {
		elems, err := containerElements(initial)
		return UnorderedQueue(elems...), err
	})
}
