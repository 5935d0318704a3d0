package brute

import (
	"context"
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// closedRegister checks the first condition of Core for register-like objects,
// one or more: for each operation of ops that finds a value, all that leaves
// that value in its key is in ops. What stands between it and the one that it
// read from is then of no value to it, and can be left out.
func closedRegister(v *history.View, t spec.Tokens, ops []int32) error {
	type held struct{ key, value int32 }
	in, found := make(map[int32]bool, len(ops)), map[held]bool{} // operations, and the values that they find
	for _, x := range ops {
		if in[x] {
			return fmt.Errorf("operation %d stands twice", x)
		}
		if in[x] = true; v.Read[x] && t.Observes(x) {
			return fmt.Errorf("operation %d says only which value was not there", x)
		}
		if want := t.Want(x); want >= 0 {
			found[held{v.Key[x], want}] = true
		}
	}
	for x := range int32(v.N) {
		idle := v.Read[x] || v.Idle != nil && v.Idle[x]
		switch {
		case idle || in[x] || t.Write(x) >= 0 && t.Write(x) == t.Want(x): // the last finds what it leaves
		case t.Write(x) < 0:
			return fmt.Errorf("operation %d may leave anything", x)
		case found[held{v.Key[x], t.Write(x)}]:
			return fmt.Errorf("operation %d leaves a value that one of the core finds, and is left out", x)
		}
	}
	return nil
}

// registerLike reports whether the keys of s hold register-like objects.
func registerLike(s *spec.Subject) bool {
	_, ok := s.Machine(context.Background(), s.View, false).(spec.Tokens)
	return ok && s.View.Read != nil
}
