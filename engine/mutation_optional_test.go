package engine

import (
	"context"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// The histories below are possible in few orders, each of which needs an
// unanswered operation at a place where another rule of the search would be
// quick to leave it out.
var optionalCases = []struct {
	name  string
	ops   []op // all overlap; sessions order them
	edges [][2]int32
	want  spec.Kind
}{{
	// Write 1, read 0 by hand: the read is legal at once, but placing it drops the
	// unanswered write 5 that the other read needs.
	name: "a read that drops what another needs waits",
	ops: []op{
		0: on("x", read(0, 0, 0, 99)),
		1: on("x", lost(write(1, 5, 0, 0))),
		2: on("x", read(2, 5, 0, 99)),
		3: on("x", write(3, 0, 0, 99)),
	},
	edges: [][2]int32{{1, 0}},
	want:  spec.Consistent,
}, {
	// Unanswered write 1, read 1, unanswered write 3, read 3, write 1, read 1: the
	// answered write 1 comes after the write 3, which it would drop.
	name: "what drops something stands for nothing",
	ops: []op{
		0: on("x", lost(write(0, 1, 0, 0))),
		1: on("x", lost(write(1, 3, 0, 0))),
		2: on("x", write(2, 1, 0, 99)),
		3: on("x", read(3, 1, 0, 9)),
		4: on("x", read(3, 3, 10, 19)),
		5: on("x", read(3, 1, 20, 99)),
	},
	edges: [][2]int32{{1, 2}},
	want:  spec.Consistent,
}, {
	// Unanswered write 1, read 1, write 2, read 2, write 1, read 1: the unanswered
	// write must come before the write 2, so the answered one cannot be first.
	name: "nothing stands for what precedes others",
	ops: []op{
		0: on("x", lost(write(0, 1, 0, 0))),
		1: on("x", write(1, 1, 0, 99)),
		2: on("x", write(2, 2, 0, 99)),
		3: on("x", read(3, 1, 0, 9)),
		4: on("x", read(3, 2, 10, 19)),
		5: on("x", read(3, 1, 20, 99)),
	},
	edges: [][2]int32{{0, 2}},
	want:  spec.Consistent,
}, {
	// Write 2 to x, unanswered write 1 to y, read y, read 2 of x, write 1 to x,
	// read 1 of x: the write to x can be first, but does nothing for y.
	name: "what stands for another is on the same object",
	ops: []op{
		0: on("y", lost(write(0, 1, 0, 0))),
		1: on("x", write(1, 1, 0, 99)),
		2: on("x", write(2, 2, 0, 99)),
		3: on("y", read(3, 1, 0, 9)),
		4: on("x", read(3, 2, 10, 19)),
		5: on("x", read(3, 1, 20, 99)),
	},
	want: spec.Consistent,
}, {
	// The second unanswered write 1, read 1, unanswered write 3, read 3: the first
	// write 1 comes after the write 3, which it would drop.
	name: "what drops something does not stand for those called after it",
	ops: []op{
		0: on("x", lost(write(0, 1, 0, 0))),
		1: on("x", lost(write(1, 3, 0, 0))),
		2: on("x", lost(write(2, 1, 0, 0))),
		3: on("x", read(3, 1, 0, 9)),
		4: on("x", read(3, 3, 10, 19)),
	},
	edges: [][2]int32{{1, 0}},
	want:  spec.Consistent,
}, {
	// Write 1 to x, read it, read 0 of y, write 1 to y, read it: the write to y
	// could come first, but not usefully.
	name: "an unanswered operation does not stand for one on another object",
	ops: []op{
		0: on("y", lost(write(0, 1, 0, 0))),
		1: on("x", lost(write(1, 1, 0, 0))),
		2: on("x", read(3, 1, 0, 9)),
		3: on("y", read(3, 0, 10, 19)),
		4: on("y", read(3, 1, 20, 99)),
	},
	want: spec.Consistent,
}, {
	name: "without any of them it is impossible",
	ops: []op{
		0: on("x", lost(write(0, 1, 0, 0))),
		1: on("x", write(1, 2, 0, 99)),
		2: on("x", read(2, 1, 0, 9)),
		3: on("x", read(2, 2, 10, 19)),
		4: on("x", read(2, 1, 20, 99)),
	},
	want: spec.Violation,
}}

// on puts an operation on a key. The answer of a write says nothing, so that an
// answered write steps like one without an answer.
func on(key string, o op) op {
	o.Key, o.NoOut = key, o.In.write
	return o
}

// edge is a clock that orders two operations and nothing else, so that all other
// unanswered ones still precede nothing.
func edge(n int, from, to int32) *order.Clock {
	c := &order.Clock{Name: "edge", Out: make([]int64, n), In: make([]int64, n)}
	for i := range n {
		c.Out[i], c.In[i] = order.OutNever, order.InNever
	}
	c.Out[from], c.In[to] = 0, 1
	return c
}

// TestUnansweredWhereTheyAreNeeded: sessions and a few edges, no real time.
func TestUnansweredWhereTheyAreNeeded(t *testing.T) {
	for _, c := range optionalCases {
		t.Run(c.name, func(t *testing.T) {
			s, err := spec.Erase(&history.Of[call, int]{Ops: c.ops}, register())
			if err != nil {
				t.Fatal(err)
			}
			r := order.NewRules(s.View)
			r.Hard = append(r.Hard, order.Session(s.View, nil, false))
			for _, e := range c.edges {
				r.AddHard("edge", edge(s.View.N, e[0], e[1]))
			}
			ctx := context.Background()
			part, err := Decide(ctx, Task{Rules: r, Machine: s.Machine(ctx, s.View, false), Eager: true, Focus: -1})
			if err != nil || part.Kind != c.want {
				t.Errorf("%v, want %v (%v)", part.Kind, c.want, err)
			}
		})
	}
}

// latch is a machine whose read, operation 0, moves an object that operation 1
// has written on to the state in which operation 2 is legal; before, it changes
// nothing.
type latch struct{}

func (latch) Init(int32) int32 { return 0 }

func (latch) Step(state, op int32) (int32, bool) {
	switch {
	case op == 0 && state == 0:
		return 0, true
	case op == 1:
		return 1, true
	}
	return state + 1, state == 1 && op == 0 || state == 2 && op == 2
}

// TestReadsThatMoveTheState: a read that may change the state is not placed
// early, even where it changes nothing yet.
func TestReadsThatMoveTheState(t *testing.T) {
	r, _ := problem(t, []op{read(0, 0, 0, 9), write(1, 1, 0, 9), write(2, 2, 0, 9)}, register())
	part, err := Decide(context.Background(), Task{Rules: r, Machine: latch{}, Focus: -1})
	if err != nil || part.Kind != spec.Consistent {
		t.Errorf("%v, %v; want write, read, write", part.Kind, err)
	}
}
