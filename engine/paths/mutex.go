package paths

import (
	"cmp"
	"slices"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// mutexPath decides locks whose holder is known, under any order of clocks and
// explicit edges. What an owner does with the lock, from where it takes it to
// where it has given it back, is a block: in a legal order nothing else comes
// between. The operations of an owner have one order, so its blocks are known,
// and an order exists exactly when the blocks, each taken as one, have one. A
// block that is never given back comes last.
type mutexPath struct{}

// Name implements Path.
func (mutexPath) Name() string { return "mutex" }

// Applies implements Path.
func (mutexPath) Applies(p *Problem) (ok bool, reason string) {
	e := p.effects()
	if e == nil {
		return false, ""
	}
	if p.locks == nil {
		p.locks = e.Locks()
	}
	if p.locks == nil {
		return false, ""
	}
	if p.several() {
		return false, reasonKeys
	}
	for x, kind := range p.locks.Kind {
		switch lost := p.Rules.View.Info[x]; {
		case kind == spec.LockOther || p.locks.Owner[x] < 0:
			return false, reasonOther
		case kind == spec.LockMaybe && !lost:
			return false, "the answer of an attempt was not recorded"
		case kind == spec.LockFail && !lost:
			return false, "an attempt that failed says only that somebody held the lock"
		}
	}
	_, reason = p.hard()
	return reason == "", reason
}

// holdings are the blocks of a lock. Operations of chain -1 never happened, or
// are those of the last block.
type holdings struct {
	*blocks
	locks *spec.Locks
	last  []int32 // the block that is never given back
}

// Decide implements Path.
func (mutexPath) Decide(p *Problem) Answer {
	h, _ := p.hard()
	v := p.Rules.View
	m := &holdings{locks: p.locks, blocks: &blocks{register: &register{p: p, v: v, hard: h},
		chain: filled(v.N, -1), place: make([]int32, v.N), from: []int32{0}}}
	for _, ops := range m.byOwner() {
		if a, done := m.owner(ops); done {
			return a
		}
	}
	if a, done := m.tokens(); done {
		return a
	}
	if bad := m.afterLast(); bad != nil {
		return m.refuted(bad)
	}
	line, circle := m.arrange()
	switch {
	case p.stopped():
		return cannotTell("it was stopped")
	case circle != nil:
		return m.refuted(circle)
	}
	return p.acceptLine(&m.hard, append(line, m.last...), m.replay)
}

// byOwner lists the operations of each owner by call.
func (m *holdings) byOwner() [][]int32 {
	sorted := identity(int32(m.v.N))
	order.SortBy(sorted, m.v.Call)
	ops := make([][]int32, m.locks.Owners)
	for _, x := range sorted {
		if m.locks.Kind[x] != spec.LockFail {
			ops[m.locks.Owner[x]] = append(ops[m.locks.Owner[x]], x)
		}
	}
	return ops
}

// owner cuts the operations of one owner into blocks; done where that decides.
// One without an answer is the last, for nothing comes after it for sure: a
// take of that kind may never have happened, and a give may always come.
func (m *holdings) owner(ops []int32) (a Answer, done bool) {
	for i := 1; i < len(ops); i++ {
		if !m.hard.precedes(ops[i-1], ops[i]) {
			return cannotTell("the operations of an owner have no order of their own"), true
		}
	}
	begin, depth := 0, 0
	for i, x := range ops {
		lost, give := m.v.Info[x], m.locks.Kind[x] == spec.LockGive
		switch {
		case lost && (!give || depth != 1):
			ops = ops[:i]
		case give && depth == 0:
			return Answer{Kind: spec.Violation, Core: []int32{x}}, true
		case give:
			if depth--; depth == 0 {
				m.put(ops[begin : i+1])
			}
		case depth > 0 && !m.locks.Reentrant:
			return Answer{Kind: spec.Violation, Core: sortedSet([]int32{ops[i-1], x})}, true
		default:
			if depth == 0 {
				begin = i
			}
			depth++
		}
	}
	switch {
	case depth == 0:
	case m.last != nil:
		return m.impossible(slices.Concat(m.last, ops[begin:])), true
	default:
		m.last = ops[begin:]
	}
	return a, false
}

// put makes a block of operations.
func (m *holdings) put(ops []int32) {
	for i, x := range ops {
		m.chain[x], m.place[x] = int32(len(m.from)-1), int32(i)
	}
	m.members = append(m.members, ops...)
	m.from = append(m.from, int32(len(m.members)))
}

// tokens makes the tokens of a fenced lock one clock more; done where two are
// equal.
func (m *holdings) tokens() (a Answer, done bool) {
	if !m.locks.Fenced {
		return a, false
	}
	c := &order.Clock{Name: "token", In: slices.Repeat([]int64{order.InNever}, m.v.N), Out: slices.Repeat([]int64{order.OutNever}, m.v.N)}
	var takes []int32
	for x, kind := range m.locks.Kind {
		if kind == spec.LockTake && !m.v.Info[x] {
			c.In[x], c.Out[x] = m.locks.Token[x], m.locks.Token[x]
			takes = append(takes, int32(x))
		}
	}
	slices.SortFunc(takes, func(x, y int32) int { return cmp.Compare(m.locks.Token[x], m.locks.Token[y]) })
	for i := 1; i < len(takes); i++ {
		if m.locks.Token[takes[i-1]] == m.locks.Token[takes[i]] {
			return m.refuted(takes[i-1 : i+1]), true
		}
	}
	m.hard.clocks = append(slices.Clip(m.hard.clocks), c)
	return a, false
}

// afterLast finds an operation of the last block with one of another that must
// come after it.
func (m *holdings) afterLast() (bad []int32) {
	for _, c := range m.hard.clocks {
		first := newByGroup(c)
		for _, x := range m.last {
			if y := first.get(x); y < 0 || c.Out[x] < c.Out[y] {
				first.set(x, x)
			}
		}
		for _, y := range m.members {
			if x := first.get(y); x >= 0 && c.Out[x] < c.In[y] {
				return []int32{x, y}
			}
		}
	}
	for _, e := range m.hard.edges {
		for _, x := range m.last {
			for _, y := range e.To[x] {
				if m.chain[y] >= 0 {
					return []int32{x, y}
				}
			}
		}
	}
	return nil
}

// refuted is the violation that the blocks of some operations prove.
func (m *holdings) refuted(ops []int32) Answer {
	var core []int32
	for _, x := range ops {
		if c := m.chain[x]; c >= 0 {
			core = append(core, m.members[m.from[c]:m.from[c+1]]...)
		} else {
			core = append(core, m.last...)
		}
	}
	return m.impossible(core)
}

func (m *holdings) impossible(core []int32) Answer {
	a := Answer{Kind: spec.Violation, Core: sortedSet(core)}
	if len(a.Core) > maxCore {
		a.Words = "from a take to where it is given back everything must stand together, and these blocks have no order"
	}
	return a
}

// replay performs a line on a plain lock and returns how many operations were
// legal.
func (m *holdings) replay(line []int32) int {
	holder, depth, token := int32(-1), 0, int64(order.InNever)
	for i, x := range line {
		owner := m.locks.Owner[x]
		switch {
		case m.locks.Kind[x] == spec.LockGive && (depth == 0 || holder != owner):
			return i
		case m.locks.Kind[x] == spec.LockGive:
			depth--
		case depth > 0 && (holder != owner || !m.locks.Reentrant):
			return i
		case m.locks.Fenced && token >= m.locks.Token[x] && token != order.InNever:
			return i
		default:
			holder, token = owner, m.locks.Token[x]
			depth++
		}
	}
	return len(line)
}
