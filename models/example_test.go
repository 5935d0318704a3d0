package models_test

import (
	"context"
	"fmt"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// A model needs no recorded values: inputs and outputs are Go values.
func ExampleRegister() {
	m := models.Register(history.Int(0))
	in, out := models.Read(), history.Int(17)
	state, _, _ := m.Apply(m.Init(), models.Write(out))
	_, answer, _ := m.Apply(state, in)
	fmt.Println(m.Text(in, &answer), m.ReadOnly(in, &answer))
	// Output: read = 17 true
}

// The registry binds what a file recorded to a model by its name.
func ExampleLookup() {
	h := &history.Raw{Ops: []history.Op[history.Value, history.Value]{
		{Process: 0, F: "enqueue", In: history.Int(7), Invoke: 0, Return: 10},
		{Process: 1, F: "dequeue", Out: history.Int(7), Invoke: 5, Return: 20},
		{Process: 0, F: "dequeue", Out: history.Null, Invoke: 30, Return: 40},
	}}
	queue, _ := models.Lookup("queue")
	s, err := queue.Bind(h, models.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := s.Machine(context.Background(), s.View, false)
	state := m.Init(0)
	for i := range int32(s.View.N) {
		state, _ = m.Step(state, i)
		fmt.Println(s.Text(i), "leaves", spec.DescribeState(m, state))
	}
	// Output:
	// enqueue 7 leaves [7]
	// dequeue = 7 leaves []
	// dequeue = empty leaves []
}

// reserve asks for a seat.
type reserve struct{ seat int }

// A model of one's own is a spec.Model over Go types: here a row of seats, each
// reserved once. Its state is a set of bits, a value that a step cannot change.
func Example_ownModel() {
	seats := spec.Model[uint64, reserve, bool]{
		Name: "seats",
		Init: func() uint64 { return 0 },
		Apply: func(taken uint64, in reserve) (next uint64, got, ok bool) {
			if taken>>in.seat&1 == 1 {
				return taken, false, true
			}
			return taken | 1<<in.seat, true, true
		},
		// A refused reservation leaves every state in which it is possible unchanged.
		ReadOnly: func(_ reserve, got *bool) bool { return got != nil && !*got },
		Text: func(in reserve, got *bool) string {
			if got == nil {
				return fmt.Sprintf("reserve %d", in.seat)
			}
			return fmt.Sprintf("reserve %d = %v", in.seat, *got)
		},
	}
	h := &history.Of[reserve, bool]{Ops: []history.Op[reserve, bool]{
		{Process: 0, In: reserve{3}, Out: true, Invoke: 0, Return: 10},
		{Process: 1, In: reserve{3}, Out: true, Invoke: 20, Return: 30},
	}}
	level, _ := consistency.LookupLevel("linearizable")
	for _, processes := range []int{2, 1} { // both reservations, then the first alone
		h.Ops = h.Ops[:processes]
		v, err := consistency.Check(context.Background(), h, seats, level, consistency.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v.Kind)
	}
	// Output:
	// violation
	// consistent
}

// A step that may have several outcomes is Steps: a die that was thrown and
// not looked at may show any face.
func Example_nondeterministicModel() {
	die := spec.Model[int, string, int]{
		Name: "die",
		Init: func() int { return 1 },
		Steps: func(face int, in string, out *int) (next []int) {
			switch {
			case in == "throw":
				return []int{1, 2, 3, 4, 5, 6}
			case out == nil || *out == face: // look
				return []int{face}
			}
			return nil // this face was not seen
		},
		ReadOnly: func(in string, _ *int) bool { return in == "look" },
	}
	level, _ := consistency.LookupLevel("linearizable")
	for _, second := range []int{4, 5} {
		h := &history.Of[string, int]{Ops: []history.Op[string, int]{
			{In: "throw", NoOut: true, Invoke: 0, Return: 1},
			{In: "look", Out: 4, Invoke: 2, Return: 3},
			{In: "look", Out: second, Invoke: 4, Return: 5},
		}}
		v, err := consistency.Check(context.Background(), h, die, level, consistency.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v.Kind)
	}
	// Output:
	// consistent
	// violation
}

// An analysis judges a history without looking for an order.
func ExampleLookupAnalysis() {
	h := &history.Raw{Ops: []history.Op[history.Value, history.Value]{
		{F: "enqueue", In: history.Int(7), Invoke: 0, Return: 10},
		{F: "enqueue", In: history.Int(8), Invoke: 20, Return: 30},
		{F: "drain", Out: history.Array(history.Int(8)), Invoke: 40, Return: 50},
	}}
	queue, _ := models.LookupAnalysis("total-queue")
	r, err := queue.Run(h, models.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range r.Findings {
		fmt.Println(r.Kind, f.Name, f.Ops, f.Text)
	}
	// Output: violation lost [0] 7, enqueued by op 0, was never dequeued
}
