package consistency

import (
	"slices"
	"strings"
)

// Relation is what a row of the hierarchy says of two levels.
type Relation uint8

// Blind rows hold where no operation reads and writes at once: a
// compare-and-set demands that its place be the same for everybody who knows
// of it, and levels that let processes disagree then ask more than others.
const (
	Stronger  Relation = iota // whatever the first allows, the second allows
	Same                      // and the other way round
	BlindOnly                 // Stronger, on blind histories
	BlindSame                 // Same, on blind histories
)

// Row is one row of the hierarchy. Levels with parameters stand there as
// patterns: K and K+1 for bounds in versions from 2 on, T and T+ for bounds in
// time of which the second is the greater one.
type Row struct {
	Stronger, Weaker string
	Relation         Relation
}

const (
	guaranteesName = "single-order:"
	allGuarantees  = guaranteesName + "read-your-writes+monotonic-reads+monotonic-writes+writes-follow-reads"
)

// members are the rows with parameters, beside those of implications and the
// sets of guarantees.
var members = []Row{
	{"linearizable", "bounded-staleness:k=1", Same},
	{"linearizable", "bounded-staleness:k=K", Stronger},
	{"bounded-staleness:k=K", "bounded-staleness:k=K+1", Stronger},
	{"linearizable", "bounded-staleness:t=0s", Stronger},
	{"bounded-staleness:t=0s", "bounded-staleness:t=T", Stronger},
	{"bounded-staleness:t=T", "bounded-staleness:t=T+", Stronger},
	{"bounded-staleness:k=K", "bounded-staleness:k=K,t=T", Stronger},
	{"bounded-staleness:t=T", "bounded-staleness:k=K,t=T", Stronger},
	{"bounded-staleness:t=0s", "regular", Stronger},
	// A stale read can be moved back to the version that it saw.
	{"bounded-staleness:k=K+1", "timeline", Stronger},
	{"bounded-staleness:t=T+", "timeline", Stronger},
	{"bounded-staleness:k=K,t=T", "timeline", Stronger},
	{"bounded-staleness:k=K+1", guaranteesName + "monotonic-writes+writes-follow-reads", Stronger},
	{"bounded-staleness:t=T+", guaranteesName + "monotonic-writes", Stronger},
	{"bounded-staleness:k=K,t=T", guaranteesName + "monotonic-writes", Stronger},

	// Bounds on what a read misses.
	{"regular", "k-linearizability:k=1", Same},
	{"regular", "k-linearizability:k=K", Stronger},
	{"bounded-staleness:k=K", "k-linearizability:k=K", Stronger},
	{"k-linearizability:k=K", "k-linearizability:k=K+1", Stronger},
	{"bounded-staleness:k=K+1", "k-linearizability:k=K+1", Stronger},
	{"k-linearizability:k=K+1", "timeline", Stronger},
	{"linearizable", "prefix-staleness:k=1", Stronger},
	{"prefix-staleness:k=1", "regular-sequential", Stronger},
	{"prefix-staleness:k=1", "regular", Stronger},
	{"prefix-staleness:k=1", "prefix-staleness:k=K", Stronger},
	{"prefix-staleness:k=K", "k-linearizability:k=K", Stronger},
	{"prefix-staleness:k=K", "prefix-staleness:k=K+1", Stronger},
	{"prefix-staleness:k=K", "prefix-staleness:k=K,t=T", Stronger},
	{"prefix-staleness:k=K+1", "k-linearizability:k=K+1", Stronger},
	{"prefix-staleness:k=K+1", "ordered-sequential", Stronger},
	{"linearizable", "prefix-staleness:t=T", Stronger},
	{"prefix-staleness:t=T", "prefix-staleness:t=T+", Stronger},
	{"prefix-staleness:t=T", "prefix-staleness:k=K,t=T", Stronger},
	{"prefix-staleness:t=T+", "ordered-sequential", Stronger},
	{"prefix-staleness:k=K,t=T", "ordered-sequential", Stronger},
	{"linearizable", "cosmos-docs:k=K,t=T", Stronger},
	{"cosmos-docs:k=K,t=T", "prefix-staleness:k=K+1", Stronger},
	{"cosmos-docs:k=K,t=T", "prefix-staleness:t=T", Stronger},
	{"bounded-staleness:t=0s", "cosmos-tla2018:k=K", Stronger},
	{"cosmos-tla2018:k=K", "k-linearizability:k=K+1", Stronger},
	{"cosmos-tla2018:k=K", "cosmos-tla2018:k=K+1", Stronger},
	{"cosmos-tla2018:k=K+1", "timeline", Stronger},
	{"linearizable", "cosmos-tla2022:k=1", Same},
	{"linearizable", "cosmos-tla2022:k=K", Stronger},
	{"cosmos-tla2022:k=K", "cosmos-tla2022:k=K+1", Stronger},
	{"cosmos-tla2022:k=K", "bounded-staleness:k=K", Stronger},
	{"cosmos-tla2022:k=K+1", "bounded-staleness:k=K+1", Stronger},

	{"sequential", allGuarantees, Same},
	{"prefix-sequential", guaranteesName + "monotonic-writes", Same},

	// A guarantee under one order and without. Under one order a process may
	// read what it writes only later unless writes follow reads.
	{guaranteesName + "monotonic-writes+writes-follow-reads", "writes-follow-reads", Stronger},
	{guaranteesName + "read-your-writes+monotonic-writes+writes-follow-reads", "read-your-writes", Stronger},
}

