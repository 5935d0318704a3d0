package brute

import (
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// closedRegister checks the first condition of Core for a register-like object:
// for each operation of ops that finds a value, all that leaves that value is in
// ops. What stands between it and the one that it read from is then of no value
// to it, and can be left out.
func closedRegister(v *history.View, t spec.Tokens, ops []int32) error {
	in, found := make(map[int32]bool, len(ops)), map[int32]bool{} // operations, and the values that they find
	for _, x := range ops {
		if in[x] {
			return fmt.Errorf("operation %d stands twice", x)
		}
		if in[x] = true; v.Read[x] && t.Observes(x) {
			return fmt.Errorf("operation %d says only which value was not there", x)
		}
		if want := t.Want(x); want >= 0 {
			found[want] = true
		}
	}
	for x := range int32(v.N) {
		idle := v.Read[x] || v.Idle != nil && v.Idle[x]
		switch {
		case v.Key[x] != v.Key[0]:
			return fmt.Errorf("operation %d is of another key", x)
		case idle || in[x] || t.Write(x) >= 0 && t.Write(x) == t.Want(x): // the last finds what it leaves
		case t.Write(x) < 0:
			return fmt.Errorf("operation %d may leave anything", x)
		case found[t.Write(x)]:
			return fmt.Errorf("operation %d leaves a value that one of the core finds, and is left out", x)
		}
	}
	return nil
}
