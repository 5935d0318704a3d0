package spec

import (
	"encoding/binary"
	"slices"
)

// packInts makes a map key of a list.
func packInts(list []int32) string {
	b := make([]byte, 0, 4*len(list))
	for _, n := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return string(b)
}

// sortedUnique returns the distinct members of list, ascending, in an array of
// its own.
func sortedUnique(list []int32) []int32 {
	s := slices.Clone(list)
	slices.Sort(s)
	return slices.Clip(slices.Compact(s))
}
