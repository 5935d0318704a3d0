package spec

import (
	"fmt"
	"strings"

	"pinyon/engine/history"
)

// RVal is the usual validity: each output is what the model's step gives in
// the state left by the operations placed before it (Burckhardt, "Principles
// of Eventual Consistency", 2014; the paper's RVal).
var RVal = Validity{Name: "RVal", EagerReads: true}

// ErrCannotTell is returned where a level or an oracle asks what a read is and
// the model has no ReadOnly.
var ErrCannotTell = history.ErrCannotTell

// KStale is the validity of k-bounded staleness: every placed write pushes a
// version, equal values too, and a read may return what any of the last k
// versions of its object gives (k >= 1; 1 is RVal). The initial state is a
// version. States are immutable lists: a child never shares an array that a
// sibling appends to, which is how the paper's Listing 2 goes wrong
// (docs/ARCHITECTURE.md, section 10).
func KStale(k int) Validity {
	return Validity{Name: fmt.Sprintf("KStale(%d)", k), EagerReads: true, Over: func(m Machine, v *history.View) (Machine, error) {
		if v.Read == nil {
			return nil, ErrCannotTell
		}
		if k == 1 {
			return m, nil
		}
		s := &kStale{base: m, view: v, k: k, numbers: map[string]int32{}}
		if nd, ok := m.(Nondeterministic); ok {
			return &kStaleSets{s, nd}, nil
		}
		return s, nil
	}}
}

// kStale's states are lists of the last k states of base, newest last.
type kStale struct {
	base    Machine
	view    *history.View
	k       int
	numbers map[string]int32
	lists   [][]int32
}

func (s *kStale) number(list []int32) int32 {
	key := packInts(list)
	n, ok := s.numbers[key]
	if !ok {
		n = int32(len(s.lists))
		s.numbers[key] = n
		s.lists = append(s.lists, list)
	}
	return n
}

func (s *kStale) Init(key int32) int32 { return s.number([]int32{s.base.Init(key)}) }

func (s *kStale) Step(state, op int32) (int32, bool) {
	list := s.lists[state]
	if s.view.Read[op] {
		for i := len(list) - 1; i >= 0; i-- {
			if _, ok := s.base.Step(list[i], op); ok {
				return state, true
			}
		}
		return 0, false
	}
	next, ok := s.base.Step(list[len(list)-1], op)
	if !ok {
		return 0, false
	}
	return s.push(list, next), true
}

// Versions implements Recent.
func (s *kStale) Versions() (k int, base Machine) { return s.k, s.base }

// push returns the list with one version more, in an array of its own.
func (s *kStale) push(list []int32, next int32) int32 {
	if len(list) == s.k {
		list = list[1:]
	}
	fresh := make([]int32, 0, len(list)+1)
	return s.number(append(append(fresh, list...), next))
}

// Bytes implements Sizer.
func (s *kStale) Bytes() int64 {
	return BytesOf(s.base) + int64(len(s.lists))*int64(stateBytes+24+8*s.k)
}

func (s *kStale) Class(op int32) int32 { return classOf(s.base, op) }

func (s *kStale) Describe(state int32) string {
	words := make([]string, len(s.lists[state]))
	for i, n := range s.lists[state] {
		words[i] = DescribeState(s.base, n)
	}
	return strings.Join(words, ", then ")
}

// kStaleSets is kStale over a nondeterministic base: the set of states is
// taken outside the list of versions, since each possible past has its own.
type kStaleSets struct {
	*kStale
	nd Nondeterministic
}

func (s *kStaleSets) Steps(state, op int32) (next []int32) {
	list := s.lists[state]
	if s.view.Read[op] {
		for _, n := range list {
			if len(s.nd.Steps(n, op)) > 0 {
				return []int32{state}
			}
		}
		return nil
	}
	for _, n := range s.nd.Steps(list[len(list)-1], op) {
		next = append(next, s.push(list, n))
	}
	return next
}

// Deterministic returns m itself, or m over sets of states when it is
// Nondeterministic: a set holds every state that the operations placed so far
// may have led to, and an operation is legal when it is in one of them.
func Deterministic(m Machine) Machine {
	if nd, ok := m.(Nondeterministic); ok {
		return &sets{base: nd, numbers: map[string]int32{}}
	}
	return m
}

// sets is the subset construction (Rabin and Scott, 1959), built as needed.
type sets struct {
	base    Nondeterministic
	numbers map[string]int32
	members [][]int32
	size    int64 // bytes, about
}

func (s *sets) number(members []int32) int32 {
	members = sortedUnique(members)
	key := packInts(members)
	n, ok := s.numbers[key]
	if !ok {
		n = int32(len(s.members))
		s.numbers[key] = n
		s.members = append(s.members, members)
		s.size += int64(stateBytes + 24 + 8*len(members))
	}
	return n
}

func (s *sets) Init(key int32) int32 { return s.number([]int32{s.base.Init(key)}) }

func (s *sets) Step(state, op int32) (int32, bool) {
	var all []int32
	for _, n := range s.members[state] {
		all = append(all, s.base.Steps(n, op)...)
	}
	if len(all) == 0 {
		return 0, false
	}
	return s.number(all), true
}

// Bytes implements Sizer.
func (s *sets) Bytes() int64 { return BytesOf(s.base) + s.size }

func (s *sets) Class(op int32) int32 { return classOf(s.base, op) }

func (s *sets) Describe(state int32) string {
	words := make([]string, len(s.members[state]))
	for i, n := range s.members[state] {
		words[i] = DescribeState(s.base, n)
	}
	return strings.Join(words, " or ")
}

// classOf passes a Machine's classes on; without them every operation is a
// class of its own.
func classOf(m Machine, op int32) int32 {
	if c, ok := m.(Classer); ok {
		return c.Class(op)
	}
	return op
}

// DescribeState writes a state of m for people.
func DescribeState(m Machine, state int32) string {
	if d, ok := m.(Describer); ok {
		return d.Describe(state)
	}
	return fmt.Sprintf("state %d", state)
}
