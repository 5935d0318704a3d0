package paths

import (
	"slices"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// membersPath decides sets whose elements are added, removed and asked for, and
// locks that anyone may release, under one interval order. Members do not see
// each other, so each is decided alone and the lines are merged by slot
// (Herlihy and Wing, "Linearizability", 1990: it is local).
//
// One member needs no search. Among the operations that may come next (nothing
// that is left must precede them),
//
//  1. one that sees what is there now comes at once: it changes nothing, so an
//     order in which it comes later is as good with it here;
//  2. otherwise the next one changes the member, and what is there now says
//     which kind that is. Of that kind the one that must be over first comes
//     next: in an order with another one here the two can change places;
//  3. one without an answer comes only where no answered one can: it never has
//     to.
//
// So where nothing can come next, there is no order.
type membersPath struct{}

// Name implements Path.
func (membersPath) Name() string { return "members" }

// Applies implements Path.
func (membersPath) Applies(p *Problem) (ok bool, reason string) {
	e := p.effects()
	if e == nil {
		return false, ""
	}
	if p.members == nil {
		p.members = e.Members()
	}
	_, _, timed := p.Intervals()
	switch {
	case p.members == nil:
		return false, ""
	case p.several():
		return false, reasonKeys
	case !timed:
		return false, reasonOrder
	case slices.Contains(p.members.Kind, spec.MemberOther):
		return false, reasonOther
	}
	return true, ""
}

// Decide implements Path. A member that it cannot tell about does not hide a
// violation of another.
func (membersPath) Decide(p *Problem) Answer {
	m := newMembership(p)
	blind := false
	for k := range m.start {
		if k&0xfff == 0 && p.stopped() {
			return cannotTell("it was stopped")
		}
		ops := m.of(int32(k))
		plan, known := m.plan(ops)
		if !known {
			blind = true
			continue
		}
		if stuck := m.solve(ops, m.start[k], plan); stuck {
			return m.refute(ops, m.start[k], plan)
		}
	}
	if blind {
		return cannotTell("a change of unknown effect to a member that others change, too")
	}
	for x, kind := range m.kind {
		if kind == spec.MemberNothing && !m.info[x] {
			m.place(int32(x), m.in[x])
		}
	}
	return p.acceptLine(p.intervalOrder(), mergedBySlot(m.line, m.slot), m.replay)
}

// membership is a history of members.
type membership struct {
	p       *Problem
	in, out []int64
	info    []bool
	kind    []spec.MemberKind
	member  []int32
	start   []bool
	ops     []int32 // member by member, each by in
	from    []int32 // member k has ops[from[k]:from[k+1]]

	line []int32 // member by member
	slot []int64 // by operation in the line

	byOut        []int32 // of one member: the answered ones by out
	placed       []bool
	there        bool      // the member is there now
	seen, absent []int32   // what may come next: it sees that the member is there, is not there
	enter, leave deadlines // answered ones that change it
	spare        [2][]int32
	left         []int32 // where solve got stuck: what may come next, the one that must be over first in front
}

func newMembership(p *Problem) *membership {
	n, a := p.Rules.View.N, p.members
	m := &membership{p: p, info: p.Rules.View.Info, kind: a.Kind, member: a.Member, start: a.Start,
		slot: make([]int64, n), placed: make([]bool, n), line: make([]int32, 0, n)}
	m.in, m.out, _ = p.Intervals()
	m.enter.out, m.leave.out = m.out, m.out
	sorted := identity(int32(n))
	order.SortBy(sorted, m.in)
	m.from = make([]int32, len(m.start)+1)
	for x, k := range m.member {
		if k >= 0 && m.counts(int32(x)) {
			m.from[k+1]++
		}
	}
	for k := range m.start {
		m.from[k+1] += m.from[k]
	}
	at := slices.Clone(m.from)
	m.ops = make([]int32, m.from[len(m.start)])
	for _, x := range sorted {
		if k := m.member[x]; k >= 0 && m.counts(x) {
			m.ops[at[k]] = x
			at[k]++
		}
	}
	return m
}

// counts leaves out what was not answered and would only have seen something.
func (m *membership) counts(x int32) bool { return !m.info[x] || m.changes(x) }

func (m *membership) changes(x int32) bool {
	return m.kind[x] != spec.MemberIn && m.kind[x] != spec.MemberOut
}

func (m *membership) of(k int32) []int32 { return m.ops[m.from[k]:m.from[k+1]] }

func (m *membership) place(x int32, slot int64) {
	m.line = append(m.line, x)
	m.slot[x] = slot
	m.placed[x] = true
}

// plan says what the answered puts of one member are.
type plan uint8

const (
	noPuts      plan = iota // there are none
	putsEnter               // the first makes it there, and the others see that
	putsObserve             // they only see that it is there
)

// plan looks at one member. A put of unknown effect is a choice, but not where
// nothing makes the member leave: then the first change is the last. It is that
// of the answered operation that must change it, if there is one, and all puts
// come later.
func (m *membership) plan(ops []int32) (p plan, known bool) {
	puts, enters, leaves := false, false, false
	for _, x := range ops {
		switch kind := m.kind[x]; {
		case kind == spec.MemberDrop && !m.info[x]:
			return noPuts, false
		case kind == spec.MemberPut && !m.info[x]:
			puts = true
		case kind == spec.MemberEnter && !m.info[x]:
			enters = true
		case kind == spec.MemberLeave || kind == spec.MemberDrop:
			leaves = true
		}
	}
	switch {
	case !puts:
		return noPuts, true
	case leaves:
		return noPuts, false
	case enters:
		return putsObserve, true
	}
	return putsEnter, true
}

// solve appends a line of one member's operations, ops by in; stuck where there
// is none.
func (m *membership) solve(ops []int32, there bool, puts plan) (stuck bool) {
	m.begin(ops, there)
	next, slot := 0, int64(order.InNever)
	put := func(x int32) {
		slot = max(slot, m.in[x])
		m.place(x, slot)
	}
	for due := 0; ; {
		for due < len(m.byOut) && m.placed[m.byOut[due]] {
			due++
		}
		if due == len(m.byOut) {
			return false
		}
		for ; next < len(ops) && m.in[ops[next]] <= m.out[m.byOut[due]]; next++ {
			m.open(ops[next], puts)
		}
		now := &m.absent
		if m.there {
			now = &m.seen
		}
		if len(*now) > 0 {
			for _, x := range *now {
				put(x)
			}
			*now = (*now)[:0]
			continue
		}
		x := m.change()
		if x < 0 {
			m.left = append(m.left[:0], m.byOut[due])
			for _, y := range ops[:next] {
				if !m.placed[y] && y != m.left[0] {
					m.left = append(m.left, y)
				}
			}
			return true
		}
		put(x)
		if m.there = !m.there; puts == putsEnter { // the puts that wait see it now
			m.seen, m.enter.ops = append(m.seen, m.enter.ops...), m.enter.ops[:0]
		}
	}
}

// begin forgets the member before.
func (m *membership) begin(ops []int32, there bool) {
	m.there, m.byOut = there, m.byOut[:0]
	for _, x := range ops {
		if m.placed[x] = false; !m.info[x] {
			m.byOut = append(m.byOut, x)
		}
	}
	order.SortBy(m.byOut, m.out)
	m.seen, m.absent, m.enter.ops, m.leave.ops = m.seen[:0], m.absent[:0], m.enter.ops[:0], m.leave.ops[:0]
	m.spare[0], m.spare[1] = m.spare[0][:0], m.spare[1][:0]
}

// open sorts an operation that may come next by what it needs.
func (m *membership) open(x int32, puts plan) {
	switch kind := m.kind[x]; {
	case kind == spec.MemberIn || kind == spec.MemberPut && !m.info[x] && (puts == putsObserve || puts == putsEnter && m.there):
		m.seen = append(m.seen, x)
	case kind == spec.MemberOut:
		m.absent = append(m.absent, x)
	case m.info[x] && (kind == spec.MemberEnter || kind == spec.MemberPut):
		m.spare[0] = append(m.spare[0], x)
	case m.info[x]:
		m.spare[1] = append(m.spare[1], x)
	case kind == spec.MemberEnter || kind == spec.MemberPut:
		m.enter.push(x)
	default:
		m.leave.push(x)
	}
}

// change takes the operation that changes the member next; -1: there is none.
func (m *membership) change() int32 {
	heap, spare := &m.enter, &m.spare[0]
	if m.there {
		heap, spare = &m.leave, &m.spare[1]
	}
	if len(heap.ops) > 0 {
		return heap.pop()
	}
	if len(*spare) == 0 {
		return -1
	}
	x := (*spare)[0]
	*spare = (*spare)[1:]
	return x
}

// replay performs a line on plain members and returns how many operations were
// legal.
func (m *membership) replay(line []int32) int {
	there := slices.Clone(m.start)
	for i, x := range line {
		k := m.member[x]
		if k < 0 {
			continue
		}
		switch m.kind[x] {
		case spec.MemberEnter, spec.MemberOut:
			if there[k] {
				return i
			}
		case spec.MemberLeave, spec.MemberIn:
			if !there[k] {
				return i
			}
		}
		switch m.kind[x] {
		case spec.MemberEnter, spec.MemberPut:
			there[k] = true
		case spec.MemberLeave, spec.MemberDrop:
			there[k] = false
		}
	}
	return len(line)
}
