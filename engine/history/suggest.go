package history

import (
	"fmt"
	"strings"

	nearest "pinyon/engine/history/suggest"
)

// suggest ends a message about an unknown name: with the known name that was
// likely meant, or else with all that are known.
func suggest(name string, known []string) string {
	if near := nearest.Closest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known are " + strings.Join(known, ", ")
}
