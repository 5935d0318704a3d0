package history_test

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pinyon/engine/history"
)

const header = `{"pinyon":"history","version":1}` + "\n"

func read(t testing.TB, text string) *history.Raw {
	t.Helper()
	h, err := history.ReadNative("h.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return h
}

func write(t testing.TB, h *history.Raw) string {
	t.Helper()
	var b bytes.Buffer
	if err := history.WriteNative(&b, h); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// content is what a native file says, whatever the order of its lines: without
// origins and line numbers, processes by name, operations in written order.
type content struct {
	Header history.Header
	Ops    []string
	Notes  []history.Note
}

func contentOf(h *history.Raw) content {
	c := content{Header: h.Header, Notes: slices.Clone(h.Notes)}
	for i := range c.Notes {
		c.Notes[i].Line = 0
	}
	slices.SortStableFunc(c.Notes, func(a, b history.Note) int { return cmp.Compare(a.From, b.From) })
	order := make([]int, len(h.Ops))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(h.Ops[a].Invoke, h.Ops[b].Invoke), cmp.Compare(h.ID(a), h.ID(b)))
	})
	for _, i := range order {
		op := h.Ops[i]
		s := fmt.Sprintf("%d %s %q %q %s %s %d %d %s %v %q %q", h.ID(i), h.ProcessName(i), op.F, op.Key, op.In.Text(), op.Out.Text(),
			op.Invoke, op.Return, op.Outcome, op.NoOut, op.Node, op.Error)
		for _, hint := range op.Hints {
			s += fmt.Sprintf(" %q=%s", hint.Name, hint.Value.Text())
		}
		c.Ops = append(c.Ops, s)
	}
	return c
}

func TestReadNativeReadsTheDocumentedExample(t *testing.T) {
	h := read(t, `{"pinyon":"history","version":1,"model":"cas-register","level":"linearizable","initial":0,"clock_error":40,"nodes":["n1","n2","n3"],"seed":7,"source":"pinyon run --store kvraft"}
{"process":3,"f":"write","key":"x","in":5,"invoke":1200,"return":1350,"outcome":"ok","node":"n1","hints":{"index":17,"term":2}}
{"process":4,"f":"read","key":"x","invoke":1300,"return":1420,"outcome":"ok","out":5,"node":"n2","hints":{"applied":17}}
{"process":5,"f":"cas","key":"x","in":[5,9],"invoke":1380,"outcome":"info","error":"timeout","node":"n3"}
{"event":"invoke","id":9,"process":6,"f":"read","key":"x","time":1500}
{"event":"complete","id":9,"time":1600,"outcome":"ok","out":5,"hints":{"applied":18}}
{"note":"partition","from":1310,"to":2200,"detail":{"sides":[["n1"],["n2","n3"]]}}
`)
	want := []string{
		`0 3 "write" "x" 5  1200 1350 ok false "n1" "" "index"=17 "term"=2`,
		`1 4 "read" "x"  5 1300 1420 ok false "n2" "" "applied"=17`,
		`2 5 "cas" "x" [5,9]  1380 9223372036854775807 info false "n3" "timeout"`,
		`9 6 "read" "x"  5 1500 1600 ok false "" "" "applied"=18`,
	}
	c := contentOf(h)
	if !reflect.DeepEqual(c.Ops, want) {
		t.Errorf("operations\n%s\nwant\n%s", strings.Join(c.Ops, "\n"), strings.Join(want, "\n"))
	}
	if h.Header.Initial != history.Int(0) || h.Header.ClockError.All != 40 || h.Header.Seed != history.Int(7) || len(h.Header.Nodes) != 3 {
		t.Errorf("header %+v", h.Header)
	}
	if o := h.Origins[3]; o.Line != 5 || o.DoneLine != 6 || o.Seq != 3 || o.DoneSeq != 4 {
		t.Errorf("origin of the event lines: %+v", o)
	}
	if o := h.Origins[0]; o.Line != 2 || o.DoneLine != 2 {
		t.Errorf("origin of an operation line: %+v", o)
	}
	if n := h.Notes[0]; n.Name != "partition" || n.From != 1310 || n.To != 2200 || n.Line != 7 {
		t.Errorf("note %+v", n)
	}
	if err := history.Validate(h); err != nil {
		t.Error(err)
	}
}

