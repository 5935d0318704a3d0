package models

import (
	"hash/maphash"
	"iter"
	"unique"

	"pinyon/engine/history"
)

// Map is a Tree from values to values, and with values that do not matter a set.
type Map = Tree[history.Value]

// Tree is an immutable map whose keys are values; what it holds under them must
// not be the zero V. Equal maps are ==. The zero Tree is empty. A change costs
// O(log n) on average and shares the rest.
//
// It is a treap (Aragon and Seidel, 1989) whose priorities are hashes of the
// keys: the shape depends only on the content, so equal content is one tree,
// whatever the order of the changes.
type Tree[V comparable] struct{ h unique.Handle[node[V]] }

type node[V comparable] struct {
	key         history.Value
	value       V
	priority    uint64
	left, right Tree[V]
	n           int
}

func (m Tree[V]) empty() bool { return m == Tree[V]{} }

// Len returns the number of keys.
func (m Tree[V]) Len() int {
	if m.empty() {
		return 0
	}
	return m.h.Value().n
}

// Get returns the value under key, or the zero V (Absent in a Map).
func (m Tree[V]) Get(key history.Value) (none V) {
	for !m.empty() {
		n := m.h.Value()
		switch c := history.Compare(key, n.key); {
		case c < 0:
			m = n.left
		case c > 0:
			m = n.right
		default:
			return n.value
		}
	}
	return none
}

func (m Tree[V]) has(key history.Value) bool {
	var none V
	return m.Get(key) != none
}

// last returns the greatest key and what is under it; zero values when m is
// empty.
func (m Tree[V]) last() (key history.Value, value V) {
	for !m.empty() {
		n := m.h.Value()
		key, value, m = n.key, n.value, n.right
	}
	return key, value
}

// All yields keys and values in the order of the keys.
func (m Tree[V]) All() iter.Seq2[history.Value, V] {
	return func(yield func(k history.Value, v V) bool) { m.walk(yield) }
}

func (m Tree[V]) walk(yield func(k history.Value, v V) bool) bool {
	if m.empty() {
		return true
	}
	n := m.h.Value()
	return n.left.walk(yield) && yield(n.key, n.value) && n.right.walk(yield)
}

func priorityOf(key history.Value) uint64 { return maphash.String(seed, key.Text()) }

// above reports whether a stands above b; equal hashes are told apart by key.
func above[V comparable](a, b *node[V]) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return history.Compare(a.key, b.key) < 0
}

// with returns the tree of root n over the given halves.
func (n node[V]) with(left, right Tree[V]) Tree[V] {
	n.left, n.right, n.n = left, right, 1+left.Len()+right.Len()
	return Tree[V]{unique.Make(n)}
}

// put returns m with value under key.
func (m Tree[V]) put(key history.Value, value V) Tree[V] {
	return m.insert(&node[V]{key: key, value: value, priority: priorityOf(key)})
}

func (m Tree[V]) insert(x *node[V]) Tree[V] {
	if m.empty() {
		return x.with(Tree[V]{}, Tree[V]{})
	}
	n := m.h.Value()
	switch c := history.Compare(x.key, n.key); {
	case c == 0:
		return x.with(n.left, n.right)
	case above(x, &n):
		// A key that stands above the root is not in the tree yet.
		left, right := m.split(x.key)
		return x.with(left, right)
	case c < 0:
		return n.with(n.left.insert(x), n.right)
	}
	return n.with(n.left, n.right.insert(x))
}

// split returns the parts below and above a key that m does not hold.
func (m Tree[V]) split(key history.Value) (left, right Tree[V]) {
	if m.empty() {
		return m, m
	}
	n := m.h.Value()
	if history.Compare(key, n.key) < 0 {
		a, b := n.left.split(key)
		return a, n.with(b, n.right)
	}
	a, b := n.right.split(key)
	return n.with(n.left, a), b
}

// remove returns m without key.
func (m Tree[V]) remove(key history.Value) Tree[V] {
	if !m.has(key) {
		return m
	}
	n := m.h.Value()
	switch c := history.Compare(key, n.key); {
	case c < 0:
		return n.with(n.left.remove(key), n.right)
	case c > 0:
		return n.with(n.left, n.right.remove(key))
	}
	return join(n.left, n.right)
}

// join returns the union of two trees, all keys of left below those of right.
func join[V comparable](left, right Tree[V]) Tree[V] {
	if left.empty() {
		return right
	}
	if right.empty() {
		return left
	}
	l, r := left.h.Value(), right.h.Value()
	if above(&l, &r) {
		return l.with(l.left, join(l.right, right))
	}
	return r.with(join(left, r.left), r.right)
}
