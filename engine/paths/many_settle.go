package paths

import "math/bits"

// work is what is left to do in a web: which operations have something new in
// their rows, and what it is. Chains are marked modulo 64.
type work struct {
	dirty       []uint64 // by place in the order, a bit each
	fresh       []uint64 // by operation: the chains whose count grew
	knot        int32    // an operation that is known to come before itself; -1: none
	trail       []change // what the rows held before, since the first decision
	writesTrail bool     // from the first decision on
	looks       int      // rows that were looked at
}

// change is an entry of a row before it grew.
type change struct {
	at  int
	was int32
}

// refresh makes all operations fresh, after the rows were closed.
func (w *web) refresh() {
	n := len(w.op)
	w.dirty, w.fresh, w.knot = make([]uint64, (n+63)/64), make([]uint64, n), -1
	for x := range int32(n) {
		w.fresh[x] = ^uint64(0)
		w.mark(x)
	}
	for k := range w.keys {
		for _, r := range w.opening.of(k) {
			w.beforeWrites(int32(k), r)
		}
	}
}

// beforeWrites puts a read of the initial value before every write of its key:
// before the first of each chain, unless it is that itself.
func (w *web) beforeWrites(key, r int32) {
	for j := range w.chains {
		if ops := w.cells.of(int(key)*w.cells.chains + j); len(ops) > 0 && ops[0] != r && !w.before(r, ops[0]) {
			w.link(r, ops[0], r)
		}
	}
}

func (w *web) mark(x int32) {
	p := w.place[x]
	w.dirty[p>>6] |= 1 << (p & 63)
}

// settle draws every conclusion; false where there is a circle. It goes through
// the order again and again, and looks only at what has something new.
func (w *web) settle() bool {
	for again := true; again && w.knot < 0; {
		again = false
		for i := range w.dirty {
			for w.dirty[i] != 0 && w.knot < 0 {
				x := w.order[i<<6+bits.TrailingZeros64(w.dirty[i])]
				w.dirty[i] &= w.dirty[i] - 1
				again = true
				w.look(x)
			}
		}
		if w.p.stopped() {
			break
		}
	}
	return w.knot < 0
}

// look passes on what is new at x, and draws conclusions from it.
func (w *web) look(x int32) {
	news := w.fresh[x]
	w.fresh[x] = 0
	w.looks++
	if chain := w.chains[w.chain[x]]; int(w.pos[x])+1 < len(chain) {
		w.pass(x, chain[w.pos[x]+1], news)
	}
	for _, y := range w.after[w.afterAt[x]:w.afterAt[x+1]] {
		w.pass(x, y, news)
	}
	for e := w.first[x]; e >= 0; e = w.extra[e].next {
		w.pass(x, w.extra[e].to, news)
	}
	if w.source[x] >= 0 {
		w.readBetween(x, news)
	}
	if w.writes(x) {
		w.overwrites(x, news)
	}
}

// pass raises the row of y to that of x in the chains of news.
func (w *web) pass(x, y int32, news uint64) {
	from, to := w.rowOf(x), w.rowOf(y)
	if len(from) <= 64 {
		if len(from) < 64 {
			news &= 1<<len(from) - 1
		}
		for ; news != 0; news &= news - 1 {
			if j := bits.TrailingZeros64(news); from[j] > to[j] {
				w.raise(y, int32(j), from[j])
			}
		}
		return
	}
	for j, count := range from {
		if count > to[j] && news>>(j&63)&1 != 0 {
			w.raise(y, int32(j), count)
		}
	}
}

// raise lets count operations of a chain come before y.
func (w *web) raise(y, chain, count int32) {
	at := int(y)*len(w.chains) + int(chain)
	if w.writesTrail {
		w.trail = append(w.trail, change{at, w.row[at]})
	}
	w.row[at] = count
	w.fresh[y] |= 1 << (chain & 63)
	w.mark(y)
	if chain == w.chain[y] && count > w.pos[y] && w.knot < 0 {
		w.knot = y
	}
}

// readBetween: a write that comes before x comes before what x reads.
func (w *web) readBetween(x int32, news uint64) {
	s, key := w.source[x], w.key[x]
	for j, count := range w.rowOf(x) {
		if count == 0 || news>>(j&63)&1 == 0 {
			continue
		}
		if y := w.lastWrite(key, int32(j), count); y >= 0 && y != s && y != x && !w.before(y, s) {
			w.link(y, s, x)
		}
	}
}

// overwrites: what reads a write that comes before x comes before x.
func (w *web) overwrites(x int32, news uint64) {
	key := w.key[x]
	for j, count := range w.rowOf(x) {
		if count == 0 || news>>(j&63)&1 == 0 {
			continue
		}
		y := w.lastWrite(key, int32(j), count)
		if y < 0 || y == x {
			continue
		}
		for _, r := range w.readers.of(int(y)) {
			if r != x && !w.before(r, x) {
				w.link(r, x, r)
			}
		}
	}
}

// link adds order that was found, or decided.
func (w *web) link(a, b, by int32) {
	w.extra = append(w.extra, link{from: a, to: b, by: by, next: w.first[a]})
	w.first[a] = int32(len(w.extra)) - 1
	w.pass(a, b, ^uint64(0))
	if w.row[int(b)*len(w.chains)+int(w.chain[a])] <= w.pos[a] {
		w.raise(b, w.chain[a], w.pos[a]+1)
	}
}

// mark of how much was known, to go back to.
type milestone struct{ trail, extra int }

func (w *web) milestone() milestone { return milestone{len(w.trail), len(w.extra)} }

// back forgets what was found since.
func (w *web) back(m milestone) {
	for i := len(w.trail) - 1; i >= m.trail; i-- {
		w.row[w.trail[i].at] = w.trail[i].was
	}
	for i := len(w.extra) - 1; i >= m.extra; i-- {
		w.first[w.extra[i].from] = w.extra[i].next
	}
	w.trail, w.extra, w.knot = w.trail[:m.trail], w.extra[:m.extra], -1
	clear(w.dirty)
	clear(w.fresh)
}
