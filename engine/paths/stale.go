package paths

import (
	"cmp"
	"fmt"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// stalePath decides one register-like object whose reads may see any of the
// last k versions (k-atomicity: Aiyer, Alvisi, Bazzi, "On the Availability of
// Non-strict Quorum Systems", 2005), under one interval order, where each value
// that was seen was written once.
//
// A write then stands for all that read it. It may take effect from its in to
// its due, the least out of itself and its readers; its hold is the greatest in
// of the same. An order of the writes can be filled up with the reads exactly
// when, for a before b in it,
//
//   - in(a) <= due(b), and
//   - hold(a) <= due(b) where at least k-1 others stand between them,
//
// and a compare-and-set stands next to the write that it found. What is left is
// to find such an order (staleSearch); docs/ARCHITECTURE.md, section 16, gives
// the argument.
type stalePath struct{}

// Name implements Path.
func (stalePath) Name() string { return "stale-register" }

// Applies implements Path.
func (stalePath) Applies(p *Problem) (ok bool, reason string) {
	recent, ok := p.Machine.(spec.Recent)
	v := p.Rules.View
	if !ok || v.Read == nil || v.N == 0 {
		return false, ""
	}
	if _, base := recent.Versions(); !isTokens(base) {
		return false, ""
	}
	for _, k := range v.Key {
		if k != v.Key[0] {
			return false, "there are several keys"
		}
	}
	if _, _, ok := p.Intervals(); !ok {
		return false, "the hard order is not one interval order"
	}
	return true, ""
}

func isTokens(m spec.Machine) bool { _, ok := m.(spec.Tokens); return ok }

// staleWrite is a write with all that read it.
type staleWrite struct {
	op            int32 // -1: the initial value
	in, due, hold int64
	source, next  int32 // writes that must stand right before and after it; -1: any may
	readers       []int32
}

// stale is one history.
type stale struct {
	p       *Problem
	v       *history.View
	k       int
	tokens  spec.Tokens
	initial int32 // the value at first
	in, out []int64
	writer  map[int32]int32 // by value that was seen: the operation that wrote it, fromStart for the initial one
	want    []int32         // by update: the value that it must find; -1: any
	writes  []staleWrite    // by due; the last is the initial value
	aside   aside           // answers that say which value was not there, or nothing
}

// Decide implements Path.
func (stalePath) Decide(p *Problem) Answer {
	k, base := p.Machine.(spec.Recent).Versions()
	s := &stale{p: p, v: p.Rules.View, k: k, tokens: base.(spec.Tokens)}
	if k < 2 {
		return cannotTell("one version alone is not stale")
	}
	s.in, s.out, _ = p.Intervals()
	s.initial = s.tokens.Held(base.Init(s.v.Key[0]))
	seen, reason := s.read()
	if reason != "" {
		return cannotTell(reason)
	}
	if a, bad := s.link(seen); bad {
		return a
	}
	search := newStaleSearch(s)
	switch search.run() {
	case spec.Consistent:
		return s.accept(search.line)
	case spec.Violation:
		return Answer{Kind: spec.Violation, Core: search.stuck(), Words: fmt.Sprintf("no order of the writes keeps each read within the last %d versions;"+
			" all were tried, and the longest ends before this write and the first and the last read of it", k)}
	}
	return cannotTell("too many orders of the writes were tried")
}

func staleViolation(op int32, words string) Answer {
	return Answer{Kind: spec.Violation, Core: []int32{op}, Words: words}
}

// read asks the model what the operations do, and returns by value the required
// operations that saw it.
func (s *stale) read() (seen map[int32][]int32, reason string) {
	s.want, s.writer, seen = filled(s.v.N, -1), map[int32]int32{s.initial: fromStart}, map[int32][]int32{}
	twice := map[int32]bool{}
	for x := range int32(s.v.N) {
		switch {
		case s.v.Idle != nil && s.v.Idle[x]:
		case s.v.Read[x] && s.tokens.Demand(x) >= 0:
			seen[s.tokens.Demand(x)] = append(seen[s.tokens.Demand(x)], x)
		case s.v.Read[x]:
			avoid, known := avoided(s.tokens, x)
			if !known {
				return nil, "an answer says what the path does not know"
			}
			s.aside.add(x, avoid)
		default:
			s.want[x] = s.tokens.Want(x)
			value := s.tokens.Write(x)
			if value < 0 {
				return nil, "an update does not say what it leaves"
			}
			if !s.v.Info[x] && s.want[x] >= 0 && s.tokens.Demand(x) < 0 {
				return nil, "the answer of an update was not recorded"
			}
			if _, ok := s.writer[value]; ok {
				twice[value] = true
			}
			s.writer[value] = x
		}
	}
	for x := range int32(s.v.N) {
		if w := s.want[x]; w >= 0 && !s.v.Info[x] {
			seen[w] = append(seen[w], x)
		}
	}
	if s.repeats(twice, seen) {
		return nil, "a value that was seen was written twice"
	}
	return seen, ""
}

// repeats reports whether one of these values was seen, or may have been found by
// an update without an answer.
func (s *stale) repeats(values map[int32]bool, seen map[int32][]int32) bool {
	for v := range values {
		if len(seen[v]) > 0 {
			return true
		}
	}
	for x, w := range s.want {
		if s.v.Info[x] && w >= 0 && values[w] {
			return true
		}
	}
	return false
}

// link makes the writes: the answered ones, and those without an answer that
// somebody saw. An answer that nothing can have led to is a violation.
func (s *stale) link(seen map[int32][]int32) (a Answer, bad bool) {
	initial := staleWrite{op: -1, in: order.InNever, due: order.OutNever, hold: order.InNever, source: -1, next: -1}
	var todo []int32
	needed := make([]bool, s.v.N)
	need := func(w int32) {
		if w >= 0 && !needed[w] {
			needed[w] = true
			todo = append(todo, w)
		}
	}
	for x := range int32(s.v.N) {
		update := !s.v.Read[x] && (s.v.Idle == nil || !s.v.Idle[x])
		if update && !s.v.Info[x] {
			need(x)
		}
		if s.v.Info[x] || s.v.Read[x] && s.tokens.Demand(x) < 0 {
			continue
		}
		value := s.want[x]
		if !update {
			value = s.tokens.Demand(x)
		}
		if w, ok := s.writer[value]; ok {
			need(w)
		} else if value >= 0 {
			return staleViolation(x, "nothing wrote what it saw"), true
		}
	}
	for i := 0; i < len(todo); i++ {
		x := todo[i]
		if value := s.want[x]; value >= 0 && s.v.Info[x] {
			w, ok := s.writer[value]
			if !ok {
				return staleViolation(x, "it was seen, and nothing wrote what it must have found"), true
			}
			need(w)
		}
		s.writes = append(s.writes, s.write(x, seen))
	}
	for _, r := range seen[s.initial] {
		if s.v.Read[r] {
			initial.readers = append(initial.readers, r)
			initial.hold = max(initial.hold, s.in[r])
		}
	}
	return s.chain(initial)
}

// write is an update with its readers.
func (s *stale) write(x int32, seen map[int32][]int32) staleWrite {
	w := staleWrite{op: x, in: s.in[x], due: s.out[x], hold: s.in[x], source: -1, next: -1}
	value := s.tokens.Write(x)
	if s.writer[value] != x {
		return w // nobody saw it
	}
	for _, r := range seen[value] {
		if s.v.Read[r] {
			w.readers = append(w.readers, r)
			w.due, w.hold = min(w.due, s.out[r]), max(w.hold, s.in[r])
		}
	}
	return w
}

// chain ties each compare-and-set to the write that it found. In a chain, which
// stands together, what comes later bounds what comes before.
func (s *stale) chain(initial staleWrite) (a Answer, bad bool) {
	at := filled(s.v.N, -1)
	s.writes = append(s.writes, initial)
	last := int32(len(s.writes) - 1)
	for i, w := range s.writes[:last] {
		at[w.op] = int32(i)
	}
	for i := range s.writes[:last] {
		w := &s.writes[i]
		if s.want[w.op] < 0 {
			continue
		}
		w.source = last
		if from := s.writer[s.want[w.op]]; from >= 0 {
			w.source = at[from]
		}
		source := &s.writes[w.source]
		if source.next >= 0 {
			return staleViolation(w.op, "another compare-and-set found the same write"), true
		}
		source.next = int32(i)
	}
	if a, bad = s.tighten(); bad {
		return a, bad
	}
	s.sort()
	return a, false
}

// tighten passes bounds along the chains, and refutes a circle of compare-and-sets.
func (s *stale) tighten() (a Answer, bad bool) {
	reached := make([]bool, len(s.writes))
	var line []int32
	for i := range s.writes {
		if s.writes[i].source >= 0 {
			continue
		}
		line = line[:0]
		for j := int32(i); j >= 0; j = s.writes[j].next {
			line, reached[j] = append(line, j), true
		}
		for k := 1; k < len(line); k++ {
			s.writes[line[k]].in = max(s.writes[line[k]].in, s.writes[line[k-1]].in)
		}
		for k := len(line) - 2; k >= 0; k-- {
			s.writes[line[k]].due = min(s.writes[line[k]].due, s.writes[line[k+1]].due)
		}
	}
	for i, w := range s.writes {
		if !reached[i] {
			return staleViolation(w.op, "compare-and-sets found each other's values in a circle"), true
		}
		if w.in > w.due {
			return staleViolation(max(w.op, 0), "it was seen before it can have had its effect"), true
		}
	}
	return a, false
}

// sort orders the writes by due; what stands in a chain keeps its order.
func (s *stale) sort() {
	last := len(s.writes) - 1
	depth := make([]int32, len(s.writes))
	for i := range s.writes {
		if s.writes[i].source < 0 {
			for j, d := int32(i), int32(0); j >= 0; j, d = s.writes[j].next, d+1 {
				depth[j] = d
			}
		}
	}
	by := make([]int32, last)
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int {
		x, y := &s.writes[a], &s.writes[b]
		return cmp.Or(cmp.Compare(x.due, y.due), cmp.Compare(depth[a], depth[b]), cmp.Compare(x.in, y.in), cmp.Compare(x.op, y.op))
	})
	by = append(by, int32(last))
	to := make([]int32, len(by)+1)
	for i, j := range by {
		to[j] = int32(i)
	}
	sorted := make([]staleWrite, len(by))
	for i, j := range by {
		w := s.writes[j]
		if w.source >= 0 {
			w.source = to[w.source]
		}
		if w.next >= 0 {
			w.next = to[w.next]
		}
		sorted[i] = w
	}
	s.writes = sorted
}
