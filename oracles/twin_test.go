package oracles

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// The twin of an oracle is its written definition, asked for every pair: it
// reads operations as plain maps and shares nothing with the loader.

type op struct {
	f, key string
	read   bool
	ints   map[string]int64
	lists  map[string][]int64
}

type sample struct {
	ops []*op
	*history.View
}

func twinRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 99)) }

var extremes = []int64{0, 1, 2, 3, 4, -1, math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1}

// randomView makes n operations with few values, gaps and extremes.
func randomView(r *rand.Rand, n int) sample {
	s := sample{}
	h := &history.Of[int, int]{}
	var read []bool
	for i := range n {
		o := &op{f: []string{"put", "get", "append"}[r.IntN(3)], key: []string{"k1", "k2"}[r.IntN(2)], read: r.IntN(2) == 0,
			ints: map[string]int64{}, lists: map[string][]int64{}}
		var hints []history.Hint
		for _, name := range []string{"rev", "idx"} {
			if r.IntN(6) > 0 {
				o.ints[name] = extremes[r.IntN(len(extremes))]
				hints = append(hints, history.Hint{Name: name, Value: history.Int(o.ints[name])})
			}
		}
		if r.IntN(6) > 0 {
			l := []int64{extremes[r.IntN(3)], extremes[r.IntN(3)]}[:r.IntN(3)]
			var vs []history.Value
			for _, x := range l {
				vs = append(vs, history.Int(x))
			}
			o.lists["seq"] = l
			hints = append(hints, history.Hint{Name: "seq", Value: history.Array(vs...)})
		}
		h.Ops = append(h.Ops, history.Op[int, int]{F: o.f, Key: o.key, Process: i, Hints: hints})
		s.ops, read = append(s.ops, o), append(read, o.read)
	}
	s.View = history.NewView(h)
	s.Read = read
	return s
}

func apply(o order.Oracle, v *history.View) (*order.Rules, error) {
	r := order.NewRules(v)
	return r, o.Apply(r)
}

// precedes is the union of some sources.
func precedes(sources []order.Source, a, b int32) bool {
	return slices.ContainsFunc(sources, func(s order.Source) bool { return s.Precedes(a, b) })
}

// place is an operation's place by the given fields, nil if it lacks one.
func (o *op) place(fields []string) (p [][]int64) {
	for _, f := range fields {
		if f == "seq" {
			l, ok := o.lists[f]
			if !ok {
				return nil
			}
			p = append(p, l)
			continue
		}
		n, ok := o.ints[f]
		if !ok {
			return nil
		}
		p = append(p, []int64{n})
	}
	return p
}

// onceEach loads each text once.
func onceEach() func(text string) (order.Oracle, error) {
	known := map[string]order.Oracle{}
	return func(text string) (order.Oracle, error) {
		o, ok := known[text]
		if ok {
			return o, nil
		}
		o, err := Load("o.yaml", []byte(text))
		known[text] = o
		return o, err
	}
}

// preorder is an order_by by its definition.
type preorder struct {
	write, read []string
	tie         string
	all, soft   bool
	only        bool // put and append
}

func randomPreorder(r *rand.Rand) (p preorder, text string) {
	fields := [][]string{{"rev"}, {"idx"}, {"seq"}, {"rev", "idx"}, {"idx", "seq"}}
	p.write = fields[r.IntN(len(fields))]
	p.read = p.write
	by := "[" + strings.Join(p.write, ", ") + "]"
	if r.IntN(3) == 0 {
		p.write, p.read, by = []string{"rev"}, []string{"idx"}, "{write: rev, read: idx}"
	}
	p.tie = []string{"concurrent", "write_before_read", "read_before_write"}[r.IntN(3)]
	text = head + "order_by: " + by + "\nties: " + p.tie + "\n"
	if p.all = r.IntN(2) == 0; p.all {
		text += "scope: all\n"
	}
	if p.soft = r.IntN(2) == 0; p.soft {
		text += "strength: soft\n"
	}
	if p.only = r.IntN(3) == 0; p.only {
		text += "only: [put, append]\n"
	}
	return p, text
}

func (p preorder) before(a, b *op) bool {
	if !p.all && a.key != b.key || p.only && (a.f == "get" || b.f == "get") {
		return false
	}
	fields := map[bool][]string{false: p.write, true: p.read}
	x, y := a.place(fields[a.read]), b.place(fields[b.read])
	if x == nil || y == nil {
		return false
	}
	switch slices.CompareFunc(x, y, slices.Compare) {
	case -1:
		return true
	case 0:
		return p.tie == "write_before_read" && !a.read && b.read || p.tie == "read_before_write" && a.read && !b.read
	}
	return false
}

// compareAll compares a relation with its definition over all pairs.
func compareAll(t *testing.T, text string, s sample, sources []order.Source, before func(a, b *op) bool, count map[bool]int) {
	t.Helper()
	for i, a := range s.ops {
		for j, b := range s.ops {
			want := before(a, b)
			if got := precedes(sources, int32(i), int32(j)); got != want {
				t.Fatalf("%s%+v\n%+v\ngot %v, want %v", text, a, b, got, want)
			}
			count[want]++
		}
	}
}

