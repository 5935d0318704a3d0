package models

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pinyon/consistency"
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
	m := spec.Deterministic(s.Machine(context.Background(), s.View, true))
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
	v, m := s.View, spec.Deterministic(s.Machine(context.Background(), s.View, true))
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
	{"greatest first", "priority-queue", "[2]", []call{{"insert", "10", ""}, {"offer", "9", "9"}, {"insert", "10", ""}, {"peek", "", "10"}, {"poll", "", "10"}, {"poll", "", "10"}, {"poll", "", "9"}, {"insert", "-1.5", ""}}, "{-1.5 2}"},
	{"numbers are ordered by value", "priority-queue", "", []call{{"insert", "9223372036854775808", ""}, {"insert", "1e19", ""}, {"insert", "9223372036854775807", ""}, {"poll", "", "1e19"}, {"poll", "", "9223372036854775808"}}, "{9223372036854775807}"},
	{"a priority comes before its element", "priority-queue", "", []call{{"insert", `[9,"z"]`, ""}, {"insert", `[10,"a"]`, ""}, {"poll", "", `[10,"a"]`}}, `{[9,"z"]}`},
	{"a smaller one is not polled first", "priority-queue", "[1,2]", []call{{"poll", "", "1"}}, ""},
	{"an empty priority queue", "priority-queue", "", []call{{"poll", "", "null"}, {"insert", "1", ""}, {"poll", "", `"empty"`}}, ""},
	{"a deque has two ends", "deque", "[5]", []call{{"push-front", "1", ""}, {"push_back", "2", ""}, {"peek-front", "", "1"}, {"peek-back", "", "2"}, {"pop-back", "", "2"}, {"pop-front", "", "1"}, {"dequeue", "", "5"}, {"pop-back", "", "null"}, {"enqueue", "7", ""}}, "[7]"},
	{"a deque keeps its ends apart", "deque", "[1,2]", []call{{"pop-back", "", "1"}}, ""},
	{"any element comes out", "unordered-queue", "[1]", []call{{"enqueue", "2", ""}, {"enqueue", "2", ""}, {"dequeue", "", "2"}, {"peek", "", "1"}, {"dequeue", "", "1"}}, "{2}"},
	{"an element comes out once", "unordered-queue", "[1,2]", []call{{"dequeue", "", "1"}, {"dequeue", "", "1"}}, ""},
	{"an unordered queue with an element is not empty", "unordered-queue", "[1]", []call{{"dequeue", "", "null"}}, ""},
	{"permits are taken and given back", "semaphore", "2", []call{{"acquire", "", ""}, {"try-acquire", "2", "false"}, {"acquire", "1", ""}, {"release", "2", ""}, {"try-acquire", "2", "true"}}, "0 of 2 permits"},
	{"a semaphore has so many permits", "semaphore", "2", []call{{"acquire", "2", ""}, {"acquire", "", ""}}, ""},
	{"only what is taken is given back", "semaphore", "2", []call{{"acquire", "", ""}, {"release", "2", ""}}, ""},
	{"amounts move", "bank", `{"0":10,"1":0}`, []call{{"transfer", `{"from":0,"to":1,"amount":4}`, "true"}, {"transfer", `{"from":0,"to":2,"amount":9}`, "false"}, {"read", "", `{"0":6,"1":4}`}, {"transfer", `{"from":"1","to":0,"amount":5}`, ""}, {"read", "", `{"0":11,"1":-1}`}}, "{0: 11, 1: -1}"},
	{"a bank loses nothing", "bank", `{"0":10}`, []call{{"transfer", `{"from":0,"to":1,"amount":4}`, "true"}, {"read", "", `{"0":10,"1":4}`}}, ""},
	{"the first read shows what there was", "bank", "", []call{{"read", "", `{"0":3}`}, {"transfer", `{"from":0,"to":1,"amount":36893488147419103232}`, ""}, {"read", "", `{"0":-36893488147419103229,"1":36893488147419103232}`}}, "{0: -36893488147419103229, 1: 36893488147419103232}"},
	{"a balance that is no number is wrong", "bank", `{"0":3}`, []call{{"read", "", `{"0":null}`}}, ""},
	{"a stream grows under conditions", "s2", "", []call{{"check-tail", "", `{"tail":0}`}, {"append", `{"num_records":1,"record_hashes":[12352915711150947722],"set_fencing_token":"a"}`, `{"tail":1}`}, {"read", "", `{"tail":1,"stream_hash":5560538435033744293}`}, {"append", `{"num_records":0,"match_seq_num":1,"fencing_token":"a"}`, `{"tail":1}`}, {"read", "", `{"tail":1}`}}, "tail 1, hash 5560538435033744293, token a"},
	{"an append needs the tail that it names", "s2", `{"tail":3,"stream_hash":9}`, []call{{"append", `{"num_records":1,"record_hashes":[1],"match_seq_num":2}`, `{"tail":4}`}}, ""},
	{"an append needs the token that it names", "s2", "", []call{{"append", `{"num_records":1,"record_hashes":[1],"fencing_token":"a"}`, `{"tail":1}`}}, ""},
	{"an append counts its records", "s2", "", []call{{"append", `{"num_records":2,"record_hashes":[1,2]}`, `{"tail":1}`}}, ""},
	{"a read sees every record", "s2", "", []call{{"append", `{"num_records":1,"record_hashes":[1]}`, `{"tail":1}`}, {"read", "", `{"tail":1,"stream_hash":5560538435033744293}`}}, ""},
	{"lists are appended to", "list-append", `{"x":[1]}`, []call{{"txn", `[["append","x",2],["r","x",null],["append","y",3]]`, `[["append","x",2],["r","x",[1,2]],["append","y",3]]`}, {"txn", `[["append","y",4]]`, ""}, {"txn", `[["r","y",null],["r","z",null]]`, `[["r","y",[3,4]],["r","z",null]]`}}, "{x: [1 2], y: [3 4]}"},
	{"a list loses nothing", "list-append", "", []call{{"txn", `[["append","x",1]]`, ""}, {"txn", `[["append","x",2]]`, ""}, {"txn", `[["r","x",null]]`, `[["r","x",[2]]]`}}, ""},
	{"registers in transactions", "rw-register", "", []call{{"txn", `[["w","x",1]]`, ""}, {"txn", `[["r","x",null]]`, `[["r","x",1]]`}}, "{x: 1}"},
	{"versions grow", "versioned-kv", "", []call{{"get", "", "null"}, {"put", `["a",1]`, `"no-key"`}, {"put", `["a",0]`, "1"}, {"put", `["b",0]`, `"ErrVersion"`}, {"put", `["b",1]`, `"ok"`}, {"get", "", `["b",2]`}, {"get", "", `{"value":"b","version":2}`}, {"put", `["c",2]`, `"maybe"`}, {"put", `["d",2]`, `"maybe"`}}, "c at version 3"},
	{"a put of the version is not refused", "versioned-kv", "", []call{{"put", `["a",0]`, "1"}, {"put", `["b",1]`, `"version-error"`}}, ""},
	{"a put of another version stores nothing", "versioned-kv", "", []call{{"put", `["a",0]`, "1"}, {"put", `["b",0]`, `"ok"`}}, ""},
	{"a key that is there is no missing key", "versioned-kv", "", []call{{"put", `["a",0]`, "1"}, {"put", `["b",7]`, `"no-key"`}}, ""},
	{"revisions grow with changes", "etcd", "", []call{{"range", `{"start":"x"}`, `{"kvs":[],"count":0,"revision":1}`}, {"put", `{"key":"x","value":"1"}`, `{"revision":2}`}, {"delete", `{"key":"y"}`, `{"deleted":0,"revision":2}`}, {"put", `{"key":"x","value":"2"}`, `{"revision":3}`},
		{"range", `{"start":"a","end":"z","limit":0}`, `{"kvs":[{"key":"x","value":"2","mod_revision":3,"version":2}],"count":1,"revision":3}`}, {"range", `{"start":"x","revision":2}`, `{"kvs":[{"key":"x","value":"1"}],"revision":-1}`}, {"delete", `{"key":"x"}`, `{"deleted":1,"revision":4}`}}, "revision 4 {}"},
	{"a transaction takes one branch", "etcd", "5", []call{{"txn", `{"compare":[{"key":"x","mod_revision":0}],"then":[{"op":"put","key":"x","value":"1"},{"op":"range","start":"x"}],"else":[]}`, `{"succeeded":true,"results":[{},{"kvs":[{"key":"x","value":"1","mod_revision":6,"version":1}],"count":1}],"revision":6}`},
		{"txn", `{"compare":[{"key":"x","version":1},{"key":"x","value":"2"}],"then":[{"op":"delete","key":"x"}],"else":[{"op":"range","start":"","end":"\u0000"}]}`, `{"succeeded":false,"results":[{"count":1}],"revision":6}`}}, `revision 6 {x: "1" (revision 6, version 1)}`},
	{"revoking a lease deletes its keys", "etcd", "", []call{{"lease-grant", `{"lease":7}`, `{"revision":1}`}, {"put", `{"key":"x","value":"1","lease":7}`, `{"revision":2}`}, {"lease-revoke", `{"lease":7}`, `{"revision":3}`}, {"compact", `{"revision":2}`, `{"revision":-1}`}, {"defragment", "", `{"revision":-1}`}}, "revision 3 {}"},
	{"a put takes a new revision", "etcd", "", []call{{"put", `{"key":"x","value":"1"}`, `{"revision":2}`}, {"put", `{"key":"y","value":"1"}`, `{"revision":2}`}}, ""},
	{"a range sees the last put", "etcd", "", []call{{"put", `{"key":"x","value":"1"}`, ""}, {"range", `{"start":"x"}`, `{"kvs":[],"count":0}`}}, ""},
}

