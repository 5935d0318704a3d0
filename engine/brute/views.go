package brute

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// MaxViewOps is the greatest number of operations for which every choice of
// what was seen and every order is tried.
const MaxViewOps = 8

// ErrNotRegister is returned for a model or an operation that does not name the
// value that it sees or leaves.
var ErrNotRegister = errors.New("the history is not register-like: an operation does not name what it sees or leaves")

// viewLevels are the levels that are not about one order, each with the
// question that it asks.
var viewLevels = map[string]func(r *registers) bool{
	"regular-weak":        (*registers).weak,
	"pram":                (*registers).pram,
	"causal":              some(causal),
	"causal-memory":       some(causalMemory),
	"causal-convergence":  some(causalConvergence),
	"read-your-writes":    some(func(c *choice) bool { return c.arbitrated(c.ownWrites, nil) }),
	"monotonic-reads":     some(func(c *choice) bool { return c.arbitrated(c.ownReads, nil) }),
	"monotonic-writes":    some(func(c *choice) bool { return c.arbitrated(nil, c.sessionWrites) }),
	"writes-follow-reads": some(func(c *choice) bool { return c.arbitrated(nil, c.followsRead) }),
}

// DecideViews reports whether s is consistent at a level without a single
// order: pram, causal, causal-memory, causal-convergence, or one session
// guarantee alone. The model must be register-like: a read names the value that
// it saw, a write the value that it leaves, a cas both (it succeeded, or got no
// answer). Every choice is tried: which of the unanswered updates happened,
// which of the writes of its value each read and cas saw, and every order.
func DecideViews(s *spec.Subject, level string) (consistent bool, err error) {
	decide, ok := viewLevels[level]
	switch {
	case !ok:
		return false, fmt.Errorf("level %q has no definition here", level)
	case s.View.N > MaxViewOps:
		return false, fmt.Errorf("%w: %d, at most %d", ErrTooLarge, s.View.N, MaxViewOps)
	case s.View.Read == nil:
		return false, spec.ErrCannotTell
	}
	defer func() {
		if r := recover(); r != nil {
			step, mine := r.(*spec.StepError)
			if !mine {
				panic(r)
			}
			consistent, err = false, step
		}
	}()
	r, err := newRegisters(s)
	if err != nil {
		return false, err
	}
	return decide(r), nil
}

// nobody stands for the initial value where a write is asked for.
const nobody = int32(-1)

// registers is a history of register-like objects.
type registers struct {
	n       int32
	view    *history.View
	machine spec.Machine
	values  spec.Tokens
	session *verify.Relation
	updates []int32 // answered writes and cas, and those without an answer
	looks   []bool  // whether it saw something: answered reads, and cas
}

func newRegisters(s *spec.Subject) (*registers, error) {
	v := s.View
	sessions, err := verify.Define("sequential") // its order is the session order
	if err != nil {
		return nil, err
	}
	order, err := sessions.Order(v, nil)
	if err != nil {
		return nil, err
	}
	r := &registers{n: int32(v.N), view: v, machine: s.Machine(context.Background(), v, false), session: order}
	r.looks = make([]bool, v.N)
	var named bool
	if r.values, named = r.machine.(spec.Tokens); !named {
		return nil, ErrNotRegister
	}
	for x := range r.n {
		switch {
		case v.Read[x]:
			r.looks[x] = true
		case v.Idle == nil || !v.Idle[x]:
			r.updates = append(r.updates, x)
			r.looks[x] = r.values.Want(x) >= 0
			uncertain := !v.Info[x] && r.looks[x] && r.values.Demand(x) < 0 // a cas whose answer was not recorded
			if r.values.Write(x) < 0 || uncertain {
				return nil, ErrNotRegister
			}
		}
		if r.values.Observes(x) && r.looks[x] {
			return nil, ErrNotRegister // a cas that failed
		}
	}
	return r, nil
}

// left is the value that a write left, or the initial one.
func (r *registers) left(w, key int32) int32 {
	if w == nobody {
		return r.values.Held(r.machine.Init(key))
	}
	return r.values.Write(w)
}

// fits reports whether x may have seen w. A read whose answer was not recorded
// may have seen anything.
func (r *registers) fits(x, w int32) bool {
	wanted := r.values.Want(x)
	if r.view.Read[x] {
		wanted = r.values.Demand(x)
	}
	return wanted < 0 || wanted == r.left(w, r.view.Key[x])
}

// pram: for every process some set of updates that holds all answered ones,
// together with the reads of the process, has an order that keeps every
// session and is legal.
func (r *registers) pram() bool {
	for p := range r.view.ProcessName {
		own := func(x int32) bool { return r.view.Read[x] && r.view.Process[x] == int32(p) }
		if !r.someHappened(func(happened []int32) bool {
			members := slices.Clone(happened)
			for x := range r.n {
				if own(x) {
					members = append(members, x)
				}
			}
			return r.orders(members, r.session, r.legal)
		}) {
			return false
		}
	}
	return true
}

// someHappened reports whether accept takes one of the sets of updates that
// hold all answered ones.
func (r *registers) someHappened(accept func(happened []int32) bool) bool {
	var try func(rest, chosen []int32) bool
	try = func(rest, chosen []int32) bool {
		if len(rest) == 0 {
			return accept(chosen)
		}
		x := rest[0]
		if r.view.Info[x] && try(rest[1:], chosen) {
			return true
		}
		return try(rest[1:], append(slices.Clone(chosen), x))
	}
	return try(r.updates, nil)
}

// orders reports whether accept takes one of the orders of members that
// respect before. It is asked for every prefix of an order, the whole included,
// and may refuse early.
func (r *registers) orders(members []int32, before *verify.Relation, accept func(order []int32) bool) bool {
	var try func(order []int32) bool
	try = func(order []int32) bool {
		if !accept(order) {
			return false
		}
		if len(order) == len(members) {
			return true
		}
		for _, x := range members {
			waits := slices.ContainsFunc(members, func(m int32) bool { return before.Has(m, x) && !slices.Contains(order, m) })
			if !slices.Contains(order, x) && !waits && try(append(slices.Clone(order), x)) {
				return true
			}
		}
		return false
	}
	return try(nil)
}

// legal plays an order on the model.
func (r *registers) legal(order []int32) bool {
	return r.play(order, func(int32, int32) bool { return true })
}

// play reports whether order is legal on the model, and allows takes each
// operation with what its object holds.
func (r *registers) play(order []int32, allows func(x, held int32) bool) bool {
	states := map[int32]int32{}
	for _, x := range order {
		k := r.view.Key[x]
		now, ok := states[k]
		if !ok {
			now = r.machine.Init(k)
		}
		next, ok := r.machine.Step(now, x)
		if !ok || !allows(x, r.values.Held(now)) {
			return false
		}
		states[k] = next
	}
	return true
}