func TestReadNativeDetails(t *testing.T) {
	if h := read(t, ""); len(h.Ops) != 0 {
		t.Error("an empty file is an empty history")
	}
	noNewline := read(t, header+`{"process":"3","f":"read","invoke":1,"return":2,"outcome":"ok"}`)
	if op := noNewline.Ops[0]; op.Out != history.Absent || op.NoOut || op.Key != "" || op.In != history.Absent {
		t.Errorf("absent values: %+v", op)
	}
	two := read(t, header+`{"process":3,"f":"w","key":7,"invoke":-5,"return":2,"outcome":"ok"}
{"process":"3","f":"w","key":"7","invoke":-5,"return":2,"outcome":"ok"}`)
	if two.Ops[0].Process == two.Ops[1].Process || two.Ops[0].Key == two.Ops[1].Key {
		t.Error(`3 and "3" are different processes, 7 and "7" different keys`)
	}
	early := read(t, header+`{"event":"complete","id":4,"time":9,"outcome":"fail"}
{"event":"invoke","id":4,"process":1,"f":"cas","in":[1,2],"time":3}
{"event":"invoke","id":5,"process":2,"f":"read","time":3}
{"event":"invoke","id":6,"process":3,"f":"read","time":3}
{"event":"complete","id":6,"time":9,"outcome":"info","error":"gone"}`)
	if op := early.Ops[0]; op.Outcome != history.Fail || op.Return != 9 || !early.Origins[0].Refused || early.Origins[0].DoneSeq != 0 {
		t.Errorf("a completion may stand before its invocation: %+v %+v", op, early.Origins[0])
	}
	if early.Ops[1].Outcome != history.Info || early.Origins[1].DoneSeq != -1 {
		t.Error("an invoke without completion is info")
	}
	if op := early.Ops[2]; op.Outcome != history.Info || op.Return != history.Never || op.Error != "gone" {
		t.Errorf("a completion may say info: %+v", op)
	}
	if n := history.ObserveRefusedCas(early); n != 1 || early.Ops[0].Outcome != history.OK || early.Ops[0].Out != history.False {
		t.Errorf("%d refused: %+v", n, early.Ops[0])
	}
}

