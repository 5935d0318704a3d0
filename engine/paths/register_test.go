package paths_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pinyon/consistency"
	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
	"pinyon/models"
)

// registerLevels are the levels under which the register path is compared.
var registerLevels = []string{
	"linearizable", "sequential", "ordered-sequential", "real-time-writes", "regular-sequential", "regular", "timeline",
	"bounded-staleness:t=0s", "bounded-staleness:t=4ns", "prefix-staleness:t=3ns", "single-order:monotonic-writes+writes-follow-reads",
}

// registerCase makes a register history: every write and compare-and-set
// leaves a value of its own, but for repeats of one in ten where repeated.
func registerCase(r *rand.Rand, s shape, repeated bool) *spec.Subject {
	ops := intervals(r, s)
	in := make([]models.RegisterIn, len(ops))
	writes := 0.3 + 0.3*r.Float64()
	unknown := r.IntN(4) == 0
	noOut := make([]bool, len(ops))
	for i := range ops {
		v := i + 1
		if repeated && r.IntN(3) == 0 {
			v = 1 + r.IntN(3)
		}
		switch x := r.Float64(); {
		case x < writes:
			ops[i].f, in[i] = "write", models.Write(value(v))
			ops[i].lost = r.Float64() < s.lostAdds
		case x < writes+0.2:
			ops[i].f, in[i] = "cas", models.Cas(value(0), value(v))
			ops[i].lost = r.Float64() < s.lostAdds
			noOut[i] = unknown && r.IntN(8) == 0
			if ops[i].told = repeated && r.IntN(3) == 0; ops[i].told { // it expects anything
				in[i].Value = value(r.IntN(4))
			}
		default:
			ops[i].f, in[i] = "read", models.Read()
			ops[i].lost = r.Float64() < s.lostTakes
			noOut[i] = unknown && r.IntN(8) == 0
		}
	}
	simulateRegister(r, ops, in)
	if s.mutations {
		mutateRegister(r, ops, in)
	}
	ties := history.TiesConcurrent
	if r.IntN(2) == 0 {
		ties = history.TiesPrecede
	}
	h := &history.Of[models.RegisterIn, history.Value]{Header: history.Header{Ties: ties, HasTies: true}, Ops: make([]history.Op[models.RegisterIn, history.Value], len(ops))}
	for i := range ops {
		e, op := &ops[i], &h.Ops[i]
		op.Process, op.F, op.Invoke, op.Return = e.process, e.f, e.call, e.ret
		op.In, op.Out, op.NoOut = in[i], history.Absent, noOut[i]
		switch {
		case e.lost:
			op.Outcome = history.Info
		case e.f == "read":
			op.Out = value(e.value)
		case e.f == "cas":
			op.Out = history.Bool(e.value == 1)
		}
	}
	subject, err := spec.Erase(h, models.CasRegister(value(0)))
	if err != nil {
		panic(err)
	}
	return subject
}

// simulateRegister performs the operations along a random order that their
// intervals allow; a compare-and-set expects what it finds.
func simulateRegister(r *rand.Rand, ops []event, in []models.RegisterIn) {
	state := 0
	along(r, ops, func(x int) {
		switch ops[x].f {
		case "read":
			ops[x].value = state
		case "cas":
			if !ops[x].told {
				in[x].Value = value(state)
			}
			expected, _ := in[x].Value.Int64()
			if ops[x].value = 0; int(expected) == state {
				ops[x].value = 1
				n, _ := in[x].To.Int64()
				state = int(n)
			}
		default:
			n, _ := in[x].Value.Int64()
			state = int(n)
		}
	})
}

// mutateRegister changes up to three of what was read or expected.
func mutateRegister(r *rand.Rand, ops []event, in []models.RegisterIn) {
	for range []int{0, 0, 0, 1, 1, 1, 2, 2, 3}[r.IntN(9)] {
		x, v := r.IntN(len(ops)), r.IntN(len(ops)+1)
		switch ops[x].f {
		case "read":
			ops[x].value = v
		case "cas":
			if in[x].Value = value(v); ops[x].told {
				ops[x].value = r.IntN(2)
			}
		}
	}
}

