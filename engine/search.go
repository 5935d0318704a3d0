// Package engine decides: is there an order of the operations that obeys the
// hard order and is legal?
//
// The search generalizes Wing and Gong ("Testing and Verifying Concurrent
// Objects", JPDC 1993) from real time to any hard order, as the Pine paper
// does: it walks topological orders of a DAG depth first and remembers every
// configuration (placed set, states) that it has left (Lowe, "Testing for
// linearizability", 2017). The rules, in the order in which Search applies
// them:
//
//  1. A circle of hard edges through a required operation refutes at once.
//  2. Optional operations (no answer came back) may be placed anywhere or
//     never. Those that could only read are never placed.
//  3. A read-only operation that is legal now and drops nothing is placed at
//     once and never branched on (docs/ARCHITECTURE.md, section 6): what follows cannot
//     tell the difference, and its own place was somewhere later.
//  4. Of several optional operations that step alike and precede nothing, one
//     stands for all; so does a required one that steps like them (R3). An
//     optional operation that would change nothing is not placed.
//  5. On register-like objects a value that is still demanded and that nobody
//     can write again is not overwritten, and an unanswered write that nobody
//     left wants is not placed (see pins, and instances where values repeat).
//  6. Writes that nobody left can read are placed together, just before another
//     write or on their own: what stands between them and that write does not
//     depend on the state. Of writes of one value the first to return comes
//     first.
//  7. A configuration seen before is not searched again, nor one that differs from
//     it by more unanswered operations only (R5). The memory of configurations is
//     exact.
//  8. Children are tried by soft order, then earliest return first. Order never
//     prunes.
package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync/atomic"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// Problem is what Search decides.
type Problem struct {
	View    *history.View
	Graph   *order.Graph
	Soft    []order.Source
	Machine spec.Machine // deterministic; see spec.Deterministic
	Eager   bool         // reads change no state: place them as soon as they are legal (rule 3)
	NoPins  bool         // leave rule 5 out, to get as far as an order can
}

// Limits bound a search; zero fields do not.
type Limits struct {
	States int64 // configurations
	Memory int64 // bytes of configurations and the machine's tables, as they count themselves
	// Forget makes a search forget configurations in place of ending where they
	// would take more memory: the longer ago they were met, the sooner.
	Forget bool
	// Heap is asked for a limit to the bytes of the whole process' live heap, which
	// is what a user's states really cost; nil: there is none.
	Heap func() int64
}

// Result is the outcome of a Search.
type Result struct {
	Kind    spec.Kind
	States  int64
	Bytes   int64   // memory held by configurations at the end
	Witness []int32 // Consistent: the order found
	Budget  string  // Unknown: "states", "time", "memory" or "cancelled"
	// Deepest is an order as long as any that was found, and States the object
	// states after it by key code, when no order was complete.
	Deepest      []int32
	DeepestState map[int32]int32
	Hopeless     int32 // an operation that can have read from nothing; -1: none is known
}

// Live counts for progress displays, shared by parallel searches.
type Live struct{ States, Bytes atomic.Int64 }

// placed is one step of the trail: the state before it, and the update that was
// current then.
type placed struct{ op, before, current int32 }

// child is an operation that may come next, with the state after it.
type child struct {
	op, next int32 // op -1: the dead writes alone
	soft     int32
	batch    bool // the dead writes come before it
}

// frame is a configuration on the current path with the children left to try.
type frame struct {
	trail     int // length of the trail in this configuration
	next, end int // children left to try: search.childs[next:end]
	first     int
}

type search struct {
	Problem
	limits                  Limits
	ctx                     context.Context
	f                       *order.Frontier
	object                  []int32 // by operation: index into state
	codes                   []int32 // by object: key code
	state                   []int32 // by object
	optional                *optionals
	class                   []int32      // by operation; nil: the machine does not tell
	pins                    *pins        // nil: the machine is not register-like
	inst                    *instances   // nil: rules go by values, if there are pins
	current                 int32        // the update that was placed last; -1: none
	watcher                 spec.Watcher // nil: steps depend on the state alone
	memo                    *memo
	key                     []byte
	wide                    bool // chains too long for 16-bit positions
	trail                   []placed
	frames                  []frame
	childs                  []child // of all frames, one after the other
	result                  Result
	steps                   int64
	live                    *Live
	reported, reportedBytes int64
}

// Search decides p. It stops early with Kind Unknown when a limit is reached,
// when ctx's deadline passes (budget "time") or when ctx is cancelled. A panic
// of a user's function passes through it.
func Search(ctx context.Context, p Problem, limits Limits, live *Live) Result {
	return newSearch(ctx, p, limits, live).run()
}

