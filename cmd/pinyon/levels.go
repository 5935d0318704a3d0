package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pinyon/consistency"
)

func (a *app) levelsCommand() *cobra.Command {
	markdown, svg := false, false
	cmd := &cobra.Command{
		Use:   "levels [NAME|FILE]",
		Short: "List the consistency levels",
		Example: `  pinyon levels
  pinyon levels bounded-staleness
  pinyon levels cached-reads.yaml  # check that a file loads`,
		Long: `A level says which orders of the operations a store may answer by. pinyon levels
NAME tells one whole: its parameters, what it promises, where that is from, and
whether a history may be split by key. docs/LEVELS.md has all of them, with
histories that each allows and forbids, and a chart of which implies which. A YAML
file gives each class of operations a level of its own
(docs/LEVELS-PER-OPERATION.md).

pinyon check FILE --level NAME uses it.`,
		Args:              args(cobra.MaximumNArgs(1), "at most one name"),
		ValidArgsFunction: completeOne(consistency.Names),
		RunE: func(_ *cobra.Command, names []string) error {
			switch {
			case len(names) == 1 && isOracleFile(names[0]):
				return a.levelFile(names[0])
			case len(names) == 1:
				l, err := levelInfo(names[0])
				if err != nil {
					return err
				}
				a.print("%s", levelText(l))
			case svg:
				text, err := chartSVG()
				if err != nil {
					return err
				}
				a.print("%s", text)
			case markdown:
				text, err := levelsMarkdown()
				if err != nil {
					return err
				}
				a.print("%s", text)
			default:
				a.list(levelLines())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print all of them as a document (docs/LEVELS.md)")
	cmd.Flags().BoolVar(&svg, "svg", false, "print the chart of which level implies which (docs/levels.svg)")
	return cmd
}

// levelInfo describes the level with this name, its parameters given or not.
func levelInfo(name string) (consistency.Info, error) {
	base, _, _ := strings.Cut(name, ":")
	for _, l := range consistency.Levels() {
		if l.Name == base {
			return l, nil
		}
	}
	level, err := consistency.LookupLevel(name) // the short names
	if err != nil {
		return consistency.Info{}, usagef("%v", err)
	}
	return levelInfo(level.Name)
}

// levelFile describes the level of a file.
func (a *app) levelFile(path string) error {
	l, err := findLevel(path)
	if err != nil {
		return err
	}
	a.print("%s: %s\n\n%s\nlocal: %s\n", path, l.Name, l.Text(), locality(l.Local))
	return nil
}

func levelLines() (rows [][2]string) {
	for _, l := range consistency.Levels() {
		params, _, _ := strings.Cut(l.Params, " ") // the first form; the full description has all
		rows = append(rows, [2]string{l.Name + params, firstSentence(l.Doc)})
	}
	return rows
}

func locality(local bool) string {
	if local {
		return "yes, a history may be split by key"
	}
	return "no, a history is never split by key"
}

func levelText(l consistency.Info) string {
	return fmt.Sprintf("%s%s\n\n%s\n\nsource: %s\nlocal: %s\nbecause: %s\n", l.Name, l.Params, l.Doc, l.Source, locality(l.Local), l.WhyLocal)
}
