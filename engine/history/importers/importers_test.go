package importers

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pinyon/engine/history"
)

// show writes a history as the tests compare it: an operation a line.
func show(h *history.Raw) string {
	var b strings.Builder
	for i := range h.Ops {
		op := &h.Ops[i]
		fmt.Fprintf(&b, "%s %s", h.ProcessName(i), op.F)
		if op.Key != "" {
			fmt.Fprintf(&b, " %s", op.Key)
		}
		fmt.Fprintf(&b, "(%s)", op.In.Text())
		if op.Out != history.Absent {
			fmt.Fprintf(&b, " = %s", op.Out.Text())
		}
		fmt.Fprintf(&b, " %s @%d", op.Outcome, op.Invoke)
		if op.Outcome != history.Info {
			fmt.Fprintf(&b, "..%d", op.Return)
		}
		if h.Origins[i].Refused {
			b.WriteString(" refused")
		}
		if op.Error != "" {
			fmt.Fprintf(&b, " error=%s", op.Error)
		}
		if op.Node != "" {
			fmt.Fprintf(&b, " node=%s", op.Node)
		}
		for _, hint := range op.Hints {
			fmt.Fprintf(&b, " %s=%s", hint.Name, hint.Value.Text())
		}
		b.WriteByte('\n')
	}
	for _, n := range h.Notes {
		fmt.Fprintf(&b, "note %s @%d %s\n", n.Name, n.From, n.Detail.Text())
	}
	return b.String()
}

func lines(ls ...string) string { return strings.Join(ls, "\n") + "\n" }

func load(text string, o Options) (*history.Raw, *Report, error) {
	o.Stdin = strings.NewReader(text)
	return Load("-", o)
}

