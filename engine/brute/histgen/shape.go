package histgen

import (
	"slices"

	"pinyon/engine/history"
)

// intervals appends n operations with processes, times and outcomes, those of
// a process in their order.
func (g *Gen) intervals(raw *history.Raw, n int) {
	lanes := make([]int, 1+g.r.IntN(g.o.Processes)) // operations by client
	mostlyOne := g.o.Squeezed && g.chance(2, 3)
	for range n {
		lane := g.r.IntN(len(lanes))
		if mostlyOne && g.chance(2, 3) {
			lane = 0
		}
		lanes[lane]++
	}
	span, zero := 3+g.r.IntN(2*n+6), 6
	unanswered := []int{0, 1, 2, 3}[g.r.IntN(4)] // of 12
	if g.o.Weak && g.chance(1, 2) {
		unanswered = 0
	}
	if g.o.Squeezed {
		span, zero = 2+g.r.IntN(3), 2
		unanswered = []int{1, 4, 8}[g.r.IntN(3)]
	}
	process := len(lanes)
	for lane, count := range lanes {
		p := lane
		for _, at := range g.times(count, span) {
			op := history.Op[history.Value, history.Value]{Process: p, Invoke: at[0], Return: at[1]}
			if g.chance(1, zero) {
				op.Return = op.Invoke
			}
			switch {
			case g.chance(unanswered, 12):
				op.Outcome, op.Return = history.Info, 0
				p = process // the client goes on as another process
				process++
			case g.chance(1, 14):
				op.Outcome = history.Fail
			}
			raw.Ops = append(raw.Ops, op)
		}
	}
}

// times returns count intervals that do not overlap, in order.
func (g *Gen) times(count, span int) [][2]int64 {
	ends := make([]int64, 2*count)
	for i := range ends {
		ends[i] = int64(g.r.IntN(span))
	}
	slices.Sort(ends)
	at := make([][2]int64, count)
	for i := range at {
		at[i] = [2]int64{ends[2*i], ends[2*i+1]}
	}
	return at
}

// keys gives each operation its key, so that one key is the most frequent case.
func (g *Gen) keys(raw *history.Raw) {
	names := []string{"x", "y", "z", "k3", "k4", "k5", "k6", "k7", "k8"}
	count := 1
	switch {
	case g.o.ManyKeys && !g.chance(1, 6):
		count = 2 + g.r.IntN(max(1, min(g.o.MaxKeys, len(names))-1))
	case g.chance(1, 2):
		count = 1 + g.r.IntN(min(g.o.MaxKeys, len(names)))
	}
	if count == 1 && g.chance(1, 2) {
		return // the key "": there is one object
	}
	for i := range raw.Ops {
		raw.Ops[i].Key = names[g.r.IntN(count)]
	}
}

// crowded reports whether two operations of one key take no time at the same
// instant, which TiesPrecede does not allow.
func crowded(raw *history.Raw) bool {
	type place struct {
		key string
		at  int64
	}
	taken := map[place]bool{}
	for i := range raw.Ops {
		op := &raw.Ops[i]
		if op.Outcome == history.Info || op.Invoke != op.Return {
			continue
		}
		if p := (place{op.Key, op.Invoke}); taken[p] {
			return true
		} else {
			taken[p] = true
		}
	}
	return false
}

// lines writes the operations as events on lines, in the order of their times,
// events at one instant in any order that their processes allow.
func (g *Gen) lines(raw *history.Raw) {
	raw.Origins = make([]history.Origin, len(raw.Ops))
	next := make([]int, len(raw.Ops)) // events written: 0, 1 the call, 2 both
	for seq := int32(0); ; {
		var ready []int
		at := int64(0)
		for i := range raw.Ops {
			op := &raw.Ops[i]
			when := op.Invoke
			if next[i] == 1 && op.Outcome != history.Info {
				when = op.Return
			}
			done := next[i] == 2 || next[i] == 1 && op.Outcome == history.Info
			// The operations of a process still stand in their order.
			waits := i > 0 && raw.Ops[i-1].Process == op.Process && next[i-1] < 2
			if done || waits {
				continue
			}
			if len(ready) == 0 || when < at {
				ready, at = ready[:0], when
			}
			if when == at {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			return
		}
		i := ready[g.r.IntN(len(ready))]
		o := &raw.Origins[i]
		if next[i]++; next[i] == 1 {
			o.Line, o.Seq, o.DoneSeq = seq+1, seq, -1
		} else {
			o.DoneLine, o.DoneSeq = seq+1, seq
		}
		seq++
	}
}
