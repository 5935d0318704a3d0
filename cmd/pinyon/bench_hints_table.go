package main

import (
	"fmt"
	"strings"
)

// hintEngines are the columns of hintsFaster.
var hintEngines = []string{"wing-gong", "search", "all"}

// hintsFaster is a table of how many times faster hints make each engine, with
// a line for each store and setting.
func hintsFaster(rows []benchRow) string {
	var settings []string
	of := map[string]*benchRow{}
	for i := range rows {
		r := &rows[i]
		if n := len(settings); n == 0 || settings[n-1] != r.setting {
			settings = append(settings, r.setting)
		}
		of[r.setting+", "+r.variant] = r
	}
	var b strings.Builder
	b.WriteString("How many times faster with hints (CPU time without / CPU time with; \">=\" where the check without\nthem, \"<=\" where the one with them had not ended at its limit, \"-\" where neither had)\n\n")
	fmt.Fprintf(&b, "| store and setting | %s |\n|%s\n", strings.Join(hintEngines, " | "), strings.Repeat("---|", 1+len(hintEngines)))
	for _, s := range settings {
		fmt.Fprintf(&b, "| %s |", s)
		for _, e := range hintEngines {
			fmt.Fprintf(&b, " %s |", timesFaster(of[s+", "+e+", no hints"], of[s+", "+e+", hints"]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// timesFaster is one cell: empty where one of the two was not measured.
func timesFaster(without, with *benchRow) string {
	if without == nil || with == nil {
		return ""
	}
	bound := ""
	switch a, b := verdictOf(without.ours) == "unknown", verdictOf(with.ours) == "unknown"; {
	case a && b:
		return "-"
	case a:
		bound = ">= "
	case b:
		bound = "<= "
	}
	t := median(with.ours, cpuOf)
	if t == 0 {
		return "-"
	}
	return fmt.Sprintf("%s%.3g", bound, median(without.ours, cpuOf)/t)
}
