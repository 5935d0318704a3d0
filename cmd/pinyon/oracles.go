package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pinyon/oracles"
)

func (a *app) oraclesCommand() *cobra.Command {
	plan := false
	cmd := &cobra.Command{
		Use:   "oracles [NAME|FILE]",
		Short: "List the built-in oracles: what hints of a store say about order",
		Example: `  pinyon oracles
  pinyon oracles etcd
  pinyon oracles my-store.yaml     # check that a file loads
  pinyon oracles my-store.yaml --explain-plan`,
		Long: `An oracle reads hints that a store returned with its responses (a log index, a
revision, a zxid) and says which operation came before which. Built-in ones are
named; others are YAML files:

  oracle: my-store            # the name in every reason
  version: 1
  fields: {index: int}        # the hints that are used
  order_by: index             # or {write: index, read: applied}, or [term, index]
  ties: write_before_read     # concurrent | write_before_read | read_before_write
  scope: key                  # key | all
  hard:                       # rules over two operations a and b
    - a.kind == "write" && b.kind == "read" && a.index <= b.index
    - "all s in a.seqs: a.seqs[s] < b.seqs[s]"      # or some, at least 2 of, at most 2 of
  soft: []                    # what to try first; never decides
  unique: index               # two acknowledged writes with one value are a finding
  reads_from: {read: version, write: index}         # names the write that a read saw
  deps: {replica: replica, inst: inst, deps: deps, seq: seq}   # a dependency graph
  staleness: {write: index, read: applied, entries: 3, time: 100ms}

--explain-plan says of each rule how it is evaluated, and which are asked pair by
pair: those are for thousands of operations, the others for millions.

pinyon check FILE --oracle my-store.yaml uses it, --oracle none drops the one
that the history claims. docs/ORACLES.md walks through writing one.`,
		Args:              args(cobra.MaximumNArgs(1), "at most one name"),
		ValidArgsFunction: completeOne(oracleNames),
		RunE: func(_ *cobra.Command, names []string) error {
			switch {
			case plan && (len(names) == 0 || !isOracleFile(names[0])):
				return usagef("--explain-plan takes a YAML file, such as pinyon oracles my-store.yaml --explain-plan")
			case plan:
				return a.explainPlan(names[0])
			case len(names) == 0:
				a.list(oracleLines())
				return nil
			}
			return a.oracle(names[0])
		},
	}
	cmd.Flags().BoolVar(&plan, "explain-plan", false, "say how each rule of a file is evaluated, and the pairs that it tries")
	return cmd
}

// explainPlan prints the plan of an oracle file.
func (a *app) explainPlan(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return missingFile(err)
	}
	lines, all, err := oracles.Plan(path, text)
	if err != nil {
		return &status{exitMalformed, err}
	}
	var rows [][2]string
	pairs := false
	for _, l := range lines {
		words := l.Class + ": " + l.Why
		if l.Strong != "" {
			words = l.Strong + " " + words
		}
		if l.Pairs {
			pairs = true
			words += "; tries every pair"
		}
		rows = append(rows, [2]string{l.Rule, words})
	}
	a.list(rows)
	switch of := map[bool]string{true: "n operations", false: "n operations of one key"}[all]; {
	case pairs:
		a.print("pairs tried: n*(n-1) for %s, 10,000 operations make %d; a check says when it is more than %d\n", of, 10_000*9_999, oracles.ManyPairs)
	default:
		a.print("pairs tried: none; a sort does it, and a dominance or components pass over what cannot precede in whole stretches\n")
	}
	return nil
}

func oracleLines() (rows [][2]string) {
	for _, i := range oracles.Infos() {
		line := firstSentence(i.Doc)
		if _, what, named := strings.Cut(line, ": "); named {
			line = what
		}
		rows = append(rows, [2]string{i.Name, line})
	}
	return rows
}

// oracle describes one, built in or in a file.
func (a *app) oracle(name string) error {
	o, err := findOracle(name)
	if err != nil && !isOracleFile(name) {
		_, err := oracles.Lookup(name) // no --oracle was given
		return usagef("%v; pinyon oracles lists them", err)
	}
	if err != nil {
		return err
	}
	base, _, _ := strings.Cut(name, ":") // bounds may follow
	for _, i := range oracles.Infos() {
		if i.Name == base {
			a.print("%s\n\n%s\n\nhints: %s\n", i.Name, i.Doc, strings.Join(i.Hints, ", "))
		}
	}
	if isOracleFile(name) {
		a.print("%s: %s\n\n%s", name, o.Name, o.Text)
	}
	a.print("orders: %s\n", keysOrdered(o.AllKeys))
	return nil
}

func keysOrdered(all bool) string {
	if all {
		return "operations of all keys, so no level stays local"
	}
	return "operations of one key"
}
