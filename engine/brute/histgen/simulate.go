package histgen

import (
	"slices"

	"pinyon/engine/history"
)

// simulate gives the operations their answers, by performing them in a random
// order, and returns that order: indexes into Raw.Ops, without the operations
// that never happened.
func (g *Gen) simulate(c *Case) (order []int) {
	raw := c.Raw
	timely := !g.chance(1, 4) // real time decides, not only sessions
	stale := g.chance(1, 6)   // some reads see older versions
	var pending []int
	for i := range raw.Ops {
		if o := raw.Ops[i].Outcome; o == history.OK || o == history.Info && g.chance(1, 2) {
			pending = append(pending, i)
		}
	}
	versions := map[string][]*object{}
	for len(pending) > 0 {
		at := g.ready(raw, pending, timely, func(i int) bool {
			op := &raw.Ops[i]
			_, ok := latest(versions, c, op.Key).clone().apply(c.Model, op.F, op.In)
			return ok
		})
		i := pending[at]
		pending = slices.Delete(pending, at, at+1)
		op := &raw.Ops[i]
		state := latest(versions, c, op.Key).clone()
		g.fit(op, state.val)
		out, ok := state.apply(c.Model, op.F, op.In)
		if !ok && op.Outcome == history.Info {
			continue
		}
		if past := versions[op.Key]; stale && reads(op.F) && g.chance(1, 2) {
			out, _ = past[g.r.IntN(len(past))].clone().apply(c.Model, op.F, op.In)
		}
		if !reads(op.F) {
			versions[op.Key] = append(versions[op.Key], state)
		}
		order = append(order, i)
		optional := c.Model == "set" && op.F == "add" || c.Model == "log" && op.F == "append"
		if op.Outcome == history.OK && !(optional && g.chance(1, 2)) {
			op.Out = out
		}
	}
	return order
}

func latest(versions map[string][]*object, c *Case, key string) *object {
	if versions[key] == nil {
		versions[key] = []*object{newObject(c.Model, c.Raw.Header.Initial)}
	}
	return versions[key][len(versions[key])-1]
}

// fit makes an answered cas of a register-like history one that succeeds where
// its key holds val.
func (g *Gen) fit(op *history.Op[history.Value, history.Value], val history.Value) {
	if !g.o.RegisterLike || op.F != "cas" || op.Outcome == history.Info {
		return
	}
	pair, _ := op.In.Elems()
	op.In = history.Array(orNull(val), pair[1])
}

// reads reports whether f never changes an object.
func reads(f string) bool { return f == "read" || f == "get" || f == "peek" || f == "contains" }

// ready chooses one of the pending operations that no other must precede, if
// it can one that is possible, and returns its place in pending.
func (g *Gen) ready(raw *history.Raw, pending []int, timely bool, possible func(i int) bool) int {
	var all, good []int
	for at, x := range pending {
		free := true
		for _, p := range pending {
			free = free && (p == x || !precedes(raw, p, x, timely))
		}
		if free {
			all = append(all, at)
			if possible(x) {
				good = append(good, at)
			}
		}
	}
	if len(good) > 0 {
		all = good
	}
	if len(all) == 0 {
		return 0
	}
	return all[g.r.IntN(len(all))]
}

// precedes reports whether a comes before b in its process, or in time. It
// only shapes what is generated: nothing depends on its being exact.
func precedes(raw *history.Raw, a, b int, timely bool) bool {
	x, y := &raw.Ops[a], &raw.Ops[b]
	if x.Outcome == history.Info {
		return false
	}
	if raw.Order == history.ByLine {
		return (timely || x.Process == y.Process) && raw.Origins[a].DoneSeq < raw.Origins[b].Seq
	}
	if x.Process == y.Process && y.Outcome == history.Info {
		return true // it was the last of its process
	}
	instants := x.Invoke == x.Return && y.Invoke == y.Return && y.Outcome != history.Info
	if x.Process == y.Process {
		return x.Return < y.Invoke || x.Return == y.Invoke && (!instants || a < b)
	}
	return timely && (x.Return < y.Invoke ||
		raw.Header.Ties == history.TiesPrecede && x.Return == y.Invoke && !instants)
}

