package importers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pinyon/engine/history"
)

func writeEDN(t testing.TB, h *history.Raw) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteEDN(&b, h); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func native(t testing.TB, h *history.Raw) string {
	t.Helper()
	var b bytes.Buffer
	if err := history.WriteNative(&b, h); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func reload(t testing.TB, text string) *history.Raw {
	t.Helper()
	h, _, err := load(text, Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return h
}

func TestWriteEDNWritesJepsensLines(t *testing.T) {
	h := reload(t, lines(
		`{"pinyon":"history","version":1,"model":"cas-register","initial":0}`,
		`{"process":0,"f":"cas","key":"x","in":[1,2],"invoke":10,"return":20,"outcome":"ok","out":true,"node":"n1","hints":{"revision":7,"link":[3,4]}}`,
		`{"process":1,"f":"read","key":"x","invoke":15,"return":25,"outcome":"ok","out":null}`,
		`{"process":"c2","f":"write","key":7,"in":1.50,"invoke":16,"outcome":"info","error":"timeout"}`,
		`{"process":3,"f":"cas","key":"x","in":[5,6],"invoke":-1,"return":17,"outcome":"fail","error":":precondition"}`,
		`{"note":"partition","from":12,"to":30,"detail":{"$set":["n1"]}}`))
	want := lines(
		`; pinyon-history times {"pinyon":"history","version":1,"model":"cas-register","initial":0}`,
		`{:index 0, :time -1, :type :invoke, :process 3, :f :cas, :value ["x" [5 6]]}`,
		`{:index 1, :time 10, :type :invoke, :process 0, :f :cas, :value ["x" [1 2]]}`,
		`{:index 2, :time 12, :type :info, :process :nemesis, :f :partition, :value #{"n1"}, :pinyon/to 30}`,
		`{:index 3, :time 15, :type :invoke, :process 1, :f :read, :value ["x" nil]}`,
		`{:index 4, :time 16, :type :invoke, :process 2, :pinyon/process "c2", :f :write, :value [7 1.5]}`,
		`{:index 5, :time 17, :type :fail, :process 3, :f :cas, :value ["x" [5 6]], :error :precondition}`,
		`{:index 6, :time 20, :type :ok, :process 0, :f :cas, :value ["x" [1 2]], :revision 7, :link [3 4], :pinyon/node "n1"}`,
		`{:index 7, :time 25, :type :ok, :process 1, :f :read, :value ["x" nil]}`,
		`{:index 8, :time 25, :type :info, :process 2, :pinyon/process "c2", :f :write, :value [7 1.5], :error "timeout"}`)
	want = strings.Replace(want, `:value ["x" [5 6]]}`, `:value ["x" [5 6]], :pinyon/id 3}`, 1)
	want = strings.Replace(want, `:value ["x" [1 2]]}`, `:value ["x" [1 2]], :pinyon/id 0}`, 1)
	want = strings.Replace(want, `:f :read, :value ["x" nil]}`, `:f :read, :value ["x" nil], :pinyon/id 1}`, 1)
	want = strings.Replace(want, `:value [7 1.5]}`, `:value [7 1.5], :pinyon/id 2}`, 1)
	if d := cmp.Diff(want, writeEDN(t, h)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// genValue draws any value, of the kinds that JSON lacks too.
func genValue(depth int) *rapid.Generator[history.Value] {
	text := rapid.SampledFrom([]string{"", "a", "x y", ":k", "nil", "é\n\"\\", "\u2028\x01", "-1", "n1", "#_"})
	leaf := []*rapid.Generator[history.Value]{
		rapid.Map(rapid.Int64Range(-3, 3), history.Int), rapid.Just(history.Null), rapid.Just(history.True), rapid.Just(history.False),
		rapid.Map(text, history.String), rapid.Map(text, history.Keyword), rapid.Map(text, history.Symbol), rapid.Map(text, history.Char),
		rapid.Map(rapid.SampledFrom([]string{"1.0", "1.5", "-0.25", "1e70", "18446744073709551615", "0.12345678901234567890"}), func(s string) history.Value {
			v, _ := history.Number(s)
			return v
		}),
		rapid.Just(history.Ratio(history.Int(1), history.Int(2))),
	}
	if depth == 0 {
		return rapid.OneOf(leaf...)
	}
	inner := rapid.SliceOfN(genValue(depth-1), 0, 3)
	return rapid.OneOf(append(leaf,
		rapid.Map(inner, func(vs []history.Value) history.Value { return history.Array(vs...) }),
		rapid.Map(inner, func(vs []history.Value) history.Value { return history.Set(vs...) }),
		rapid.Map(inner, func(vs []history.Value) history.Value {
			var ms []history.Member
			for i, v := range vs {
				ms = append(ms, history.Member{Key: []history.Value{history.String("a"), v, history.Keyword("k")}[i%3], Value: v})
			}
			o, err := history.Object(ms...)
			if err != nil {
				return history.Null
			}
			return o
		}),
		rapid.Map(genValue(depth-1), func(v history.Value) history.Value { return history.Tag("inst", v) }),
		rapid.Map(genValue(depth-1), func(v history.Value) history.Value { return history.Tag(jsonTag, v) }),
	)...)
}

// genHistory draws a native history of sequential clients: few times, so that
// many touch, and every kind of value, key, hint and name.
func genHistory(t *rapid.T) *history.Raw {
	h := &history.Raw{Header: history.Header{Model: "kv", NilRead: rapid.SampledFrom([]string{"", "unknown", "absent"}).Draw(t, "nil_read")}}
	value := genValue(2)
	name := rapid.SampledFrom([]string{"read", "write", "cas", "get", "txn", "add-and-get", "transfer", "enqueue", "dequeue", "odd name", ":f", "add"})
	keys := rapid.SampledFrom([]string{"none", "all", "some"}).Draw(t, "keys")
	maybe := func(label string) history.Value {
		if rapid.Bool().Draw(t, label) {
			return value.Draw(t, label)
		}
		return history.Absent
	}
	for p := range rapid.IntRange(1, 4).Draw(t, "processes") {
		h.Processes = append(h.Processes, rapid.SampledFrom([]history.Value{history.Int(int64(p)), history.Int(int64(100 - p)),
			history.String(fmt.Sprintf("p#%d", p)), history.String(fmt.Sprintf(":k%d", p)), history.String(fmt.Sprintf(": %d", p))}).Draw(t, "process"))
		at := int64(rapid.IntRange(-2, 2).Draw(t, "start"))
		for range rapid.IntRange(0, 4).Draw(t, "operations") {
			op := rawOp{Process: p, F: name.Draw(t, "f"), In: maybe("in"), Invoke: at, Outcome: history.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome"))}
			op.Return = at + int64(rapid.IntRange(0, 2).Draw(t, "width"))
			if keys == "all" || keys == "some" && rapid.Bool().Draw(t, "keyed") {
				op.Key = value.Draw(t, "key").Label()
			}
			if op.Outcome == history.OK {
				op.Out = maybe("out")
			}
			op.Error = rapid.SampledFrom([]string{"", "", "timeout", ":timed-out", "[:a \"b\"]", ":a ;", "a\nb"}).Draw(t, "error")
			op.Node = rapid.SampledFrom([]string{"", "n1"}).Draw(t, "node")
			for _, n := range []string{"rev", "node", "time", "odd name"} {
				if rapid.IntRange(0, 3).Draw(t, n) == 0 {
					op.Hints = append(op.Hints, history.Hint{Name: n, Value: value.Draw(t, "hint")})
				}
			}
			h.Ops, h.IDs = append(h.Ops, op), append(h.IDs, int64(len(h.Ops))*3%11+int64(len(h.Ops))*11)
			if op.Outcome == history.Info {
				break
			}
			at = op.Return + int64(rapid.IntRange(0, 2).Draw(t, "pause"))
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "notes") {
		n := history.Note{Name: name.Draw(t, "note"), From: int64(rapid.IntRange(-2, 4).Draw(t, "from")), Detail: maybe("detail")}
		n.To = rapid.SampledFrom([]int64{n.From, n.From + 1, history.Never}).Draw(t, "to")
		h.Notes = append(h.Notes, n)
	}
	return h
}

func TestNativeToEDNToNativeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := genHistory(t)
		if err := history.Validate(h); err != nil {
			t.Skip(err)
		}
		var first, second, edn bytes.Buffer
		if err := history.WriteNative(&first, h); err != nil {
			t.Skip(err)
		}
		a, err := history.ReadNative("", bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Skip(err) // a name that no file can hold
		}
		if err := WriteEDN(&edn, a); err != nil {
			t.Fatal(err)
		}
		b, r, err := load(edn.String(), Options{})
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, first.String(), edn.String())
		}
		if err := history.WriteNative(&second, b); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(first.String(), second.String()); d != "" || r.Format != "jepsen-edn" || b.Order != history.ByTime {
			t.Fatalf("%s ordered by %s; -want +got:\n%s\n%s", r.Format, b.Order, d, edn.String())
		}
		var again bytes.Buffer
		if err := WriteEDN(&again, b); err != nil || again.String() != edn.String() {
			t.Fatalf("%v; -want +got:\n%s", err, cmp.Diff(edn.String(), again.String()))
		}
	})
}

// facts is what both formats can say of a history, an operation a line.
func facts(h *history.Raw) string {
	var notes strings.Builder
	times := history.NativeTimes(h)
	ops := make([]string, len(h.Ops))
	for i := range h.Ops {
		op := h.Ops[i]
		op.Hints = slices.DeleteFunc(slices.Clone(op.Hints), func(n history.Hint) bool { return n.Name == "invoke_time" || n.Name == "return_time" })
		process := history.ParseLabel(h.ProcessName(i))
		if s, _ := process.Str(); process.Kind() != history.KindInt {
			process = history.String(strings.TrimPrefix(s, ":"))
		}
		if op.Outcome == history.Info {
			op.Return = 0
		}
		if op.F == "cas" && op.Outcome == history.Fail && op.Error == "" && !h.Origins[i].Refused {
			op.Error = "no refusal was recorded"
		}
		ops[i] = fmt.Sprint(process.Text(), op.F, op.Key, op.In.Text(), "->", op.Out.Text(), op.Outcome, op.Node, op.Error, op.Hints)
		if times {
			ops[i] += fmt.Sprint(op.Invoke, op.Return)
		}
	}
	for _, n := range h.Notes {
		fmt.Fprintln(&notes, "note", n.Name, n.Detail.Text())
	}
	slices.Sort(ops)
	return notes.String() + strings.Join(ops, "\n")
}

// precedence lists who returned before whom was called, by facts' operations.
func precedence(h *history.Raw) []int {
	v := history.NewView(h)
	counts := make([]int, 0, v.N)
	returns := slices.Clone(v.Ret)
	slices.Sort(returns)
	for i := range v.N {
		before, _ := slices.BinarySearch(returns, v.Call[i])
		counts = append(counts, before)
	}
	slices.Sort(counts)
	return counts
}

func TestEDNToNativeToEDNLosesNothing(t *testing.T) {
	dir, _ := corpus(t)
	checked, positions := 0, 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".edn") && !strings.HasSuffix(path, ".edn.gz") {
			return err
		}
		h, _, err := Load(path, Options{})
		if err == nil {
			err = history.Validate(h)
		}
		if err != nil {
			return nil // the manifest says which are malformed
		}
		checked++
		if !history.NativeTimes(h) {
			positions++
		}
		direct := reload(t, writeEDN(t, h))
		if d := cmp.Diff(facts(h), facts(direct)); d != "" {
			t.Errorf("%s: written as EDN: -want +got:\n%s", path, d)
		}
		if len(h.Ops) == 0 {
			h.Order = history.ByTime // no line to keep in order
		}
		text := native(t, h)
		back := reload(t, writeEDN(t, reload(t, text)))
		if history.NativeTimes(h) {
			if d := cmp.Diff(facts(h), facts(back)); d != "" {
				t.Errorf("%s: through the native format: -want +got:\n%s", path, d)
			}
		}
		if d := cmp.Diff(text, native(t, back)); d != "" {
			t.Errorf("%s: the native formats differ: -want +got:\n%s", path, d)
		}
		if !slices.Equal(precedence(h), precedence(back)) || !slices.Equal(precedence(h), precedence(direct)) {
			t.Errorf("%s: the order differs", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 100 {
		t.Errorf("only %d files", checked)
	}
	t.Logf("%d files, in %d of them the lines contradict the times", checked, positions)
}