var loads = []struct {
	name, format, text string
	options            Options
	want               string
}{
	{"a stream of maps keeps extra fields as hints", "jepsen-edn", lines(
		`{:index 0, :time 10, :type :invoke, :process 3, :f :cas, :value [1 4], :node "n1", :op-index 9}`,
		`{:index 1, :time 12, :type :info, :process :nemesis, :f :pause, :value {"n2" :paused}}`,
		`#jepsen.history.Op{:index 2, :time 20, :type :ok, :process 3, :f :cas, :value [1 4], :op-index 10, :link [3 4], :at {:rev 7}, :deep [[1]], :host nil}`,
	), Options{}, lines(`3 cas([1,4]) = true ok @10..20 node=n1 node="n1" op-index=10 link=[3,4] at={"rev":7}`, `note pause @12 {"n2":{"$kw":"paused"}}`)},
	{"a fail that repeats its input without an error was refused", "jepsen-edn", lines(
		`{:type :invoke, :process 0, :f :cas, :value [1 2]}`, `{:type :fail, :process 0, :f :cas, :value [1 2]}`,
		`{:type :invoke, :process 0, :f :cas, :value [1 2]}`, `{:type :fail, :process 0, :f :cas, :value [1 2], :error [:precondition "no"]}`,
		`{:type :invoke, :process 0, :f :cas, :value [1 2]}`, `{:type :info, :process 0, :f :cas, :value :timed-out}`,
	), Options{}, lines("0 cas([1,2]) fail @0..1 refused", `0 cas([1,2]) fail @2..3 error=[:precondition "no"]`, "0 cas([1,2]) info @4 error=:timed-out")},
	{"an ok read of nil is null and an old read's input is ignored", "jepsen-edn", lines(
		`{:type :invoke, :process :c1, :f :read, :value 9}`, `{:type :ok, :process :c1, :f :read, :value 9}`,
		`{:type :invoke, :process :c1, :f :read, :value nil}`, `{:type :ok, :process :c1, :f :read}`,
		`{:type :invoke, :process :c1, :f :write, :value nil}`, `{:type :ok, :process :c1, :f :write, :value nil}`,
		`{:type :invoke, :process :c1, :f :dequeue}`, `{:type :invoke, :process "c2", :f :acquire, :value nil}`, `{:type :ok, :process "c2", :f :acquire, :value nil}`,
	), Options{}, lines(":c1 read() = 9 ok @0..1", ":c1 read() = null ok @2..3", ":c1 write(null) ok @4..5", ":c1 dequeue() info @6", "c2 acquire() ok @7..8")},
	{"values are unwrapped when every one is [key value]", "jepsen-edn", lines(
		`{:type :invoke, :process 0, :f :write, :value ["a" 1]}`, `{:type :ok, :process 0, :f :write, :value ["a" 1]}`,
		`{:type :invoke, :process 1, :f :read, :value #independent/tuple [7 nil]}`, `{:type :ok, :process 1, :f :read, :value [7 [1 2]]}`,
		`{:type :invoke, :process 1, :f :cas, :value [7 [1 4]]}`, `{:type :fail, :process 1, :f :cas, :value :timed-out}`,
	), Options{}, lines("0 write a(1) ok @0..1", "1 read 7() = [1,2] ok @2..3", "1 cas 7([1,4]) fail @4..5 error=:timed-out")},
	{"keyed can be refused", "jepsen-edn", lines(
		`{:type :invoke, :process 1, :f :read, :value [7 nil]}`, `{:type :ok, :process 1, :f :read, :value [7 1]}`,
	), Options{Keyed: "no"}, lines("1 read() = [7,1] ok @0..1")},
	{"keyed can be demanded where no read tells", "jepsen-edn", lines(
		`{:type :invoke, :process 1, :f :add, :value [7 2]}`, `{:type :ok, :process 1, :f :add, :value [7 2]}`,
	), Options{Keyed: "yes"}, lines("1 add 7(2) ok @0..1")},
	{"a process that goes on after info gets a new name", "jepsen-edn", lines(
		`{:type :invoke, :process 0, :f :write, :value 1}`, `{:type :info, :process 0, :f :write, :value 1}`,
		`{:type :invoke, :process 0, :f :add-and-get, :value 1}`, `{:type :ok, :process 0, :f :add-and-get, :value 1}`,
	), Options{}, lines("0 write(1) info @0", `"0#2" add-and-get(1) = 1 ok @2..3`)},
	{"a new name is nobody else's", "jepsen-edn", lines(
		`{:type :invoke, :f :w, :value 1}`, `{:type :ok, :f :w, :value 1}`, `{:type :invoke, :f :w, :value 2}`, `{:type :ok, :f :w, :value 2}`,
		`{:type :invoke, :process "op", :f :w, :value 3}`, `{:type :info, :process "op", :f :w, :value 3}`, `{:type :invoke, :process "op", :f :w, :value 4}`,
	), Options{}, lines("op#1 w(1) ok @0..1", "op#2 w(2) ok @2..3", "op w(3) info @4", "op'#2 w(4) info @6")},
	{"one vector, with comments and discards", "knossos", lines(
		`; recorded by hand`, `[{:process 1 :type :invoke :f :write :value 1} #_{:type :never}`, ` {:process 1 :type :ok :f :write :value 1}]`,
	), Options{}, lines("1 write(1) ok @0..1")},
	{"a list of maps, empty", "knossos", "()", Options{}, ""},
	{"tuples", "knossos", lines(`[0 :invoke :write 1]`, `[:nemesis :info :start nil]`, `[0 :ok :write 1]`), Options{},
		lines("0 write(1) ok @0..2", "note start @1 null")},
	{"Elle's transactions may lack process and f", "jepsen-edn", lines(
		`{:index 0 :type :invoke, :value [[:append 5 1] [:r 5 nil]]}`, `{:index 1 :type :ok, :value [[:append 5 1] [:r 5 [1]]]}`,
		`{:index 2 :type :invoke, :value [[:r 5 nil]]}`,
	), Options{}, lines(`1 txn([[{"$kw":"append"},5,1],[{"$kw":"r"},5,null]]) = [[{"$kw":"append"},5,1],[{"$kw":"r"},5,[1]]] ok @0..1`, `2 txn([[{"$kw":"r"},5,null]]) info @2`)},
	{"columns between tabs", "jepsen-txt", lines(
		"3\t:invoke\t:cas\t[7 [1 4]]", ":nemesis\t:info\t:start\tCut off {:n1 #{:n2}}", "3\t:info\t:cas\t[7 [1 4]]\t:timed-out\twith more\t", "", "a remark",
	), Options{}, lines("3 cas([7,[1,4]]) info @0 error=:timed-out\twith more", `note start @1 "Cut off {:n1 #{:n2}}"`)},
	{"columns between spaces", "jepsen-txt", lines("0   :invoke :write  3", "0   :ok     :write  3"), Options{}, lines("0 write(3) ok @0..1")},
	{"logs of two kinds", "jepsen-log", lines(
		"some noise", "2020-08-04 00:50:17,577{GMT}\tINFO\t[jepsen worker 4] jepsen.util: 4\t:invoke\t:write\t51",
		"INFO [2018-06-01 12:05:05,929] jepsen worker 0 - jepsen.util 4 :info   :write    51   indeterminate: broken pipe",
	), Options{}, lines("4 write(51) info @0 error=indeterminate: broken pipe")},
	{"etcd logs", "etcd-log", lines(
		"INFO  jepsen.util - 0\t:invoke\t:read\tnil", "INFO  jepsen.util - 1   :invoke :cas    [1 2]", "INFO  jepsen.util - 0\t:ok\t:read\tnil",
		"INFO  jepsen.util - 1\t:fail\t:cas\t[1 2]", "INFO  jepsen.util - 0\t:invoke\t:read\tnil", "INFO  jepsen.util - 0\t:fail\t:read\t:timed-out",
	), Options{}, lines("0 read() = null ok @0..2", "1 cas([1,2]) fail @1..3 refused", "0 read() fail @4..5 error=:timed-out")},
	{"elle-cli's array", "elle-json", `[{"type":"invoke","f":"txn","value":[["w","x",2]],"process":0,"index":1,"time":5},
		{"type":"ok","f":"txn","value":[["w","x",2]],"process":0,"index":2,"time":-1}]`, Options{},
		lines(`0 txn([["w","x",2]]) = [["w","x",2]] ok @0..1`)},
	{"elle-cli's lines", "elle-json", lines(
		`{"type":"invoke","f":"read","value":null,"process":0,"time":5}`, `{"type":"ok","f":"read","value":18446744073709551615,"process":0,"time":9}`,
	), Options{Order: "time"}, lines("0 read() = 18446744073709551615 ok @5..9")},
	{"Porcupine's key-value logs", "porcupine-kv", lines(
		`{:process 0, :type :invoke, :f :get, :key "7", :value nil}`, `{:process 1, :type :invoke, :f :append, :key "7", :value "x"}`,
		`{:process 0, :type :ok, :f :get, :key "7", :value ""}`, `{:process 1, :type :ok, :f :append, :key "7", :value "x"}`,
	), Options{}, lines(`0 get "7"() = "" ok @0..2`, `1 append "7"("x") ok @1..3`)},
	{"Splitbrain's lines", "splitbrain", lines(
		`{"process":3,"key":"k0","kind":"cas","from":1,"to":2,"swapped":false,"outcome":"ok","invoke_ns":-37,"complete_ns":15}`,
		`{"process":3,"key":"k0","kind":"write","value":3,"outcome":"info","invoke_ns":20,"error":"reset"}`,
		`{"process":3,"key":"k0","kind":"read","observed":3,"outcome":"ok","invoke_ns":30,"complete_ns":40}`,
	), Options{}, lines("3 cas k0([1,2]) = false ok @-37..15", "3 write k0(3) info @20 error=reset", `"3#2" read k0() = 3 ok @30..40`)},
	{"violin's queues", "violin", lines(
		"# @object atomic-queue", "[1] call add(7)", "  [2] call remove", "[1] return", "  [2] return empty", "[3] call deq()", "[3] return 7", "[4] call enq(a)",
	), Options{}, lines("1 enqueue(7) ok @0..2", "2 dequeue() = null ok @1..3", "3 dequeue() = 7 ok @4..5", `4 enqueue("a") info @6`)},
	{"an empty file", "native", "", Options{}, ""},
	{"nothing but a comment", "jepsen-edn", "; empty history", Options{}, ""},
}

