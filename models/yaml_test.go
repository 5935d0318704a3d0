package models

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// loadModel reads a model that a test is sure of.
func loadModel(t testing.TB, text string) Entry {
	t.Helper()
	e, err := Load("m.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return e
}

const modelHead = "model: x\nversion: 1\ninitial: null\n"

const oneOp = modelHead + "operations:\n  - f: go\n"

// Every error of the loader, with its place.
var modelErrors = []struct{ name, text, want string }{
	{"empty", "", "m.yaml:1: the file is empty; a model has at least the keys model, version, initial and operations"},
	{"two documents", oneOp + "---\nmodel: y\n", "m.yaml:6: a second document begins here; a file holds one model"},
	{"a text", "hello\n", "m.yaml:1:1: a model is a table of keys (model, version, doc, initial, operations), and this is a single value"},
	{"unknown key", "modle: x\n", "m.yaml:1:1: a model has no key modle (did you mean model?); its keys are model, version, doc, initial, operations"},
	{"no name", "version: 1\n", "m.yaml:1:1: the key model, its name, is missing"},
	{"a number as name", "model: 7\n", "m.yaml:1:8: the model's name must be a text; YAML reads this as an integer, so put it in quotes if it is meant"},
	{"an odd name", "model: my lease\n", `m.yaml:1:8: the model's name "my lease" may hold letters, digits, - _ and . only`},
	{"no version", "model: x\n", "m.yaml:1:1: the key version is missing; this is version 1"},
	{"version 2", "model: x\nversion: 2\n", "m.yaml:2:10: the version must be 1"},
	{"doc that is none", "model: x\nversion: 1\ndoc: [a]\n", "m.yaml:3:6: doc must be a text, and this is a list"},
	{"no initial", "model: x\nversion: 1\n", "m.yaml:1:1: the key initial, the state before any operation, is missing; initial: null is nothing"},
	{"initial without value", "model: x\nversion: 1\ninitial:\n", "m.yaml:3:9: the value is missing; nothing is written null"},
	{"initial that is no JSON", "model: x\nversion: 1\ninitial: 0x10\n", "m.yaml:3:10: 0x10 is not how JSON writes a value; YAML reads it as an integer, so put it in quotes if it is a text"},
	{"initial with a bad member", "model: x\nversion: 1\ninitial: {a: [.inf]}\n", "m.yaml:3:15: .inf is not how JSON writes a value; YAML reads it as a decimal, so put it in quotes if it is a text"},
	{"a date", "model: x\nversion: 1\ninitial: 2001-01-01\n", "m.yaml:3:10: 2001-01-01 is not how JSON writes a value; YAML reads it as a date, so put it in quotes if it is a text"},
	{"no operations", modelHead, "m.yaml:1:1: the key operations is missing; a model has at least one"},
	{"operations as a table", modelHead + "operations: {read: {}}\n", "m.yaml:4:13: operations is a list; each begins with - f: NAME"},
	{"empty operations", modelHead + "operations: []\n", "m.yaml:4:13: operations is a list; each begins with - f: NAME"},
	{"operation as a text", modelHead + "operations: [read]\n", "m.yaml:4:14: an operation is a table of keys (f, input, when, next, output, else), and this is a single value"},
	{"operation key", oneOp + "    outptu: state\n", "m.yaml:6:5: an operation has no key outptu (did you mean output?); its keys are f, input, when, next, output, else"},
	{"operation without name", modelHead + "operations:\n  - next: input\n", "m.yaml:5:5: the key f, the operation's name, is missing"},
	{"empty names", modelHead + "operations:\n  - f: []\n", "m.yaml:5:8: f is a name or a list of names, such as [read, get]"},
	{"name that YAML reads otherwise", modelHead + "operations:\n  - f: [null, get]\n", "m.yaml:5:9: the operation's name must be a text; YAML reads this as nothing (null), so put it in quotes if it is meant"},
	{"a name twice", oneOp + "  - f: [run, Go]\n", "m.yaml:6:14: two operations are named go; the other is on line 5"},
	{"reserved part", oneOp + "    input: [state]\n", "m.yaml:6:13: state has a meaning of its own; give this part of the input another name"},
	{"keyword as part", oneOp + "    input: [type]\n", `m.yaml:6:13: "type" cannot be a name here: a name begins with a letter, holds letters, digits and _, and is no keyword of Go`},
	{"part with a hyphen", oneOp + "    input: {from: old-value}\n", `m.yaml:6:19: "old-value" cannot be a name here: a name begins with a letter, holds letters, digits and _, and is no keyword of Go`},
	{"a part twice", oneOp + "    input: [a, a]\n", "m.yaml:6:16: two parts of the input are named a"},
	{"no part", oneOp + "    input: []\n", "m.yaml:6:12: an input has 1 to 6 named parts, and this has 0"},
	{"many parts", oneOp + "    input: [a, b, c, d, e, f, g]\n", "m.yaml:6:12: an input has 1 to 6 named parts, and this has 7"},
	{"part that is a number", oneOp + "    input: [1]\n", "m.yaml:6:13: the name of an input's part must be a text; YAML reads this as an integer, so put it in quotes if it is meant"},
	{"unknown name", oneOp + "    input: [old, new]\n    when: state == odl\n", "m.yaml:7:20: odl is unknown here (did you mean old?); there are state, true, false, null, input, old, new\n  state == odl\n           ^"},
	{"a text without quotes of its own", oneOp + "    output: \"ready\"\n", "m.yaml:6:14: ready is unknown here; a text has quotes of its own: '\"ready\"'; there are state, true, false, null, input, next\n  ready\n  ^"},
	{"next in a condition", oneOp + "    when: next == 1\n", "m.yaml:6:11: next, the state after the operation, is known under output only\n  next == 1\n  ^"},
	{"output in an expression", oneOp + "    next: output\n", "m.yaml:6:11: the answer cannot be asked for: it follows from the state and the input (a model in Go may ask for it)\n  output\n  ^"},
	{"any within", oneOp + "    output: any + 1\n", "m.yaml:6:13: any stands alone, under output\n  any + 1\n  ^"},
	{"a condition that is a number", oneOp + "    when: state + 1\n", "m.yaml:6:11: state + 1 is a number, and a condition takes true or false\n  state + 1\n  ^"},
	{"a condition that is a list", oneOp + "    when: [a]\n", "m.yaml:6:11: when is a condition, such as state == null, and this is a list"},
	{"sum of a text", oneOp + "    next: state + \"a\"\n", "m.yaml:6:19: \"a\" is a text, and + takes a number\n  state + \"a\"\n          ^"},
	{"order of a condition", oneOp + "    when: (state == 1) < 2\n", "m.yaml:6:11: state == 1 is true or false, and < takes a number\n  (state == 1) < 2\n  ^"},
	{"never equal", oneOp + "    when: state + 1 == null\n", "m.yaml:6:21: state + 1 is a number and null is null: they are never equal\n  state + 1 == null\n            ^"},
	{"a part of two kinds", oneOp + "    when: input\n    next: state + input\n", "m.yaml:7:19: input must be a number here and true or false elsewhere\n  state + input\n          ^"},
	{"an operator that is not there", oneOp + "    next: state * 2\n", "m.yaml:6:17: * has no place in an expression; " + exprSupported + "\n  state * 2\n        ^"},
	{"a sign that is not there", oneOp + "    next: ^state\n", "m.yaml:6:11: ^ has no place before an operand; " + exprSupported + "\n  ^state\n  ^"},
	{"an index", oneOp + "    next: input[0]\n", "m.yaml:6:11: input[0]: a value cannot be taken apart here; name the parts of an input under input\n  input[0]\n  ^"},
	{"a function", oneOp + "    when: len(state) == 0\n", "m.yaml:6:11: the only function is isNumber\n  len(state) == 0\n  ^"},
	{"a function misspelt", oneOp + "    when: isnumber(state)\n", "m.yaml:6:11: the only function is isNumber (did you mean isNumber?)\n  isnumber(state)\n  ^"},
	{"a function of nothing", oneOp + "    when: isNumber()\n", "m.yaml:6:19: isNumber takes one value\n  isNumber()\n          ^"},
	{"a function literal", oneOp + "    next: func() {}\n", "m.yaml:6:11: this has no place in an expression; " + exprSupported + "\n  func() {}\n  ^"},
	{"an octal number", oneOp + "    next: state + 010\n", "m.yaml:6:19: 010 is not a number as JSON writes it, such as 12, 0.5 or 1e9\n  state + 010\n          ^"},
	{"an imaginary number", oneOp + "    next: state + 2i\n", "m.yaml:6:19: 2i is not a number as JSON writes it\n  state + 2i\n          ^"},
	{"single quotes", oneOp + "    when: state == 'a'\n", "m.yaml:6:20: texts stand in double quotes\n  state == 'a'\n           ^"},
	{"half an expression", oneOp + "    when: state ==\n", "m.yaml:6:19: expected operand, found the end of the condition\n  state ==\n          ^"},
	{"half an expression before a comment", oneOp + "    next: state + # more\n", "m.yaml:6:18: expected operand, found the end of the expression; \" #\" starts a comment, and the expression ends there\n  state +\n         ^"},
	{"assignment", oneOp + "    when: state = 1\n", "m.yaml:6:17: expected '==', found '='\n  state = 1\n        ^"},
	{"an empty expression", oneOp + "    next: \"\"\n", "m.yaml:6:12: the expression is empty\n  \n  ^"},
	{"no expression", oneOp + "    next:\n", "m.yaml:6:10: the value is missing; nothing is written null"},
	{"else without when", oneOp + "    else: {output: false}\n", "m.yaml:6:11: else belongs to when, which is missing here"},
	{"else that is no table", oneOp + "    when: state == 1\n    else: false\n", "m.yaml:7:11: else is a table of keys (when, next, output, else), and this is a single value"},
	{"key of else", oneOp + "    when: state == 1\n    else: {ouput: false}\n", "m.yaml:7:12: an else has no key ouput (did you mean output?); its keys are when, next, output, else"},
	{"an unquoted not", oneOp + "    when: !(state == 1)\n", "m.yaml:6:11: !(state is read as a YAML tag, and tags are refused"},
	{"an alias", oneOp + "    next: *state\n", "m.yaml:6: unknown anchor 'state' referenced"},
}

func TestModelFileErrors(t *testing.T) {
	for _, c := range modelErrors {
		_, err := Load("m.yaml", []byte(c.text))
		var e *history.Error
		switch {
		case !errors.As(err, &e):
			t.Errorf("%s: got %v, want a *history.Error", c.name, err)
		case err.Error() != c.want && !(strings.HasPrefix(err.Error(), c.want) && strings.Contains(err.Error(), "put the whole of it in quotes")):
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, err, c.want)
		}
	}
}

