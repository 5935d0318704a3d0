// Package gen makes the histories that checkers are measured on: what clients
// would have seen of a correct object, from a seed, and the same with one
// answer spoiled.
//
// The answers come from performing the operations one after the other, each at
// a random instant inside its interval, on objects of this package's own; the
// models of the checkers have no part in it. Equal shapes make equal histories.
package gen

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pinyon/engine/history"
)

// Shape says what to make. The zero value of every field but Model, Clients
// and Ops is useful.
type Shape struct {
	// Model is register, cas-register, kv, queue, stack, priority-queue, set,
	// counter, mutex, owner-mutex or log.
	Model   string `json:"model"`
	Clients int    `json:"clients,omitempty"` // each issues an operation when its last returned
	Ops     int    `json:"ops,omitempty"`
	// Reads is the share of operations that only look: reads, peeks, gets.
	Reads float64 `json:"reads,omitempty"`
	// Values is how many values the writes choose from; 0: each has its own.
	Values int     `json:"values,omitempty"`
	Keys   int     `json:"keys,omitempty"`  // 0: one object without a key
	Crash  float64 `json:"crash,omitempty"` // share of writes and adds without an answer; half of them happened
	// Cas is the share of compare-and-sets among writes, FailedCas the share of
	// them that is refused.
	Cas       float64 `json:"cas,omitempty"`
	FailedCas float64 `json:"failed_cas,omitempty"`
	Full      float64 `json:"full,omitempty"` // of a log: the share of looks that read all of it
	Ties      bool    `json:"ties,omitempty"` // times on a coarse grid, so that many are equal
	Law       string  `json:"law,omitempty"`  // of durations: "" uniform, or "heavy": most short, a few very long
	// Stale spoils one answer in the second half: it was right once, and no
	// longer is. The history is then impossible.
	Stale bool `json:"stale,omitempty"`
	// Burst, if positive, makes another history: so many writes (or appends) at
	// once, then what Look says; see burst.
	Burst int    `json:"burst,omitempty"`
	Look  string `json:"look,omitempty"`
	Seed  uint64 `json:"seed,omitempty"`
}

// grid is the distance of instants in ns where times are coarse.
const grid = 500

// maker makes one history.
type maker struct {
	Shape
	rng    *rand.Rand
	h      *history.Raw
	effect []int64 // the instant of each operation
	happen []int32 // the operations that took effect
	change []bool  // by operation: it changes the object
}

// History makes the history of s. An error says what is wrong with s.
func (s Shape) History() (*history.Raw, error) {
	m := &maker{Shape: s, rng: rand.New(rand.NewPCG(s.Seed, 0x70696e796f6e)), h: &history.Raw{Header: history.Header{Model: s.Model}}}
	if _, ok := objects[s.Model]; !ok {
		return nil, fmt.Errorf("gen: no histories of the model %q are made", s.Model)
	}
	if s.Model == "register" || s.Model == "cas-register" {
		m.h.Header.Initial = history.Int(0)
	}
	if s.Burst > 0 {
		return m.h, m.burst()
	}
	if s.Clients < 1 || s.Ops < 1 {
		return nil, fmt.Errorf("gen: clients and operations must be positive, got %d and %d", s.Clients, s.Ops)
	}
	m.h.Ops = make([]history.Op[history.Value, history.Value], s.Ops)
	if s.Model == "mutex" || s.Model == "owner-mutex" {
		m.locks()
	} else {
		m.intervals()
		m.perform()
	}
	if s.Stale && !m.spoil() {
		return nil, fmt.Errorf("gen: no answer of this %s history can be made stale; take more operations", s.Model)
	}
	slices.SortStableFunc(m.h.Ops, func(a, b call) int { return cmp.Compare(a.Invoke, b.Invoke) })
	return m.h, nil
}

// intervals gives the operations their clients and times, in closed loops.
func (m *maker) intervals() {
	n := len(m.h.Ops)
	m.effect, m.happen, m.change = make([]int64, n), make([]int32, 0, n), make([]bool, n)
	free, process := make([]int64, m.Clients), make([]int, m.Clients)
	for c := range process {
		process[c] = c
	}
	next := m.Clients
	for i := range m.h.Ops {
		c := earliest(free)
		op := &m.h.Ops[i]
		op.Process = process[c]
		op.Invoke = free[c] + m.pause()
		op.Return = op.Invoke + m.duration()
		free[c] = op.Return
		m.effect[i] = op.Invoke + m.rng.Int64N(op.Return-op.Invoke+1)
		m.change[i] = m.rng.Float64() >= m.Reads
		if m.Keys > 0 {
			op.Key = history.String(fmt.Sprintf("k%d", m.rng.IntN(m.Keys))).Label()
		}
		if m.change[i] && m.rng.Float64() < m.Crash {
			op.Outcome, process[c] = history.Info, next
			next++
			if m.rng.IntN(2) == 0 {
				continue // it never happened
			}
			m.effect[i] += m.rng.Int64N(5000)
		}
		m.happen = append(m.happen, int32(i))
	}
	slices.SortFunc(m.happen, func(a, b int32) int {
		return cmp.Or(cmp.Compare(m.effect[a], m.effect[b]), cmp.Compare(a, b))
	})
}

// earliest is the position of the smallest of times.
func earliest(times []int64) (at int) {
	for k, t := range times {
		if t < times[at] {
			at = k
		}
	}
	return at
}

// pause is the time from one answer to the next call of a client. It is never
// zero: what the order of one client says, its times say too.
func (m *maker) pause() int64 {
	if m.Ties {
		return grid * (1 + m.rng.Int64N(2))
	}
	return 1 + m.rng.Int64N(50)
}

func (m *maker) duration() int64 {
	d := 1000 + m.rng.Int64N(1000)
	if m.Law == "heavy" { // Pareto, with a mean near that of the uniform law
		d = min(100_000, int64(500/math.Pow(1-m.rng.Float64(), 1/1.5)))
	}
	if m.Ties {
		d = max(grid, d/grid*grid)
	}
	return d
}

// perform performs what happened, each on the object of its key, and then
// names what never did.
func (m *maker) perform() {
	at := map[string]object{}
	did := make([]bool, len(m.h.Ops))
	of := func(i int32) object {
		key := m.h.Ops[i].Key
		if at[key] == nil {
			at[key] = objects[m.Model]()
		}
		return at[key]
	}
	for _, i := range m.happen {
		m.step(of(i), i, true)
		did[i] = true
	}
	for i := range m.h.Ops {
		if !did[i] {
			m.step(of(int32(i)), int32(i), false)
		}
	}
}

// step lets operation i take effect, or only names it.
func (m *maker) step(o object, i int32, happens bool) {
	op := &m.h.Ops[i]
	if m.change[i] {
		o.change(m, i, op, happens)
	} else {
		o.look(m, op)
	}
	if op.Outcome == history.Info {
		op.Out = history.Absent
	}
}

// value is what operation i writes.
func (m *maker) value(i int32) history.Value {
	if m.Values > 0 {
		return history.Int(1 + m.rng.Int64N(int64(m.Values)))
	}
	return history.Int(int64(i) + 1)
}
