// Package brute is the engine's stupid twin: it decides a small history by
// trying every order, and is meant to be believed by reading it once.
//
// A history is consistent if some set of its operations that contains every
// required one (those with an answer) can be written in a line that respects
// the level's order and is legal. The order is the closure of the level's
// relation (package verify builds it pair by pair) over all operations, the
// optional ones that are never placed included. So an operation may come next
// when
//
//	it has not been placed,
//	every required operation that precedes it has been placed, and
//	no operation that it precedes has been placed,
//
// and the model accepts it in the state of its key. The search remembers the
// pairs of a set of placed operations and the states reached, and nothing
// else: there is no other pruning.
package brute

import (
	"context"
	"errors"
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// MaxOps is the greatest number of operations that are tried.
const MaxOps = 20

// ErrTooLarge is returned for a history of more than MaxOps operations.
var ErrTooLarge = errors.New("too many operations to try every order")

// Decide reports whether s is consistent at the level with this full name,
// and an order that shows it (positions in s.View). extra, where not nil, is
// the hard order of the oracles, joined to the level's. It fails with
// ErrTooLarge, spec.ErrCannotTell, for a level without a definition, and where
// the model itself fails (*spec.StepError).
func Decide(s *spec.Subject, level string, extra func(a, b int32) bool) (consistent bool, order []int32, err error) {
	d, err := verify.Define(level)
	if err != nil {
		return false, nil, err
	}
	return DecideDefinition(s, d, extra)
}

// DecideDefinition is Decide for a level by its definition.
func DecideDefinition(s *spec.Subject, d verify.Definition, extra func(a, b int32) bool) (consistent bool, order []int32, err error) {
	if s.View.N > MaxOps {
		return false, nil, fmt.Errorf("%w: %d, at most %d", ErrTooLarge, s.View.N, MaxOps)
	}
	if d.Parts != nil {
		return decideAll(s, d, extra)
	}
	hard, err := d.Order(s.View, extra)
	if err != nil {
		return false, nil, err
	}
	m := s.Machine(context.Background(), s.View, false)
	o := objectFor(m, s.View, d.Versions)
	if free := d.Free(s.View); free != nil {
		o = lenient{o, free}
	}
	judge, byOrder, err := judgeFor(d, s)
	if err != nil {
		return false, nil, err
	}
	if byOrder {
		o = lenient{o, s.View.Read}
	}
	return search(s.View, hard.Close(), o, judge, byOrder)
}

// decideAll decides a level that is several: each needs an order of its own.
// The order returned is the last one's.
func decideAll(s *spec.Subject, d verify.Definition, extra func(a, b int32) bool) (ok bool, order []int32, err error) {
	for _, part := range d.Parts {
		if ok, order, err = DecideDefinition(s, part, extra); !ok || err != nil {
			return ok, nil, err
		}
	}
	return true, order, nil
}

// DecideFunc is Decide for a level of the caller's own: hard says which
// operation must come before which (its closure is taken here), validity what
// a legal sequence is.
func DecideFunc(s *spec.Subject, hard func(a, b int32) bool, validity spec.Validity) (consistent bool, order []int32, err error) {
	if s.View.N > MaxOps {
		return false, nil, fmt.Errorf("%w: %d, at most %d", ErrTooLarge, s.View.N, MaxOps)
	}
	m := s.Machine(context.Background(), s.View, false)
	if validity.Over != nil {
		if m, err = validity.Over(m, s.View); err != nil {
			return false, nil, err
		}
	}
	return search(s.View, verify.NewRelation(s.View.N, hard).Close(), objectFor(m, s.View, 0), nil, false)
}

// searcher is one search. Sets of operations are bit masks.
type searcher struct {
	n             int
	required      uint32
	before, after []uint32 // by operation: what precedes it, what it precedes
	key           []int32  // by operation: index into states
	states        []int32  // by key with operations: the state now
	object        object
	judge         judge // nil: everything that the object allows
	byOrder       bool  // judge asks for the order, so configurations are no sets
	seen          map[uint64]struct{}
	pairs         map[uint64]int32 // numbers for pairs of states, see config
	order         []int32
}

// search tries every order of v's operations that hard, a closed relation,
// allows. judge may refuse an operation besides; byOrder says that it looks at
// more than which operations are placed.
func search(v *history.View, hard *verify.Relation, o object, judge judge, byOrder bool) (ok bool, order []int32, err error) {
	defer func() {
		if r := recover(); r != nil {
			step, mine := r.(*spec.StepError)
			if !mine {
				panic(r)
			}
			ok, order, err = false, nil, step
		}
	}()
	s := &searcher{n: v.N, object: o, judge: judge, byOrder: byOrder, seen: map[uint64]struct{}{}}
	s.before, s.after, s.key = make([]uint32, v.N), make([]uint32, v.N), make([]int32, v.N)
	s.order = make([]int32, 0, v.N)
	for a := range int32(v.N) {
		if !v.Info[a] {
			s.required |= 1 << a
		}
		for b := range int32(v.N) {
			if hard.Has(a, b) {
				s.after[a] |= 1 << b
				s.before[b] |= 1 << a
			}
		}
	}
	index := map[int32]int32{} // key code -> index into states
	for a, k := range v.Key {
		i, known := index[k]
		if !known {
			i = int32(len(s.states))
			index[k] = i
			s.states = append(s.states, o.init(k))
		}
		s.key[a] = i
	}
	if !s.place(0) {
		return false, nil, nil
	}
	return true, s.order, nil
}

// place reports whether the operations of placed can be followed by others
// until every required one is placed. s.order then holds them all.
func (s *searcher) place(placed uint32) bool {
	if s.required&^placed == 0 {
		return true
	}
	here := s.config(placed)
	if _, ok := s.seen[here]; ok && !s.byOrder {
		return false
	}
	s.seen[here] = struct{}{}
	for x := range int32(s.n) {
		bit := uint32(1) << x
		switch {
		case placed&bit != 0:
			continue
		case s.before[x]&s.required&^placed != 0: // also a required x that precedes itself
			continue
		case s.after[x]&(placed|bit) != 0: // also an optional x that precedes itself
			continue
		case s.judge != nil && !s.judge(s.order, x):
			continue
		}
		k := s.key[x]
		now := s.states[k]
		next, ok := s.object.step(now, x)
		if !ok {
			continue
		}
		s.states[k] = next
		s.order = append(s.order, x)
		if s.place(placed | bit) {
			return true
		}
		s.order = s.order[:len(s.order)-1]
		s.states[k] = now
	}
	return false
}

// config numbers the pair of placed and the states of all keys, exactly: the
// states are folded into one number, two at a time, by a table.
func (s *searcher) config(placed uint32) uint64 {
	if len(s.states) == 0 {
		return uint64(placed)
	}
	all := s.states[0]
	for _, state := range s.states[1:] {
		if s.pairs == nil {
			s.pairs = map[uint64]int32{}
		}
		pair := uint64(uint32(all))<<32 | uint64(uint32(state))
		n, ok := s.pairs[pair]
		if !ok {
			n = int32(len(s.pairs))
			s.pairs[pair] = n
		}
		all = n
	}
	return uint64(placed)<<32 | uint64(uint32(all))
}