// mutate changes up to three answers.
func (g *Gen) mutate(c *Case) {
	var answered []int
	for i := range c.Raw.Ops {
		if c.Raw.Ops[i].Out != history.Absent {
			answered = append(answered, i)
		}
	}
	if len(answered) == 0 {
		return
	}
	if g.o.Weak && g.chance(2, 5) {
		return // the store alone has made it strange enough
	}
	for range []int{0, 0, 0, 0, 1, 1, 1, 2, 2, 3}[g.r.IntN(10)] {
		op := &c.Raw.Ops[answered[g.r.IntN(len(answered))]]
		other := &c.Raw.Ops[answered[g.r.IntN(len(answered))]]
		if g.o.RegisterLike && op.F == "cas" {
			pair, _ := op.In.Elems()
			g.fit(op, g.another(c.Model, op.F, pair[g.r.IntN(2)]))
			continue
		}
		if op.F == other.F && op.Out != other.Out {
			op.Out = other.Out
			continue
		}
		op.Out = g.another(c.Model, op.F, op.Out)
	}
}

// another returns an answer of the same type as out, a plausible one.
func (g *Gen) another(model, f string, out history.Value) history.Value {
	if b, ok := out.Bool(); ok {
		return history.Bool(!b)
	}
	if elems, ok := out.Elems(); ok {
		v := history.Int(int64(1 + g.r.IntN(3)))
		switch {
		case len(elems) > 0 && g.chance(1, 2):
			elems = elems[:len(elems)-1]
		case model == "log" || !slices.Contains(elems, v):
			elems = append(elems, v)
		}
		return history.Array(elems...)
	}
	if s, ok := out.Str(); ok {
		if len(s) > 1 && g.chance(1, 2) {
			return history.String(s[1:])
		}
		return history.String(s + string(rune('a'+g.r.IntN(2))))
	}
	if out != history.Null && model != "counter" && f != "add" && f != "append" && g.chance(1, 3) {
		return history.Null
	}
	n, _ := out.Int64()
	if g.chance(1, 2) {
		return history.Int(max(0, n-1))
	}
	return history.Int(1 + int64(g.r.IntN(4)))
}

// edges adds hard edges, most of them along the order that was simulated.
func (g *Gen) edges(c *Case, order []int) {
	n := len(c.Raw.Ops)
	if n < 2 || g.chance(1, 2) {
		return
	}
	all := g.everyone(n, order)
	strange := g.chance(1, 4) // edges that come from anywhere
	for range 1 + g.r.IntN(n) {
		i, j := g.r.IntN(n), g.r.IntN(n)
		if i == j {
			continue
		}
		if !strange {
			i, j = min(i, j), max(i, j)
		}
		c.Edges = append(c.Edges, [2]int{all[i], all[j]})
	}
}

// everyone is order with the operations that it misses, anywhere.
func (g *Gen) everyone(n int, order []int) []int {
	all := slices.Clone(order)
	for i := range n {
		if !slices.Contains(order, i) {
			all = slices.Insert(all, g.r.IntN(len(all)+1), i)
		}
	}
	return all
}

// hints gives operations the integer hint h: their place in the order that was
// simulated, coarse, missing on some, and in one history of four wrong on some.
func (g *Gen) hints(raw *history.Raw, order []int) {
	if g.chance(1, 2) {
		return
	}
	coarse, wrong := 1+g.r.IntN(3), g.chance(1, 4)
	for place, i := range g.everyone(len(raw.Ops), order) {
		h := int64(place / coarse)
		if wrong && g.chance(1, 4) {
			h = int64(g.r.IntN(len(raw.Ops)))
		}
		if !g.chance(1, 4) {
			raw.Ops[i].Hints = []history.Hint{{Name: "h", Value: history.Int(h)}}
		}
	}
}