// TestLocksWithOwners: a digit before a call is its process.
func TestLocksWithOwners(t *testing.T) {
	for _, c := range []struct {
		model string
		calls []string // process, name, answer
		state string   // "": the last call is impossible
	}{
		{"owner-mutex", []string{"1 acquire", "2 try-acquire false", "1 try-lock false", "1 release", "2 lock"}, "held by 2"},
		{"owner-mutex", []string{"1 acquire", "2 release"}, ""},
		{"owner-mutex", []string{"1 acquire", "1 acquire"}, ""},
		{"owner-mutex", []string{"1 acquire", "1 release", "1 release"}, ""},
		{"reentrant-mutex", []string{"1 acquire", "1 acquire", "2 try-acquire false", "1 try-acquire true", "1 release"}, "held by 1, 2 times"},
		{"reentrant-mutex", []string{"1 acquire", "1 acquire", "1 release", "1 release", "2 acquire"}, "held by 2"},
		{"reentrant-mutex", []string{"1 acquire", "1 acquire", "1 release", "2 acquire"}, ""},
		{"reentrant-mutex", []string{"1 acquire", "1 try-acquire false"}, ""},
		{"rw-mutex", []string{"1 acquire-read", "2 acquire-read", "1 acquire-read", "3 try-acquire-write false", "1 release", "2 release"}, "read by 1"},
		{"rw-mutex", []string{"1 acquire-write", "2 try-acquire-read false", "1 release", "2 acquire-write"}, "held by 2"},
		{"rw-mutex", []string{"1 acquire-read", "2 acquire-write"}, ""},
		{"rw-mutex", []string{"1 acquire-write", "2 acquire-read"}, ""},
		{"rw-mutex", []string{"1 acquire-read", "2 release"}, ""},
		{"rw-mutex", []string{"1 acquire-read", "2 try-acquire-read false"}, ""},
		{"fenced-mutex", []string{"1 acquire 5", "2 try-acquire null", "1 release", "2 try-acquire 9223372036854775808"}, "held by 2, token 9223372036854775808"},
		{"fenced-mutex", []string{"1 acquire 5", "1 release", "2 acquire 5"}, ""},
		{"fenced-mutex", []string{"1 acquire 5", "2 release"}, ""},
		{"fenced-mutex", []string{"1 acquire 5", "1 release", "2 acquire ?", "2 release", "1 acquire 6"}, ""},
		{"fenced-mutex", []string{"1 acquire 5", "1 release", "2 acquire ?", "2 release", "1 acquire 7"}, "held by 1, token 7"},
	} {
		h := &history.Raw{}
		for i, text := range c.calls {
			f := append(strings.Fields(text), "")
			op := raw(t, []call{{f[1], "", strings.Trim(f[2], "?")}}, sequential).Ops[0]
			op.Process, op.NoOut = int(f[0][0]-'0'), f[2] == "?"
			op.Invoke, op.Return = sequential(i)
			h.Ops = append(h.Ops, op)
		}
		state, placed := run(bindTo(t, c.model, h, Options{}))
		if c.state == "" && placed != len(c.calls)-1 || c.state != "" && (placed != len(c.calls) || state != c.state) {
			t.Errorf("%s %v: placed %d, state %s, want %q", c.model, c.calls, placed, state, c.state)
		}
	}
	h := raw(t, []call{{"acquire", "", ""}}, sequential)
	h.Processes = []history.Value{history.String("worker a")}
	if state, _ := run(bindTo(t, "owner-mutex", h, Options{})); state != `held by "worker a"` {
		t.Error(state)
	}
}

