package models

import (
	"fmt"
	"iter"
	"strings"

	"pinyon/engine/history"
)

// answered appends an answer in words: "read = 17", "dequeue = empty" (where
// null is called empty), "read (no answer)".
func answered(text string, out *history.Value, null string) string {
	switch {
	case out == nil:
		return text + " (no answer)"
	case *out == history.Null:
		return text + " = " + null
	}
	return text + " = " + out.Label()
}

// orNull writes a value, with a word for null.
func orNull(v history.Value, null string) string {
	if v == history.Null {
		return null
	}
	return v.Label()
}

// shown is how many elements of a long state are written.
const shown = 20

// listed writes up to shown of n elements between two brackets, then how many
// more there are.
func listed(open string, n int, elems iter.Seq[string], sep, shut string) string {
	words := make([]string, 0, min(n, shown+1))
	for e := range elems {
		if len(words) == shown {
			words = append(words, fmt.Sprintf("... %d more", n-shown))
			break
		}
		words = append(words, e)
	}
	return open + strings.Join(words, sep) + shut
}

// noSuch stops a step that was handed another model's input; spec turns the
// panic into an error that names the operation.
func noSuch(model, f string) string { return fmt.Sprintf("model %s has no operation %q", model, f) }

// label writes a value, or a list of values, as people write it.
func label[T any](v T) string {
	switch v := any(v).(type) {
	case history.Value:
		return v.Label()
	case List[history.Value]:
		return listed("[", v.Len(), Run{v, v.Len()}.words(), " ", "]")
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprint(v)
}