func newSearch(ctx context.Context, p Problem, limits Limits, live *Live) *search {
	if live == nil {
		live = &Live{}
	}
	s := &search{Problem: p, limits: limits, ctx: ctx, live: live, f: p.Graph.NewFrontier(), current: -1}
	s.objects()
	s.watcher = watch(p.Machine)
	if !p.NoPins {
		s.pins = newPins(p.Machine, p.View, p.Graph, s.object, len(s.state))
		if p.Eager {
			s.inst = newInstances(s.pins, p.View, p.Graph, s.state)
		}
	}
	s.class = classes(p.Machine, p.View.N)
	s.optional = newOptionals(p, s.class, s.object)
	for _, ch := range p.Graph.Chains {
		s.wide = s.wide || len(ch) > 0xffff
	}
	width := 2
	if s.wide {
		width = 4
	}
	bits := len(s.optional.bits)
	size := width*len(p.Graph.Chains) + bits + 4*len(s.state)
	if s.watcher != nil {
		bits = 0 // what may follow depends on all that was placed
	}
	s.memo = newMemo(size, bits)
	return s
}

// objects numbers the objects that occur and gives each its initial state.
func (s *search) objects() {
	s.object = make([]int32, s.View.N)
	index := map[int32]int32{}
	for i, code := range s.View.Key {
		o, ok := index[code]
		if !ok {
			o = int32(len(s.state))
			index[code] = o
			s.codes = append(s.codes, code)
			s.state = append(s.state, s.Machine.Init(code))
		}
		s.object[i] = o
	}
}

func (s *search) run() Result {
	s.commit()
	if s.result.Hopeless = -1; s.inst != nil && s.inst.hopeless >= 0 {
		s.result.Hopeless = s.inst.hopeless
		s.deepest()
		s.memo.insert(s.pack())
		return s.finish(spec.Violation, "")
	}
	return s.walk()
}

// resume goes on where a limit stopped the search, under other limits. That a
// machine that watches saw nothing else meanwhile is for the caller to know.
func (s *search) resume(limits Limits) Result {
	s.limits = limits
	s.live.Bytes.Add(s.memo.held()) // finish gave it back
	return s.walk()
}

func (s *search) walk() Result {
	for {
		if s.f.Left == 0 {
			return s.finish(spec.Consistent, "")
		}
		if budget := s.over(); budget != "" {
			return s.finish(spec.Unknown, budget)
		}
		if s.memo.insert(s.pack()) {
			first := len(s.childs)
			s.children()
			s.frames = append(s.frames, frame{trail: len(s.trail), next: first, end: len(s.childs), first: first})
		} else {
			s.deepest()
		}
		if !s.advance() {
			return s.finish(spec.Violation, "")
		}
	}
}

// advance goes to the next child to try, backtracking where needed; false when
// there is none.
func (s *search) advance() bool {
	for len(s.frames) > 0 {
		fr := &s.frames[len(s.frames)-1]
		s.undo(fr.trail)
		if fr.next < fr.end {
			c := s.childs[fr.next]
			fr.next++
			s.take(c)
			s.commit()
			return true
		}
		if fr.first == fr.end {
			s.deepest()
		}
		s.childs = s.childs[:fr.first]
		s.frames = s.frames[:len(s.frames)-1]
	}
	return false
}

// take places a child, and the dead writes that come before it (rule 6).
func (s *search) take(c child) {
	if !c.batch {
		s.place(c.op, c.next)
		return
	}
	for progress := true; progress; {
		progress = false
		for j := range s.Graph.Chains {
			for x := s.f.Head(j); x >= 0 && x != c.op && s.isDead(x); x = s.f.Head(j) {
				next, ok := s.Machine.Step(s.state[0], x)
				if !ok || s.strands(x, s.state[0], next) {
					break
				}
				s.place(x, next)
				progress = true
			}
		}
	}
	if c.op < 0 {
		return
	}
	if next, ok := s.Machine.Step(s.state[0], c.op); ok {
		s.place(c.op, next)
	}
}

// isDead reports whether x may be placed now and nobody can read from it.
func (s *search) isDead(x int32) bool {
	return s.inst.blind(x) && s.inst.dead(x) && s.f.Ready(x) && s.f.Strict(x)
}

