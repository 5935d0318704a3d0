package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pinyon/engine/history/suggest"
)

// command builds the tree of subcommands.
func (a *app) command() *cobra.Command {
	showVersion := false
	root := &cobra.Command{
		Use:   "pinyon",
		Short: "Check recorded histories of a distributed store against a consistency level",
		Example: `  pinyon check history.jsonl
  pinyon check history.edn --model cas-register --init 0
  pinyon check run.jsonl --model kv --level ordered-sequential --oracle zookeeper
  pinyon levels sequential`,
		SilenceErrors: true, // exit says them, once
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				a.printVersion()
				return nil
			}
			cmd.SetOut(a.stderr)
			cmd.Help()
			return &status{code: exitUsage}
		},
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.checkCommand(), a.verifyCommand(), a.convertCommand(), a.modelsCommand(),
		a.levelsCommand(), a.oraclesCommand(), a.benchCommand(), a.demoCommand(), a.runCommand(), a.reportCommand(), a.sweepCommand(), a.mergeCommand(), a.scheduleCommand(), a.storesCommand(), a.storeCommand(), a.versionCommand(), a.completionCommand())
	root.AddCommand(topics()...)
	root.SetHelpCommand(a.helpCommand())
	return root
}

// The help of a command: what it is, examples first, then words, then flags.
const helpTemplate = `{{with .Short}}{{.}}

{{end}}{{with .Example}}Examples:
{{.}}

{{end}}{{with .Long}}{{trimTrailingWhitespaces .}}
{{end}}{{if or .Runnable .HasSubCommands}}{{if .Long}}
{{end}}{{.UsageString}}{{end}}`

const usageTemplate = `Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{else}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasHelpSubCommands}}

Topics:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{.Root.Name}} help {{rpad .Name 11}} {{.Short}}{{end}}{{end}}{{end}}
`

// unknownCommand is the error about a word that is no subcommand.
func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	return usagef("unknown command %q%s", word, didYouMean(word, names, "pinyon help lists them"))
}

// didYouMean ends a message about an unknown word.
func didYouMean(word string, known []string, otherwise string) string {
	if near := suggest.Closest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return "; " + otherwise
}

// The messages of pflag about a flag that there is not: --name, or the letters
// of -name.
var (
	unknownFlag    = regexp.MustCompile(`^unknown flag: --(.*)$`)
	unknownLetters = regexp.MustCompile(`^unknown shorthand flag: '.+' in -(.*)$`)
)

// flagError makes every error of the flags one of usage.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	dashes, m := "--", unknownFlag.FindStringSubmatch(err.Error())
	if m == nil {
		dashes, m = "-", unknownLetters.FindStringSubmatch(err.Error())
	}
	if m == nil {
		return usagef("%s", flagValue(err))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	word, _, _ := strings.Cut(m[1], "=")
	return usagef("unknown flag %s%s%s", dashes, word, didYouMean("--"+word, names, cmd.CommandPath()+" --help lists them"))
}

// flagValue words the error of a flag's value: what Go's parsers say tells
// nobody what to write.
func flagValue(err error) string {
	text := err.Error()
	for parser, want := range map[string]string{
		": time: ":               "a duration such as 5s or 200ms",
		": strconv.ParseInt: ":   "a whole number",
		": strconv.ParseUint: ":  "a whole number, not negative",
		": strconv.ParseFloat: ": "a number",
		": strconv.ParseBool: ":  "true or false",
	} {
		if what, why, ok := strings.Cut(text, parser); ok && !strings.HasSuffix(why, "out of range") {
			return what + ": expected " + want
		}
	}
	return text
}

// args wraps cobra's checks of the number of arguments into errors of usage.
func args(check cobra.PositionalArgs, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) != nil {
			return usagef("%s wants %s, got %d; see %s --help", cmd.CommandPath(), want, len(args), cmd.CommandPath())
		}
		return nil
	}
}

// choice is a flag that takes one of a few words.
type choice struct {
	value string
	of    []string
}

// word adds a flag that takes one of a few words, which stand behind its help.
func word(fs *pflag.FlagSet, name, value, usage string, of ...string) *choice {
	c := &choice{value, of}
	fs.Var(c, name, usage+": "+strings.Join(of, ", "))
	return c
}

func (c *choice) String() string { return c.value }

// Type is what help prints behind the flag: nothing, as the words stand in its
// text.
func (c *choice) Type() string { return "" }

// Set implements pflag.Value.
func (c *choice) Set(word string) error {
	for _, w := range c.of {
		if w == word {
			c.value = word
			return nil
		}
	}
	text := "expected " + strings.Join(c.of, ", ")
	if near := suggest.Closest(word, c.of); near != "" {
		text += "; did you mean " + near + "?"
	}
	return errors.New(text)
}
