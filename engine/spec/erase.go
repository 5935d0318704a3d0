package spec

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

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

// Decoded are the inputs and outputs of the operations of a View in the types
// of a model, by position.
type Decoded[In, Out any] struct {
	In    []In
	Out   []Out
	Known []bool // the operation was answered, and what it returned was recorded
}

// Erase turns a typed history and model into a Subject. It fails with
// ErrModel when the model lacks a step or cannot number its states.
func Erase[S, In, Out any](h *history.Of[In, Out], m Model[S, In, Out]) (*Subject, error) {
	v := history.NewView(h)
	d := Decoded[In, Out]{make([]In, v.N), make([]Out, v.N), make([]bool, v.N)}
	for j, i := range v.Ops {
		op := &h.Ops[i]
		d.In[j] = op.In
		if op.Outcome == history.OK && !op.NoOut {
			d.Out[j], d.Known[j] = op.Out, true
		}
	}
	return EraseDecoded(h, v, d, m)
}

// EraseDecoded is Erase for a history whose operations have other types, or
// none: d holds them decoded by position in v, the View of h.
func EraseDecoded[S, In, Out, A, B any](h *history.Of[A, B], v *history.View, d Decoded[In, Out], m Model[S, In, Out]) (*Subject, error) {
	if m.Init == nil && m.InitFor == nil {
		return nil, fmt.Errorf("%w %s: Init is missing", ErrModel, m.Name)
	}
	if m.Apply == nil && m.Step == nil && m.StepContext == nil && m.Steps == nil {
		return nil, fmt.Errorf("%w %s: one of Apply, Step, StepContext and Steps is needed", ErrModel, m.Name)
	}
	if m.States == nil && !reflect.TypeFor[S]().Comparable() {
		return nil, fmt.Errorf("%w %s: states of type %v are not comparable; set States", ErrModel, m.Name, reflect.TypeFor[S]())
	}
	e := &erased[S, In, Out]{Decoded: d, model: m, whole: v}
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
	for _, known := range d.Known {
		if known {
			s.Constrained++
		}
	}
	if err := e.reads(v); err != nil {
		return nil, err
	}
	if mayPanic(reflect.TypeFor[In]()) || mayPanic(reflect.TypeFor[Out]()) {
		if err := e.classify(); err != nil {
			return nil, err
		}
	}
	s.Text = func(i int32) string { return e.text(i) }
	if m.ReadOnly != nil {
		s.Asks = func(i int32) bool { return m.ReadOnly(e.In[i], nil) }
	}
	s.ID = func(i int32) int64 { return h.ID(int(v.Ops[i])) }
	s.Where = func(i int32) string { return h.Where(int(v.Ops[i])) }
	s.Index = func(i int32) (int64, bool) { return h.Index(int(v.Ops[i])) }
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
	Decoded[In, Out]
	model   Model[S, In, Out]
	whole   *history.View
	once    sync.Once // makes class when it is first needed: a fast path needs none
	class   []int32
	indexed sync.Once // makes at
	at      []int32   // index in the history -> position in the whole View
}

// output is what operation i of the whole View returned; nil: not known.
func (e *erased[S, In, Out]) output(i int32) *Out {
	if !e.Known[i] {
		return nil
	}
	return &e.Out[i]
}

func (e *erased[S, In, Out]) text(i int32) string {
	if e.model.Text != nil {
		return e.model.Text(e.In[i], e.output(i))
	}
	f := e.whole.FName[e.whole.F[i]]
	if !e.Known[i] {
		return fmt.Sprintf("%s %v", f, e.In[i])
	}
	return fmt.Sprintf("%s %v -> %v", f, e.In[i], e.Out[i])
}

// machine makes the Machine of a View.
func (e *erased[S, In, Out]) machine(ctx context.Context, v *history.View, debug bool) Machine {
	t := &typed[S, In, Out]{erased: e, ctx: ctx, view: v, debug: debug, memo: newTransitions()}
	t.index = e.index(v)
	if e.model.States != nil {
		t.states = e.model.States()
	} else {
		t.states = &byEquality[S]{}
	}
	switch {
	case e.model.Steps != nil:
		return &branching[S, In, Out]{t}
	case e.model.Container != nil:
		return &contained[S, In, Out]{t}
	case e.model.Lock != nil || e.model.Members != nil || e.model.Count != nil:
		return &effective[S, In, Out]{t}
	case e.model.Holds != nil && e.model.Demands != nil && e.model.Writes != nil:
		k := &tokened[S, In, Out]{typed: t}
		if e.model.Texts != nil {
			return &appending[S, In, Out]{k}
		}
		return k
	}
	return t
}

// index leads from positions in v, a slice of the whole View, to positions in
// that.
func (e *erased[S, In, Out]) index(v *history.View) []int32 {
	index := make([]int32, v.N)
	if slices.Equal(v.Ops, e.whole.Ops) {
		for i := range index {
			index[i] = int32(i)
		}
		return index
	}
	e.indexed.Do(func() {
		if n := e.whole.N; n > 0 {
			e.at = make([]int32, e.whole.Ops[n-1]+1)
		}
		for j, i := range e.whole.Ops {
			e.at[i] = int32(j)
		}
	})
	for i := range index {
		index[i] = e.at[v.Ops[i]]
	}
	return index
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
	if t.Known[i] && t.view.Info[op] {
		return int32(len(t.In)) + i
	}
	t.classify() // cannot fail, or it was done at first
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
	in, out := t.In[t.index[op]], t.out(op)
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
	for _, s := range b.model.Steps(b.states.State(state), b.In[i], b.out(op)) {
		n := b.states.Number(s)
		b.count = max(b.count, n+1)
		numbers = append(numbers, n)
	}
	b.unchanged(state)
	return numbers
}

// out is the recorded output of an operation, nil where it is not known here.
func (t *typed[S, In, Out]) out(op int32) *Out {
	if t.view.Info[op] {
		return nil // also where a view was cut before the answer (Subject.Cut)
	}
	return t.output(t.index[op])
}
