package pinyon_test

import (
	"context"
	"fmt"
	"time"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

type call struct {
	write bool
	value int
}

var register = spec.Model[int, call, int]{
	Name: "register",
	Init: func() int { return 0 },
	Apply: func(s int, in call) (next, out int, ok bool) {
		if in.write {
			return in.value, 0, true
		}
		return s, s, true
	},
	ReadOnly: func(in call, _ *int) bool { return !in.write },
}

func Example() {
	h := &history.Of[call, int]{Ops: []history.Op[call, int]{
		{Process: 0, F: "write", In: call{true, 1}, Invoke: 0, Return: 10},
		{Process: 1, F: "read", In: call{}, Out: 0, Invoke: 20, Return: 30},
	}}
	level, _ := consistency.LookupLevel("linearizable")
	v, err := consistency.Check(context.Background(), h, register, level, consistency.Options{})
	if err != nil {
		fmt.Println(err) // no verdict: the history, the model or the level is at fault
		return
	}
	fmt.Println(v.Kind)
	// Output: violation
}

// backup is a level of one's own: linearizable, but for what the node "backup"
// answers, which may be anything.
var backup = consistency.Level{
	Name:  "backup-reads-are-free",
	Local: true,
	Order: func(v *history.View, r *order.Rules) error {
		if v.Read == nil {
			return spec.ErrCannotTell
		}
		held := func(op int32) bool { return !free(v, op) }
		r.Hard = append(r.Hard, order.Session(v, held, false))
		r.Hard = append(r.Hard, order.RealTime(v, order.Span{From: held, To: held})...)
		return nil
	},
	Validity: spec.Validity{Name: "free", Over: func(m spec.Machine, v *history.View) (spec.Machine, error) {
		return freeReads{m, v}, nil
	}},
}

func free(v *history.View, op int32) bool { return v.Read[op] && v.NodeName[v.Node[op]] == "backup" }

type freeReads struct {
	spec.Machine
	view *history.View
}

func (f freeReads) Step(state, op int32) (next int32, ok bool) {
	if free(f.view, op) {
		return state, true
	}
	return f.Machine.Step(state, op)
}

func Example_level() {
	for _, node := range []string{"primary", "backup"} {
		h := &history.Of[call, int]{Ops: []history.Op[call, int]{
			{Process: 0, F: "write", In: call{true, 1}, Invoke: 0, Return: 10, Node: "primary"},
			{Process: 1, F: "read", In: call{}, Out: 0, Invoke: 20, Return: 30, Node: node},
		}}
		v, err := consistency.Check(context.Background(), h, register, backup, consistency.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(node, v.Kind)
	}
	// Output:
	// primary violation
	// backup consistent
}

// edgeReads promises the reads of the node "edge" less than all others: they
// may be 50 ms old.
var edgeReads = consistency.PerOperation("edge-reads", func(v *history.View, i int32) consistency.Entitlement {
	if v.Read != nil && v.Read[i] && v.NodeName[v.Node[i]] == "edge" {
		return consistency.Entitlement{Early: 50 * time.Millisecond, Sessionless: true}
	}
	return consistency.Entitlement{} // linearizable
})

func Example_levelPerOperation() {
	const ms = 1_000_000 // times are in nanoseconds
	for _, node := range []string{"core", "edge"} {
		h := &history.Of[call, int]{Ops: []history.Op[call, int]{
			{Process: 0, F: "write", In: call{true, 1}, Invoke: 0, Return: 10 * ms, Node: "core"},
			{Process: 1, F: "read", In: call{}, Out: 0, Invoke: 30 * ms, Return: 31 * ms, Node: node},
		}}
		v, err := consistency.Check(context.Background(), h, register, edgeReads, consistency.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(node, v.Kind)
	}
	// Output:
	// core violation
	// edge consistent
}

// tally is testdata/oracles-docs/tally.yaml in Go.
var tally = order.Oracle{Name: "tally", Order: func(v *history.View, r *order.Rules) error {
	if v.Read == nil {
		return spec.ErrCannotTell
	}
	c := &order.Clock{Name: "slot", Out: make([]int64, v.N), In: make([]int64, v.N)}
	for i := range int32(v.N) {
		c.Out[i], c.In[i] = order.OutNever, order.InNever // without hints: unordered
		epoch, ok := v.Hints["epoch"].Int(i)
		slot, written := v.Hints["slot"].Int(i)
		applied, seen := v.Hints["applied"].Int(i)
		switch {
		case ok && written && !v.Read[i]:
			c.Out[i] = epoch<<40 + 2*slot
			c.In[i] = c.Out[i]
		case ok && seen && v.Read[i]:
			c.Out[i] = epoch<<40 + 2*applied + 1 // after the write in that slot
			c.In[i] = c.Out[i]
		}
	}
	r.AddHard("", c)
	return nil
}}

// inTally are the hints of an answer: a write's slot, or what a read's replica
// had applied.
func inTally(epoch int64, column string, place int64) []history.Hint {
	return []history.Hint{{Name: "epoch", Value: history.Int(epoch)}, {Name: column, Value: history.Int(place)}}
}

func Example_hints() {
	h := &history.Of[call, int]{Ops: []history.Op[call, int]{
		{Process: 0, F: "write", In: call{true, 1}, Invoke: 0, Return: 90, Hints: inTally(1, "slot", 7)},
		{Process: 1, F: "write", In: call{true, 2}, Invoke: 10, Return: 80, Hints: inTally(2, "slot", 1)},
		{Process: 2, F: "read", In: call{}, Out: 1, Invoke: 20, Return: 60, Hints: inTally(2, "applied", 1)},
	}}
	level, _ := consistency.LookupLevel("linearizable")
	v, err := consistency.Check(context.Background(), h, register, level, consistency.Options{Oracles: []order.Oracle{tally}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Kind)
	// Output: violation
}
