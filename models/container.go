package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// containerOf is what a fast path needs to know of a container; nil for one
// that does not start empty.
func containerOf[In, Out any](d spec.Discipline, initial int, access func(in In, out *Out) spec.Access) *spec.Container[In, Out] {
	if initial > 0 {
		return nil
	}
	return &spec.Container[In, Out]{Discipline: d, Access: access}
}

// elementAccess is what the operations of queue, stack and priority-queue do:
// add adds elem, peek sees the next element, anything else takes it out. An
// answer of null says that there was none.
func elementAccess(f, add, peek string, elem history.Value, out *history.Value) spec.Access {
	switch {
	case f == add && (elem == history.Null || out != nil && *out != history.Absent):
		return spec.Access{} // the step refuses it
	case f == add:
		return spec.Access{Kind: spec.AccessAdd, Value: elem}
	case out == nil && f == peek:
		return spec.Access{Kind: spec.AccessNothing}
	case out == nil:
		return spec.Access{Kind: spec.AccessUnknown}
	case *out == history.Null:
		return spec.Access{Kind: spec.AccessEmpty}
	case f == peek:
		return spec.Access{Kind: spec.AccessPeek, Value: *out}
	}
	return spec.Access{Kind: spec.AccessTake, Value: *out}
}
