package rule

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
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
	best, bestDistance := "", 1+max(1, len(name)/3)
	for _, k := range slices.Sorted(slices.Values(known)) {
		if k == name {
			return "" // known, so something else is wrong with it
		}
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance counts the insertions, deletions, changes and swaps of neighbours
// that turn s into t (optimal string alignment).
func distance(s, t string) int {
	if len(s) > 64 || len(t) > 64 {
		return len(s) + len(t) // no one mistypes a name of that length into another
	}
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(s)][len(t)]
}
