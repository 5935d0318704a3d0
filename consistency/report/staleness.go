package report

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pinyon/consistency"
)

// shownStale is how many keys and nodes Text lists; the others are counted.
const shownStale = 5

// staleness says how stale the reads were.
func (t *text) staleness() {
	m := t.in.Ladder.Staleness
	if m == nil {
		t.line("stale reads: not measured: %s", t.in.Ladder.NoStaleness)
		return
	}
	t.line("%s", staleSummary(m))
	if m.Total.Stale > 0 {
		t.line("  versions behind  %s", buckets(m.Versions, versionRange))
		if m.Timed {
			t.line("  time behind      %s", buckets(m.Times, timeRange))
		}
		t.staleGroups("key", m, m.Keys)
		t.staleGroups("node", m, m.Nodes)
		t.line("  over time        %s", staleSlices(m))
	}
	if words := unmeasured(m); words != "" {
		t.line("  not measured     %s", words)
	}
	if !m.Timed {
		t.line("  no ages in time: %s", m.NoTimes)
	}
}

// staleSummary is the share of stale reads and the worst of them.
func staleSummary(m *consistency.Staleness) string {
	switch {
	case m.Total.Reads == 0:
		return "stale reads: no read could be measured"
	case m.Total.Stale == 0:
		return fmt.Sprintf("stale reads: none for certain, of %s", counted(m.Total.Reads, "read", "reads"))
	}
	return fmt.Sprintf("stale reads: at least %s, at worst %s behind", shareOf(m.Total), worstOf(m, m.Total))
}

// shareOf is how many reads were stale.
func shareOf(c consistency.StaleCount) string {
	return fmt.Sprintf("%s of %s (%.1f %%)", number(c.Stale), counted(c.Reads, "read", "reads"), 100*float64(c.Stale)/float64(c.Reads))
}

// worstOf is the greatest age in versions and in time, which may be of two
// reads.
func worstOf(m *consistency.Staleness, c consistency.StaleCount) string {
	s := counted(c.MaxVersions, "version", "versions")
	if m.Timed {
		s += " and " + time.Duration(c.MaxTime).String()
	}
	return s
}

// buckets lists those that have reads.
func buckets(list []consistency.StaleBucket, name func(b consistency.StaleBucket) string) string {
	var words []string
	for _, b := range list {
		if b.Count > 0 {
			words = append(words, name(b)+": "+number(b.Count))
		}
	}
	return strings.Join(words, "   ")
}

func versionRange(b consistency.StaleBucket) string {
	if b.From == b.To {
		return number(b.From)
	}
	return number(b.From) + "-" + number(b.To)
}

func timeRange(b consistency.StaleBucket) string {
	switch {
	case b.From == 0:
		return "<" + short(b.To+1)
	case b.To+1 < b.To:
		return ">=" + short(b.From)
	}
	return short(b.From) + "-" + short(b.To+1)
}

// short writes a power of ten of nanoseconds in one unit.
func short(ns int64) string {
	for _, u := range []struct {
		ns   int64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.ns {
			return fmt.Sprintf("%d%s", ns/u.ns, u.name)
		}
	}
	return fmt.Sprintf("%dns", ns)
}

// staleGroups lists the keys or nodes with stale reads, the worst first. One
// that is all there is says nothing new.
func (t *text) staleGroups(what string, m *consistency.Staleness, groups []consistency.StaleCount) {
	if len(groups) < 2 {
		return
	}
	stale := 0
	for _, g := range groups {
		if g.Stale > 0 {
			stale++
		}
	}
	shown := groups[:min(stale, shownStale)]
	name, share := 0, 0
	for _, g := range shown {
		name, share = max(name, utf8.RuneCountInString(groupName(g))), max(share, len(shareOf(g)))
	}
	for i, g := range shown {
		head := ""
		if i == 0 {
			head = "worst " + what + "s"
		}
		t.line("  %-15s  %-*s  %*s  %s", head, name, groupName(g), share, shareOf(g), worstOf(m, g))
	}
	var rest []string
	if n := stale - len(shown); n > 0 {
		rest = append(rest, counted(n, "more "+what+" has stale reads", "more "+what+"s have stale reads"))
	}
	if n := len(groups) - stale; n > 0 {
		rest = append(rest, counted(n, what+" has none", what+"s have none"))
	}
	if rest != nil {
		t.line("  %-15s  %s", "", strings.Join(rest, ", "))
	}
}

func groupName(c consistency.StaleCount) string {
	if c.Name == "" {
		return "(no key)"
	}
	return c.Name
}

// staleSlices lists the stale reads of each part of the run.
func staleSlices(m *consistency.Staleness) string {
	words := make([]string, len(m.Slices))
	for i, s := range m.Slices {
		words[i] = number(s.Stale)
	}
	part := m.Slices[0].To - m.Slices[0].From
	size := counted(part, "event", "events")
	if m.Timed {
		size = about(part).String()
	}
	return fmt.Sprintf("%s   stale reads in each tenth of the run (%s)", strings.Join(words, " "), size)
}

// about rounds ns to three digits.
func about(ns int64) time.Duration {
	unit := int64(1)
	for ns/unit >= 1000 {
		unit *= 10
	}
	return time.Duration(ns).Round(time.Duration(unit))
}

// unmeasured counts the reads that were not measured, by why.
func unmeasured(m *consistency.Staleness) string {
	var words []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{m.Unwritten, "read of what nobody had written", "reads of what nobody had written"},
		{m.Unsettled, "read that may have seen an update of unknown effect", "reads that may have seen an update of unknown effect"},
		{m.Unnamed, "answer that names no value", "answers that name no value"},
		{m.Unanswered, "read without an answer", "reads without an answer"},
	} {
		if c.n > 0 {
			words = append(words, counted(c.n, c.one, c.many))
		}
	}
	return strings.Join(words, ", ")
}
