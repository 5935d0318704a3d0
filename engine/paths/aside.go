package paths

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// aside are required operations that a path over registers leaves out of its
// order and puts back at its end: reads whose answer is not known, and answers
// that say only which value was not there (a failed compare-and-set). Leaving
// them out forbids nothing, so a violation stands; an order counts when all of
// them found a place in it.
type aside struct {
	ops   []int32
	avoid []int32 // the value that must not be there; -1: any may
	// Where the path knows them: writes without an answer that nobody read, what
	// each operation must find, and its place in an order that hard order allows.
	spare, demand, rank []int32
	stopped             func() bool // asked now and then; nil: never
}

// maxAside bounds the operations that are put back times those in the order.
const maxAside = 50_000_000

// misplaced is why an operation found no place.
const misplaced = "an answer says which value was not there, and it is there wherever the order that was found lets it stand"

func (a *aside) add(op, avoid int32) {
	a.ops, a.avoid = append(a.ops, op), append(a.avoid, avoid)
}

// putBack returns line with the operations of a in it, each at the first place
// that hard order and what it must not find allow, or why there is none. key, write
// and initial say what each operation of the line leaves, and where.
func (a *aside) putBack(line []int32, h *hardOrder, key, write []int32, initial func(key int32) int32) (whole []int32, why string) {
	if len(a.ops) == 0 {
		return line, ""
	}
	why = "there are too many answers that say only which value was not there"
	if c := h.interval(); c != nil {
		whole, why = a.bySlots(line, c, key, write, initial)
	} else if len(a.ops)*(len(line)+len(a.ops)) <= maxAside {
		whole, why = a.oneByOne(slices.Clone(line), h, key, write, initial)
	}
	if whole == nil && a.demand != nil {
		whole, why = a.spread(line, h, key, write, initial)
	}
	return whole, why
}

// oneByOne is putBack for few operations.
func (a *aside) oneByOne(line []int32, h *hardOrder, key, write []int32, initial func(key int32) int32) (whole []int32, why string) {
	for i, x := range a.ops {
		if a.stopped != nil && a.stopped() {
			return nil, "it was stopped"
		}
		from, to := 0, len(line)
		for p, y := range line {
			if h.precedes(y, x) {
				from = p + 1
			} else if to == len(line) && h.precedes(x, y) {
				to = p
			}
		}
		held := initial(key[x])
		for p := 0; p < min(to, len(line)); p++ {
			if p >= from && held != a.avoid[i] {
				to = p
				break
			}
			if y := line[p]; key[y] == key[x] && write[y] >= 0 {
				held = write[y]
			}
		}
		if from > to || held == a.avoid[i] {
			return nil, misplaced
		}
		line = slices.Insert(line, to, x)
	}
	return line, ""
}

// avoided is the value that a read must not find; -1 where it may find any, and
// known is false where its answer says something else.
func avoided(t spec.Tokens, x int32) (avoid int32, known bool) {
	if !t.Observes(x) || t.Demand(x) >= 0 {
		return -1, true
	}
	a, ok := t.(spec.Avoider)
	if !ok {
		return -1, false
	}
	avoid = a.Avoid(x)
	return avoid, avoid >= 0
}

// bySlots is putBack where hard order is one clock, in O(n log n): each
// operation goes into the first gap of the line that lies behind what precedes
// it, those put back before it included, and in which its value is not there.
// The first gap is best for whatever must come after it.
func (a *aside) bySlots(line []int32, c *order.Clock, key, write []int32, initial func(key int32) int32) (whole []int32, why string) {
	w := newGaps(line, c, key, write, initial)
	byIn := identity(int32(len(a.ops)))
	slices.SortStableFunc(byIn, func(i, j int32) int { return cmp.Compare(c.In[a.ops[i]], c.In[a.ops[j]]) })
	gaps := make([]int, len(a.ops))
	var open byOut // those put back that may precede what comes
	behind := 0    // the last gap of those that do
	for _, i := range byIn {
		x := a.ops[i]
		for len(open) > 0 && open[0].out < c.In[x] {
			behind = max(behind, heap.Pop(&open).(outAt).gap)
		}
		gap, ok := w.first(key[x], max(behind, w.from(c.In[x])), a.avoid[i])
		if !ok || gap > w.to(c.Out[x]) {
			return nil, misplaced
		}
		gaps[i] = gap
		heap.Push(&open, outAt{c.Out[x], gap})
	}
	slices.SortStableFunc(byIn, func(i, j int32) int { return cmp.Compare(gaps[i], gaps[j]) })
	for p := 0; p <= len(line); p++ {
		for len(byIn) > 0 && gaps[byIn[0]] == p {
			whole = append(whole, a.ops[byIn[0]])
			byIn = byIn[1:]
		}
		if p < len(line) {
			whole = append(whole, line[p])
		}
	}
	return whole, ""
}

