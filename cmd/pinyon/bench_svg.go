package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// line is one line of a plot.
type line struct {
	name   string
	points [][2]float64 // sorted by x
}

const (
	plotWide, plotHigh     = 860, 460
	plotLeft, plotRight    = 70, 330 // room for the axis, and for the legend
	plotTop, plotBottom    = 40, 50
	plotCircle             = 3
	plotLegend, plotLetter = 16, 12
)

// plotColors differ in lightness too.
var plotColors = []string{"#0b5394", "#cc5500", "#38761d", "#990000", "#674ea7", "#7f6000", "#0097a7", "#c27ba0", "#444444", "#999999"}

// plotOf plots the time of the cases of a suite that are points of a line,
// against their clients or their operations; "" where no line has two points.
func plotOf(axis, title string, rows []benchRow) string {
	lines := map[string][][2]float64{}
	for i := range rows {
		r := &rows[i]
		x := r.place(axis)
		if r.line == "" || x == 0 {
			continue
		}
		lines[r.line] = append(lines[r.line], [2]float64{x, median(r.ours, cpuOf)})
		if len(r.theirs) > 0 && verdictOf(r.theirs) != "unknown" {
			name := "rival: " + r.line
			lines[name] = append(lines[name], [2]float64{x, median(r.theirs, cpuOf)})
		}
	}
	var list []line
	for name, points := range lines {
		slices.SortFunc(points, func(a, b [2]float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
		if points[0][0] < points[len(points)-1][0] {
			list = append(list, line{name, points})
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.SortFunc(list, func(a, b line) int { return cmp.Compare(a.name, b.name) })
	return plot(title+": CPU seconds of a check against "+axis, axis, list)
}

// place is where a case stands on an axis; 0: nowhere.
func (r *benchRow) place(axis string) float64 {
	switch s := r.job.Shape; {
	case s != nil && axis == "operations":
		return float64(s.Ops)
	case s != nil:
		return float64(s.Clients)
	case axis == "clients":
		return float64(r.clients)
	}
	return 0
}

// scale maps numbers to places on a logarithmic axis.
type scale struct {
	low, high  float64 // logarithms
	from, step float64 // places
}

// scaleOf spans the values of a coordinate.
func scaleOf(lines []line, coordinate int, from, to float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.points {
			v := math.Log10(max(p[coordinate], 1e-6))
			low, high = min(low, v), max(high, v)
		}
	}
	if coordinate == 1 { // whole decades
		low, high = math.Floor(low), math.Ceil(high)
	}
	if high == low {
		high++
	}
	return scale{low, high, from, (to - from) / (high - low)}
}

func (s scale) at(v float64) float64 { return s.from + (math.Log10(max(v, 1e-6))-s.low)*s.step }

// plot draws lines on two logarithmic axes.
func plot(title, axis string, lines []line) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="%d">`+"\n",
		plotWide, plotHigh, plotWide, plotHigh, plotLetter)
	fmt.Fprintf(&b, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"%d\" y=\"20\" font-size=\"14\">%s</text>\n", plotLeft, html.EscapeString(title))
	x := scaleOf(lines, 0, plotLeft, plotWide-plotRight)
	y := scaleOf(lines, 1, plotHigh-plotBottom, plotTop)
	for e := y.low; e <= y.high; e++ {
		at := y.at(math.Pow(10, e))
		fmt.Fprintf(&b, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			plotLeft, at, plotWide-plotRight, plotLeft-6, at+4, math.Pow(10, e))
	}
	for _, v := range ticks(lines) {
		fmt.Fprintf(&b, "<path d=\"M%.1f %dV%d\" stroke=\"#eee\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
			x.at(v), plotTop, plotHigh-plotBottom, x.at(v), plotHigh-plotBottom+16, v)
	}
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (plotLeft+plotWide-plotRight)/2, plotHigh-12, axis)
	for i, l := range lines {
		drawLine(&b, i, l, x, y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// ticks are the values of the horizontal axis that occur, those too near to
// the one before left out.
func ticks(lines []line) (list []float64) {
	for _, l := range lines {
		for _, p := range l.points {
			list = append(list, p[0])
		}
	}
	slices.Sort(list)
	last := 0.0
	return slices.DeleteFunc(slices.Compact(list), func(v float64) bool {
		if last > 0 && v < last*1.15 {
			return true
		}
		last = v
		return false
	})
}

func drawLine(b *strings.Builder, i int, l line, x, y scale) {
	color, dash := plotColors[i%len(plotColors)], ""
	if strings.HasPrefix(l.name, "rival") {
		dash = ` stroke-dasharray="5 4"`
	}
	var path strings.Builder
	for k, p := range l.points {
		fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(k, 1)], x.at(p[0]), y.at(p[1]))
	}
	fmt.Fprintf(b, "<path d=%q fill=\"none\" stroke=%q stroke-width=\"1.6\"%s/>\n", path.String(), color, dash)
	for _, p := range l.points {
		fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=%q/>\n", x.at(p[0]), y.at(p[1]), plotCircle, color)
	}
	at := plotTop + 10 + i*plotLegend
	left := plotWide - plotRight + 16
	fmt.Fprintf(b, "<path d=\"M%d %dh20\" stroke=%q stroke-width=\"1.6\"%s/><text x=\"%d\" y=\"%d\">%s</text>\n",
		left, at, color, dash, left+26, at+4, html.EscapeString(l.name))
}
