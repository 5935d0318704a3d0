package paths

import (
	"cmp"
	"fmt"
	"slices"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// accept fills an order of the writes up with the reads and checks it.
func (s *stale) accept(writes []int32) Answer {
	line, why := s.fill(writes)
	if why != "" {
		return cannotTell(why)
	}
	if why := s.check(line); why != "" {
		return Answer{Kind: spec.Unknown, Reason: "the order that it found does not hold: " + why, Broken: true}
	}
	return Answer{Kind: spec.Consistent, Witness: line}
}

// fill gives each write the earliest slot that the order allows, and each read
// the first place at which its version is there. line starts with the initial
// value.
func (s *stale) fill(line []int32) (whole []int32, why string) {
	slot := make([]int64, len(line))
	reads := make([][]int32, len(line)) // by place: what stands behind the write there
	at := make([]int64, s.v.N)
	for i, w := range line {
		slot[i] = s.writes[w].in
		if i > 0 {
			slot[i] = max(slot[i], slot[i-1])
		}
		if i >= s.k {
			slot[i] = max(slot[i], s.writes[line[i-s.k]].hold)
		}
	}
	stand := func(x int32, p int) { // at place p or later
		at[x] = max(s.in[x], slot[p])
		for p+1 < len(line) && slot[p+1] < at[x] {
			p++
		}
		reads[p] = append(reads[p], x)
	}
	for p, w := range line {
		for _, r := range s.writes[w].readers {
			stand(r, p)
		}
	}
	for i, x := range s.aside.ops {
		p, _ := slices.BinarySearch(slot, s.in[x])
		p = max(p-1, 0)
		for p < len(line) && !s.lacks(line, p, s.aside.avoid[i]) {
			p++
		}
		if p == len(line) || max(s.in[x], slot[p]) > s.out[x] {
			return nil, "an answer says which value was not there, and it is there wherever the order that was found lets it stand"
		}
		stand(x, p)
	}
	for p, w := range line {
		if p > 0 {
			whole = append(whole, s.writes[w].op)
		}
		slices.SortStableFunc(reads[p], func(a, b int32) int { return cmp.Compare(at[a], at[b]) })
		whole = append(whole, reads[p]...)
	}
	return whole, ""
}

// lacks reports whether one of the last versions at place p is another value.
func (s *stale) lacks(line []int32, p int, value int32) bool {
	for q := p; q >= 0 && q > p-s.k; q-- {
		if s.value(line[q]) != value {
			return true
		}
	}
	return false
}

// value is what a write leaves.
func (s *stale) value(w int32) int32 {
	if op := s.writes[w].op; op >= 0 {
		return s.tokens.Write(op)
	}
	return s.initial
}

// check reports why line is no witness; "" when it is one.
func (s *stale) check(line []int32) string {
	seen := make([]bool, s.v.N)
	latest := int64(order.InNever)
	state := s.p.Machine.Init(s.v.Key[0])
	for _, x := range line {
		if seen[x] {
			return fmt.Sprintf("operation %d stands twice", x)
		}
		seen[x] = true
		if latest = max(latest, s.in[x]); s.out[x] < latest {
			return fmt.Sprintf("operation %d stands too late", x)
		}
		next, ok := s.p.Machine.Step(state, x)
		if !ok {
			return fmt.Sprintf("operation %d is not legal", x)
		}
		state = next
	}
	for x, info := range s.v.Info {
		if !info && !seen[x] {
			return fmt.Sprintf("operation %d is missing", x)
		}
	}
	return ""
}
