package rule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pinyon/engine/history"
)

// The twin: random conditions, each with a second meaning built while it is
// written down, over operations as plain maps. It shares nothing with the
// compiler but the text.

type twinOp struct {
	ints  map[string]int64
	lists map[string][]int64
	read  bool
}

// meaning is true, false or (known false) unknown.
type meaning func(a, b *twinOp) (truth, known bool)

type twinInt func(a, b *twinOp) (int64, bool)

type twinGen struct{ *rand.Rand }

func (g twinGen) number() int64 {
	return [...]int64{0, 1, 2, 3, -1, math.MinInt64, math.MaxInt64}[g.IntN(7)]
}

func (g twinGen) operand(deep int) (string, twinInt) {
	name, of := "a", func(a, _ *twinOp) *twinOp { return a }
	if g.IntN(2) == 0 {
		name, of = "b", func(_, b *twinOp) *twinOp { return b }
	}
	if deep > 0 && g.IntN(4) == 0 {
		index, meaning := g.operand(deep - 1)
		if g.IntN(2) == 0 {
			k := int64(g.IntN(3))
			index, meaning = fmt.Sprint(k), func(_, _ *twinOp) (int64, bool) { return k, true }
		}
		return name + ".l[" + index + "]", func(a, b *twinOp) (int64, bool) {
			list, ok := of(a, b).lists["l"]
			k, known := meaning(a, b)
			if !ok || !known || k < 0 || k >= int64(len(list)) {
				return 0, false
			}
			return list[k], true
		}
	}
	field := [...]string{"x", "y"}[g.IntN(2)]
	return name + "." + field, func(a, b *twinOp) (int64, bool) {
		n, ok := of(a, b).ints[field]
		return n, ok
	}
}

func (g twinGen) comparison() (string, meaning) {
	if g.IntN(4) == 0 {
		if g.IntN(2) == 0 {
			return `a.kind == "write"`, func(a, _ *twinOp) (bool, bool) { return !a.read, true }
		}
		return `"read" != b.kind`, func(_, b *twinOp) (bool, bool) { return !b.read, true }
	}
	lt, l := g.operand(2)
	rt, r := g.operand(2)
	if g.IntN(4) == 0 {
		k := g.number()
		rt, r = fmt.Sprint(k), func(_, _ *twinOp) (int64, bool) { return k, true }
		if g.IntN(2) == 0 {
			lt, l, rt, r = rt, r, lt, l
		}
	}
	op := [...]string{"<", "<=", ">", ">=", "==", "!="}[g.IntN(6)]
	return lt + " " + op + " " + rt, func(a, b *twinOp) (bool, bool) {
		x, okX := l(a, b)
		y, okY := r(a, b)
		if !okX || !okY {
			return false, false
		}
		switch op {
		case "<":
			return x < y, true
		case "<=":
			return x <= y, true
		case ">":
			return x > y, true
		case ">=":
			return x >= y, true
		case "==":
			return x == y, true
		}
		return x != y, true
	}
}

func (g twinGen) condition(deep int) (string, meaning) {
	if deep == 0 || g.IntN(4) == 0 {
		return g.comparison()
	}
	lt, l := g.condition(deep - 1)
	if g.IntN(5) == 0 {
		return "!(" + lt + ")", func(a, b *twinOp) (bool, bool) { t, k := l(a, b); return !t, k }
	}
	rt, r := g.condition(deep - 1)
	if g.IntN(3) > 0 {
		return lt + " && (" + rt + ")", func(a, b *twinOp) (bool, bool) {
			t, k := l(a, b)
			u, m := r(a, b)
			if k && !t || m && !u {
				return false, true
			}
			return t && u, k && m
		}
	}
	return "(" + lt + " || " + rt + ")", func(a, b *twinOp) (bool, bool) {
		t, k := l(a, b)
		u, m := r(a, b)
		if k && t || m && u {
			return true, true
		}
		return false, k && m
	}
}

// ops makes a few operations, with gaps, as maps and as a View.
func (g twinGen) ops(n int) ([]*twinOp, *history.View) {
	h := &history.Of[int, int]{}
	var ops []*twinOp
	var read []bool
	for range n {
		o := &twinOp{map[string]int64{}, map[string][]int64{}, g.IntN(2) == 0}
		var hints []history.Hint
		for _, f := range []string{"x", "y"} {
			if g.IntN(5) > 0 {
				o.ints[f] = g.number()
				hints = append(hints, hint(f, history.Int(o.ints[f])))
			}
		}
		if g.IntN(5) > 0 {
			vs := make([]history.Value, g.IntN(4))
			o.lists["l"] = make([]int64, len(vs))
			for i := range vs {
				o.lists["l"][i] = g.number()
				vs[i] = history.Int(o.lists["l"][i])
			}
			hints = append(hints, hint("l", history.Array(vs...)))
		}
		ops, read = append(ops, o), append(read, o.read)
		h.Ops = append(h.Ops, history.Op[int, int]{Hints: hints})
	}
	v := history.NewView(h)
	v.Read = read
	return ops, v
}

func TestTwin(t *testing.T) {
	g := twinGen{rand.New(rand.NewPCG(7, 8))}
	seen, halves, rounds := map[Tri]int{}, 0, 100_000
	if testing.Short() {
		rounds = 10_000
	}
	for range rounds {
		text, meaning := g.condition(3)
		ops, v := g.ops(3)
		r, err := Compile(text, Fields{"x": Int, "y": Int, "l": Ints})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		b, err := r.Bind(v)
		if err != nil {
			t.Fatal(err)
		}
		h, split := b.Halves()
		if split {
			halves++
		}
		for i := range int32(3) {
			for j := range int32(3) {
				want := Unknown
				if truth, known := meaning(ops[i], ops[j]); known {
					want = tri(truth)
				}
				got := b.Eval(i, j)
				if got != want {
					t.Fatalf("%s: %v and %v: got %v, want %v", text, ops[i], ops[j], got, want)
				}
				if split && byHalves(h, i, j) != (got == True) {
					t.Fatalf("%s: %v and %v: %v, but the halves differ", text, ops[i], ops[j], got)
				}
				if seen[got]++; got == True {
					b.Why(i, j)
				}
			}
		}
	}
	t.Logf("%v, %d taken apart", seen, halves)
	if seen[True] < rounds/10 || seen[False] < rounds/10 || seen[Unknown] < rounds/10 || halves < rounds/20 {
		t.Error("the twin hardly tested anything")
	}
}

// byHalves is the definition of Halves, word by word.
func byHalves(h Halves, a, b int32) bool {
	if h.A(a) != True || h.B(b) != True {
		return false
	}
	if h.Out == nil {
		return true
	}
	x, okX := h.Out(a)
	y, okY := h.In(b)
	return okX && okY && (h.Descending && x > y || !h.Descending && x < y || h.OrEqual && x == y)
}