// gaps are the places between the operations of a line; gap p is before
// line[p].
type gaps struct {
	line       []int32
	outs, ins  []int64
	last, next []int           // by place in outs: the greatest position so far; by place in ins: the least from there on
	runs       map[int32][]run // by key
	initial    func(key int32) int32
}

// run says what a key holds from a gap on.
type run struct {
	gap   int
	value int32
}

func newGaps(line []int32, c *order.Clock, key, write []int32, initial func(key int32) int32) *gaps {
	w := &gaps{line: line, runs: map[int32][]run{}, initial: initial}
	places := make([]int, len(line))
	for p := range places {
		places[p] = p
	}
	w.bounds(c, places)
	w.hold(key, write)
	return w
}

// bounds sorts the operations at some places of the line by the clock.
func (w *gaps) bounds(c *order.Clock, places []int) {
	n, line := len(places), w.line
	w.outs, w.ins, w.last, w.next = make([]int64, n), make([]int64, n), make([]int, n), make([]int, n)
	byOut, byIn := slices.Clone(places), slices.Clone(places)
	slices.SortFunc(byOut, func(i, j int) int { return cmp.Compare(c.Out[line[i]], c.Out[line[j]]) })
	slices.SortFunc(byIn, func(i, j int) int { return cmp.Compare(c.In[line[i]], c.In[line[j]]) })
	for i, p := range byOut {
		w.outs[i], w.last[i] = c.Out[line[p]], p
		if i > 0 {
			w.last[i] = max(w.last[i], w.last[i-1])
		}
	}
	for i := n - 1; i >= 0; i-- {
		p := byIn[i]
		w.ins[i], w.next[i] = c.In[line[p]], p
		if i+1 < n {
			w.next[i] = min(w.next[i], w.next[i+1])
		}
	}
}

// hold finds out what the keys hold along the line.
func (w *gaps) hold(key, write []int32) {
	for p, y := range w.line {
		k := key[y]
		if w.runs[k] == nil {
			w.runs[k] = []run{{0, w.initial(k)}}
		}
		if write[y] >= 0 {
			w.runs[k] = append(w.runs[k], run{p + 1, write[y]})
		}
	}
}

// from is the first gap behind all that precede an operation with this in.
func (w *gaps) from(in int64) int {
	k := sort.Search(len(w.outs), func(i int) bool { return w.outs[i] >= in })
	if k == 0 {
		return 0
	}
	return w.last[k-1] + 1
}

// to is the last gap before all that come after one with this out.
func (w *gaps) to(out int64) int {
	k := sort.Search(len(w.ins), func(i int) bool { return w.ins[i] > out })
	if k == len(w.ins) {
		return len(w.line)
	}
	return w.next[k]
}

// first is the first gap from a place on in which the key holds something else
// than avoid.
func (w *gaps) first(key int32, from int, avoid int32) (gap int, ok bool) {
	runs := w.runs[key]
	if avoid < 0 {
		return from, true
	}
	if len(runs) == 0 { // nobody in the line touches the key
		return from, w.initial(key) != avoid
	}
	k := sort.Search(len(runs), func(i int) bool { return runs[i].gap > from }) - 1
	for ; k < len(runs); k++ {
		if runs[k].value != avoid {
			return max(from, runs[k].gap), true
		}
	}
	return 0, false
}

// outAt is an operation that was put back.
type outAt struct {
	out int64
	gap int
}

// byOut is a heap of them, the least out on top.
type byOut []outAt

// Len implements heap.Interface.
func (h byOut) Len() int { return len(h) }

// Less implements heap.Interface.
func (h byOut) Less(i, j int) bool { return h[i].out < h[j].out }

// Swap implements heap.Interface.
func (h byOut) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *byOut) Push(x any) { *h = append(*h, x.(outAt)) }

// Pop implements heap.Interface.
func (h *byOut) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}
