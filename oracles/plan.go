package oracles

import (
	"fmt"
	"strings"

	"pinyon/oracles/rule"
)

// PlanLine says how one part of an oracle is evaluated.
type PlanLine struct {
	Rule   string // "order_by", a rule's name, or its list and place in the file
	Class  string // "clock", "clocks", "dominance", "components", "edges", "findings" or "pairs"
	Why    string
	Pairs  bool   // it is asked pair by pair
	Strong string // "hard" or "soft"; "" for findings
}

// Plan reads an oracle from YAML, as Load does, and says how each part of it is
// evaluated. Everything but the class pairs takes O(n log n) for n operations, a
// dominance as long as its numbers mostly agree.
func Plan(path string, data []byte) (lines []PlanLine, allKeys bool, err error) {
	d, err := parse(path, data)
	if err != nil {
		return nil, false, err
	}
	return d.plan(), d.allKeys, nil
}

// ManyPairs is the number of asked pairs above which a check says so.
const ManyPairs = manyPairs

func (d *document) plan() (lines []PlanLine) {
	strength := map[bool]string{false: "hard", true: "soft"}
	if o := d.orderBy; o != nil {
		lines = append(lines, PlanLine{"order_by", rule.Clock.String(), "a sort by " + o.names(), false, strength[o.soft]})
	}
	if d.deps != nil {
		lines = append(lines, PlanLine{"deps", "components", "strongly connected components of the dependency graph", false, "hard"})
	}
	for _, p := range d.rules {
		class, why := p.rule.Plan()
		lines = append(lines, PlanLine{p.label(), class.String(), why, class == rule.Pairs, strength[p.soft]})
	}
	if d.unique != nil {
		var names []string
		for _, p := range d.unique {
			names = append(names, p.name)
		}
		lines = append(lines, PlanLine{"unique", "findings", "a table of " + strings.Join(names, " and "), false, ""})
	}
	if f := d.readsFrom; f != nil {
		lines = append(lines, PlanLine{"reads_from", "edges", fmt.Sprintf("one from the write with the %s that a read's %s names, and findings", f.write, f.read), false, "hard"})
	}
	if s := d.staleness; s != nil {
		lines = append(lines, PlanLine{"staleness", "clock", fmt.Sprintf("real time into writes; and findings, from a sort by time of %s", s.write), false, "hard"})
	}
	return lines
}