// blindRows hold on blind histories only. There a read whose place in the order
// nothing else fixes stands right after the write that it saw; then an order of
// the writes is never in the way, and all that is left to ask is that each read
// saw something.
var blindRows = []Row{
	{"causal-memory", "pram", BlindOnly},
	{"regular-weak", "prefix-sequential", BlindOnly}, // not timeline: clock error by node makes circles of real time
	{"causal-convergence", "per-key-sequential", BlindOnly},
	{"read-your-writes", "monotonic-writes", BlindOnly},
	{"monotonic-reads", "monotonic-writes", BlindOnly},
	{"monotonic-writes", "prefix-sequential", BlindOnly},
	{guaranteesName + "read-your-writes", "prefix-sequential", BlindOnly},
	{guaranteesName + "monotonic-reads", "prefix-sequential", BlindOnly},
	{guaranteesName + "read-your-writes+writes-follow-reads", "read-your-writes", BlindOnly},
	{guaranteesName + "monotonic-reads+writes-follow-reads", "monotonic-reads", BlindOnly},
	{guaranteesName + "writes-follow-reads", "writes-follow-reads", BlindSame},
	{guaranteesName + "monotonic-writes+writes-follow-reads", "writes-follow-reads", BlindSame},
	{"prefix-sequential", "prefix-linearizable", BlindSame},
}

// confused are levels that are easily taken for each other, or for a stronger
// and a weaker one, and of which neither implies the other.
var confused = [][2]string{
	{"causal-memory", "causal-convergence"},
	{"causal-convergence", "pram"},
	{"ordered-sequential", "regular-sequential"},
	{"bounded-staleness:k=K", "bounded-staleness:t=T"},
}

// neverCrosses are levels that are not local by their flag, since they are
// decided whole, though nothing in them leads from one key to another.
var neverCrosses = []string{"read-your-writes", "monotonic-reads"}

// NeverCrosses reports whether a level that is not split could be.
func NeverCrosses(level string) bool { return slices.Contains(neverCrosses, level) }

// guaranteeRows are the sets of session guarantees under one order: a set
// implies each that lacks one guarantee of it.
func guaranteeRows() (rows []Row) {
	for set := 1<<len(guarantees) - 1; set > 0; set-- {
		for g := range guarantees {
			if less := set &^ (1 << g); less != set && less != 0 {
				rows = append(rows, Row{guaranteeSet(set), guaranteeSet(less), Stronger})
			}
		}
	}
	return rows
}

func guaranteeSet(set int) string {
	var names []string
	for i, g := range guarantees {
		if set&(1<<i) != 0 {
			names = append(names, g.name)
		}
	}
	return guaranteesName + strings.Join(names, "+")
}

// Hierarchy lists the rows that the chart is drawn from and that a test holds
// to random histories: Implications, the rows of levels with parameters, and
// those of blind histories.
func Hierarchy() (rows []Row) {
	for _, p := range implications {
		rows = append(rows, Row{p[0], p[1], Stronger})
	}
	rows = append(rows, members...)
	rows = append(rows, guaranteeRows()...)
	return append(rows, blindRows...)
}

// Confused lists pairs of levels, patterns as in Row, that are easily confused
// and of which neither implies the other.
func Confused() [][2]string { return slices.Clone(confused) }

