package spec

// Watcher is implemented by a Machine whose steps depend on which operations
// are placed, beyond the state: a level that counts what a read misses. A
// search, or a replay, calls Restart before its first step and then tells each
// operation that it places and takes back, the last placed first. Only steps of
// reads may depend on it, and placing more may only help them or only hurt
// them by pushing what they saw out of a window; the state must stand for
// everything else.
type Watcher interface {
	Restart()
	Placed(op int32)
	Unplaced(op int32)
}

// ClassOf is m's Class, or op itself where m has none.
func ClassOf(m Machine, op int32) int32 { return classOf(m, op) }

// watching passes a Machine's interest on to what it wraps.
func watching(m Machine, tell func(w Watcher)) {
	if w, ok := m.(Watcher); ok {
		tell(w)
	}
}

// Restart implements Watcher.
func (s *sets) Restart() { watching(s.base, func(w Watcher) { w.Restart() }) }

// Placed implements Watcher.
func (s *sets) Placed(op int32) { watching(s.base, func(w Watcher) { w.Placed(op) }) }

// Unplaced implements Watcher.
func (s *sets) Unplaced(op int32) { watching(s.base, func(w Watcher) { w.Unplaced(op) }) }
