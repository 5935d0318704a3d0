package verify

import (
	"context"
	"errors"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// What an operation saw, where it is no write.
const (
	initially int32 = -1 // the initial value
	nothing   int32 = -2 // it asks for nothing, or nobody says
)

// sights is a history of register-like objects with the question what each
// operation may have seen.
type sights struct {
	subject *spec.Subject
	view    *history.View
	machine spec.Machine
	tokens  spec.Tokens
	want    []int32              // by operation: the value that it saw, -1: none is named
	write   []int32              // by operation: the value that it leaves, -1: it is no update
	initial []int32              // by key: the value that it holds at first
	writers map[[2]int32][]int32 // by key and value
	session [][]int32            // by process, in its own order
}

var errNotRegisters = errors.New("an operation does not name what it saw or what it leaves")

func newSights(s *spec.Subject) (*sights, error) {
	v := s.View
	t := &sights{subject: s, view: v, machine: s.Machine(context.Background(), v, false), writers: map[[2]int32][]int32{}}
	var named bool
	if t.tokens, named = t.machine.(spec.Tokens); !named || v.Read == nil {
		return nil, errNotRegisters
	}
	for key := range v.KeyName {
		t.initial = append(t.initial, t.tokens.Held(t.machine.Init(int32(key))))
	}
	t.want, t.write = make([]int32, v.N), make([]int32, v.N)
	for x := range int32(v.N) {
		t.want[x], t.write[x] = -1, -1
		idle := v.Idle != nil && v.Idle[x]
		if !idle {
			t.want[x] = t.tokens.Want(x)
			if v.Read[x] { // only what its answer says
				t.want[x] = t.tokens.Demand(x)
			}
		}
		if v.Read[x] && t.tokens.Observes(x) {
			return nil, errNotRegisters
		}
		if v.Read[x] || idle {
			continue
		}
		t.write[x] = t.tokens.Write(x)
		if t.write[x] < 0 || !v.Info[x] && t.want[x] >= 0 && t.tokens.Demand(x) < 0 {
			return nil, errNotRegisters
		}
		of := [2]int32{v.Key[x], t.write[x]}
		t.writers[of] = append(t.writers[of], x)
	}
	t.session = sessions(v)
	return t, nil
}

// sessions lists the operations of each process in its own order.
func sessions(v *history.View) [][]int32 {
	lists := make([][]int32, len(v.ProcessName))
	for x := range int32(v.N) {
		lists[v.Process[x]] = append(lists[v.Process[x]], x)
	}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b int32) int {
			if first(v, a, b) {
				return -1
			}
			return 1
		})
	}
	return lists
}

// maySee lists what x may have seen: the initial value, or a write to its key,
// that is what x saw, and no write that its own session did later.
func (t *sights) maySee(x int32) (choices []int32) {
	if t.want[x] < 0 {
		return nil
	}
	key := t.view.Key[x]
	if t.initial[key] == t.want[x] {
		choices = append(choices, initially)
	}
	for _, w := range t.writers[[2]int32{key, t.want[x]}] {
		if w != x && !session(t.view, x, w) {
			choices = append(choices, w)
		}
	}
	return choices
}

// only is the one thing that x can have seen, or nothing.
func (t *sights) only(x int32) int32 {
	if choices := t.maySee(x); len(choices) == 1 {
		return choices[0]
	}
	return nothing
}

// happened reports which operations happened for sure: those that count and
// got an answer, and what one of these can alone have seen.
func (t *sights) happened(counts func(x int32) bool) []bool {
	sure := make([]bool, t.view.N)
	for x := range int32(t.view.N) {
		if t.view.Info[x] || !counts(x) {
			continue
		}
		for y := x; y >= 0 && !sure[y]; y = t.only(y) {
			sure[y] = true
		}
	}
	return sure
}

// rival reports whether w writes to x's key and is another operation.
func (t *sights) rival(w, x int32) bool {
	return w != x && t.write[w] >= 0 && t.view.Key[w] == t.view.Key[x]
}

func (t *sights) name(x int32) string { return name(t.subject, x) }