// FuzzModelFile: whatever a file holds, it is a model or an error with a place.
func FuzzModelFile(f *testing.F) {
	for _, c := range modelErrors {
		f.Add([]byte(c.text))
	}
	files, _ := filepath.Glob("../testdata/models/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Load("m.yaml", data)
		if err != nil {
			if _, ok := err.(*history.Error); !ok || err.Error() == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if e.Bind == nil || len(e.Ops) == 0 || e.Text != string(data) {
			t.Fatalf("half a model: %+v", e)
		}
	})
}

// leaseModel has every form of input, a chain of cases, and answers of every
// form.
const leaseModel = `
model: lease
version: 1
initial: free
operations:
  - f: take
    input: {client: who, term: n}
    when: state == "free" && n > 0
    next: who
    output: true
    else: {output: false}
  - f: swap
    input: [old, new]
    when: state == old
    next: new
    output: any
    else:
      when: state == "free"
      output: '"nobody"'
  - f: release
    input: who
    when: state == who
    next: '"free"'
  - f: Holder_Of
    output: state
  - f: reset
    next: "free"
    output: [1, {a: 2}]
`

func TestModelFileStories(t *testing.T) {
	text := strings.Replace(leaseModel, `next: "free"`, `next: '"free"'`, 1)
	e := loadModel(t, text)
	for _, c := range []struct {
		name  string
		calls []call
		state string
	}{
		{"a lease is taken once", []call{{"take", `{"client":"ann","term":1}`, "true"}, {"take", `{"client":"bob","term":1}`, "false"}, {"holder-of", "", `"ann"`}}, "ann"},
		{"an ok without an answer is true", []call{{"take", `{"client":"ann","term":1}`, ""}, {"take", `{"client":"bob","term":1}`, ""}}, ""},
		{"keywords name members", []call{{"take", `{"$map":[[{"$kw":"client"},"ann"],[{"$kw":"term"},2]]}`, "true"}}, "ann"},
		{"the second half of a condition", []call{{"take", `{"client":"ann","term":0}`, "true"}}, ""},
		{"any answer", []call{{"swap", `["free",5]`, "17"}, {"swap", `[5,6]`, ""}}, "6"},
		{"an else with a condition", []call{{"swap", `["ann",5]`, `"nobody"`}}, "free"},
		{"no case applies", []call{{"swap", `["free",5]`, ""}, {"swap", `["ann",7]`, `"nobody"`}}, ""},
		{"an impossible operation", []call{{"release", `"ann"`, ""}}, ""},
		{"an answer that is nothing", []call{{"take", `{"client":"ann","term":1}`, "true"}, {"release", `"ann"`, "null"}, {"release", `"free"`, "true"}}, "free"},
		{"a literal answer", []call{{"reset", "null", `[1,{"a":2}]`}}, "free"},
		{"another answer than the literal", []call{{"reset", "", `[1]`}}, ""},
	} {
		s, err := e.Bind(raw(t, c.calls, sequential), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		state, placed := run(s)
		if c.state == "" {
			if placed != len(c.calls)-1 {
				t.Errorf("%s: %d operations are possible, want %d", c.name, placed, len(c.calls)-1)
			}
		} else if state != c.state || placed != len(c.calls) {
			t.Errorf("%s: %d operations lead to %s, want %s", c.name, placed, state, c.state)
		}
	}
}

func TestModelFileRefusesOperations(t *testing.T) {
	lease := strings.Replace(leaseModel, `next: "free"`, `next: '"free"'`, 1)
	counter := "model: counter\nversion: 1\ninitial: 0\noperations:\n  - f: add\n    next: state + input\n  - f: read\n    output: state\n"
	for _, c := range []struct {
		model string
		call  call
		want  string
	}{
		{counter, call{"ad", "1", ""}, `model counter has no operation "ad"; did you mean add? expected one of add, read`},
		{counter, call{"add", `"1"`, ""}, `add of model counter: want a number as input, got "1"`},
		{counter, call{"add", "", ""}, `add of model counter: want a number as input, got nothing`},
		{counter, call{"add", "1", "7"}, `want nothing, null, true, "ok", or the input once more (the model gives it no output; output: any takes whatever was answered) as output, got 7`},
		{counter, call{"read", "1", "7"}, `read of model counter: want nothing as input, got 1`},
		{counter, call{"read", "", ""}, `read of model counter: want a value as output, got nothing`},
		{lease, call{"swap", "[1]", ""}, `swap of model lease: want [old, new] as input, got [1]`},
		{lease, call{"swap", `{"old":1,"new":2}`, ""}, `want [old, new] as input`},
		{lease, call{"take", `{"client":1}`, "true"}, `want {client: who, term: n}, where n is a number as input, got {"client":1}`},
		{lease, call{"take", `{"client":1,"term":"x"}`, "true"}, `where n is a number as input`},
		{lease, call{"take", `{"client":1,"term":1}`, "7"}, `want true or false as output, got 7`},
	} {
		_, err := loadModel(t, c.model).Bind(raw(t, []call{c.call}, sequential), Options{})
		var e *history.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %s", c.call, err, c.want)
		}
	}
}

