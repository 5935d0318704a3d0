package main

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"

	"pinyon/engine/history"
)

// kind is what an operation does.
type kind uint8

const (
	write kind = iota
	read
	cas
	appendTo // of a log
	get
	readAll
	add // of a container, or to a counter
	take
	peek
	concat // to the text of a key
)

// kinds are the operations of each model by their names.
var kinds = map[string]map[string]kind{
	"register":     {"write": write, "put": write, "read": read, "get": read},
	"cas-register": {"write": write, "put": write, "read": read, "get": read, "cas": cas},
	"kv":           {"put": write, "write": write, "get": read, "read": read, "cas": cas},
	"kv-text":      {"put": write, "write": write, "get": read, "read": read, "append": concat},
	"log":          {"append": appendTo, "get": get, "read": readAll},
	"queue":        {"enqueue": add, "dequeue": take, "peek": peek},
	"stack":        {"push": add, "pop": take, "peek": peek},
	"counter":      {"add": add, "read": read},
}

// input and output of an operation, with values as numbers: nothing is compared
// but numbers while Porcupine works.
type input struct {
	kind      kind
	key       int
	value, to int
	text      string // of kv-text
}

type output struct {
	known bool // else any answer will do
	value int
	list  []int
	text  string // of kv-text
}

// none stands for an answer of null.
const none = -1

// translator numbers values; equal values get equal numbers.
type translator struct {
	model  string
	number map[history.Value]int
	keys   map[string]int
}

func (t *translator) value(v history.Value) int {
	if v == history.Null && t.model != "register" && t.model != "cas-register" && t.model != "kv" {
		return none
	}
	if n, ok := v.Int64(); ok && (t.model == "counter" || t.model == "log") {
		return int(n)
	}
	n, ok := t.number[v]
	if !ok {
		n = len(t.number)
		t.number[v] = n
	}
	return n
}

// translate makes Porcupine's operations. An operation without an answer
// returns at the end of time: an update that never happened then changes
// nothing that anybody sees. One that failed is left out.
func translate(h *history.Raw, model string) (m porcupine.Model, ops []porcupine.Operation, err error) {
	if model == "kv" && slices.ContainsFunc(h.Ops, func(op history.Op[history.Value, history.Value]) bool { return op.F == "append" }) {
		model = "kv-text"
	}
	names, ok := kinds[model]
	if !ok {
		return m, nil, fmt.Errorf("there is no model %q here", model)
	}
	if h.Header.Ties == history.TiesPrecede || h.Header.ClockError.All != 0 || h.Header.ClockError.ByNode != nil {
		return m, nil, fmt.Errorf("%s: ties that precede and clock errors are not Porcupine's", h.Path)
	}
	if h.Header.FailCas == "observe" {
		history.ObserveRefusedCas(h)
	}
	t := &translator{model: model, number: map[history.Value]int{}, keys: map[string]int{}}
	for i := range h.Ops {
		op := &h.Ops[i]
		k, ok := names[op.F]
		if !ok {
			return m, nil, h.Errorf(i, "the model %s has no operation %s here", model, op.F)
		}
		unknown := op.Outcome == history.Info || op.NoOut || op.Out == history.Null && h.Header.NilRead == "unknown"
		looks := k == read || k == get || k == readAll || k == peek
		if op.Outcome == history.Fail || unknown && looks {
			continue
		}
		ops = append(ops, t.operation(h, i, k, !unknown))
	}
	initial := h.Header.Initial
	if initial == history.Absent {
		initial = history.Null
	}
	if text, isText := initial.Str(); model == "kv-text" && (isText || initial == history.Null) {
		return textModel(text), ops, nil
	}
	if m, ok = modelOf(model, t.value(initial)); !ok || initial.Kind() == history.KindObject {
		return m, nil, fmt.Errorf("%s: an initial value %s cannot be given to this model", h.Path, initial.Text())
	}
	return m, ops, nil
}

func (t *translator) operation(h *history.Raw, i int, k kind, known bool) porcupine.Operation {
	op := &h.Ops[i]
	in, out := input{kind: k}, output{known: known}
	in.key = len(t.keys)
	if n, ok := t.keys[op.Key]; ok {
		in.key = n
	}
	t.keys[op.Key] = in.key
	if t.model == "kv-text" { // an absent key is the empty text
		in.text, _ = op.In.Str()
		out.text, _ = op.Out.Str()
	}
	in.value, out.value = t.value(op.In), t.value(op.Out)
	switch k {
	case cas:
		pair, _ := op.In.Elems()
		in.value, in.to = t.value(pair[0]), t.value(pair[1])
		out.value = 1
		if op.Out == history.False {
			out.value = 0
		}
	case readAll:
		elems, _ := op.Out.Elems()
		for _, e := range elems {
			out.list = append(out.list, t.value(e))
		}
	case appendTo:
		out.known = known && op.Out != history.Absent
	}
	end := op.Return
	if op.Outcome == history.Info {
		end = math.MaxInt64
	}
	return porcupine.Operation{ClientId: op.Process, Input: in, Output: out, Call: op.Invoke, Return: end}
}

