package paths_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pinyon/engine/paths"
	"pinyon/engine/spec"
)

// TestReplayEqualsModel: the plain container takes as many operations of a
// random order as the model does.
func TestReplayEqualsModel(t *testing.T) {
	for k, name := range structures {
		r := rand.New(rand.NewPCG(5, uint64(k)))
		whole, broken := 0, 0
		for range 3000 {
			ops, ties := generate(r, name, small(r))
			s := subject(name, ops, ties)
			m := s.Machine(context.Background(), s.View, false).(spec.Containers)
			line := make([]int32, s.View.N)
			for i := range line {
				line[i] = int32(i)
			}
			if r.IntN(2) == 0 {
				if part := decide(t, s, true, limitless); part.Kind == spec.Consistent {
					line = slices.Clone(part.Witness)
				}
			}
			if x := r.IntN(len(line)); r.IntN(2) == 0 {
				line[0], line[x] = line[x], line[0]
			}
			got, want := paths.Replayed(m.Accesses(), line), m.Replay(line)
			if got != want {
				t.Fatalf("%s: %d operations of %v, the model takes %d\n%s", name, got, line, want, show(s))
			}
			if got == len(line) {
				whole++
			} else {
				broken++
			}
		}
		if whole < 300 || broken < 300 {
			t.Errorf("%s: %d whole, %d broken", name, whole, broken)
		}
	}
}
