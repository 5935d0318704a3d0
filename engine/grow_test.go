package engine

import (
	"context"
	"math/rand/v2"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// edit is an operation on a text: 'r'ead, 'w'rite, 'a'ppend, 'c'ompare-and-set,
// or one that takes the 'f'irst letter away and says nothing.
type edit struct {
	f        byte
	from, to string
}

// text is a model that tells what its operations extend.
func text() spec.Model[string, edit, string] {
	return spec.Model[string, edit, string]{
		Name: "text",
		Init: func() string { return "" },
		Step: func(s string, in edit, out *string) (string, bool) {
			switch {
			case in.f == 'r':
				return s, out == nil || *out == s
			case in.f == 'w':
				return in.to, true
			case in.f == 'a':
				return s + in.to, true
			case in.f == 'f':
				return s[min(1, len(s)):], true
			case s == in.from:
				return in.to, true
			}
			return s, out == nil // answered: it was done
		},
		ReadOnly: func(in edit, _ *string) bool { return in.f == 'r' },
		Holds:    func(s string) any { return s },
		Demands: func(in edit, out *string) (any, bool) {
			if in.f == 'r' && out != nil {
				return *out, true
			}
			return in.from, in.f == 'c'
		},
		Writes: func(in edit, _ *string) (any, bool) { return in.to, in.f == 'w' || in.f == 'c' },
		Texts: &spec.Texts[edit]{
			Piece: func(in edit) (string, bool) { return in.to, in.f == 'a' },
			Text:  func(held any) (string, bool) { return held.(string), true },
			Held:  func(text string) any { return text },
		},
	}
}

// edits are up to ten operations that overlap, answered along a random order, of
// which some are then changed.
func edits(rng *rand.Rand) (ops []history.Op[edit, string]) {
	kinds := []string{"rra", "rraaw", "rraawc", "rraaf"}[rng.IntN(4)]
	letter := func() string { return string(rune('a' + rng.IntN(2))) }
	state, m := "", text()
	for i := range 4 + rng.IntN(7) {
		in := edit{kinds[rng.IntN(len(kinds))], "", letter()}
		if in.f == 'c' {
			in.from = state
		}
		at := int64(10 * i)
		o := history.Op[edit, string]{Process: i, In: in, Invoke: at - rng.Int64N(40), Return: at + rng.Int64N(40)}
		if in.f == 'r' {
			o.Out = state
		}
		if in.f != 'r' && rng.IntN(8) == 0 {
			o.Outcome = history.Info
		}
		if o.Outcome == history.OK || rng.IntN(2) == 0 {
			state, _ = m.Step(state, in, nil)
		}
		ops = append(ops, o)
	}
	for range rng.IntN(3) {
		if o := &ops[rng.IntN(len(ops))]; o.In.f == 'r' {
			if o.Out += letter(); rng.IntN(2) == 0 {
				o.Out = o.Out[1:]
			}
		}
	}
	return ops
}

// inShort is a quarter of n with -short.
func inShort(n int) int {
	if testing.Short() {
		return n / 4
	}
	return n
}

// TestGrowingEqualsPlainSearch: what is left early because a value that is
// demanded cannot come any more is left rightly.
func TestGrowingEqualsPlainSearch(t *testing.T) {
	histories := inShort(20_000)
	rng := rand.New(rand.NewPCG(3, 5))
	count, fewer := map[spec.Kind]int{}, 0
	for range histories {
		h := &history.Of[edit, string]{Ops: edits(rng)}
		s, err := spec.Erase(h, text())
		if err != nil {
			t.Fatal(err)
		}
		g := order.NewGraph(s.View.N, order.RealTime(s.View, order.Span{}), s.View.Info, s.View.Call, nil)
		search := func(plain bool) Result {
			p := Problem{View: s.View, Graph: g, Machine: s.Machine(context.Background(), s.View, true), Eager: !plain, NoPins: plain}
			return Search(context.Background(), p, Limits{}, nil)
		}
		got, want := search(false), search(true)
		if got.Kind != want.Kind {
			t.Fatalf("%v, %v by a plain search: %+v", got.Kind, want.Kind, h.Ops)
		}
		if 2*got.States < want.States {
			fewer++
		}
		count[want.Kind]++
	}
	t.Logf("%v, less than half of the configurations in %d", count, fewer)
	if min(count[spec.Consistent], count[spec.Violation]) < histories/10 || fewer < histories/10 {
		t.Errorf("%v, less than half of the configurations in %d", count, fewer)
	}
}
