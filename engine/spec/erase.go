package spec

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"pinyon/engine/history"
)

// ErrModel marks a model that cannot be used as it is.
var ErrModel = errors.New("model")

// StepError is a failure inside a user's function, with the operation that it
// was called for. It travels as a panic through Machine and is an error again
// at the engine's edge.
type StepError struct {
	Op    int32 // position in the Machine's View
	Cause any
}

func (e *StepError) Error() string { return fmt.Sprintf("the model failed: %v", e.Cause) }

// Erase turns a typed history and model into a Subject. It fails with
// ErrModel when the model lacks a step or cannot number its states.
func Erase[S, In, Out any](h *history.Of[In, Out], m Model[S, In, Out]) (*Subject, error) {
	if m.Init == nil && m.InitFor == nil {
		return nil, fmt.Errorf("%w %s: Init is missing", ErrModel, m.Name)
	}
	if m.Apply == nil && m.Step == nil && m.StepContext == nil && m.Steps == nil {
		return nil, fmt.Errorf("%w %s: one of Apply, Step, StepContext and Steps is needed", ErrModel, m.Name)
	}
	if m.States == nil && !reflect.TypeFor[S]().Comparable() {
		return nil, fmt.Errorf("%w %s: states of type %v are not comparable; set States", ErrModel, m.Name, reflect.TypeFor[S]())
	}
	v := history.NewView(h)
	e := &erased[S, In, Out]{model: m, ops: make([]*history.Op[In, Out], v.N), outs: make([]*Out, v.N)}
	s := &Subject{Model: m.Name, View: v, Machine: e.machine}
	for i := range h.Ops {
		switch h.Ops[i].Outcome {
		case history.OK:
			s.OK++
		case history.Fail:
			s.Failed++
		case history.Info:
			s.Unanswered++
		}
	}
	for j, i := range v.Ops {
		op := &h.Ops[i]
		e.ops[j] = op
		if op.Outcome == history.OK && !op.NoOut {
			e.outs[j] = &op.Out
			s.Constrained++
		}
	}
	if err := e.classify(v); err != nil {
		return nil, err
	}
	s.Text = func(i int32) string { return e.text(i) }
	if m.ReadOnly != nil {
		s.Asks = func(i int32) bool { return m.ReadOnly(e.ops[i].In, nil) }
	}
	s.ID = func(i int32) int64 { return h.ID(int(v.Ops[i])) }
	s.Where = func(i int32) string { return h.Where(int(v.Ops[i])) }
	s.Origin = func(i int32) (history.Origin, bool) {
		if h.Origins == nil {
			return history.Origin{}, false
		}
		return h.Origins[v.Ops[i]], true
	}
	return s, nil
}

// erased holds the operations of the whole View; a slice of the View finds its
// own through View.Ops.
type erased[S, In, Out any] struct {
	model   Model[S, In, Out]
	ops     []*history.Op[In, Out]
	outs    []*Out
	class   []int32
	readOps []bool
	at      map[int32]int32 // index in the history -> position in the whole View
}

// classify decides once what is a read, and which operations step alike.
func (e *erased[S, In, Out]) classify(v *history.View) (err error) {
	cur := int32(0)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w %s: op %d: %v", ErrModel, e.model.Name, v.Ops[cur], r)
		}
	}()
	e.at = make(map[int32]int32, v.N)
	for j, i := range v.Ops {
		e.at[i] = int32(j)
	}
	if e.model.ReadOnly != nil {
		v.Read, v.Idle = make([]bool, v.N), make([]bool, v.N)
		for i := range e.ops {
			cur = int32(i)
			readOnly := e.model.ReadOnly(e.ops[i].In, e.outs[i])
			v.Read[i], v.Idle[i] = readOnly && !v.Info[i], readOnly && v.Info[i]
		}
	}
	e.class = make([]int32, v.N)
	type key struct {
		in, out   any
		has, read bool
	}
	byValue := map[key]int32{}
	comparable := reflect.TypeFor[In]().Comparable() && reflect.TypeFor[Out]().Comparable()
	for i := range e.ops {
		e.class[i] = int32(i)
		if !comparable {
			continue
		}
		k := key{in: e.ops[i].In, has: e.outs[i] != nil, read: v.Read != nil && v.Read[i]}
		if k.has {
			k.out = *e.outs[i]
		}
		c, ok := byValue[k]
		if !ok {
			c = int32(i)
			byValue[k] = c
		}
		e.class[i] = c
	}
	return nil
}

