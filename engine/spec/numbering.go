package spec

import "pinyon/engine/history"

// numbering numbers comparable values from 0. Recorded values, which most are,
// have a table of their own: their handles are hashed much faster.
type numbering struct {
	recorded map[history.Value]int32
	other    map[any]int32
	count    int32
}

// of is the number of what; fresh says that it is a new one.
func (t *numbering) of(what any) (n int32, fresh bool) {
	v, recorded := what.(history.Value)
	known := false
	if recorded {
		n, known = t.recorded[v]
	} else {
		n, known = t.other[what]
	}
	if known {
		return n, false
	}
	n = t.count
	t.count++
	switch {
	case recorded && t.recorded == nil:
		t.recorded = map[history.Value]int32{v: n}
	case recorded:
		t.recorded[v] = n
	case t.other == nil:
		t.other = map[any]int32{what: n}
	default:
		t.other[what] = n
	}
	return n, true
}

// byEquality numbers comparable states.
type byEquality[S any] struct {
	numbers numbering
	states  []S
}

func (b *byEquality[S]) Number(s S) int32 {
	n, fresh := b.numbers.of(s)
	if fresh {
		b.states = append(b.states, s)
	}
	return n
}

func (b *byEquality[S]) State(n int32) S { return b.states[n] }
