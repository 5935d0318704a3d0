package history

// ObserveRefusedCas turns every failed compare-and-set that the store refused
// (Origin.Refused) into an ok one that returned false: the state was not what
// it was compared with. It returns how many there were. It is the meaning of
// --fail-cas observe.
func ObserveRefusedCas(h *Raw) int {
	if h.Origins == nil {
		return 0
	}
	n := 0
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Outcome == Fail && op.F == "cas" && h.Origins[i].Refused {
			op.Outcome, op.Out, op.NoOut = OK, False, false
			n++
		}
	}
	return n
}

// FoldNumbers makes numbers that are equal one value: each decimal of integral
// value in an input, an output or the initial value becomes the integer. Keys
// and hints stay. It is the meaning of --numeric equal.
func FoldNumbers(h *Raw) {
	folded := map[Value]Value{}
	fold := func(v Value) Value {
		f, known := folded[v]
		if !known {
			f = v.FoldNumbers()
			folded[v] = f
		}
		return f
	}
	h.Header.Initial = fold(h.Header.Initial)
	for i := range h.Ops {
		h.Ops[i].In, h.Ops[i].Out = fold(h.Ops[i].In), fold(h.Ops[i].Out)
	}
}
