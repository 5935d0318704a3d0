package paths_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
)

// event is one generated operation, before it is a call of a model.
type event struct {
	process   int
	call, ret int64
	lost      bool // no answer
	f         string
	value     int   // of an add
	index     int   // of a log
	out       []int // what it saw; nil: nothing was there
	told      bool  // of an append: the answer is its position
	blind     bool  // of a peek: the answer was not recorded
}

// shape steers the generator.
type shape struct {
	ops       int
	processes int
	lostAdds  float64
	lostTakes float64
	squeezed  bool // times on a few instants
	mutations bool
}

// small is a random shape of a history that every order can be tried of.
func small(r *rand.Rand) shape {
	s := shape{ops: 2 + r.IntN(10), processes: 1 + r.IntN(5), squeezed: r.IntN(3) == 0, mutations: true}
	if r.IntN(2) == 0 {
		s.lostAdds = 0.25
	}
	if r.IntN(5) == 0 {
		s.lostTakes = 0.25
	}
	return s
}

// names are the operations of a structure: add, take, peek. A log has append,
// get and read.
var names = map[string][3]string{
	"queue":          {"enqueue", "dequeue", "peek"},
	"stack":          {"push", "pop", "peek"},
	"priority-queue": {"insert", "poll", "peek"},
	"log":            {"append", "get", "read"},
}

// generate makes a history: random intervals, answers by performing the
// operations along a random order that the intervals allow (those without an
// answer half of the time), then up to three answers changed.
func generate(r *rand.Rand, structure string, s shape) (ops []event, ties history.Ties) {
	ops = intervals(r, s)
	if r.IntN(2) == 0 {
		ties = history.TiesPrecede
	}
	f := names[structure]
	values := r.Perm(len(ops))
	adds := 0.35 + 0.2*r.Float64()
	for i := range ops {
		op := &ops[i]
		op.value, op.index = values[i]+1, r.IntN(len(ops)/2+1)
		switch x := r.Float64(); {
		case x < adds:
			op.f = f[0]
			op.told = r.IntN(2) == 0
			op.lost = r.Float64() < s.lostAdds
		case x < adds+(1-adds)*2/3:
			op.f = f[1]
			op.lost = r.Float64() < s.lostTakes
		default:
			op.f = f[2]
			op.lost = r.Float64() < s.lostTakes/2
			op.blind = r.IntN(10) == 0
		}
	}
	simulate(r, structure, ops)
	if s.mutations {
		mutate(r, ops)
	}
	return ops, ties
}

// intervals makes operations of sequential processes, without names.
func intervals(r *rand.Rand, s shape) []event {
	free := make([]int64, s.processes)
	ops := make([]event, s.ops)
	touching := r.IntN(5) == 0
	for i := range ops {
		p := r.IntN(s.processes)
		op := &ops[i]
		if s.squeezed {
			// Where the operations of a process meet at one instant, order may be
			// more than real time, so most are processes of their own.
			op.process = i
			op.call = int64(r.IntN(5))
			if touching {
				op.process, op.call = p, free[p]+int64(r.IntN(3))
			}
			op.ret = op.call + int64(r.IntN(3))
			free[p] = op.ret
			continue
		}
		op.process = p
		op.call = free[p] + 1 + r.Int64N(10)
		op.ret = op.call + r.Int64N(12)
		free[p] = op.ret
	}
	return ops
}

// along visits the operations, and half of those without an answer, along a random
// order that their intervals allow.
func along(r *rand.Rand, ops []event, visit func(x int)) {
	var pending []int
	for i := range ops {
		if !ops[i].lost || r.IntN(2) == 0 {
			pending = append(pending, i)
		}
	}
	for len(pending) > 0 {
		var ready []int
		for at, x := range pending {
			if !slices.ContainsFunc(pending, func(y int) bool { return !ops[y].lost && ops[y].ret < ops[x].call }) {
				ready = append(ready, at)
			}
		}
		at := ready[r.IntN(len(ready))]
		x := pending[at]
		pending = slices.Delete(pending, at, at+1)
		visit(x)
	}
}

// simulate gives the operations their answers.
func simulate(r *rand.Rand, structure string, ops []event) {
	var held []int
	along(r, ops, func(x int) { held = perform(structure, &ops[x], held) })
}

