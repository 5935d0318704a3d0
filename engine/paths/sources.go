package paths

import (
	"slices"
	"sort"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// source finds, for every operation that must find a value, the write that it
// reads from. done says that the answer is known already: one of them can have
// read nothing, or more than one write could be meant. An unanswered write is
// live once an operation that is live reads from it.
func (r *register) source() (a Answer, done bool) {
	w := r.newWriters()
	r.writers = w
	var todo []int32
	for x := range int32(r.v.N) {
		if r.live[x] && r.demand[x] >= 0 {
			todo = append(todo, x)
		}
	}
	for i := 0; i < len(todo); i++ {
		x := todo[i]
		if i&0xfff == 0 && r.p.stopped() {
			return cannotTell("it was stopped"), true
		}
		from, many := w.of(x)
		switch {
		case many:
			return cannotTell("a value that was read was written more than once, and more than one of the writes could be meant"), true
		case from == fromNobody:
			return w.refuse(x), true
		}
		r.from[x] = from
		if from >= 0 && !r.live[from] {
			r.live[from], r.because[from] = true, x
			if r.demand[from] >= 0 {
				todo = append(todo, from)
			}
		}
	}
	return a, false
}

// writers are the writes by value.
type writers struct {
	*register
	begins []int32 // the writes of value v are all[begins[v]:begins[v+1]]
	all    []int32
	// For one interval order: the required writes by out, and the greatest in of
	// each and those before it. A write whose out is less than that of the writes
	// that precede a read was overwritten before the read.
	outs   []int64
	latest []int32
}

func (r *register) newWriters() *writers {
	w := &writers{register: r}
	values := int32(0)
	for _, v := range r.write {
		values = max(values, v+1)
	}
	w.begins = make([]int32, values+1)
	for _, v := range r.write {
		if v >= 0 {
			w.begins[v+1]++
		}
	}
	for v := range values {
		w.begins[v+1] += w.begins[v]
	}
	w.all = make([]int32, w.begins[values])
	end := slices.Clone(w.begins)
	for x, v := range r.write {
		if v >= 0 {
			w.all[end[v]] = int32(x)
			end[v]++
		}
	}
	return w
}

// written is the list of the writes of a value, by position.
func (w *writers) written(v int32) []int32 {
	if int(v) >= len(w.begins)-1 {
		return nil
	}
	return w.all[w.begins[v]:w.begins[v+1]]
}

// byOut fills outs and latest when they are first needed.
func (w *writers) byOut() {
	c := w.hard.interval()
	if w.outs != nil || c == nil {
		return
	}
	var ops []int32
	for x := range int32(w.v.N) {
		if w.write[x] >= 0 && !w.v.Info[x] {
			ops = append(ops, x)
		}
	}
	order.SortBy(ops, c.Out)
	w.outs, w.latest = make([]int64, len(ops)), make([]int32, len(ops))
	for i, x := range ops {
		w.outs[i], w.latest[i] = c.Out[x], x
		if i > 0 && c.In[w.latest[i-1]] > c.In[x] {
			w.latest[i] = w.latest[i-1]
		}
	}
}

// over is the write that was invoked last of those that precede x; -1: none
// does, or the order is not one interval order.
func (w *writers) over(x int32) int32 {
	w.byOut()
	if len(w.outs) == 0 {
		return -1
	}
	in := w.hard.clocks[0].In[x]
	k := sort.Search(len(w.outs), func(i int) bool { return w.outs[i] >= in })
	if k == 0 {
		return -1
	}
	return w.latest[k-1]
}

// of finds what x reads from. Where one write leaves its value, that is it,
// whatever the order says: a contradiction is found later, with its reason.
func (w *writers) of(x int32) (from int32, many bool) {
	all := w.written(w.demand[x])
	n := len(all)
	if w.initial == w.demand[x] {
		n++
	}
	switch {
	case n == 0:
		return fromNobody, false
	case n == 1 && len(all) == 0:
		return fromStart, false
	case n == 1:
		return all[0], false
	}
	from = fromNobody
	over := w.over(x)
	if w.initial == w.demand[x] && over < 0 {
		from = fromStart
	}
	for _, y := range all {
		if y == x || !w.possible(y, x, over) {
			continue
		}
		if from != fromNobody {
			return from, true
		}
		from = y
	}
	return from, false
}

// possible reports whether x may have read from y: y does not come after x, and
// was not overwritten by the last of the writes that precede x.
func (w *writers) possible(y, x, over int32) bool {
	if w.hard.precedes(x, y) {
		return false
	}
	return over < 0 || y == over || w.hard.clocks[0].Out[y] >= w.hard.clocks[0].In[over]
}

// refuse is the answer where x can have read from nothing. The writes of its
// value, and one that came between them and x, are impossible together with x
// alone only where none of them must find a value itself.
func (w *writers) refuse(x int32) Answer {
	a := Answer{Kind: spec.Violation}
	core := append([]int32{x}, w.written(w.demand[x])...)
	if over := w.over(x); over >= 0 && (len(core) > 1 || w.initial == w.demand[x]) {
		core = append(core, over)
	}
	closed := true
	for _, y := range core[1:] {
		closed = closed && w.demand[y] < 0
	}
	a.Core = w.closed(core)
	if len(a.Core) > maxCore || w.loose || !closed || !w.whole(a.Core) {
		a.Words = "no write of the value that one of them read can have been the last one before it"
	}
	return a
}
