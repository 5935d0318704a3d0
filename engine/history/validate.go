package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Validate reports the first thing that makes h no history of sequential
// clients, as an *Error that names the operations at fault:
//
//   - slices beside Ops of another length, a process without a name, an outcome
//     that does not exist, a line order without lines;
//   - a time beyond ±MaxTime, a clock error that is negative or beyond it, an
//     operation on a node whose clock error is not given though others' are;
//   - an id that stands for two operations;
//   - an operation that returns before it is invoked;
//   - a process that invokes an operation while another of its own is in
//     flight, or after one that got no answer. A process's operations follow
//     each other by call, return and position; one may be called at the very
//     instant at which the one before returned;
//   - where a return precedes a call at the same instant (TiesPrecede), two
//     operations of one key that both take no time at one instant: neither
//     comes first.
//
// Calls and returns are compared by the clock in force, times or lines; where
// it is lines, times may run backwards. Failed operations count throughout,
// but for the last rule: they are dropped and need no order.
func Validate[In, Out any](h *Of[In, Out]) error {
	c := &validator[In, Out]{h}
	for _, check := range []func() error{c.lengths, c.ranges, c.clockErrors, c.uniqueIDs, c.intervals, c.sessions, c.instants} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

type validator[In, Out any] struct{ h *Of[In, Out] }

func (c *validator[In, Out]) lengths() error {
	h, n := c.h, len(c.h.Ops)
	fail := func(format string, args ...any) error {
		return &Error{Path: h.Path, Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case h.IDs != nil && len(h.IDs) != n:
		return fail("there are %d operations but %d ids; give each operation one, or set IDs to nil", n, len(h.IDs))
	case h.Origins != nil && len(h.Origins) != n:
		return fail("there are %d operations but %d origins; give each operation one, or set Origins to nil", n, len(h.Origins))
	case h.Order == ByLine && h.Origins == nil && n > 0:
		return fail("the order of lines is to be the clock, but the operations have no lines; set Origins, or order by time")
	}
	for i := range h.Ops {
		if p := h.Ops[i].Process; h.Processes != nil && (p < 0 || p >= len(h.Processes)) {
			return fail("operation %d is of process %d, but %d processes have names; name them all, or set Processes to nil", i, p, len(h.Processes))
		}
	}
	return nil
}

func (c *validator[In, Out]) ranges() error {
	for i := range c.h.Ops {
		switch op := &c.h.Ops[i]; {
		case op.Outcome > Info:
			return c.h.Errorf(i, "outcome %d does not exist; it must be ok, fail or info", uint8(op.Outcome))
		case beyond(op.Invoke):
			return c.h.Errorf(i, "the invoke time %d is beyond ±%d nanoseconds from the start of the run", op.Invoke, int64(MaxTime))
		case op.Outcome != Info && beyond(op.Return):
			return c.h.Errorf(i, "the return time %d is beyond ±%d nanoseconds from the start of the run", op.Return, int64(MaxTime))
		}
	}
	return nil
}

func (c *validator[In, Out]) clockErrors() error {
	e := c.h.Header.ClockError
	fail := func(what string, ns int64) error {
		return &Error{Path: c.h.Path, Msg: fmt.Sprintf("the clock error%s is %d ns; it must lie between 0 and %d", what, ns, int64(MaxTime))}
	}
	if e.All < 0 || e.All > MaxTime {
		return fail("", e.All)
	}
	if e.ByNode == nil {
		return nil
	}
	nodes := slices.Sorted(maps.Keys(e.ByNode))
	for _, node := range nodes {
		if ns := e.ByNode[node]; ns < 0 || ns > MaxTime {
			return fail(fmt.Sprintf(" of node %q", node), ns)
		}
	}
	for i := range c.h.Ops {
		node := c.h.Ops[i].Node
		if _, known := e.ByNode[node]; known {
			continue
		}
		if node == "" {
			return c.h.Errorf(i, "it names no node, but the clock error is given by node, for %s", strings.Join(nodes, ", "))
		}
		return c.h.Errorf(i, "no clock error is given for its node %q, only for %s", node, strings.Join(nodes, ", "))
	}
	return nil
}

func (c *validator[In, Out]) uniqueIDs() error {
	if c.h.IDs == nil {
		return nil
	}
	seen := make(map[int64]int, len(c.h.IDs))
	for i, id := range c.h.IDs {
		first, known := seen[id]
		if known {
			return c.h.Errorf(i, "the id stands for two operations: %s and %s", c.position(first), c.position(i))
		}
		seen[id] = i
	}
	return nil
}

// position names an operation without its id.
func (c *validator[In, Out]) position(i int) string {
	if c.h.Origins != nil && c.h.Origins[i].Line > 0 {
		return c.h.lineName(i)
	}
	return fmt.Sprintf("operation %d of the list", i)
}

// interval is the operation's call and return by the clock in force.
func (c *validator[In, Out]) interval(i int) (call, ret int64) {
	op := &c.h.Ops[i]
	call, ret = op.Invoke, op.Return
	if c.h.Order == ByLine {
		call, ret = int64(c.h.Origins[i].Seq), int64(c.h.Origins[i].DoneSeq)
	}
	if op.Outcome == Info {
		ret = Never
	}
	return call, ret
}

// at writes a time of the clock in force.
func (c *validator[In, Out]) at(t int64) string {
	if c.h.Order == ByLine {
		return fmt.Sprintf("event %d", t)
	}
	return fmt.Sprintf("%d ns", t)
}

func (c *validator[In, Out]) intervals() error {
	for i := range c.h.Ops {
		call, ret := c.interval(i)
		switch {
		case ret >= call:
		case c.h.Order == ByLine && ret < 0:
			return c.h.Errorf(i, "it is %s, but no line completes it; only an info operation has no completion", c.h.Ops[i].Outcome)
		default:
			return c.h.Errorf(i, "it returns at %s, before it is invoked at %s", c.at(ret), c.at(call))
		}
	}
	return nil
}

// inTurn reports whether each process has its operations one after the other in
// the list, and waits for its answers. What it does not see to be so may still
// be: sessions looks closer.
func (c *validator[In, Out]) inTurn() bool {
	most := 0
	for i := range c.h.Ops {
		p := c.h.Ops[i].Process
		if p < 0 || p > len(c.h.Ops)+64 {
			return false
		}
		most = max(most, p)
	}
	free := make([]int64, most+1) // by process: since when it may call again
	called := make([]bool, most+1)
	for i := range c.h.Ops {
		p := c.h.Ops[i].Process
		call, ret := c.interval(i)
		if called[p] && (call < free[p] || free[p] == Never) {
			return false
		}
		free[p], called[p] = ret, true
	}
	return true
}

// sessions checks that each process waits for its answers.
func (c *validator[In, Out]) sessions() error {
	if c.inTurn() {
		return nil
	}
	order := make([]int32, len(c.h.Ops))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		p, q := c.h.Ops[a].Process, c.h.Ops[b].Process
		if p != q {
			return cmp.Compare(p, q)
		}
		callA, retA := c.interval(int(a))
		callB, retB := c.interval(int(b))
		return cmp.Or(cmp.Compare(callA, callB), cmp.Compare(retA, retB), cmp.Compare(a, b))
	})
	for k := 1; k < len(order); k++ {
		a, b := int(order[k-1]), int(order[k])
		if c.h.Ops[a].Process != c.h.Ops[b].Process {
			continue
		}
		_, ret := c.interval(a)
		call, _ := c.interval(b)
		switch {
		case c.h.Ops[a].Outcome == Info:
			return c.h.Errorf(b, "process %s goes on at %s, although its %s got no answer; a process ends there, so what follows needs another name",
				c.h.ProcessName(b), c.at(call), c.h.Where(a))
		case ret > call:
			return c.h.Errorf(b, "process %s invokes it at %s, while its %s is in flight until %s; a process has one operation at a time",
				c.h.ProcessName(b), c.at(call), c.h.Where(a), c.at(ret))
		}
	}
	return nil
}

// instants checks that TiesPrecede decides every order on a key.
func (c *validator[In, Out]) instants() error {
	if c.h.Header.Ties != TiesPrecede {
		return nil
	}
	type instant struct {
		key string
		at  int64
	}
	first := map[instant]int{}
	for i := range c.h.Ops {
		call, ret := c.interval(i)
		if call != ret || c.h.Ops[i].Outcome == Fail {
			continue
		}
		at := instant{c.h.Ops[i].Key, call}
		other, known := first[at]
		if !known {
			first[at] = i
			continue
		}
		return c.h.Errorf(i, "it takes no time at %s, as does %s on the same key; with ties precede neither comes first, so use ties concurrent",
			c.at(call), c.h.Where(other))
	}
	return nil
}