func (s *search) place(op, next int32) {
	o := s.object[op]
	s.trail = append(s.trail, placed{op, s.state[o], s.current})
	if s.inst != nil {
		s.inst.move(op, -1)
		if s.inst.write[op] >= 0 {
			s.current = op
		}
	}
	s.state[o] = next
	s.f.Place(op)
	s.optional.turn(op, s.f.Placed)
	if s.pins != nil {
		s.pins.count(op, -1)
	}
	if s.watcher != nil {
		s.watcher.Placed(op)
	}
}

// watch returns the machine as a fresh Watcher, nil where it is none.
func watch(m spec.Machine) spec.Watcher {
	w, ok := m.(spec.Watcher)
	if !ok {
		return nil
	}
	w.Restart()
	return w
}

func (s *search) undo(length int) {
	for len(s.trail) > length {
		last := s.trail[len(s.trail)-1]
		s.trail = s.trail[:len(s.trail)-1]
		s.f.Unplace(last.op)
		s.optional.turn(last.op, s.f.Placed)
		s.state[s.object[last.op]], s.current = last.before, last.current
		if s.inst != nil {
			s.inst.move(last.op, 1)
		}
		if s.pins != nil {
			s.pins.count(last.op, 1)
		}
		if s.watcher != nil {
			s.watcher.Unplaced(last.op)
		}
	}
}

// commit is rule 3. The state must be unchanged exactly: over sets of states a
// read that narrows the set is no mere read.
func (s *search) commit() {
	if s.View.Read == nil || !s.Eager {
		return
	}
	for progress := true; progress; {
		progress = false
		for j := range s.Graph.Chains {
			for x := s.f.Head(j); x >= 0 && s.committable(x); x = s.f.Head(j) {
				s.place(x, s.state[s.object[x]])
				progress = true
				if s.steps++; s.steps&0xfff == 0 && s.ctx.Err() != nil {
					return
				}
			}
		}
	}
}

func (s *search) committable(x int32) bool {
	if !s.View.Read[x] || !s.f.Ready(x) || !s.f.Strict(x) {
		return false
	}
	now := s.state[s.object[x]]
	next, ok := s.Machine.Step(now, x)
	return ok && next == now
}

// children adds to childs what may come next, best first (rules 2, 4, 5, 6
// and 8).
func (s *search) children() {
	cs := s.childs[len(s.childs):]
	batch, blocked := false, false // blocked: a read could come next, if only the state were another
	for j := range s.Graph.Chains {
		x := s.f.Head(j)
		if x < 0 || !s.f.Ready(x) {
			continue
		}
		now := s.state[s.object[x]]
		next, ok := s.Machine.Step(now, x)
		blocked = blocked || !ok && s.View.Read != nil && s.View.Read[x]
		switch {
		case !ok || s.strands(x, now, next):
		case s.inst != nil && s.isDead(x):
			batch = true
		default:
			cs = append(cs, child{op: x, next: next})
		}
	}
	if s.inst != nil {
		cs = s.firsts(cs)
		for i := range cs {
			cs[i].batch = batch && s.inst.blind(cs[i].op)
		}
	}
	s.rank(cs)
	if batch {
		cs = append(cs, child{op: -1, batch: true})
	}
	cs = s.optionalChildren(cs, blocked)
	s.childs = append(s.childs, cs...)
}

// unwanted reports whether the optional operation y need not be placed now.
func (s *search) unwanted(y int32, blocked bool) bool {
	switch {
	case s.pins == nil:
		return false
	case s.inst != nil && s.inst.write[y] >= 0:
		return !blocked && s.inst.unneeded(y)
	}
	return s.pins.unwanted(y, s.object[y])
}

// firsts leaves out an answered write where another one that steps like it
// returns before it and drops nothing.
func (s *search) firsts(cs []child) []child {
	if s.class == nil {
		return cs
	}
	kept := make([]child, 0, len(cs))
	for _, c := range cs {
		later := s.inst.blind(c.op) && slices.ContainsFunc(cs, func(d child) bool {
			return s.class[d.op] == s.class[c.op] && s.inst.blind(d.op) && s.f.Strict(d.op) &&
				(s.inst.out[d.op] < s.inst.out[c.op] || s.inst.out[d.op] == s.inst.out[c.op] && d.op < c.op)
		})
		if !later {
			kept = append(kept, c)
		}
	}
	return append(cs[:0], kept...)
}

func (s *search) strands(x, now, next int32) bool {
	switch {
	case s.pins == nil:
		return false
	case s.inst == nil || s.current >= 0 && s.inst.optional[s.current]:
		return s.pins.strands(x, s.object[x], now, next)
	}
	return s.inst.write[x] >= 0 && s.inst.overwrites(x, s.current, s.f.Placed)
}

