package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pinyon/models"
)

func (a *app) modelsCommand() *cobra.Command {
	markdown := false
	cmd := &cobra.Command{
		Use:   "models [NAME|FILE]",
		Short: "List the models: what an object may be",
		Example: `  pinyon models
  pinyon models cas-register
  pinyon models my-model.yaml     # check that a file loads`,
		Long: `A model says what one object does when one client uses it. Built-in ones are
named; a model of one value may also be a YAML file:

  model: lease                # its name
  version: 1
  initial: null               # the state before any operation
  operations:
    - f: [read, get]          # names of the operation
      output: state           # its answer
    - f: acquire
      input: client           # a name for the input, or for its parts: [from, to]
      when: state == null     # the condition under which it takes effect
      next: client            # the state afterwards
      output: true
      else: {output: false}   # what it does otherwise; without else it is impossible

pinyon check FILE --model lease.yaml uses it. docs/MODELS.md has the whole language.`,
		Args:              args(cobra.MaximumNArgs(1), "at most one name"),
		ValidArgsFunction: completeOneOrFile(func() []string { return append(modelNames(), analysisNames()...) }),
		RunE: func(_ *cobra.Command, names []string) error {
			switch {
			case len(names) == 1:
				if an, err := models.LookupAnalysis(names[0]); err == nil {
					a.print("%s, an analysis: it decides by itself, at no level\n\n%s\n", an.Name, an.Doc)
					return nil
				}
				return a.model(names[0])
			case markdown:
				a.print("%s", modelsMarkdown())
			default:
				a.list(modelLines())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print all of them as a document")
	return cmd
}

// model describes one, built in or in a file.
func (a *app) model(name string) error {
	if !isOracleFile(name) {
		e, err := models.Lookup(name)
		if err != nil {
			return usagef("%v", err)
		}
		a.print("%s", modelText(e))
		return nil
	}
	e, err := loadModel(name)
	if err != nil {
		return err
	}
	a.print("%s: %s", name, modelText(e))
	return nil
}

// list prints names with their lines, in two columns.
func (a *app) list(rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	for _, r := range rows {
		a.print("%-*s  %s\n", width, r[0], r[1])
	}
}

func modelLines() (rows [][2]string) {
	for _, e := range models.All() {
		rows = append(rows, [2]string{e.Name, firstSentence(e.Doc)})
	}
	for _, a := range models.Analyses() {
		rows = append(rows, [2]string{a.Name, "(analysis) " + firstSentence(a.Doc)})
	}
	return rows
}

// firstSentence is a doc's first line, or its first sentence where the line
// goes on.
func firstSentence(doc string) string {
	line, _, _ := strings.Cut(doc, "\n")
	if s, _, more := strings.Cut(line, ". "); more {
		return s + "."
	}
	return line
}

// opCall writes the names and the input of an operation.
func opCall(o models.OpDoc) (names, in, out string) {
	names = strings.Join(append([]string{o.F}, o.Aliases...), ", ")
	none := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	return names, none(o.In), none(o.Out)
}

func modelText(e models.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\ninitial value (--init): %s\n", e.Name, e.Doc, e.Initial)
	if e.NeverSplit {
		b.WriteString("never split: one operation may touch several parts of the object\n")
	}
	b.WriteString("\noperations:\n")
	for _, o := range e.Ops {
		names, in, out := opCall(o)
		fmt.Fprintf(&b, "  %s\n    in   %s\n    out  %s\n", names, in, out)
	}
	return b.String()
}

func modelsMarkdown() string {
	var b strings.Builder
	b.WriteString("# Models\n\nWritten by `pinyon models --markdown`. A model describes one object; a history may hold many, one for each key.\n")
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, e := range models.All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nInitial value: %s.\n", e.Name, e.Doc, e.Initial)
		if e.NeverSplit {
			b.WriteString("\nNever split: one operation may touch several parts of the object.\n")
		}
		b.WriteString("\n| operation | in | out |\n|---|---|---|\n")
		for _, o := range e.Ops {
			names, in, out := opCall(o)
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell.Replace(names), cell.Replace(in), cell.Replace(out))
		}
	}
	return b.String()
}
