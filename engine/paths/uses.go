package paths

import (
	"encoding/binary"
	"slices"
)

// uses numbers multisets of classes: which updates without an answer were
// applied. Number 0 is the empty one.
type uses struct {
	sets    [][]use
	numbers map[string]int32
	sums    map[[2]int32]int32
}

type use struct{ class, count int32 }

func (u *uses) init() {
	if u.sets == nil {
		u.sets, u.numbers, u.sums = [][]use{nil}, map[string]int32{"": 0}, map[[2]int32]int32{}
	}
}

// count is how often a set holds a class.
func (u *uses) count(set, class int32) int {
	if set == 0 {
		return 0
	}
	for _, e := range u.sets[set] {
		if e.class == class {
			return int(e.count)
		}
	}
	return 0
}

// add is the number of the set with one of class more.
func (u *uses) add(set, class int32) int32 {
	u.init()
	k := [2]int32{set, class}
	if n, ok := u.sums[k]; ok {
		return n
	}
	list := slices.Clone(u.sets[set])
	i, found := slices.BinarySearchFunc(list, class, func(e use, c int32) int { return int(e.class) - int(c) })
	if found {
		list[i].count++
	} else {
		list = slices.Insert(list, i, use{class, 1})
	}
	var key []byte
	for _, e := range list {
		key = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(key, uint32(e.class)), uint32(e.count))
	}
	n, ok := u.numbers[string(key)]
	if !ok {
		n = int32(len(u.sets))
		u.numbers[string(key)] = n
		u.sets = append(u.sets, list)
	}
	u.sums[k] = n
	return n
}

// within reports whether b holds all that a holds.
func (u *uses) within(a, b int32) bool {
	if a == 0 {
		return true
	}
	for _, e := range u.sets[a] {
		if u.count(b, e.class) < int(e.count) {
			return false
		}
	}
	return true
}
