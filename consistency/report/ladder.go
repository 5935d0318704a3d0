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
		width = max(width, len(rungName(r)))
	}
	t.line("every level:")
	for _, r := range l.Rungs {
		t.line("  %-*s  %s", width, rungName(r), rungWords(r))
	}
	for _, s := range ladderSummary(l) {
		t.line("%s", s)
	}
	t.staleness()
}

// strengthened puts the names of the oracles that a level was checked with
// before it, as the verdict does.
func strengthened(oracles []string, level string) string {
	return strings.Join(append(append([]string{}, oracles...), level), "-")
}

func rungName(r consistency.Rung) string { return strengthened(r.Oracles, r.Level) }

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
	case r.States == 0: // no search was needed
		return word
	}
	return fmt.Sprintf("%s  %s", word, counted(r.States, "state", "states"))
}

func ladderSummary(l *consistency.Ladder) (lines []string) {
	strongest := "none"
	if len(l.Strongest) > 0 {
		var names []string
		for _, r := range l.Rungs {
			for _, s := range l.Strongest {
				if r.Level == s {
					names = append(names, rungName(r))
				}
			}
		}
		strongest = strings.Join(names, ", ")
	}
	lines = append(lines, "the strongest that hold: "+strongest+undecided(l))
	if words := sessionGuarantees(l); words != "" {
		lines = append(lines, "session guarantees: "+words)
	}
	bounded := strengthened(l.Oracles, "bounded-staleness:")
	switch {
	case l.SmallestK == 1:
		lines = append(lines, "no read is stale by versions")
	case l.SmallestK > 1:
		lines = append(lines, fmt.Sprintf("reads are at most %s behind: %sk=%d holds, k=%d does not",
			counted(l.SmallestK-1, "version", "versions"), bounded, l.SmallestK, l.SmallestK-1))
	default:
		lines = append(lines, bounded+"k: "+l.NoK)
	}
	switch {
	case l.SmallestT > 0:
		lines = append(lines, fmt.Sprintf("reads are at most %v behind: %st=%v holds, and no smaller bound does", l.SmallestT, bounded, l.SmallestT))
	case l.SmallestT < 0:
		lines = append(lines, bounded+"t: "+l.NoT)
	}
	return lines
}

// undecided says of how many levels the strongest may be one.
func undecided(l *consistency.Ladder) string {
	n := 0
	for _, r := range l.Rungs {
		if r.Undecided {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", of those decided (%s not)", counted(n, "is", "are"))
}

// sessionGuarantees says which of the session guarantees hold.
func sessionGuarantees(l *consistency.Ladder) string {
	hold, fail, open := []string{}, []string{}, []string{}
	for _, r := range l.Rungs {
		switch r.Level {
		case "read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads":
		default:
			continue
		}
		switch r.Kind {
		case spec.Consistent:
			hold = append(hold, r.Level)
		case spec.Violation:
			fail = append(fail, r.Level)
		default:
			open = append(open, r.Level)
		}
	}
	var parts []string
	for _, g := range []struct {
		names    []string
		one, all string
	}{{hold, "hold", "all hold"}, {fail, "FAIL", "all FAIL"}, {open, "not decided", "none is decided"}} {
		switch {
		case len(g.names) == 0:
		case len(g.names) == len(hold)+len(fail)+len(open):
			return g.all
		default:
			parts = append(parts, strings.Join(g.names, ", ")+" "+g.one)
		}
	}
	return strings.Join(parts, "; ")
}

// ladderReport is the ladder in JSON.
type ladderReport struct {
	Levels      []rungReport     `json:"levels"`
	Strongest   []string         `json:"strongest"`
	SmallestK   *int             `json:"smallest_k"` // null: none was found
	NoK         string           `json:"no_k,omitempty"`
	SmallestT   *int64           `json:"smallest_t"` // ns
	NoT         string           `json:"no_t,omitempty"`
	Staleness   *stalenessReport `json:"staleness"` // null: it was not measured
	NoStaleness string           `json:"no_staleness,omitempty"`
}

type rungReport struct {
	Level       string   `json:"level"`
	Oracles     []string `json:"oracles"` // that it was checked with
	Verdict     string   `json:"verdict"`
	States      int64    `json:"states"`
	FollowsFrom string   `json:"follows_from,omitempty"`
	Reason      string   `json:"reason,omitempty"`
}

func ladderOf(l *consistency.Ladder) *ladderReport {
	if l == nil {
		return nil
	}
	r := &ladderReport{Strongest: orEmpty(l.Strongest), NoK: l.NoK, NoT: l.NoT, Staleness: stalenessOf(l.Staleness), NoStaleness: l.NoStaleness}
	for _, g := range l.Rungs {
		r.Levels = append(r.Levels, rungReport{g.Level, orEmpty(g.Oracles), g.Kind.String(), g.States, g.By, g.Reason})
	}
	if l.SmallestK > 0 {
		r.SmallestK = &l.SmallestK
	}
	if ns := l.SmallestT.Nanoseconds(); ns >= 0 {
		r.SmallestT = &ns
	}
	return r
}
