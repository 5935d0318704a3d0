package gen

import (
	"container/heap"

	"pinyon/engine/history"
)

// call is one operation of a generated history.
type call = history.Op[history.Value, history.Value]

// object is a correct object of some model.
type object interface {
	// change fills in operation i, which changes the object if it happens.
	change(m *maker, i int32, op *call, happens bool)
	// look fills in an operation that only looks.
	look(m *maker, op *call)
}

// objects makes a fresh object of each model. Those without one here have
// histories of their own making.
var objects = map[string]func() object{
	"register":       func() object { return &register{value: history.Int(0), names: [2]string{"write", "read"}} },
	"cas-register":   func() object { return &register{value: history.Int(0), names: [2]string{"write", "read"}} },
	"kv":             func() object { return &register{value: history.Null, names: [2]string{"put", "get"}} },
	"queue":          func() object { return &queue{} },
	"stack":          func() object { return &stack{} },
	"priority-queue": func() object { return &priority{} },
	"set":            func() object { return &set{in: map[int64]bool{}} },
	"counter":        func() object { return &counter{} },
	"log":            func() object { return &log{} },
	"mutex":          nil,
	"owner-mutex":    nil,
}

// register is also one key of a key-value store.
type register struct {
	value history.Value
	names [2]string // of writing and of reading
}

func (g *register) change(m *maker, i int32, op *call, happens bool) {
	to := m.value(i)
	op.F, op.In = g.names[0], to
	if m.Model != "register" && m.rng.Float64() < m.Cas {
		from := g.value
		if m.rng.Float64() < m.FailedCas {
			from = history.Int(-1) // nobody ever writes it
		}
		op.F, op.In, op.Out = "cas", history.Array(from, to), history.Bool(from == g.value)
		happens = happens && from == g.value
	}
	if happens {
		g.value = to
	}
}

func (g *register) look(_ *maker, op *call) { op.F, op.Out = g.names[1], g.value }

// container fills in an add, or else a take, of a container; it reports which.
func container(m *maker, op *call, add, take string, v history.Value) (adds bool) {
	if op.Outcome == history.Info || m.rng.IntN(2) == 0 { // only adds go without an answer
		op.F, op.In = add, v
		return true
	}
	op.F, op.Out = take, history.Null
	return false
}

type queue struct {
	held  []history.Value
	first int
}

func (q *queue) change(m *maker, i int32, op *call, happens bool) {
	v := m.value(i)
	switch {
	case container(m, op, "enqueue", "dequeue", v):
		if happens {
			q.held = append(q.held, v)
		}
	case happens && q.first < len(q.held):
		op.Out = q.held[q.first]
		q.first++
	}
}

func (q *queue) look(_ *maker, op *call) {
	op.F, op.Out = "peek", history.Null
	if q.first < len(q.held) {
		op.Out = q.held[q.first]
	}
}

type stack struct{ held []history.Value }

func (s *stack) change(m *maker, i int32, op *call, happens bool) {
	v := m.value(i)
	switch top := len(s.held) - 1; {
	case container(m, op, "push", "pop", v):
		if happens {
			s.held = append(s.held, v)
		}
	case happens && top >= 0:
		op.Out, s.held = s.held[top], s.held[:top]
	}
}

func (s *stack) look(_ *maker, op *call) {
	op.F, op.Out = "peek", history.Null
	if top := len(s.held) - 1; top >= 0 {
		op.Out = s.held[top]
	}
}

type priority struct{ held greatest }

func (p *priority) change(m *maker, i int32, op *call, happens bool) {
	v := int64(uint32(i+1) * 2654435761) // each its own, in no order
	switch {
	case container(m, op, "insert", "poll", history.Int(v)):
		if happens {
			heap.Push(&p.held, v)
		}
	case happens && len(p.held) > 0:
		op.Out = history.Int(heap.Pop(&p.held).(int64))
	}
}

func (p *priority) look(_ *maker, op *call) {
	op.F, op.Out = "peek", history.Null
	if len(p.held) > 0 {
		op.Out = history.Int(p.held[0])
	}
}

// greatest is a heap with the greatest element first.
type greatest []int64

func (g greatest) Len() int           { return len(g) }
func (g greatest) Less(i, j int) bool { return g[i] > g[j] }
func (g greatest) Swap(i, j int)      { g[i], g[j] = g[j], g[i] }
func (g *greatest) Push(x any)        { *g = append(*g, x.(int64)) }
func (g *greatest) Pop() any {
	last := (*g)[len(*g)-1]
	*g = (*g)[:len(*g)-1]
	return last
}

// set adds elements and removes and looks for recent ones.
type set struct {
	in    map[int64]bool
	added []int64
}

func (s *set) change(m *maker, i int32, op *call, happens bool) {
	v, _ := m.value(i).Int64()
	if !container(m, op, "add", "remove", history.Int(v)) {
		v = s.recent(m)
		op.In, op.Out = history.Int(v), history.Bool(s.in[v])
		delete(s.in, v)
		return
	}
	op.Out = history.Bool(!s.in[v])
	if happens {
		s.in[v] = true
		s.added = append(s.added, v)
	}
}

func (s *set) look(m *maker, op *call) {
	v := s.recent(m)
	op.F, op.In, op.Out = "contains", history.Int(v), history.Bool(s.in[v])
}

// recent is one of the last elements that were added.
func (s *set) recent(m *maker) int64 {
	if len(s.added) == 0 {
		return 1
	}
	return s.added[len(s.added)-1-m.rng.IntN(min(8, len(s.added)))]
}

type counter struct{ sum int64 }

func (c *counter) change(m *maker, _ int32, op *call, happens bool) {
	by := int64(1)
	if m.Values > 1 {
		by += m.rng.Int64N(int64(m.Values))
	}
	op.F, op.In = "add", history.Int(by)
	if happens {
		c.sum += by
	}
}

func (c *counter) look(_ *maker, op *call) { op.F, op.Out = "read", history.Int(c.sum) }

type log struct{ held []history.Value }

func (l *log) change(m *maker, i int32, op *call, happens bool) {
	v := m.value(i)
	op.F, op.In, op.Out = "append", v, history.Int(int64(len(l.held)))
	if happens {
		l.held = append(l.held, v)
	}
}

func (l *log) look(m *maker, op *call) {
	if m.rng.Float64() < m.Full {
		op.F, op.In, op.Out = "read", history.Int(0), history.Array(l.held...)
		return
	}
	at := max(0, len(l.held)-m.rng.IntN(8+2*m.Clients))
	op.F, op.In, op.Out = "get", history.Int(int64(at)), history.Null
	if at < len(l.held) {
		op.Out = l.held[at]
	}
}