// Mistakes that need no file of their own.
func TestReadNativeRefuses(t *testing.T) {
	op := `{"process":0,"f":"w","invoke":1,"return":2,"outcome":"ok"`
	for line, want := range map[string]string{
		op + `,"hints":{"a":1,"a":2}}`:                 `2:74: the hint "a" stands twice`,
		op + `,"hints":[1]}`:                           `2:67: "hints" must be an object, got an array`,
		op + `,"node":7}`:                              `2:66: "node" must be a string, got an integer`,
		op + `,"f":"w"}`:                               `2:59: the field "f" stands twice`,
		op + `,"in":{"a":1,"a":2}}`:                    `2:71: the field "a" stands twice`,
		op + `,"in":{"$kw":3}}`:                        `2:65: unknown or malformed special value "$kw"`,
		op + `,"in":"` + "\xff" + `"}`:                 `2:65: byte 0xff is not valid UTF-8`,
		op + `,"colour":1}`:                            `2:59: unknown field "colour" on an operation; known are process, f, key, in, out, invoke, return, outcome, hints, id, node, error`,
		op + `,"in":12`:                                `2:66: the last line is cut off: unexpected end of line, expected ',' or '}'`,
		op + `,"in":"12`:                               `2:64: the last line is cut off: the string that starts here is not closed`,
		op + `,"in":{"a":1}`:                           `2:71: the last line is cut off: unexpected end of line, expected ',' or '}'`,
		op + `,"in":` + strings.Repeat("[", 300) + `}`: `2:264: values are nested deeper than 200`,
		`[]`: `2:1: the last line is cut off: unexpected '[', expected an object`,
		`{"process":1.5,"f":"w","invoke":1,"outcome":"info"}`:       `2:12: "process" must be an int64 or a string, got a decimal`,
		`{"process":0,"f":"w","invoke":01,"outcome":"info"}`:        `2:31: malformed number`,
		`{"f":"w","invoke":1,"outcome":"info"}`:                     `2:1: the field "process" is missing from an operation`,
		`{"f":"w","outcome":"info"}`:                                `2:1: the fields "process", "invoke" are missing from an operation`,
		`{"note":"x","from":1,"key":2}`:                             `2:28: the field "key" does not belong on a note; its fields are note, from, to, detail`,
		`{"event":"complete","id":1,"time":1}`:                      `2:1: the field "outcome" is missing from a complete event`,
		`{"event":"invoke","id":1,"time":1,"process":1,"F":"w"}`:    `2:47: unknown field "F" on an invoke event; did you mean "f"?`,
		`{"process":0,"f":"w","invoke":1,"outcome":"info","out":1}`: `2:56: an info operation carries no "out": only an answer that is ok has one`,
	} {
		_, err := history.ReadNative("", strings.NewReader(header+line))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", line, err, want)
		}
	}
	for text, want := range map[string]string{
		"\uFEFF" + header:                                           `1:1: the file starts with a byte order mark; remove it`,
		"{\"pinyon\":\"history\"}\n":                                `1:1: the field "version" is missing from the header; it must be 1`,
		"{\"pinyon\":\"proof\",\"version\":1}\n":                    `1:11: "pinyon" must be "history", got "proof"; this is no history`,
		"{\"pinyon\":\"history\",\"version\":1,\"nodes\":[1]}\n":    `1:41: "nodes" must be a list of strings, got an integer in the list`,
		"{\"pinyon\":\"history\",\"version\":1,\"seed\":null}\n":    `1:40: "seed" must be an integer or a string, got null`,
		"{\"pinyon\":\"history\",\"version\":1,\"nil_read\":\"a\"}": `1:44: "nil_read" must be unknown or absent, got "a"`,
	} {
		_, err := history.ReadNative("", strings.NewReader(text))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestReadNativeNamesBothLinesOfTwoNodes(t *testing.T) {
	_, err := history.ReadNative("h", strings.NewReader(header+`{"event":"complete","id":1,"time":3,"outcome":"ok","node":"b"}
{"event":"invoke","id":1,"time":1,"process":1,"f":"w","node":"a"}`))
	want := `h:2:59: op 1 was sent to node "a" in line 3, and "b" answers; an operation has one node`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReadNativeBoundsLines(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 64 MiB")
	}
	op := `{"process":0,"f":"w","invoke":1,"return":2,"outcome":"ok","error":"`
	text := header + op + strings.Repeat("x", history.MaxLine-len(op)-2) + `"}` + "\n"
	if h := read(t, text); len(h.Ops) != 1 {
		t.Error("a line of MaxLine bytes is fine")
	}
	_, err := history.ReadNative("h", strings.NewReader(text[:len(text)-1]+"  \n"))
	if err == nil || !strings.HasPrefix(err.Error(), "h:2: the line is longer than 67108864 bytes") {
		t.Errorf("got %v", err)
	}
}

// values of every kind that a file can hold.
func genValue() *rapid.Generator[history.Value] {
	text := rapid.SampledFrom([]string{"", "a", "k 1", "null", ":x", "$kw", "7", "é\u2028", "a\"b\\c\n\t\x00\x1f", "\U0001F600"})
	leaf := rapid.OneOf(
		rapid.SampledFrom([]history.Value{history.Null, history.True, history.False, history.Int(1<<53 + 1), history.Int(-1 << 63),
			number("18446744073709551615"), number("-123456789012345678901234567890"), number("1.0"), number("1.50"), number("-2.5e300")}),
		rapid.Map(rapid.Int64(), history.Int),
		rapid.Map(text, history.String), rapid.Map(text, history.Keyword), rapid.Map(text, history.Symbol), rapid.Map(text, history.Char),
		rapid.Map(rapid.Int64(), func(n int64) history.Value { return history.Ratio(history.Int(n), history.Int(3)) }),
	)
	level := leaf
	for range 2 {
		inner := level
		level = rapid.Custom(func(t *rapid.T) history.Value {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				return history.Array(rapid.SliceOfN(inner, 0, 3).Draw(t, "array")...)
			case 1:
				return history.Set(rapid.SliceOfN(inner, 0, 3).Draw(t, "set")...)
			case 2:
				return history.Tag(text.Draw(t, "tag"), inner.Draw(t, "tagged"))
			case 3:
				return object(rapid.SliceOfN(rapid.Map(text, history.String), 0, 3).Draw(t, "names"), inner.Draw(t, "value"))
			case 4:
				return object(rapid.SliceOfN(inner, 0, 3).Draw(t, "keys"), inner.Draw(t, "value"))
			}
			return inner.Draw(t, "leaf")
		})
	}
	return level
}

