package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pinyon/engine/history"
	"pinyon/faultnet"
)

const (
	probeLimit = 250 * time.Millisecond // a probe that takes longer is blocked
	busyWithin = 3 * time.Second        // a link that carried bytes this recently is in use
	probeTail  = 20 * time.Millisecond  // how long after its end the bytes of a probe may still be counted
	healWithin = 5 * time.Second        // how long a link or node may take to come back
)

// tooLate is why a step was not applied.
const tooLate = "the run ended before its turn"

// nemesis carries out a schedule against a cluster and gathers the evidence.
type nemesis struct {
	cluster *cluster
	clock   clock
	note    func(history.Note)
	say     func(format string, args ...any)
	disarm  bool // for tests: nothing is done

	mutex  sync.Mutex
	active []*faultnet.Step       // those under way, in the order in which they began
	turns  map[string]*sync.Mutex // by node: held by the step that hits it
}

// run carries out every step at its time and returns the evidence, in the
// order of the schedule. When ctx ends, what is under way is taken back at
// once and the rest is not applied.
func (n *nemesis) run(ctx context.Context, s *faultnet.Schedule) []Evidence {
	list := make([]Evidence, len(s.Steps))
	var wg sync.WaitGroup
	start := time.Now()
	for i, step := range s.Steps {
		list[i] = Evidence{Step: step, Kind: step.Kind, Hits: describe(step)}
		wg.Go(func() {
			if sleep(ctx, step.At-time.Since(start)) {
				n.step(ctx, &list[i])
			} else {
				list[i].Error = tooLate
			}
		})
	}
	wg.Wait()
	return list
}

// sleep waits, and reports whether it was not cut short.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// step applies one fault, holds it and takes it back, probing before, during
// and after.
func (n *nemesis) step(ctx context.Context, e *Evidence) {
	leader, err := "", error(nil)
	if e.Step.NeedsLeader() {
		if leader, err = n.cluster.leader(ctx); err != nil || leader == "" {
			e.Error = fmt.Sprintf("nobody leads (%v)", err)
			return
		}
	}
	step := e.Step.Resolve(n.cluster.topo, leader)
	e.Step, e.Hits = step, describe(step)
	places := placesOf(step)
	if len(places) == 0 {
		e.Error = "the fault hits nothing: it names no link and no node"
		return
	}
	defer n.turn(step.Nodes)()
	if ctx.Err() != nil {
		e.Error = tooLate
		return
	}
	e.Probes = n.before(ctx, step, places)
	from := n.clock.now()
	e.From = from
	err = n.apply(ctx, &step)
	e.Applied = err == nil
	if err == nil {
		n.say("%s %s for %s", step.Kind, describe(step), step.For)
		began := time.Now()
		n.during(ctx, &step, places, e.Probes)
		sleep(ctx, step.For-time.Since(began))
	}
	// Everything is taken back, also after an error and when ctx has ended.
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), healWithin)
	defer cancel()
	err = errors.Join(err, n.undo(undo, &step))
	e.To = n.clock.now()
	n.note(history.Note{Name: string(step.Kind), From: from, To: e.To, Detail: history.String(e.Hits)})
	n.after(undo, step, places, e.Probes)
	if err != nil {
		e.Error = err.Error()
		n.say("%s %s: %v", step.Kind, describe(step), err)
	}
	e.judge()
}

// place is a link or a node that a fault hits; of a node, the admin's link.
type place struct {
	name string
	link faultnet.Link
	node string // "" for a link
}

func placesOf(s faultnet.Step) (list []place) {
	if len(s.Links) > 0 {
		for _, l := range s.Links {
			list = append(list, place{name: l.String(), link: l})
		}
		return list
	}
	for _, id := range s.Nodes {
		list = append(list, place{name: id, link: faultnet.Link{From: admin, To: id}, node: id})
	}
	return list
}

// turn waits until no other step hits any of the nodes: on a slow machine a
// node may take longer to come back than the schedule gives it, and what kills
// it meanwhile would start it twice.
func (n *nemesis) turn(nodes []string) (done func()) {
	var held []*sync.Mutex
	for _, id := range slices.Sorted(slices.Values(nodes)) { // in one order: no two wait for each other
		n.mutex.Lock()
		if n.turns == nil {
			n.turns = map[string]*sync.Mutex{}
		}
		if n.turns[id] == nil {
			n.turns[id] = new(sync.Mutex)
		}
		held = append(held, n.turns[id])
		n.mutex.Unlock()
		held[len(held)-1].Lock()
	}
	return func() {
		for _, m := range held {
			m.Unlock()
		}
	}
}

// each probes all places at once.
func each(places []place, probe func(i int, p place)) {
	var wg sync.WaitGroup
	for i, p := range places {
		wg.Go(func() { probe(i, p) })
	}
	wg.Wait()
}

// before probes what is about to be hit. Whether the store used a link is
// looked up first, as the probes use it too.
func (n *nemesis) before(ctx context.Context, s faultnet.Step, places []place) []Probe {
	probes := make([]Probe, len(places))
	used := n.cluster.used()
	each(places, func(i int, p place) {
		probes[i] = Probe{At: p.name, Busy: p.node != "" || used[p.link], Before: n.passes(ctx, s, p)}
	})
	return probes
}

