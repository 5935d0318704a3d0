package consistency

import (
	"encoding/binary"
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// logWindow is the validity of cosmos-tla2022: all writes, of every key, make
// one log, and a read may return what its key held after any of the last k
// prefixes of it, the whole log included (k >= 1; 1 is RVal). KStale counts
// the versions of one key; this counts the entries of the log.
func logWindow(k int) spec.Validity {
	return spec.Validity{Name: fmt.Sprintf("LogWindow(%d)", k), EagerReads: true, Over: func(m spec.Machine, v *history.View) (spec.Machine, error) {
		if v.Read == nil {
			return nil, spec.ErrCannotTell
		}
		w := &window{base: m, view: v, k: int32(k), numbers: map[string]int32{}}
		if nd, ok := m.(spec.Nondeterministic); ok {
			return &windowSets{w, nd}, nil
		}
		return w, nil
	}}
}

// version is what a key held from one length of the log on.
type version struct{ state, since int32 }

// window's states are lists of versions, oldest first.
type window struct {
	base    spec.Machine
	view    *history.View
	k       int32
	length  int32 // of the log: writes placed
	numbers map[string]int32
	lists   [][]version
	held    int64 // versions in all lists
}

func (w *window) Restart()          { w.length = 0 }
func (w *window) Placed(op int32)   { w.count(op, 1) }
func (w *window) Unplaced(op int32) { w.count(op, -1) }

func (w *window) count(op, n int32) {
	if !w.view.Read[op] {
		w.length += n
	}
}

func (w *window) number(list []version) int32 {
	var key []byte
	for _, v := range list {
		key = binary.LittleEndian.AppendUint64(key, uint64(uint32(v.state))<<32|uint64(uint32(v.since)))
	}
	n, ok := w.numbers[string(key)]
	if !ok {
		n = int32(len(w.lists))
		w.numbers[string(key)] = n
		w.lists = append(w.lists, list)
		w.held += int64(len(list))
	}
	return n
}

func (w *window) Init(key int32) int32 { return w.number([]version{{w.base.Init(key), 0}}) }

// seen is the part of the list that the last k prefixes of a log of this
// length hold. A version is there until the next one of its key.
func (w *window) seen(list []version, length int32) []version {
	for len(list) > 1 && list[1].since-1 < length-w.k+1 {
		list = list[1:]
	}
	return list
}

func (w *window) Step(state, op int32) (int32, bool) {
	list := w.lists[state]
	if w.view.Read[op] {
		for _, v := range w.seen(list, w.length) {
			if _, ok := w.base.Step(v.state, op); ok {
				return state, true
			}
		}
		return 0, false
	}
	next, ok := w.base.Step(list[len(list)-1].state, op)
	if !ok {
		return 0, false
	}
	return w.push(list, next), true
}

// push returns the list with one version more, in an array of its own.
func (w *window) push(list []version, next int32) int32 {
	kept := w.seen(append(append([]version(nil), list...), version{next, w.length + 1}), w.length+1)
	return w.number(kept)
}

// Class implements spec.Classer.
func (w *window) Class(op int32) int32 { return spec.ClassOf(w.base, op) }

// Bytes implements spec.Sizer.
func (w *window) Bytes() int64 { return spec.BytesOf(w.base) + int64(len(w.lists))*120 + 16*w.held }

// Describe implements spec.Describer.
func (w *window) Describe(state int32) string {
	var words []string
	for _, v := range w.lists[state] {
		words = append(words, spec.DescribeState(w.base, v.state))
	}
	return strings.Join(words, ", then ")
}

// windowSets is window over a nondeterministic base.
type windowSets struct {
	*window
	nd spec.Nondeterministic
}

func (w *windowSets) Steps(state, op int32) (next []int32) {
	list := w.lists[state]
	if w.view.Read[op] {
		for _, v := range w.seen(list, w.length) {
			if len(w.nd.Steps(v.state, op)) > 0 {
				return []int32{state}
			}
		}
		return nil
	}
	for _, n := range w.nd.Steps(list[len(list)-1].state, op) {
		next = append(next, w.push(list, n))
	}
	return next
}
