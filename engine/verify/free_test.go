package verify_test

import (
	"testing"

	"pinyon/engine/brute/histgen"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// TestFree asks every pair which reads overlap a write of their key. At the
// level regular a read and a write of one key that overlap are the pairs of
// which neither comes before the other.
func TestFree(t *testing.T) {
	safe, _ := verify.Define("safe")
	regular, _ := verify.Define("regular")
	counts := map[bool]int{}
	each(t, 2000, func(c *histgen.Case, s *spec.Subject, _ string) {
		v := s.View
		free := safe.Free(v)
		for r := range int32(v.N) {
			want := false
			for w := range int32(v.N) {
				want = want || v.Read[r] && !v.Read[w] && !v.Idle[w] && v.Key[r] == v.Key[w] &&
					!regular.Holds(v, r, w) && !regular.Holds(v, w, r)
			}
			if free[r] != want {
				t.Fatalf("operation %d is free: %v, want %v\n%s", r, free[r], want, c.Text())
			}
			counts[want]++
		}
	})
	if counts[true] < 1000 || counts[false] < 1000 {
		t.Errorf("one-sided: %v", counts)
	}
}
