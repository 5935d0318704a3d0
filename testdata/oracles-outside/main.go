// Command outside checks a recorded history with a model, an oracle and a level
// of its own. It is no part of this module and needs nothing of it but packages.
package main

import (
	"context"
	"fmt"
	"os"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// A gauge keeps the greatest number that it was ever given.
type call struct {
	raise bool
	to    int64
}

var gauge = spec.Model[int64, call, int64]{
	Name: "gauge",
	Init: func() int64 { return 0 },
	Apply: func(top int64, in call) (next, out int64, ok bool) {
		if in.raise {
			return max(top, in.to), 0, true
		}
		return top, top, true
	},
	ReadOnly: func(in call, _ *int64) bool { return !in.raise },
}

// byTick: the store numbers its answers.
var byTick = order.Oracle{Name: "tick", Order: func(v *history.View, r *order.Rules) error {
	c := &order.Clock{Name: "tick", Out: make([]int64, v.N), In: make([]int64, v.N)}
	for i := range int32(v.N) {
		tick, ok := v.Hints["tick"].Int(i)
		if c.Out[i], c.In[i] = tick, tick; !ok {
			c.Out[i], c.In[i] = order.OutNever, order.InNever
		}
	}
	r.AddHard("", c)
	return nil
}}

// quiet keeps real time only between raises.
var quiet = consistency.Level{Name: "quiet", Local: true, Order: func(v *history.View, r *order.Rules) error {
	raise := func(op int32) bool { return !v.Read[op] }
	r.Hard = append(r.Hard, order.RealTime(v, order.Span{From: raise, To: raise})...)
	return nil
}}

func main() {
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func check(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	raw, err := history.ReadNative(path, file)
	if err != nil {
		return err
	}
	h := &history.Of[call, int64]{Header: raw.Header, Path: raw.Path}
	for _, o := range raw.Ops {
		in, _ := o.In.Int64()
		out, _ := o.Out.Int64()
		h.Ops = append(h.Ops, history.Op[call, int64]{Process: o.Process, F: o.F, Key: o.Key, In: call{o.F == "raise", in}, Out: out,
			Invoke: o.Invoke, Return: o.Return, Outcome: o.Outcome, Hints: o.Hints})
	}
	v, err := consistency.Check(context.Background(), h, gauge, quiet, consistency.Options{Oracles: []order.Oracle{byTick}})
	if err == nil {
		fmt.Println(v.Kind, v.Level)
	}
	return err
}
