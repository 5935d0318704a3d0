package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the version of the program; released builds set it.
var version = "dev"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  args(cobra.NoArgs, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			a.printVersion()
			return nil
		},
	}
}

func (a *app) printVersion() {
	a.print("pinyon %s", version)
	if info, ok := debug.ReadBuildInfo(); ok {
		a.print(" (%s)", info.GoVersion)
	}
	a.print("\n")
}