// perform is the structure's own meaning, apart from the models.
func perform(structure string, op *event, held []int) []int {
	f := names[structure]
	next := 0
	switch structure {
	case "stack":
		next = len(held) - 1
	case "priority-queue":
		for i, v := range held {
			if v > held[next] {
				next = i
			}
		}
	}
	op.out = nil
	switch {
	case op.f == f[0]:
		op.out = []int{len(held)}
		return append(slices.Clip(held), op.value)
	case structure == "log" && op.f == f[1]:
		if op.index < len(held) {
			op.out = []int{held[op.index]}
		}
		return held
	case structure == "log":
		op.out = append([]int{}, held[min(op.index, len(held)):]...)
		return held
	case len(held) == 0:
		return held
	}
	op.out = []int{held[next]}
	if op.f == f[1] {
		return slices.Delete(slices.Clone(held), next, next+1)
	}
	return held
}

// mutate changes up to three answers.
func mutate(r *rand.Rand, ops []event) {
	for range []int{0, 0, 0, 0, 1, 1, 1, 2, 2, 3}[r.IntN(10)] {
		x, y := &ops[r.IntN(len(ops))], &ops[r.IntN(len(ops))]
		switch k := r.IntN(4); {
		case x.f == y.f && k < 2:
			x.out, y.out = y.out, x.out
		case x.f == y.f:
			x.out = y.out
		case k == 0 && x.f != "read":
			x.out = nil
		case k == 1 && len(x.out) > 0 && x.f == "read":
			x.out = x.out[:len(x.out)-1]
		case k == 2 && x.f != "read":
			x.out = []int{1 + r.IntN(len(ops))}
		}
	}
}

func value(v int) history.Value { return history.Int(int64(v)) }

func answer(out []int) history.Value {
	if len(out) == 0 {
		return history.Null
	}
	return value(out[0])
}

// subject erases a generated history under the model of its structure.
func subject(structure string, ops []event, ties history.Ties) *spec.Subject {
	var s *spec.Subject
	var err error
	switch structure {
	case "queue":
		s, err = spec.Erase(typed(ops, ties, func(e *event) (models.QueueIn, history.Value, bool) {
			if e.f == "enqueue" {
				return models.Enqueue(value(e.value)), history.Absent, true
			}
			return models.QueueIn{F: e.f}, answer(e.out), e.blind
		}), models.Queue())
	case "stack":
		s, err = spec.Erase(typed(ops, ties, func(e *event) (models.StackIn, history.Value, bool) {
			if e.f == "push" {
				return models.Push(value(e.value)), history.Absent, true
			}
			return models.StackIn{F: e.f}, answer(e.out), e.blind
		}), models.Stack())
	case "priority-queue":
		s, err = spec.Erase(typed(ops, ties, func(e *event) (models.PriorityIn, history.Value, bool) {
			if e.f == "insert" {
				return models.PriorityInsert(value(e.value)), history.Absent, true
			}
			return models.PriorityIn{F: e.f}, answer(e.out), e.blind
		}), models.PriorityQueue())
	case "log":
		s, err = spec.Erase(typed(ops, ties, logCall), models.Log())
	}
	if err != nil {
		panic(err)
	}
	return s
}

func logCall(e *event) (in models.LogIn, out models.LogOut, noOut bool) {
	switch e.f {
	case "append":
		out.Value = answer(e.out)
		return models.LogAppend(value(e.value)), out, !e.told || e.out == nil
	case "get":
		out.Value = answer(e.out)
		return models.LogGet(int64(e.index)), out, false
	}
	var list []history.Value
	for _, v := range e.out {
		list = append(list, value(v))
	}
	out.List = models.ListOf(list...)
	return models.LogRead(int64(e.index)), out, e.blind
}

func typed[In, Out any](ops []event, ties history.Ties, call func(e *event) (In, Out, bool)) *history.Of[In, Out] {
	h := &history.Of[In, Out]{Header: history.Header{Ties: ties, HasTies: true}, Ops: make([]history.Op[In, Out], len(ops))}
	for i := range ops {
		e := &ops[i]
		op := &h.Ops[i]
		op.Process, op.F, op.Invoke, op.Return = e.process, e.f, e.call, e.ret
		op.In, op.Out, op.NoOut = call(e)
		if e.lost {
			op.Outcome = history.Info
		}
	}
	return h
}

// rules are those of linearizability.
func rules(s *spec.Subject) *order.Rules {
	r := order.NewRules(s.View)
	r.Hard = append(r.Hard, order.Session(s.View, nil, false))
	r.Hard = append(r.Hard, order.RealTime(s.View, order.Span{})...)
	return r
}

// show writes a history for people.
func show(s *spec.Subject) (text string) {
	for i := range int32(s.View.N) {
		end := fmt.Sprint(s.View.Ret[i])
		if s.View.Info[i] {
			end = "never"
		}
		text += fmt.Sprintf("%2d  p%d %3d..%-5s %s\n", i, s.View.Process[i], s.View.Call[i], end, s.Text(i))
	}
	return text + fmt.Sprintf("ties %v\n", s.View.Ties)
}
