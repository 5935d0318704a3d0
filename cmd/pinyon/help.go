package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pinyon/engine/history"
	"pinyon/engine/history/importers"
)

// topics are pages of help that belong to no subcommand.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit status means", Long: exitCodesText},
		{Use: "formats", Short: "The formats of histories, and what each implies", Long: formatsText()},
	}
}

const exitCodesText = `The exit status is the same for every subcommand:

   0  consistent: an order exists (or --expect is met)
   1  violation: none exists
   2  unknown: a budget ran out, or the check was interrupted
   3  vacuous: nothing was tested, no operation has an answer
  64  the command was called wrongly
  65  malformed input: a history, oracle, level, model or proof that contradicts itself or its format
  66  a file that cannot be read
  70  the tool itself failed

Unknown and vacuous are never a pass. Of several files the first of 70, 64, 66,
65, 1, 2, 3, 0 wins; an error in one file does not stop the others.

An interrupt of run ends its load, and the verdict on what was recorded until then
is its status, 2 where nothing was. One of sweep or bench leaves cases out; what was found stands, and
the status is 2 where it would be 0 or 3.

--expect VERDICT turns the command into an assertion over every file: 0 when met;
otherwise 1 when the verdict was decided the other way, 2 when it is unknown, 3
when it is vacuous. Errors stay errors.`

func formatsText() string {
	var b strings.Builder
	b.WriteString("A file's format is told by its content; --format names it. gzip is unpacked, \"-\" is\nstandard input. A Pinyon bundle, a Jepsen or Maelstrom store and an etcd robustness\nreport are folders.\n\n")
	for _, f := range importers.Formats() {
		fmt.Fprintf(&b, "  %-16s %s\n", f.Name, f.Doc)
	}
	b.WriteString("\nWhat each implies where neither a flag nor the header says otherwise:\n\n")
	fmt.Fprintf(&b, "  %-16s %-6s %-11s %-9s %-9s %s\n", "", "order", "ties", "nil-read", "fail-cas", "initial value")
	for _, f := range importers.Formats() {
		d := f.Defaults
		initial, ties := "the model's", d.Ties.String()
		if d.Initial != history.Absent {
			initial = d.Initial.Text()
		}
		if d.Order == history.ByLine {
			ties = "-"
		}
		fmt.Fprintf(&b, "  %-16s %-6s %-11s %-9s %-9s %s\n", f.Name, d.Order, ties, d.NilRead, d.FailCas, initial)
	}
	b.WriteString("\n" + importers.MappingText + "\n")
	b.WriteString("\nThe native format, line by line, is in docs/FORMATS.md.")
	return b.String()
}

// helpCommand is cobra's, but for words that are no command: those are errors.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about a command or a topic",
		Example: `  pinyon help check
  pinyon help exit-codes`,
		RunE: func(cmd *cobra.Command, words []string) error {
			root := cmd.Root()
			target, rest, err := root.Find(words)
			switch {
			case err != nil || len(words) > 0 && target == root:
				return unknownCommand(root, words[0])
			case len(rest) > 0:
				return usagef("help takes a command or a topic, and %q is none of %s; %s --help says what it takes", rest[0], target.Name(), target.CommandPath())
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				if len(args) == 0 && (c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()) {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
