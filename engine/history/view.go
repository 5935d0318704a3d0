package history

import (
	"errors"
	"slices"
	"strconv"
)

// ErrCannotTell is returned where a level or an oracle asks what a read is and
// View.Read is nil, as the model has no ReadOnly.
var ErrCannotTell = errors.New("the model cannot tell reads from writes (it has no ReadOnly), and the level or oracle asks")

// View is what orders, oracles and validity see of a history: columns over
// the operations that may have taken effect (OK and Info; a Fail is not
// there). Indexes 0..N-1 are positions in the View; Ops leads back to the
// history. A View is read-only once built.
type View struct {
	N   int
	Ops []int32 // index of each operation in the history

	Process, Node, F, Key                 []int32 // codes into the names below
	ProcessName, NodeName, FName, KeyName []string

	Invoke, Return []int64 // ns as recorded; Return is Never for Info
	Call, Ret      []int64 // the clock that decides real-time order: Invoke and Return, or event positions
	Info           []bool
	Read           []bool // read-only by input and output; Info is never one; nil: the model cannot tell
	Idle           []bool // Info, and read-only whatever the answer: never worth placing; nil: none

	Hints   Columns
	In, Out []Value // recorded values, for rules; nil for typed histories. Absent output: not recorded

	Ties       Ties
	ClockError ClockError
	Order      OrderBy
	Untimed    bool
}

// NewView builds the View of h. Read is left nil: only a model can tell.
func NewView[In, Out any](h *Of[In, Out]) *View {
	v := &View{Ties: h.Header.Ties, ClockError: h.Header.ClockError, Order: h.Order, Untimed: h.Untimed, Hints: Columns{}}
	n := len(h.Ops)
	node, f, key, process := newCodes(n), newCodes(n), newCodes(n), newCodes(n)
	v.Ops = make([]int32, 0, n)
	for i := range h.Ops {
		if h.Ops[i].Outcome != Fail {
			v.Ops = append(v.Ops, int32(i))
		}
		key.code(h.Ops[i].Key) // a key whose operations all failed is still a key
	}
	named := make([]int32, len(h.Processes)) // by process: its code, plus one
	if h.Processes == nil {
		named = make([]int32, 64) // most numbers of processes are small
	}
	v.N = len(v.Ops)
	v.Invoke, v.Return, v.Info = make([]int64, v.N), make([]int64, v.N), make([]bool, v.N)
	for j, i := range v.Ops {
		op := &h.Ops[i]
		if p := op.Process; p < 0 || p >= len(named) {
			process.add(h.ProcessName(int(i)))
		} else {
			if named[p] == 0 {
				named[p] = process.code(h.ProcessName(int(i))) + 1
			}
			process.codes = append(process.codes, named[p]-1)
		}
		node.add(op.Node)
		f.add(op.F)
		key.add(op.Key)
		v.Invoke[j], v.Return[j] = op.Invoke, op.Return
		if v.Info[j] = op.Outcome == Info; v.Info[j] {
			v.Return[j] = Never
		}
		for _, hint := range op.Hints {
			c := v.Hints[hint.Name]
			if c == nil {
				c = newColumn(hint.Name, v.N)
				v.Hints[hint.Name] = c
			}
			c.set(j, hint.Value)
		}
	}
	v.Process, v.ProcessName = process.codes, process.names
	v.Node, v.NodeName = node.codes, node.names
	v.F, v.FName = f.codes, f.names
	v.Key, v.KeyName = key.codes, key.names
	v.Call, v.Ret = v.Invoke, v.Return
	if h.Order == ByLine {
		v.orderByLine(h.Origins)
	}
	return v
}

func (v *View) orderByLine(origins []Origin) {
	v.Call, v.Ret = make([]int64, v.N), make([]int64, v.N)
	for j, i := range v.Ops {
		v.Call[j], v.Ret[j] = int64(origins[i].Seq), int64(origins[i].DoneSeq)
		if v.Info[j] {
			v.Ret[j] = Never
		}
	}
}

// codes numbers names in the order of their first appearance.
type codes struct {
	codes []int32
	names []string
	byStr map[string]int32 // nil while there are few names
}

// fewNames is the number of names up to which looking at each is faster than
// hashing.
const fewNames = 4

func newCodes(n int) *codes { return &codes{codes: make([]int32, 0, n)} }

func (c *codes) code(s string) int32 {
	if c.byStr == nil {
		if k := slices.Index(c.names, s); k >= 0 {
			return int32(k)
		}
	} else if k, ok := c.byStr[s]; ok {
		return k
	}
	k := int32(len(c.names))
	c.names = append(c.names, s)
	switch {
	case c.byStr != nil:
		c.byStr[s] = k
	case len(c.names) > fewNames:
		c.byStr = make(map[string]int32, 2*fewNames)
		for k, name := range c.names {
			c.byStr[name] = int32(k)
		}
	}
	return k
}

func (c *codes) add(s string) { c.codes = append(c.codes, c.code(s)) }

// Slice returns the View of the operations keep (positions in v), which keep
// their codes and names.
func (v *View) Slice(keep []int32) *View {
	w := *v
	w.N = len(keep)
	w.Ops = pick(v.Ops, keep)
	w.Process, w.Node, w.F, w.Key = pick(v.Process, keep), pick(v.Node, keep), pick(v.F, keep), pick(v.Key, keep)
	w.Invoke, w.Return, w.Info = pick(v.Invoke, keep), pick(v.Return, keep), pick(v.Info, keep)
	w.Call, w.Ret = w.Invoke, w.Return
	if v.Order == ByLine {
		w.Call, w.Ret = pick(v.Call, keep), pick(v.Ret, keep)
	}
	w.Read, w.Idle = pick(v.Read, keep), pick(v.Idle, keep)
	w.In, w.Out = pick(v.In, keep), pick(v.Out, keep)
	w.Hints = make(Columns, len(v.Hints))
	for name, c := range v.Hints {
		w.Hints[name] = c.slice(keep)
	}
	return &w
}

func pick[T any](s []T, keep []int32) []T {
	if s == nil {
		return nil
	}
	t := make([]T, len(keep))
	for j, i := range keep {
		t[j] = s[i]
	}
	return t
}

// Keys returns the positions of each key's operations, by key code; a code
// without operations (all failed) has none.
func (v *View) Keys() [][]int32 {
	byKey := make([][]int32, len(v.KeyName))
	for i, k := range v.Key {
		byKey[k] = append(byKey[k], int32(i))
	}
	return byKey
}

// KeyOrder returns the key codes in the order in which reports name keys: by
// length and then text for numbers, by text otherwise.
func (v *View) KeyOrder() []int32 {
	order := make([]int32, len(v.KeyName))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return compareKeys(v.KeyName[a], v.KeyName[b]) })
	return order
}

func compareKeys(a, b string) int {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	switch {
	case errX == nil && errY == nil && x != y:
		if x < y {
			return -1
		}
		return 1
	case (errX == nil) != (errY == nil):
		if errX == nil {
			return -1
		}
		return 1
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
