package main

import (
	"github.com/spf13/cobra"

	"pinyon/consistency"
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Example: `  source <(pinyon completion bash)
  pinyon completion zsh > "${fpath[1]}/_pinyon"
  pinyon completion fish > ~/.config/fish/completions/pinyon.fish`,
		Args:              args(cobra.ExactArgs(1), "the name of a shell"),
		ValidArgsFunction: completeOne(func() []string { return shells }),
		RunE: func(cmd *cobra.Command, names []string) error {
			root := cmd.Root()
			switch names[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
			return usagef("no completion for %q%s", names[0], didYouMean(names[0], shells, "there are bash, zsh, fish and powershell"))
		},
	}
}

// completeOne completes a first argument from a list.
func completeOne(list func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeOneOrFile is completeOne where files will do, too.
func completeOneOrFile(list func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(), cobra.ShellCompDirectiveDefault
	}
}

// completeFlags completes the values of those flags of cmd that have names.
func (a *app) completeFlags(cmd *cobra.Command) {
	fixed := func(words ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	}
	complete := map[string]cobra.CompletionFunc{
		"model": cobra.FixedCompletions(append(modelNames(), analysisNames()...), cobra.ShellCompDirectiveDefault), "format": fixed(formatNames()...), "level": cobra.FixedCompletions(append(consistency.Names(), allLevels), cobra.ShellCompDirectiveDefault),
		"oracle": cobra.FixedCompletions(append(oracleNames(), "none"), cobra.ShellCompDirectiveDefault),
	}
	for name, words := range complete {
		if cmd.Flags().Lookup(name) != nil {
			// It fails only for a flag that does not exist or is completed twice.
			_ = cmd.RegisterFlagCompletionFunc(name, words)
		}
	}
	for _, name := range []string{"keyed", "numeric", "nil-read", "ties", "order", "fail-cas", "split", "engine", "expect", "color", "to"} {
		if f := cmd.Flags().Lookup(name); f != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, fixed(f.Value.(*choice).of...))
		}
	}
}