// A value of the wrong kind stops the step; it is no answer.
func TestModelFileKinds(t *testing.T) {
	const text = "model: x\nversion: 1\ninitial: null\noperations:\n  - f: put\n    next: input\n  - f: add\n    next: state + input\n" +
		"  - f: add-if\n    when: isNumber(state)\n    next: state + input\n    else: {}\n  - f: test\n    when: state\n"
	for _, c := range []struct {
		calls []call
		want  string
	}{
		{[]call{{"add", "1", ""}}, `add: a value of the wrong kind: state is null here, and "state + input" takes numbers (a condition such as isNumber(state) leaves it out)`},
		{[]call{{"put", `"a"`, ""}, {"add", "1", ""}}, `add: a value of the wrong kind: state is "a" here`},
		{[]call{{"put", "1", ""}, {"test", "", ""}}, "test: a value of the wrong kind: state is 1 here, and a condition is true or false"},
		{[]call{{"put", "1e2147483000", ""}, {"add", "1", ""}}, "too far apart for an exact sum"},
		{[]call{{"add-if", "1", ""}, {"put", "4", ""}, {"add-if", "1", ""}, {"add", "1.5", ""}}, ""},
		{[]call{{"put", "true", ""}, {"test", "", ""}}, ""},
	} {
		s, err := loadModel(t, text).Bind(raw(t, c.calls, sequential), Options{})
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				failed, _ := recover().(*spec.StepError)
				switch {
				case failed == nil && c.want != "":
					t.Errorf("%v passed", c.calls)
				case failed != nil && (c.want == "" || !strings.Contains(failed.Error(), c.want)):
					t.Errorf("%v: got %v, want %s", c.calls, failed, c.want)
				}
				if failed != nil {
					if cause, ok := failed.Cause.(error); !ok || !errors.Is(cause, ErrKind) {
						t.Errorf("%v: the cause %v is not ErrKind", c.calls, failed.Cause)
					}
				}
			}()
			run(s)
		}()
	}
}

