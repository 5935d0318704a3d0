package main

import (
	"fmt"

	"pinyon/bench/gen"
)

// benchCase is one row of a table: a history, how it is checked, and whether
// the rival can check it.
type benchCase struct {
	suite, name string
	job         benchJob
	rival       bool
	// ladder names the cases of one kind that come in the order of their size:
	// once the rival exceeded its limit on one, it is not run on the next.
	ladder string
	// line is the line of a plot that the case is a point of; "" none.
	line string
	// files are recordings, which take the place of seeds; clients is how many
	// there were in each.
	files   []string
	clients int
	// setting and variant are the two halves of the name of such a case.
	setting, variant string
}

// suites are the groups of cases by name.
var suites = []struct {
	name  string
	cases func() []benchCase
}{
	{"matrix", matrixCases},
	{"bursts", burstCases},
	{"logs", logCases},
	{"registers", registerCases},
	{"containers", containerCases},
	{"keys", keyCases},
	{"opaque", opaqueCases},
}

func suiteNames() (names []string) {
	for _, s := range suites {
		names = append(names, s.name)
	}
	return names
}

// shaped is a case of a generated history.
func shaped(suite, name string, s gen.Shape) benchCase {
	return benchCase{suite: suite, name: name, job: benchJob{Shape: &s}}
}

var (
	matrixClients = []int{4, 8, 12, 16, 20, 32}
	matrixReads   = []float64{.01, .33, .5, .66, .99}
	matrixValues  = []int{0, 5, 50}
)

// valuesText names how many values are written.
func valuesText(values int) string {
	if values == 0 {
		return "unique values"
	}
	return fmt.Sprintf("%d values", values)
}

func staleText(stale bool) string {
	if stale {
		return "one stale read"
	}
	return "consistent"
}

// matrixCases: one register under every number of clients and share of reads.
func matrixCases() (cases []benchCase) {
	for _, values := range matrixValues {
		for _, stale := range []bool{false, true} {
			for _, reads := range matrixReads {
				kind := fmt.Sprintf("%s, %s, reads %.2f", valuesText(values), staleText(stale), reads)
				for _, clients := range matrixClients {
					c := shaped("matrix", fmt.Sprintf("%s, clients %d", kind, clients),
						gen.Shape{Model: "register", Clients: clients, Ops: 2000, Reads: reads, Values: values, Stale: stale})
					c.rival, c.ladder = true, kind
					if reads == .5 {
						c.line = valuesText(values) + ", " + staleText(stale)
					}
					cases = append(cases, c)
				}
			}
		}
	}
	return cases
}

// burstCases: writes all at once, and what was read of them.
func burstCases() (cases []benchCase) {
	for _, look := range []string{"first", "middle", "last", "initial", "two", "two-during"} {
		for _, k := range []int{16, 20, 252} {
			c := shaped("bursts", fmt.Sprintf("%d writes at once, read %s", k, look), gen.Shape{Model: "register", Burst: k, Look: look})
			c.rival, c.ladder = true, look
			cases = append(cases, c)
		}
	}
	c := shaped("bursts", "10 appends at once, one full read", gen.Shape{Model: "log", Burst: 10, Look: "full"})
	c.rival = true
	return append(cases, c)
}

