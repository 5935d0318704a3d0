package history

import (
	"fmt"
	"strings"
)

// suggest ends a message about an unknown name: with the known name that was
// likely meant, or else with all that are known.
func suggest(name string, known []string) string {
	best, least := "", 1+len(name)/3
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d <= least && d < len(k) {
			best, least = k, d-1
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known are " + strings.Join(known, ", ")
}

// distance is the number of bytes to insert, drop or replace, or of neighbours
// to swap, that lead from a to b.
func distance(a, b string) int {
	const longest = 64 // no known name is nearly as long
	if len(a) > longest || len(b) > longest {
		return len(a) + len(b)
	}
	var before, last, row [longest + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		before, last = last, row
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
