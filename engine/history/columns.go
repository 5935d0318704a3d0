package history

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Column holds one hint of all operations of a View, by type. A hint that is
// missing, of another type, or out of range is missing; a nil Column misses
// everything.
type Column struct {
	Name    string
	kind    []Kind  // KindAbsent, KindInt, KindString, KindArray or KindObject
	num     []int64 // the integer, or the index into one of the slices below
	strings []string
	lists   [][]int64
	objects []map[string]int64
}

func newColumn(name string, n int) *Column {
	return &Column{Name: name, kind: make([]Kind, n), num: make([]int64, n)}
}

// set stores v for operation i; a value that no hint can hold stays missing.
func (c *Column) set(i int, v Value) {
	k := v.Kind()
	switch k {
	case KindInt:
		c.num[i], _ = v.Int64()
	case KindString, KindKeyword:
		s, _ := v.Str()
		k = KindString
		c.num[i] = int64(len(c.strings))
		c.strings = append(c.strings, s)
	case KindArray:
		elems, _ := v.Elems()
		list := make([]int64, len(elems))
		for j, e := range elems {
			n, ok := e.Int64()
			if !ok {
				return
			}
			list[j] = n
		}
		c.num[i] = int64(len(c.lists))
		c.lists = append(c.lists, list)
	case KindObject:
		ms, _ := v.Members()
		obj := make(map[string]int64, len(ms))
		for _, m := range ms {
			n, ok := m.Value.Int64()
			if !ok {
				return
			}
			name, _ := m.Key.Str()
			obj[name] = n
		}
		c.num[i] = int64(len(c.objects))
		c.objects = append(c.objects, obj)
	default:
		return
	}
	c.kind[i] = k
}

// Int returns the integer that operation i holds.
func (c *Column) Int(i int32) (int64, bool) {
	if c == nil || c.kind[i] != KindInt {
		return 0, false
	}
	return c.num[i], true
}

// Str returns the string that operation i holds.
func (c *Column) Str(i int32) (string, bool) {
	if c == nil || c.kind[i] != KindString {
		return "", false
	}
	return c.strings[c.num[i]], true
}

// List returns the array that operation i holds; it must not be changed.
func (c *Column) List(i int32) ([]int64, bool) {
	if c == nil || c.kind[i] != KindArray {
		return nil, false
	}
	return c.lists[c.num[i]], true
}

// At returns element k of the array that operation i holds.
func (c *Column) At(i int32, k int64) (int64, bool) {
	list, ok := c.List(i)
	if !ok || k < 0 || k >= int64(len(list)) {
		return 0, false
	}
	return list[k], true
}

// Field returns the member name of the object that operation i holds.
func (c *Column) Field(i int32, name string) (int64, bool) {
	if c == nil || c.kind[i] != KindObject {
		return 0, false
	}
	n, ok := c.objects[c.num[i]][name]
	return n, ok
}

// Text returns what operation i holds as people read it.
func (c *Column) Text(i int32) (string, bool) {
	if !c.Has(i) {
		return "", false
	}
	switch c.kind[i] {
	case KindInt:
		return strconv.FormatInt(c.num[i], 10), true
	case KindString:
		return c.strings[c.num[i]], true
	case KindArray:
		return fmt.Sprint(c.lists[c.num[i]]), true
	}
	var members []string
	for _, name := range slices.Sorted(maps.Keys(c.objects[c.num[i]])) {
		members = append(members, fmt.Sprintf("%s:%d", name, c.objects[c.num[i]][name]))
	}
	return "{" + strings.Join(members, " ") + "}", true
}

// Has reports whether operation i holds anything.
func (c *Column) Has(i int32) bool { return c != nil && c.kind[i] != KindAbsent }

// slice returns the column of the operations keep.
func (c *Column) slice(keep []int32) *Column {
	d := *c
	d.kind, d.num = make([]Kind, len(keep)), make([]int64, len(keep))
	for j, i := range keep {
		d.kind[j], d.num[j] = c.kind[i], c.num[i]
	}
	return &d
}

// Columns are the hints of a View by name.
type Columns map[string]*Column

// Names returns the names of the hints, sorted.
func (c Columns) Names() []string {
	names := make([]string, 0, len(c))
	for n := range c {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
