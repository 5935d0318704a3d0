package verify_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// strict are the levels that order any two operations of a process and a key.
var strict = []string{
	"linearizable", "sequential", "ordered-sequential", "real-time-writes", "regular-sequential",
	"bounded-staleness:k=1", "bounded-staleness:k=2", "bounded-staleness:t=0s", "bounded-staleness:t=2ns",
	"bounded-staleness:k=2,t=1ns", "per-key-sequential",
}

var levels = append([]string{
	"prefix-sequential", "prefix-linearizable", "timeline", "regular", "safe",
	"single-order:read-your-writes", "single-order:monotonic-reads", "single-order:monotonic-writes+writes-follow-reads",
	"single-order:read-your-writes+monotonic-reads+monotonic-writes+writes-follow-reads",
}, strict...)

var modes = []histgen.Options{
	{Oracles: true, Lines: true},
	{Lines: true},
	{Oracles: true, Squeezed: true},
}

// each calls f with n generated histories, a level for each.
func each(t *testing.T, n int, f func(c *histgen.Case, s *spec.Subject, level string)) {
	t.Helper()
	for m, o := range modes {
		g := histgen.New(uint64(100+m), o)
		for i := range n {
			c := g.Next()
			s, err := c.Subject()
			if err != nil {
				t.Fatal(err)
			}
			f(c, s, levels[i%len(levels)])
		}
	}
}

// isWitness is the definition of a witness for a deterministic model, written
// without this package's replay.
func isWitness(t *testing.T, s *spec.Subject, level string, extra func(a, b int32) bool, order []int32) bool {
	t.Helper()
	d, err := verify.Define(level)
	if err != nil {
		t.Fatal(err)
	}
	hard, err := d.Order(s.View, extra)
	if err != nil {
		t.Fatal(err)
	}
	hard.Close()
	v := s.View
	for x := range int32(v.N) {
		if !v.Info[x] && !slices.Contains(order, x) {
			return false
		}
	}
	m := s.Machine(context.Background(), v, false)
	past, free := map[int32][]int32{}, d.Free(v)
	for i, x := range order {
		if x < 0 || int(x) >= v.N || slices.Contains(order[:i], x) {
			return false
		}
		for _, early := range order[:i+1] {
			if hard.Has(x, early) {
				return false
			}
		}
		if free != nil && free[x] {
			continue
		}
		k := v.Key[x]
		if past[k] == nil {
			past[k] = []int32{m.Init(k)}
		}
		last := past[k][len(past[k])-1]
		if d.Versions > 0 && v.Read[x] {
			window := past[k][max(0, len(past[k])-d.Versions):]
			if !slices.ContainsFunc(window, func(st int32) bool { _, ok := m.Step(st, x); return ok }) {
				return false
			}
			continue
		}
		next, ok := m.Step(last, x)
		if !ok {
			return false
		}
		past[k] = append(past[k], next)
	}
	return true
}

// tampered returns order changed in one place.
func tampered(r *rand.Rand, order []int32, n int) []int32 {
	o := slices.Clone(order)
	i := 0
	if len(o) > 0 {
		i = r.IntN(len(o))
	}
	switch k := r.IntN(6); {
	case k == 0 || len(o) == 0:
		return slices.Insert(o, i, int32(r.IntN(n+2)-1))
	case k == 1:
		return slices.Delete(o, i, i+1)
	case k == 2:
		o[i] = int32(r.IntN(n))
		return o
	case k == 3 && i > 0:
		o[i-1], o[i] = o[i], o[i-1]
		return o
	}
	j := r.IntN(len(o))
	o[i], o[j] = o[j], o[i]
	return o
}

