package models

import (
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// CounterIn is an input of counter; CounterAdd, CounterRead and AddAndGet make
// one.
type CounterIn struct {
	F string
	N history.Value // an integer
}

// CounterAdd adds n, which may be negative.
func CounterAdd(n int64) CounterIn { return CounterIn{"add", history.Int(n)} }

// CounterRead asks for the count.
func CounterRead() CounterIn { return CounterIn{F: "read"} }

// AddAndGet adds n and returns the sum.
func AddAndGet(n int64) CounterIn { return CounterIn{"add-and-get", history.Int(n)} }

// Counter is an integer that is added to and read. It is exact at any size. The
// output of read and add-and-get is the count, of add history.Absent. An absent
// initial value is 0; one that is no integer makes every add impossible.
func Counter(initial history.Value) spec.Model[history.Value, CounterIn, history.Value] {
	if initial == history.Absent || initial == history.Null {
		initial = history.Int(0)
	}
	return spec.Model[history.Value, CounterIn, history.Value]{
		Name:  "counter",
		Init:  func() history.Value { return initial },
		Apply: counterApply,
		ReadOnly: func(in CounterIn, _ *history.Value) bool {
			return in.F == "read" || in.N == history.Int(0)
		},
		Text: func(in CounterIn, out *history.Value) string {
			switch in.F {
			case "add":
				return "add " + in.N.Label()
			case "add-and-get":
				return answered(in.F+" "+in.N.Label(), out, "null")
			}
			return answered(in.F, out, "null")
		},
		Describe: history.Value.Label,
	}
}

func counterApply(s history.Value, in CounterIn) (next, out history.Value, ok bool) {
	switch in.F {
	case "read":
		return s, s, true
	case "add":
		n, ok := sum(s, in.N)
		return n, history.Absent, ok
	case "add-and-get":
		n, ok := sum(s, in.N)
		return n, n, ok
	}
	panic(noSuch("counter", in.F))
}

func counterEntry() Entry {
	ops := []operation[CounterIn, history.Value]{{
		OpDoc: OpDoc{F: "add", In: "an integer"},
		in:    intInput(func(n history.Value) CounterIn { return CounterIn{"add", n} }), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "read", Aliases: []string{"get"}, Out: "the count"},
		in:    noInput(CounterRead()), out: intOutput, nilRead: true,
	}, {
		OpDoc: OpDoc{F: "add-and-get", In: "an integer", Out: "the sum"},
		in:    intInput(func(n history.Value) CounterIn { return CounterIn{"add-and-get", n} }), out: intOutput,
	}}
	return entry(Entry{
		Name:    "counter",
		Doc:     "An integer that is added to and read.",
		Initial: "an integer; 0",
	}, ops, func(initial history.Value) (m spec.Model[history.Value, CounterIn, history.Value], err error) {
		if initial != history.Absent && initial != history.Null && !isInt(initial) {
			return m, fmt.Errorf("want an integer, got %s", got(initial))
		}
		return Counter(initial), nil
	})
}
