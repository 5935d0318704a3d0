package verify

import (
	"fmt"
	"slices"
)

// orders turns the orders of the processes into positions, each process once.
func (c *weak) orders() (map[string][]int32, error) {
	orders := map[string][]int32{}
	for _, p := range c.part.Views {
		if !slices.Contains(c.subject.View.ProcessName, p.Process) {
			return nil, fmt.Errorf("there is an order of process %q, which is not there", p.Process)
		}
		if _, twice := orders[p.Process]; twice {
			return nil, fmt.Errorf("there are two orders of process %s", p.Process)
		}
		list, err := c.positions(p.Order)
		if err != nil {
			return nil, fmt.Errorf("the order of process %s: %w", p.Process, err)
		}
		orders[p.Process] = list
	}
	return orders, nil
}

// pramViews checks the orders of pram, as witnesses of sequential consistency
// of all updates and the reads of one process.
func (c *weak) pramViews() error {
	orders, err := c.orders()
	if err != nil {
		return err
	}
	if len(orders) == 0 {
		return fmt.Errorf("there is no order of any process")
	}
	v := c.subject.View
	sequential, err := Define("sequential")
	if err != nil {
		return err
	}
	for process, name := range v.ProcessName {
		var part []int32
		reads := false
		for x := range int32(v.N) {
			own := v.Read[x] && v.Process[x] == int32(process)
			if reads = reads || own; own || !v.Read[x] {
				part = append(part, x)
			}
		}
		order, ok := orders[name]
		if !ok && reads {
			return fmt.Errorf("there is no order of process %s", name)
		}
		if ok {
			if _, err := sequential.witness(c.subject, nil, part, order); err != nil {
				return fmt.Errorf("the order of process %s: %w", name, err)
			}
		}
	}
	return nil
}

// views checks the orders of causal memory: for each process with an answered
// operation one that holds, once each, its answered operations and the updates
// in the causal past of the last of them, keeps causality, and is legal.
func (w *witness) views() error {
	orders, err := w.orders()
	if err != nil {
		return err
	}
	v := w.view
	previous := w.previous()
	for process, ops := range w.session {
		name := v.ProcessName[process]
		order, ok := orders[name]
		last := slices.IndexFunc(ops, func(x int32) bool { return v.Info[x] })
		if last < 0 {
			last = len(ops)
		}
		if ok != (last > 0) {
			return fmt.Errorf("whether process %s has an order: %v, and whether an operation of it got an answer: %v", name, ok, last > 0)
		}
		if !ok {
			continue
		}
		if err := w.oneView(int32(process), ops[last-1], order, previous); err != nil {
			return fmt.Errorf("the order of process %s: %w", name, err)
		}
	}
	return nil
}

// oneView checks the order of one process, whose last answered operation is
// given.
func (w *witness) oneView(process, last int32, order, previous []int32) error {
	v := w.view
	past := make([]bool, v.N)
	past[last] = true
	for _, x := range slices.Backward(w.line) {
		for _, y := range w.causes(x, previous) {
			past[y] = past[y] || past[x]
		}
	}
	place := make([]int, v.N)
	for k, x := range order {
		if place[x] > 0 {
			return fmt.Errorf("%s stands in it twice", w.name(x))
		}
		place[x] = k + 1
	}
	latest := make([]int, v.N)
	for _, x := range w.line {
		member := past[x] && (w.write[x] >= 0 || v.Read[x] && v.Process[x] == process)
		if member != (place[x] > 0) {
			return fmt.Errorf("whether %s stands in it: %v, and whether it must: %v", w.name(x), place[x] > 0, member)
		}
		for _, y := range w.causes(x, previous) {
			latest[x] = max(latest[x], latest[y], place[y])
		}
		if member && place[x] < latest[x] {
			return fmt.Errorf("%s stands in it before one of its causal past", w.name(x))
		}
	}
	return w.play(order)
}

// play plays the order on the model; an update without an answer that stands
// in it had its effect.
func (w *witness) play(order []int32) error {
	m := w.machine
	states := map[int32]int32{}
	for _, x := range order {
		k := w.view.Key[x]
		state, ok := states[k]
		if !ok {
			state = m.Init(k)
		}
		next := steps(m, state, x)
		held := w.tokens.Held(state)
		if len(next) == 0 || w.write[x] >= 0 && w.want[x] >= 0 && held != w.want[x] {
			return fmt.Errorf("%s cannot happen there: the object is %s", w.name(x), describe(m, [][]int32{{state}}))
		}
		states[k] = next[0]
	}
	return nil
}