func number(s string) history.Value {
	v, err := history.Number(s)
	if err != nil {
		panic(err)
	}
	return v
}

func object(keys []history.Value, v history.Value) history.Value {
	var ms []history.Member
	distinct, _ := history.Set(keys...).Elems()
	for _, k := range distinct {
		ms = append(ms, history.Member{Key: k, Value: v})
	}
	o, err := history.Object(ms...)
	if err != nil {
		panic(err)
	}
	return o
}

// genHistory makes any history that a native file can hold, with processes
// numbered in the order of their appearance.
func genHistory() *rapid.Generator[*history.Raw] {
	value := genValue()
	orAbsent := rapid.OneOf(rapid.Just(history.Absent), value)
	words := rapid.SampledFrom([]string{"", "", "n1", "n\"2", "time out\n"})
	return rapid.Custom(func(t *rapid.T) *history.Raw {
		h := &history.Raw{Header: genHeader(t, value)}
		times := rapid.OneOf(rapid.Int64Range(-3, 12), rapid.Int64Range(-history.MaxTime, history.MaxTime))
		n := rapid.IntRange(0, 8).Draw(t, "n")
		if rapid.Bool().Draw(t, "ids") {
			h.IDs = rapid.SliceOfNDistinct(rapid.Int64(), n, n, rapid.ID[int64]).Draw(t, "ids")
		}
		names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.Map(rapid.Int64Range(0, 3), history.Int), rapid.Map(words, history.String)),
			4, 4, rapid.ID[history.Value]).Draw(t, "processes")
		h.Processes = names
		for range n {
			op := history.Op[history.Value, history.Value]{
				Process: rapid.IntRange(0, 3).Draw(t, "process"), F: rapid.SampledFrom([]string{"read", "write", "cas", ""}).Draw(t, "f"),
				Key: orAbsent.Draw(t, "key").Label(), In: orAbsent.Draw(t, "in"), Invoke: times.Draw(t, "invoke"), Return: times.Draw(t, "return"),
				Outcome: history.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome")), Node: words.Draw(t, "node"), Error: words.Draw(t, "error"),
			}
			switch op.Outcome {
			case history.OK:
				op.Out = orAbsent.Draw(t, "out")
			case history.Info:
				op.Return = history.Never
			}
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"index", "", "a\tb", "term"}), 0, 3, rapid.ID[string]).Draw(t, "hints") {
				op.Hints = append(op.Hints, history.Hint{Name: name, Value: value.Draw(t, "hint")})
			}
			h.Ops = append(h.Ops, op)
		}
		for range rapid.IntRange(0, 2).Draw(t, "notes") {
			to := rapid.OneOf(rapid.Just(int64(history.Never)), times).Draw(t, "to")
			h.Notes = append(h.Notes, history.Note{Name: words.Draw(t, "note"), From: times.Draw(t, "from"), To: to, Detail: orAbsent.Draw(t, "detail")})
		}
		return h
	})
}

