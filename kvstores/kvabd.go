package kvstores

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

func kvabd() Store {
	return Store{
		Name: "kvabd", Majority: true, Leaderless: true,
		Doc: "a register for each key, kept by majorities, without a leader\n" +
			"A put asks a majority for the newest stamp and stores its value under a higher one at a majority; a get asks a majority for the newest version and writes it back to a majority before it answers. " +
			"Attiya, Bar-Noy, Dolev, \"Sharing Memory Robustly in Message-Passing Systems\", JACM 1995, with several writers as in Lynch, Shvartsman, FTCS 1997.",
		Model: "kv", Claim: "linearizable",
		Ops: []string{"put", "get"}, Options: []Option{hintsOption},
		Bugs: []Bug{{Name: "no-write-back", Faults: []string{"none", "flaky", "hammer", "chaos"},
			Doc: "a get answers what it found without storing it at a majority: of two gets during one put the first may see the new value and the second the old one. Still regular."}},
		New: func(c Config) (Node, error) {
			g, err := openRegisters(c.Dir)
			return &abd{newCircle(c), g}, err
		},
	}
}

type abd struct {
	*circle
	registers *registers
}

func (a *abd) Do(ctx context.Context, r Request) Reply {
	if why := Check(r); why != "" {
		return failed(why)
	}
	if r.F != "put" && r.F != "get" {
		return failed("kvabd answers put and get only")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := a.find(ctx, r.Key)
	if err != nil {
		return failed(err.Error()) // nothing was stored anywhere
	}
	if r.F == "get" {
		return a.get(ctx, v)
	}
	v, err = a.registers.write(r.Key, compact(r.In), v.Stamp, writerID(a.Config))
	if err == nil {
		err = a.spread(ctx, v)
	}
	if err != nil {
		return unknown(err.Error())
	}
	return a.tagged(okay(nil), v)
}

func (a *abd) get(ctx context.Context, v version) Reply {
	if a.Bug != "no-write-back" {
		if err := a.spread(ctx, v); err != nil {
			return failed(err.Error()) // a read has no effect
		}
	}
	return a.tagged(okay(v.Value), v)
}

// tagged adds the hint of a register: the stamp of the version.
func (a *abd) tagged(r Reply, v version) Reply { return a.hint(r, "tag", v.Stamp[:2]) }

// writerID numbers the nodes from 1.
func writerID(c Config) int64 { return int64(slices.Index(c.Nodes, c.ID)) + 1 }

// find asks a majority for the newest version of key.
func (a *abd) find(ctx context.Context, key string) (version, error) {
	local := func() (version, error) { return a.registers.read(key), nil }
	list, err := ask(ctx, a.circle, "read", key, local, a.Majority(), false)
	if err != nil {
		return version{}, err
	}
	v, _ := newest(list)
	return v, nil
}

// spread stores v at a majority.
func (a *abd) spread(ctx context.Context, v version) error {
	local := func() (bool, error) { return true, a.registers.store(v) }
	_, err := ask(ctx, a.circle, "store", v, local, a.Majority(), true)
	return err
}

func (a *abd) Peer(_ context.Context, _, kind string, body []byte) ([]byte, error) {
	switch kind {
	case "read":
		return served(body, func(key string) (version, error) { return a.registers.read(key), nil })
	case "store":
		return served(body, func(v version) (bool, error) { return true, a.registers.store(v) })
	}
	return nil, fmt.Errorf("unexpected message %q", kind)
}

func (a *abd) Status() Status { return Status{Ready: true} }

func (a *abd) Close() error { return errors.Join(a.circle.Close(), a.registers.journal.close()) }
