package oracles

import (
	"context"
	"slices"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
)

// circleOfThree is a correct run of EPaxos: three overlapping operations of
// different replicas of which each depends on the next, one way. They form one
// component, which every replica executes by seq: write 1, write 2, read 2.
func circleOfThree() *history.Of[models.KVIn, history.Value] {
	h := &history.Of[models.KVIn, history.Value]{}
	add := func(replica, seq int64, on int, in models.KVIn, out history.Value) {
		deps := []history.Value{history.Int(-1), history.Int(-1), history.Int(-1)}
		deps[on] = history.Int(0)
		h.Ops = append(h.Ops, history.Op[models.KVIn, history.Value]{Process: len(h.Ops), F: in.F, Key: "k", In: in, Out: out, Invoke: 0, Return: 10,
			Hints: []history.Hint{{Name: "replica", Value: history.Int(replica)}, {Name: "inst", Value: history.Int(0)},
				{Name: "seq", Value: history.Int(seq)}, {Name: "deps", Value: history.Array(deps...)}}})
	}
	add(0, 1, 1, models.Put(history.Int(1)), history.Absent)
	add(1, 2, 2, models.Put(history.Int(2)), history.Absent)
	add(2, 3, 0, models.Get(), history.Int(2))
	return h
}

// TestPairRuleAccusesACorrectStore: the published pair rule orders three
// operations in a circle that the protocol orders by seq.
func TestPairRuleAccusesACorrectStore(t *testing.T) {
	for name, want := range map[string]spec.Kind{"epaxos-pairs": spec.Violation, "epaxos": spec.Consistent, "epaxos-revisited": spec.Consistent} {
		for _, o := range []func() order.Oracle{func() order.Oracle { o, _ := Lookup(name); return o }, func() order.Oracle { return fileOf(t, name) }} {
			s := subject(t, circleOfThree())
			level, err := consistency.LookupLevel("linearizable")
			if err != nil {
				t.Fatal(err)
			}
			v, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{Oracles: []order.Oracle{o()}})
			if err != nil {
				t.Fatal(err)
			}
			if v.Kind != want {
				t.Errorf("%s: %v, want %v", name, v.Kind, want)
			}
			if want == spec.Consistent && !slices.Equal(v.Parts[0].Witness, []int32{0, 1, 2}) {
				t.Errorf("%s: the order is %v, the protocol's is 0, 1, 2", name, v.Parts[0].Witness)
			}
			if want == spec.Violation && len(v.Parts[0].Proof.Cycle) != 3 {
				t.Errorf("%s: %+v is no circle of three", name, v.Parts[0].Proof)
			}
		}
	}
}

// TestSeveralOraclesTogether: edges carry the oracle that says so, soft order
// against hard order is counted and never decides, and oracles across keys make
// the level non-local.
func TestSeveralOraclesTogether(t *testing.T) {
	load := func(text string) order.Oracle {
		t.Helper()
		o, err := Load("o.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	by := func(name, field, extra string) order.Oracle {
		return load("oracle: " + name + "\nversion: 1\nfields: {" + field + ": int}\norder_by: " + field + "\n" + extra)
	}
	h := &history.Of[models.KVIn, history.Value]{}
	for i, key := range []string{"k", "k", "l"} {
		h.Ops = append(h.Ops, history.Op[models.KVIn, history.Value]{Process: i, F: "put", Key: key, In: models.Put(history.Int(int64(i))), Return: 10,
			Hints: []history.Hint{{Name: "up", Value: history.Int(int64(i))}, {Name: "down", Value: history.Int(int64(-i))}, {Name: "ballot", Value: history.Int(7)}}})
	}
	check := func(list ...order.Oracle) *spec.Verdict {
		t.Helper()
		level, _ := consistency.LookupLevel("linearizable")
		v, err := consistency.CheckSubject(context.Background(), subject(t, h), level, consistency.Options{Oracles: list})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := check(by("one", "up", ""), by("two", "down", ""))
	if p := v.Parts[0].Proof; v.Kind != spec.Violation || !v.Split || len(p.Cycle) != 2 || !p.HintsOnly ||
		p.Cycle[0].Source == p.Cycle[1].Source || p.Cycle[0].Why == "" {
		t.Errorf("two oracles that contradict each other: %v %+v", v.Kind, p)
	}
	v = check(by("one", "up", ""), by("two", "down", "strength: soft\n"))
	const want = "soft order is against hard order for 1 of the 1 pairs that it orders; hard order wins (first: op 1 before op 0 (two: down -1 < 0), and the other way round (one: up 0 < 1))"
	if v.Kind != spec.Consistent || !slices.Contains(v.Notices, want) {
		t.Errorf("soft against hard: %v %q", v.Kind, v.Notices)
	}
	if v = check(by("one", "up", "scope: all\n")); v.Split {
		t.Error("a history was split by key under an oracle that orders all keys")
	}
	if v = check(by("one", "up", "scope: all\n"), by("two", "down", "scope: all\n")); v.Kind != spec.Violation || len(v.Parts) != 1 {
		t.Errorf("across keys: %v", v.Kind)
	}
}