func TestLoad(t *testing.T) {
	for _, c := range loads {
		t.Run(c.name, func(t *testing.T) {
			h, r, err := load(c.text, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if r.Format != c.format || h.Format != c.format {
				t.Errorf("format %s (%s), want %s", r.Format, r.Why, c.format)
			}
			if d := cmp.Diff(c.want, show(h)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if err := history.Validate(h); err != nil {
				t.Error(err)
			}
		})
	}
}

var refusals = []struct {
	name, text, want string
	options          Options
}{
	{"a file of one empty line", "\n", "-:1:1: an empty line; remove it", Options{}},
	{"a file of blanks, whatever its format", " \n\t\n", "-:1:1: an empty line; remove it", Options{Format: "violin"}},
	{"strict refuses a process after its info", lines(`{:type :invoke :process 0 :f :w}`, `{:type :info :process 0 :f :w}`, `{:type :invoke :process 0 :f :w}`),
		"-:3: process 0 goes on after its operation without an answer (line 2)", Options{Strict: true}},
	{"time order needs times", lines(`{:type :invoke :process 0 :f :read :time 1}`, `{:type :ok :process 0 :f :read :time -1}`),
		"-:2: ordered by time, but this event of process 0 has no :time", Options{Order: "time"}},
	{"intervals have no order of lines", `{"process":1,"key":"k","kind":"read","outcome":"info","invoke_ns":1}`,
		"-: the format splitbrain cannot be ordered by file: its lines do not stand in the order of events", Options{Order: "file"}},
	{"another f", lines(`{:type :invoke :process 0 :f :read}`, `{:type :ok :process 0 :f :write}`),
		"-:2: process 0 completes write, but what it invoked on line 1 is read", Options{}},
	{"another key", lines(`{:type :invoke :process 0 :f :read :value [1 nil]}`, `{:type :ok :process 0 :f :read :value [2 5]}`),
		"-:2: process 0 completes read of key 2, but invoked it on line 1 for key 1", Options{}},
	{"keyed by demand", `{:type :invoke :process 0 :f :write :value 5}`, "-:1: process 0 invokes write with 5, not with [key value]", Options{Keyed: "yes"}},
	{"no type", `{:process 0 :f :read}`, "-:1:1: an operation without :type", Options{}},
	{"a type of the future", `{:process 0 :f :read :type :sleep}`, "-:1:22: unknown :type :sleep; invoke, ok, fail and info are known", Options{}},
	{"a time that is no integer", `{:process 0 :f :read :type :invoke :time 1.5}`, "-:1:36: :time must be an integer, got 1.5", Options{}},
	{"a field twice", `{:process 0 :f :read :f :write}`, "-:1:22: the key :f stands twice in one operation", Options{}},
	{"text behind the vector", "[]\n{}", "-:2:1: unexpected '{' after the history's end", Options{}},
	{"an operation that is none", "[{:type :info} 5]", "-:1:16: expected an operation (a map), got '5'", Options{}},
	{"a tab and an event type, but no operation", "0\t:invoke\t:read\tnil\n:ok\t:read\n", "-:2: an operation needs the columns process, type, f and value", Options{}},
	{"a process that is no name", "x\t:invoke\t:read\tnil\n", `-:1: "x" is not a process: expected a number or a keyword before :invoke`, Options{}},
	{"Jepsen's binary", "JEPSEN\x00\x00", "-: a binary Jepsen test file (test.jepsen); convert it with `lein run serve` or jepsen.store/load, or give the history.edn that stands beside it", Options{}},
	{"damaged gzip", "\x1f\x8bnothing", "-: damaged gzip file: it ends early; it was cut off, or is still being written", Options{}},
	{"two objects", "# @object atomic-queue\n# @object atomic-stack", `-:2: unknown or second object "atomic-stack"; atomic-queue and atomic-stack are known`, Options{}},
	{"a format that is not known", "", `unknown format "edn"; the formats are ` + formatNames(), Options{Format: "edn"}},
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := load(c.text, c.options)
			if err == nil || err.Error() != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestGzipIsToldByItsMagicNumber(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintln(z, "0\t:invoke\t:write\t1")
	z.Close()
	h, r, err := load(b.String(), Options{})
	if err != nil || len(h.Ops) != 1 || r.Format != "jepsen-txt" {
		t.Errorf("%v %v %v", h, r, err)
	}
}

func TestReportSaysWhatWasDecidedSkippedAndDropped(t *testing.T) {
	_, r, err := load(lines("one", "two", "three", "four",
		"INFO jepsen.core - 0\t:invoke\t:write\t[1 2]", "INFO jepsen.core - 0\t:info\t:write\t[1 2]", "INFO jepsen.core - 0\t:invoke\t:write\t[1 2]"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"-: jepsen-log (columns process, type, f, value behind a logger's prefix)",
		"2 operations: 0 ok, 0 fail, 2 info; keys 1, processes 2, notes 0",
		"order of the lines; by default nil reads are unknown, a failed cas is dropped, the initial value is the model's",
		"4 lines skipped that are no operations:", "  line 1: one", "  line 2: two", "  line 3: three",
		`warning: 1 time a process went on after an operation without an answer and got a new name ("0#2")`,
	}
	if d := cmp.Diff(want, r.Lines()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	_, r, err = load(lines(`{:type :invoke :process 0 :f :read :value [1 nil] :time 9 :odd 1.5}`, `{:type :ok :process 0 :f :read :value [1 2] :time 3}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want = []string{
		"-: jepsen-edn (a stream of EDN maps)", "1 operations: 1 ok, 0 fail, 0 info; keys 1, processes 1, notes 0",
		"order of the lines; by default nil reads are unknown, a failed cas is dropped, the initial value is the model's",
		"values are [key value]", "fields dropped, no hint can hold them: odd (1 time)",
		"warning: times run backwards 1 time, first at line 2; trusted: the order of the lines",
	}
	if d := cmp.Diff(want, r.Lines()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestOriginsKeepIndexesAndLines(t *testing.T) {
	h, _, err := load(lines(`; comment`, `{:index 30 :type :invoke :process 0 :f :read}`, `{:index 35 :type :info :process :nemesis :f :kill}`, `{:type :ok :process 0 :f :read}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (history.Origin{Line: 2, DoneLine: 4, Seq: 0, DoneSeq: 2}); h.Origins[0] != want || !slices.Equal(h.Indexes, []int64{2}) {
		t.Errorf("got %+v, indexes %v", h.Origins[0], h.Indexes)
	}
}

func TestDefaultsByFormat(t *testing.T) {
	want := map[string]string{
		"native": "time concurrent absent drop ", "jepsen-edn": "file concurrent unknown drop ", "knossos": "file concurrent unknown drop ",
		"jepsen-txt": "file concurrent unknown drop ", "jepsen-log": "file concurrent unknown drop ", "elle-json": "file concurrent unknown drop ",
		"etcd-log": "file concurrent absent observe null", "porcupine-kv": `file concurrent absent drop ""`,
		"splitbrain": "time precede absent observe 0", "violin": "file concurrent absent drop ",
		"object-log": "time concurrent absent drop ", "etcd-report": "time concurrent absent drop ", "chaos": "file concurrent absent drop ", "s2": "file concurrent absent drop ",
		"turnpike": "time concurrent absent drop ", "turnpike-events": "file concurrent absent drop ", "table": "time concurrent absent drop ",
	}
	for _, f := range Formats() {
		d := f.Defaults
		if got := fmt.Sprint(d.Order, " ", d.Ties, " ", d.NilRead, " ", d.FailCas, " ", d.Initial.Text()); got != want[f.Name] {
			t.Errorf("%s: %s, want %s", f.Name, got, want[f.Name])
		}
	}
	if len(Formats()) != len(want) {
		t.Errorf("%d formats", len(Formats()))
	}
}
