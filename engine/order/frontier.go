package order

// Frontier is a placed set under a Graph, with what may come next. Place and
// Unplace must be nested like brackets.
type Frontier struct {
	g       *Graph
	Pos     []int32 // by chain: how many of its operations are placed
	Placed  []bool  // by operation
	Left    int     // required operations not yet placed
	dropped []int32 // by bridge: placed operations that come after it; nil: there are no bridges
	first   [][]int32
}

// NewFrontier returns the frontier of the empty set.
func (g *Graph) NewFrontier() *Frontier {
	f := &Frontier{g: g, Pos: make([]int32, len(g.Chains)), Placed: make([]bool, g.N)}
	if g.bridges != nil {
		f.dropped = make([]int32, g.N)
	}
	for _, ch := range g.Chains {
		f.Left += len(ch)
	}
	f.first = make([][]int32, len(g.clocks))
	for i, c := range g.clocks {
		f.first[i] = make([]int32, len(c.groups))
	}
	return f
}

// Head returns the first operation of chain j that is not placed, or -1.
func (f *Frontier) Head(j int) int32 {
	if ch := f.g.Chains[j]; int(f.Pos[j]) < len(ch) {
		return ch[f.Pos[j]]
	}
	return -1
}

// Ready reports whether x may come next: it is not placed or dropped, and
// every required operation before it is placed. Unplaced optional operations
// before it would be dropped.
func (f *Frontier) Ready(x int32) bool {
	if f.Placed[x] || f.Dropped(x) {
		return false
	}
	if ch := f.g.chain[x]; ch >= 0 && f.Pos[ch] != f.g.pos[x] {
		return false
	}
	for i, c := range f.g.clocks {
		if g := c.group[x]; g >= 0 && !f.clockReady(c, f.first[i][g], c.groups[g], x) {
			return false
		}
	}
	if f.g.starts == nil {
		return true
	}
	for _, n := range f.g.starts[x] {
		if f.Pos[n.chain] < n.count {
			return false
		}
	}
	return true
}

// clockReady asks one clock: is x's In at most the smallest Out of the other
// operations that are not placed?
func (f *Frontier) clockReady(c *clockIndex, first int32, ops []int32, x int32) bool {
	if int(first) == len(ops) || c.In[x] <= c.Out[ops[first]] {
		return true
	}
	if ops[first] != x {
		return false
	}
	for _, o := range ops[first+1:] { // x's own Out does not hold x back
		if c.In[x] <= c.Out[o] {
			return true
		}
		if !f.Placed[o] {
			return false
		}
	}
	return true
}

// Strict reports whether x, which is Ready, drops nothing: every operation
// before it is placed or already dropped.
func (f *Frontier) Strict(x int32) bool {
	if f.g.bridges == nil {
		return true
	}
	for _, y := range f.g.bridges[x] {
		if !f.Placed[y] && !f.Dropped(y) {
			return false
		}
	}
	return true
}

// Place puts x, which is Ready, into the set.
func (f *Frontier) Place(x int32) {
	f.Placed[x] = true
	if f.g.bridges != nil {
		for _, y := range f.g.bridges[x] {
			f.dropped[y]++
		}
	}
	if ch := f.g.chain[x]; ch >= 0 {
		f.Pos[ch]++
		f.Left--
	}
	for i, c := range f.g.clocks {
		g := c.group[x]
		if g < 0 || c.rank[x] != f.first[i][g] {
			continue
		}
		ops, k := c.groups[g], c.rank[x]
		for int(k) < len(ops) && f.Placed[ops[k]] {
			k++
		}
		f.first[i][g] = k
	}
}

// Unplace takes x, the last operation placed, out again.
func (f *Frontier) Unplace(x int32) {
	f.Placed[x] = false
	if f.g.bridges != nil {
		for _, y := range f.g.bridges[x] {
			f.dropped[y]--
		}
	}
	if ch := f.g.chain[x]; ch >= 0 {
		f.Pos[ch]--
		f.Left++
	}
	for i, c := range f.g.clocks {
		if g := c.group[x]; g >= 0 && c.rank[x] >= 0 {
			f.first[i][g] = min(f.first[i][g], c.rank[x])
		}
	}
}

// Dropped reports whether the optional operation y can no longer be placed.
func (f *Frontier) Dropped(y int32) bool {
	return f.dropped != nil && (f.dropped[y] > 0 || f.g.never[y])
}

// Blocker returns an operation that must be placed before x and is not, with
// the source that says so.
func (f *Frontier) Blocker(x int32) (op int32, s Source, ok bool) {
	for a := range int32(f.g.N) {
		if a != x && !f.Placed[a] && !f.g.Optional[a] {
			if s, ok := f.g.Edge(a, x); ok {
				return a, s, true
			}
		}
	}
	return -1, Source{}, false
}
