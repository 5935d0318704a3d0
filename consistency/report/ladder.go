package report

import (
	"fmt"
	"strings"

	"pinyon/consistency"
	"pinyon/engine/spec"
)

// ladder lists every level's verdict, the strongest that allow the history, and
// by how much the bounded ones must be relaxed.
func (t *text) ladder() {
	l := t.in.Ladder
	if l == nil {
		return
	}
	width := 0
	for _, r := range l.Rungs {
		width = max(width, len(r.Level))
	}
	t.line("every level:")
	for _, r := range l.Rungs {
		t.line("  %-*s  %s", width, r.Level, rungWords(r))
	}
	for _, s := range ladderSummary(l) {
		t.line("%s", s)
	}
}

// rungWords says what one level answered, and how.
func rungWords(r consistency.Rung) string {
	word := r.Kind.String()
	if r.Kind == spec.Violation {
		word = strings.ToUpper(word)
	}
	switch {
	case r.By != "":
		return word + "  follows from " + r.By
	case r.Reason != "":
		return word + "  " + r.Reason
	}
	return fmt.Sprintf("%s  %s", word, counted(r.States, "state", "states"))
}

func ladderSummary(l *consistency.Ladder) (lines []string) {
	strongest := "none"
	if len(l.Strongest) > 0 {
		strongest = strings.Join(l.Strongest, ", ")
	}
	lines = append(lines, "the strongest that hold: "+strongest)
	switch {
	case l.SmallestK == 1:
		lines = append(lines, "no read is stale by versions")
	case l.SmallestK > 1:
		lines = append(lines, fmt.Sprintf("reads are at most %s behind: bounded-staleness:k=%d holds, k=%d does not",
			counted(l.SmallestK-1, "version", "versions"), l.SmallestK, l.SmallestK-1))
	}
	if l.SmallestT > 0 {
		lines = append(lines, fmt.Sprintf("reads are at most %v behind: bounded-staleness:t=%v holds, and no smaller bound does", l.SmallestT, l.SmallestT))
	}
	return lines
}

// ladderReport is the ladder in JSON.
type ladderReport struct {
	Levels    []rungReport `json:"levels"`
	Strongest []string     `json:"strongest"`
	SmallestK *int         `json:"smallest_k"` // null: none was found
	SmallestT *int64       `json:"smallest_t"` // ns
}

type rungReport struct {
	Level       string `json:"level"`
	Verdict     string `json:"verdict"`
	States      int64  `json:"states"`
	FollowsFrom string `json:"follows_from,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

func ladderOf(l *consistency.Ladder) *ladderReport {
	if l == nil {
		return nil
	}
	r := &ladderReport{Strongest: orEmpty(l.Strongest)}
	for _, g := range l.Rungs {
		r.Levels = append(r.Levels, rungReport{g.Level, g.Kind.String(), g.States, g.By, g.Reason})
	}
	if l.SmallestK > 0 {
		r.SmallestK = &l.SmallestK
	}
	if ns := l.SmallestT.Nanoseconds(); ns >= 0 {
		r.SmallestT = &ns
	}
	return r
}