// rank sorts children by how many others softly precede them, then by return,
// then by call.
func (s *search) rank(cs []child) {
	for i := range cs {
		if s.Soft == nil {
			break
		}
		cs[i].soft = 0
		for j := range cs {
			if i != j && s.softly(cs[j].op, cs[i].op) {
				cs[i].soft++
			}
		}
	}
	slices.SortStableFunc(cs, func(a, b child) int {
		return cmp.Or(cmp.Compare(a.soft, b.soft), cmp.Compare(s.View.Ret[a.op], s.View.Ret[b.op]),
			cmp.Compare(s.View.Call[a.op], s.View.Call[b.op]))
	})
}

func (s *search) softly(a, b int32) bool {
	for i := range s.Soft {
		if s.Soft[i].Precedes(a, b) {
			return true
		}
	}
	return false
}

// pack writes the configuration as a key: chain positions, states, which optional
// operations are placed.
func (s *search) pack() []byte {
	k := s.key[:0]
	for _, p := range s.f.Pos {
		if s.wide {
			k = binary.LittleEndian.AppendUint32(k, uint32(p))
		} else {
			k = binary.LittleEndian.AppendUint16(k, uint16(p))
		}
	}
	for _, n := range s.state {
		k = binary.LittleEndian.AppendUint32(k, uint32(n))
	}
	k = append(k, s.optional.bits...)
	s.key = k
	return k
}

// timeOf is the budget that ran out with ctx, or "".
func timeOf(ctx context.Context) string {
	switch ctx.Err() {
	case nil:
		return ""
	case context.DeadlineExceeded:
		return "time"
	}
	return "cancelled"
}

// over returns the budget that ran out, or "".
func (s *search) over() string {
	n := s.memo.seen
	switch {
	case s.limits.States > 0 && n >= s.limits.States:
		return "states"
	case s.crowded():
		return "memory"
	case s.ctx.Err() != nil:
		return timeOf(s.ctx)
	}
	if n&0x3f == 0x3f {
		s.report()
		if s.limits.Heap != nil && liveHeap() > s.limits.Heap() && !s.relieved() {
			return "memory"
		}
	}
	return ""
}

// crowded reports whether the configurations, with the machine's tables, take more
// memory than they may. It makes room first, if it may.
func (s *search) crowded() bool {
	if s.limits.Memory <= 0 {
		return s.memo.full()
	}
	tables := spec.BytesOf(s.Machine)
	if !s.limits.Forget {
		return s.memo.held()+tables > s.limits.Memory || s.memo.full()
	}
	if tables > s.limits.Memory/8*7 {
		return true
	}
	s.memo.fit(s.limits.Memory - tables)
	return false
}

// relieved forgets all configurations, and reports whether that left half of the
// heap's limit.
func (s *search) relieved() bool {
	if !s.limits.Forget {
		return false
	}
	s.memo.forget()
	runtime.GC()
	return liveHeap() < s.limits.Heap()/2
}

// liveHeap is what the last garbage collection found in use, in bytes.
func liveHeap() int64 {
	sample := [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample[:])
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}

// report adds what is new to the live counts.
func (s *search) report() {
	s.live.States.Add(s.memo.seen - s.reported)
	s.live.Bytes.Add(s.memo.held() - s.reportedBytes)
	s.reported, s.reportedBytes = s.memo.seen, s.memo.held()
}

// deepest keeps the longest order that led nowhere.
func (s *search) deepest() {
	if len(s.trail) <= len(s.result.Deepest) && s.result.DeepestState != nil {
		return
	}
	s.result.Deepest = s.order(s.result.Deepest[:0])
	s.result.DeepestState = make(map[int32]int32, len(s.state))
	for o, code := range s.codes {
		s.result.DeepestState[code] = s.state[o]
	}
}

func (s *search) order(into []int32) []int32 {
	for _, p := range s.trail {
		into = append(into, p.op)
	}
	return into
}

func (s *search) finish(kind spec.Kind, budget string) Result {
	if kind == spec.Unknown {
		s.deepest()
	}
	s.report()
	s.live.Bytes.Add(-s.memo.held()) // it is given back
	r := s.result
	r.Kind, r.Budget, r.States, r.Bytes = kind, budget, s.memo.seen, s.memo.held()+spec.BytesOf(s.Machine)
	if kind == spec.Consistent {
		r.Witness, r.Deepest, r.DeepestState = s.order(nil), nil, nil
	}
	return r
}
