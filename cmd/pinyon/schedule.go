package main

import (
	"time"

	"github.com/spf13/cobra"

	"pinyon/faultnet"
	"pinyon/harness"
)

func (a *app) scheduleCommand() *cobra.Command {
	var nodes, clients int
	var duration time.Duration
	var seed uint64
	c := &cobra.Command{
		Use:   "schedule [PROFILE]",
		Short: "Print a schedule of faults; pinyon run --schedule replays it",
		Example: `  pinyon schedule
  pinyon schedule halves --seed 7 > cuts.jsonl
  pinyon run --store kvraft --schedule cuts.jsonl`,
		Args:              args(cobra.MaximumNArgs(1), "at most one profile"),
		ValidArgsFunction: completeOne(profileNames),
		RunE: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				var rows [][2]string
				for _, p := range faultnet.Profiles() {
					rows = append(rows, [2]string{p.Name, p.Doc})
				}
				a.list(rows)
				return nil
			}
			if clients == 0 {
				clients = 2 * nodes
			}
			if nodes < 1 || clients < nodes {
				return usagef("%d clients for %d nodes: every node needs at least one", clients, nodes)
			}
			s, err := faultnet.Plan(names[0], seed, harness.Topology(nodes, clients), duration)
			if err != nil {
				return usagef("%v%s", err, didYouMean(names[0], profileNames(), "pinyon schedule lists them"))
			}
			return unwritten(faultnet.Encode(a.stdout, s))
		},
	}
	c.Flags().IntVar(&nodes, "nodes", 3, "how many nodes, `N`")
	c.Flags().IntVar(&clients, "clients", 0, "how many clients, `N` (default: twice the nodes)")
	c.Flags().DurationVar(&duration, "duration", 8*time.Second, "of the run, `TIME`")
	c.Flags().Uint64Var(&seed, "seed", 1, "the seed, `N`")
	return c
}

func profileNames() (names []string) {
	for _, p := range faultnet.Profiles() {
		names = append(names, p.Name)
	}
	return names
}
