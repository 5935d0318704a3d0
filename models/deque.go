package models

import (
	"hash/maphash"
	"iter"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// DequeIn is an input of deque; PushFront, PushBack, PopFront, PopBack,
// PeekFront and PeekBack make one.
type DequeIn struct {
	F    string
	Elem history.Value
}

// PushFront adds v before all others. Null cannot be an element: it is the
// answer of an empty deque.
func PushFront(v history.Value) DequeIn { return DequeIn{"push-front", v} }

// PushBack adds v behind all others.
func PushBack(v history.Value) DequeIn { return DequeIn{"push-back", v} }

// PopFront takes the first element; null when there is none.
func PopFront() DequeIn { return DequeIn{F: "pop-front"} }

// PopBack takes the last element; null when there is none.
func PopBack() DequeIn { return DequeIn{F: "pop-back"} }

// PeekFront asks for the first element; null when there is none.
func PeekFront() DequeIn { return DequeIn{F: "peek-front"} }

// PeekBack asks for the last element; null when there is none.
func PeekBack() DequeIn { return DequeIn{F: "peek-back"} }

// Line is an immutable list that grows and shrinks at both ends. Lines with the
// same elements need not be ==, since they may have grown from other positions;
// sameLine compares them.
type Line struct {
	at    Map   // elements by position
	first int64 // position of the first
	sum   uint64
}

// Len returns the number of elements.
func (l Line) Len() int { return l.at.Len() }

// At returns element i, counted from the front.
func (l Line) At(i int) history.Value { return l.at.Get(history.Int(l.first + int64(i))) }

// The sum is a polynomial hash whose lowest power belongs to the last element.
// base is odd, so it has an inverse, by which the last element is taken out.
var inverse = func() uint64 {
	x := base // each round doubles the number of right bits, from 3
	for range 5 {
		x *= 2 - base*x
	}
	return x
}()

func hashOf(v history.Value) uint64 { return maphash.Comparable(seed, v) }

func (l Line) pushBack(v history.Value) Line {
	at := l.at.put(history.Int(l.first+int64(l.Len())), v)
	return Line{at, l.first, l.sum*base + hashOf(v)}
}

func (l Line) pushFront(v history.Value) Line {
	at := l.at.put(history.Int(l.first-1), v)
	return Line{at, l.first - 1, l.sum + hashOf(v)*power(l.Len())}
}

func (l Line) popFront() Line {
	at := l.at.remove(history.Int(l.first))
	return Line{at, l.first + 1, l.sum - hashOf(l.At(0))*power(l.Len()-1)}
}

func (l Line) popBack() Line {
	at := l.at.remove(history.Int(l.first + int64(l.Len()-1)))
	return Line{at, l.first, (l.sum - hashOf(l.At(l.Len()-1))) * inverse}
}

// sameLine reports whether two lines have the same elements. The usual case,
// the same operations in another order, is the same map.
func sameLine(a, b Line) bool {
	if a.first == b.first || a.Len() != b.Len() {
		return a.at == b.at
	}
	next, stop := iter.Pull(b.words())
	defer stop()
	for v := range a.words() {
		if w, _ := next(); v != w {
			return false
		}
	}
	return true
}

// words yields the elements, front first, as people write them.
func (l Line) words() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, v := range l.at.All() {
			if !yield(v.Label()) {
				return
			}
		}
	}
}

// Deque is a queue with two ends that starts with the given elements, front
// first.
func Deque(initial ...history.Value) spec.Model[Line, DequeIn, history.Value] {
	first := Line{}
	for _, v := range initial {
		first = first.pushBack(v)
	}
	return spec.Model[Line, DequeIn, history.Value]{
		Name:  "deque",
		Init:  func() Line { return first },
		Apply: dequeApply,
		States: func() spec.States[Line] {
			return newByHash(func(l Line) uint64 { return l.sum }, sameLine)
		},
		ReadOnly: func(in DequeIn, out *history.Value) bool {
			pops := strings.HasPrefix(in.F, "pop-")
			return strings.HasPrefix(in.F, "peek-") || pops && out != nil && *out == history.Null
		},
		Text: func(in DequeIn, out *history.Value) string {
			if strings.HasPrefix(in.F, "push-") {
				return in.F + " " + in.Elem.Label()
			}
			return answered(in.F, out, "empty")
		},
		Describe: func(s Line) string { return listed("[", s.Len(), s.words(), " ", "]") },
	}
}

func dequeApply(s Line, in DequeIn) (next Line, out history.Value, ok bool) {
	if in.Elem == history.Null {
		panic("null cannot be pushed: it is the answer of an empty deque")
	}
	switch in.F {
	case "push-front":
		return s.pushFront(in.Elem), history.Absent, true
	case "push-back":
		return s.pushBack(in.Elem), history.Absent, true
	case "pop-front", "pop-back", "peek-front", "peek-back":
	default:
		panic(noSuch("deque", in.F))
	}
	if s.Len() == 0 {
		return s, history.Null, true
	}
	switch in.F {
	case "pop-front":
		return s.popFront(), s.At(0), true
	case "pop-back":
		return s.popBack(), s.At(s.Len() - 1), true
	case "peek-front":
		return s, s.At(0), true
	}
	return s, s.At(s.Len() - 1), true
}

func dequeEntry() Entry {
	push := func(f string, aliases ...string) operation[DequeIn, history.Value] {
		return operation[DequeIn, history.Value]{
			OpDoc: OpDoc{F: f, Aliases: aliases, In: "an element"},
			in:    elementInput(func(v history.Value) DequeIn { return DequeIn{f, v} }), out: noOutput[history.Value],
		}
	}
	take := func(f string, aliases ...string) operation[DequeIn, history.Value] {
		return operation[DequeIn, history.Value]{
			OpDoc: OpDoc{F: f, Aliases: aliases, Out: elementDoc},
			in:    noInput(DequeIn{F: f}), out: elementOutput,
		}
	}
	return entry(Entry{
		Name:    "deque",
		Doc:     "A queue with two ends. As a queue's, enqueue adds at the back, dequeue and peek are at the front.",
		Initial: "an array of elements, front first; []",
	}, []operation[DequeIn, history.Value]{
		push("push-front", "add-first"), push("push-back", "add-last", "enqueue"),
		take("pop-front", "poll-first", "remove-first", "dequeue"), take("pop-back", "poll-last", "remove-last"),
		take("peek-front", "peek-first", "peek"), take("peek-back", "peek-last"),
	}, func(initial history.Value) (m spec.Model[Line, DequeIn, history.Value], err error) {
		elems, err := containerElements(initial)
		return Deque(elems...), err
	})
}