func (n *nemesis) during(ctx context.Context, s *faultnet.Step, places []place, probes []Probe) {
	each(places, func(i int, p place) {
		switch s.Kind {
		case faultnet.Clock:
			probes[i].During = n.shifted(ctx, p, s.Offset)
		case faultnet.Delay, faultnet.Throttle:
			probes[i].During = n.slow(ctx, s, p)
		default:
			probes[i].During = n.cluster.ping(ctx, p.link, probeLimit) != nil && ctx.Err() == nil
		}
	})
}

// after waits for each place to come back.
func (n *nemesis) after(ctx context.Context, s faultnet.Step, places []place, probes []Probe) {
	each(places, func(i int, p place) {
		for ctx.Err() == nil && !probes[i].After && !n.cluster.stopped() {
			if probes[i].After = n.passes(ctx, s, p); !probes[i].After {
				sleep(ctx, 20*time.Millisecond)
			}
		}
	})
}

// passes reports whether a place is as without the fault.
func (n *nemesis) passes(ctx context.Context, s faultnet.Step, p place) bool {
	if s.Kind == faultnet.Clock {
		return n.shifted(ctx, p, 0)
	}
	limit := time.Second
	if s.Kind == faultnet.Delay && s.Delay > 0 {
		limit = max(s.Delay*3/4, 5*time.Millisecond)
	}
	return n.cluster.ping(ctx, p.link, limit) == nil
}

// slow reports whether an exchange takes about as long as the fault makes it.
func (n *nemesis) slow(ctx context.Context, s *faultnet.Step, p place) bool {
	least := s.Delay * 3 / 4
	if s.Kind == faultnet.Throttle {
		least = time.Duration(50 * float64(time.Second) / float64(max(s.BytesPerSecond, 1))) // fifty bytes, less than any exchange
	}
	from := time.Now()
	_ = n.cluster.ping(ctx, p.link, least+probeLimit)
	return time.Since(from) >= least && ctx.Err() == nil
}

func (n *nemesis) shifted(ctx context.Context, p place, offset time.Duration) bool {
	c, ok := n.cluster.target.(Clocked)
	if !ok {
		return false
	}
	got, err := c.Offset(ctx, n.cluster.network.Addr(p.link))
	return err == nil && got == offset
}

// apply puts a fault in place.
func (n *nemesis) apply(ctx context.Context, s *faultnet.Step) error {
	if n.disarm {
		return nil
	}
	if len(s.Links) > 0 {
		return n.change(s.Links, func() { n.active = append(n.active, s) })
	}
	return together(s.Nodes, func(id string) error {
		switch s.Kind {
		case faultnet.Kill:
			return n.cluster.kill(id)
		case faultnet.Pause:
			return n.cluster.pause(id)
		case faultnet.Clock:
			return n.shift(ctx, id, s.Offset)
		}
		return fmt.Errorf("fault %q does not hit nodes", s.Kind)
	})
}

// together does something to all nodes at once, and returns when all of it is
// done, with the errors in the order of the nodes: a store whose nodes die one
// after the other has time to save what the last of them knows.
func together(nodes []string, do func(id string) error) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, id := range nodes {
		wg.Go(func() { errs[i] = do(id) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// undo takes it back: at every link and node, whatever fails.
func (n *nemesis) undo(ctx context.Context, s *faultnet.Step) error {
	if n.disarm {
		return nil
	}
	if len(s.Links) > 0 {
		return n.change(s.Links, func() {
			n.active = slices.DeleteFunc(n.active, func(a *faultnet.Step) bool { return a == s })
		})
	}
	return together(s.Nodes, func(id string) error {
		switch s.Kind {
		case faultnet.Kill:
			return n.cluster.restart(ctx, id)
		case faultnet.Pause:
			return n.cluster.resume(id)
		case faultnet.Clock:
			return n.shift(ctx, id, 0)
		}
		return nil // apply has said that this is no fault of nodes
	})
}

func (n *nemesis) shift(ctx context.Context, id string, offset time.Duration) error {
	c, ok := n.cluster.target.(Clocked)
	if !ok {
		return fmt.Errorf("the clock of %s cannot be shifted", n.cluster.target.Claim().Name)
	}
	return c.Shift(ctx, n.cluster.network.Addr(faultnet.Link{From: admin, To: id}), offset)
}

// change alters which steps are under way and gives each way of each of the
// links the rule of the last step that hits it, or none. All are tried, whatever
// fails.
func (n *nemesis) change(links []faultnet.Link, alter func()) (err error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	alter()
	for _, l := range links {
		there, back := n.rule(l, faultnet.Forward), n.rule(l, faultnet.Backward)
		if there == back {
			err = errors.Join(err, n.cluster.network.Set(l, faultnet.Both, there))
			continue
		}
		err = errors.Join(err, n.cluster.network.Set(l, faultnet.Forward, there), n.cluster.network.Set(l, faultnet.Backward, back))
	}
	return err
}

// rule is what the steps under way ask of one way of a link.
func (n *nemesis) rule(l faultnet.Link, w faultnet.Way) faultnet.Rule {
	for i := len(n.active) - 1; i >= 0; i-- {
		if s := n.active[i]; (s.Way == w || s.Way == faultnet.Both) && slices.Contains(s.Links, l) {
			return s.Rule()
		}
	}
	return faultnet.Rule{Kind: faultnet.Pass}
}

// describe says what a step hits.
func describe(s faultnet.Step) string {
	if len(s.Links) > 0 {
		return linkNames(s.Links)
	}
	return fmt.Sprint(s.Nodes)
}

func linkNames(links []faultnet.Link) string {
	text := ""
	for i, l := range links {
		if i > 0 {
			text += " "
		}
		text += l.String()
	}
	return text
}
