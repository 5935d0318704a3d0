package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"pinyon/engine/history"
	"pinyon/engine/history/importers"
)

func (a *app) convertCommand() *cobra.Command {
	f := &readFlags{}
	out, to := "", &choice{}
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Write a history in the native format, or as Jepsen's EDN",
		Example: `  pinyon convert history.edn --model cas-register --init 0 -o history.jsonl
  pinyon convert jepsen.log | pinyon check - --model cas-register
  pinyon convert store/latest --to edn -o history.edn
  pinyon convert runs.csv --map process=client,f=op,in=value,out=result,invoke=start,return=end,unit=ms`,
		Long: `Reads FILE in any format that is known and writes it as JSON Lines, or with --to edn
as Jepsen's history.edn. The rules that the format or the flags imply (initial value,
nil reads, refused compare-and-sets, ties) go into the header, in EDN a comment, so
that the new file has the same verdict. Either file converts to the other and back
without loss. What -o names is replaced once all is written: an interrupt leaves it as it was.
Where that name ends in .gz, the file is packed by gzip.`,
		Args: args(cobra.ExactArgs(1), "one file"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := f.parse(cmd); err != nil {
				return err
			}
			if out != "" && sameFile(out, files[0]) {
				return usagef("-o %s would overwrite the history", out)
			}
			return a.convert(cmd.Context(), f, files[0], to.value, out)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&out, "out", "o", "", "the `FILE` to write (default: stdout)")
	to = word(cmd.Flags(), "to", "native", "the format to write", "native", "edn")
	f.add(cmd)
	a.completeFlags(cmd)
	return cmd
}

func (a *app) convert(ctx context.Context, f *readFlags, path, to, out string) error {
	l, err := a.loadUntil(ctx, path, f)
	if err != nil {
		return err
	}
	for _, line := range l.report.Lines() {
		a.say("%s", line)
	}
	h := l.raw
	if err := l.nameModel(f); err != nil {
		return err
	}
	if h.Header.Ties == history.TiesPrecede {
		h.Header.HasTies = true
	}
	if len(h.Ops) == 0 {
		h.Order = history.ByTime // there are no lines to keep in order
	}
	if h.Untimed {
		a.say("the file has no times: positions of events stand for them, and no level with a bound in time means anything on the new file")
	}
	if to == "edn" {
		return a.writeTo(ctx, out, func(w io.Writer) error { return importers.WriteEDN(w, h) })
	}
	if !history.NativeTimes(h) {
		a.say("the recorded times contradict the order of the lines, which decides: times in the new file are positions of events")
	}
	return a.writeTo(ctx, out, func(w io.Writer) error { return history.WriteNative(w, h) })
}
