package engine

import (
	"context"
	"math/rand/v2"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// A register with compare-and-set that tells the search what it holds: most
// searches on one register go by single writes (instances), so the values of
// pins need histories of their own, of several keys or in no interval order.

type change struct {
	f        byte // 'r'ead, 'w'rite, 'c'ompare-and-set, 'a'dd, which cannot say what it leaves
	from, to int
}

type step = history.Op[change, int]

// pinned is the model; a compare-and-set answers 1 or 0.
func pinned() spec.Model[int, change, int] {
	return spec.Model[int, change, int]{
		Name: "pinned",
		Init: func() int { return 0 },
		Step: func(s int, in change, out *int) (int, bool) {
			switch {
			case in.f == 'w':
				return in.to, true
			case in.f == 'r':
				return s, out == nil || *out == s
			case in.f == 'a':
				return (s + in.to) % 3, true
			case s == in.from:
				return in.to, out == nil || *out == 1
			}
			return s, out == nil || *out == 0
		},
		ReadOnly: func(in change, out *int) bool { return in.f == 'r' || in.f == 'c' && out != nil && *out == 0 },
		Holds:    func(s int) any { return s },
		Demands: func(in change, out *int) (any, bool) {
			if in.f == 'r' {
				if out == nil {
					return nil, false
				}
				return *out, true
			}
			return in.from, in.f == 'c' && (out == nil || *out == 1)
		},
		Writes: func(in change, out *int) (any, bool) {
			return in.to, in.f == 'w' || in.f == 'c' && (out == nil || *out == 1)
		},
	}
}

// pinnedOps are up to eighteen operations of three processes on two keys and few
// values, answered along a random order of the sessions, of which up to four are
// then changed. A process that got no answer ends.
func pinnedOps(rng *rand.Rand) (ops []step) {
	kinds := []string{"rrwwc", "rrwwca"}[rng.IntN(2)]
	m, state := pinned(), map[string]int{}
	gone, now := map[int]bool{}, [3]int64{}
	for range 12 + rng.IntN(7) {
		p := rng.IntN(len(now))
		if gone[p] {
			continue
		}
		o := step{Process: p, Key: string(rune('x' + rng.IntN(2))), In: change{kinds[rng.IntN(len(kinds))], rng.IntN(3), 1 + rng.IntN(2)},
			Invoke: now[p], Return: now[p] + 1 + rng.Int64N(50)}
		now[p] = o.Return + 1
		switch s := state[o.Key]; {
		case o.In.f == 'r':
			o.Out = s
		case o.In.f == 'c' && s == o.In.from:
			o.Out = 1
		}
		if rng.IntN(6) == 0 {
			o.Outcome, gone[p] = history.Info, true
		}
		if !gone[p] || rng.IntN(2) == 0 {
			state[o.Key], _ = m.Step(state[o.Key], o.In, nil)
		}
		o.NoOut = o.In.f == 'c' && rng.IntN(8) == 0
		ops = append(ops, o)
	}
	for range rng.IntN(5) {
		o := &ops[rng.IntN(len(ops))]
		o.Out = map[byte]int{'r': rng.IntN(3), 'c': 1 - o.Out}[o.In.f]
	}
	return ops
}

// TestPinsEqualTwin: the search that knows which values are still demanded and
// wanted says what trying all orders says.
func TestPinsEqualTwin(t *testing.T) {
	histories := inShort(20_000)
	rng := rand.New(rand.NewPCG(11, 13))
	count, fewer := map[bool]int{}, 0
	for range histories {
		h := &history.Of[change, int]{Ops: pinnedOps(rng)}
		s, err := spec.Erase(h, pinned())
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := brute.Decide(s, "sequential", nil)
		if err != nil {
			t.Fatal(err)
		}
		hard := []order.Source{order.Session(s.View, nil, false)}
		search := func(noPins bool) Result {
			g := order.NewGraph(s.View.N, hard, s.View.Info, s.View.Call, nil)
			p := Problem{View: s.View, Graph: g, Machine: s.Machine(context.Background(), s.View, false), Eager: true, NoPins: noPins}
			return Search(context.Background(), p, Limits{}, nil)
		}
		got, plain := search(false), search(true)
		if (got.Kind == spec.Consistent) != want || plain.Kind != got.Kind {
			t.Fatalf("the twin says consistent=%v, the search %v, without pins %v: %+v", want, got.Kind, plain.Kind, h.Ops)
		}
		if got.States < plain.States {
			fewer++
		}
		count[want]++
	}
	t.Logf("consistent or not: %v; pins saved configurations in %d", count, fewer)
	if min(count[true], count[false]) < histories*15/100 || fewer < histories/10 {
		t.Errorf("consistent or not: %v; pins saved configurations in %d", count, fewer)
	}
}
