package histgen

import (
	"slices"

	"pinyon/engine/history"
)

// delivery is how a simulated weak store spreads writes.
type delivery uint8

const (
	fifo      delivery = iota // in the order of their process
	causally                  // after everything that their process knew
	unordered                 // anyhow; the last that arrives wins
	stamped                   // anyhow; the one with the latest stamp wins
	invented                  // not at all: answers are any values of the key
	deliveries
)

// message is a write on its way.
type message struct {
	process int
	key     string
	val     history.Value
	knew    []int // the messages that its process had seen
	stamp   int
}

// replica is what one place knows.
type replica struct {
	seen   []int // messages, its own too
	values map[string]history.Value
	stamps map[string]int
}

// store is a weak store of registers.
type store struct {
	how      delivery
	initial  history.Value
	messages []message
	replicas map[int]*replica
}

// replicate gives the operations their answers as a weak store would, and
// returns the order in which they were performed. In one history of four a
// process asks another replica each time.
func (g *Gen) replicate(c *Case) (order []int) {
	raw := c.Raw
	s := &store{how: delivery(g.r.IntN(int(deliveries))), replicas: map[int]*replica{}}
	s.initial = newObject(c.Model, raw.Header.Initial).val
	timely, roaming := g.chance(1, 3), g.chance(1, 4)
	delay := 1 + g.r.IntN(4) // of 5 messages, how many wait
	var pending []int
	for i := range raw.Ops {
		if o := raw.Ops[i].Outcome; o == history.OK || o == history.Info && g.chance(1, 2) {
			pending = append(pending, i)
		}
	}
	for len(pending) > 0 {
		at := g.ready(raw, pending, timely, func(int) bool { return true })
		op := &raw.Ops[pending[at]]
		order = append(order, pending[at])
		pending = slices.Delete(pending, at, at+1)
		where := op.Process
		if roaming {
			where = g.r.IntN(3)
		}
		r := s.replica(where)
		for m := range s.messages {
			if !slices.Contains(r.seen, m) && !g.chance(delay, 5) && s.mayArrive(r, m) {
				s.arrive(r, m)
			}
		}
		now := s.value(r, op.Key)
		if s.how == invented {
			now = g.invent(raw, op.Key, s.initial)
		}
		g.answer(c, s, r, op, now)
	}
	return order
}

func (s *store) replica(n int) *replica {
	if s.replicas[n] == nil {
		s.replicas[n] = &replica{values: map[string]history.Value{}, stamps: map[string]int{}}
	}
	return s.replicas[n]
}

func (s *store) value(r *replica, key string) history.Value {
	if v, ok := r.values[key]; ok {
		return v
	}
	return s.initial
}

// mayArrive reports whether the replica has what message m must wait for.
func (s *store) mayArrive(r *replica, m int) bool {
	switch s.how {
	case fifo:
		for earlier := range m {
			if s.messages[earlier].process == s.messages[m].process && !slices.Contains(r.seen, earlier) {
				return false
			}
		}
	case causally:
		for _, earlier := range s.messages[m].knew {
			if !slices.Contains(r.seen, earlier) {
				return false
			}
		}
	}
	return true
}

func (s *store) arrive(r *replica, m int) {
	w := &s.messages[m]
	r.seen = append(r.seen, m)
	if s.how == stamped && w.stamp < r.stamps[w.key] {
		return
	}
	r.values[w.key], r.stamps[w.key] = w.val, w.stamp
}

// invent returns the initial value or one that some operation writes.
func (g *Gen) invent(raw *history.Raw, key string, initial history.Value) history.Value {
	values := []history.Value{initial}
	for i := range raw.Ops {
		if op := &raw.Ops[i]; op.Key == key && !reads(op.F) && op.F != "delete" {
			values = append(values, written(op))
		}
	}
	return values[g.r.IntN(len(values))]
}

// written is the value that a write, put or cas leaves.
func written(op *history.Op[history.Value, history.Value]) history.Value {
	if pair, ok := op.In.Elems(); ok && op.F == "cas" {
		return pair[1]
	}
	return op.In
}

// answer performs op where its key holds now, sends what it writes, and records
// the answer. An unanswered cas keeps what it was asked.
func (g *Gen) answer(c *Case, s *store, r *replica, op *history.Op[history.Value, history.Value], now history.Value) {
	g.fit(op, now)
	o := &object{val: now}
	out, _ := o.apply(c.Model, op.F, op.In)
	switch {
	case op.Outcome != history.OK:
	case reads(op.F) && g.chance(1, 24):
		op.NoOut = true // the answer came and was not recorded
	default:
		op.Out = out
	}
	if reads(op.F) || out == history.False {
		return
	}
	m := message{process: op.Process, key: op.Key, val: o.val, knew: slices.Clone(r.seen)}
	m.stamp = len(s.messages) + 1 + g.r.IntN(3)
	s.messages = append(s.messages, m)
	s.arrive(r, len(s.messages)-1)
}
