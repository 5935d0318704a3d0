package models

import (
	"hash/maphash"
	"iter"
	"unique"

	"pinyon/engine/history"
)

// Map is an immutable map of values, and with values that do not matter a set.
// Equal maps are ==. The zero Map is empty. A change costs O(log n) on average
// and shares the rest.
//
// It is a treap (Aragon and Seidel, 1989) whose priorities are hashes of the
// keys: the shape depends only on the content, so equal content is one tree,
// whatever the order of the changes.
type Map struct{ h unique.Handle[node] }

type node struct {
	key, value  history.Value
	priority    uint64
	left, right Map
	n           int
}

func (m Map) empty() bool { return m == Map{} }

// Len returns the number of keys.
func (m Map) Len() int {
	if m.empty() {
		return 0
	}
	return m.h.Value().n
}

// Get returns the value under key, or Absent.
func (m Map) Get(key history.Value) history.Value {
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
	return history.Absent
}

// All yields keys and values in the order of the keys.
func (m Map) All() iter.Seq2[history.Value, history.Value] {
	return func(yield func(k, v history.Value) bool) { m.walk(yield) }
}

func (m Map) walk(yield func(k, v history.Value) bool) bool {
	if m.empty() {
		return true
	}
	n := m.h.Value()
	return n.left.walk(yield) && yield(n.key, n.value) && n.right.walk(yield)
}

func priorityOf(key history.Value) uint64 { return maphash.String(seed, key.Text()) }

// above reports whether a stands above b; equal hashes are told apart by key.
func above(a, b *node) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return history.Compare(a.key, b.key) < 0
}

// with returns the tree of root n over the given halves.
func (n node) with(left, right Map) Map {
	n.left, n.right, n.n = left, right, 1+left.Len()+right.Len()
	return Map{unique.Make(n)}
}

// put returns m with value under key.
func (m Map) put(key, value history.Value) Map {
	return m.insert(&node{key: key, value: value, priority: priorityOf(key)})
}

func (m Map) insert(x *node) Map {
	if m.empty() {
		return x.with(Map{}, Map{})
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
func (m Map) split(key history.Value) (left, right Map) {
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
func (m Map) remove(key history.Value) Map {
	if m.Get(key) == history.Absent {
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
func join(left, right Map) Map {
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