// TestWitness: what brute force finds is accepted, and what is made of it by a
// change in one place is accepted exactly when it is a witness still.
func TestWitness(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	accepted, refused := 0, 0
	each(t, 4000, func(c *histgen.Case, s *spec.Subject, level string) {
		extra := c.Extra(s.View)
		ok, order, err := brute.Decide(s, level, extra)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		if err := verify.Witness(s, level, extra, nil, order); err != nil {
			t.Fatalf("%s: %v: %v\n%s", level, order, err, c.Text())
		}
		for range 8 {
			o := tampered(r, order, s.View.N)
			want := isWitness(t, s, level, extra, o)
			if got := verify.Witness(s, level, extra, nil, o); (got == nil) != want {
				t.Fatalf("%s: %v, made of %v: %v, but it is a witness: %v\n%s", level, o, order, got, want, c.Text())
			}
			if want {
				accepted++
			} else {
				refused++
			}
		}
	})
	if accepted < 2000 || refused < 2000 {
		t.Errorf("one-sided: %d accepted, %d refused", accepted, refused)
	}
}

// TestManyOperations: the way that large histories take agrees with the
// closure on random orders of small ones.
func TestManyOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	accepted, refused := 0, 0
	each(t, 6000, func(c *histgen.Case, s *spec.Subject, level string) {
		ok, order, err := brute.Decide(s, level, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		for range 6 {
			o := tampered(r, order, s.View.N)
			want := verify.Witness(s, level, nil, nil, o)
			restore := verify.SetClosureLimit(0)
			got := verify.Witness(s, level, nil, nil, o)
			restore()
			if (got == nil) != (want == nil) {
				t.Fatalf("%s: %v: %v the long way, %v by the closure\n%s", level, o, got, want, c.Text())
			}
			if got == nil {
				accepted++
			} else if strings.Contains(got.Error(), "after") {
				refused++
			}
		}
	})
	if accepted < 1000 || refused < 1000 {
		t.Errorf("one-sided: %d accepted, %d refused for their order", accepted, refused)
	}
}

// TestCycle: a circle in the relation is accepted as a proof when an operation
// of it got an answer, and not after any change of an edge that breaks it.
func TestCycle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	accepted, refused := 0, 0
	each(t, 8000, func(c *histgen.Case, s *spec.Subject, level string) {
		extra := c.Extra(s.View)
		d, _ := verify.Define(level)
		direct, err := d.Order(s.View, extra)
		if err != nil {
			t.Fatal(err)
		}
		edges := circle(direct)
		if edges == nil {
			return
		}
		required := slices.ContainsFunc(edges, func(e spec.Edge) bool { return !s.View.Info[e.From] })
		if err := verify.Cycle(s, level, extra, edges); (err == nil) != required {
			t.Fatalf("%s: %v: %v\n%s", level, edges, err, c.Text())
		}
		if required {
			accepted++
			if ok, _, _ := brute.Decide(s, level, extra); ok {
				t.Fatalf("%s: %v refutes a consistent history\n%s", level, edges, c.Text())
			}
		}
		i := r.IntN(len(edges))
		edges[i].To = int32(r.IntN(s.View.N))
		if e := edges[i]; !direct.Has(e.From, e.To) || e.To != edges[(i+1)%len(edges)].From {
			refused++
			if verify.Cycle(s, level, extra, edges) == nil {
				t.Fatalf("%s: %v is no cycle, and was accepted\n%s", level, edges, c.Text())
			}
		}
	})
	if accepted < 300 || refused < 300 {
		t.Errorf("one-sided: %d accepted, %d refused", accepted, refused)
	}
}

// circle returns some circle of the relation, by walking until a repeat.
func circle(r *verify.Relation) []spec.Edge {
	for from := range int32(r.N()) {
		var path []int32
		var walk func(x int32) []int32
		walk = func(x int32) []int32 {
			if i := slices.Index(path, x); i >= 0 {
				return path[i:]
			}
			path = append(path, x)
			for y := range int32(r.N()) {
				if r.Has(x, y) {
					if found := walk(y); found != nil {
						return found
					}
				}
			}
			path = path[:len(path)-1]
			return nil
		}
		if found := walk(from); found != nil {
			var edges []spec.Edge
			for i, x := range found {
				edges = append(edges, spec.Edge{From: x, To: found[(i+1)%len(found)]})
			}
			return edges
		}
	}
	return nil
}

