package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"
)

// benchMarkdown is the table of a suite.
func benchMarkdown(name string, rows []benchRow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cores, %s/%s, %s\n\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if name == "matrix" {
		matrixMarkdown(&b, rows)
	} else {
		rowsMarkdown(&b, rows)
	}
	b.WriteString("\n" + summary(rows))
	if name == hintsSuite {
		b.WriteString("\n" + hintsFaster(rows))
	}
	return b.String()
}

// rowsMarkdown has a line for each case.
func rowsMarkdown(b *strings.Builder, rows []benchRow) {
	withRival := false
	for i := range rows {
		withRival = withRival || len(rows[i].theirs) > 0
	}
	head := "| case | verdict | decided by | CPU ms | MB | states |"
	if withRival {
		head += " rival CPU ms | rival MB | times faster |"
	}
	fmt.Fprintf(b, "%s\n%s\n", head, "|"+strings.Repeat("---|", strings.Count(head, "|")-1))
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.1f | %.0f |", r.name, verdictOf(r.ours), engineOf(r.ours),
			milliseconds(median(r.ours, cpuOf)), median(r.ours, (*measure).added), median(r.ours, func(m *measure) float64 { return float64(m.States) }))
		if withRival {
			b.WriteString(rivalCells(r))
		}
		b.WriteString("\n")
	}
}