// modelOf is the model of Porcupine, split by key where there are keys. Its
// states are numbers, or lists that are never changed, with Hash and Equal as
// its documentation recommends.
func modelOf(model string, initial int) (porcupine.Model, bool) {
	m := porcupine.Model{Partition: byKey}
	switch model {
	case "register", "cas-register", "kv":
		m.Init = func() any { return initial }
		m.Step = stepRegister
	case "counter":
		m.Init = func() any { return 0 }
		m.Step = stepCounter
	default:
		m.Init = func() any { return []int(nil) }
		m.Equal = func(a, b any) bool { return slices.Equal(a.([]int), b.([]int)) }
		m.Hash = func(s any) uint64 {
			h := uint64(len(s.([]int)))
			for _, v := range s.([]int) {
				h = mix(h ^ uint64(v))
			}
			return h
		}
		m.Step = map[string]func(s, in, out any) (bool, any){"log": stepLog, "queue": stepQueue, "stack": stepStack}[model]
		return m, initial == none
	}
	m.Equal = func(a, b any) bool { return a.(int) == b.(int) }
	m.Hash = func(s any) uint64 { return mix(uint64(s.(int))) }
	return m, true
}

// textModel is a store of texts that can be appended to.
func textModel(initial string) porcupine.Model {
	seed := maphash.MakeSeed()
	return porcupine.Model{
		Partition: byKey,
		Init:      func() any { return initial },
		Equal:     func(a, b any) bool { return a.(string) == b.(string) },
		Hash:      func(s any) uint64 { return maphash.String(seed, s.(string)) },
		Step: func(s, in, out any) (bool, any) {
			switch op := in.(input); op.kind {
			case write:
				return true, op.text
			case concat:
				return true, s.(string) + op.text
			}
			return out.(output).text == s.(string), s
		},
	}
}

// mix spreads the bits of a number (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func byKey(ops []porcupine.Operation) [][]porcupine.Operation {
	var parts [][]porcupine.Operation
	for _, op := range ops {
		k := op.Input.(input).key
		for len(parts) <= k {
			parts = append(parts, nil)
		}
		parts[k] = append(parts[k], op)
	}
	return slices.DeleteFunc(parts, func(p []porcupine.Operation) bool { return len(p) == 0 })
}

func stepRegister(s, in, out any) (bool, any) {
	op, o := in.(input), out.(output)
	switch op.kind {
	case write:
		return true, op.value
	case read:
		return o.value == s.(int), s
	}
	applies := s.(int) == op.value
	if o.known && applies != (o.value == 1) {
		return false, s
	}
	if applies {
		return true, op.to
	}
	return true, s
}

func stepCounter(s, in, out any) (bool, any) {
	if op := in.(input); op.kind == add {
		return true, s.(int) + op.value
	}
	return out.(output).value == s.(int), s
}

func stepLog(s, in, out any) (bool, any) {
	held, op, o := s.([]int), in.(input), out.(output)
	switch op.kind {
	case appendTo:
		return !o.known || o.value == len(held), append(slices.Clip(held), op.value)
	case get:
		at := none
		if op.value >= 0 && op.value < len(held) {
			at = held[op.value]
		}
		return o.value == at, s
	}
	return slices.Equal(o.list, held[min(op.value, len(held)):]), s
}

func stepQueue(s, in, out any) (bool, any) {
	held, op, o := s.([]int), in.(input), out.(output)
	switch {
	case op.kind == add:
		return true, append(slices.Clip(held), op.value)
	case len(held) == 0:
		return !o.known || o.value == none, s
	case op.kind == peek:
		return o.value == held[0], s
	}
	return !o.known || o.value == held[0], held[1:]
}

func stepStack(s, in, out any) (bool, any) {
	held, op, o := s.([]int), in.(input), out.(output)
	top := len(held) - 1
	switch {
	case op.kind == add:
		return true, append(slices.Clip(held), op.value)
	case top < 0:
		return !o.known || o.value == none, s
	case op.kind == peek:
		return o.value == held[top], s
	}
	return !o.known || o.value == held[top], held[:top]
}