// Sums and differences are those of rational numbers, and as exact.
func TestSumsOfNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	number := func() (history.Value, *big.Rat) {
		text := big.NewInt(r.Int64N(1 << (1 + r.IntN(62)))).String()
		switch r.IntN(4) {
		case 0:
			text += "." + big.NewInt(r.Int64N(1000)).String()
		case 1:
			text += "e" + big.NewInt(int64(r.IntN(180)-90)).String()
		case 2:
			text += strings.Repeat("7", r.IntN(40))
		}
		if r.IntN(2) == 0 {
			text = "-" + text
		}
		v, err := history.Number(text)
		rat, ok := new(big.Rat).SetString(text)
		if err != nil || !ok {
			t.Fatalf("%s: %v", text, err)
		}
		return v, rat
	}
	decimals := 0
	for range 20_000 {
		a, x := number()
		b, y := number()
		for _, op := range []exprOp{opAdd, opSubtract, opNegate} {
			e := &expr{op: op, l: literalOf(a, "a")}
			want := new(big.Rat).Neg(x)
			if op != opNegate {
				e.r = literalOf(b, "b")
				want.Add(x, y)
				if op == opSubtract {
					want.Sub(x, y)
				}
			}
			got, err := e.eval(history.Null, nil)
			if err != nil {
				t.Fatal(err)
			}
			rat, ok := new(big.Rat).SetString(got.Text())
			if !ok || rat.Cmp(want) != 0 {
				t.Fatalf("%s, %s: operator %d gives %s, want %s", a.Text(), b.Text(), op, got.Text(), want)
			}
			if isInt(got) != (isInt(a) && (op == opNegate || isInt(b))) {
				t.Fatalf("%s, %s: operator %d gives %s", a.Text(), b.Text(), op, got.Text())
			}
			if !isInt(got) {
				decimals++
			}
		}
	}
	if decimals < 9000 {
		t.Errorf("only %d decimals", decimals)
	}
}