func (e *erased[S, In, Out]) text(i int32) string {
	if e.model.Text != nil {
		return e.model.Text(e.ops[i].In, e.outs[i])
	}
	if e.outs[i] == nil {
		return fmt.Sprintf("%s %v", e.ops[i].F, e.ops[i].In)
	}
	return fmt.Sprintf("%s %v -> %v", e.ops[i].F, e.ops[i].In, *e.outs[i])
}

// machine makes the Machine of a View.
func (e *erased[S, In, Out]) machine(ctx context.Context, v *history.View, debug bool) Machine {
	t := &typed[S, In, Out]{erased: e, ctx: ctx, view: v, debug: debug, memo: newTransitions()}
	t.index = make([]int32, v.N)
	for i := range t.index {
		t.index[i] = e.at[v.Ops[i]]
	}
	if e.model.States != nil {
		t.states = e.model.States()
	} else {
		t.states = &byEquality[S]{numbers: map[any]int32{}}
	}
	switch {
	case e.model.Steps != nil:
		return &branching[S, In, Out]{t}
	case e.model.Container != nil:
		return &contained[S, In, Out]{t}
	case e.model.Lock != nil || e.model.Members != nil || e.model.Count != nil:
		return &effective[S, In, Out]{t}
	case e.model.Holds != nil && e.model.Demands != nil && e.model.Writes != nil:
		return &tokened[S, In, Out]{typed: t, numbers: map[any]int32{}}
	}
	return t
}

// typed is the Machine over a user's types. Transitions are memoized by the
// class of the operation.
type typed[S, In, Out any] struct {
	*erased[S, In, Out]
	ctx    context.Context
	view   *history.View
	index  []int32 // position here -> position in the whole View
	states States[S]
	debug  bool
	count  int32        // states numbered
	memo   *transitions // (state, class) -> next, or -1
	many   map[uint64][]int32
}

func (t *typed[S, In, Out]) Init(key int32) int32 {
	if t.model.InitFor != nil {
		return t.states.Number(t.model.InitFor(t.view.KeyName[key]))
	}
	return t.states.Number(t.model.Init())
}

// Class implements Classer. An operation whose answer a cut view does not show
// is a class of its own.
func (t *typed[S, In, Out]) Class(op int32) int32 {
	i := t.index[op]
	if t.outs[i] != nil && t.view.Info[op] {
		return int32(len(t.ops)) + i
	}
	return t.class[i]
}

func (t *typed[S, In, Out]) Describe(state int32) string {
	if t.model.Describe != nil {
		return t.model.Describe(t.states.State(state))
	}
	return fmt.Sprint(t.states.State(state))
}

func (t *typed[S, In, Out]) Step(state, op int32) (int32, bool) {
	key := uint64(uint32(state))<<32 | uint64(uint32(t.Class(op)))
	next, ok := t.memo.get(key)
	if !ok {
		next = t.step(state, op)
		t.memo.put(key, next)
	}
	return next, next >= 0
}

// stateBytes is what a numbered state costs beyond its own size: entries of a
// map and a list, and for states behind a pointer a small object.
const stateBytes = 120

// Bytes implements Sizer. What lies behind pointers of a user's state is
// guessed.
func (t *typed[S, In, Out]) Bytes() int64 {
	var s S
	return t.memo.bytes() + int64(t.count)*(stateBytes+2*int64(reflect.TypeOf(&s).Elem().Size()))
}

func (t *typed[S, In, Out]) step(state, op int32) (number int32) {
	defer t.blame(op)
	next, ok := t.stepFrom(t.states.State(state), op)
	t.unchanged(state)
	if !ok {
		return -1
	}
	number = t.states.Number(next)
	if t.debug && number != state && t.view.Read != nil && t.view.Read[op] {
		panic("ReadOnly says that this operation changes no state, and the step changed one")
	}
	t.count = max(t.count, number+1)
	return number
}

// stepFrom performs one operation on a state of the model.
func (t *typed[S, In, Out]) stepFrom(s S, op int32) (next S, ok bool) {
	in, out := t.ops[t.index[op]].In, t.out(op)
	switch {
	case t.model.Apply != nil:
		var got Out
		if next, got, ok = t.model.Apply(s, in); ok && out != nil {
			ok = t.equal(got, *out)
		}
		return next, ok
	case t.model.Step != nil:
		return t.model.Step(s, in, out)
	}
	return t.model.StepContext(t.ctx, s, in, out)
}

