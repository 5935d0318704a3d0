package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pinyon/kvstores"
)

// storeFlags are those of `pinyon store`.
type storeFlags struct {
	id, listen, dir, bug string
	peers, options       []string
}

// storeCommand runs one node of a fixture store: this is what the harness
// starts. It ends with its parent, which holds the other end of its standard
// input, and on SIGTERM.
func (a *app) storeCommand() *cobra.Command {
	var f storeFlags
	c := &cobra.Command{
		Use:   "store NAME",
		Short: "Run one node of a fixture store",
		Example: `  pinyon store kvsingle                                  # one node, on a free port
  pinyon store kvabd --id n1 --peer n2=127.0.0.1:7002 --peer n3=127.0.0.1:7003`,
		Long: `Runs one node, as pinyon run starts several. It prints the address on which it
listens, and ends with its standard input or an interrupt.`,
		Args:              args(cobra.ExactArgs(1), "one store, see pinyon stores"),
		ValidArgsFunction: completeOne(storeNames),
		RunE: func(_ *cobra.Command, names []string) error {
			s, err := findStore(names[0])
			if err != nil {
				return usagef("%v", err)
			}
			return f.run(a.ctx, s, a.stdin, a.stdout, a.stderr)
		},
	}
	l := c.Flags()
	l.SortFlags = false
	l.StringVar(&f.id, "id", "n1", "the `NAME` of this node")
	l.StringVar(&f.listen, "listen", "127.0.0.1:0", "the `ADDRESS` to listen on")
	l.StringVar(&f.dir, "dir", "", "the `FOLDER` of what survives a kill (default: nothing does)")
	l.StringVar(&f.bug, "bug", "", "a `MISTAKE` to make (pinyon stores NAME lists them)")
	l.StringArrayVar(&f.peers, "peer", nil, "another node and where to reach it, `NAME=ADDRESS`; repeatable")
	l.StringArrayVar(&f.options, "option", nil, "a setting of the store, `NAME=VALUE`; repeatable")
	return c
}

func (f *storeFlags) run(ctx context.Context, s kvstores.Store, in io.Reader, out, log io.Writer) error {
	peers, err := pairs("--peer", f.peers)
	if err != nil {
		return &status{exitUsage, err}
	}
	options, err := pairs("--option", f.options)
	if err != nil {
		return &status{exitUsage, err}
	}
	nodes := []string{f.id}
	for id := range peers {
		nodes = append(nodes, id)
	}
	slices.Sort(nodes)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in) // ends when the parent does
		cancel()
	}()
	return kvstores.Serve(ctx, s, kvstores.Config{ID: f.id, Nodes: nodes, Peers: kvstores.NewPeers(f.id, peers), Dir: f.dir,
		Bug: f.bug, Options: options, Clock: new(kvstores.Clock), Log: log}, f.listen, out)
}

// pairs reads NAME=VALUE arguments of a flag.
func pairs(flag string, list []string) (map[string]string, error) {
	m := make(map[string]string, len(list))
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if _, twice := m[name]; !ok || name == "" || twice {
			return nil, fmt.Errorf("%s %q: expected NAME=VALUE, each name once", flag, text)
		}
		m[name] = value
	}
	return m, nil
}
