package rule

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"pinyon/engine/history/suggest"
)

// Error is a condition that does not compile.
type Error struct {
	Text   string // the condition as written
	Offset int    // where in Text, in bytes
	Msg    string // what is wrong, in one line
}

// Position returns the line and column of the error, both counted from 1, the
// column in characters.
func (e *Error) Position() (line, col int) {
	before := e.Text[:e.Offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

// Caret returns the offending line and, below it, a caret.
func (e *Error) Caret() string {
	start := strings.LastIndexByte(e.Text[:e.Offset], '\n') + 1
	line, _, _ := strings.Cut(e.Text[start:], "\n")
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r // as wide as the one above it
		}
		return ' '
	}, e.Text[start:e.Offset])
	return "  " + line + "\n  " + pad + "^"
}

func (e *Error) Error() string {
	line, col := e.Position()
	return fmt.Sprintf("%d:%d: %s\n%s", line, col, e.Msg, e.Caret())
}

// DidYouMean returns " (did you mean X?)" with the known name nearest to name,
// or "" where none is near. It is the same for every order of known.
func DidYouMean(name string, known []string) string {
	if slices.Contains(known, name) {
		return "" // known, so something else is wrong with it
	}
	if near := suggest.Closest(name, slices.Sorted(slices.Values(known))); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}