func TestDefine(t *testing.T) {
	for _, level := range append(levels, "bounded-staleness:k=3,t=100ms") {
		if d, err := verify.Define(level); err != nil || d.Name != level {
			t.Errorf("%s: %v", level, err)
		}
	}
	if d, _ := verify.Define("bounded-staleness:k=3,t=100ms"); d.Versions != 3 || d.Bound != 100e6 {
		t.Errorf("k=3,t=100ms is %+v", d)
	}
	for _, level := range []string{"", "causal", "bounded-staleness", "bounded-staleness:", "bounded-staleness:k=0",
		"bounded-staleness:3", "bounded-staleness:t=", "bounded-staleness:t=-1s", "bounded-staleness:k=1,", "bounded-staleness:t=1s,k=1",
		"bounded-staleness:k=1,k=2", "bounded-staleness:k=1,1s", "single-order", "single-order:", "single-order:causal",
		"single-order:read-your-writes+", "regular:k=1"} {
		if d, err := verify.Define(level); err == nil {
			t.Errorf("%q is %+v", level, d)
		}
	}
}

// pair is a history of two operations of two processes, a register's.
func pair(h history.Header, a, b [2]int64) *history.View {
	op := func(process int, f, node string, at [2]int64) history.Op[int, int] {
		return history.Op[int, int]{Process: process, F: f, Invoke: at[0], Return: at[1], Node: node}
	}
	v := history.NewView(&history.Of[int, int]{Header: h,
		Ops: []history.Op[int, int]{op(0, "write", "n1", a), op(1, "read", "n2", b)}})
	v.Read = []bool{false, true}
	return v
}