// TestUnansweredDequeueTookAny: each state that it may have left is followed.
func TestUnansweredDequeueTookAny(t *testing.T) {
	for _, c := range []struct {
		rest []call
		want bool
	}{
		{[]call{{"dequeue", "", "1"}, {"dequeue", "", "null"}}, true},
		{[]call{{"dequeue", "", "2"}, {"dequeue", "", "null"}}, true},
		{[]call{{"dequeue", "", "1"}, {"dequeue", "", "2"}}, false},
		{[]call{{"dequeue", "", "null"}}, false},
	} {
		h := raw(t, append([]call{{"enqueue", "1", ""}, {"enqueue", "2", ""}, {"dequeue", "", ""}}, c.rest...), sequential)
		h.Ops[2].NoOut = true
		if got := possible(bindTo(t, "unordered-queue", h, Options{})); got != c.want {
			t.Errorf("%v: %v", c.rest, got)
		}
	}
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
		{"priority-queue", []call{{"poll", "", "1"}, {"insert", "1", ""}, {"insert", "2", ""}}, true},
		{"priority-queue", []call{{"poll", "", "1"}, {"poll", "", "1"}, {"insert", "1", ""}, {"insert", "2", ""}}, false},
		{"deque", []call{{"pop-back", "", "1"}, {"push-front", "1", ""}, {"push-back", "2", ""}}, true},
		{"deque", []call{{"pop-back", "", "1"}, {"pop-back", "", "1"}, {"push-front", "1", ""}, {"push-back", "2", ""}}, false},
		{"unordered-queue", []call{{"dequeue", "", "2"}, {"dequeue", "", "1"}, {"enqueue", "1", ""}, {"enqueue", "2", ""}}, true},
		{"unordered-queue", []call{{"dequeue", "", "2"}, {"dequeue", "", "2"}, {"enqueue", "1", ""}, {"enqueue", "2", ""}}, false},
		{"semaphore", []call{{"release", "", ""}, {"acquire", "", ""}, {"try-acquire", "", "false"}}, true},
		{"semaphore", []call{{"acquire", "", ""}, {"acquire", "", ""}}, false},
		{"list-append", []call{{"txn", `[["append","x",1],["r","y",null]]`, `[["append","x",1],["r","y",null]]`}, {"txn", `[["append","y",1],["r","x",null]]`, `[["append","y",1],["r","x",[1]]]`}}, true},
		{"list-append", []call{{"txn", `[["append","x",1],["r","y",null]]`, `[["append","x",1],["r","y",null]]`}, {"txn", `[["append","y",1],["r","x",null]]`, `[["append","y",1],["r","x",null]]`}}, false},
		{"versioned-kv", []call{{"put", `["a",0]`, "1"}, {"put", `["b",1]`, "2"}, {"get", "", `["a",1]`}}, true},
		{"versioned-kv", []call{{"put", `["a",0]`, "1"}, {"put", `["b",0]`, "1"}}, false},
		{"s2", []call{{"append", `{"num_records":1,"record_hashes":[1],"match_seq_num":1}`, `{"tail":2}`}, {"append", `{"num_records":1,"record_hashes":[2],"match_seq_num":0}`, `{"tail":1}`}}, true},
		{"s2", []call{{"append", `{"num_records":1,"record_hashes":[1],"match_seq_num":0}`, `{"tail":1}`}, {"append", `{"num_records":1,"record_hashes":[2],"match_seq_num":0}`, `{"tail":1}`}}, false},
		{"etcd", []call{{"put", `{"key":"x","value":"1"}`, `{"revision":3}`}, {"put", `{"key":"y","value":"1"}`, `{"revision":2}`}}, true},
		{"etcd", []call{{"put", `{"key":"x","value":"1"}`, `{"revision":2}`}, {"put", `{"key":"y","value":"1"}`, `{"revision":2}`}}, false},
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
		{"owner-mutex", call{"aquire", "", ""}, `h.jsonl:9: op 0: model owner-mutex has no operation "aquire"; did you mean acquire? expected one of acquire, try-acquire, release`},
		{"fenced-mutex", call{"acquire", "", ""}, `h.jsonl:9: op 0: acquire of model fenced-mutex: want a token, which is an integer as output, got nothing`},
		{"semaphore", call{"acquire", "0", ""}, `h.jsonl:9: op 0: acquire of model semaphore: want a number of permits from 1 as input, got 0`},
		{"bank", call{"transfer", `{"from":1,"to":2}`, ""}, `h.jsonl:9: op 0: transfer of model bank: want {from, to, amount} with an integer amount as input, got {"from":1,"to":2}`},
		{"bank", call{"read", "", "7"}, `h.jsonl:9: op 0: read of model bank: want an object of balances by account as output, got 7`},
		{"list-append", call{"txn", `[["w","x",1]]`, ""}, `h.jsonl:9: op 0: txn of model list-append: want a list of ["append", key, value] and ["r", key, null] (step 0 is ["w","x",1]) as input, got [["w","x",1]]`},
		{"list-append", call{"txn", `[["r","x",null]]`, `[["r","y",[]]]`}, `h.jsonl:9: op 0: txn of model list-append: want the steps of the input with the reads filled in as output, got [["r","y",[]]]`},
		{"versioned-kv", call{"put", `["a",-1]`, ""}, `h.jsonl:9: op 0: put of model versioned-kv: want [value, version] with a version from 0 as input, got ["a",-1]`},
		{"versioned-kv", call{"get", "", `["a",0]`}, `h.jsonl:9: op 0: get of model versioned-kv: want [value, version] with a version from 1, or null or "no-key" where there is no key as output, got ["a",0]`},
		{"s2", call{"append", `{"num_records":2,"record_hashes":[1]}`, `{"tail":2}`}, `h.jsonl:9: op 0: append of model s2: want ` + s2AppendWant + ` as input, got {"num_records":2,"record_hashes":[1]}`},
		{"s2", call{"append", `{"num_records":0,"fencing_token":""}`, `{"tail":0}`}, `h.jsonl:9: op 0: append of model s2: want ` + s2AppendWant + ` as input, got {"fencing_token":"","num_records":0}`},
		{"s2", call{"read", "", `{"tail":1,"stream_hash":-1}`}, `h.jsonl:9: op 0: read of model s2: want {tail, stream_hash} with a position and a hash from 0 below 2^64 as output, got {"stream_hash":-1,"tail":1}`},
		{"s2", call{"check-tail", "", `{"tail":1,"stream_hash":1}`}, `h.jsonl:9: op 0: check-tail of model s2: want {tail} with a position as output, got {"stream_hash":1,"tail":1}`},
		{"etcd", call{"put", `{"key":"x"}`, ""}, `h.jsonl:9: op 0: put of model etcd: want {key, value, lease} as input, got {"key":"x"}`},
		{"etcd", call{"delete", `{"key":"x"}`, `{"delted":1}`}, `h.jsonl:9: op 0: delete of model etcd: want an object of what the answer held: revision, kvs, count, deleted, succeeded, results as output, got {"delted":1}`},
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
		{"owner-mutex", "1", `h.jsonl: initial value for model owner-mutex: want "free", got 1`},
		{"fenced-mutex", `"x"`, `h.jsonl: initial value for model fenced-mutex: want an integer, got "x"`},
		{"semaphore", "-1", `h.jsonl: initial value for model semaphore: want a number of permits from 0, got -1`},
		{"bank", `{"a":"x"}`, `h.jsonl: initial value for model bank: want integer balances, got {"a":"x"}`},
		{"list-append", `{"a":1}`, `h.jsonl: initial value for model list-append: want an array under a, got 1`},
		{"versioned-kv", `{"a":1}`, `h.jsonl: initial value for model versioned-kv: want [value, version] with a version from 1, or null or "no-key" where there is no key under a, got 1`},
		{"s2", `{"tail":1}`, `h.jsonl: initial value for model s2: want {tail, stream_hash, fencing_token}, the token optional, got {"tail":1}`},
		{"etcd", `"x"`, `h.jsonl: initial value for model etcd: want a revision from 0, got "x"`},
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
		{"owner-mutex", call{"try-acquire", "", "false"}, "try-acquire = false", "try-acquire (no answer)"},
		{"fenced-mutex", call{"acquire", "", "7"}, "acquire = 7", "acquire (no answer)"},
		{"fenced-mutex", call{"try-acquire", "", "false"}, "try-acquire = held", "try-acquire (no answer)"},
		{"semaphore", call{"acquire", "3", ""}, "acquire 3", "acquire 3"},
		{"priority-queue", call{"poll", "", "7"}, "poll = 7", "poll (no answer)"},
		{"deque", call{"push-front", "7", ""}, "push-front 7", "push-front 7"},
		{"unordered-queue", call{"dequeue", "", "null"}, "dequeue = empty", "dequeue (no answer)"},
		{"bank", call{"transfer", `{"from":1,"to":"b","amount":3}`, "false"}, "transfer 3 from 1 to b = refused", "transfer 3 from 1 to b"},
		{"list-append", call{"txn", `[["append","x",1],["r","x",null]]`, `[["append","x",1],["r","x",[1]]]`}, "txn append 1 to x, read x = [1]", "txn append 1 to x, read x (no answer)"},
		{"versioned-kv", call{"put", `["a",2]`, `"ErrVersion"`}, "put a over version 2 = version-error", "put a over version 2 (no answer)"},
		{"versioned-kv", call{"get", "", `["a",2]`}, "get = a at version 2", "get (no answer)"},
		{"s2", call{"append", `{"num_records":1,"record_hashes":[7],"match_seq_num":0,"fencing_token":"a","set_fencing_token":"b"}`, `{"tail":1}`}, "append 1 records at 0 under token a setting token b = tail 1", "append 1 records at 0 under token a setting token b (no answer)"},
		{"s2", call{"read", "", `{"tail":1,"stream_hash":5}`}, "read = tail 1, hash 5", "read (no answer)"},
		{"etcd", call{"txn", `{"compare":[{"key":"x","version":0}],"then":[{"op":"put","key":"x","value":"1"}],"else":[{"op":"range","start":"x"},{"op":"delete","key":"x"}]}`, `{"succeeded":true}`}, `txn if version of x = 0 then put x "1" else range x, delete x = {"succeeded":true}`, `txn if version of x = 0 then put x "1" else range x, delete x (no answer)`},
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
	for _, model := range []string{"queue", "stack", "log", "set", "deque", "priority-queue", "unordered-queue"} {
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
	for i, e := range all {
		if known[i].name != e.Name {
			t.Errorf("%s is listed as %s", e.Name, known[i].name)
		}
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

// pool is a small world: what operations are asked and answer.
type pool struct {
	in, out []string
	from    string // an initial value that every history of this world binds with
}

func (p pool) initial(t *testing.T) history.Value { return value(t, p.from) }

// pools are the values that the property tests combine.
var pools = pool{
	in:  []string{"", "null", "0", "1", "2", "-1", `"a"`, `""`, "[0,1]", "[1,1]", "[null,0]", "[0,null]", "[null,null]", `["",""]`, `["","a"]`, `["a",""]`},
	out: []string{"", "null", "true", "false", "0", "1", "2", `"a"`, `""`, "[]", "[0]", "[1]", "[0,1]", "[1,0]", "[1,1]", `"empty"`},
}

// worlds are those of the models whose values look like no others.
var worlds = map[string]pool{
	"multi-register": txnPool, "rw-register": txnPool,
	"list-append": {
		in: []string{`[["r","x",null]]`, `[["append","x",1]]`, `[["append","x",0]]`, `[["r","x",null],["append","x",1]]`, `[["append","x",1],["r","x",null]]`},
		out: []string{"null", `[["r","x",null]]`, `[["r","x",[1]]]`, `[["r","x",[1,0]]]`, `[["r","x",[]],["append","x",1]]`, `[["r","x",[0]],["append","x",1]]`,
			`[["append","x",1],["r","x",[1]]]`, `[["append","x",1],["r","x",[0,1]]]`, `[["append","x",1],["r","x",[0]]]`},
	},
	"bank": {
		in:   []string{"", `{"from":0,"to":1,"amount":1}`, `{"from":"1","to":"0","amount":1}`, `{"from":0,"to":1,"amount":0}`, `{"from":1,"to":1,"amount":2}`, `{"from":0,"to":1,"amount":-1}`},
		out:  []string{"", "null", "true", "false", `{}`, `{"0":0}`, `{"0":1,"1":-1}`, `{"0":-1,"1":1}`, `{"0":-2,"1":2}`},
		from: "{}",
	},
	"s2": {
		in: []string{"", `{"num_records":1,"record_hashes":[1]}`, `{"num_records":1,"record_hashes":[2],"match_seq_num":0}`, `{"num_records":1,"record_hashes":[1],"match_seq_num":1}`,
			`{"num_records":1,"record_hashes":[1],"set_fencing_token":"a"}`, `{"num_records":1,"record_hashes":[2],"fencing_token":"a"}`, `{"num_records":0}`, `{"num_records":0,"fencing_token":"a","set_fencing_token":"a"}`},
		out: []string{"", `{"tail":0}`, `{"tail":1}`, `{"tail":2}`, `{"tail":0,"stream_hash":0}`,
			fmt.Sprintf(`{"tail":1,"stream_hash":%d}`, S2Chain(0, 1)), fmt.Sprintf(`{"tail":2,"stream_hash":%d}`, S2Chain(S2Chain(0, 1), 2))},
	},
	"versioned-kv": {
		in:  []string{"", `["a",0]`, `["b",0]`, `["a",1]`, `["b",2]`},
		out: []string{"", "null", "1", "2", "3", `"ok"`, `"version-error"`, `"no-key"`, `"maybe"`, `["a",1]`, `["b",1]`, `["b",2]`},
	},
	"etcd": {
		in: []string{"", `{"start":"x"}`, `{"start":"a","end":"z","limit":1}`, `{"start":"x","revision":1}`, `{"key":"x","value":"1"}`, `{"key":"x","value":"2","lease":7}`, `{"key":"y","value":"1"}`, `{"key":"x"}`, `{"lease":7}`, `{"revision":2}`,
			`{"compare":[{"key":"x","mod_revision":0}],"then":[{"op":"put","key":"x","value":"1"}],"else":[{"op":"range","start":"x"}]}`,
			`{"compare":[{"key":"x","version":1,"op":">"}],"then":[{"op":"delete","key":"x"}],"else":[{"op":"range","start":"a","end":"\u0000"}]}`,
			`{"compare":[{"key":"x","value":"1"}],"then":[{"op":"range","start":"x"},{"op":"delete","key":"y"}],"else":[]}`},
		// Revisions of answers say which states were before, so they would need a
		// larger world.
		out: []string{"", `{"revision":-1}`, `{"kvs":[],"count":0}`, `{"kvs":[{"key":"x","value":"1"}]}`, `{"deleted":0}`, `{"deleted":1}`, `{"succeeded":false}`, `{"succeeded":true}`,
			`{"succeeded":true,"results":[{}]}`, `{"succeeded":true,"results":[{"deleted":1}]}`, `{"succeeded":true,"results":[{"count":1},{"deleted":0}]}`, `{"succeeded":false,"results":[{"count":0}]}`},
	},
}

var txnPool = pool{
	in: []string{`[["r","x",null]]`, `[["w","x",1]]`, `[["w","x",0]]`, `[["r","x",null],["w","x",1]]`, `[["w","x",1],["r","x",null]]`,
		`[["r","x",null],["w","y",0],["r","y",null],["w","y",1]]`, `[["r","y",null],["w","y",1],["w","y",0]]`},
	out: []string{"", "null",
		`[["r","x",1]]`, `[["r","x",null]]`, `[["r","x",1],["w","x",1]]`, `[["r","x",0],["w","x",1]]`, `[["w","x",1],["r","x",1]]`,
		`[["r","x",0],["w","y",0],["r","y",0],["w","y",1]]`, `[["r","y",0],["w","y",1],["w","y",0]]`},
}

// everything returns a history of all calls of a model that decode, with the
// answer and without; each by two processes where the model asks for them.
func everything(t *testing.T, e Entry) *history.Raw {
	all := &history.Raw{}
	world, special := worlds[e.Name]
	processes := 1
	if strings.HasSuffix(e.Name, "-mutex") {
		processes = 2
	}
	if !special {
		world = pools
	}
	for _, o := range e.Ops {
		for _, in := range world.in {
			for _, out := range world.out {
				h := raw(t, []call{{o.F, in, out}}, overlapping)
				if _, err := e.Bind(h, Options{Initial: world.initial(t)}); err != nil {
					continue
				}
				for process := range processes {
					op := h.Ops[0]
					op.Process = process
					all.Ops = append(all.Ops, op)
					op.NoOut = true
					all.Ops = append(all.Ops, op)
				}
			}
		}
	}
	return all
}

// next returns the states that operation op leads to, none if it is impossible.
func next(m spec.Machine, state, op int32) []int32 {
	if nd, ok := m.(spec.Nondeterministic); ok {
		return nd.Steps(state, op)
	}
	if n, ok := m.Step(state, op); ok {
		return []int32{n}
	}
	return nil
}

// explore returns the states that random walks reach.
func explore(m spec.Machine, ops int, r *rand.Rand) []int32 {
	seen := map[int32]bool{m.Init(0): true}
	for range 120 {
		s := m.Init(0)
		for range 12 {
			if to := next(m, s, int32(r.IntN(ops))); len(to) > 0 {
				s = to[r.IntN(len(to))]
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
		for _, initial := range []string{"", `""`, "0", "3", "[]", `[0,1,2,"a"]`, `{"":1}`, `{"x":1}`, `{"x":[1]}`, "{}"} {
			s, err := e.Bind(all, Options{Initial: value(t, initial)})
			if err != nil && strings.Contains(err.Error(), "initial value") {
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
					for _, to := range next(m, st, i) {
						fits, changes = true, changes || to != st
					}
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
		o := Options{Initial: worlds[e.Name].initial(t)}
		s, err := e.Bind(all, o)
		u, err2 := e.Bind(back, o)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		m := spec.Deterministic(s.Machine(context.Background(), s.View, false))
		w := spec.Deterministic(u.Machine(context.Background(), u.View, false))
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

// TestEngineAgreesOnEveryModel: on small random histories of each model the
// engine says what trying every order says.
func TestEngineAgreesOnEveryModel(t *testing.T) {
	level, err := consistency.LookupLevel("linearizable")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range All() {
		all, r := everything(t, e), rand.New(rand.NewPCG(17, 18))
		o := Options{Initial: worlds[e.Name].initial(t)}
		verdicts := map[bool]int{}
		s, err := e.Bind(all, o)
		if err != nil {
			t.Fatal(err)
		}
		m := spec.Deterministic(s.Machine(context.Background(), s.View, false))
		for range 800 {
			h := randomHistory(all, m, strings.HasSuffix(e.Name, "-mutex"), r)
			s, err := e.Bind(h, o)
			if err != nil {
				t.Fatal(err)
			}
			want := possible(s)
			v, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{Workers: 1})
			if err != nil || (v.Kind != spec.Violation) != want {
				t.Fatalf("%s: %v %v, want possible %v", e.Name, v.Kind, err, want)
			}
			verdicts[want]++
		}
		if min(verdicts[true], verdicts[false]) < 10 {
			t.Errorf("%s is one-sided: %v", e.Name, verdicts)
		}
	}
}

// randomHistory takes calls in an order that mostly works, spreads them in time,
// and takes the answers of some away. With owners, a process has one call at a
// time.
func randomHistory(all *history.Raw, m spec.Machine, owners bool, r *rand.Rand) *history.Raw {
	h := &history.Raw{}
	free := map[int]int64{0: -1 << 40, 1: -1 << 40} // when each owner's last call returned
	for n, state := 2+r.IntN(5), m.Init(0); len(h.Ops) < n; {
		i := r.IntN(len(all.Ops))
		next, ok := m.Step(state, int32(i))
		if !ok && r.IntN(8) > 0 {
			continue
		}
		if ok {
			state = next
		}
		op := all.Ops[i]
		op.Invoke = int64(10*len(h.Ops)) - r.Int64N(15)
		if owners {
			op.Invoke = max(op.Invoke, free[op.Process]+1)
		}
		op.Return = op.Invoke + 1 + r.Int64N(15)
		free[op.Process] = op.Return
		if !owners {
			op.Process = len(h.Ops)
		}
		if r.IntN(8) == 0 && !owners {
			op.Outcome = history.Info
		}
		h.Ops = append(h.Ops, op)
	}
	return h
}
