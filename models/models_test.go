package models

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// value reads a value as a test writes it: JSON, :word for a keyword, nothing
// for an absent one.
func value(t testing.TB, text string) history.Value {
	t.Helper()
	if text == "" {
		return history.Absent
	}
	if text[0] == ':' {
		return history.Keyword(text[1:])
	}
	v, err := history.ParseValue(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// call is one operation of a test: name, input, output.
type call [3]string

// raw makes a history of calls. at says when call i runs.
func raw(t testing.TB, calls []call, at func(i int) (from, to int64)) *history.Raw {
	t.Helper()
	h := &history.Raw{Path: "h.jsonl"}
	for i, c := range calls {
		op := history.Op[history.Value, history.Value]{Process: i, F: c[0], In: value(t, c[1]), Out: value(t, c[2])}
		op.Invoke, op.Return = at(i)
		h.Ops = append(h.Ops, op)
	}
	return h
}

func sequential(i int) (from, to int64) { return int64(10 * i), int64(10*i + 5) }

func overlapping(int) (from, to int64) { return 0, 5 }

func lookup(t testing.TB, model string) Entry {
	t.Helper()
	e, err := Lookup(model)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func bindTo(t testing.TB, model string, h *history.Raw, o Options) *spec.Subject {
	t.Helper()
	s, err := lookup(t, model).Bind(h, o)
	if err != nil {
		t.Fatalf("%s: %v", model, err)
	}
	return s
}

// run steps the operations in the order of the file and returns the final
// state in words, or how far it got.
func run(s *spec.Subject) (state string, placed int) {
	m := s.Machine(context.Background(), s.View, true)
	n := m.Init(0)
	for i := range int32(s.View.N) {
		next, ok := m.Step(n, i)
		if !ok {
			return spec.DescribeState(m, n), int(i)
		}
		n = next
	}
	return spec.DescribeState(m, n), s.View.N
}

// possible tries every order that respects real time.
func possible(s *spec.Subject) bool {
	v, m := s.View, s.Machine(context.Background(), s.View, true)
	var place func(done uint, state int32) bool
	place = func(done uint, state int32) bool {
		rest := false
		for i := range v.N {
			if done>>i&1 == 1 {
				continue
			}
			rest = rest || !v.Info[i]
			free := true
			for j := range v.N {
				free = free && (done>>j&1 == 1 || v.Ret[j] >= v.Call[i])
			}
			if next, ok := m.Step(state, int32(i)); free && ok && place(done|1<<i, next) {
				return true
			}
		}
		return !rest
	}
	return place(0, m.Init(0))
}

// story is a sequential history; the last call is the one that is impossible,
// when state is "".
type story struct {
	name, model, initial string
	calls                []call
	state                string // the final state in words
}

var stories = []story{
	{"a register holds what was written last", "register", "", []call{{"read", "", "null"}, {"write", "3", ""}, {"write", "4", "null"}, {"read", "null", "4"}}, "4"},
	{"a register forgets what was overwritten", "register", "0", []call{{"read", "", "0"}, {"write", "3", "3"}, {"read", "", "0"}}, ""},
	{"7 is not the string 7", "register", "", []call{{"write", "7", ""}, {"read", "", `"7"`}}, ""},
	{"1 is not 1.0", "register", "1", []call{{"read", "", "1.0"}}, ""},
	{"register has other names", "register", "", []call{{"put", "1", "true"}, {"get", "", "1"}}, "1"},
	{"a cas swaps once", "cas-register", "1", []call{{"cas", "[1,2]", "true"}, {"cas", "[1,3]", "false"}, {"read", "", "2"}, {"compare_and_set", "[2,5]", ""}}, "5"},
	{"a cas may repeat its input", "cas-register", "1", []call{{"cas", "[1,2]", "[1,2]"}}, "2"},
	{"a cas of another value fails", "cas-register", "1", []call{{"cas", "[2,3]", "true"}}, ""},
	{"a cas of the value cannot fail", "cas-register", "1", []call{{"cas", "[1,3]", "false"}}, ""},
	{"an absent answer of a cas is success", "cas-register", "1", []call{{"cas", "[2,3]", ""}}, ""},
	{"a key comes and goes", "kv", "", []call{{"get", "", "null"}, {"put", "1", ""}, {"read", "", "1"}, {"delete", "", ""}, {"get", "", "null"}, {"cas", "[null,4]", "true"}, {"add", "-6", "-2"}}, "-2"},
	{"putting null deletes", "kv", "", []call{{"write", "1", ""}, {"put", "null", ""}, {"append", `"a"`, ""}, {"append", `"b"`, ""}, {"get", "", `"ab"`}, {"cas", `["ab",null]`, ""}}, "absent"},
	{"an absent key counts as 0", "kv", "", []call{{"add", "5", "5"}, {"add", "9223372036854775807", "9223372036854775812"}}, "9223372036854775812"},
	{"a string takes no add", "kv", "", []call{{"put", `"x"`, ""}, {"add", "1", "1"}}, ""},
	{"an integer takes no append", "kv", "", []call{{"put", "1", ""}, {"append", `"x"`, ""}}, ""},
	{"every absent key reads as the scalar", "kv", `""`, []call{{"get", "", `""`}, {"append", `"x"`, ""}, {"delete", "", ""}, {"cas", `["","y"]`, "true"}, {"get", "", `"y"`}}, "y"},
	{"with a scalar an absent key is not null", "kv", `""`, []call{{"get", "", "null"}}, ""},
	{"a transaction is one step", "multi-register", `{"x":1}`, []call{{"txn", `[["r","x",null],["w","x",2],["r","x",null],["w","y",3]]`, `[["r","x",1],["w","x",2],["r","x",2],["w","y",3]]`}, {"txn", `[["w","x",1]]`, ""}, {"txn", `[["read","y",null]]`, `[["r","y",3]]`}}, "{x: 1, y: 3}"},
	{"a transaction sees no half", "multi-register", "", []call{{"txn", `[["w","x",1],["w","y",1]]`, "null"}, {"txn", `[["r","x",null],["r","y",null]]`, `[["r","x",1],["r","y",null]]`}}, ""},
	{"keywords name the keys of a JSON initial value", "multi-register", `{"x":0,"7":1}`, []call{{"txn", `[[{"$kw":"read"},{"$kw":"x"},null],[{"$kw":"r"},7,null]]`, `[[{"$kw":"read"},{"$kw":"x"},0],[{"$kw":"r"},7,1]]`}, {"txn", `[["w",{"$kw":"x"},5]]`, ""}}, `{"7": 1, :x: 5}`},
	{"a counter counts", "counter", "", []call{{"add", "2", "2"}, {"add", "-3", ""}, {"read", "", "-1"}, {"add-and-get", "11", "10"}, {"get", "", "10"}}, "10"},
	{"a counter loses nothing", "counter", "", []call{{"add", "1", ""}, {"add", "1", ""}, {"read", "", "1"}}, ""},
	{"a counter does not wrap", "counter", "9223372036854775807", []call{{"add", "1", ""}, {"read", "", "9223372036854775808"}, {"add_and_get", "-1", "9223372036854775807"}, {"add", "-9223372036854775808", ""}, {"add", "-9223372036854775808", ""}}, "-9223372036854775809"},
	{"a counter that wrapped", "counter", "9223372036854775807", []call{{"add-and-get", "1", "-9223372036854775808"}}, ""},
	{"a set", "set", "[1]", []call{{"add", "1", "false"}, {"add", "2", "true"}, {"add", "3", "3"}, {"contains", "3", "true"}, {"remove", "1", "true"}, {"remove", "1", "false"}, {"read", "", `[3,2]`}, {"read", "", `{"$set":[2,3]}`}}, "{2 3}"},
	{"a set loses nothing", "set", "", []call{{"add", "1", ""}, {"add", "2", `"ok"`}, {"read", "", "[1]"}}, ""},
	{"a set holds nothing twice", "set", "", []call{{"add", "1", ""}, {"read", "", "[1,1]"}}, ""},
	{"a set adds once", "set", "", []call{{"add", "1", "true"}, {"add", "1", "true"}}, ""},
	{"first in, first out", "queue", "[8]", []call{{"enqueue", "1", "1"}, {"enq", "2", ""}, {"add", "3", ""}, {"peek", "", "8"}, {"dequeue", "", "8"}, {"remove", "", "1"}, {"deq", "", "2"}, {"ENQUEUE", "9", ""}}, "[3 9]"},
	{"a queue is no stack", "queue", "", []call{{"enqueue", "1", ""}, {"enqueue", "2", ""}, {"dequeue", "", "2"}}, ""},
	{"empty has many names", "queue", "", []call{{"dequeue", "", "null"}, {"dequeue", "", `"empty"`}, {"dequeue", "", ":empty"}, {"peek", "", `"EMPTY"`}}, "[]"},
	{"a queue with an element is not empty", "queue", "", []call{{"enqueue", "1", ""}, {"dequeue", "", `"empty"`}}, ""},
	{"last in, first out", "stack", "[8,9]", []call{{"push", "1", ""}, {"PUSH", "2", ""}, {"peek", "", "2"}, {"pop", "", "2"}, {"remove", "", "1"}, {"pop", "", "9"}, {"add", "5", ""}}, "[8 5]"},
	{"a stack is no queue", "stack", "", []call{{"push", "1", ""}, {"push", "2", ""}, {"pop", "", "1"}}, ""},
	{"an empty stack", "stack", "", []call{{"push", "1", ""}, {"pop", "", "1"}, {"pop", "", `"empty"`}, {"top", "", "null"}}, "[]"},
	{"a log keeps its positions", "log", "[7]", []call{{"append", `"a"`, "1"}, {"append", `"b"`, ""}, {"append", "5", "3"}, {"get", "0", "7"}, {"get", "2", `"b"`}, {"get", "4", "null"}, {"read", "2", `["b",5]`}, {"trim", "2", ""}, {"get", "1", "null"}, {"read", "0", `["b",5]`}, {"read", "9", "[]"}, {"trim", "1", "null"}, {"append", "6", "4"}}, "[b 5 6] from 2"},
	{"trimming beyond the end trims what is there", "log", "[1,2]", []call{{"trim", "9", ""}, {"append", "3", "2"}, {"get", "2", "3"}}, "[3] from 2"},
	{"a position is given once", "log", "", []call{{"append", "1", "0"}, {"append", "2", "0"}}, ""},
	{"a log has no holes", "log", "[1,2,3]", []call{{"read", "0", "[1,3]"}}, ""},
	{"a log is read to its end", "log", "[1,2,3]", []call{{"read", "1", "[2]"}}, ""},
	{"a lock", "mutex", `"free"`, []call{{"acquire", "", ""}, {"try-acquire", "", "false"}, {"release", "", "null"}, {"try_lock", "", "true"}, {"unlock", "", ""}, {"lock", "null", "true"}}, "held"},
	{"a lock is held once", "mutex", "", []call{{"acquire", "", ""}, {"acquire", "", ""}}, ""},
	{"a free lock is not released", "mutex", "", []call{{"release", "", ""}}, ""},
	{"a free lock is not refused", "mutex", "", []call{{"try-acquire", "", "false"}}, ""},
}

func TestStories(t *testing.T) {
	for _, st := range stories {
		t.Run(st.model+"/"+st.name, func(t *testing.T) {
			h := raw(t, st.calls, sequential)
			h.Header.Initial = value(t, st.initial)
			if st.model == "set" {
				h.Format = "jepsen" // so that a repeated input is not an answer
			}
			s := bindTo(t, st.model, h, Options{})
			state, placed := run(s)
			if st.state == "" {
				if placed != len(st.calls)-1 || possible(s) {
					t.Fatalf("placed %d of %d calls, state %s; want the last one impossible", placed, len(st.calls), state)
				}
				return
			}
			if placed != len(st.calls) || state != st.state || !possible(s) {
				t.Fatalf("placed %d of %d calls, state %s; want %s", placed, len(st.calls), state, st.state)
			}
		})
	}
}

func TestOverlappingOperationsFindAnOrder(t *testing.T) {
	for _, c := range []struct {
		model string
		calls []call
		want  bool
	}{
		{"register", []call{{"read", "", "2"}, {"write", "1", ""}, {"write", "2", ""}}, true},
		{"register", []call{{"read", "", "3"}, {"write", "1", ""}, {"write", "2", ""}}, false},
		{"cas-register", []call{{"cas", "[1,2]", "true"}, {"cas", "[2,3]", "true"}, {"write", "1", ""}}, true},
		{"cas-register", []call{{"cas", "[1,2]", "true"}, {"cas", "[1,3]", "true"}, {"write", "1", ""}}, false},
		{"kv", []call{{"append", `"a"`, ""}, {"append", `"b"`, ""}, {"get", "", `"ba"`}}, true},
		{"kv", []call{{"append", `"a"`, ""}, {"append", `"b"`, ""}, {"get", "", `"bb"`}}, false},
		{"multi-register", []call{{"txn", `[["r","x",null],["w","y",1]]`, `[["r","x",null],["w","y",1]]`}, {"txn", `[["r","y",null],["w","x",1]]`, `[["r","y",1],["w","x",1]]`}}, true},
		{"multi-register", []call{{"txn", `[["r","x",null],["w","y",1]]`, `[["r","x",null],["w","y",1]]`}, {"txn", `[["r","y",null],["w","x",1]]`, `[["r","y",null],["w","x",1]]`}}, false},
		{"counter", []call{{"add-and-get", "1", "3"}, {"add-and-get", "2", "2"}}, true},
		{"counter", []call{{"add-and-get", "1", "1"}, {"add-and-get", "2", "2"}}, false},
		{"set", []call{{"add", "1", "false"}, {"add", "1", "true"}}, true},
		{"set", []call{{"add", "1", "true"}, {"remove", "1", "true"}, {"remove", "1", "true"}}, false},
		{"queue", []call{{"dequeue", "", "2"}, {"dequeue", "", "1"}, {"enqueue", "1", ""}, {"enqueue", "2", ""}}, true},
		{"queue", []call{{"dequeue", "", "1"}, {"dequeue", "", "1"}, {"enqueue", "1", ""}, {"enqueue", "2", ""}}, false},
		{"stack", []call{{"pop", "", "null"}, {"push", "1", ""}, {"pop", "", "1"}}, true},
		{"stack", []call{{"pop", "", "2"}, {"push", "1", ""}, {"pop", "", "1"}}, false},
		{"log", []call{{"append", `"a"`, "1"}, {"append", `"b"`, "0"}, {"read", "0", `["b"]`}}, true},
		{"log", []call{{"append", `"a"`, "1"}, {"append", `"b"`, "0"}, {"read", "0", `["a"]`}}, false},
		{"mutex", []call{{"release", "", ""}, {"acquire", "", ""}, {"try-acquire", "", "false"}}, true},
		{"mutex", []call{{"acquire", "", ""}, {"acquire", "", ""}, {"release", "", ""}, {"acquire", "", ""}}, false},
	} {
		if got := possible(bindTo(t, c.model, raw(t, c.calls, overlapping), Options{})); got != c.want {
			t.Errorf("%s %v: possible is %v, want %v", c.model, c.calls, got, c.want)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		model string
		call  call
		want  string
	}{
		{"register", call{"wrte", "1", ""}, `h.jsonl:9: op 0: model register has no operation "wrte"; did you mean write? expected one of write, read`},
		{"register", call{"cas", "[1,2]", ""}, `h.jsonl:9: op 0: model register has no operation "cas"; expected one of write, read`},
		{"register", call{"write", "", ""}, `h.jsonl:9: op 0: write of model register: want a value as input, got nothing`},
		{"register", call{"write", "1", "2"}, `h.jsonl:9: op 0: write of model register: want nothing, null, true, "ok", or the input once more as output, got 2`},
		{"register", call{"write", "1", "false"}, `h.jsonl:9: op 0: write of model register: want nothing, null, true, "ok", or the input once more as output, got false`},
		{"register", call{"read", "1", "1"}, `h.jsonl:9: op 0: read of model register: want nothing as input, got 1`},
		{"register", call{"read", "", ""}, `h.jsonl:9: op 0: read of model register: want a value as output, got nothing; with nil-read unknown, a read of null fits anything`},
		{"cas-register", call{"cas", "[1]", ""}, `h.jsonl:9: op 0: cas of model cas-register: want [from, to] as input, got [1]`},
		{"cas-register", call{"cas", "[1,2]", "null"}, `h.jsonl:9: op 0: cas of model cas-register: want true or false as output, got null`},
		{"kv", call{"append", "1", ""}, `h.jsonl:9: op 0: append of model kv: want a string as input, got 1`},
		{"kv", call{"add", "1", ""}, `h.jsonl:9: op 0: add of model kv: want an integer as output, got nothing`},
		{"kv", call{"add", "1.5", "2"}, `h.jsonl:9: op 0: add of model kv: want an integer as input, got 1.5`},
		{"multi-register", call{"txn", `[["append","x",1]]`, ""}, `h.jsonl:9: op 0: txn of model multi-register: want a list of ["r", key, null] and ["w", key, value] (step 0 is ["append","x",1]) as input, got [["append","x",1]]`},
		{"multi-register", call{"txn", `[["r","x",null]]`, ""}, `h.jsonl:9: op 0: txn of model multi-register: want the steps of the input with the reads filled in as output, got nothing`},
		{"multi-register", call{"txn", `[["r","x",null]]`, `[["r","y",1]]`}, `h.jsonl:9: op 0: txn of model multi-register: want the steps of the input with the reads filled in as output, got [["r","y",1]]`},
		{"multi-register", call{"txn", `[["r","x",2]]`, `[["r","x",1]]`}, `h.jsonl:9: op 0: txn of model multi-register: want the steps of the input with the reads filled in as output, got [["r","x",1]]`},
		{"counter", call{"read", "", "null"}, `h.jsonl:9: op 0: read of model counter: want an integer as output, got null; with nil-read unknown, a read of null fits anything`},
		{"counter", call{"add", `"1"`, ""}, `h.jsonl:9: op 0: add of model counter: want an integer as input, got "1"`},
		{"set", call{"remove", "1", ""}, `h.jsonl:9: op 0: remove of model set: want true or false as output, got nothing`},
		{"set", call{"read", "", "null"}, `h.jsonl:9: op 0: read of model set: want an array or set of the elements as output, got null`},
		{"queue", call{"enqueue", `"empty"`, ""}, `h.jsonl:9: op 0: enqueue of model queue: want an element (not null, "empty", "EMPTY" or :empty, which name the answer of an empty one) as input, got "empty"`},
		{"queue", call{"dequeue", "", ""}, `h.jsonl:9: op 0: dequeue of model queue: want an element, or null for empty as output, got nothing`},
		{"stack", call{"enqueue", "1", ""}, `h.jsonl:9: op 0: model stack has no operation "enqueue"; expected one of push, pop, peek`},
		{"log", call{"get", "-1", "null"}, `h.jsonl:9: op 0: get of model log: want a position from 0 as input, got -1`},
		{"log", call{"append", "1", `"x"`}, `h.jsonl:9: op 0: append of model log: want the entry's position, or nothing as output, got "x"`},
		{"mutex", call{"try-acquire", "", ""}, `h.jsonl:9: op 0: try-acquire of model mutex: want true or false as output, got nothing`},
		{"mutex", call{"acquire", "", "false"}, `h.jsonl:9: op 0: acquire of model mutex: want nothing, null, true, "ok", or the input once more as output, got false`},
	} {
		h := raw(t, []call{c.call}, sequential)
		h.Origins = []history.Origin{{Line: 9}}
		s, err := lookup(t, c.model).Bind(h, Options{})
		var he *history.Error
		if s != nil || !errors.As(err, &he) || err.Error() != c.want {
			t.Errorf("%s %v:\n got %v\nwant %s", c.model, c.call, err, c.want)
		}
	}
}

func TestInitialErrors(t *testing.T) {
	for _, c := range []struct{ model, initial, want string }{
		{"counter", `"0"`, `h.jsonl: initial value for model counter: want an integer, got "0"`},
		{"queue", "7", `h.jsonl: initial value for model queue: want an array of elements, got 7`},
		{"stack", "[1,null]", `h.jsonl: initial value for model stack: null cannot be an element: it names the answer of an empty one`},
		{"set", "{}", `h.jsonl: initial value for model set: want an array of elements, got {}`},
		{"log", "true", `h.jsonl: initial value for model log: want an array of elements, got true`},
		{"mutex", `"held"`, `h.jsonl: initial value for model mutex: want "free", got "held"`},
		{"multi-register", "0", `h.jsonl: initial value for model multi-register: want an object of values by key, got 0`},
	} {
		_, err := lookup(t, c.model).Bind(raw(t, nil, sequential), Options{Initial: value(t, c.initial)})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s from %s: got %v, want %s", c.model, c.initial, err, c.want)
		}
	}
	_, err := lookup(t, "register").Bind(raw(t, nil, sequential), Options{NilRead: "maybe"})
	if err == nil || err.Error() != `h.jsonl: nil-read "maybe"; expected unknown or absent` {
		t.Error(err)
	}
}

func TestFailedOperations(t *testing.T) {
	h := raw(t, []call{{"write", "1", `:timed-out`}, {"read", "", "null"}}, sequential)
	h.Ops[0].Outcome = history.Fail
	s := bindTo(t, "register", h, Options{})
	if s.Failed != 1 || s.OK != 1 || !possible(s) {
		t.Errorf("failed %d, ok %d", s.Failed, s.OK)
	}
	h.Ops[0].F = "wrote"
	if _, err := lookup(t, "register").Bind(h, Options{}); err == nil {
		t.Error("an unknown name was accepted on a failed operation")
	}
}

func TestNilReads(t *testing.T) {
	for _, c := range []struct{ model, write, in, read string }{
		{"register", "write", "1", "read"}, {"cas-register", "write", "1", "read"},
		{"counter", "add", "1", "read"}, {"kv", "put", "1", "get"},
	} {
		for _, null := range []string{"null", ""} {
			h := raw(t, []call{{c.write, c.in, ""}, {c.read, "", null}}, sequential)
			s := bindTo(t, c.model, h, Options{NilRead: "unknown"})
			if !possible(s) || s.Constrained != 0 || s.Text(1) != c.read+" (no answer)" {
				t.Errorf("%s, unknown: constrained %d, %s", c.model, s.Constrained, s.Text(1))
			}
			h.Header.NilRead = "unknown"
			if !possible(bindTo(t, c.model, h, Options{})) {
				t.Errorf("%s: the header's rule is not in force", c.model)
			}
			s, err := lookup(t, c.model).Bind(h, Options{NilRead: "absent"})
			if wantErr := null == "" || c.model == "counter"; wantErr != (err != nil) {
				t.Errorf("%s, absent, %q: %v", c.model, null, err)
			} else if err == nil && possible(s) {
				t.Errorf("%s: a read of null after a write is possible", c.model)
			}
		}
	}
	h := raw(t, []call{{"dequeue", "", ""}}, sequential)
	if _, err := lookup(t, "queue").Bind(h, Options{NilRead: "unknown"}); err == nil {
		t.Error("nil-read touched a dequeue")
	}
}

func TestRepeatedInputIsNoAnswerInForeignFormats(t *testing.T) {
	h := raw(t, []call{{"append", "0", ""}, {"append", "0", "0"}}, sequential)
	if possible(bindTo(t, "log", h, Options{})) {
		t.Error("native: the output 0 is the position, and taken")
	}
	h.Format = "jepsen"
	if !possible(bindTo(t, "log", h, Options{})) {
		t.Error("jepsen: the output 0 only repeats the input")
	}
}

func TestKeysAndInitialValues(t *testing.T) {
	h := raw(t, []call{{"get", "", "1"}, {"get", "", "2"}, {"get", "", "3"}, {"get", "", "null"}}, sequential)
	for i, key := range []history.Value{history.String("x"), history.Int(7), history.Keyword("k"), history.String("z")} {
		h.Ops[i].Key = key.Label()
	}
	h.Header.Initial = value(t, `{"x":9}`)
	s := bindTo(t, "kv", h, Options{Initial: value(t, `{"x":1,"7":2,"k":3}`)})
	m := s.Machine(context.Background(), s.View, true)
	for i := range int32(s.View.N) {
		if _, ok := m.Step(m.Init(s.View.Key[i]), i); !ok {
			t.Errorf("%s: %s in state %s", s.View.KeyName[s.View.Key[i]], s.Text(i), spec.DescribeState(m, m.Init(s.View.Key[i])))
		}
	}
}

func TestRecordedValuesStayForRules(t *testing.T) {
	h := raw(t, []call{{"write", "1", "1"}, {"read", "", "null"}, {"cas", "[1,2]", "[1,2]"}, {"write", "3", "3"}}, sequential)
	h.Ops[3].Outcome, h.Ops[0].NoOut = history.Info, true
	s := bindTo(t, "cas-register", h, Options{NilRead: "unknown"})
	pair := value(t, "[1,2]")
	if want := []history.Value{history.Int(1), history.Absent, pair, history.Int(3)}; !slices.Equal(s.View.In, want) {
		t.Error(s.View.In)
	}
	if want := []history.Value{history.Absent, history.Null, pair, history.Absent}; !slices.Equal(s.View.Out, want) {
		t.Error(s.View.Out)
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		model string
		call  call
		want  string
		none  string // without an output
	}{
		{"register", call{"read", "", "17"}, "read = 17", "read (no answer)"},
		{"register", call{"read", "", "null"}, "read = null", "read (no answer)"},
		{"register", call{"write", "21", ""}, "write 21", "write 21"},
		{"cas-register", call{"cas", "[3,5]", "false"}, "cas 3 to 5 = false", "cas 3 to 5 (no answer)"},
		{"kv", call{"get", "", "null"}, "get = absent", "get (no answer)"},
		{"kv", call{"cas", `[null,"a"]`, "true"}, "cas absent to a = true", "cas absent to a (no answer)"},
		{"kv", call{"append", `"a b"`, ""}, `append "a b"`, `append "a b"`},
		{"kv", call{"delete", "", ""}, "delete", "delete"},
		{"kv", call{"add", "2", "5"}, "add 2 = 5", "add 2 (no answer)"},
		{"multi-register", call{"txn", `[["r","x",null],["w","y",1]]`, `[["r","x",4],["w","y",1]]`}, "txn read x = 4, write y 1", "txn read x, write y 1 (no answer)"},
		{"multi-register", call{"txn", `[["w","y",1]]`, ""}, "txn write y 1", "txn write y 1"},
		{"counter", call{"add-and-get", "2", "5"}, "add-and-get 2 = 5", "add-and-get 2 (no answer)"},
		{"counter", call{"add", "-2", ""}, "add -2", "add -2"},
		{"set", call{"add", "2", "true"}, "add 2 = true", "add 2"},
		{"set", call{"contains", "2", "true"}, "contains 2 = true", "contains 2 (no answer)"},
		{"set", call{"read", "", "[2,1]"}, "read = {1 2}", "read (no answer)"},
		{"set", call{"read", "", "[2,2]"}, "read = [2,2]", "read (no answer)"},
		{"queue", call{"enqueue", "7", ""}, "enqueue 7", "enqueue 7"},
		{"queue", call{"dequeue", "", `"empty"`}, "dequeue = empty", "dequeue (no answer)"},
		{"stack", call{"pop", "", "7"}, "pop = 7", "pop (no answer)"},
		{"log", call{"append", `"a"`, "3"}, "append a = 3", "append a"},
		{"log", call{"get", "3", "null"}, "get 3 = null", "get 3 (no answer)"},
		{"log", call{"read", "3", "[1,2]"}, "read 3 = [1 2]", "read 3 (no answer)"},
		{"log", call{"trim", "3", ""}, "trim 3", "trim 3"},
		{"mutex", call{"try-acquire", "", "true"}, "try-acquire = true", "try-acquire (no answer)"},
		{"mutex", call{"release", "", ""}, "release", "release"},
	} {
		h := raw(t, []call{c.call, c.call}, sequential)
		h.Ops[1].NoOut = true
		s := bindTo(t, c.model, h, Options{})
		if s.Text(0) != c.want || s.Text(1) != c.none {
			t.Errorf("%s %v: %q and %q, want %q and %q", c.model, c.call, s.Text(0), s.Text(1), c.want, c.none)
		}
	}
}

func TestLongStatesAreCutShort(t *testing.T) {
	var elems []history.Value
	for i := range int64(1000) {
		elems = append(elems, history.Int(i))
	}
	for _, model := range []string{"queue", "stack", "log", "set"} {
		s := bindTo(t, model, raw(t, nil, sequential), Options{Initial: history.Array(elems...)})
		m := s.Machine(context.Background(), &history.View{KeyName: []string{""}}, false)
		if got := spec.DescribeState(m, m.Init(0)); !strings.Contains(got, "19 ... 980 more") || len(got) > 100 {
			t.Errorf("%s: %s", model, got)
		}
	}
}

func TestRegistry(t *testing.T) {
	all := All()
	if !slices.IsSortedFunc(all, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	for _, e := range all {
		seen := map[string]bool{}
		for _, o := range e.Ops {
			for _, name := range append([]string{o.F}, o.Aliases...) {
				if seen[name] || name != fold(name) {
					t.Errorf("%s: the name %s is there twice, or cannot be found", e.Name, name)
				}
				seen[name] = true
			}
		}
		if e.Doc == "" || e.Initial == "" || len(e.Ops) == 0 {
			t.Errorf("%s is not described", e.Name)
		}
	}
	_, err := Lookup("casregister")
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "did you mean cas-register?") {
		t.Error(err)
	}
}

// pools are the values that the property tests combine.
var pools = struct{ in, out []string }{
	in: []string{"", "null", "0", "1", "2", "-1", `"a"`, `""`, "[0,1]", "[1,1]", "[null,0]", "[0,null]", "[null,null]", `["",""]`, `["","a"]`, `["a",""]`,
		`[["r","x",null]]`, `[["w","x",1]]`, `[["w","x",0]]`, `[["r","x",null],["w","x",1]]`, `[["w","x",1],["r","x",null]]`,
		`[["r","x",null],["w","y",0],["r","y",null],["w","y",1]]`, `[["r","y",null],["w","y",1],["w","y",0]]`},
	out: []string{"", "null", "true", "false", "0", "1", "2", `"a"`, `""`, "[]", "[0]", "[1]", "[0,1]", "[1,0]", "[1,1]", `"empty"`,
		`[["r","x",1]]`, `[["r","x",null]]`, `[["r","x",1],["w","x",1]]`, `[["r","x",0],["w","x",1]]`, `[["w","x",1],["r","x",1]]`,
		`[["r","x",0],["w","y",0],["r","y",0],["w","y",1]]`, `[["r","y",0],["w","y",1],["w","y",0]]`},
}

// everything returns a history of all calls of a model that decode.
func everything(t *testing.T, e Entry) *history.Raw {
	all := &history.Raw{}
	for _, o := range e.Ops {
		for _, in := range pools.in {
			// A transaction is no value of the small world: no read returns one.
			if strings.HasPrefix(in, "[[") != e.NeverSplit {
				continue
			}
			for _, out := range pools.out {
				h := raw(t, []call{{o.F, in, out}}, overlapping)
				if _, err := e.Bind(h, Options{}); err != nil {
					continue
				}
				all.Ops = append(all.Ops, h.Ops[0])
				h.Ops[0].NoOut = true
				all.Ops = append(all.Ops, h.Ops[0])
			}
		}
	}
	for i := range all.Ops {
		all.Ops[i].Process = i
	}
	return all
}

// explore returns the states that random walks reach.
func explore(m spec.Machine, ops int, r *rand.Rand) []int32 {
	seen := map[int32]bool{m.Init(0): true}
	for range 120 {
		s := m.Init(0)
		for range 12 {
			if next, ok := m.Step(s, int32(r.IntN(ops))); ok {
				s = next
				seen[s] = true
			}
		}
	}
	var states []int32
	for s := range seen {
		states = append(states, s)
	}
	slices.Sort(states)
	return states
}

// TestReadOnlyIsExact: an operation is a read if and only if no state is
// changed by it, over all reachable states of a small world.
func TestReadOnlyIsExact(t *testing.T) {
	reads, writes := 0, 0
	for _, e := range All() {
		all := everything(t, e)
		for _, initial := range []string{"", `""`, "0", "[]", `[0,1,2,"a"]`, `{"":1}`, `{"x":1}`} {
			s, err := e.Bind(all, Options{Initial: value(t, initial)})
			if err != nil && initial != "" && strings.Contains(err.Error(), "initial value") {
				continue // no initial value of this model
			}
			if err != nil {
				t.Fatal(err)
			}
			m := s.Machine(context.Background(), s.View, true)
			states := explore(m, s.View.N, rand.New(rand.NewPCG(1, 2)))
			for i := range int32(s.View.N) {
				fits, changes := false, false
				for _, st := range states {
					next, ok := m.Step(st, i)
					fits = fits || ok
					changes = changes || ok && next != st
				}
				if fits && s.View.Read[i] == changes {
					t.Errorf("%s from %q: %s: read-only is %v, but changes a state is %v", e.Name, initial, s.Text(i), s.View.Read[i], changes)
				}
				if changes {
					writes += len(states)
				} else if fits {
					reads += len(states)
				}
			}
		}
	}
	if min(reads, writes) < 10_000 {
		t.Errorf("only %d steps of reads and %d of writes were compared", reads, writes)
	}
	t.Logf("%d steps of reads, %d of writes", reads, writes)
}

// TestEqualOperationsStepAlike walks two machines, whose classes are stood for
// by different operations, through the same states.
func TestEqualOperationsStepAlike(t *testing.T) {
	for _, e := range All() {
		all := everything(t, e)
		back := &history.Raw{Header: all.Header, Ops: slices.Clone(all.Ops)}
		slices.Reverse(back.Ops)
		s, err := e.Bind(all, Options{})
		u, err2 := e.Bind(back, Options{})
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		m, w := s.Machine(context.Background(), s.View, false), u.Machine(context.Background(), u.View, false)
		r := rand.New(rand.NewPCG(3, 4))
		for range 200 {
			a, b := m.Init(0), w.Init(0)
			for range 20 {
				i := int32(r.IntN(s.View.N))
				x, ok := m.Step(a, i)
				y, same := w.Step(b, int32(s.View.N)-1-i)
				if ok != same || ok && spec.DescribeState(m, x) != spec.DescribeState(w, y) {
					t.Fatalf("%s: %s differs from its equal", e.Name, s.Text(i))
				}
				if ok {
					a, b = x, y
				}
			}
		}
	}
}
