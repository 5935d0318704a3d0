package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pinyon/faultnet"
)

// ErrVain: none of the faults that were asked for can be seen to work on this
// store, so that the run would be vacuous.
var ErrVain = errors.New("the run would test nothing")

// Vain says, before anything starts, whether no fault of the run can be seen to
// work on its store. The error is ErrVain where that is so, another where the
// configuration is wrong, nil where faults may work or none are asked for.
func (c Config) Vain() error {
	if err := c.defaults(); err != nil {
		return err
	}
	plan, err := c.schedule(Topology(c.Nodes, c.Clients))
	if err != nil {
		return err
	}
	return vain(c.Target.Claim(), plan)
}

// vain is Vain, of a schedule.
func vain(c Claim, s *faultnet.Schedule) error {
	why := ""
	switch {
	case c.Leaderless && onlyLeader(s):
		why = fmt.Sprintf("every fault hits the leader, and %s has none; isolate-one cuts off any node", c.Name)
	case c.Apart && onlyPeers(s):
		why = fmt.Sprintf("every fault hits links between nodes, and those of %s do not speak to each other; pause and kill hit the nodes", c.Name)
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", ErrVain, why)
}

// led refuses a run whose every fault hits the leader where nobody leads: of a
// store from outside this is known once it runs.
func (c *cluster) led(ctx context.Context, s *faultnet.Schedule) error {
	if !onlyLeader(s) {
		return nil
	}
	if leader, err := c.leader(ctx); err != nil || leader == "" {
		return errors.Join(fmt.Errorf("%w: every fault hits the leader, and nobody leads %s", ErrVain, c.target.Claim().Name), err)
	}
	return nil
}

// onlyLeader: there are faults, and each is of the leader.
func onlyLeader(s *faultnet.Schedule) bool {
	return len(s.Steps) > 0 && !slices.ContainsFunc(s.Steps, func(step faultnet.Step) bool { return !step.NeedsLeader() })
}

// onlyPeers: there are faults, and each is of links between nodes.
func onlyPeers(s *faultnet.Schedule) bool {
	other := func(l faultnet.Link) bool {
		return slices.ContainsFunc(s.Topology.Clients, func(c faultnet.Client) bool { return c.Name == l.From })
	}
	return len(s.Steps) > 0 && !slices.ContainsFunc(s.Steps, func(step faultnet.Step) bool {
		return len(step.Links) == 0 || slices.ContainsFunc(step.Links, other)
	})
}