func rivalCells(r *benchRow) string {
	if len(r.theirs) == 0 {
		return " " + r.rivalTime() + " | - | - |"
	}
	faster := "-"
	if x := r.faster(); x > 0 {
		faster = fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf(" %s | %.1f | %s |", r.rivalTime(), median(r.theirs, (*measure).added), faster)
}

// rivalTime is the processor time that the rival took: "-" where it was not
// run, ">" where it had not ended at its limit of (wall) time, "..." where it
// had not on a smaller case.
func (r *benchRow) rivalTime() string {
	switch {
	case r.missed:
		return "..."
	case len(r.theirs) == 0:
		return "-"
	case verdictOf(r.theirs) == "unknown":
		return "> " + milliseconds(median(r.theirs, cpuOf))
	}
	return milliseconds(median(r.theirs, cpuOf))
}

// faster is how many times the rival's processor time is ours, over the seeds
// that both checked; 0 where one did not end.
func (r *benchRow) faster() float64 {
	n := min(len(r.theirs), len(r.ours))
	if n == 0 || verdictOf(r.theirs) == "unknown" || verdictOf(r.ours[:n]) == "unknown" {
		return 0
	}
	return median(r.theirs, cpuOf) / median(r.ours[:n], cpuOf)
}

// milliseconds writes seconds as milliseconds with two or three digits.
func milliseconds(seconds float64) string {
	switch ms := seconds * 1000; {
	case ms < 10:
		return fmt.Sprintf("%.2f", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f", ms)
	default:
		return fmt.Sprintf("%.0f", ms)
	}
}

// matrixMarkdown has a table for each number of values, consistent and not:
// clients down, shares of reads across, in each cell the time and the rival's.
func matrixMarkdown(b *strings.Builder, rows []benchRow) {
	find := func(values int, stale bool, reads float64, clients int) *benchRow {
		for i := range rows {
			if s := rows[i].job.Shape; s.Values == values && s.Stale == stale && s.Reads == reads && s.Clients == clients {
				return &rows[i]
			}
		}
		return nil
	}
	for _, values := range matrixValues {
		for _, stale := range []bool{false, true} {
			fmt.Fprintf(b, "%s, %s; CPU ms, ours / the rival's\n\n| clients |", strings.ToUpper(valuesText(values)[:1])+valuesText(values)[1:], staleText(stale))
			for _, reads := range matrixReads {
				fmt.Fprintf(b, " reads %.2f |", reads)
			}
			fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("---|", len(matrixReads)))
			for _, clients := range matrixClients {
				fmt.Fprintf(b, "| %d |", clients)
				for _, reads := range matrixReads {
					b.WriteString(matrixCell(find(values, stale, reads, clients)))
				}
				b.WriteString("\n")
			}
			b.WriteString("\n")
		}
	}
}

func matrixCell(r *benchRow) string {
	if r == nil {
		return " |"
	}
	own := milliseconds(median(r.ours, cpuOf))
	if verdictOf(r.ours) == "unknown" {
		own = "> " + own
	}
	return fmt.Sprintf(" %s / %s |", own, r.rivalTime())
}

// summary says in words what the targets ask of the rows.
func summary(rows []benchRow) string {
	var b strings.Builder
	undecided, worst, slowest := 0, 0.0, ""
	for i := range rows {
		r := &rows[i]
		if verdictOf(r.ours) == "unknown" {
			undecided++
		}
		if t := median(r.ours, cpuOf); t > worst {
			worst, slowest = t, r.name
		}
	}
	fmt.Fprintf(&b, "- %s, %d undecided; the slowest takes %s ms (%s)\n", many(len(rows), "case"), undecided, milliseconds(worst), slowest)
	b.WriteString(rivalSummary(rows))
	return b.String()
}

func rivalSummary(rows []benchRow) string {
	var logs, memory, total, totalOurs float64
	var counted, large, beyond, slower, ended int
	least, leastName := math.Inf(1), ""
	for i := range rows {
		r := &rows[i]
		if r.missed || len(r.theirs) > 0 && verdictOf(r.theirs) == "unknown" {
			beyond++
		}
		x := r.faster()
		if x == 0 {
			continue
		}
		ended++
		theirs := median(r.theirs, cpuOf)
		total, totalOurs = total+theirs, totalOurs+theirs/x
		if theirs >= .010 {
			logs += math.Log(x)
			counted++
		}
		if theirs >= .001 && x < least {
			least, leastName = x, r.name
		}
		if theirs >= .001 && x < 1 {
			slower++
		}
		if mb := median(r.theirs, (*measure).added); mb > 100 {
			large++
			memory = max(memory, median(r.ours, (*measure).added)/mb)
		}
	}
	if ended+beyond == 0 {
		return ""
	}
	text := fmt.Sprintf("- the rival ended in %s and exceeded its limit in %d (those after the first of a kind were not run)\n", many(ended, "case"), beyond)
	if ended > 0 {
		text += fmt.Sprintf("- where it ended: its times add up to %s ms, ours to %s ms\n", milliseconds(total), milliseconds(totalOurs))
	}
	if counted > 0 {
		text += fmt.Sprintf("- where it needed 10 ms or more (%s): %.3g times faster in the geometric mean\n", many(counted, "case"), math.Exp(logs/float64(counted)))
	}
	if leastName != "" {
		text += fmt.Sprintf("- where it needed 1 ms or more: slower than it in %s, at worst %.2f times as fast (%s)\n", many(slower, "case"), least, leastName)
	}
	if large > 0 {
		text += fmt.Sprintf("- where it ended and took more than 100 MB (%s): at most %.3f of its memory\n", many(large, "case"), memory)
	}
	return text
}

// benchCSV is the table of a suite with everything that was measured.
func benchCSV(rows []benchRow) string {
	var b strings.Builder
	b.WriteString("suite,case,model,level,asked,clients,operations,reads,values,keys,unanswered,stale,seeds,verdict,engine,states," +
		"cpu_s,wall_s,peak_mb,base_mb,rival_seeds,rival_verdict,rival_cpu_s,rival_wall_s,rival_peak_mb,rival_base_mb\n")
	for i := range rows {
		r := &rows[i]
		shape := ",,,,,,"
		model := ""
		if s := r.job.Shape; s != nil {
			model = s.Model
			shape = fmt.Sprintf("%d,%d,%g,%d,%d,%g,%v", s.Clients, r.ours[0].Ops, s.Reads, s.Values, s.Keys, s.Crash, s.Impossible())
		}
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%d,%s,%s,%.0f,%s,%d,%s,%s\n", r.suite, csvText(r.name), model,
			firstOf(r.job.Level, "linearizable"), firstOf(r.job.Engine, "auto"), shape, len(r.ours), verdictOf(r.ours), csvText(engineOf(r.ours)),
			median(r.ours, func(m *measure) float64 { return float64(m.States) }), costs(r.ours), len(r.theirs), verdictOf(r.theirs), costs(r.theirs))
	}
	return b.String()
}

// csvText is a quoted field of a table.
func csvText(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// costs are the medians of time and memory as columns.
func costs(ms []measure) string {
	if len(ms) == 0 {
		return ",,,"
	}
	return fmt.Sprintf("%.6f,%.6f,%.1f,%.1f", median(ms, cpuOf), median(ms, func(m *measure) float64 { return m.Wall }),
		median(ms, func(m *measure) float64 { return m.PeakMB }), median(ms, func(m *measure) float64 { return m.BaseMB }))
}
