package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pinyon/consistency"
)

func (a *app) levelsCommand() *cobra.Command {
	markdown := false
	cmd := &cobra.Command{
		Use:   "levels [NAME]",
		Short: "List the consistency levels",
		Example: `  pinyon levels
  pinyon levels bounded-staleness`,
		Args:              args(cobra.MaximumNArgs(1), "at most one name"),
		ValidArgsFunction: completeOne(consistency.Names),
		RunE: func(_ *cobra.Command, names []string) error {
			switch {
			case len(names) == 1:
				l, err := levelInfo(names[0])
				if err != nil {
					return err
				}
				a.print("%s", levelText(l))
			case markdown:
				a.print("%s", levelsMarkdown())
			default:
				a.list(levelLines())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print all of them as a document (docs/LEVELS.md)")
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

func levelLines() (rows [][2]string) {
	for _, l := range consistency.Levels() {
		params, _, _ := strings.Cut(l.Params, " ") // the first form; the full description has all
		rows = append(rows, [2]string{l.Name + params, firstSentence(l.Doc)})
	}
	return rows
}

func locality(l consistency.Info) string {
	if l.Local {
		return "yes, a history may be split by key"
	}
	return "no, a history is never split by key"
}

func levelText(l consistency.Info) string {
	return fmt.Sprintf("%s%s\n\n%s\n\nsource: %s\nlocal: %s\nbecause: %s\n", l.Name, l.Params, l.Doc, l.Source, locality(l), l.WhyLocal)
}

func levelsMarkdown() string {
	var b strings.Builder
	b.WriteString(`# Levels

Written by ` + "`pinyon levels --markdown`" + `; a test says when this file differs.

An operation is a read when, with its input and its output, it changes no state in which it is possible: a read, a failed
compare-and-set, a successful one from a value to the same value, a dequeue that found nothing. Everything else, and every
operation without an answer, is a write, whether or not it changes the value: writing 1 over 1 is a write. An operation without an answer may be placed late or never, and
precedes nothing. A failed one is dropped. Where an oracle is named, what its hints say about order is added to the level's
own. A level is local when a history is allowed exactly when the part of each key is: only then is a history split by key.
`)
	for _, l := range consistency.Levels() {
		fmt.Fprintf(&b, "\n## %s\n\n", l.Name)
		if l.Params != "" {
			fmt.Fprintf(&b, "`%s%s`\n\n", l.Name, l.Params)
		}
		fmt.Fprintf(&b, "%s\n\nSource: %s.\n\nLocal: %s. Because %s.\n", l.Doc, l.Source, locality(l), l.WhyLocal)
	}
	return b.String()
}
