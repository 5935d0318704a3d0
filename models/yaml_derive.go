package models

import "pinyon/engine/history"

// What a search and the levels want to know of an operation beforehand
// (spec.Model's ReadOnly, Demands and Writes) follows from the text of its
// cases: the input is put into the conditions, and what remains either names
// the state that a case needs, or it does not. Nothing is guessed: where the
// text does not say, less is promised, which is always right.

// effect is one case of an operation with its input and answer put in.
type effect struct {
	next *expr // nil: the state stays
	// pinned: the case applies only in the state pin.
	pinned bool
	pin    history.Value
}

// changes reports whether the state may be another afterwards.
func (e *effect) changes() bool {
	return e.next != nil && !(e.pinned && e.next.op == opLiteral && e.next.lit == e.pin)
}

// fact is a condition that holds, or does not.
type fact struct {
	cond  *expr
	holds bool
}

// effects returns the cases that may apply for this input and answer (nil: not
// known), and whether there is one for every state.
func (in *fileIn) effects(out *fileOut) (list []effect, total bool) {
	var facts []fact
	total = true
	for i := range in.op.cases {
		c := &in.op.cases[i]
		own := facts
		last := c.when == nil
		if !last {
			when := c.when.fold(in)
			if isFalse(when) {
				continue
			}
			last = isTrue(when)
			own = append(own[:len(own):len(own)], fact{when, true})
			facts = append(facts, fact{when, false})
		}
		answer, free, fits := c.answer(in, out)
		if answer != nil {
			own = append(own[:len(own):len(own)], fact{answer, true})
		}
		total = total && free
		if e, ok := settle(own, c.next, in); fits && ok {
			list = append(list, e)
		}
		if last {
			return list, total
		}
	}
	return list, false
}

// answer returns what the answer says about the state; free: nothing, in any
// state; fits is false where the case cannot give this answer at all.
func (c *fileCase) answer(in *fileIn, out *fileOut) (says *expr, free, fits bool) {
	switch {
	case out == nil || out.any || c.output.any:
		return nil, true, true
	case c.output.value == nil:
		ok := in.nothing(out.v)
		return nil, ok, ok
	}
	value := c.output.value.fold(in)
	if value.op == opLiteral {
		ok := value.lit == out.v
		return nil, ok, ok
	}
	return &expr{op: opEqual, l: value, r: literalOf(out.v, out.v.Label()), kind: boolKind}, false, true
}

// settle makes an effect of what must hold. ok is false where it cannot.
func settle(facts []fact, next *expr, in *fileIn) (e effect, ok bool) {
	for _, f := range facts {
		f.pins(func(v history.Value) {
			if !e.pinned {
				e.pinned, e.pin = true, v
			}
		})
	}
	if next != nil {
		e.next = next.fold(in)
	}
	if e.pinned {
		for _, f := range facts {
			if b, err := f.cond.truth(e.pin, in); err != nil || b != f.holds {
				return e, false // where a value has the wrong kind nothing happens
			}
		}
		if e.next != nil {
			v, err := e.next.eval(e.pin, in)
			if err != nil {
				return e, false
			}
			e.next = literalOf(v, "")
		}
	}
	if e.next != nil && e.next.op == opState {
		e.next = nil
	}
	return e, true
}

// pins calls add with every value that f says the state has.
func (f fact) pins(add func(history.Value)) {
	x := f.cond
	switch {
	case x.op == opNot:
		fact{x.l, !f.holds}.pins(add)
	case x.op == opAnd && f.holds, x.op == opOr && !f.holds:
		fact{x.l, f.holds}.pins(add)
		fact{x.r, f.holds}.pins(add)
	case x.op == opState:
		add(history.Bool(f.holds))
	case x.op == opEqual && f.holds, x.op == opUnequal && !f.holds:
		if x.l.op == opState && x.r.op == opLiteral {
			add(x.r.lit)
		} else if x.r.op == opState && x.l.op == opLiteral {
			add(x.l.lit)
		}
	}
}

func isTrue(x *expr) bool  { return x.op == opLiteral && x.lit == history.True }
func isFalse(x *expr) bool { return x.op == opLiteral && x.lit == history.False }

// fold puts the input into x and computes what does not depend on the state.
// What would fail on a value of the wrong kind may be dropped: a step that
// fails has no effect that a promise could be wrong about.
func (x *expr) fold(in *fileIn) *expr {
	switch x.op {
	case opLiteral, opState:
		return x
	case opPart:
		return literalOf(in.part(x.part), x.text)
	}
	y := *x
	y.l = x.l.fold(in)
	if x.r != nil {
		y.r = x.r.fold(in)
	}
	if y.l.op == opLiteral && (y.r == nil || y.r.op == opLiteral) {
		if v, err := y.eval(history.Absent, in); err == nil {
			return literalOf(v, x.text)
		}
		return &y
	}
	return y.simplified()
}

// simplified drops operands that change nothing.
func (x *expr) simplified() *expr {
	zero := func(e *expr) bool { return e.op == opLiteral && e.lit == history.Int(0) }
	switch x.op {
	case opAnd, opOr:
		neutral := isTrue
		if x.op == opOr {
			neutral = isFalse
		}
		for _, s := range [2][2]*expr{{x.l, x.r}, {x.r, x.l}} {
			if neutral(s[0]) {
				return s[1]
			}
			if s[0].op == opLiteral && s[0].kind == boolKind {
				return s[0] // false && x, true || x
			}
		}
	case opAdd:
		if zero(x.l) {
			return x.r
		}
		if zero(x.r) {
			return x.l
		}
	case opSubtract:
		if zero(x.r) {
			return x.l
		}
	}
	return x
}

// readOnly is spec.Model.ReadOnly.
func (in *fileIn) readOnly(out *fileOut) bool {
	list, _ := in.effects(out)
	for i := range list {
		if list[i].changes() {
			return false
		}
	}
	return true
}

// common returns the state that all of some effects need.
func common(list []effect) (v history.Value, ok bool) {
	for i, e := range list {
		if !e.pinned || i > 0 && e.pin != v {
			return history.Absent, false
		}
		v = e.pin
	}
	return v, len(list) > 0
}

// changing returns the effects that may change the state.
func changing(list []effect) (some []effect) {
	for _, e := range list {
		if e.changes() {
			some = append(some, e)
		}
	}
	return some
}

// demands is spec.Model.Demands. Without an answer it is what a change needs,
// and of what changes nothing, what being possible needs.
func (in *fileIn) demands(out *fileOut) (what any, ok bool) {
	list, total := in.effects(out)
	if some := changing(list); out == nil && len(some) > 0 {
		list = some
	} else if out == nil && total {
		return nil, false
	}
	v, ok := common(list)
	return v, ok
}

// writes is spec.Model.Writes. It says nothing where the change may fail to
// come about without one demand that tells.
func (in *fileIn) writes(out *fileOut) (what any, ok bool) {
	list, total := in.effects(out)
	some := changing(list)
	if len(some) == 0 || out != nil && len(some) < len(list) {
		return nil, false
	}
	for _, e := range some {
		if e.next.op != opLiteral || e.next.lit != some[0].next.lit {
			return nil, false
		}
	}
	if _, named := common(some); !named && (!total || len(some) < len(list)) {
		return nil, false
	}
	return some[0].next.lit, true
}
