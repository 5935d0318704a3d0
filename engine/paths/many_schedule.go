package paths

// Bounds on how often two writes are put in an order, and on how many
// operations are looked at for it, before the path cannot tell.
const (
	maxGuesses = 5000
	maxLooks   = 20_000_000
)

// guess is two writes of a key that were put in an order: first as a, b.
type guess struct {
	a, b   int32
	turned bool // now as b, a
	from   milestone
}

// decide finds an order of the operations, as positions in the View. Where
// there is none and no reason, they have none.
func (w *web) decide() (order []int32, reason string) {
	if !w.arrange() {
		w.knot = w.left()
		return nil, ""
	}
	w.closeRows()
	w.refresh()
	w.settle()
	var guesses []guess
	var s *scheduler
	for count := 0; ; {
		if w.p.stopped() {
			return nil, "it was stopped"
		}
		if w.knot >= 0 {
			if guesses = w.turn(guesses); guesses == nil {
				return nil, ""
			}
			s.synced = min(s.synced, guesses[len(guesses)-1].from.trail)
			w.settle()
			continue
		}
		if s == nil {
			s = w.newScheduler()
		}
		a, b := s.schedule()
		switch {
		case len(s.line) == len(w.op):
			return w.positions(s.line), ""
		case a < 0:
			return nil, "it found no place for an operation"
		case count == maxGuesses || w.looks+s.undone > maxLooks+50*len(w.op):
			return nil, "too many pairs of writes of a key have no order that follows from what was read"
		}
		count++
		w.writesTrail = true
		guesses = append(guesses, guess{a: a, b: b, from: w.milestone()})
		w.link(a, b, -1)
		w.settle()
	}
}

// turn goes back to the last guess that was tried in one order only, and tries
// the other; nil: there is none.
func (w *web) turn(guesses []guess) []guess {
	for len(guesses) > 0 {
		g := &guesses[len(guesses)-1]
		if !g.turned {
			w.back(g.from)
			g.turned = true
			w.link(g.b, g.a, -1)
			return guesses
		}
		guesses = guesses[:len(guesses)-1]
	}
	return nil
}

// left is an operation that the order does not hold.
func (w *web) left() int32 {
	held := make([]bool, len(w.op))
	for _, x := range w.order {
		held[x] = true
	}
	for x, ok := range held {
		if !ok {
			return int32(x)
		}
	}
	return -1
}

func (w *web) positions(line []int32) []int32 {
	ops := make([]int32, len(line))
	for i, x := range line {
		ops[i] = w.op[x]
	}
	return ops
}

// scheduler places writes only where the value that they overwrite has been
// read by all. What it placed stays where more order becomes known, as far as
// that allows.
type scheduler struct {
	*walk
	current []int32   // by key: the write; fromStart
	was     []int32   // by write in the line: the current one before it
	unread  []int32   // by write: how many operations still read it
	start   []int32   // by key: how many still read its start
	locked  [][]int32 // by key: writes that wait for a reader
	reads   []int32
	line    []int32
	at      []int32 // by operation: its place in the line; -1: none
	synced  int     // the line obeys the changes before it in the trail
	undone  int     // operations that were taken back
}

func (w *web) newScheduler() *scheduler {
	n := len(w.op)
	s := &scheduler{walk: w.newWalk(w.weights()), current: filled(w.keys, fromStart), was: make([]int32, n), unread: make([]int32, n),
		start: make([]int32, w.keys), locked: make([][]int32, w.keys), line: make([]int32, 0, n), at: filled(n, -1)}
	for x, from := range w.source {
		switch {
		case from >= 0:
			s.unread[from]++
		case from == fromStart:
			s.start[w.key[x]]++
		}
	}
	return s
}

