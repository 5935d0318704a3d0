package spec

import (
	"math/rand/v2"
	"testing"

	"pinyon/engine/history"
)

// TestNumbering: equal values have one number, in the order in which they came,
// wherever they are kept.
func TestNumbering(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var n numbering
		want := map[any]int32{}
		for range 500 {
			var what any
			switch k := rng.IntN(400); rng.IntN(6) {
			case 0:
				what = history.String(string(rune('a' + k%26)))
			case 1:
				what = k
			case 2:
				what = history.Int(int64(k*k) - 100)
			case 3:
				what = history.Absent
			default:
				what = history.Int(int64(k))
			}
			number, known := want[what]
			if !known {
				number = int32(len(want))
				want[what] = number
			}
			if got, fresh := n.of(what); got != number || fresh == known {
				t.Fatalf("%v is %d, new: %v; want %d, new: %v", what, got, fresh, number, !known)
			}
		}
	}
}
