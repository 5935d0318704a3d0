package paths

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// orderedLogPath decides logs of unique entries under any hard order, such as
// that of a store's hints.
//
// An operation needs a length of the log within bounds: those that it saw, and
// what hard order passes on (order.Lengths). An append whose position somebody
// saw has one position left; every other one is a job of one unit with a release
// and a deadline, and the positions that nobody saw are the units of time. As the
// bounds keep the hard order (whoever comes later has a later release and a
// later deadline), taking at each position the released job with the earliest
// deadline finds an order if there is one (Jackson, 1955; with precedence,
// Lawler, 1973). Appends without an answer that nobody saw have no deadline and
// fill what must be filled.
type orderedLogPath struct{}

// Name implements Path.
func (orderedLogPath) Name() string { return "log" }

// Applies implements Path. Where the order is one interval order, logPath has
// decided already.
func (orderedLogPath) Applies(p *Problem) (ok bool, reason string) {
	if a := p.access(); a == nil || a.Discipline != spec.ByIndex {
		return false, ""
	}
	if _, _, timed := p.Intervals(); timed || p.Graph == nil {
		return false, ""
	}
	for x, optional := range p.Graph.Optional {
		if optional && p.Graph.Bridge(int32(x)) {
			return false, "an operation without an answer comes before another"
		}
	}
	return p.unique()
}

// Decide implements Path.
func (orderedLogPath) Decide(p *Problem) Answer {
	l := &orderedLog{entries: newEntries(p), p: p}
	if l.gather(p.access()); l.bad == nil {
		l.own()
	}
	if l.bad != nil {
		return l.violation()
	}
	var ok bool
	own, grows := l.bounds()
	if l.Lengths, ok = p.Graph.Lengths(own, grows, l.seen); !ok {
		return Answer{Kind: spec.Unknown, Reason: "the hard order has a circle"}
	}
	if l.meet(); l.bad == nil {
		l.fill()
	}
	if l.bad != nil {
		return l.violation()
	}
	return p.acceptOrder(l.line())
}

// orderedLog is the state of orderedLogPath.
type orderedLog struct {
	entries
	*order.Lengths
	p     *Problem
	order []int32 // the appends as placed
}

// bounds are what the operations themselves say.
func (l *orderedLog) bounds() (own func(x int32) (least, most int64), grows func(x int32) bool) {
	n := l.p.Rules.View.N
	least, most := make([]int64, n), slices.Repeat([]int64{math.MaxInt64 / 2}, n)
	for _, v := range l.views {
		least[v.op], most[v.op] = v.least, v.most
	}
	growing := make([]bool, n)
	for value, x := range l.add {
		if x < 0 {
			continue
		}
		growing[x] = true
		if at := l.position[value]; at >= 0 {
			least[x], most[x] = at, at
		}
	}
	return func(x int32) (int64, int64) { return least[x], most[x] }, func(x int32) bool { return growing[x] }
}

// meet refutes where the bounds of an operation exclude each other: the
// operations from where the one comes to where the other comes.
func (l *orderedLog) meet() {
	for x := range int32(len(l.info)) {
		if l.Least[x] <= l.Most[x] || l.info[x] && !l.seen(x) {
			continue
		}
		core := []int32{x}
		for y := x; l.LeastFrom[y] != y; core = append(core, y) {
			y = l.LeastFrom[y]
		}
		for y := x; l.MostFrom[y] != y; core = append(core, y) {
			y = l.MostFrom[y]
		}
		l.refute(fmt.Sprintf("the log would have to be %d long, and at most %d, before one of them", l.Least[x], l.Most[x]), core...)
		return
	}
}

// seen reports whether x is an append whose position somebody saw.
func (l *orderedLog) seen(x int32) bool {
	a := l.p.access()
	return a.Kind[x] == spec.AccessAdd && l.position[a.Value[x]] >= 0
}

// byMost is a heap of appends, the one with the earliest deadline on top.
type byMost struct {
	*orderedLog
	ops []int32
}

// Len implements heap.Interface.
func (h byMost) Len() int { return len(h.ops) }

// Less implements heap.Interface.
func (h byMost) Less(i, j int) bool { return h.Most[h.ops[i]] < h.Most[h.ops[j]] }