// weights tell about where an operation comes in an order: how many are known
// to come before it, less how many are known to come after.
func (w *web) weights() []int64 {
	weight := make([]int64, len(w.op))
	for x := range w.op {
		for _, count := range w.rowOf(int32(x)) {
			weight[x] += int64(count)
		}
	}
	for j, chain := range w.chains {
		for _, other := range w.chains {
			next := 0 // the first of other that comes after x
			for _, x := range chain {
				for next < len(other) && w.rowOf(other[next])[j] <= w.pos[x] {
					next++
				}
				weight[x] -= int64(len(other) - next)
			}
		}
	}
	return weight
}

// schedule goes on until all operations are placed, or returns two writes of a
// key such that the second is placed and the first waits because of that.
func (s *scheduler) schedule() (a, b int32) {
	s.revise()
	for {
		for len(s.reads) > 0 {
			x := s.reads[len(s.reads)-1]
			s.reads = s.reads[:len(s.reads)-1]
			s.put(x)
		}
		if len(s.ready) == 0 {
			break
		}
		if x := s.pop(); s.open(x) {
			s.put(x)
		} else {
			s.locked[s.key[x]] = append(s.locked[s.key[x]], x)
		}
	}
	return s.stuck()
}

// revise takes back the end of the line, from the first operation on that has
// to wait for another by what became known since, and looks at all heads anew.
func (s *scheduler) revise() {
	cut := len(s.line)
	c := len(s.chains)
	for _, change := range s.trail[s.synced:] {
		if i := s.at[change.at/c]; i >= 0 && int(i) < cut {
			before := s.chains[change.at%c][s.row[change.at]-1]
			if s.at[before] < 0 || s.at[before] > i {
				cut = int(i)
			}
		}
	}
	s.synced = len(s.trail)
	s.undone += len(s.line) - cut
	for len(s.line) > cut {
		s.unput(s.line[len(s.line)-1])
	}
	s.ready, s.reads = s.ready[:0], s.reads[:0]
	for k := range s.locked {
		s.locked[k] = s.locked[k][:0]
	}
	s.enter(s.freed)
}

// unput takes back the operation that was placed last.
func (s *scheduler) unput(x int32) {
	s.line = s.line[:len(s.line)-1]
	s.at[x] = -1
	s.placed[s.chain[x]]--
	key := s.key[x]
	if s.writes(x) {
		s.current[key] = s.was[x]
	}
	if s.source[x] != fromNobody {
		*s.pending(key)++
	}
}

// freed takes an operation that nothing but its key holds back.
func (s *scheduler) freed(x int32) {
	if s.writes(x) {
		s.push(x)
	} else {
		s.reads = append(s.reads, x)
	}
}

// pending is how many operations still read the value that is there.
func (s *scheduler) pending(key int32) *int32 {
	if c := s.current[key]; c >= 0 {
		return &s.unread[c]
	}
	return &s.start[key]
}

// open reports whether the value that x overwrites is read by nobody else any
// more.
func (s *scheduler) open(x int32) bool {
	mine := int32(0)
	if s.source[x] != fromNobody {
		mine = 1
		if s.source[x] != s.current[s.key[x]] {
			return false
		}
	}
	return *s.pending(s.key[x]) == mine
}

// put places an operation.
func (s *scheduler) put(x int32) {
	s.at[x] = int32(len(s.line))
	s.line = append(s.line, x)
	key := s.key[x]
	if s.source[x] != fromNobody {
		n := s.pending(key)
		if *n--; *n <= 1 {
			s.unlock(key)
		}
	}
	if s.writes(x) {
		s.was[x], s.current[key] = s.current[key], x
		s.unlock(key)
	}
	s.step(x, s.freed)
}

func (s *scheduler) unlock(key int32) {
	for _, x := range s.locked[key] {
		s.push(x)
	}
	s.locked[key] = s.locked[key][:0]
}

// stuck finds the write that waits for its key and was invoked first, with the
// write that it waits for.
func (s *scheduler) stuck() (a, b int32) {
	a, b = -1, -1
	for key, list := range s.locked {
		for _, x := range list {
			if c := s.current[key]; c >= 0 && s.source[x] != c && !s.before(c, x) && (a < 0 || s.sooner(x, a)) {
				a, b = x, c
			}
		}
	}
	return a, b
}
