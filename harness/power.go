package harness

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"pinyon/engine/spec"
)

// The settings under which the power of a campaign is measured.
var (
	powerClients = []int{3, 10, 25}
	powerRates   = []float64{100, 400}
)

// Strength is how soon one mistake shows under one setting: medians of the
// operations and the seconds until the first impossible return, of the runs in
// which there was one.
type Strength struct {
	Row          Row
	Clients      int
	Rate         float64
	Runs, Caught int
	Ops          int64
	Seconds      float64
}

// Power measures every row that is not correct, under the profile that shows
// its mistake the quickest.
func Power(ctx context.Context, c *Campaign, rows []Row, seeds int) ([]Strength, error) {
	one := *c
	one.First, one.Strongest = true, false
	one.Duration = c.Duration / 2
	var list []Strength
	var cases []Case
	for _, r := range rows {
		if r.Correct {
			continue
		}
		for _, clients := range powerClients {
			for _, rate := range powerRates {
				list = append(list, Strength{Row: r, Clients: clients, Rate: rate})
				for s := range seeds {
					cases = append(cases, Case{Store: r.Store, Bug: r.Bug, Options: r.Options, Faults: r.quickest(), Clients: clients, Rate: rate, Seed: uint64(101 + s)})
				}
			}
		}
	}
	results, err := one.Run(ctx, cases)
	if err != nil || len(results) < len(cases) {
		return nil, err
	}
	for i := range list {
		list[i].measure(results[i*seeds : (i+1)*seeds])
	}
	return list, nil
}

// quickest is the profile that shows a row's mistake the soonest.
func (r Row) quickest() string {
	if len(r.Always) > 0 {
		return r.Always[0]
	}
	return r.Columns[0]
}

func (s *Strength) measure(runs []CaseResult) {
	var ops []int64
	var seconds []float64
	for _, r := range runs {
		s.Runs++
		if r.Verdict == spec.Violation.String() {
			s.Caught++
			ops, seconds = append(ops, r.FirstOps), append(seconds, r.FirstTime)
		}
	}
	if s.Caught > 0 {
		slices.Sort(ops)
		slices.Sort(seconds)
		s.Ops, s.Seconds = ops[len(ops)/2], seconds[len(seconds)/2]
	}
}

// PrintPower writes a line for each row and setting.
func PrintPower(out io.Writer, list []Strength) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "mistake\tfaults\tclients\trate\tcaught\tmedian operations\tmedian seconds\n")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%d\t%g/s\t%d/%d", s.Row.name(), s.Row.quickest(), s.Clients, s.Rate, s.Caught, s.Runs)
		if s.Caught > 0 {
			fmt.Fprintf(w, "\t%d\t%.2f", s.Ops, s.Seconds)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
