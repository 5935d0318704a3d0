package spec

import (
	"context"
	"testing"

	"pinyon/engine/history"
)

// swap is the input of a cell's operations: a read where both are 0, a
// compare-and-set otherwise, which answers 1 where it swapped.
type swap struct{ from, to int }

func cell() Model[int, swap, int] {
	return Model[int, swap, int]{
		Name: "cell",
		Init: func() int { return 0 },
		Apply: func(s int, in swap) (int, int, bool) {
			switch {
			case in == swap{}:
				return s, s, true
			case s == in.from:
				return in.to, 1, true
			}
			return s, 0, true
		},
		ReadOnly: func(in swap, out *int) bool { return in == swap{} || out != nil && *out == 0 },
	}
}

func erase(t *testing.T, ops ...history.Op[swap, int]) *Subject {
	t.Helper()
	s, err := Erase(&history.Of[swap, int]{Ops: ops}, cell())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEraseUnanswered: an operation without an answer is no read, constrains
// nothing and may have any effect, whatever its output field holds.
func TestEraseUnanswered(t *testing.T) {
	s := erase(t,
		history.Op[swap, int]{Process: 0, In: swap{0, 5}, Outcome: history.Info}, // its output is 0: not swapped
		history.Op[swap, int]{Process: 1, Outcome: history.Info},
		history.Op[swap, int]{Process: 2, Out: 5, Return: 1})
	v := s.View
	if s.Constrained != 1 || s.Unanswered != 2 {
		t.Errorf("%d constrained, %d unanswered", s.Constrained, s.Unanswered)
	}
	for i, want := range [][2]bool{{false, false}, {false, true}, {true, false}} {
		if v.Read[i] != want[0] || v.Idle[i] != want[1] {
			t.Errorf("operation %d: read %v, idle %v, want %v", i, v.Read[i], v.Idle[i], want)
		}
	}
	m := s.Machine(context.Background(), v, true)
	if next, ok := m.Step(m.Init(0), 0); !ok || DescribeState(m, next) != "5" {
		t.Errorf("the unanswered swap leads to %s, %v", DescribeState(m, next), ok)
	}
}

// TestCutForgetsAnswers: where a view ends before an answer, the operation may
// return anything there, and steps like no operation that got its answer.
func TestCutForgetsAnswers(t *testing.T) {
	s := erase(t,
		history.Op[swap, int]{Process: 0, In: swap{0, 5}, Out: 0, Return: 9},
		history.Op[swap, int]{Process: 1, In: swap{0, 5}, Out: 0, Return: 9})
	v := s.Cut([]int32{0, 1}, []bool{true, false})
	m := s.Machine(context.Background(), v, true)
	zero := m.Init(0)
	if _, ok := m.Step(zero, 1); ok {
		t.Error("the swap that failed is possible where it must succeed")
	}
	if next, ok := m.Step(zero, 0); !ok || DescribeState(m, next) != "5" {
		t.Error("the swap whose answer is cut off is not free")
	}
	if c := m.(Classer); c.Class(0) == c.Class(1) {
		t.Error("the two step alike")
	}
	if v.Read[0] || v.Idle[0] || !v.Read[1] {
		t.Errorf("reads %v, idle %v", v.Read, v.Idle)
	}
}

// TestWorse: a violation outranks what is unknown, that a pass, and a pass
// what is vacuous.
func TestWorse(t *testing.T) {
	ranks := []Kind{Vacuous, Consistent, Unknown, Violation}
	for i, a := range ranks {
		for j, b := range ranks {
			if got, want := Worse(a, b), ranks[max(i, j)]; got != want {
				t.Errorf("%v and %v make %v, want %v", a, b, got, want)
			}
		}
	}
}