func (t *typed[S, In, Out]) equal(a, b Out) bool {
	if t.model.Equal != nil {
		return t.model.Equal(a, b)
	}
	return any(a) == any(b)
}

// unchanged is the debug check that a step left its argument alone.
func (t *typed[S, In, Out]) unchanged(state int32) {
	if t.debug && t.states.Number(t.states.State(state)) != state {
		panic("the step changed the state that it was given; states must be immutable values")
	}
}

// blame turns a panic of a user's function into one that names the operation.
func (t *typed[S, In, Out]) blame(op int32) {
	if r := recover(); r != nil {
		if e, ok := r.(*StepError); ok {
			panic(e)
		}
		panic(&StepError{Op: op, Cause: r})
	}
}

// branching is typed for a model with Steps.
type branching[S, In, Out any] struct{ *typed[S, In, Out] }

func (b *branching[S, In, Out]) Steps(state, op int32) []int32 {
	key := uint64(uint32(state))<<32 | uint64(uint32(b.Class(op)))
	if next, ok := b.many[key]; ok {
		return next
	}
	next := b.steps(state, op)
	if b.many == nil {
		b.many = map[uint64][]int32{}
	}
	b.many[key] = next
	return next
}

func (b *branching[S, In, Out]) steps(state, op int32) []int32 {
	defer b.blame(op)
	i := b.index[op]
	var numbers []int32
	for _, s := range b.model.Steps(b.states.State(state), b.ops[i].In, b.out(op)) {
		n := b.states.Number(s)
		b.count = max(b.count, n+1)
		numbers = append(numbers, n)
	}
	b.unchanged(state)
	return numbers
}

// tokened is typed for a register-like model.
type tokened[S, In, Out any] struct {
	*typed[S, In, Out]
	numbers map[any]int32
	held    []int32 // by state, plus one; 0: not asked yet
}

func (k *tokened[S, In, Out]) number(what any, ok bool) int32 {
	if !ok {
		return -1
	}
	n, seen := k.numbers[what]
	if !seen {
		n = int32(len(k.numbers))
		k.numbers[what] = n
	}
	return n
}

// out is the recorded output of an operation, nil where it is not known here.
func (t *typed[S, In, Out]) out(op int32) *Out {
	if t.view.Info[op] {
		return nil // also where a view was cut before the answer (Subject.Cut)
	}
	return t.outs[t.index[op]]
}

// Demand implements Tokens: an operation whose output is not known demands
// nothing.
func (k *tokened[S, In, Out]) Demand(op int32) int32 {
	out := k.out(op)
	if out == nil {
		return -1
	}
	return k.number(k.model.Demands(k.ops[k.index[op]].In, out))
}

// Want implements Tokens.
func (k *tokened[S, In, Out]) Want(op int32) int32 {
	return k.number(k.model.Demands(k.ops[k.index[op]].In, k.out(op)))
}

// Write implements Tokens.
func (k *tokened[S, In, Out]) Write(op int32) int32 {
	return k.number(k.model.Writes(k.ops[k.index[op]].In, k.out(op)))
}

// Observes implements Tokens: it has a known output that names no demand.
func (k *tokened[S, In, Out]) Observes(op int32) bool { return k.out(op) != nil && k.Demand(op) < 0 }

// Avoid implements Avoider.
func (k *tokened[S, In, Out]) Avoid(op int32) int32 {
	out := k.out(op)
	if k.model.Avoids == nil || out == nil {
		return -1
	}
	return k.number(k.model.Avoids(k.ops[k.index[op]].In, out))
}

// Held implements Tokens.
func (k *tokened[S, In, Out]) Held(state int32) int32 {
	for int(state) >= len(k.held) {
		k.held = append(k.held, 0)
	}
	if k.held[state] == 0 {
		k.held[state] = k.number(k.model.Holds(k.states.State(state)), true) + 1
	}
	return k.held[state] - 1
}

// byEquality numbers comparable states.
type byEquality[S any] struct {
	numbers map[any]int32
	states  []S
}

func (b *byEquality[S]) Number(s S) int32 {
	n, ok := b.numbers[s]
	if !ok {
		n = int32(len(b.states))
		b.numbers[s] = n
		b.states = append(b.states, s)
	}
	return n
}

func (b *byEquality[S]) State(n int32) S { return b.states[n] }
