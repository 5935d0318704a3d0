package oracles

import (
	"testing"

	"pinyon/engine/order"
)

// TestSkyrosOfSeveralLengths: arrays of several lengths are ordered as the
// definition says, pair by pair, and without trying pairs where the lengths are few.
func TestSkyrosOfSeveralLengths(t *testing.T) {
	r := twinRand(77)
	skyros, _ := Lookup("skyros")
	var dominated, byPairs int
	for range *builtinRuns {
		v := unevenly(r, []string{"view", "leader", "DIdx", "CIdx"}, 10, 4+r.IntN(5))
		x, err := apply(skyros, v)
		if err != nil {
			t.Fatal(err)
		}
		raw := order.NewRules(v)
		if err := skyrosOrder(v, raw); err != nil {
			t.Fatal(err)
		}
		for _, s := range raw.Hard {
			switch s.Relation.(type) {
			case *order.Pair:
				byPairs++
			case *order.Dominance:
				dominated++
			}
		}
		d := &reader{v}
		for a := range int32(v.N) {
			for b := range int32(v.N) {
				if got, want := a != b && precedes(x.Hard, a, b), a != b && d.skyros(a, b); got != want {
					t.Fatalf("%d before %d: %v, the definition says %v\n%s", a, b, got, want, described(v))
				}
			}
		}
	}
	if t.Logf("dominances %d, by pairs %d", dominated, byPairs); min(dominated, byPairs) == 0 {
		t.Error("one of the two was never used")
	}
}