// logCases: a shared log that is rarely read whole.
func logCases() (cases []benchCase) {
	for _, stale := range []bool{false, true} {
		for _, ops := range []int{100, 500, 2000, 10_000} {
			for _, clients := range []int{4, 16} {
				s := gen.Shape{Model: "log", Clients: clients, Ops: ops, Reads: .05, Full: .2, Stale: stale}
				if stale {
					s.Reads = .4
				}
				c := shaped("logs", fmt.Sprintf("%s, operations %d, clients %d", staleText(stale), ops, clients), s)
				c.rival, c.ladder, c.line = ops <= 500, fmt.Sprint(stale, clients), fmt.Sprintf("%s, %d clients", staleText(stale), clients)
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// levels under which long registers are checked.
var registerLevels = []string{"linearizable", "sequential", "ordered-sequential", "regular-sequential", "bounded-staleness:t=1ms"}

// registerCases: long histories of one register, by level, by number of
// values, and with everything that makes histories hard.
func registerCases() (cases []benchCase) {
	for _, level := range registerLevels {
		for _, ops := range []int{10_000, 100_000, 1_000_000} {
			c := shaped("registers", fmt.Sprintf("%s, unique values, operations %d", level, ops), gen.Shape{Model: "register", Clients: 16, Ops: ops, Reads: .5})
			c.job.Level, c.line = level, level
			cases = append(cases, c)
		}
	}
	base := gen.Shape{Model: "cas-register", Clients: 16, Ops: 100_000, Reads: .5}
	for _, v := range []struct {
		name string
		with func(s *gen.Shape)
	}{
		{"5 values, 0.5 % unanswered", func(s *gen.Shape) { s.Values, s.Crash = 5, .005 }},
		{"50 values, 0.5 % unanswered", func(s *gen.Shape) { s.Values, s.Crash = 50, .005 }},
		{"unique values, 1 % unanswered", func(s *gen.Shape) { s.Crash = .01 }},
		{"unique values, equal times", func(s *gen.Shape) { s.Ties = true }},
		{"unique values, heavy tail", func(s *gen.Shape) { s.Law = "heavy" }},
		{"unique values, cas of which half refused", func(s *gen.Shape) { s.Cas, s.FailedCas = .3, .5 }},
		{"5 values, cas of which half refused", func(s *gen.Shape) { s.Values, s.Cas, s.FailedCas = 5, .3, .5 }},
		{"5 values, all of these", func(s *gen.Shape) {
			s.Values, s.Cas, s.FailedCas, s.Ties, s.Crash, s.Law = 5, .3, .5, true, .01, "heavy"
		}},
	} {
		for _, stale := range []bool{false, true} {
			s := base
			s.Stale = stale
			v.with(&s)
			cases = append(cases, shaped("registers", v.name+", "+staleText(stale), s))
		}
	}
	return cases
}

// containerModels are the other objects.
var containerModels = []string{"queue", "stack", "priority-queue", "set", "counter", "mutex", "log"}

// containerCases: long histories of other objects, 1 % of the adds without an
// answer.
func containerCases() (cases []benchCase) {
	for _, model := range containerModels {
		for _, stale := range []bool{false, true} {
			for _, ops := range []int{10_000, 100_000, 1_000_000} {
				s := gen.Shape{Model: model, Clients: 8, Ops: ops, Reads: .1, Crash: .01, Stale: stale}
				c := shaped("containers", fmt.Sprintf("%s, %s, operations %d", model, staleText(stale), ops), s)
				if !stale {
					c.line = model
				}
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// keyCases: many keys under levels that keep them together.
func keyCases() (cases []benchCase) {
	for _, level := range []string{"linearizable", "sequential", "ordered-sequential", "regular-sequential"} {
		for _, ops := range []int{1000, 10_000, 100_000} {
			c := shaped("keys", fmt.Sprintf("%s, 100 keys, operations %d", level, ops), gen.Shape{Model: "kv", Clients: 20, Ops: ops, Reads: .5, Keys: 100})
			c.job.Level, c.line = level, level
			c.rival, c.ladder = level == "linearizable", level
			cases = append(cases, c)
		}
	}
	return cases
}

// opaqueCases: a register of which nothing is known but how it steps.
func opaqueCases() (cases []benchCase) {
	for _, values := range []int{0, 5} {
		for _, stale := range []bool{false, true} {
			for _, reads := range []float64{.33, .66, .99} {
				for _, clients := range []int{4, 8, 12} {
					kind := fmt.Sprintf("%s, %s, reads %.2f", valuesText(values), staleText(stale), reads)
					c := shaped("opaque", fmt.Sprintf("%s, clients %d", kind, clients),
						gen.Shape{Model: "register", Clients: clients, Ops: 2000, Reads: reads, Values: values, Stale: stale})
					c.job.Opaque, c.job.Engine, c.rival, c.ladder = true, "search", true, kind
					cases = append(cases, c)
				}
			}
		}
	}
	return cases
}
