package models

import (
	"fmt"

	"pinyon/engine/history"
)

// The decoders that several models share. Each returns, last, what it would
// have accepted, or "".

// noInput is for operations without an argument.
func noInput[In any](in In) func(history.Value) (In, string) {
	return func(v history.Value) (In, string) {
		if v != history.Absent && v != history.Null {
			return in, "nothing"
		}
		return in, ""
	}
}

// anyInput is for operations with one argument of any kind.
func anyInput[In any](make func(v history.Value) In) func(history.Value) (In, string) {
	return func(v history.Value) (in In, want string) {
		if v == history.Absent {
			return in, "a value"
		}
		return make(v), ""
	}
}

// intInput is for operations with an integer argument of any size.
func intInput[In any](make func(v history.Value) In) func(history.Value) (In, string) {
	return func(v history.Value) (in In, want string) {
		if !isInt(v) {
			return in, "an integer"
		}
		return make(v), ""
	}
}

// pairInput is for [from, to].
func pairInput[In any](make func(from, to history.Value) In) func(history.Value) (In, string) {
	return func(v history.Value) (in In, want string) {
		pair, _ := v.Elems()
		if v.Kind() != history.KindArray || len(pair) != 2 {
			return in, "[from, to]"
		}
		return make(pair[0], pair[1]), ""
	}
}

// noOutput is for operations that return nothing. Formats differ in what they
// record then: nothing, null, true, "ok", or the input once more.
func noOutput[Out any](r recorded) (out Out, known bool, want string) {
	switch r.out {
	case history.Absent, history.Null, history.True, r.in, history.String("ok"), history.String("OK"), history.Keyword("ok"):
		return out, false, ""
	}
	return out, false, "nothing, null, true, \"ok\", or the input once more"
}

// anyOutput is for operations that return a value of any kind.
func anyOutput(r recorded) (out history.Value, known bool, want string) {
	if r.out == history.Absent {
		return r.out, false, "a value"
	}
	return r.out, true, ""
}

func intOutput(r recorded) (out history.Value, known bool, want string) {
	if !isInt(r.out) {
		return r.out, false, "an integer"
	}
	return r.out, true, ""
}

func boolOutput(r recorded) (out history.Value, known bool, want string) {
	if _, ok := r.out.Bool(); !ok {
		return r.out, false, "true or false"
	}
	return r.out, true, ""
}

// casOutput reads the answer of a compare-and-set. Many formats record none,
// or repeat the input, for one that succeeded: an OK without an answer
// succeeded.
func casOutput(r recorded) (out history.Value, known bool, want string) {
	if r.out == history.Absent || r.out == r.in {
		return history.True, true, ""
	}
	return boolOutput(r)
}

const casDoc = "true or false; an ok without an output, or that repeats the input, succeeded"

// isEmptyName reports whether v is a name that logs give to the answer of an
// empty queue or stack.
func isEmptyName(v history.Value) bool {
	return v == history.Null || v == history.String("empty") || v == history.String("EMPTY") || v == history.Keyword("empty")
}

// elementInput is for adding to a container whose empty answer has a name: an
// element of that name could not be told from it.
func elementInput[In any](make func(v history.Value) In) func(history.Value) (In, string) {
	return func(v history.Value) (in In, want string) {
		if v == history.Absent || isEmptyName(v) {
			return in, "an element (not null, \"empty\", \"EMPTY\" or :empty, which name the answer of an empty one)"
		}
		return make(v), ""
	}
}

// elementOutput is for taking from such a container; every name of empty
// becomes null.
func elementOutput(r recorded) (out history.Value, known bool, want string) {
	if r.out == history.Absent {
		return r.out, false, "an element, or null for empty"
	}
	if isEmptyName(r.out) {
		return history.Null, true, ""
	}
	return r.out, true, ""
}

const elementDoc = `the element, or null when empty (also "empty", "EMPTY", :empty)`

// elementsOf returns the elements of an initial list: none for null.
func elementsOf(initial history.Value) ([]history.Value, error) {
	if initial == history.Absent || initial == history.Null {
		return nil, nil
	}
	if k := initial.Kind(); k != history.KindArray && k != history.KindSet {
		return nil, fmt.Errorf("want an array of elements, got %s", got(initial))
	}
	elems, _ := initial.Elems()
	return elems, nil
}

// containerElements is elementsOf for containers whose empty answer has names.
func containerElements(initial history.Value) ([]history.Value, error) {
	elems, err := elementsOf(initial)
	for _, e := range elems {
		if isEmptyName(e) {
			return nil, fmt.Errorf("%s cannot be an element: it names the answer of an empty one", got(e))
		}
	}
	return elems, err
}
