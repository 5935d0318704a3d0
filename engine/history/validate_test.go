package history_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pinyon/engine/history"
)

type op = history.Op[string, string]

// Validate on typed histories; testdata/malformed has the same for files.
func TestValidate(t *testing.T) {
	info := history.Info
	lines := func(at ...int32) (o []history.Origin) {
		for k := 0; k < len(at); k += 2 {
			o = append(o, history.Origin{Line: at[k] + 1, Seq: at[k], DoneSeq: at[k+1]})
		}
		return o
	}
	byNode := history.Header{ClockError: history.ClockError{ByNode: map[string]int64{"n1": 5, "n2": 5}}}
	precede := history.Header{Ties: history.TiesPrecede}
	for name, c := range map[string]struct {
		h    history.Of[string, string]
		want string
	}{
		"empty":                     {},
		"touching":                  {h: history.Of[string, string]{Ops: []op{{Invoke: 5, Return: 9}, {Invoke: 1, Return: 5}}}},
		"zero width then wide":      {h: history.Of[string, string]{Ops: []op{{Invoke: 5, Return: 9}, {Invoke: 5, Return: 5}}}},
		"info last":                 {h: history.Of[string, string]{Ops: []op{{Invoke: 5, Outcome: info}, {Invoke: 1, Return: 5}}}},
		"overlap":                   {history.Of[string, string]{Ops: []op{{Invoke: 4, Return: 9}, {Invoke: 1, Return: 5}}}, "op 0: process 0 invokes it at 4 ns, while its op 1 is in flight until 5 ns; a process has one operation at a time"},
		"failed ones overlap":       {history.Of[string, string]{Ops: []op{{Invoke: 1, Return: 5, Outcome: history.Fail}, {Invoke: 2, Return: 3}}}, "op 1: process 0 invokes it at 2 ns, while its op 0 is in flight until 5 ns; a process has one operation at a time"},
		"after info":                {history.Of[string, string]{Ops: []op{{Process: 2, Invoke: 1, Outcome: info}, {Process: 2, Invoke: 7, Outcome: info}}}, "op 1: process 2 goes on at 7 ns, although its op 0 got no answer; a process ends there, so what follows needs another name"},
		"backwards":                 {history.Of[string, string]{Ops: []op{{Invoke: 4, Return: 3}}}, "op 0: it returns at 3 ns, before it is invoked at 4 ns"},
		"far":                       {history.Of[string, string]{Ops: []op{{Return: history.Never}}}, "op 0: the return time 9223372036854775807 is beyond ±1729382256910270464 nanoseconds from the start of the run"},
		"far invoke":                {history.Of[string, string]{Ops: []op{{Invoke: -history.MaxTime - 1}}}, "op 0: the invoke time -1729382256910270465 is beyond ±1729382256910270464 nanoseconds from the start of the run"},
		"outcome":                   {history.Of[string, string]{Ops: []op{{Outcome: 7}}}, "op 0: outcome 7 does not exist; it must be ok, fail or info"},
		"ids":                       {history.Of[string, string]{Ops: []op{{}, {}}, IDs: []int64{1}}, "there are 2 operations but 1 ids; give each operation one, or set IDs to nil"},
		"process name":              {history.Of[string, string]{Ops: []op{{Process: 1}}, Processes: []history.Value{history.Null}}, "operation 0 is of process 1, but 1 processes have names; name them all, or set Processes to nil"},
		"origins":                   {history.Of[string, string]{Ops: []op{{}}, Origins: lines(0, 1, 2, 3)}, "there are 1 operations but 2 origins; give each operation one, or set Origins to nil"},
		"same id":                   {history.Of[string, string]{Ops: []op{{}, {}, {}}, IDs: []int64{4, 2, 4}}, "op 4: the id stands for two operations: operation 0 of the list and operation 2 of the list"},
		"same id in a file":         {history.Of[string, string]{Ops: []op{{}, {}}, IDs: []int64{4, 4}, Path: "f", Origins: lines(0, 1, 2, 3)}, "f:3: op 4: the id stands for two operations: f:1 and f:3"},
		"clock error":               {history.Of[string, string]{Header: history.Header{ClockError: history.ClockError{All: -1}}}, "the clock error is -1 ns; it must lie between 0 and 1729382256910270464"},
		"clock error of a node":     {history.Of[string, string]{Header: history.Header{ClockError: history.ClockError{ByNode: map[string]int64{"b": -2}}}}, `the clock error of node "b" is -2 ns; it must lie between 0 and 1729382256910270464`},
		"node unknown":              {history.Of[string, string]{Header: byNode, Ops: []op{{Node: "n1"}, {Node: "n3", Process: 1}}}, `op 1: no clock error is given for its node "n3", only for n1, n2`},
		"node missing":              {history.Of[string, string]{Header: byNode, Ops: []op{{}}}, `op 0: it names no node, but the clock error is given by node, for n1, n2`},
		"instants":                  {history.Of[string, string]{Header: precede, Ops: []op{{Key: "a"}, {Key: "b", Process: 1}, {Key: "a", Process: 2}}}, "op 2: it takes no time at 0 ns, as does op 0 on the same key; with ties precede neither comes first, so use ties concurrent"},
		"instants, one failed":      {h: history.Of[string, string]{Header: precede, Ops: []op{{}, {Process: 1, Outcome: history.Fail}}}},
		"instants, ties concurrent": {h: history.Of[string, string]{Ops: []op{{}, {Process: 1}}}},
		"lines without lines":       {history.Of[string, string]{Order: history.ByLine, Ops: []op{{}}}, "the order of lines is to be the clock, but the operations have no lines; set Origins, or order by time"},
		"times backwards by line":   {h: history.Of[string, string]{Order: history.ByLine, Ops: []op{{Invoke: 9, Return: 3}, {Invoke: 1, Return: 0}}, Origins: lines(0, 1, 2, 3)}},
		"overlap by line":           {history.Of[string, string]{Order: history.ByLine, Ops: []op{{Invoke: 0, Return: 1}, {Invoke: 2, Return: 3}}, Origins: lines(0, 2, 1, 3)}, "2: op 1: process 0 invokes it at event 1, while its op 0 (line 1) is in flight until event 2; a process has one operation at a time"},
		"backwards by line":         {history.Of[string, string]{Order: history.ByLine, Ops: []op{{}}, Origins: lines(3, 2)}, "4: op 0: it returns at event 2, before it is invoked at event 3"},
		"no completion by line":     {history.Of[string, string]{Order: history.ByLine, Ops: []op{{}}, Origins: lines(3, -1)}, "4: op 0: it is ok, but no line completes it; only an info operation has no completion"},
	} {
		t.Run(name, func(t *testing.T) {
			err := history.Validate(&c.h)
			if got := message(err); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if _, ok := err.(*history.Error); err != nil && !ok {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// lineHistory makes operations by event order, with times that may run
// backwards.
func lineHistory(t *rapid.T) *history.Raw {
	n := rapid.IntRange(1, 5).Draw(t, "n")
	deck := rapid.Permutation(slices.Concat(seq(n), seq(n))).Draw(t, "events")
	h := &history.Raw{Order: history.ByLine, Ops: make([]history.Op[history.Value, history.Value], n), Origins: make([]history.Origin, n)}
	seen, now := map[int]bool{}, int64(0)
	for k, i := range deck {
		now += rapid.Int64Range(-1, 3).Draw(t, "step")
		op, from := &h.Ops[i], &h.Origins[i]
		if seen[i] {
			op.Return, from.DoneSeq, from.DoneLine = now, int32(k), int32(k+1)
			continue
		}
		seen[i] = true
		op.Process, op.F, op.Invoke, from.Seq, from.Line = i, "write", now, int32(k), int32(k+1)
	}
	for i := range h.Ops {
		if rapid.IntRange(0, 3).Draw(t, "info") == 0 {
			h.Ops[i].Outcome, h.Origins[i].DoneSeq = history.Info, -1
		}
	}
	return h
}

func seq(n int) (s []int) {
	for i := range n {
		s = append(s, i)
	}
	return s
}

// The native format knows times only. Whatever the times of a line-ordered
// history, its native form orders the same pairs, by double loop.
func TestLineOrderSurvivesWriting(t *testing.T) {
	counts := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		h := lineHistory(t)
		var b strings.Builder
		if err := history.WriteNative(&b, h); err != nil {
			t.Fatal(err)
		}
		got, err := history.ReadNative("", strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if err := history.Validate(got); err != nil {
			t.Fatal(err)
		}
		raw := history.NativeTimes(h)
		counts[raw]++
		at := map[string]int{}
		for i := range got.Ops {
			at[got.ProcessName(i)] = i
		}
		for i := range h.Ops {
			for j := range h.Ops {
				x, y := got.Ops[at[h.ProcessName(i)]], got.Ops[at[h.ProcessName(j)]]
				byLine := h.Ops[i].Outcome != history.Info && h.Origins[i].DoneSeq < h.Origins[j].Seq
				byTime := x.Outcome != history.Info && x.Return < y.Invoke
				if byLine != byTime {
					t.Fatalf("process %d before %d: by line %v, as written %v (recorded times %v)\n%s", i, j, byLine, byTime, raw, b.String())
				}
				if raw && x.Invoke != h.Ops[i].Invoke || !raw && hint(x.Hints, "invoke_time") != history.Int(h.Ops[i].Invoke) {
					t.Fatalf("the recorded time is lost\n%s", b.String())
				}
			}
		}
	})
	if counts[true] == 0 || counts[false] == 0 {
		t.Errorf("both ways of writing must occur: %v", counts)
	}
}

func hint(hints []history.Hint, name string) history.Value {
	for _, h := range hints {
		if h.Name == name {
			return h.Value
		}
	}
	return history.Absent
}

func TestUnrecordedAnswersAreWrittenAsNullOrRefused(t *testing.T) {
	raw := func(ops ...history.Op[history.Value, history.Value]) *history.Raw { return &history.Raw{Ops: ops} }
	type rawOp = history.Op[history.Value, history.Value]
	h := raw(rawOp{F: "read", NoOut: true})
	if got, want := write(t, h), `{"pinyon":"history","version":1,"nil_read":"unknown"}`+"\n"+`{"process":0,"f":"read","invoke":0,"return":0,"outcome":"ok","out":null}`+"\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for want, h := range map[string]*history.Raw{
		"op 0: the answer of this dequeue was not recorded, and the native format can say so of a read or get only":     raw(rawOp{F: "dequeue", NoOut: true}),
		"op 0: the answer was not recorded, and other reads returned null; the native format cannot tell the two apart": raw(rawOp{F: "read", NoOut: true}, rawOp{F: "read", Out: history.Null}),
	} {
		if err := history.WriteNative(&strings.Builder{}, h); message(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestFoldNumbers(t *testing.T) {
	h := read(t, header+`{"process":0,"f":"w","in":[1.0,{"a":2.0}],"invoke":1,"return":2,"outcome":"ok","out":2.50,"hints":{"i":1.0}}`)
	history.FoldNumbers(h)
	if o := h.Ops[0]; o.In.Text() != `[1,{"a":2}]` || o.Out.Text() != "2.5" || o.Hints[0].Value.Text() != "1.0" {
		t.Errorf("%s %s %s", o.In.Text(), o.Out.Text(), o.Hints[0].Value.Text())
	}
}
