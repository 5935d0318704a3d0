package paths

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// manyPath decides several register-like objects together, where each answer
// names one write. In general that is hard (Gibbons and Korach, "Testing shared
// memories", 1997); what recorded histories show is decided by what follows
// from which write each operation read (their saturation), or by few guesses.
//
// For r that reads from w, and any other write v of the key:
//
//	v before r  =>  v before w        w before v  =>  r before v
//
// A circle refutes. Otherwise an order is tried in which a write waits until
// the value that it overwrites has been read by all. Where that gets stuck, two
// writes of a key whose order is open are put in one order and then the other.
type manyPath struct{}

// Name implements Path.
func (manyPath) Name() string { return "many-keys" }

// Applies implements Path.
func (manyPath) Applies(p *Problem) (ok bool, reason string) {
	_, named := p.Machine.(spec.Tokens)
	_, watches := p.Machine.(spec.Watcher)
	_, replays := p.Machine.(spec.Replayer)
	v := p.Rules.View
	if !named || watches || !replays || v.Read == nil || !severalKeys(v) {
		return false, ""
	}
	if _, reason = p.hard(); reason != "" {
		return false, reason
	}
	return true, ""
}

func severalKeys(v *history.View) bool {
	for _, k := range v.Key {
		if k != v.Key[0] {
			return true
		}
	}
	return false
}

// keyed is a history of several register-like objects.
type keyed struct {
	p       *Problem
	v       *history.View
	hard    hardOrder
	initial []int32 // by key
	demand  []int32 // by operation: the value that it must find; -1: none
	write   []int32 // by operation: the value that it leaves; -1: it leaves what was
	from    []int32 // by live operation: the write it reads from, fromStart or fromNobody
	live    []bool
	because []int32 // by live operation without an answer: one that reads from it
	aside   aside
	writers *keyWriters
}

// Decide implements Path.
func (manyPath) Decide(p *Problem) Answer {
	h, _ := p.hard()
	k := &keyed{p: p, v: p.Rules.View, hard: h}
	if reason := k.read(); reason != "" {
		return cannotTell(reason)
	}
	if a, done := k.sources(); done {
		return a
	}
	var live []int32
	for x := range int32(k.v.N) {
		if k.live[x] {
			live = append(live, x)
		}
	}
	w, reason := newWeb(k, live)
	if reason != "" {
		return cannotTell(reason)
	}
	order, reason := w.decide()
	switch {
	case p.stopped():
		return cannotTell("it was stopped")
	case reason != "":
		return cannotTell(reason)
	case order == nil:
		return k.refuted(w)
	}
	return k.accept(order)
}

// read asks the model what each operation demands and leaves.
func (k *keyed) read() (reason string) {
	t := k.p.Machine.(spec.Tokens)
	n := k.v.N
	k.demand, k.write, k.from = filled(n, -1), filled(n, -1), filled(n, fromNobody)
	k.live, k.because = make([]bool, n), filled(n, -1)
	k.initial = filled(len(k.v.KeyName), -1)
	for x := range int32(n) {
		if key := k.v.Key[x]; k.initial[key] < 0 {
			k.initial[key] = t.Held(k.p.Machine.Init(key))
		}
		if k.v.Idle != nil && k.v.Idle[x] {
			continue
		}
		k.live[x] = !k.v.Info[x]
		k.demand[x] = t.Want(x)
		if k.v.Read[x] {
			k.demand[x] = t.Demand(x) // without a recorded answer it may have found anything
			switch avoid, known := avoided(t, x); {
			case !known:
				return "an answer says less than which value was not there"
			case avoid >= 0:
				k.aside.add(x, avoid)
				k.live[x] = false
			}
			continue
		}
		if k.write[x] = t.Write(x); k.write[x] < 0 {
			return "an update does not say what it leaves"
		}
		if k.live[x] && k.demand[x] >= 0 && t.Demand(x) < 0 {
			return "the answer of an update was not recorded"
		}
		if k.write[x] == k.demand[x] {
			k.write[x] = -1 // it finds what it leaves
		}
	}
	return ""
}

// sources finds what each operation reads from, as register.source does for
// one key.
func (k *keyed) sources() (a Answer, done bool) {
	k.writers = k.newKeyWriters()
	var todo []int32
	for x := range int32(k.v.N) {
		if k.live[x] && k.demand[x] >= 0 {
			todo = append(todo, x)
		}
	}
	for i := 0; i < len(todo); i++ {
		x := todo[i]
		if i&0xfff == 0 && k.p.stopped() {
			return cannotTell("it was stopped"), true
		}
		from, many := k.writers.of(x)
		switch {
		case many:
			return cannotTell("a value that was read was written more than once, and more than one of the writes could be meant"), true
		case from == fromNobody:
			return k.unwritten(x), true
		}
		k.from[x] = from
		if from >= 0 && !k.live[from] {
			k.live[from], k.because[from] = true, x
			if k.demand[from] >= 0 {
				todo = append(todo, from)
			}
		}
	}
	return a, false
}

// unwritten is the answer where x can have read from nothing.
func (k *keyed) unwritten(x int32) Answer {
	core := []int32{x}
	for y := k.writers.first(x); y >= 0; y = k.writers.next[y] {
		core = append(core, y)
	}
	a := Answer{Kind: spec.Violation, Core: k.closed(core)}
	if len(core) > 1 || k.initial[k.v.Key[x]] == k.demand[x] || len(a.Core) > maxCore {
		a.Words = "no write of the value that one of them read can have been the last one before it"
	}
	return a
}
