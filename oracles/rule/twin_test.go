package rule

import (
	"fmt"
	"go/token"
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
		p, split := b.Parts()
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
				if split && byParts(p, i, j) != (got == True) {
					t.Fatalf("%s: %v and %v: %v, but the parts differ", text, ops[i], ops[j], got)
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

// byParts is the definition of Parts, word by word.
func byParts(p Parts, a, b int32) bool {
	if p.A(a) != True || p.B(b) != True {
		return false
	}
	for _, w := range p.Within {
		x, okX := w(a)
		y, okY := w(b)
		if !okX || !okY || x != y {
			return false
		}
	}
	holds := func(cs []Compare) bool {
		for _, c := range cs {
			x, okX := c.Out(a)
			y, okY := c.In(b)
			if !okX || !okY || !map[token.Token]bool{token.LSS: x < y, token.LEQ: x <= y, token.GTR: x > y, token.GEQ: x >= y, token.EQL: x == y}[c.Op] {
				return false
			}
		}
		return true
	}
	if !holds(p.Must) || p.AtLeast == 0 {
		return p.AtLeast == 0 && holds(p.Must)
	}
	size := len(p.Each)
	if p.Size != nil {
		n, ok := p.Size(a)
		if !ok {
			return false
		}
		size = n
	}
	n := 0
	for k, each := range p.Each {
		if k < size && holds(each) || k >= size && p.All {
			n++
		}
	}
	return n >= p.AtLeast
}

// quantified puts up to two quantifiers in front of a condition that uses their
// variables as indexes or numbers.
func (g twinGen) quantified(deep int, vars []string) (string, func(a, b *twinOp, env map[string]int64) (bool, bool)) {
	if deep == 0 {
		return g.withVars(vars)
	}
	name := fmt.Sprintf("s%d", deep)
	rest, inner := g.quantified(deep-1, append(vars, name))
	domain := [...]string{"xs", "a.l", "b.l"}[g.IntN(3)]
	n := 1 + g.IntN(2)
	mode := [...]string{"all", "some", "at least", "at most", "majority", "supermajority"}[g.IntN(6)]
	head := map[string]string{"all": "all", "some": "some", "at least": fmt.Sprintf("at least %d of", n), "at most": fmt.Sprintf("at most %d of", n),
		"majority": "at least majority of", "supermajority": "at least supermajority of"}[mode]
	return head + " " + name + " in " + domain + ": " + rest, func(a, b *twinOp, env map[string]int64) (bool, bool) {
		elements := []int64{0, 1, 5}
		if domain != "xs" {
			l, ok := map[string]*twinOp{"a.l": a, "b.l": b}[domain].lists["l"]
			if !ok || len(l) == 0 {
				return false, false
			}
			elements = nil
			for i := range l {
				elements = append(elements, int64(i))
			}
		}
		yes, no := 0, 0
		for _, e := range elements {
			env[name] = e
			if t, known := inner(a, b, env); known && t {
				yes++
			} else if known {
				no++
			}
		}
		m := len(elements)
		want := map[string]int{"all": m, "some": 1, "at least": n, "at most": n + 1, "majority": m/2 + 1, "supermajority": (m-1)/2 + ((m-1)/2+1)/2 + 1}[mode]
		not := mode == "at most"
		switch {
		case yes >= want:
			return !not, true
		case m-no < want:
			return not, true
		}
		return false, false
	}
}

// withVars is one comparison or two that use the variables.
func (g twinGen) withVars(vars []string) (string, func(a, b *twinOp, env map[string]int64) (bool, bool)) {
	s := vars[g.IntN(len(vars))]
	swap := g.IntN(2) == 0
	element := func(o *twinOp, env map[string]int64) (int64, bool) {
		l, k := o.lists["l"], env[s]
		if k >= int64(len(l)) {
			return 0, false
		}
		return l[k], true
	}
	text := "a.l[" + s + "] < b.l[" + s + "]"
	one := func(a, b *twinOp, env map[string]int64) (bool, bool) {
		x, okX := element(a, env)
		y, okY := element(b, env)
		return x < y, okX && okY
	}
	switch g.IntN(4) {
	case 0:
		text = "a.x >= b.l[" + s + "]"
		one = func(a, b *twinOp, env map[string]int64) (bool, bool) {
			x, okX := a.ints["x"]
			y, okY := element(b, env)
			return x >= y, okX && okY
		}
	case 3:
		text += " && a.x >= " + s
		plain := one
		one = func(a, b *twinOp, env map[string]int64) (bool, bool) {
			t, k := plain(a, b, env)
			x, m := a.ints["x"]
			if k && !t || m && x < env[s] {
				return false, true
			}
			return t && m && x >= env[s], k && m
		}
	case 1:
		text = "b.x != " + s
		one = func(_, b *twinOp, env map[string]int64) (bool, bool) { x, ok := b.ints["x"]; return x != env[s], ok }
	}
	if g.IntN(3) > 0 {
		return text, one
	}
	other, meaning := g.condition(1)
	if swap {
		text = other + " && " + text
	} else {
		text += " && " + other
	}
	return text, func(a, b *twinOp, env map[string]int64) (bool, bool) {
		t, k := one(a, b, env)
		u, m := meaning(a, b)
		if k && !t || m && !u {
			return false, true
		}
		return t && u, k && m
	}
}

// TestQuantifierTwin is TestTwin for rules with quantifiers.
func TestQuantifierTwin(t *testing.T) {
	g := twinGen{rand.New(rand.NewPCG(9, 8))}
	seen, apart, rounds := map[Tri]int{}, 0, 30_000
	if testing.Short() {
		rounds = 10_000
	}
	for range rounds {
		text, meaning := g.quantified(1+g.IntN(6)/5, nil)
		ops, v := g.ops(3)
		r, err := CompileRule(text, Fields{"x": Int, "y": Int, "l": Ints}, map[string][]int64{"xs": {0, 1, 5}})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		b, err := r.Bind(v)
		if err != nil {
			t.Fatal(err)
		}
		p, split := b.Parts()
		if split {
			apart++
		}
		for i := range int32(3) {
			for j := range int32(3) {
				want := Unknown
				if truth, known := meaning(ops[i], ops[j], map[string]int64{}); known {
					want = tri(truth)
				}
				got := b.Eval(i, j)
				if got != want {
					t.Fatalf("%s: %v and %v: got %v, want %v", text, ops[i], ops[j], got, want)
				}
				if split && byParts(p, i, j) != (got == True) {
					t.Fatalf("%s: %v and %v: %v, but the parts differ", text, ops[i], ops[j], got)
				}
				if seen[got]++; got == True {
					b.Why(i, j)
				}
			}
		}
	}
	t.Logf("%v, %d taken apart", seen, apart)
	if all := 9 * rounds; seen[True]*100 < 15*all || seen[False]*100 < 15*all || seen[Unknown]*100 < 15*all || apart < rounds/10 {
		t.Error("the twin hardly tested anything")
	}
}
