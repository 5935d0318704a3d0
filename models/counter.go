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

// Count is the state of a counter: an integer of any size, or what the initial
// value was where that is none.
type Count struct {
	n     int64
	other history.Value // what no int64 can hold; Absent: n holds
}

func countOf(v history.Value) Count {
	if n, ok := v.Int64(); ok {
		return Count{n: n}
	}
	return Count{other: v}
}

// Value returns the count as a value.
func (c Count) Value() history.Value {
	if c.other != history.Absent {
		return c.other
	}
	return history.Int(c.n)
}

// is reports whether the count is v, without making a value of it.
func (c Count) is(v history.Value) bool {
	n, ok := v.Int64()
	return c.other == history.Absent && ok && n == c.n || c.other != history.Absent && c.other == v
}

// plus adds n exactly; ok is false when either is no integer.
func (c Count) plus(n history.Value) (total Count, ok bool) {
	if m, small := n.Int64(); small && c.other == history.Absent {
		// The sum overflows exactly when it has the sign of neither operand.
		if t := c.n + m; (c.n^t)&(m^t) >= 0 {
			return Count{n: t}, true
		}
	}
	v, ok := sum(c.Value(), n)
	return countOf(v), ok
}

// Counter is an integer that is added to and read. It is exact at any size. The
// output of read and add-and-get is the count, of add history.Absent. An absent
// initial value is 0; one that is no integer makes every add impossible.
func Counter(initial history.Value) spec.Model[Count, CounterIn, history.Value] {
	if initial == history.Absent || initial == history.Null {
		initial = history.Int(0)
	}
	m := spec.Model[Count, CounterIn, history.Value]{
		Name: "counter",
		Init: func() Count { return countOf(initial) },
		Step: counterStep,
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
		Describe: func(s Count) string { return s.Value().Label() },
	}
	if n, small := initial.Int64(); small {
		m.Count = &spec.Count[CounterIn, history.Value]{Initial: n, Use: counterUse}
	}
	return m
}

// counterUse is what an operation does to the count, where its numbers are
// small.
func counterUse(in CounterIn, out *history.Value) (use spec.CountUse) {
	by, small := in.N.Int64()
	sum, seen := int64(0), out != nil && in.F != "add"
	if seen {
		if sum, seen = out.Int64(); !seen {
			return use
		}
	}
	switch {
	case in.F == "read" && !seen:
		return spec.CountUse{Kind: spec.CountNothing}
	case in.F == "read":
		return spec.CountUse{Kind: spec.CountRead, Sum: sum}
	case !small:
		return use
	case seen:
		return spec.CountUse{Kind: spec.CountAddGet, By: by, Sum: sum}
	}
	return spec.CountUse{Kind: spec.CountAdd, By: by}
}

func counterStep(s Count, in CounterIn, out *history.Value) (next Count, ok bool) {
	switch in.F {
	case "read":
		return s, out == nil || s.is(*out)
	case "add":
		return s.plus(in.N)
	case "add-and-get":
		next, ok = s.plus(in.N)
		return next, ok && (out == nil || next.is(*out))
	}
	panic(noSuch("counter", in.F))
}

func counterOps() []operation[CounterIn, history.Value] {
	return []operation[CounterIn, history.Value]{{
		OpDoc: OpDoc{F: "add", In: "an integer"},
		in:    intInput(func(n history.Value) CounterIn { return CounterIn{"add", n} }), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "read", Aliases: []string{"get"}, Out: "the count"},
		in:    noInput(CounterRead()), out: intOutput, nilRead: true,
	}, {
		OpDoc: OpDoc{F: "add-and-get", In: "an integer", Out: "the sum"},
		in:    intInput(func(n history.Value) CounterIn { return CounterIn{"add-and-get", n} }), out: intOutput,
	}}
}

func counterEntry() Entry {
	return entry(Entry{
		Name:    "counter",
		Doc:     "An integer that is added to and read.",
		Initial: "an integer; 0",
	}, counterOps(), func(initial history.Value) (m spec.Model[Count, CounterIn, history.Value], err error) {
		if initial != history.Absent && initial != history.Null && !isInt(initial) {
			return m, fmt.Errorf("want an integer, got %s", got(initial))
		}
		return Counter(initial), nil
	})
}
