package engine

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

var inferN = flag.Int("infer.n", 40_000, "histories on which inferred registers are compared with plain searches")

// deed is an operation of a model that tells nothing but how it steps.
type deed struct {
	f        string
	from, to int
}

// odd is a register that is none in places: a write of 2 over 3 leaves 1, one of
// 1 over 2 is impossible, and a read of 3 is happy with 4.
func odd(s int, in deed) (int, bool) {
	switch {
	case in.f == "write" && in.to == 2 && s == 3:
		return 1, true
	case in.f == "write" && in.to == 1 && s == 2:
		return s, false
	case in.f == "read" && in.to == 3 && s == 4:
		return s, true
	}
	return plainly(s, in)
}

func plainly(s int, in deed) (int, bool) {
	switch in.f {
	case "write":
		return in.to, true
	case "read":
		return s, s == in.to
	case "cas":
		return in.to, s == in.from
	case "not":
		return s, s != in.from
	case "maybe": // a compare-and-set without an answer
		if s == in.from {
			return in.to, true
		}
		return s, true
	case "add":
		return s + 1, true
	}
	return s, true // it looks at nothing
}

// deeds makes a history of at most seven operations by a run of the model in a
// random order, with an answer changed now and then.
func deeds(rng *rand.Rand, step func(int, deed) (int, bool), kinds []string) []history.Op[deed, int] {
	n := 2 + rng.IntN(6)
	ops := make([]history.Op[deed, int], 0, n)
	state := 0
	for i := range n {
		in := deed{kinds[rng.IntN(len(kinds))], rng.IntN(5), rng.IntN(5)}
		if in.f == "read" {
			in.to = state
		} else if rng.IntN(3) > 0 {
			in.from = state
		}
		if rng.IntN(12) == 0 {
			in.to = rng.IntN(5)
		}
		if next, ok := step(state, in); ok {
			state = next
		}
		at := int64(20 * i)
		o := history.Op[deed, int]{Process: i, F: in.f, In: in, NoOut: true, Invoke: at - int64(rng.IntN(50)), Return: at + int64(rng.IntN(50))}
		if in.f == "maybe" || in.f != "read" && rng.IntN(8) == 0 {
			o.Outcome = history.Info
		}
		ops = append(ops, o)
	}
	return ops
}

// TestInferredRegisterEqualsSearch: what is decided by a guess is what a search
// that guesses nothing finds, whether the model is a register or only looks like
// one; and registers are decided by it.
func TestInferredRegisterEqualsSearch(t *testing.T) {
	never := func() bool { return false }
	cases := []struct {
		name    string
		step    func(int, deed) (int, bool)
		kinds   []string
		refused [2]float64 // the share of histories that are left to the search
	}{
		{"register", plainly, []string{"write", "read"}, [2]float64{0, .4}},
		{"cas", plainly, []string{"write", "read", "cas", "not", "maybe", "look"}, [2]float64{0, .6}},
		{"odd", odd, []string{"write", "write", "read", "cas"}, [2]float64{.1, .8}},
		{"counter", plainly, []string{"add", "read", "write"}, [2]float64{.3, .9}},
	}
	for _, c := range cases {
		rng := rand.New(rand.NewPCG(11, uint64(len(c.kinds))))
		m := spec.Model[int, deed, int]{Name: c.name, Init: func() int { return 0 }, Step: func(s int, in deed, _ *int) (int, bool) { return c.step(s, in) }}
		count := map[spec.Kind]int{}
		refused := 0
		for range *inferN / len(cases) {
			s, err := spec.Erase(&history.Of[deed, int]{Ops: deeds(rng, c.step, c.kinds)}, m)
			if err != nil {
				t.Fatal(err)
			}
			r := order.NewRules(s.View)
			r.Hard = order.RealTime(s.View, order.Span{})
			in, out, ok := order.Intervals(r)
			if !ok {
				t.Fatal("real time is no interval order")
			}
			g := order.NewGraph(s.View.N, r.Hard, s.View.Info, s.View.Call, nil)
			want := Search(context.Background(), Problem{View: s.View, Graph: g, Machine: s.Machine(context.Background(), s.View, true)}, Limits{}, nil)
			var got spec.Part
			task := Task{Rules: r, Machine: s.Machine(context.Background(), s.View, true), Eager: true, Focus: -1}
			if !task.asRegister(context.Background(), &got, in, out, never) {
				refused++
				continue
			}
			count[got.Kind]++
			if got.Kind != want.Kind {
				t.Fatalf("%s: %v by inference, %v by search: %v", c.name, got.Kind, want.Kind, texts(s))
			}
		}
		share := float64(refused) / float64(*inferN/len(cases))
		t.Logf("%s: %d consistent, %d violations, %.2f refused", c.name, count[spec.Consistent], count[spec.Violation], share)
		if count[spec.Consistent] < *inferN/40 || count[spec.Violation] < *inferN/400 || share < c.refused[0] || share > c.refused[1] {
			t.Errorf("%s: %v decided, %.2f refused, want %v", c.name, count, share, c.refused)
		}
	}
}

func texts(s *spec.Subject) (lines []string) {
	for i := range int32(s.View.N) {
		lines = append(lines, s.Text(i)+" "+order.At(s.View.Invoke[i])+" to "+order.At(s.View.Return[i]))
	}
	return lines
}
