package engine

import (
	"context"
	"slices"
	"testing"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// TestUnansweredThatChangeNothing: twenty unanswered writes that differ and
// change nothing cost no search.
func TestUnansweredThatChangeNothing(t *testing.T) {
	m := register()
	step := m.Step
	m.Step = func(s int, in call, out *int) (int, bool) {
		if in.value >= 100 {
			return s, true
		}
		return step(s, in, out)
	}
	ops := []op{write(0, 1, 0, 10), read(1, 5, 0, 10)}
	for i := range 20 {
		ops = append(ops, lost(write(2+i, 100+i, 0, 0)))
	}
	r, machine := problem(t, ops, m)
	plain := machine(context.Background())
	// Where steps may depend on what was placed, the memory of configurations knows
	// nothing of those with fewer unanswered operations.
	for _, m := range []spec.Machine{plain, &patient{Machine: plain, read: r.View.Read}} {
		part, err := Decide(context.Background(), Task{Rules: r, Machine: m, Eager: true, Limits: Limits{States: 1000}, Focus: -1})
		if err != nil || part.Kind != spec.Violation || part.States > 10 {
			t.Errorf("%v after %d states, %v; want a violation within 10", part.Kind, part.States, err)
		}
	}
}

// TestChainsBeyond16Bits: a configuration is not taken for the one 65,536
// operations further along the chain.
func TestChainsBeyond16Bits(t *testing.T) {
	var ops []op
	for i := range int64(1<<16 + 10) {
		ops = append(ops, write(0, 1, 2*i, 2*i+1))
	}
	if part := decide(t, ops, Limits{}); part.Kind != spec.Consistent {
		t.Errorf("%v after %d states", part.Kind, part.States)
	}
}

// counted counts the steps that a search asks for.
type counted struct {
	spec.Machine
	steps int
}

func (c *counted) Step(state, op int32) (int32, bool) {
	c.steps++
	return c.Machine.Step(state, op)
}

// TestConfigurationsAreSearchedOnce: seven overlapping writes that fit no read
// have 7! orders and few configurations, each asked about once.
func TestConfigurationsAreSearchedOnce(t *testing.T) {
	r, machine := problem(t, hard(7), register())
	m := &counted{Machine: machine(context.Background())}
	part, err := Decide(context.Background(), Task{Rules: r, Machine: m, Eager: true, Focus: -1})
	if err != nil || part.Kind != spec.Violation || m.steps > 25*int(part.States) {
		t.Errorf("%v, %d steps for %d states, %v", part.Kind, m.steps, part.States, err)
	}
}

// TestChildrenInOrder: where any order will do, what returned first comes
// first, unless soft order says otherwise.
func TestChildrenInOrder(t *testing.T) {
	ops := []op{write(0, 1, 0, 90), write(1, 2, 1, 70), write(2, 3, 2, 80)}
	r, machine := problem(t, ops, register())
	up := &order.Clock{Name: "up", Out: []int64{2, 0, 1}, In: []int64{2, 0, 1}}
	down := &order.Clock{Name: "down", Out: []int64{1, 2, 0}, In: []int64{1, 2, 0}}
	for _, c := range []struct {
		soft *order.Clock
		want []int32
	}{{nil, []int32{1, 2, 0}}, {up, []int32{1, 2, 0}}, {down, []int32{2, 0, 1}}} {
		r.Soft = nil
		if c.soft != nil {
			r.AddSoft(c.soft.Name, c.soft)
		}
		part, err := Decide(context.Background(), Task{Rules: r, Machine: machine(context.Background()), Eager: true, Limits: Limits{}, Focus: -1})
		if err != nil || !slices.Equal(part.Witness, c.want) {
			t.Errorf("soft %v: %v, want %v (%v)", c.soft, part.Witness, c.want, err)
		}
	}
}

// patient lets reads come only after so many updates.
type patient struct {
	spec.Machine
	read    []bool
	updates int
	want    int
}

func (p *patient) Restart() { p.updates = 0 }
func (p *patient) Placed(op int32) {
	if !p.read[op] {
		p.updates++
	}
}
func (p *patient) Unplaced(op int32) {
	if !p.read[op] {
		p.updates--
	}
}

func (p *patient) Step(state, op int32) (int32, bool) {
	if p.read[op] && p.updates < p.want {
		return 0, false
	}
	return p.Machine.Step(state, op)
}

// TestMoreUnansweredMayHelp: where steps depend on what was placed, a
// configuration is not that of the same state with fewer unanswered operations.
func TestMoreUnansweredMayHelp(t *testing.T) {
	r, machine := problem(t, []op{read(0, 0, 10, 20), lost(write(1, 1, 0, 0)), lost(write(2, 0, 0, 0))}, register())
	for want, kind := range map[int]spec.Kind{0: spec.Consistent, 2: spec.Consistent, 3: spec.Violation} {
		m := &patient{Machine: machine(context.Background()), read: r.View.Read, want: want}
		part, err := Decide(context.Background(), Task{Rules: r, Machine: m, Focus: -1})
		if err != nil || part.Kind != kind {
			t.Errorf("after %d updates: %v, %v; want %v", want, part.Kind, err, kind)
		}
	}
}
