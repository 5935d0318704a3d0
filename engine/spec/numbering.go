package spec

import "pinyon/engine/history"

// numbering numbers comparable values from 0. Recorded values, which most are,
// have a table of their own: their handles are hashed much faster. Integers that
// are about as small as values are many, as they mostly are, have a list.
type numbering struct {
	small    []int32 // by integer: its number plus one, 0: it has none, or one in the table
	recorded map[history.Value]int32
	other    map[any]int32
	count    int32
}

// of is the number of what; fresh says that it is a new one.
func (t *numbering) of(what any) (n int32, fresh bool) {
	v, recorded := what.(history.Value)
	if !recorded {
		if n, known := t.other[what]; known {
			return n, false
		}
		if t.other == nil {
			t.other = map[any]int32{}
		}
		t.other[what] = t.next()
		return t.count - 1, true
	}
	i, integer := v.Int64()
	if integer && uint64(i) < uint64(len(t.small)) && t.small[i] > 0 {
		return t.small[i] - 1, false
	}
	if n, known := t.recorded[v]; known {
		return n, false
	}
	if integer && t.list(i) {
		t.small[i] = t.next() + 1
		return t.count - 1, true
	}
	if t.recorded == nil {
		t.recorded = map[history.Value]int32{}
	}
	t.recorded[v] = t.next()
	return t.count - 1, true
}

func (t *numbering) next() int32 {
	t.count++
	return t.count - 1
}

// list makes the list long enough for i, unless that is too great for it.
func (t *numbering) list(i int64) bool {
	most := 4 * (int64(t.count) + 64)
	if i < 0 || i >= most {
		return false
	}
	if i >= int64(len(t.small)) {
		t.small = append(t.small, make([]int32, i+1-int64(len(t.small)))...)
	}
	return true
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
