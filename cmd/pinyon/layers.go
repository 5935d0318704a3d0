package main

import (
	"slices"

	"pinyon/consistency"
)

// box is a node of the chart in its layer, or the place where an edge passes
// a layer (then it has no lines). Sizes are in pixels; all is whole numbers, so
// that every machine draws the same.
type box struct {
	node     int // in Chart.Nodes; -1: an edge passes
	lines    []string
	layer    int
	width    int
	x        int   // of its middle
	up, down []int // boxes that edges lead to
}

// layout places the chart in layers (Sugiyama, Tagawa, Toda, "Methods for
// Visual Understanding of Hierarchical System Structures", 1981): each node
// below all that are stronger, edges cut at every layer, boxes ordered by the
// mean place of their neighbours.
type layout struct {
	boxes  []box
	layers [][]int
	routes [][]int // by edge: the boxes that it passes, its ends too
}

const (
	charWidth = 7
	boxGap    = 14
	passWidth = 8
	sweeps    = 40
)

func layOut(c *consistency.Chart) *layout {
	l := &layout{}
	depth := depths(c)
	for i, n := range c.Nodes {
		lines := labelLines(n)
		width := 0
		for _, s := range lines {
			width = max(width, len([]rune(s))*charWidth+16)
		}
		l.add(box{node: i, lines: lines, layer: depth[i], width: width})
	}
	for _, e := range c.Edges {
		route := []int{e.From}
		for layer := depth[e.From] + 1; layer < depth[e.To]; layer++ {
			route = append(route, l.add(box{node: -1, layer: layer, width: passWidth}))
		}
		route = append(route, e.To)
		for i := 1; i < len(route); i++ {
			a, b := route[i-1], route[i]
			l.boxes[a].down = append(l.boxes[a].down, b)
			l.boxes[b].up = append(l.boxes[b].up, a)
		}
		l.routes = append(l.routes, route)
	}
	l.order()
	l.place()
	return l
}

// add appends a box to its layer and returns its number.
func (l *layout) add(b box) int {
	for len(l.layers) <= b.layer {
		l.layers = append(l.layers, nil)
	}
	l.boxes = append(l.boxes, b)
	l.layers[b.layer] = append(l.layers[b.layer], len(l.boxes)-1)
	return len(l.boxes) - 1
}

// depths are the longest ways from above, by node.
func depths(c *consistency.Chart) []int {
	depth := make([]int, len(c.Nodes))
	for range c.Nodes { // as many rounds as a way can be long
		for _, e := range c.Edges {
			depth[e.To] = max(depth[e.To], depth[e.From]+1)
		}
	}
	return depth
}

// order sorts each layer by the mean place of the neighbours above, then
// below, and so on, and keeps the order with the fewest crossings. Boxes with
// equal means stay as they are.
func (l *layout) order() {
	best, fewest := l.copyLayers(), l.crossings()
	for sweep := range sweeps {
		for i := range l.layers {
			layer := l.layers[i]
			if sweep%2 == 1 {
				layer = l.layers[len(l.layers)-1-i]
			}
			l.sortLayer(layer, sweep%2 == 0)
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.copyLayers(), n
		}
	}
	l.layers = best
}

func (l *layout) copyLayers() (layers [][]int) {
	for _, layer := range l.layers {
		layers = append(layers, slices.Clone(layer))
	}
	return layers
}

func (l *layout) sortLayer(layer []int, byUpper bool) {
	place := l.places()
	mean := map[int]int{}
	for i, b := range layer {
		neighbours := l.boxes[b].down
		if byUpper {
			neighbours = l.boxes[b].up
		}
		mean[b] = i * 1000
		if len(neighbours) > 0 {
			sum := 0
			for _, n := range neighbours {
				sum += place[n] * 1000
			}
			mean[b] = sum / len(neighbours)
		}
	}
	slices.SortStableFunc(layer, func(a, b int) int { return mean[a] - mean[b] })
}

// places are the positions of all boxes in their layers.
func (l *layout) places() []int {
	place := make([]int, len(l.boxes))
	for _, layer := range l.layers {
		for i, b := range layer {
			place[b] = i
		}
	}
	return place
}

func (l *layout) crossings() (n int) {
	place := l.places()
	for _, layer := range l.layers {
		var ends [][2]int
		for _, b := range layer {
			for _, d := range l.boxes[b].down {
				ends = append(ends, [2]int{place[b], place[d]})
			}
		}
		for i, e := range ends {
			for _, f := range ends[:i] {
				if (e[0]-f[0])*(e[1]-f[1]) < 0 {
					n++
				}
			}
		}
	}
	return n
}

// place chooses where boxes stand: near their neighbours, without changing
// their order.
func (l *layout) place() {
	for _, layer := range l.layers {
		l.pack(layer, func(int) int { return 0 })
	}
	for sweep := range sweeps {
		for i := range l.layers {
			layer := l.layers[i]
			if sweep%2 == 1 {
				layer = l.layers[len(l.layers)-1-i]
			}
			l.pack(layer, l.wanted)
		}
	}
	left := 0
	for _, b := range l.boxes {
		left = min(left, b.x-b.width/2)
	}
	for i := range l.boxes {
		l.boxes[i].x -= left
	}
}

// wanted is the mean of a box's neighbours.
func (l *layout) wanted(b int) int {
	box := &l.boxes[b]
	sum, n := 0, 0
	for _, list := range [][]int{box.up, box.down} {
		for _, other := range list {
			sum += l.boxes[other].x
			n++
		}
	}
	if n == 0 {
		return box.x
	}
	return sum / n
}

// pack puts the boxes of a layer where they want to be, as far as those beside
// them let them: once pushed to the right, once to the left, and the middle of
// both.
func (l *layout) pack(layer []int, wanted func(b int) int) {
	n := len(layer)
	right, left := make([]int, n), make([]int, n)
	apart := func(i int) int { return (l.boxes[layer[i]].width+l.boxes[layer[i+1]].width)/2 + boxGap }
	for i, b := range layer {
		right[i], left[i] = wanted(b), wanted(b)
	}
	for i := 1; i < n; i++ {
		right[i] = max(right[i], right[i-1]+apart(i-1))
	}
	for i := n - 2; i >= 0; i-- {
		left[i] = min(left[i], left[i+1]-apart(i))
	}
	for i, b := range layer {
		l.boxes[b].x = (right[i] + left[i]) / 2
	}
	for i := 1; i < n; i++ { // halving may lose a pixel
		if at := l.boxes[layer[i-1]].x + apart(i-1); l.boxes[layer[i]].x < at {
			l.boxes[layer[i]].x = at
		}
	}
}
