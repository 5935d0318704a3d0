package paths

import (
	"fmt"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// effects is what the Machine knows of its object beyond its steps; nil for a
// Machine of another kind.
func (p *Problem) effects() spec.Effects {
	e, _ := p.Machine.(spec.Effects)
	return e
}

// several reports whether the operations are of several keys.
func (p *Problem) several() bool {
	for _, k := range p.Rules.View.Key {
		if k != p.Rules.View.Key[0] {
			return true
		}
	}
	return false
}

const (
	reasonKeys  = "there are several keys"
	reasonOrder = "the hard order is not one interval order"
	reasonOther = "an operation does what the path does not know"
)

// acceptLine turns a line into an answer, after it was checked: every required
// operation stands in it once, none before one that it must follow, and it is
// legal. plain performs it on the object as the path understands it and returns
// how many operations were legal; up to maxReplay operations the model does,
// too.
func (p *Problem) acceptLine(h *hardOrder, line []int32, plain func(line []int32) int) Answer {
	broken := func(format string, args ...any) Answer {
		return Answer{Kind: spec.Unknown, Reason: "the order that it found does not hold: " + fmt.Sprintf(format, args...), Broken: true}
	}
	seen := make([]bool, p.Rules.View.N)
	for _, x := range line {
		if seen[x] {
			return broken("operation %d stands twice", x)
		}
		seen[x] = true
	}
	for x, info := range p.Rules.View.Info {
		if !info && !seen[x] {
			return broken("operation %d is missing", x)
		}
	}
	if !h.obeyed(line) {
		return broken("hard order is not obeyed")
	}
	at := plain(line)
	if at == len(line) && at <= maxReplay {
		at = p.effects().Replay(line)
	}
	if at < len(line) {
		return broken("operation %d is not legal", line[at])
	}
	return Answer{Kind: spec.Consistent, Witness: line}
}

// intervalOrder is the hard order of a path that needs an interval order.
func (p *Problem) intervalOrder() *hardOrder {
	in, out, _ := p.Intervals()
	return &hardOrder{clocks: []*order.Clock{{In: in, Out: out}}}
}

// mergedBySlot merges lines whose operations have slots, none before the last of its
// line: lines of objects that do not see each other.
func mergedBySlot(lines []int32, slot []int64) []int32 {
	order.SortBy(lines, slot)
	return lines
}

// deadlines is a heap of operations, the one that is over first on top, equal
// ones by position.
type deadlines struct {
	out []int64
	ops []int32
}

func (d *deadlines) less(i, j int) bool {
	a, b := d.ops[i], d.ops[j]
	return d.out[a] < d.out[b] || d.out[a] == d.out[b] && a < b
}

func (d *deadlines) push(x int32) {
	d.ops = append(d.ops, x)
	for k := len(d.ops) - 1; k > 0 && d.less(k, (k-1)/2); k = (k - 1) / 2 {
		d.ops[k], d.ops[(k-1)/2] = d.ops[(k-1)/2], d.ops[k]
	}
}

// pop takes the first out, of one or more.
func (d *deadlines) pop() int32 {
	first, last := d.ops[0], len(d.ops)-1
	d.ops[0] = d.ops[last]
	d.ops = d.ops[:last]
	for k := 0; ; {
		c := 2*k + 1
		if c+1 < last && d.less(c+1, c) {
			c++
		}
		if c >= last || !d.less(c, k) {
			return first
		}
		d.ops[k], d.ops[c] = d.ops[c], d.ops[k]
		k = c
	}
}
