package main

import (
	"bufio"
	"io"
	"os"

	"github.com/spf13/cobra"

	"pinyon/engine/history"
	"pinyon/models"
)

func (a *app) convertCommand() *cobra.Command {
	f := &readFlags{}
	out := ""
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Write a history in the native format",
		Example: `  pinyon convert history.edn --model cas-register --init 0 -o history.jsonl
  pinyon convert jepsen.log | pinyon check - --model cas-register`,
		Long: `Reads FILE in any format that is known and writes it as JSON Lines. The rules that
the format or the flags imply (initial value, nil reads, refused compare-and-sets,
ties) go into the header, so that the new file has the same verdict.`,
		Args: args(cobra.ExactArgs(1), "one file"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := f.parse(cmd); err != nil {
				return err
			}
			return a.convert(f, files[0], out)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&out, "out", "o", "", "the `FILE` to write (default: stdout)")
	word(cmd.Flags(), "to", "native", "the format to write", "native")
	f.add(cmd)
	a.completeFlags(cmd)
	return cmd
}

func (a *app) convert(f *readFlags, path, out string) error {
	l, err := a.load(path, f)
	if err != nil {
		return err
	}
	for _, line := range l.report.Lines() {
		a.say("%s", line)
	}
	h := l.raw
	if h.Header.Model != "" {
		if _, err := models.Lookup(h.Header.Model); err != nil {
			return malformedf("%s: header: %v", path, err)
		}
	}
	if h.Header.Ties == history.TiesPrecede {
		h.Header.HasTies = true
	}
	if len(h.Ops) == 0 {
		h.Order = history.ByTime // there are no lines to keep in order
	}
	if !history.NativeTimes(h) {
		a.say("the recorded times contradict the order of the lines, which decides: times in the new file are positions of events")
	}
	return a.writeTo(out, func(w io.Writer) error { return history.WriteNative(w, h) })
}

// writeTo writes a file, or to stdout where path is empty.
func (a *app) writeTo(path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return write(a.stdout)
	}
	file, err := os.Create(path)
	if err != nil {
		return missingFile(err)
	}
	w := bufio.NewWriter(file)
	if err := write(w); err == nil {
		err = w.Flush()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