var memberOf = strings.NewReplacer("K+1", "3", "K", "2", "T+", "3ns", "T", "1ns")

// Member is the level that stands for a pattern in tests and in the names of
// litmus files: k=2 and k=3, t=1ns and t=3ns.
func Member(pattern string) string { return memberOf.Replace(pattern) }

// Chart is the hierarchy as a graph without what follows from other edges.
type Chart struct {
	Nodes []ChartNode
	Edges []ChartEdge
}

// ChartNode is a place in the chart: one level, or several that allow the same.
type ChartNode struct {
	Levels []string // patterns; the first is the one that edges of others name
	Kind   LevelKind
}

// LevelKind is how a level is decided.
type LevelKind uint8

// A local level has an order per key or one that keys can share; one order
// means one for all operations; views are orders of single processes, or of
// writes alone.
const (
	LocalKind LevelKind = iota
	OneOrderKind
	ViewsKind
)

// ChartEdge leads from a stronger to a weaker node, by place in Nodes.
type ChartEdge struct {
	From, To int
	Blind    bool // on blind histories only
}

// DrawChart makes the chart of the whole hierarchy. It fails for a row that
// names no level, and for rows that contradict each other.
func DrawChart() (*Chart, error) { return chartOf(Hierarchy()) }

func chartOf(rows []Row) (*Chart, error) {
	c := &Chart{}
	for _, r := range rows {
		for _, name := range []string{r.Stronger, r.Weaker} {
			if err := c.add(name, r, rows); err != nil {
				return nil, err
			}
		}
	}
	for _, blind := range []bool{false, true} {
		for _, r := range rows {
			a, b := c.Place(r.Stronger), c.Place(r.Weaker)
			if (r.Relation == Stronger && !blind || r.Relation == BlindOnly && blind) && a != b {
				c.Edges = append(c.Edges, ChartEdge{a, b, blind})
			}
		}
		c.reduce()
	}
	return c, nil
}

// add makes a node for a level, or puts it beside one that is the same.
func (c *Chart) add(name string, r Row, rows []Row) error {
	if c.Place(name) >= 0 {
		return nil
	}
	l, err := LookupLevel(Member(name))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Relation != Same || r.Stronger != name && r.Weaker != name {
			continue
		}
		if at := max(c.Place(r.Stronger), c.Place(r.Weaker)); at >= 0 {
			c.Nodes[at].Levels = append(c.Nodes[at].Levels, name)
			return nil
		}
	}
	kind := OneOrderKind
	switch {
	case l.Local:
		kind = LocalKind
	case l.views != nil:
		kind = ViewsKind
	}
	c.Nodes = append(c.Nodes, ChartNode{[]string{name}, kind})
	return nil
}

// Place is a level's node, by pattern; -1: it has none.
func (c *Chart) Place(name string) int {
	return slices.IndexFunc(c.Nodes, func(n ChartNode) bool { return slices.Contains(n.Levels, name) })
}

// reduce drops edges that follow from others. An edge of blind histories may
// follow from any, one of all histories only from those.
func (c *Chart) reduce() {
	for i := 0; i < len(c.Edges); {
		e := c.Edges[i]
		rest := slices.Delete(slices.Clone(c.Edges), i, i+1)
		if leads(rest, e.From, e.To, e.Blind, len(c.Nodes)) {
			c.Edges = rest
		} else {
			i++
		}
	}
}

// leads reports whether edges lead from one node to another.
func leads(edges []ChartEdge, from, to int, blind bool, nodes int) bool {
	seen := make([]bool, nodes)
	stack := []int{from}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, e := range edges {
			if e.From != at || e.Blind && !blind || seen[e.To] {
				continue
			}
			if e.To == to {
				return true
			}
			seen[e.To] = true
			stack = append(stack, e.To)
		}
	}
	return false
}

// PairFiles names the two litmus histories, in testdata/litmus/pairs, that one
// level accepts and another rejects.
func PairFiles(accepts, rejects string) [2]string {
	name := fileName.Replace(accepts) + "--not--" + fileName.Replace(rejects)
	return [2]string{name + ".jsonl", name + "--2.jsonl"}
}

// LocalityFile names the litmus history, in testdata/litmus/locality, of which
// the level allows each key alone and not both together.
func LocalityFile(level string) string { return fileName.Replace(level) + ".jsonl" }

var fileName = strings.NewReplacer(":", "-", "=", "-", "+", "-", ",", "-")