func TestOrderByTwin(t *testing.T) {
	r, loads, count, rounds := twinRand(2), onceEach(), map[bool]int{}, 100_000
	if testing.Short() {
		rounds = 5_000
	}
	for range rounds {
		p, text := randomPreorder(r)
		o, err := loads(text)
		if err != nil {
			t.Fatalf("%s%v", text, err)
		}
		s := randomView(r, 4)
		rules, err := apply(o, s.View)
		if err != nil {
			t.Fatalf("%s%v", text, err)
		}
		sources, none := rules.Hard, rules.Soft
		if p.soft {
			sources, none = none, sources
		}
		if len(none) > 0 {
			t.Fatalf("%sof the wrong strength", text)
		}
		compareAll(t, text, s, sources, p.before, count)
	}
	if count[true] < rounds || count[false] < rounds {
		t.Errorf("ordered and not: %v: the twin hardly tested anything", count)
	}
}

// Rules with their meaning in Go: true only where every field is there.
var twinRules = []struct {
	text   string
	before func(a, b *op) bool
}{
	{"a.rev < b.rev", func(a, b *op) bool { return both(a, b, "rev", "rev", func(x, y int64) bool { return x < y }) }},
	{"a.rev < b.idx", func(a, b *op) bool { return both(a, b, "rev", "idx", func(x, y int64) bool { return x < y }) }},
	{"a.rev > b.rev", func(a, b *op) bool { return both(a, b, "rev", "rev", func(x, y int64) bool { return x > y }) }},
	{"b.idx >= a.rev && a.kind == 'write' && 'write' != b.kind", func(a, b *op) bool {
		return !a.read && b.read && both(a, b, "rev", "idx", func(x, y int64) bool { return x <= y })
	}},
	{"a.rev >= b.idx && a.kind == 'write' && b.kind == 'read'", func(a, b *op) bool {
		return !a.read && b.read && both(a, b, "rev", "idx", func(x, y int64) bool { return x >= y })
	}},
	{"a.rev <= b.rev", func(a, b *op) bool { return both(a, b, "rev", "rev", func(x, y int64) bool { return x <= y }) }},
	{"a.kind == 'write' && b.kind == 'read'", func(a, b *op) bool { return !a.read && b.read }},
	{"a.f == 'put' && a.rev == b.rev && a.idx < b.idx", func(a, b *op) bool {
		return a.f == "put" && both(a, b, "rev", "rev", func(x, y int64) bool { return x == y }) && both(a, b, "idx", "idx", func(x, y int64) bool { return x < y })
	}},
	{"a.rev < b.rev || a.idx < b.idx", func(a, b *op) bool {
		less := func(x, y int64) bool { return x < y }
		return both(a, b, "rev", "rev", less) || both(a, b, "idx", "idx", less)
	}},
	{"!(a.rev >= b.rev)", func(a, b *op) bool { return both(a, b, "rev", "rev", func(x, y int64) bool { return x < y }) }},
	{"a.seq[0] < b.seq[1] && a.kind == 'write' && b.kind == 'read'", func(a, b *op) bool {
		x, y := a.lists["seq"], b.lists["seq"]
		return !a.read && b.read && len(x) > 0 && len(y) > 1 && x[0] < y[1]
	}},
}

func both(a, b *op, f, g string, less func(x, y int64) bool) bool {
	x, okX := a.ints[f]
	y, okY := b.ints[g]
	return okX && okY && less(x, y)
}

func TestRulesTwin(t *testing.T) {
	r, loads, count, rounds := twinRand(3), onceEach(), map[bool]int{}, 100_000
	if testing.Short() {
		rounds = 5_000
	}
	own := 0
	for range rounds {
		rule := twinRules[r.IntN(len(twinRules))]
		all := r.IntN(2) == 0
		text := head + "hard: [\"" + strings.ReplaceAll(rule.text, "'", `\"`) + "\"]\nscope: " + map[bool]string{true: "all", false: "key"}[all] + "\n"
		o, err := loads(text)
		if err != nil {
			t.Fatalf("%s%v", text, err)
		}
		s := randomView(r, 3)
		before := func(a, b *op) bool { return (all || a.key == b.key) && rule.before(a, b) }
		contradiction := false
		for _, a := range s.ops {
			for _, b := range s.ops {
				contradiction = contradiction || before(a, b) && before(b, a)
			}
		}
		rules, err := apply(o, s.View)
		if contradiction {
			if own++; !errors.Is(err, ErrOwn) {
				t.Fatalf("%sgot %v, want ErrOwn", text, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s%v", text, err)
		}
		compareAll(t, text, s, rules.Hard, before, count)
	}
	if count[true] < rounds/10 || count[false] < rounds || own < rounds/100 {
		t.Errorf("ordered and not: %v, %d contradictions: the twin hardly tested anything", count, own)
	}
}