// TestDerivedFromText: what is said of single operations. That nothing is said
// in vain is TestDerivedKnowledgeHolds' part; this says that enough is.
func TestDerivedFromText(t *testing.T) {
	for _, c := range []struct{ op, in, out, want string }{
		{"output: state", "", "5", "read-only, demands 5"},
		{"output: state", "", "unknown", "read-only"},
		{"next: input", "5", "", "writes 5"},
		{"next: input, output: state", "5", "4", "demands 4, writes 5"},
		{"next: input, output: state", "5", "5", "read-only, demands 5"},
		{"next: input, output: state", "5", "unknown", "writes 5"},
		{"next: state + input", "5", "", ""},
		{"next: state + input", "0", "", "read-only"},
		{"next: state + input, output: state", "2", "3", "demands 3, writes 5"},
		{"when: state == null, next: input, output: state, else: {output: state}", "5", "null", "demands null, writes 5"},
		{"when: state == null, next: input, output: state, else: {output: state}", "5", "4", "read-only, demands 4"},
		{"when: state == null, next: input, output: state, else: {output: state}", "5", "unknown", "demands null, writes 5"},
		{"when: state != null, output: 1, else: {next: input, output: 2}", "5", "2", "demands null, writes 5"},
		{"when: state != null, output: 1, else: {next: input, output: 2}", "5", "1", "read-only"},
		{"when: '!(state == 1 || input == 2)', output: any, else: {next: 3, output: any}", "7", "any", ""},
		{"when: '!(state == 1 || input == 2)', output: any, else: {next: 3, output: any}", "7", "unknown", "demands 1, writes 3"},
		{"when: '!(state == 1 || input == 2)', output: any, else: {next: 3, output: any}", "2", "unknown", "writes 3"},
		{"when: state == input, next: 0", "3", "unknown", "demands 3, writes 0"},
		{"when: state == input", "3", "unknown", "read-only, demands 3"},
		{"when: input > state, next: input", "3", "unknown", ""},
		{"when: state, next: 0", "", "unknown", "demands true, writes 0"},
	} {
		l := loaderOf(t, modelHead+"operations:\n  - {f: go, "+c.op+"}\n")
		in, want := l.ops[0].decodeIn(value(t, c.in))
		if want != "" {
			t.Errorf("%s: %s is no input: want %s", c.op, c.in, want)
			continue
		}
		var out *fileOut
		switch c.out {
		case "unknown":
		case "any":
			out = &fileOut{any: true}
		default:
			out = &fileOut{v: value(t, c.out)}
		}
		var words []string
		if in.readOnly(out) {
			words = append(words, "read-only")
		}
		if v, ok := in.demands(out); ok {
			words = append(words, "demands "+v.(history.Value).Label())
		}
		if v, ok := in.writes(out); ok {
			words = append(words, "writes "+v.(history.Value).Label())
		}
		if got := strings.Join(words, ", "); got != c.want {
			t.Errorf("%s of %s with %s: %s, want %s", c.op, c.in, c.out, got, c.want)
		}
	}
}
