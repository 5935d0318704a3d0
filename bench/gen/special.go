package gen

import (
	"fmt"

	"pinyon/engine/history"
)

// locks makes clients that acquire one lock, hold it and release it. A client
// calls when it is ready and waits until the lock is free. Of the calls without
// an answer, an acquire never happened and a release did.
func (m *maker) locks() {
	ready, process := make([]int64, m.Clients), make([]int, m.Clients)
	for c := range process {
		process[c] = c
	}
	next, free := m.Clients, int64(0)
	some := func() int64 { return 1 + m.rng.Int64N(200) }
	for i := 0; i < len(m.h.Ops); i++ {
		c := earliest(ready)
		lost := m.rng.Float64() < m.Crash
		take := &m.h.Ops[i]
		take.F, take.Process, take.Invoke = "acquire", process[c], ready[c]+some()
		if i+1 == len(m.h.Ops) || lost && m.rng.IntN(2) == 0 {
			take.Outcome, process[c] = history.Info, next
			next++
			ready[c] = take.Invoke + some()
			continue
		}
		took := max(free, take.Invoke) + some()
		take.Return = took + some()
		i++
		give := &m.h.Ops[i]
		give.F, give.Process, give.Invoke = "release", process[c], take.Return+some()
		free = give.Invoke + some()
		give.Return = free + some()
		ready[c] = give.Return
		if lost {
			give.Outcome, process[c] = history.Info, next
			next++
		}
	}
}

// looks are what may follow a burst of writes: the values read, by the order of
// the writes, -1 for the initial one, and whether the writes still run.
var looks = map[string]struct {
	reads  func(k int) []int
	during bool
}{
	"first":      {func(int) []int { return []int{0} }, false},
	"middle":     {func(k int) []int { return []int{k / 2} }, false},
	"last":       {func(k int) []int { return []int{k - 1} }, false},
	"initial":    {func(int) []int { return []int{-1} }, false},
	"two":        {func(k int) []int { return []int{0, k - 1} }, false},
	"two-during": {func(k int) []int { return []int{0, k - 1} }, true},
	"full":       {nil, false},
}

// burst makes so many writes at once, each by a client of its own, and one more
// client that looks after them, or during them: a register or a key at what
// Look names, a log ("full") at everything. An initial value, and two values
// after all the writes, are impossible.
func (m *maker) burst() error {
	look, ok := looks[m.Look]
	isLog := m.Model == "log"
	if !ok || isLog != (m.Look == "full") || isLog != (look.reads == nil) {
		return fmt.Errorf("gen: a burst of %s with the look %q is not made", m.Model, m.Look)
	}
	k := m.Burst
	for i := range k {
		op := call{Process: i, F: "write", In: history.Int(int64(i) + 1), Invoke: int64(i), Return: int64(100_000 + i)}
		switch m.Model {
		case "log":
			op.F = "append"
		case "kv":
			op.F = "put"
		}
		m.h.Ops = append(m.h.Ops, op)
	}
	at := int64(200_000)
	if look.during {
		at = 50_000
	}
	if isLog {
		var all []history.Value
		for _, i := range m.rng.Perm(k) {
			all = append(all, history.Int(int64(i)+1))
		}
		m.h.Ops = append(m.h.Ops, call{Process: k, F: "read", In: history.Int(0), Out: history.Array(all...), Invoke: at, Return: at + 10})
		return nil
	}
	for n, which := range look.reads(k) {
		op := call{Process: k, F: "read", Out: history.Int(int64(which) + 1), Invoke: at + int64(100*n), Return: at + int64(100*n+10)}
		if m.Model == "kv" {
			op.F = "get"
			if which < 0 {
				op.Out = history.Null
			}
		}
		m.h.Ops = append(m.h.Ops, op)
	}
	return nil
}

// Impossible reports whether the histories of s are linearizable by no order.
func (s Shape) Impossible() bool {
	return s.Stale || s.Burst > 0 && (s.Look == "initial" || s.Look == "two" && s.Burst > 1)
}