// Swap implements heap.Interface.
func (h byMost) Swap(i, j int) { h.ops[i], h.ops[j] = h.ops[j], h.ops[i] }

// Push implements heap.Interface.
func (h *byMost) Push(x any) { h.ops = append(h.ops, x.(int32)) }

// Pop implements heap.Interface.
func (h *byMost) Pop() any {
	x := h.ops[len(h.ops)-1]
	h.ops = h.ops[:len(h.ops)-1]
	return x
}

// fill gives every position an append.
func (l *orderedLog) fill() {
	jobs, fillers := l.unseen()
	last := int64(-1) // the last position that must be filled
	for _, at := range l.position {
		last = max(last, at)
	}
	for _, v := range l.views {
		last = max(last, v.least-1)
	}
	h := &byMost{orderedLog: l}
	for k := int64(0); k <= last || len(jobs)+h.Len() > 0; k++ {
		for len(jobs) > 0 && l.Least[jobs[0]] <= k {
			heap.Push(h, jobs[0])
			jobs = jobs[1:]
		}
		if h.Len() > 0 && l.Most[h.ops[0]] < k {
			l.refute("too many appends belong before one position", l.crowd(h.ops[0])...)
			return
		}
		x := int32(-1)
		switch {
		case k < int64(len(l.owner)) && l.owner[k] >= 0:
			x = l.owner[k]
		case h.Len() > 0:
			x = heap.Pop(h).(int32)
		case len(fillers) > 0 && l.Least[fillers[0]] <= k:
			x, fillers = fillers[0], fillers[1:]
		default:
			l.refute(fmt.Sprintf("no append is left that may stand at position %d", k), l.later(k)...)
			return
		}
		l.order = append(l.order, x)
	}
}

// unseen are the appends whose position nobody saw, by release: those with an
// answer, and those without.
func (l *orderedLog) unseen() (jobs, fillers []int32) {
	for value, x := range l.add {
		switch {
		case x < 0 || l.position[value] >= 0:
		case l.info[x]:
			fillers = append(fillers, x)
		default:
			jobs = append(jobs, x)
		}
	}
	for _, list := range [][]int32{jobs, fillers} {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(l.Least[a], l.Least[b]), cmp.Compare(a, b)) })
	}
	return jobs, fillers
}

// crowd are x and the appends that had to come before its deadline too.
func (l *orderedLog) crowd(x int32) []int32 {
	ops := []int32{x}
	for k, y := range l.order {
		if int64(k) >= l.Least[x] && (l.Most[y] <= l.Most[x]) {
			ops = append(ops, y)
		}
	}
	return ops
}

// later are the operations that need the log to be longer than k.
func (l *orderedLog) later(k int64) (ops []int32) {
	for _, v := range l.views {
		if v.least > k {
			ops = append(ops, v.op)
		}
	}
	for value, x := range l.add {
		if x >= 0 && l.position[value] < 0 && !l.info[x] && l.Least[x] > k {
			ops = append(ops, x)
		}
	}
	for k := int(k); k < len(l.owner); k++ {
		if x := l.owner[k]; x >= 0 {
			ops = append(ops, x)
		}
	}
	return ops
}

// line puts the observations between the appends: each where the appends and
// observations before it, and what it saw, allow it first.
func (l *orderedLog) line() []int32 {
	slot := make([]int64, len(l.info)) // of an append
	for k, x := range l.order {
		slot[x] = int64(k)
	}
	_, grows := l.bounds()
	least := make([]int64, len(l.info))
	for _, v := range l.views {
		least[v.op] = v.least
	}
	at, _ := l.p.Graph.Lengths(func(x int32) (int64, int64) {
		if grows(x) {
			return slot[x], slot[x]
		}
		return least[x], math.MaxInt64 / 2
	}, grows, l.seen)
	whole, _ := l.p.Graph.Linear()
	line := slices.DeleteFunc(whole, grows)
	slices.SortStableFunc(line, func(a, b int32) int { return cmp.Compare(at.Least[a], at.Least[b]) })
	var woven []int32
	next := 0
	for k := int64(0); k <= int64(len(l.order)); k++ {
		for next < len(line) && at.Least[line[next]] <= k {
			woven = append(woven, line[next])
			next++
		}
		if k < int64(len(l.order)) {
			woven = append(woven, l.order[k])
		}
	}
	return append(woven, line[next:]...)
}
