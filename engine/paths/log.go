package paths

import (
	"container/heap"
	"fmt"
	"slices"

	"pinyon/engine/spec"
)

// logPath decides logs of unique entries: append, get, and read of all entries
// from a position on.
//
// Of a log only its length matters. An append whose position somebody saw must
// come when the log is that long; every observation needs a length within
// bounds. Positions are filled one after the other. At one that nobody saw,
// the append that returned first goes next among those that nobody saw and
// that nothing left must precede: an exchange with whatever another order puts
// there loses nothing. Appends without an answer that nobody saw only fill
// positions that must be filled.
type logPath struct{}

// Name implements Path.
func (logPath) Name() string { return "log" }

// Applies implements Path.
func (logPath) Applies(p *Problem) (ok bool, reason string) { return p.readable(spec.ByIndex) }

// Decide implements Path.
func (logPath) Decide(p *Problem) Answer {
	l := newLog(p)
	if l.gather(p.access()); l.bad == nil {
		l.field.idle = l.entries.idle
		l.bounds()
	}
	if l.bad == nil {
		l.fillAll()
	}
	if l.bad != nil {
		return l.violation()
	}
	return p.accept(l.line())
}

// logged is the state of logPath. Operations are positions in the View.
type logged struct {
	*field
	entries
	release []int32 // by position: an operation that must come before, with the greatest in; -1
	due     []int32 // by position: one with the least out that comes at or after it; -1
	order   []int32 // the appends as placed, with their slots
	at      []int32
}

// entries are the appends of a log and what was seen of them.
type entries struct {
	info     []bool
	add      []int32 // by value
	position []int64 // by value; -1: nobody saw it
	witness  []int32 // by value: the operation that told its position
	views    []view
	idle     []int32 // required, without effect and information
	adds     int     // how many there are
	owner    []int32 // by position: the append that belongs there; -1: anyone
	bad      *Answer
}

// view is an operation that needs a length from least to most.
type view struct {
	op          int32
	least, most int64
}

const unbounded = 1 << 62

func newLog(p *Problem) *logged {
	in, out, _ := p.Intervals()
	b := &bag{in: in, out: out, ops: identity(int32(len(in))), discipline: spec.ByIndex}
	return &logged{field: &field{bag: b, slots: b.scale()}, entries: newEntries(p)}
}

func newEntries(p *Problem) entries {
	n := p.access().Count
	return entries{info: p.Rules.View.Info, add: filled(n, -1), witness: filled(n, -1), position: slices.Repeat([]int64{-1}, n)}
}

// violation is what refute noted.
func (l *entries) violation() Answer {
	slices.Sort(l.bad.Core)
	l.bad.Core = slices.Compact(l.bad.Core)
	return *l.bad
}

func (l *entries) refute(words string, ops ...int32) {
	if l.bad == nil {
		l.bad = &Answer{Kind: spec.Violation, Core: ops, Words: words}
	}
}

// gather reads the operations.
func (l *entries) gather(a *spec.Accesses) {
	for i, kind := range a.Kind {
		if kind == spec.AccessAdd {
			l.add[a.Value[i]] = int32(i)
			l.adds++
		}
	}
	for i, kind := range a.Kind {
		op, at := int32(i), a.Index[i]
		switch kind {
		case spec.AccessNothing:
			if !l.info[i] {
				l.idle = append(l.idle, op)
			}
		case spec.AccessAdd:
			if at >= 0 {
				l.saw(op, a.Value[i], at)
			}
		case spec.AccessPeek:
			l.saw(op, a.Value[i], at)
			l.views = append(l.views, view{op, at + 1, unbounded})
		case spec.AccessEmpty:
			l.views = append(l.views, view{op, 0, at})
		case spec.AccessList:
			list := a.List[op]
			for k, x := range list {
				l.saw(op, x, at+int64(k))
			}
			v := view{op, at + int64(len(list)), at + int64(len(list))}
			if len(list) == 0 {
				v.least = 0
			}
			l.views = append(l.views, v)
		}
	}
}

// saw notes that op told the position of a value.
func (l *entries) saw(op, value int32, at int64) {
	switch {
	case l.add[value] < 0:
		l.refute("nobody appended what it saw", op)
	case l.position[value] >= 0 && l.position[value] != at:
		l.refute("they tell two positions of one entry", l.witness[value], op, l.add[value])
	case at >= int64(l.adds):
		l.refute(fmt.Sprintf("it tells of position %d, and there are %d appends", at, l.adds), op)
	}
	l.position[value], l.witness[value] = at, op
}

// bounds sorts what was seen by position.
func (l *logged) bounds() {
	l.release, l.due = filled(l.adds+1, -1), filled(l.adds+1, -1)
	if l.own(); l.bad != nil {
		return
	}
	for at, x := range l.owner {
		l.due[at] = l.sooner(l.due[at], x)
	}
	for _, v := range l.views {
		if v.least > int64(l.adds) {
			l.refute(fmt.Sprintf("it saw %d entries, and there are %d appends", v.least, l.adds), v.op)
			return
		}
		if v.least > 0 {
			l.due[v.least-1] = l.sooner(l.due[v.least-1], v.op)
		}
		if v.most < int64(l.adds) && (l.release[v.most] < 0 || l.slots.in[v.op] > l.slots.in[l.release[v.most]]) {
			l.release[v.most] = v.op
		}
	}
	for k := l.adds - 1; k >= 0; k-- {
		l.due[k] = l.sooner(l.due[k], l.due[k+1])
	}
}

