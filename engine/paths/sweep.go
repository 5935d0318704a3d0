package paths

import (
	"slices"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// sweepPath decides register-like objects whose values repeat. It reads the
// calls and returns in time order and keeps every configuration that may be the
// object's: its state, which of the open operations took effect, and which open
// writes may have done so unseen. Only what a return forces is decided then, so
// that few configurations are told apart:
//
//  1. A read takes effect as soon as the state lets it.
//  2. When an operation returns and has had no effect yet, updates are applied,
//     one after the other, until it has: itself, those whose result some open
//     operation still waits for, and a compare-and-set that finds its value now.
//     Others may wait, too: what nobody waits for can be applied later as well.
//  3. When a write is applied that finds no value, every other open write may
//     have come just before it, unseen ("absorbed"). It need not be applied any
//     more, and still may be.
//  4. An update without an answer is applied only where its result is waited for.
//  5. Of open writes of one value the first to return is applied.
//  6. A write is dead when nobody waits for its value who could have read it, now
//     or later: it need not be applied, and whether it was does not matter. A
//     write whose readers all wait now takes effect, with them, just before the
//     next write: nothing is lost by that.
//  7. A configuration that another one dominates is dropped: the same state, and
//     each open operation no worse off.
//
// No configuration left at a return: there is no order, and the history up to
// that return is the shortest that shows it.
//
// brief gives up where the history is not one of those that few configurations
// decide: there the search is faster, and the whole sweep comes after it.
type sweepPath struct {
	brief bool
}

// Name implements Path.
func (sweepPath) Name() string { return "sweep" }

// Applies implements Path.
func (sweepPath) Applies(p *Problem) (ok bool, reason string) {
	if _, _, ok := p.Intervals(); !ok {
		if _, known := p.Machine.(spec.Tokens); !known {
			return false, ""
		}
		return false, "the hard order is not one interval order"
	}
	return registerPath{}.Applies(p)
}

// maxConfigs is the number of configurations above which the search is asked.
const maxConfigs = 20_000

// A brief sweep visits briefly configurations for each event so far, and a few
// more at the beginning.
const (
	briefly = 2
	warmUp  = 1000
)

// maxOpen is the number of operations that may be open at once.
const maxOpen = 64

// Decide implements Path.
func (path sweepPath) Decide(p *Problem) Answer {
	s := &sweep{p: p, m: p.Machine, brief: path.brief}
	s.hard, _ = p.hard()
	if reason := s.read(); reason != "" {
		return cannotTell(reason)
	}
	s.configs = []config{{state: s.m.Init(p.Rules.View.Key[0])}}
	for i, e := range s.events {
		if i&0xff == 0 && p.stopped() {
			return cannotTell("it was stopped")
		}
		if !e.ret {
			if !s.call(e.op) {
				return cannotTell("more operations are open at once than it can tell apart")
			}
			continue
		}
		s.now = int32(i)
		if reason := s.returned(e.op); reason != "" {
			return cannotTell(reason)
		}
		if len(s.configs) == 0 {
			return Answer{Kind: spec.Violation, Core: []int32{e.op},
				Words: "when it returned, nothing that the object can have held lets it have had its effect"}
		}
	}
	r := &register{p: p, v: p.Rules.View, hard: s.hard, idle: s.idle}
	return p.acceptRegister(r, s.line(s.configs[0].path))
}

type event struct {
	op  int32
	ret bool
}

// config is what the object and the open operations may be like.
type config struct {
	state    int32
	used     int32  // which updates without an answer were applied; see uses
	done     uint64 // by slot: had its effect
	absorbed uint64 // by slot: a write that may have had its effect unseen
	path     *step
}

// step is one applied update, at an event.
type step struct {
	before *step
	op, at int32
}

// mark tells configurations apart.
type mark struct {
	state, used    int32
	done, absorbed uint64
}

func (c *config) mark() mark { return mark{c.state, c.used, c.done, c.absorbed} }

// sweep is one run.
type sweep struct {
	p       *Problem
	m       spec.Machine
	tokens  spec.Tokens
	hard    hardOrder
	events  []event
	want    []int32 // by operation: the value that it must find; -1: none by name
	write   []int32 // by operation: the value that it leaves; -1: a read
	idle    []int32
	last    []int32 // by write: the event at which the last that can read it is called; never if that is not known
	returns []int32 // by operation: the event of its return
	now     int32
	slot    []int32 // by operation
	open    []int32 // by slot: operation, -1: free
	reads   uint64  // slots of open operations that change nothing
	writes  uint64  // slots of open writes that find no value
	lost    []lost  // updates without an answer, by class
	class   map[[2]int32]int32
	giving  map[int32][]int32 // by value: classes of lost updates that leave it
	uses    uses
	configs []config
	seen    map[mark]struct{}
	next    []config
	brief   bool
	visited int // configurations, at all returns so far
}

// lost is a class of updates without an answer that find and leave the same.
type lost struct {
	want, write int32
	ops         []int32 // invoked so far
}

// read asks the model, and lists the events.
func (s *sweep) read() (reason string) {
	s.tokens = s.m.(spec.Tokens)
	v := s.p.Rules.View
	s.want, s.write, s.slot = filled(v.N, -1), filled(v.N, -1), filled(v.N, -1)
	s.class, s.giving, s.seen = map[[2]int32]int32{}, map[int32][]int32{}, map[mark]struct{}{}
	var ops []int32
	for x := range int32(v.N) {
		if v.Idle != nil && v.Idle[x] {
			continue
		}
		if s.want[x] = s.tokens.Want(x); v.Read[x] {
			s.want[x] = s.tokens.Demand(x) // without a recorded answer it may have found anything
		}
		switch {
		case v.Read[x] && s.want[x] < 0 && !s.tokens.Observes(x):
			s.idle = append(s.idle, x)
			continue
		case v.Read[x]:
		default:
			if s.write[x] = s.tokens.Write(x); s.write[x] < 0 {
				return "an update does not say what it leaves"
			}
			if !v.Info[x] && s.want[x] >= 0 && s.tokens.Demand(x) < 0 {
				return "the answer of an update was not recorded"
			}
		}
		ops = append(ops, x)
	}
	r := &register{p: s.p, v: v, hard: s.hard, write: s.write, demand: s.want, initial: s.tokens.Held(s.m.Init(v.Key[0]))}
	f := &future{sweep: s, writers: r.newWriters()}
	ops = f.shy(ops)
	s.schedule(ops)
	f.lasts(ops)
	return ""
}

// schedule lists calls and returns by time, at one slot the calls first, and
// sorts ops by call.
func (s *sweep) schedule(ops []int32) {
	in, out, _ := s.p.Intervals()
	order.SortBy(ops, in)
	var returns []int32
	for _, x := range ops {
		if !s.p.Rules.View.Info[x] {
			returns = append(returns, x)
		}
	}
	order.SortBy(returns, out)
	s.returns = filled(len(in), never)
	for calls := ops; len(calls) > 0 || len(returns) > 0; {
		if len(returns) == 0 || len(calls) > 0 && in[calls[0]] <= out[returns[0]] {
			s.events = append(s.events, event{calls[0], false})
			calls = calls[1:]
			continue
		}
		s.returns[returns[0]] = int32(len(s.events))
		s.events = append(s.events, event{returns[0], true})
		returns = returns[1:]
	}
}

// call opens an operation; false where there is no room.
func (s *sweep) call(x int32) bool {
	if s.p.Rules.View.Info[x] {
		s.lose(x)
		return true
	}
	k := slices.Index(s.open, -1)
	if k < 0 {
		k = len(s.open)
		if k == maxOpen {
			return false
		}
		s.open = append(s.open, -1)
	}
	s.open[k], s.slot[x] = x, int32(k)
	bit := uint64(1) << k
	switch {
	case s.write[x] < 0:
		s.reads |= bit
		for i := range s.configs {
			if c := &s.configs[i]; s.fits(c.state, x) {
				c.done |= bit
			}
		}
	case s.want[x] < 0:
		s.writes |= bit
	}
	return true
}

// dead reports whether nobody can read the open write w any more, after c.
func (s *sweep) dead(c *config, w int32) bool {
	if s.last[w] > s.now {
		return false
	}
	for k, y := range s.open {
		if y >= 0 && c.done>>k&1 == 0 && (s.want[y] == s.write[w] || s.want[y] < 0 && s.write[y] < 0) {
			return false
		}
	}
	return true
}

// fits reports whether the read x may have its effect in a state.
func (s *sweep) fits(state, x int32) bool {
	_, ok := s.m.Step(state, x)
	return ok
}

func (s *sweep) lose(x int32) {
	k := [2]int32{s.want[x], s.write[x]}
	n, ok := s.class[k]
	if !ok {
		n = int32(len(s.lost))
		s.class[k] = n
		s.lost = append(s.lost, lost{want: k[0], write: k[1]})
		s.giving[k[1]] = append(s.giving[k[1]], n)
	}
	s.lost[n].ops = append(s.lost[n].ops, x)
}

// returned closes x: in every configuration it must have had its effect.
func (s *sweep) returned(x int32) (reason string) {
	bit := uint64(1) << s.slot[x]
	clear(s.seen)
	s.next = s.next[:0]
	work := s.configs
	for i := 0; i < len(work); i++ {
		c := work[i]
		if i&0xff == 0 && s.p.stopped() {
			return "it was stopped"
		}
		if c.done&bit != 0 {
			s.keep(c, bit)
			continue
		}
		if c.absorbed&bit != 0 {
			s.keep(c, bit) // unseen; and it may still be applied
			if s.dead(&c, x) {
				continue
			}
		}
		s.waited(&c, x, func(d config) {
			if _, ok := s.seen[d.mark()]; !ok {
				s.seen[d.mark()] = struct{}{}
				work = append(work, d)
			}
		})
		if len(work) > maxConfigs {
			return "there are too many configurations"
		}
	}
	if s.visited += len(work); s.brief && s.visited > briefly*int(s.now)+warmUp {
		return "there are too many configurations for a brief sweep"
	}
	s.configs = append(s.configs[:0], s.undominated()...)
	s.open[s.slot[x]] = -1
	s.reads &^= bit
	s.writes &^= bit
	return ""
}

// keep adds a configuration in which the operation of bit is over. The marks
// of what is kept carry its bit in both masks, so that they differ from those
// of configurations that still wait for it.
func (s *sweep) keep(c config, bit uint64) {
	c.done &^= bit
	c.absorbed &^= bit
	m := c.mark()
	m.done |= bit
	m.absorbed |= bit
	if _, ok := s.seen[m]; !ok {
		s.seen[m] = struct{}{}
		s.next = append(s.next, c)
	}
}

// waited visits the configurations that one more update leads to: x itself, one
// whose result an open operation waits for, or a compare-and-set, which may not
// find its value again.
func (s *sweep) waited(c *config, x int32, visit func(d config)) {
	values, changes := s.needs(c)
	for k, y := range s.open {
		bit := uint64(1) << k
		if y < 0 || c.done&bit != 0 || s.reads&bit != 0 {
			continue
		}
		if y == x || changes || s.want[y] >= 0 || slices.Contains(values, s.write[y]) {
			if s.first(c, y) {
				s.apply(c, y, bit, c.used, visit)
			}
		}
	}
	for _, v := range values {
		offered := s.offered(c, v)
		for _, n := range s.giving[v] {
			if !offered || s.lost[n].want >= 0 { // an open write of v does as well as a lost one
				s.applyLost(c, n, visit)
			}
		}
	}
	if changes {
		for n := range s.lost {
			s.applyLost(c, int32(n), visit)
		}
	}
}

// first reports whether no other open operation that would do the same as y
// returns before it.
func (s *sweep) first(c *config, y int32) bool {
	for k, z := range s.open {
		if z >= 0 && z != y && c.done>>k&1 == 0 && s.write[z] == s.write[y] && s.want[z] == s.want[y] && s.returns[z] < s.returns[y] {
			return false
		}
	}
	return true
}

// offered reports whether an open write, which finds no value, leaves v.
func (s *sweep) offered(c *config, v int32) bool {
	for k, z := range s.open {
		if z >= 0 && s.writes>>k&1 != 0 && c.done>>k&1 == 0 && s.write[z] == v {
			return true
		}
	}
	return false
}

// needs lists the values that open operations wait for, and those that updates
// without an answer must find to leave such a value. changes says that one of
// them waits for any other state.
func (s *sweep) needs(c *config) (values []int32, changes bool) {
	add := func(v int32) {
		if v >= 0 && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	for k, y := range s.open {
		if y >= 0 && c.done>>k&1 == 0 {
			add(s.want[y])
			changes = changes || s.want[y] < 0 && s.write[y] < 0
		}
	}
	for i := 0; i < len(values); i++ {
		for _, n := range s.giving[values[i]] {
			add(s.lost[n].want)
		}
	}
	return values, changes
}

// applyLost applies an update without an answer of class n, if one is left.
func (s *sweep) applyLost(c *config, n int32, visit func(d config)) {
	l := &s.lost[n]
	if k := s.uses.count(c.used, n); k < len(l.ops) {
		s.apply(c, l.ops[k], 0, s.uses.add(c.used, n), visit)
	}
}

// apply gives update y its effect, if the state lets it.
func (s *sweep) apply(c *config, y int32, bit uint64, used int32, visit func(d config)) {
	next, ok := s.m.Step(c.state, y)
	if !ok {
		return
	}
	d := config{state: next, used: used, done: c.done | bit, absorbed: c.absorbed &^ bit, path: &step{c.path, y, s.now}}
	if s.want[y] < 0 {
		s.before(&d)
	}
	for k, r := range s.open {
		if b := uint64(1) << k; s.reads&b != 0 && d.done&b == 0 && s.fits(next, r) {
			d.done |= b
		}
	}
	for k, w := range s.open {
		if b := uint64(1) << k; s.writes&d.done&b != 0 && s.dead(&d, w) {
			d.done, d.absorbed = d.done&^b, d.absorbed|b
		}
	}
	visit(d)
}

// before is what may have happened, and what did, just before a write.
func (s *sweep) before(d *config) {
	d.absorbed |= s.writes &^ d.done
	for k, w := range s.open {
		if s.writes>>k&1 == 0 || d.done>>k&1 != 0 || s.last[w] > s.now {
			continue
		}
		var readers uint64
		for j, r := range s.open {
			if r < 0 || s.want[r] != s.write[w] || d.done>>j&1 != 0 {
				continue
			}
			if s.reads>>j&1 == 0 {
				readers = 0 // a compare-and-set waits for it: it is no mere reader
				break
			}
			readers |= 1 << j
		}
		d.done |= readers
	}
}

// undominated returns what is kept without what another dominates.
func (s *sweep) undominated() []config {
	if len(s.next) < 2 || len(s.next) > 2000 {
		return s.next
	}
	kept := s.next[:0:0]
	for i := range s.next {
		c := &s.next[i]
		worse := false
		for j := range s.next {
			if i != j && s.dominates(&s.next[j], c) && (j < i || !s.dominates(c, &s.next[j])) {
				worse = true
				break
			}
		}
		if !worse {
			kept = append(kept, *c)
		}
	}
	return kept
}

// dominates reports whether whatever b may still do, a may: it is in the same
// state, has used no more of the updates without an answer, has at least the
// reads of b behind it, and each open write is absorbed or as it is in b.
func (s *sweep) dominates(a, b *config) bool {
	if a.state != b.state || s.reads&b.done&^a.done != 0 {
		return false
	}
	differ := (a.done ^ b.done) | b.absorbed
	if s.writes&^a.absorbed&differ != 0 || (a.done^b.done)&^s.reads&^s.writes != 0 {
		return false
	}
	return a.used == b.used || s.uses.within(a.used, b.used)
}

// line reads the order off the updates that were applied: the reads take
// effect as soon as they may, and a write that was not stands before one that
// was while it was open: the one that rule 6 names, or the last.
func (s *sweep) line(last *step) []int32 {
	var steps []*step
	for at := last; at != nil; at = at.before {
		steps = append(steps, at)
	}
	slices.Reverse(steps)
	applied := make([]bool, s.p.Rules.View.N)
	for _, st := range steps {
		applied[st.op] = true
	}
	l := &liner{sweep: s, applied: applied, state: s.m.Init(s.p.Rules.View.Key[0])}
	for i, e := range s.events {
		if e.ret {
			for len(steps) > 0 && int(steps[0].at) == i {
				l.next = never
				if k := slices.IndexFunc(steps[1:], func(st *step) bool { return s.want[st.op] < 0 }); k >= 0 {
					l.next = steps[1+k].at
				}
				l.now = steps[0].at
				l.apply(steps[0].op)
				steps = steps[1:]
			}
			continue
		}
		l.call(e.op)
	}
	return l.line
}

// liner replays one path.
type liner struct {
	*sweep
	applied []bool
	state   int32
	line    []int32
	readers []int32 // open reads without effect so far
	unseen  []int32 // open writes that are never applied
	next    int32   // event of the next write that is applied and finds no value
}

func (l *liner) call(x int32) {
	switch {
	case l.p.Rules.View.Info[x]:
	case l.write[x] < 0:
		if l.fits(l.state, x) {
			l.line = append(l.line, x)
		} else {
			l.readers = append(l.readers, x)
		}
	case !l.applied[x]:
		l.unseen = append(l.unseen, x)
	}
}

func (l *liner) apply(y int32) {
	if l.want[y] < 0 {
		l.unseen = slices.DeleteFunc(l.unseen, func(w int32) bool {
			now := l.next > l.returns[w] || l.last[w] <= l.now && slices.ContainsFunc(l.readers, func(r int32) bool { return l.want[r] == l.write[w] })
			if now {
				l.place(w)
			}
			return now
		})
	}
	l.place(y)
}

// place puts an update into the line, and the reads that it lets take effect.
func (l *liner) place(y int32) {
	l.line = append(l.line, y)
	l.state, _ = l.m.Step(l.state, y)
	l.readers = slices.DeleteFunc(l.readers, func(r int32) bool {
		if !l.fits(l.state, r) {
			return false
		}
		l.line = append(l.line, r)
		return true
	})
}