func genHeader(t *rapid.T, value *rapid.Generator[history.Value]) history.Header {
	h := history.Header{
		Model:   rapid.SampledFrom([]string{"", "register"}).Draw(t, "model"),
		NilRead: rapid.SampledFrom([]string{"", "unknown", "absent"}).Draw(t, "nil"),
		FailCas: rapid.SampledFrom([]string{"", "drop", "observe"}).Draw(t, "fail"),
		HasTies: rapid.Bool().Draw(t, "ties"),
		Oracles: rapid.SampledFrom([][]string{nil, {"etcd"}, {"a.yaml", "raft"}}).Draw(t, "oracles"),
		Nodes:   rapid.SampledFrom([][]string{nil, {"n1"}, {"n1", "n2"}}).Draw(t, "nodes"),
		Level:   rapid.SampledFrom([]string{"", "bounded-staleness:k=3"}).Draw(t, "level"),
		Source:  rapid.SampledFrom([]string{"", "pinyon run \"x\""}).Draw(t, "source"),
		Started: rapid.SampledFrom([]string{"", "2026-11-30T10:12:04Z"}).Draw(t, "started"),
		Seed:    rapid.SampledFrom([]history.Value{history.Absent, history.Int(7), number("18446744073709551615")}).Draw(t, "seed"),
		Initial: rapid.OneOf(rapid.Just(history.Absent), value).Draw(t, "initial"),
	}
	if h.HasTies {
		h.Ties = history.Ties(rapid.IntRange(0, 1).Draw(t, "rule"))
	}
	switch rapid.IntRange(0, 2).Draw(t, "error") {
	case 1:
		h.ClockError.All = rapid.Int64Range(0, history.MaxTime).Draw(t, "all")
	case 2:
		h.ClockError.ByNode = map[string]int64{"n1": 3, "n\"2": rapid.Int64Range(0, history.MaxTime).Draw(t, "n2")}
	}
	return h
}

func TestWhatIsWrittenReadsBackEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := genHistory().Draw(t, "history")
		var b bytes.Buffer
		if err := history.WriteNative(&b, h); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		got, err := history.ReadNative("", strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if want, got := contentOf(h), contentOf(got); !reflect.DeepEqual(want, got) {
			t.Fatalf("wrote %+v\n read %+v\n%s", want, got, text)
		}
		b.Reset()
		if err := history.WriteNative(&b, got); err != nil || b.String() != text {
			t.Fatalf("written again (%v):\n%s\nfirst\n%s", err, b.String(), text)
		}
	})
}

func FuzzReadNative(f *testing.F) {
	op := `{"process":0,"f":"w","key":{"$kw":"a"},"in":[1,1.50,18446744073709551615],"invoke":1,"return":2,"outcome":"ok","hints":{"i":[1,2]}}`
	f.Add("")
	f.Add(header)
	f.Add(header + op)
	f.Add(header + op + "\n" + `{"event":"complete","id":4,"time":9,"outcome":"fail"}` + "\n" + `{"event":"invoke","id":4,"process":"1","f":"cas","time":3}`)
	f.Add(header + `{"note":"x","from":1,"detail":{"$map":[[1,{"$set":[1,1.0]}]]}}`)
	f.Add(`{"pinyon":"history","version":1,"ties":"precede","clock_error":{"a":1},"oracle":["a","b"],"initial":{"$ratio":[1,2]}}` + "\n" + op)
	f.Fuzz(func(t *testing.T, text string) {
		h, err := history.ReadNative("", strings.NewReader(text))
		if err != nil {
			if _, ok := err.(*history.Error); !ok {
				t.Fatalf("not an *Error: %v", err)
			}
			return
		}
		_ = history.Validate(h)
		written := write(t, h)
		again := read(t, written)
		if want, got := contentOf(h), contentOf(again); !reflect.DeepEqual(want, got) {
			t.Fatalf("read %+v\nthen %+v\n%s", want, got, written)
		}
		if write(t, again) != written {
			t.Fatal("a canonical file changes when it is written again")
		}
	})
}

func TestReadNativeIsFast(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 300,000 lines")
	}
	var b strings.Builder
	b.WriteString(header)
	const n = 300_000
	for i := range n {
		fmt.Fprintf(&b, `{"process":%d,"id":%d,"f":"write","key":"k%d","in":%d,"invoke":%d,"return":%d,"outcome":"ok","node":"n1","hints":{"index":%d}}`+"\n",
			i%7, i+5, i%100, i, i*10, i*10+9, i)
	}
	start := time.Now()
	h := read(t, b.String())
	t.Logf("%d lines in %v", n, time.Since(start))
	if len(h.Ops) != n || time.Since(start) > 10*time.Second {
		t.Errorf("%d operations in %v", len(h.Ops), time.Since(start))
	}
}