// own finds out which append belongs where.
func (l *entries) own() {
	l.owner = filled(l.adds+1, -1)
	told := filled(l.adds, -1) // by position: who told of its entry
	for x, at := range l.position {
		if at < 0 {
			continue
		}
		if l.owner[at] >= 0 {
			l.refute("they tell two entries of one position", told[at], l.witness[x])
			return
		}
		l.owner[at], told[at] = l.add[x], l.witness[x]
	}
}

// sooner is the operation of two that must be over first; -1 stands for none.
func (l *logged) sooner(x, y int32) int32 {
	if x < 0 || y >= 0 && l.slots.out[y] < l.slots.out[x] {
		return y
	}
	return x
}

// fillAll places the appends. An append may come as long as nothing that must
// come later, or is left, was over before it began.
func (l *logged) fillAll() {
	w := l.waiting()
	last := int32(-1) // the operation so far that forces the greatest slot
	for k := 0; ; k++ {
		if r := l.release[min(k, l.adds)]; r >= 0 && (last < 0 || l.slots.in[r] > l.slots.in[last]) {
			last = r
		}
		due := l.sooner(l.due[min(k, l.adds)], w.first())
		x := int32(-1)
		switch {
		case k < l.adds && l.owner[k] >= 0:
			x = l.owner[k]
		case due < 0:
			return // nothing is left that must be there
		default:
			x = w.next(l.slots.out[due])
		}
		if x < 0 {
			l.refute("an entry is missing before this operation: no append that may stand there is left", due)
			return
		}
		if last < 0 || l.slots.in[x] > l.slots.in[last] {
			last = x
		}
		if due >= 0 && l.slots.out[due] < l.slots.in[last] {
			l.refute("the log puts one before the other, which had returned before that one was invoked", due, last)
			return
		}
		l.order, l.at = append(l.order, x), append(l.at, l.slots.in[last])
	}
}

// waiting are the appends that nobody saw.
type waiting struct {
	*logged
	byIn, byOut []int32 // those with an answer
	in, out     int
	placed      []bool // by operation
	open        byReturn
	lost        []int32 // those without an answer, by in
}

func (l *logged) waiting() *waiting {
	w := &waiting{logged: l, placed: make([]bool, len(l.ops)), open: byReturn{out: l.slots.out}}
	ins, outs := filled(len(l.ops), l.end), filled(len(l.ops), l.end)
	lost := filled(len(l.ops), l.end)
	answered, unanswered := 0, 0
	for x, op := range l.add {
		switch {
		case op < 0 || l.position[x] >= 0:
		case l.info[op]:
			lost[op] = l.slots.in[op]
			unanswered++
		default:
			ins[op], outs[op] = l.slots.in[op], l.slots.out[op]
			answered++
		}
	}
	w.byIn, w.byOut = ordered(ins, l.end)[:answered], ordered(outs, l.end)[:answered]
	w.lost = ordered(lost, l.end)[:unanswered]
	return w
}

// first is the one with an answer that must be over first; -1: none is left.
func (w *waiting) first() int32 {
	for ; w.out < len(w.byOut); w.out++ {
		if x := w.byOut[w.out]; !w.placed[x] {
			return x
		}
	}
	return -1
}

// next takes the append to place where nothing may be left behind that is over
// at slot; -1: there is none.
func (w *waiting) next(slot int32) int32 {
	for ; w.in < len(w.byIn) && w.slots.in[w.byIn[w.in]] <= slot; w.in++ {
		heap.Push(&w.open, w.byIn[w.in])
	}
	if len(w.open.ops) > 0 {
		x := heap.Pop(&w.open).(int32)
		w.placed[x] = true
		return x
	}
	if len(w.lost) > 0 && w.slots.in[w.lost[0]] <= slot {
		x := w.lost[0]
		w.lost = w.lost[1:]
		return x
	}
	return -1
}

// byReturn is a heap of operations, the one that is over first on top.
type byReturn struct {
	out []int32
	ops []int32
}

// Len implements heap.Interface.
func (h byReturn) Len() int { return len(h.ops) }

// Less implements heap.Interface.
func (h byReturn) Less(i, j int) bool { return h.out[h.ops[i]] < h.out[h.ops[j]] }

// Swap implements heap.Interface.
func (h byReturn) Swap(i, j int) { h.ops[i], h.ops[j] = h.ops[j], h.ops[i] }

// Push implements heap.Interface.
func (h *byReturn) Push(x any) { h.ops = append(h.ops, x.(int32)) }

// Pop implements heap.Interface.
func (h *byReturn) Pop() any {
	x := h.ops[len(h.ops)-1]
	h.ops = h.ops[:len(h.ops)-1]
	return x
}

// line puts each observation after as many appends as its bounds and its slot
// ask for.
func (l *logged) line() (line []int32) {
	slot, after := make([]int32, len(l.views)), make([]int32, len(l.views))
	for k, v := range l.views {
		slot[k] = l.slots.in[v.op]
		if v.least > 0 {
			slot[k] = max(slot[k], l.at[v.least-1])
		}
		n, _ := slices.BinarySearch(l.at, slot[k])
		after[k] = int32(max(int64(n), v.least))
	}
	bySlot := ordered(slot, l.end)
	places := make([]int32, len(bySlot))
	for k, v := range bySlot {
		places[k] = after[v]
	}
	next := 0
	for _, k := range ordered(places, int32(len(l.order))) {
		for ; next < int(places[k]); next++ {
			line = append(line, l.order[next])
		}
		line = append(line, l.views[bySlot[k]].op)
	}
	return l.weave(append(line, l.order[next:]...), nil)
}
