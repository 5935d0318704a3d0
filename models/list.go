package models

import (
	"hash/maphash"
	"iter"
	"unique"

	"pinyon/engine/history"
)

// List is an immutable list that grows and shrinks at its end. Lists share
// their beginnings, and equal lists are ==. The zero List is empty.
type List[T comparable] struct{ h unique.Handle[cell[T]] }

// cell is the last element of a list, with what stands before it. jump leads
// further back, so that a position is found in O(log n) steps (Myers, "An
// applicative random-access stack", 1983). sum is a polynomial hash of the
// whole list, from which that of any run in it follows.
type cell[T comparable] struct {
	last       T
	rest, jump List[T]
	n          int
	sum        uint64
}

// ListOf returns the list of vs.
func ListOf[T comparable](vs ...T) (l List[T]) {
	for _, v := range vs {
		l = l.push(v)
	}
	return l
}

func (l List[T]) cell() cell[T] {
	if l == (List[T]{}) {
		return cell[T]{}
	}
	return l.h.Value()
}

// Len returns the number of elements.
func (l List[T]) Len() int { return l.cell().n }

// Slice returns the elements in order.
func (l List[T]) Slice() []T {
	s := make([]T, l.Len())
	for i := len(s) - 1; i >= 0; i-- {
		c := l.cell()
		s[i], l = c.last, c.rest
	}
	return s
}

func (l List[T]) push(v T) List[T] {
	c := l.cell()
	j := c.jump.cell()
	up := cell[T]{last: v, rest: l, jump: l, n: c.n + 1, sum: c.sum*base + maphash.Comparable(seed, v)}
	// Two jumps of equal length in a row become one of twice the length.
	if c.n-j.n == j.n-j.jump.Len() {
		up.jump = j.jump
	}
	return List[T]{unique.Make(up)}
}

// prefix returns the list of the first n elements.
func (l List[T]) prefix(n int) List[T] {
	for c := l.cell(); c.n > n; c = l.cell() {
		if c.jump.Len() >= n {
			l = c.jump
		} else {
			l = c.rest
		}
	}
	return l
}

// The hashes only find candidates for equality, so neither the seed nor the
// base can change a result.
var seed = maphash.MakeSeed()

const base uint64 = 0x9e3779b97f4a7c15

func power(n int) (p uint64) {
	p = 1
	for b := base; n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= b
		}
		b *= b
	}
	return p
}

// Run is an immutable list that grows at its end and shrinks at its beginning:
// the last n elements of a List. Runs with the same elements need not be ==,
// since what stood before them may differ; sameRun compares them.
type Run struct {
	all List[history.Value]
	n   int
}

// RunOf returns the run of vs.
func RunOf(vs ...history.Value) Run { return Run{ListOf(vs...), len(vs)} }

// Len returns the number of elements.
func (r Run) Len() int { return r.n }

// At returns element i, counted from the beginning.
func (r Run) At(i int) history.Value {
	return r.all.prefix(r.all.Len() - r.n + i + 1).cell().last
}

func (r Run) push(v history.Value) Run { return Run{r.all.push(v), r.n + 1} }

// drop returns r without its first k elements.
func (r Run) drop(k int) Run {
	if k >= r.n {
		return Run{}
	}
	return Run{r.all, r.n - k}
}

func (r Run) hash() uint64 {
	before := r.all.prefix(r.all.Len() - r.n)
	return r.all.cell().sum - before.cell().sum*power(r.n)
}

// sameRun reports whether two runs have the same elements. It walks back from
// the ends and stops where they share.
func sameRun(a, b Run) bool {
	if a.n != b.n {
		return false
	}
	p, q := a.all, b.all
	for range a.n {
		if p == q {
			return true
		}
		c, d := p.cell(), q.cell()
		if c.last != d.last {
			return false
		}
		p, q = c.rest, d.rest
	}
	return true
}

// words yields the elements as people write them.
func (r Run) words() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range r.n {
			if !yield(r.At(i).Label()) {
				return
			}
		}
	}
}

// byHash is spec.States for states whose equality is not ==.
type byHash[S any] struct {
	hash    func(S) uint64
	same    func(a, b S) bool
	numbers map[uint64][]int32
	states  []S
}

func newByHash[S any](hash func(S) uint64, same func(a, b S) bool) *byHash[S] {
	return &byHash[S]{hash: hash, same: same, numbers: map[uint64][]int32{}}
}

// Number implements spec.States.
func (b *byHash[S]) Number(s S) int32 {
	h := b.hash(s)
	for _, n := range b.numbers[h] {
		if b.same(s, b.states[n]) {
			return n
		}
	}
	n := int32(len(b.states))
	b.numbers[h] = append(b.numbers[h], n)
	b.states = append(b.states, s)
	return n
}

// State implements spec.States.
func (b *byHash[S]) State(n int32) S { return b.states[n] }
