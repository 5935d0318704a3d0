package main

import (
	"strings"

	"github.com/spf13/cobra"

	"pinyon/oracles"
)

func (a *app) oraclesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "oracles [NAME|FILE]",
		Short: "List the built-in oracles: what hints of a store say about order",
		Example: `  pinyon oracles
  pinyon oracles etcd
  pinyon oracles my-store.yaml     # check that a file loads`,
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
  soft: []                    # what to try first; never decides

pinyon check FILE --oracle my-store.yaml uses it, --oracle none drops the one
that the history claims.`,
		Args:              args(cobra.MaximumNArgs(1), "at most one name"),
		ValidArgsFunction: completeOne(oracleNames),
		RunE: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				a.list(oracleLines())
				return nil
			}
			return a.oracle(names[0])
		},
	}
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
	if err != nil {
		return err
	}
	for _, i := range oracles.Infos() {
		if i.Name == name {
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
