package paths

import "pinyon/engine/spec"

// accept turns a line into an answer, after it was checked: every required
// operation stands in it once, none before one that it must follow, and for
// each key it is legal, by what its operations find and leave and on the model.
func (k *keyed) accept(line []int32) Answer {
	line, why := k.aside.putBack(line, &k.hard, k.v.Key, k.write, func(key int32) int32 { return k.initial[key] })
	if why != "" {
		return cannotTell(why)
	}
	if why := k.fault(line); why != "" {
		return Answer{Kind: spec.Unknown, Reason: "the order that it found does not hold: " + why, Broken: true}
	}
	return Answer{Kind: spec.Consistent, Witness: line}
}

// fault is why line is no witness; "" when it is one.
func (k *keyed) fault(line []int32) string {
	seen := make([]bool, k.v.N)
	for _, x := range line {
		if seen[x] {
			return "an operation stands twice"
		}
		seen[x] = true
	}
	for x, info := range k.v.Info {
		if !info && !seen[x] {
			return "an operation is missing"
		}
	}
	if !k.hard.obeyed(line) {
		return "hard order is not obeyed"
	}
	held := append([]int32(nil), k.initial...)
	byKey := make([][]int32, len(held))
	for _, x := range line {
		key := k.v.Key[x]
		if k.demand[x] >= 0 && held[key] != k.demand[x] {
			return "an operation does not find what it must"
		}
		if k.write[x] >= 0 {
			held[key] = k.write[x]
		}
		byKey[key] = append(byKey[key], x)
	}
	for _, ops := range byKey {
		if k.p.Machine.(spec.Replayer).Replay(ops) < len(ops) {
			return "an operation is not legal"
		}
	}
	return ""
}
