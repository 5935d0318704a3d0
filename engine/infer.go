package engine

import (
	"context"
	"slices"
	"sort"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// inferred is a machine of which nothing was told but how it steps, and which
// seems to be a register: each operation either leaves one state whatever it
// finds, or looks at the state, or takes one state to another. That is guessed
// from a few steps. An order that is found so is one all the same, for the search
// steps on the machine itself; before a violation is believed, prove looks at all
// steps that matter.
//
// Those are few. Let the hard order be one interval order, and let the updates be
// guessed right. Then what x finds was left by an update that was not invoked
// after x returned, and that no answered update came wholly between it and x; or
// it is the initial state, where no answered update returned before x was
// invoked. If every operation steps as guessed on all that it may find so, then
// by induction along any legal order of the machine it does so in that order, and
// the legal orders are those of the register.
type inferred struct {
	spec.Machine
	in, out []int64
	info    []bool
	initial int32
	role    []role
	byIn    []int32 // updates
	longest []int64 // the greatest out among the first so many of byIn and one more
	lost    []int32 // updates without an answer, which are not in byIn
	outs    []int64 // the outs of the answered updates, ascending
	latest  []int64 // the greatest in among the first so many of outs and one more
	effort  int     // steps that may still be looked at
	listed  []int32 // by state: the number of the list on which it stood last
	lists   int32
	states  []int32 // the list
	finds   []bool  // by operation: neither of two states is legal
}

// role is what an operation is guessed to do.
type role struct {
	kind     roleKind
	from, to int32 // states
}

type roleKind uint8

const (
	roleOpen  roleKind = iota // not known yet
	roleWrite                 // leaves to
	roleCas                   // takes from to to; nothing else is legal (unanswered: changes nothing else)
	roleFind                  // legal where from is found only, and changes nothing
	roleAvoid                 // legal where anything but from is found, and changes nothing
	roleFree                  // always legal, and changes nothing
	roleNever                 // nothing that it may find is legal
)

// Bounds of an inference: unanswered updates, each of which may be found for
// ever after, and steps for each operation on average.
const (
	mostLost    = 32
	inferEffort = 200
)

// infer guesses; nil where the machine is no register.
func infer(v *history.View, m spec.Machine, in, out []int64) *inferred {
	_, tokens := m.(spec.Tokens)
	_, watches := m.(spec.Watcher)
	if tokens || watches || v.Read != nil || slices.ContainsFunc(v.Key, func(k int32) bool { return k != v.Key[0] }) {
		return nil
	}
	f := &inferred{Machine: m, in: in, out: out, info: v.Info, initial: m.Init(v.Key[0]), role: make([]role, v.N), effort: inferEffort * v.N}
	if !f.writes() {
		return nil
	}
	for more := true; more; {
		f.sort()
		if more = false; len(f.lost) > mostLost {
			return nil
		}
		for x := range f.role {
			if k := f.role[x].kind; k != roleOpen && k != roleNever {
				continue
			}
			if !f.look(int32(x)) {
				return nil
			}
			more = more || f.role[x].kind == roleCas // which others may find
		}
	}
	return f
}

// writes finds the operations that leave one state whatever they find: the
// initial one, and the first one found that is another.
func (f *inferred) writes() bool {
	other := int32(-1)
	for x := 0; x < len(f.role) && other < 0; x++ {
		if next, ok := f.Machine.Step(f.initial, int32(x)); ok && next != f.initial {
			other = next
		}
	}
	if other < 0 {
		return false
	}
	f.finds = make([]bool, len(f.role))
	for x := range f.role {
		a, legal := f.Machine.Step(f.initial, int32(x))
		b, also := f.Machine.Step(other, int32(x))
		if legal && also && a == b {
			f.role[x] = role{kind: roleWrite, to: a}
		}
		f.finds[x] = !legal && !also
	}
	return true
}

// sort lists the updates that are known.
func (f *inferred) sort() {
	var byOut []int32
	f.byIn, f.lost = f.byIn[:0], f.lost[:0]
	for x, r := range f.role {
		switch update := r.kind == roleWrite || r.kind == roleCas; {
		case update && f.info[x]:
			f.lost = append(f.lost, int32(x))
		case update:
			f.byIn = append(f.byIn, int32(x))
		}
	}
	byOut = slices.Clone(f.byIn)
	order.SortBy(f.byIn, f.in)
	order.SortBy(byOut, f.out)
	f.longest, f.outs, f.latest = f.longest[:0], f.outs[:0], f.latest[:0]
	longest, latest := int64(order.InNever), int64(order.InNever)
	for i := range byOut {
		longest, latest = max(longest, f.out[f.byIn[i]]), max(latest, f.in[byOut[i]])
		f.longest, f.outs, f.latest = append(f.longest, longest), append(f.outs, f.out[byOut[i]]), append(f.latest, latest)
	}
}

// found lists the states that x may find.
func (f *inferred) found(x int32) []int32 {
	f.states = f.states[:0]
	f.lists++
	since := int64(order.InNever)
	if k := sort.Search(len(f.outs), func(i int) bool { return f.outs[i] >= f.in[x] }); k > 0 {
		since = f.latest[k-1]
	} else {
		f.add(f.initial)
	}
	end := sort.Search(len(f.byIn), func(i int) bool { return f.in[f.byIn[i]] > f.out[x] })
	for i := end - 1; i >= 0 && f.longest[i] >= since; i-- {
		if y := f.byIn[i]; y != x && f.out[y] >= since {
			f.add(f.role[y].to)
		}
	}
	for _, y := range f.lost {
		if y != x && f.in[y] <= f.out[x] {
			f.add(f.role[y].to)
		}
	}
	f.effort -= len(f.states)
	return f.states
}

// add lists a state once.
func (f *inferred) add(state int32) {
	for int(state) >= len(f.listed) {
		f.listed = append(f.listed, make([]int32, len(f.listed)+16)...)
	}
	if f.listed[state] != f.lists {
		f.listed[state] = f.lists
		f.states = append(f.states, state)
	}
}

// look guesses what x, which is no write, does; false: nothing that a register
// does.
func (f *inferred) look(x int32) bool {
	found := f.found(x)
	if f.effort < 0 {
		return false
	}
	var legal, illegal, changed int
	r := role{kind: roleNever}
	var not int32
	for _, s := range found {
		switch next, ok := f.Machine.Step(s, x); {
		case !ok:
			illegal, not = illegal+1, s
		case next != s:
			changed, r = changed+1, role{kind: roleCas, from: s, to: next}
		default:
			if legal++; changed == 0 {
				r = role{kind: roleFind, from: s}
			}
			if f.finds[x] && changed == 0 && !f.info[x] { // the rest is left to prove
				f.role[x] = r
				return true
			}
		}
	}
	switch {
	case changed > 1 || changed == 1 && (legal > 0) != f.info[x] && len(found) > 1:
		return false
	case changed == 1 || legal == 0 || legal == 1 && illegal > 0 && !f.info[x]:
	case illegal == 0:
		r = role{kind: roleFree}
	case illegal == 1 && !f.info[x]:
		r = role{kind: roleAvoid, from: not}
	default:
		return false
	}
	f.role[x] = r
	return true
}

// prove reports whether every operation steps as guessed on all that it may
// find.
func (f *inferred) prove(stop func() bool) bool {
	for x := range int32(len(f.role)) {
		if f.effort < 0 || x&0xff == 0 && stop() {
			return false
		}
		for _, s := range f.found(x) {
			next, ok := f.Machine.Step(s, x)
			want, legal := f.role[x].step(s, f.info[x])
			if ok != legal || ok && next != want {
				return false
			}
		}
	}
	return true
}

// reads are the columns of a View that tell what is a read, and what is none
// but not worth placing.
func (f *inferred) reads() (read, idle []bool) {
	read, idle = make([]bool, len(f.role)), make([]bool, len(f.role))
	for x, r := range f.role {
		update := r.kind == roleWrite || r.kind == roleCas
		read[x], idle[x] = !update && !f.info[x], !update && f.info[x]
	}
	return read, idle
}

// none stands for a state that is never found.
func (f *inferred) none() int32 { return int32(len(f.listed)) }

// Demand implements spec.Tokens; what is held is the state.
func (f *inferred) Demand(op int32) int32 {
	if f.info[op] {
		return -1
	}
	return f.Want(op)
}

// Want implements spec.Tokens.
func (f *inferred) Want(op int32) int32 {
	switch r := f.role[op]; r.kind {
	case roleFind, roleCas:
		return r.from
	case roleNever:
		return f.none()
	}
	return -1
}

// Write implements spec.Tokens.
func (f *inferred) Write(op int32) int32 {
	if r := f.role[op]; r.kind == roleWrite || r.kind == roleCas {
		return r.to
	}
	return -1
}

// Observes implements spec.Tokens.
func (f *inferred) Observes(op int32) bool { return f.role[op].kind == roleAvoid }

// Avoid implements spec.Avoider.
func (f *inferred) Avoid(op int32) int32 {
	if r := f.role[op]; r.kind == roleAvoid {
		return r.from
	}
	return -1
}

// Held implements spec.Tokens.
func (f *inferred) Held(state int32) int32 { return state }

// Class implements spec.Classer.
func (f *inferred) Class(op int32) int32 { return spec.ClassOf(f.Machine, op) }

// Describe implements spec.Describer.
func (f *inferred) Describe(state int32) string { return spec.DescribeState(f.Machine, state) }

// Bytes implements spec.Sizer.
func (f *inferred) Bytes() int64 { return spec.BytesOf(f.Machine) }

// asRegister decides the part by a search of the register that its machine
// seems to be, under one interval order. It reports whether that decided: where
// the guess was wrong, nothing is said.
func (t Task) asRegister(ctx context.Context, part *spec.Part, in, out []int64, stop func() bool) bool {
	if !t.Eager {
		return false
	}
	f := infer(t.Rules.View, t.Machine, in, out)
	if f == nil {
		return false
	}
	view := *t.Rules.View
	view.Read, view.Idle = f.reads()
	g := order.NewIntervalGraph(t.Rules.Hard, view.Info, view.Call, in, out)
	p := Problem{View: &view, Graph: g, Soft: t.Rules.Soft, Machine: f, Eager: true}
	res := Search(ctx, p, t.Limits, t.Live)
	if res.Kind == spec.Violation && !f.prove(stop) {
		return false
	}
	t.searched(ctx, part, p, res)
	return true
}

// step is what an operation of this role does, which has no answer if lost.
func (r role) step(state int32, lost bool) (next int32, ok bool) {
	switch r.kind {
	case roleWrite:
		return r.to, true
	case roleCas:
		if state == r.from {
			return r.to, true
		}
		return state, lost
	case roleFind:
		return state, state == r.from
	case roleAvoid:
		return state, state != r.from
	}
	return state, r.kind == roleFree
}