// TestBefore pins the comparison at its edges.
func TestBefore(t *testing.T) {
	precede := history.Header{Ties: history.TiesPrecede}
	byNode := history.Header{ClockError: history.ClockError{All: 99, ByNode: map[string]int64{"n1": 2, "n2": 1}}}
	late := int64(history.MaxTime)
	for _, c := range []struct {
		name, level string
		h           history.Header
		a, b        [2]int64
		want        bool
	}{
		{"later", "linearizable", history.Header{}, [2]int64{0, 1}, [2]int64{2, 3}, true},
		{"a tie", "linearizable", history.Header{}, [2]int64{0, 1}, [2]int64{1, 3}, false},
		{"a tie that precedes", "linearizable", precede, [2]int64{0, 1}, [2]int64{1, 3}, true},
		{"one without width", "linearizable", precede, [2]int64{1, 1}, [2]int64{1, 3}, true},
		{"two without width", "linearizable", precede, [2]int64{1, 1}, [2]int64{1, 1}, false},
		{"by node, within", "linearizable", byNode, [2]int64{0, 1}, [2]int64{4, 9}, false},
		{"by node, beyond", "linearizable", byNode, [2]int64{0, 1}, [2]int64{5, 9}, true},
		{"within the bound", "bounded-staleness:t=3ns", history.Header{}, [2]int64{0, 1}, [2]int64{4, 9}, false},
		{"beyond the bound", "bounded-staleness:t=3ns", history.Header{}, [2]int64{0, 1}, [2]int64{5, 9}, true},
		{"no overflow", "bounded-staleness:t=2562047h", history.Header{}, [2]int64{0, late}, [2]int64{late, late}, false},
		{"reads are free", "real-time-writes", history.Header{}, [2]int64{0, 1}, [2]int64{2, 3}, false},
	} {
		d, err := verify.Define(c.level)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Holds(pair(c.h, c.a, c.b), 0, 1); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestNondeterministicWitness: with a model of several states, an order of all
// operations is accepted exactly when brute force, made to follow it, passes.
func TestNondeterministicWitness(t *testing.T) {
	lossy := spec.Model[int, histgen.Call, history.Value]{
		Name: "lossy register",
		Init: func() int { return 0 },
		Steps: func(s int, in histgen.Call, out *history.Value) []int {
			switch n, _ := in.In.Int64(); {
			case in.F == "write":
				return []int{int(n), s}
			case *out == history.Int(int64(s)) || s == 0 && *out == history.Null:
				return []int{s}
			}
			return nil
		},
		ReadOnly: func(in histgen.Call, _ *history.Value) bool { return in.F == "read" },
	}
	r := rand.New(rand.NewPCG(5, 5))
	g := histgen.New(8, histgen.Options{Models: []string{"register"}, MaxOps: 6})
	counts := map[bool]int{}
	for i := range 4000 {
		c, level := g.Next(), levels[i%len(levels)]
		h := &history.Of[histgen.Call, history.Value]{Header: c.Raw.Header}
		for _, op := range c.Raw.Ops {
			if op.Outcome == history.OK {
				h.Ops = append(h.Ops, history.Op[histgen.Call, history.Value]{Process: op.Process, F: op.F, Key: op.Key,
					In: histgen.Call{F: op.F, In: op.In}, Out: op.Out, Invoke: op.Invoke, Return: op.Return, Node: op.Node})
			}
		}
		s, err := spec.Erase(h, lossy)
		if err != nil {
			t.Fatal(err)
		}
		ok, order, err := brute.Decide(s, level, nil)
		if err != nil || !ok || len(order) < 2 {
			continue
		}
		order = tampered(r, order, s.View.N)
		line := func(a, b int32) bool { return slices.Index(order, a)+1 == slices.Index(order, b) }
		all := slices.Sorted(slices.Values(order))
		want := len(slices.Compact(all)) == s.View.N && all[0] == 0 && len(order) == s.View.N
		if want {
			want, _, _ = brute.Decide(s, level, line)
		}
		if err := verify.Witness(s, level, nil, nil, order); (err == nil) != want {
			t.Fatalf("%s: %v: %v, want a witness: %v\n%s", level, order, err, want, c.Text())
		}
		counts[want]++
	}
	if counts[true] < 100 || counts[false] < 100 {
		t.Errorf("one-sided: %v", counts)
	}
}

func BenchmarkWitness(b *testing.B) {
	for _, n := range []int{3000, 100_000} {
		s, order := long(b, n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				if err := verify.Witness(s, "linearizable", nil, nil, order); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// long is a history of n operations that overlap, 32 at a time, and its order.
func long(t testing.TB, n int) (*spec.Subject, []int32) {
	t.Helper()
	h := &history.Of[int, int]{Ops: make([]history.Op[int, int], n)}
	order := make([]int32, n)
	for i := range h.Ops {
		h.Ops[i] = history.Op[int, int]{Process: i % 32, Key: string(rune('a' + i%20)), In: i % 2, Invoke: int64(i), Return: int64(i + 20)}
		order[i] = int32(i)
	}
	s, err := spec.Erase(h, spec.Model[int, int, int]{Name: "m", Init: func() int { return 0 },
		Apply: func(s, in int) (int, int, bool) { return s + in, 0, true }, ReadOnly: func(in int, _ *int) bool { return in == 0 }})
	if err != nil {
		t.Fatal(err)
	}
	return s, order
}

// TestManyOperationsAreFast checks witnesses of 10^5 operations.
func TestManyOperationsAreFast(t *testing.T) {
	s, order := long(t, 100_000)
	for _, level := range levels {
		if err := verify.Witness(s, level, nil, nil, order); err != nil {
			t.Errorf("%s: %v", level, err)
		}
	}
	order[5000], order[5160] = order[5160], order[5000] // one process, one key
	for _, level := range strict {
		if err := verify.Witness(s, level, nil, nil, order); err == nil {
			t.Errorf("%s: two operations of one process were swapped", level)
		}
	}
}
