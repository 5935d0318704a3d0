package spec

// Replayer is implemented by a Machine that performs an order without
// numbering the states that it goes through, so that a long one leaves none
// behind.
type Replayer interface {
	// Replay performs the operations, all of one object, one after the other
	// from its initial state, and returns how many were legal.
	Replay(order []int32) int
}

// Replay implements Replayer.
func (k *tokened[S, In, Out]) Replay(order []int32) int { return k.replay(order) }

func (t *typed[S, In, Out]) replay(order []int32) int {
	if len(order) == 0 {
		return 0
	}
	var s S
	if t.model.InitFor != nil {
		s = t.model.InitFor(t.view.KeyName[t.view.Key[order[0]]])
	} else {
		s = t.model.Init()
	}
	for i, op := range order {
		next, ok := t.onState(s, op)
		if !ok {
			return i
		}
		s = next
	}
	return len(order)
}

// onState is one step on the states of the model.
func (t *typed[S, In, Out]) onState(s S, op int32) (next S, ok bool) {
	defer t.blame(op)
	return t.stepFrom(s, op)
}