// leveled are the rules of a level, in half of the cases with explicit edges of
// an oracle besides.
func leveled(t testing.TB, s *spec.Subject, level string, r *rand.Rand) *order.Rules {
	l, err := consistency.LookupLevel(level)
	if err != nil {
		t.Fatal(err)
	}
	rules := order.NewRules(s.View)
	if err := l.Order(s.View, rules); err != nil {
		t.Fatal(err)
	}
	if r.IntN(2) == 0 {
		return rules
	}
	var pairs [][2]int32
	for range r.IntN(3) {
		if a, b := int32(r.IntN(s.View.N)), int32(r.IntN(s.View.N)); a != b && (!s.View.Info[a] || r.IntN(4) == 0) {
			pairs = append(pairs, [2]int32{a, b})
		}
	}
	e, err := order.NewEdges(s.View.N, pairs, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules.Hard = append(rules.Hard, order.Source{Relation: e, Name: "edges", Hint: true})
	return rules
}

// TestRegisterPathEqualsSearch compares the register path with the search at
// levels of every kind of hard order.
func TestRegisterPathEqualsSearch(t *testing.T) {
	for k, repeated := range []bool{false, true} {
		name := "unique values"
		if repeated {
			name = "repeated values"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, uint64(k)))
			c := &tally{}
			for i := range *fuzzN {
				s := registerCase(r, small(r), repeated)
				level := registerLevels[r.IntN(len(registerLevels))]
				rules := leveled(t, s, level, r)
				c.register(t, s, level, rules)
				if i%50 == 0 && level == "linearizable" && len(rules.Hard) < 3 {
					againstTwin(t, s)
				}
			}
			t.Logf("%d consistent, %d violations, %d left to the search", c.yes, c.no, c.unknown)
			decided := c.yes + c.no
			if c.yes*100 < 15*decided || c.no*100 < 15*decided || !repeated && c.unknown > decided/4 {
				t.Error("lopsided")
			}
		})
	}
}

func (c *tally) register(t *testing.T, s *spec.Subject, level string, rules *order.Rules) {
	t.Helper()
	decide := func(noPaths bool) spec.Part {
		part, err := engine.Decide(context.Background(), engine.Task{Rules: rules, Machine: s.Machine(context.Background(), s.View, false),
			Eager: true, Focus: -1, Mute: true, NoPaths: noPaths})
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	want, got := decide(true), decide(false)
	switch {
	case got.Kind != want.Kind:
		t.Fatalf("%s: the path says %v (%s, tried %q), the search %v\n%s%v", level, got.Kind, got.Engine, got.Tried, want.Kind, show(s), rules.Hard[len(rules.Hard)-1].Name)
	case strings.Contains(got.Tried, "hold") || strings.Contains(got.Tried, "possible by themselves"):
		t.Fatalf("%s: %s; the search says %v\n%s", level, got.Tried, want.Kind, show(s))
	case got.Engine == "register" && got.Kind == spec.Consistent:
		c.yes++
	case got.Engine == "register":
		c.no++
	default:
		c.unknown++
	}
}

// TestSweepEqualsSearch compares the sweep with the search, which decides what
// it would be asked for in earnest.
func TestSweepEqualsSearch(t *testing.T) {
	for k, repeated := range []bool{false, true} {
		t.Run(fmt.Sprintf("repeated=%v", repeated), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(4, uint64(k)))
			c := &tally{}
			for range *fuzzN {
				s := registerCase(r, small(r), repeated)
				rules := rules(s)
				want, err := engine.Decide(context.Background(), engine.Task{Rules: rules, Machine: s.Machine(context.Background(), s.View, false),
					Eager: true, Focus: -1, Mute: true, NoPaths: true})
				if err != nil {
					t.Fatal(err)
				}
				if want.Kind == spec.Vacuous {
					continue
				}
				a, _ := paths.Try(&paths.Problem{Rules: rules, Machine: s.Machine(context.Background(), s.View, false)}, paths.Late)
				switch {
				case a.Broken || a.Kind != spec.Unknown && a.Kind != want.Kind:
					t.Fatalf("the sweep says %v (%s), the search %v\n%s", a.Kind, a.Reason, want.Kind, show(s))
				case a.Kind == spec.Unknown:
					c.unknown++
				case a.Kind == spec.Consistent:
					c.yes++
				default:
					c.no++
				}
			}
			t.Logf("%d consistent, %d violations, %d for the order or an answer that is not known", c.yes, c.no, c.unknown)
			if decided := c.yes + c.no; c.yes*100 < 15*decided || c.no*100 < 15*decided || c.unknown > decided/2 {
				t.Error("lopsided")
			}
		})
	}
}

// TestBriefSweep: the sweep comes first where few operations overlap; where many
// do, the search does, though the sweep could decide it as well.
func TestBriefSweep(t *testing.T) {
	for clients, by := range map[int]string{3: "sweep", 24: "search"} {
		s := busyRegister(2000, clients, 5, 0.5, 0, false)
		for _, task := range []engine.Task{{}, {Sweep: true}} {
			task.Rules, task.Machine, task.Eager, task.Focus = rules(s), s.Machine(context.Background(), s.View, false), true, -1
			got, err := engine.Decide(context.Background(), task)
			want := by
			if task.Sweep {
				want = "sweep"
			}
			if err != nil || got.Kind != spec.Consistent || got.Engine != want {
				t.Errorf("%d clients, sweep alone %v: %v by %s (%v), want consistent by %s", clients, task.Sweep, got.Kind, got.Engine, err, want)
			}
		}
	}
}
