package paths

import (
	"slices"

	"pinyon/engine/spec"
)

// replayed performs a line on a plain container and returns how many of its
// operations were as the accesses say. It is the last look at every order that
// a path finds, and so as plain as can be.
func replayed(a *spec.Accesses, line []int32) int {
	s := shelf{discipline: a.Discipline, rank: a.Rank}
	for k, op := range line {
		if !s.perform(a, op) {
			return k
		}
	}
	return len(line)
}

// shelf is a container with its elements: by priority they are a heap,
// otherwise they stand in the order in which they were added.
type shelf struct {
	discipline spec.Discipline
	rank       []int32
	elements   []int32
	first      int // FIFO: those before it are gone
}

// perform is one operation; false where it is not possible here.
func (s *shelf) perform(a *spec.Accesses, op int32) bool {
	length := int64(len(s.elements) - s.first)
	switch a.Kind[op] {
	case spec.AccessNothing:
		return true
	case spec.AccessAdd:
		if a.Index != nil && a.Index[op] >= 0 && a.Index[op] != length {
			return false
		}
		s.add(a.Value[op])
		return true
	case spec.AccessUnknown:
		if length > 0 {
			s.take()
		}
		return true
	case spec.AccessPeek:
		if a.Index != nil {
			return a.Index[op] < length && s.elements[a.Index[op]] == a.Value[op]
		}
		return length > 0 && s.next() == a.Value[op]
	case spec.AccessTake:
		if length == 0 || s.next() != a.Value[op] {
			return false
		}
		s.take()
		return true
	case spec.AccessEmpty:
		return a.Index == nil && length == 0 || a.Index != nil && a.Index[op] >= length
	case spec.AccessList:
		return slices.Equal(s.elements[min(a.Index[op], length):], a.List[op])
	}
	return false
}

// next is the element that comes out next, of one or more.
func (s *shelf) next() int32 {
	switch s.discipline {
	case spec.FIFO:
		return s.elements[s.first]
	case spec.LIFO:
		return s.elements[len(s.elements)-1]
	}
	return s.elements[0]
}

func (s *shelf) add(x int32) {
	s.elements = append(s.elements, x)
	if s.discipline != spec.ByPriority {
		return
	}
	for k := len(s.elements) - 1; k > 0 && s.rank[s.elements[(k-1)/2]] < s.rank[s.elements[k]]; k = (k - 1) / 2 {
		s.elements[k], s.elements[(k-1)/2] = s.elements[(k-1)/2], s.elements[k]
	}
}

// take takes the next element out, of one or more.
func (s *shelf) take() {
	last := len(s.elements) - 1
	switch s.discipline {
	case spec.FIFO:
		s.first++
		return
	case spec.LIFO:
		s.elements = s.elements[:last]
		return
	}
	s.elements[0] = s.elements[last]
	s.elements = s.elements[:last]
	for k := 0; ; {
		c := 2*k + 1
		if c+1 < last && s.rank[s.elements[c+1]] > s.rank[s.elements[c]] {
			c++
		}
		if c >= last || s.rank[s.elements[c]] <= s.rank[s.elements[k]] {
			return
		}
		s.elements[k], s.elements[c] = s.elements[c], s.elements[k]
		k = c
	}
}
