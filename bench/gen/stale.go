package gen

import (
	"slices"

	"pinyon/engine/history"
)

// spoil changes one answer of the second half so that no order allows it, and
// reports whether one was found.
func (m *maker) spoil() bool {
	if m.Model == "mutex" || m.Model == "owner-mutex" {
		return m.spoilLock()
	}
	for i := len(m.h.Ops) / 2; i < len(m.h.Ops); i++ {
		op := &m.h.Ops[i]
		if op.Outcome != history.OK {
			continue
		}
		if out, ok := m.stale(op); ok {
			op.Out = out
			return true
		}
	}
	return false
}

// stale finds an answer that op cannot have, and that was right before.
func (m *maker) stale(op *call) (history.Value, bool) {
	switch op.F {
	case "read", "get", "contains":
		switch m.Model {
		case "counter":
			return m.staleCount(op)
		case "log":
			return m.staleEntry(op)
		case "set":
			return history.False, op.Out == history.True && m.settled(op)
		}
		return m.staleValue(op)
	case "dequeue", "pop", "poll":
		return m.takenTwice(op)
	}
	return history.Absent, false
}

// staleValue is the value of a write before op, each write of which was over
// before a write of another value began that was over before op. The latest
// such value is taken.
func (m *maker) staleValue(op *call) (history.Value, bool) {
	type write struct {
		at    *call
		value history.Value
	}
	var writes []write // that may have happened when op returned
	for i := range m.h.Ops {
		w := &m.h.Ops[i]
		v := w.In
		if w.F == "cas" {
			pair, _ := w.In.Elems()
			if v = pair[1]; w.Outcome == history.OK && w.Out != history.True {
				continue
			}
		} else if w.F != "write" && w.F != "put" {
			continue
		}
		if w.Key == op.Key && w.Invoke <= op.Return {
			writes = append(writes, write{w, v})
		}
	}
	tried := map[history.Value]bool{}
	for _, x := range slices.Backward(writes) {
		if tried[x.value] || len(tried) > 200 {
			continue
		}
		tried[x.value] = true
		begun := int64(-1) // when the last write of another value that was over before op began
		for _, w := range writes {
			if w.value != x.value && w.at.Outcome == history.OK && w.at.Return < op.Invoke {
				begun = max(begun, w.at.Invoke)
			}
		}
		if !slices.ContainsFunc(writes, func(w write) bool {
			return w.value == x.value && (w.at.Outcome != history.OK || w.at.Return >= begun)
		}) {
			return x.value, true
		}
	}
	initial := m.h.Header.Initial
	if initial == history.Absent {
		initial = history.Null
	}
	return initial, slices.ContainsFunc(writes, func(w write) bool { return w.at.Outcome == history.OK && w.at.Return < op.Invoke })
}

// staleCount is one less than the adds that were over before op.
func (m *maker) staleCount(op *call) (history.Value, bool) {
	sum := int64(0)
	for i := range m.h.Ops {
		if w := &m.h.Ops[i]; w.F == "add" && w.Key == op.Key && w.Outcome == history.OK && w.Return < op.Invoke {
			by, _ := w.In.Int64()
			sum += by
		}
	}
	return history.Int(sum - 1), sum > 0
}

// staleEntry is the emptiness of a position that was filled before op.
func (m *maker) staleEntry(op *call) (history.Value, bool) {
	if op.F != "get" || op.Out == history.Null {
		return history.Absent, false
	}
	return history.Null, slices.ContainsFunc(m.h.Ops, func(w call) bool {
		return w.F == "append" && w.Key == op.Key && w.Outcome == history.OK && w.Out == op.In && w.Return < op.Invoke
	})
}

// settled reports whether the element of op was added before op and nobody
// began to remove it before op returned.
func (m *maker) settled(op *call) bool {
	added := false
	for i := range m.h.Ops {
		w := &m.h.Ops[i]
		if w.Key != op.Key || w.In != op.In {
			continue
		}
		if w.F == "remove" && w.Invoke <= op.Return {
			return false
		}
		added = added || w.F == "add" && w.Outcome == history.OK && w.Return < op.Invoke
	}
	return added
}

// takenTwice is an element that another operation took before op.
func (m *maker) takenTwice(op *call) (history.Value, bool) {
	if op.Out == history.Null || m.Values > 0 {
		return history.Absent, false
	}
	for i := range m.h.Ops {
		w := &m.h.Ops[len(m.h.Ops)-1-i]
		if w != op && w.F == op.F && w.Key == op.Key && w.Out != history.Null && w.Return < op.Invoke {
			return w.Out, true
		}
	}
	return history.Absent, false
}

// spoilLock makes a release in the middle an acquire: the lock is then taken
// more often than it can have been given back.
func (m *maker) spoilLock() bool {
	for i := len(m.h.Ops) / 2; i < len(m.h.Ops); i++ {
		if op := &m.h.Ops[i]; op.F == "release" && op.Outcome == history.OK {
			op.F = "acquire"
			return true
		}
	}
	return false
}
