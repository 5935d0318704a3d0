package order

import "slices"

// Link is one edge of a cycle with the source that says so.
type Link struct {
	From, To int32
	Source   Source
}

// Cycle looks for a circle of hard edges through a required operation, which
// no order can obey. It returns nil where there is none, and otherwise a circle
// that has no shortcut among its own operations. Cycles of optional operations
// alone only keep those from ever being placed.
//
// It places whatever is ready until nothing is (Kahn, 1962, with implicit
// clocks): what is then left has a predecessor that is left, so walking back
// must close a circle.
func (g *Graph) Cycle() []Link {
	f := g.NewFrontier()
	f.placeReady(nil)
	if f.Left == 0 {
		return nil
	}
	start := int32(-1)
	for j := range g.Chains {
		if x := f.Head(j); x >= 0 {
			start = x
			break
		}
	}
	return g.links(g.shorten(g.walk(f, start)))
}

// placeReady places required operations until none is ready.
func (f *Frontier) placeReady(each func(x int32)) {
	for progress := true; progress; {
		progress = false
		for j := range f.g.Chains {
			for x := f.Head(j); x >= 0 && f.Ready(x); x = f.Head(j) {
				f.Place(x)
				progress = true
				if each != nil {
					each(x)
				}
			}
		}
	}
}

// walk steps from x to predecessors that are left until one repeats; optional
// operations count, as order is closed over them.
func (g *Graph) walk(f *Frontier, x int32) []int32 {
	seen := map[int32]int{}
	var path []int32
	for {
		if at, ok := seen[x]; ok {
			circle := slices.Clone(path[at:])
			slices.Reverse(circle)
			return circle
		}
		seen[x] = len(path)
		path = append(path, x)
		x = g.leftBefore(f, x)
	}
}

// leftBefore returns an operation that is left and precedes x directly. A
// required one is preferred; an optional one must itself be held back by a
// required one, so the walk ends in a circle with a required operation.
func (g *Graph) leftBefore(f *Frontier, x int32) int32 {
	if a, _, ok := f.Blocker(x); ok {
		return a
	}
	// x is held back through optional operations only: find the path to the
	// nearest required one that is left, and take its first step.
	from := map[int32]int32{x: -1}
	queue := []int32{x}
	for len(queue) > 0 {
		y := queue[0]
		queue = queue[1:]
		for a := range int32(g.N) {
			if _, ok := from[a]; ok && a != x || f.Placed[a] || a == y || !g.Precedes(a, y) {
				continue
			}
			if !g.Optional[a] {
				for from[y] >= 0 && from[y] != x {
					y = from[y]
				}
				if y == x {
					return a
				}
				return y
			}
			from[a] = y
			queue = append(queue, a)
		}
	}
	return x
}

// shorten cuts shortcuts out of a circle: it is the shortest circle among the
// operations of the first that goes through a required one.
func (g *Graph) shorten(circle []int32) []int32 {
	best := circle
	for _, start := range circle {
		if g.Optional[start] {
			continue
		}
		if c := g.shortest(circle, start); c != nil && len(c) < len(best) {
			best = c
		}
	}
	return best
}

// shortest finds by breadth-first search the shortest circle through start
// among ops.
func (g *Graph) shortest(ops []int32, start int32) []int32 {
	from := map[int32]int32{}
	queue := []int32{start}
	for len(queue) > 0 {
		a := queue[0]
		queue = queue[1:]
		for _, b := range ops {
			if a == b || !g.Precedes(a, b) {
				continue
			}
			if b == start {
				circle := []int32{a}
				for a != start {
					a = from[a]
					circle = append(circle, a)
				}
				slices.Reverse(circle)
				return circle
			}
			if _, ok := from[b]; !ok {
				from[b] = a
				queue = append(queue, b)
			}
		}
	}
	return nil
}

func (g *Graph) links(circle []int32) []Link {
	links := make([]Link, len(circle))
	for i, a := range circle {
		b := circle[(i+1)%len(circle)]
		s, _ := g.Edge(a, b)
		links[i] = Link{a, b, s}
	}
	return links
}
