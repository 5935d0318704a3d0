package paths_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
	"pinyon/models"
)

// TestManyKeysGuess compares the path with the search where nothing follows
// from what was read: two writes of x and two of y, in any of four orders, each
// of which may be forbidden. For each choice there are two reads of each write,
// and order from writes to reads that closes a circle with that choice.
func TestManyKeysGuess(t *testing.T) {
	names := []string{"x", "x", "y", "y"} // writes 0, 1 of x and 2, 3 of y
	for forbidden := range 16 {
		h := &history.Of[models.RegisterIn, history.Value]{}
		add := func(key, f string, v int, in models.RegisterIn) int32 {
			op := history.Op[models.RegisterIn, history.Value]{Process: len(h.Ops), F: f, Key: key, Invoke: int64(len(h.Ops)), Return: 100, In: in, Out: history.Absent}
			if f == "read" {
				op.Out = value(v)
			}
			h.Ops = append(h.Ops, op)
			return int32(len(h.Ops)) - 1
		}
		for w, key := range names {
			add(key, "write", w+1, models.Write(value(w+1)))
		}
		var pairs [][2]int32
		for choice := range 4 {
			if forbidden>>choice&1 == 0 {
				continue
			}
			a, b := choice&1, 2+choice>>1 // the writes that come first
			readA, readB := add("x", "read", a+1, models.Read()), add("y", "read", b+1, models.Read())
			pairs = append(pairs, [2]int32{int32(1 - a), readB}, [2]int32{int32(5 - b), readA})
		}
		s, err := spec.Erase(h, models.Register(value(0)))
		if err != nil {
			t.Fatal(err)
		}
		edges, err := order.NewEdges(s.View.N, pairs, nil)
		if err != nil {
			t.Fatal(err)
		}
		rules := order.NewRules(s.View)
		rules.Hard = append(rules.Hard, order.Session(s.View, nil, false), order.Source{Relation: edges, Name: "edges", Hint: true})
		c := &manyTally{}
		_, got := c.compare(t, s, "sequential", rules, engine.Limits{})
		manyAgainstTwin(t, s, "sequential", rules, got)
		if want := forbidden == 15; got.Engine != "many-keys" || want != (got.Kind == spec.Violation) {
			t.Errorf("%04b: %v by %s (%s)", forbidden, got.Kind, got.Engine, got.Tried)
		}
	}
}

// TestManyKeysDrift decides consistent histories whose sessions drifted far
// apart, in which most orders are open and some must be guessed.
func TestManyKeysDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0))
	for range 200 {
		s := manyKeys(r, manyShape{shape: shape{ops: 150, processes: 12}, keys: 8, sessions: true})
		rules := order.NewRules(s.View)
		rules.Hard = append(rules.Hard, order.Session(s.View, nil, false))
		p := &paths.Problem{Rules: rules, Machine: s.Machine(context.Background(), s.View, false)}
		if a, _ := paths.Try(p, []paths.Path{paths.ManyKeys}); a.Kind != spec.Consistent {
			t.Fatalf("%v (%s)\n%s", a.Kind, fmt.Sprint(a.Reason, a.Words), show(s))
		}
	}
}
