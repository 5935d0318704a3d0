package paths

import "slices"

// walk goes through a web along its chains, each operation after all that its
// row demands.
type walk struct {
	*web
	placed  []int32   // by chain: how many of it
	waiting [][]int32 // by chain: operations that wait for one of it
	ready   []int32   // a heap: the least weight first
	weight  []int64
}

func (w *web) newWalk(weight []int64) *walk {
	return &walk{web: w, placed: make([]int32, len(w.chains)), waiting: make([][]int32, len(w.chains)), weight: weight}
}

// lacks is a chain of which x needs more than is placed; -1: it lacks nothing.
func (k *walk) lacks(x int32) int32 {
	for j, count := range k.rowOf(x) {
		if count > k.placed[j] {
			return int32(j)
		}
	}
	return -1
}

// step places x. It calls freed for each operation that waits for nothing now.
func (k *walk) step(x int32, freed func(y int32)) {
	j := k.chain[x]
	k.placed[j]++
	if p := int(k.placed[j]); p < len(k.chains[j]) {
		k.check(k.chains[j][p], freed)
	}
	list := k.waiting[j]
	if len(list) == 0 {
		return
	}
	k.waiting[j] = nil
	for _, y := range list {
		if k.rowOf(y)[j] > k.placed[j] {
			k.waiting[j] = append(k.waiting[j], y)
		} else {
			k.check(y, freed)
		}
	}
}

func (k *walk) check(y int32, freed func(y int32)) {
	if j := k.lacks(y); j >= 0 {
		k.waiting[j] = append(k.waiting[j], y)
	} else {
		freed(y)
	}
}

// enter looks at the heads of all chains.
func (k *walk) enter(freed func(y int32)) {
	clear(k.waiting)
	for j, chain := range k.chains {
		if p := int(k.placed[j]); p < len(chain) {
			k.check(chain[p], freed)
		}
	}
}

// sooner reports whether a is placed before b where both can be.
func (k *walk) sooner(a, b int32) bool {
	s, t := k.weight[a], k.weight[b]
	return s < t || s == t && a < b
}

func (k *walk) push(x int32) {
	h := append(k.ready, x)
	for i := len(h) - 1; i > 0 && k.sooner(h[i], h[(i-1)/2]); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	k.ready = h
}

func (k *walk) pop() int32 {
	h := k.ready
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c+1 < last && k.sooner(h[c+1], h[c]) {
			c++
		}
		if c >= last || k.sooner(h[i], h[c]) {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	k.ready = h
	return top
}

// arrange finds an order of the operations that the direct rows allow; false:
// they have a circle.
func (w *web) arrange() bool {
	calls := make([]int64, len(w.op))
	for x, op := range w.op {
		calls[x] = w.v.Call[op]
	}
	k := w.newWalk(calls)
	k.enter(k.push)
	for len(k.ready) > 0 {
		x := k.pop()
		w.order = append(w.order, x)
		k.step(x, k.push)
	}
	w.place = make([]int32, len(w.op))
	for i, x := range w.order {
		w.place[x] = int32(i)
	}
	return len(w.order) == len(w.op)
}

// closeRows makes the rows complete, along the order, and keeps of the direct
// order between chains what no other implies.
func (w *web) closeRows() {
	c := len(w.chains)
	pairs := make([][2]int32, 0, 2*len(w.op))
	var direct []int32
	sum := make([]int32, c)
	for _, x := range w.order {
		row := w.rowOf(x)
		direct = direct[:0]
		for j, count := range row {
			if count > 0 {
				direct = append(direct, w.chains[j][count-1])
			}
		}
		slices.SortFunc(direct, func(a, b int32) int { return int(w.place[b] - w.place[a]) })
		clear(sum)
		for _, a := range direct {
			if sum[w.chain[a]] > w.pos[a] {
				continue
			}
			for j, count := range w.rowOf(a) {
				sum[j] = max(sum[j], count)
			}
			sum[w.chain[a]] = w.pos[a] + 1
			if w.chain[a] != w.chain[x] {
				pairs = append(pairs, [2]int32{a, x})
			}
		}
		copy(row, sum)
	}
	w.keep(pairs)
}

// keep stores the direct order between chains.
func (w *web) keep(pairs [][2]int32) {
	w.afterAt = make([]int32, len(w.op)+1)
	for _, p := range pairs {
		w.afterAt[p[0]+1]++
	}
	for i := range w.op {
		w.afterAt[i+1] += w.afterAt[i]
	}
	next := slices.Clone(w.afterAt)
	w.after = make([]int32, len(pairs))
	for _, p := range pairs {
		w.after[next[p[0]]] = p[1]
		next[p[0]]++
	}
}
