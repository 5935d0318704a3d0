package main

import (
	"fmt"
	"html"
	"strings"

	"pinyon/consistency"
)

const (
	lineHeight = 15
	boxPad     = 7
	layerGap   = 46
	margin     = 20
	legendWide = 1180
)

// chartStyle keeps to colours that differ in lightness too, on white and on
// black.
const chartStyle = `<style>
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1b1f24; }
.paper { fill: #ffffff; }
.edge { fill: none; stroke: #6e7781; stroke-width: 1.2; }
.blind { stroke-dasharray: 5 4; }
.box { stroke: #57606a; stroke-width: 1; }
.local { fill: #d3f0d9; }
.order { fill: #d6e6fb; }
.views { fill: #fbe3c4; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f3f6; }
.paper { fill: #0d1117; }
.edge { stroke: #9198a1; }
.box { stroke: #9198a1; }
.local { fill: #1d4428; }
.order { fill: #1c3a5e; }
.views { fill: #5a3a10; }
}
</style>
`

// kindClass is the class of a node's box, and what the legend says of it.
var kindClass = map[consistency.LevelKind][2]string{
	consistency.LocalKind:    {"local", "local: keys are decided apart"},
	consistency.OneOrderKind: {"order", "one order of all operations, across keys"},
	consistency.ViewsKind:    {"views", "an order for each process, or of writes alone"},
}

// labelLines is a node's text: a line for each level, those with parameters cut
// at the colon and at each plus between guarantees.
func labelLines(n consistency.ChartNode) (lines []string) {
	for i, name := range n.Levels {
		prefix := ""
		if i > 0 {
			prefix = "= "
		}
		name = strings.ReplaceAll(name, "T+", "T′")
		base, params, _ := strings.Cut(name, ":")
		if params == "" {
			lines = append(lines, prefix+base)
			continue
		}
		if !strings.Contains(params, "=") { // words, one on each line
			lines = append(lines, prefix+base+":")
			lines = append(lines, strings.Split(params, "+")...)
			continue
		}
		if len(base) > 18 {
			lines = append(lines, prefix+base+":", params)
		} else {
			lines = append(lines, prefix+base+":"+params)
		}
	}
	return lines
}

// chartSVG draws the hierarchy of levels, stronger ones higher.
func chartSVG() (string, error) {
	c, err := consistency.DrawChart()
	if err != nil {
		return "", err
	}
	l := layOut(c)
	top := make([]int, len(l.layers)+1) // y of each layer, and of the legend
	tall := make([]int, len(l.layers))
	width := legendWide
	for i, layer := range l.layers {
		for _, b := range layer {
			tall[i] = max(tall[i], len(l.boxes[b].lines)*lineHeight+2*boxPad)
			width = max(width, l.boxes[b].x+l.boxes[b].width/2)
		}
		top[i+1] = top[i] + tall[i] + layerGap
	}
	var b strings.Builder
	legend := top[len(l.layers)] + margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="The hierarchy of consistency levels, stronger ones higher">`+"\n",
		width+2*margin, legend+3*lineHeight+margin)
	b.WriteString(chartStyle)
	fmt.Fprintf(&b, `<rect class="paper" width="100%%" height="100%%"/>`+"\n"+`<g transform="translate(%d %d)">`+"\n", margin, margin)
	for i, e := range c.Edges {
		drawEdge(&b, l, l.routes[i], e.Blind, top, tall)
	}
	for i := range l.boxes {
		if l.boxes[i].node >= 0 {
			drawBox(&b, &l.boxes[i], kindClass[c.Nodes[l.boxes[i].node].Kind][0], top[l.boxes[i].layer], tall[l.boxes[i].layer])
		}
	}
	drawLegend(&b, legend-margin)
	b.WriteString("</g>\n</svg>\n")
	return b.String(), nil
}

// drawEdge bends between layers and is straight where it passes one. It starts
// and ends at its nodes' boxes, which stand in the middle of their layers.
func drawEdge(b *strings.Builder, l *layout, route []int, blind bool, top, tall []int) {
	class := "edge"
	if blind {
		class += " blind"
	}
	half := func(x *box) int { return (len(x.lines)*lineHeight + 2*boxPad) / 2 }
	first := &l.boxes[route[0]]
	y := top[first.layer] + tall[first.layer]/2 + half(first)
	fmt.Fprintf(b, `<path class="%s" d="M%d %d`, class, first.x, y)
	for _, n := range route[1:] {
		x := &l.boxes[n]
		end := top[x.layer]
		if x.node >= 0 {
			end += tall[x.layer]/2 - half(x)
		}
		middle := (y + end) / 2
		fmt.Fprintf(b, " C%d %d %d %d %d %d", l.boxes[route[0]].x, middle, x.x, middle, x.x, end)
		route = route[1:]
		if y = end; x.node < 0 {
			y = top[x.layer] + tall[x.layer]
			fmt.Fprintf(b, " V%d", y)
		}
	}
	b.WriteString("\"/>\n")
}

func drawBox(b *strings.Builder, x *box, class string, top, tall int) {
	height := len(x.lines)*lineHeight + 2*boxPad
	y := top + (tall-height)/2
	fmt.Fprintf(b, `<rect class="box %s" x="%d" y="%d" width="%d" height="%d" rx="5"/>`+"\n", class, x.x-x.width/2, y, x.width, height)
	for i, line := range x.lines {
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", x.x, y+boxPad+(i+1)*lineHeight-4, html.EscapeString(line))
	}
}

func drawLegend(b *strings.Builder, y int) {
	x := 0
	for _, kind := range []consistency.LevelKind{consistency.LocalKind, consistency.OneOrderKind, consistency.ViewsKind} {
		class := kindClass[kind]
		fmt.Fprintf(b, `<rect class="box %s" x="%d" y="%d" width="22" height="14" rx="3"/>`+"\n"+`<text x="%d" y="%d">%s</text>`+"\n",
			class[0], x, y, x+30, y+11, class[1])
		x += 30 + len(class[1])*charWidth + 26
	}
	for i, line := range []string{
		"A line: whatever the upper level allows, the lower one allows. K ≥ 2 versions, T > 0, T′ > T.",
		"Broken: only where no operation reads and writes at once, such as a compare-and-set.",
	} {
		class := [2]string{"edge", "edge blind"}[i]
		at := y + 13 + (i+1)*lineHeight + 2
		fmt.Fprintf(b, `<path class="%s" d="M0 %dH22"/>`+"\n"+`<text x="30" y="%d">%s</text>`+"\n", class, at-4, at, line)
	}
}
