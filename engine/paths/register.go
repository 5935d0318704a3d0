package paths

import (
	"cmp"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// registerPath decides register-like objects in which each answer names one
// write: that of its value, or the only one of several that can have been
// current. Gibbons and Korach ("Testing shared memories", 1997) do it for real
// time; here the hard order may be any number of clocks and explicit edges.
//
// Why it is exact: in a legal order a write and the reads of it stand together,
// with nothing but reads of unknown value between them. A compare-and-set ends
// the block of what it read and begins its own. So the blocks form chains, and
// an order exists exactly when no hard edge leads back within a chain and the
// chains, each taken as one, have an order under the hard edges between them.
type registerPath struct{}

// Name implements Path.
func (registerPath) Name() string { return "register" }

// Applies implements Path.
func (registerPath) Applies(p *Problem) (ok bool, reason string) {
	_, named := p.Machine.(spec.Tokens)
	_, watches := p.Machine.(spec.Watcher)
	_, replays := p.Machine.(spec.Replayer)
	v := p.Rules.View
	if !named || watches || !replays || v.Read == nil {
		return false, ""
	}
	for _, k := range v.Key {
		if k != v.Key[0] {
			return false, "there are several keys"
		}
	}
	if _, reason = p.hard(); reason != "" {
		return false, reason
	}
	return true, ""
}

// hardOrder is hard order as clocks and explicit edges.
type hardOrder struct {
	clocks []*order.Clock
	edges  []*order.Edges
}

// hard takes hard order apart; what is neither clocks nor edges becomes edges
// (order.Sparse). Where one clock implies all others it is alone.
// An operation without an answer that comes before another is left to the
// search: order leads through it even where it never happened.
func (p *Problem) hard() (h hardOrder, reason string) {
	if in, out, ok := p.Intervals(); ok {
		return hardOrder{clocks: []*order.Clock{{In: in, Out: out}}}, ""
	}
	info := p.Rules.View.Info
	sources, ok := p.sparse()
	if !ok {
		return h, "an operation without an answer comes before others"
	}
	for _, s := range sources {
		switch r := s.Relation.(type) {
		case *order.Clock:
			for i, lost := range info {
				if lost && r.Out[i] != order.OutNever {
					return h, "an operation without an answer comes before others"
				}
			}
			h.clocks = append(h.clocks, r)
		case *order.Edges:
			for i, to := range r.To {
				if info[i] && len(to) > 0 {
					return h, "an operation without an answer comes before others"
				}
			}
			h.edges = append(h.edges, r)
		}
	}
	return h, ""
}

// interval is the clock that is all of hard order, if there is one: an interval
// order over all operations.
func (h *hardOrder) interval() *order.Clock {
	if len(h.clocks) == 1 && len(h.edges) == 0 && h.clocks[0].Within == nil {
		return h.clocks[0]
	}
	return nil
}

func (h *hardOrder) precedes(a, b int32) bool {
	for _, c := range h.clocks {
		if c.Precedes(a, b) {
			return true
		}
	}
	for _, e := range h.edges {
		if e.Precedes(a, b) {
			return true
		}
	}
	return false
}

// Whom an operation reads from.
const (
	fromNobody int32 = -2 // it reads nothing
	fromStart  int32 = -1 // the initial value
)

// register is a history of a register-like object.
type register struct {
	p       *Problem
	v       *history.View
	hard    hardOrder
	initial int32
	demand  []int32 // by operation: the value that it must find; -1: none
	write   []int32 // by operation: the value that it leaves; -1: it leaves what was
	from    []int32 // by live operation: the write it reads from, fromStart or fromNobody
	live    []bool
	because []int32 // by live operation without an answer: one that reads from it
	writers *writers
	rank    []int32 // the operations in an order that hard order allows
	idle    []int32 // required, neither read nor write: their value is not known
	aside   aside
	loose   bool // not all operations that may leave a value stand under it
}

// Decide implements Path.
func (registerPath) Decide(p *Problem) Answer {
	h, _ := p.hard()
	r := &register{p: p, v: p.Rules.View, hard: h}
	reason, appends := r.read()
	if reason != "" {
		return cannotTell(reason)
	}
	if len(appends) > 0 {
		return r.grown(appends)
	}
	return r.decide()
}

// decide decides, once it is known what each operation demands and leaves.
func (r *register) decide() Answer {
	p := r.p
	if a, done := r.source(); done {
		return a
	}
	if r.rank = r.byRank(); len(r.rank) < r.v.N {
		return cannotTell("hard order has a circle, or it was stopped")
	}
	b, bad := r.blocks()
	if bad != nil {
		return r.refuted(bad)
	}
	if bad := b.backwards(); bad != nil {
		return r.refuted(bad)
	}
	line, circle := b.arrange()
	switch {
	case p.stopped():
		return cannotTell("it was stopped")
	case circle != nil:
		return r.refuted(circle)
	}
	for x := range int32(r.v.N) {
		if r.v.Info[x] && !r.live[x] && r.write[x] >= 0 && r.demand[x] < 0 {
			r.aside.spare = append(r.aside.spare, x)
		}
	}
	r.aside.demand, r.aside.rank, r.aside.stopped = r.demand, make([]int32, r.v.N), p.stopped
	for at, x := range r.rank {
		r.aside.rank[x] = int32(at)
	}
	return p.acceptRegister(r, line)
}

// read asks the model what each operation demands and leaves; appends are the
// updates that do not say it.
func (r *register) read() (reason string, appends []int32) {
	t := r.p.Machine.(spec.Tokens)
	n := r.v.N
	r.demand, r.write, r.from = filled(n, -1), filled(n, -1), filled(n, fromNobody)
	r.live, r.because = make([]bool, n), filled(n, -1)
	if n == 0 {
		return "", nil
	}
	r.initial = t.Held(r.p.Machine.Init(r.v.Key[0]))
	for x := range int32(n) {
		if r.v.Idle != nil && r.v.Idle[x] {
			continue
		}
		required := !r.v.Info[x]
		r.live[x] = required
		r.demand[x] = t.Want(x)
		if r.v.Read[x] {
			r.demand[x] = t.Demand(x) // without a recorded answer it may have found anything
			switch avoid, known := avoided(t, x); {
			case !known:
				return "an answer says less than which value was not there", nil
			case avoid >= 0 || r.demand[x] < 0 && r.hard.interval() == nil:
				r.aside.add(x, avoid)
				r.live[x] = false
			case r.demand[x] < 0:
				r.idle = append(r.idle, x)
			}
			continue
		}
		if r.write[x] = t.Write(x); r.write[x] < 0 {
			if r.demand[x] >= 0 {
				return "an update does not say what it leaves", nil
			}
			appends = append(appends, x)
			continue
		}
		if required && r.demand[x] >= 0 && t.Demand(x) < 0 {
			return "the answer of an update was not recorded", nil
		}
		if r.write[x] == r.demand[x] {
			r.write[x] = -1 // it finds what it leaves
		}
	}
	for _, x := range r.idle {
		r.live[x] = false // put back into the order at its end
	}
	return "", appends
}

// refuted is the answer that some operations are impossible by themselves.
func (r *register) refuted(core []int32) Answer {
	a := Answer{Kind: spec.Violation, Core: r.closed(core)}
	if len(a.Core) > maxCore || r.loose || !r.whole(a.Core) {
		a.Words = "each block of a write and what read it must stand together, and these blocks have no order"
	}
	return a
}

// whole reports whether the operations hold every write of each value that one
// of them finds: then anybody can see that the others do not matter.
func (r *register) whole(ops []int32) bool {
	member := map[int32]bool{}
	for _, x := range ops {
		member[x] = true
	}
	for _, x := range ops {
		if d := r.demand[x]; d >= 0 {
			for _, w := range r.writers.written(d) {
				if !member[w] && w != x {
					return false
				}
			}
		}
	}
	return true
}

// closed adds what the operations read from; for those without an answer one
// that reads from them, as they may otherwise never have happened; and where
// they hold another write of a value that one of them read, the write that
// overwrote that other before.
func (r *register) closed(core []int32) (ops []int32) {
	member := map[int32]bool{}
	for todo := slices.Clone(core); len(todo) > 0; todo = r.rivals(ops, member) {
		for len(todo) > 0 {
			x := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if x < 0 || member[x] {
				continue
			}
			member[x] = true
			ops = append(ops, x)
			todo = append(todo, r.from[x], r.because[x])
		}
	}
	return sortedSet(ops)
}

// rivals are the writes that overwrote, before an operation of ops, another
// write in ops (or the initial value) of what it read.
func (r *register) rivals(ops []int32, member map[int32]bool) (more []int32) {
	for _, x := range ops {
		if r.demand[x] < 0 {
			continue
		}
		rival := r.initial == r.demand[x] && r.from[x] != fromStart
		for _, y := range ops {
			rival = rival || y != x && y != r.from[x] && r.write[y] == r.demand[x]
		}
		if over := r.writers.over(x); rival && over >= 0 && !member[over] {
			more = append(more, over)
		}
	}
	return more
}

// acceptRegister turns a line into an answer, after it was checked: every
// required operation stands in it once, none before one that it must follow,
// and it is legal.
func (p *Problem) acceptRegister(r *register, line []int32) Answer {
	line = r.withIdle(line)
	line, why := r.aside.putBack(line, &r.hard, r.v.Key, r.write, func(int32) int32 { return r.initial })
	if why != "" {
		return cannotTell(why)
	}
	broken := func(reason string) Answer {
		return Answer{Kind: spec.Unknown, Reason: "the order that it found does not hold: " + reason, Broken: true}
	}
	seen := make([]bool, r.v.N)
	for _, x := range line {
		if seen[x] {
			return broken("an operation stands twice")
		}
		seen[x] = true
	}
	for x, info := range r.v.Info {
		if !info && !seen[x] {
			return broken("an operation is missing")
		}
	}
	if !r.hard.obeyed(line) {
		return broken("hard order is not obeyed")
	}
	if at := p.Machine.(spec.Replayer).Replay(line); at < len(line) {
		return broken("an operation is not legal")
	}
	return Answer{Kind: spec.Consistent, Witness: line}
}

// obeyed reports whether no operation of the line stands before one that
// precedes it.
func (h *hardOrder) obeyed(line []int32) bool {
	for _, c := range h.clocks {
		if !followsClock(c, line) {
			return false
		}
	}
	if len(h.edges) == 0 {
		return true
	}
	place := make(map[int32]int, len(line))
	for i, x := range line {
		place[x] = i
	}
	for _, e := range h.edges {
		for a, to := range e.To {
			i, ok := place[int32(a)]
			for _, b := range to {
				if j, also := place[b]; ok && also && j < i {
					return false
				}
			}
		}
	}
	return true
}

// followsClock is obeyed for one clock: in each group, no Out may be less than
// an In that came before.
func followsClock(c *order.Clock, line []int32) bool {
	if c.Within == nil {
		latest := int64(order.InNever)
		for _, x := range line {
			if c.Out[x] < latest {
				return false
			}
			latest = max(latest, c.In[x])
		}
		return true
	}
	latest := map[int32]int64{}
	for _, x := range line {
		g := c.Within[x]
		if g < 0 {
			continue
		}
		most, ok := latest[g]
		if ok && c.Out[x] < most {
			return false
		}
		if !ok || c.In[x] > most {
			latest[g] = c.In[x]
		}
	}
	return true
}

// withIdle puts the reads of unknown value into the line: where the order is
// one interval order, what comes before such a read also comes before what
// comes after it, so there is a place.
func (r *register) withIdle(line []int32) []int32 {
	if len(r.idle) == 0 {
		return line
	}
	c := r.hard.interval()
	idle := slices.Clone(r.idle)
	slices.SortStableFunc(idle, func(a, b int32) int { return cmp.Compare(c.Out[a], c.Out[b]) })
	whole := make([]int32, 0, len(line)+len(idle))
	latest := int64(order.InNever)
	for _, x := range line {
		latest = max(latest, c.In[x])
		for len(idle) > 0 && c.Out[idle[0]] < latest {
			whole = append(whole, idle[0])
			idle = idle[1:]
		}
		whole = append(whole, x)
	}
	return append(whole, idle...)
}
