package brute

import (
	"context"
	"errors"
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// ErrCore is wrapped by what Core says of operations that refute nothing.
var ErrCore = errors.New("no core")

// Core re-checks that the operations ops of s (positions in s.View) alone show
// that s is a violation at the level with this definition; nil: they do. It
// asks for two things.
//
//  1. Nothing that the others do matters. Either s is a history of one container,
//     and for each element in ops all that adds or takes it is in ops: a legal
//     order of all of s, with every operation on the other elements left out, is
//     then a legal order of ops, as elements in a queue, stack or priority queue
//     do not see each other but by their order. Or s is a history of one or more
//     register-like objects, and for each operation of ops that finds a value all
//     that leaves it in its key is in ops: what stands between it and the one that
//     it read from is then of no value to it, and can be left out. Or s is a
//     history of a lock, of members or of a number; see closedEffects.
//  2. No order of ops is legal: every one is tried.
//
// A take without an answer may have taken an element of ops that no answered
// take did. So for each such element ops holds one, and none that is left out
// could come anywhere that these could not.
//
// But for registers, all operations of ops are of one key. Only the keys of ops
// are looked at: order that leads through other keys would only forbid more.
// extra, where not nil, is the order of the oracles.
func Core(s *spec.Subject, d verify.Definition, extra func(a, b int32) bool, ops []int32) error {
	if d.Versions > 1 || d.Missing != 0 || d.LogVersions != 0 || d.Parts != nil || d.Free(s.View) != nil {
		return fmt.Errorf("%w: level %s lets reads see old versions", ErrCore, d.Name)
	}
	whole, within, err := oneKey(s, ops)
	if err == nil {
		if e, ok := whole.Machine(context.Background(), whole.View, false).(spec.Effects); ok {
			err = closedEffects(e, whole.View, within, precedes(s, whole, d, extra))
		} else {
			err = closed(whole, within, d.Name == "linearizable")
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", verify.ErrUnclear, err)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCore, err)
	}
	sub := *s
	sub.View = s.View.Slice(ops)
	hinted := extra
	if extra != nil {
		hinted = func(a, b int32) bool { return extra(ops[a], ops[b]) }
	}
	switch ok, _, err := DecideDefinition(&sub, d, hinted); {
	case err != nil:
		return err
	case ok:
		return fmt.Errorf("%w: an order of these operations is legal", ErrCore)
	}
	return nil
}

// oneKey is the history of the key of ops, with their positions in it; where
// ops are of several register-like objects, the whole.
func oneKey(s *spec.Subject, ops []int32) (whole *spec.Subject, within []int32, err error) {
	if len(ops) == 0 {
		return nil, nil, errors.New("there are no operations")
	}
	at := map[int32]int32{}
	var keep []int32
	for x, k := range s.View.Key {
		if k == s.View.Key[ops[0]] {
			at[int32(x)] = int32(len(keep))
			keep = append(keep, int32(x))
		}
	}
	for _, x := range ops {
		i, ok := at[x]
		if !ok && registerLike(s) {
			return s, ops, nil
		}
		if !ok {
			return nil, nil, fmt.Errorf("operation %d is of another key", x)
		}
		within = append(within, i)
	}
	sub := *s
	sub.View = s.View.Slice(keep)
	return &sub, within, nil
}

// element is what ops hold of one element.
type element struct{ adds, takes int }

// closed checks the first condition.
func closed(s *spec.Subject, ops []int32, realTime bool) error {
	machine := s.Machine(context.Background(), s.View, false)
	if t, ok := machine.(spec.Tokens); ok && s.View.Read != nil {
		return closedRegister(s.View, t, ops)
	}
	m, ok := machine.(spec.Containers)
	if !ok {
		return errors.New("the model is neither a container nor register-like")
	}
	a := m.Accesses()
	if a.Discipline == spec.ByIndex {
		return errors.New("the entries of a log have positions, so none can be left out")
	}
	in, of := make(map[int32]bool, len(ops)), map[int32]*element{}
	for _, x := range ops {
		if in[x] {
			return fmt.Errorf("operation %d stands twice", x)
		}
		in[x] = true
		if v := a.Value[x]; v >= 0 {
			if of[v] == nil {
				of[v] = &element{}
			}
			of[v].count(a.Kind[x])
		}
	}
	var inside, outside []int32 // takes without an answer
	for x, kind := range a.Kind {
		op, e := int32(x), of[a.Value[x]]
		switch {
		case s.View.Key[x] != s.View.Key[0] || kind == spec.AccessOther || kind == spec.AccessUnknown && !s.View.Info[x]:
			return fmt.Errorf("operation %d may do anything", x)
		case kind == spec.AccessUnknown && in[op]:
			inside = append(inside, op)
		case kind == spec.AccessUnknown:
			outside = append(outside, op)
		case e == nil || in[op] || kind == spec.AccessPeek:
		case kind == spec.AccessTake && e.takes > e.adds:
			// What is taken more often than it was added convicts by that alone.
		default:
			return fmt.Errorf("operation %d adds or takes an element of the core and is left out", x)
		}
	}
	open := 0 // elements that nobody took for sure
	for _, e := range of {
		open += max(0, e.adds-e.takes)
	}
	if open == 0 || len(outside) == 0 {
		return nil
	}
	if !realTime {
		return fmt.Errorf("%w: only real time tells which takes without an answer may be left out", verify.ErrUnclear)
	}
	return spared(s.View, inside, outside, open)
}

func (e *element) count(kind spec.AccessKind) {
	switch kind {
	case spec.AccessAdd:
		e.adds++
	case spec.AccessTake:
		e.takes++
	}
}

// spared checks that the takes without an answer that are left out could do no
// more than those inside: there are as many inside as elements that they may
// have taken, and each was invoked no later than any outside.
func spared(v *history.View, inside, outside []int32, elements int) error {
	if len(inside) < elements {
		return errors.New("a take without an answer, which is left out, may have taken an element of the core")
	}
	last := v.Call[inside[0]]
	for _, x := range inside {
		last = max(last, v.Call[x])
	}
	for _, x := range outside {
		if v.Call[x] < last {
			return fmt.Errorf("operation %d could take an element of the core earlier than those that are in it", x)
		}
	}
	return nil
}
