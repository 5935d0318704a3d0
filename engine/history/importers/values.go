package importers

import (
	"pinyon/engine/history"
)

// What the one :value of an event means, as input or as output, depends on
// the operation:
//
//   - An ok completion's value of a getter (read, get, dequeue, pop and the
//     like) is the output, nil included.
//   - Getters but get take nothing. Where the invocation already carries a
//     value, the file is an old one that wrote the answer there; it is ignored.
//     Two exceptions keep it: a list of micro-operations, and a position from
//     which a list was read.
//   - txn: the input is the invocation's micro-operations and the output the
//     completion's, always.
//   - cas and transfer: Jepsen reports success as ok, so ok means true, unless
//     the completion itself is a boolean.
//   - Setters (write, enqueue and the like) keep a nil input: it is a value.
//     For all others nil is no input.
//   - Everything else: the completion's value is an output if it is not nil
//     and differs from the input; a repeated input is no output.
//   - A fail or info completion says nothing of its operation's values.

var getters = map[string]bool{"read": true, "get": true, "dequeue": true, "deq": true, "pop": true, "peek": true,
	"poll": true, "pop-front": true, "pop-back": true, "peek-front": true, "peek-back": true}

var setters = map[string]bool{"write": true, "put": true, "enqueue": true, "enq": true, "push": true, "insert": true,
	"append": true, "add": true, "push-front": true, "push-back": true}

// microOps reports whether v is a non-empty list of lists, as in [[:r 1 nil]].
func microOps(v history.Value) bool {
	if v.Kind() != history.KindArray {
		return false
	}
	elems, _ := v.Elems()
	for _, e := range elems {
		if e.Kind() != history.KindArray {
			return false
		}
	}
	return len(elems) > 0
}

// input returns the input of an operation from its invocation's value.
func input(f string, v history.Value) history.Value {
	switch {
	case v == history.Null && !setters[f]:
		return history.Absent
	case getters[f] && f != "get" && !(f == "read" && microOps(v)):
		return history.Absent
	}
	return v
}

// settle returns the input and the output of an ok operation from the values
// of its invocation and its completion.
func settle(f string, called, done history.Value) (in, out history.Value) {
	in = input(f, called)
	switch {
	case f == "txn" || f == "read" && microOps(called):
		return called, done
	case getters[f]:
		if done == history.Absent {
			done = history.Null
		}
		if f == "read" && called.Kind() == history.KindInt && done.Kind() == history.KindArray {
			in = called
		}
		return in, done
	case f == "cas" || f == "transfer":
		if done.Kind() == history.KindBool && done != called {
			return in, done
		}
		return in, history.True
	case f == "add-and-get":
		return in, done
	case done == history.Null || done == called:
		return in, history.Absent
	}
	return in, done
}
