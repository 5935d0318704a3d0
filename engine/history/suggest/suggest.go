// Package suggest finds the word that was probably meant, for messages that
// end in "did you mean".
package suggest

import "strings"

// Closest returns the member of of that is nearest to word, or "" when none is
// near enough to be a likely slip. Case does not matter; of two that are
// equally near, the first wins. Where none is near, one that goes on after the
// whole of word and a hyphen was meant: jepsen-edn by jepsen.
func Closest(word string, of []string) string {
	best, least := "", limit(word)+1
	for _, w := range of {
		if d := distance(strings.ToLower(word), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	if best != "" || word == "" {
		return best
	}
	for _, w := range of {
		if strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)+"-") {
			return w
		}
	}
	return ""
}

// limit is the number of slips that are forgiven in a word: none in a single
// letter, else about one in three, at most three.
func limit(word string) int {
	n := len([]rune(word))
	if n < 2 {
		return 0
	}
	return min(3, (n+2)/3)
}

// distance counts insertions, deletions, substitutions and swaps of
// neighbours (optimal string alignment).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		row[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
