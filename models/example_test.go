package models_test

import (
	"context"
	"fmt"

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
