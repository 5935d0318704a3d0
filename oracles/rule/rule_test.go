package rule

import (
	"errors"
	"testing"

	"pinyon/engine/history"
)

var testFields = Fields{"revision": Int, "index": Int, "type": Int, "leader": Str, "seq": Ints, "deps": Ints, "replica": Int}

var testLists = map[string][]int64{"xs": {0, 1}, "replicas": {0, 1, 2}}

// Every error of quantifiers, with its place.
var quantifierErrors = []struct{ text, want string }{
	{"all s in xs", "1:1: a quantifier reads \"all s in xs: ...\", \"some s in xs: ...\" or \"at least 2 of s in xs: ...\", with a colon before the condition\n  all s in xs\n  ^"},
	{" all s of xs: a.seq[s] < 1", "1:2: a quantifier reads \"all s in xs: ...\", \"some s in xs: ...\" or \"at least 2 of s in xs: ...\", with a colon before the condition\n   all s of xs: a.seq[s] < 1\n   ^"},
	{"all s in xs:", "1:13: the condition is empty\n  all s in xs:\n              ^"},
	{"all s in ys: a.seq[s] < 1", "1:10: there is no list ys (did you mean xs?); declare it under lists, such as {ys: [0, 1, 2]}\n  all s in ys: a.seq[s] < 1\n           ^"},
	{"all s in seq: a.seq[s] < 1", "1:10: there is no list seq (did you mean a.seq?); declare it under lists, such as {seq: [0, 1, 2]}\n  all s in seq: a.seq[s] < 1\n           ^"},
	{"all s in a.sqe: a.seq[s] < 1", "1:12: the field sqe is not declared (did you mean seq?)\n  all s in a.sqe: a.seq[s] < 1\n             ^"},
	{"all s in c.seq: a.seq[s] < 1", "1:10: c is unknown here: the two operations are a and b\n  all s in c.seq: a.seq[s] < 1\n           ^"},
	{"all s in a.revision: a.seq[s] < 1", "1:10: a.revision is an integer and has no elements\n  all s in a.revision: a.seq[s] < 1\n           ^"},
	{"all a in xs: a.seq[a] < 1", "1:5: a is an operation; name the variable otherwise\n  all a in xs: a.seq[a] < 1\n      ^"},
	{"all 1 in xs: a.seq[0] < 1", "1:5: 1 is no name for a variable\n  all 1 in xs: a.seq[0] < 1\n      ^"},
	{"all s in xs: some s in xs: a.seq[s] < 1", "1:19: two quantifiers have the variable s\n  all s in xs: some s in xs: a.seq[s] < 1\n                    ^"},
	{"at least 0 of s in xs: a.seq[s] < 1", "1:10: 0 is no count: it is a whole number from 1, majority or supermajority\n  at least 0 of s in xs: a.seq[s] < 1\n           ^"},
	{"at least 3 of s in xs: a.seq[s] < 1", "1:10: the list has 2 elements, so 3 is never reached\n  at least 3 of s in xs: a.seq[s] < 1\n           ^"},
	{"at least majorty of s in xs: a.seq[s] < 1", "1:10: majorty is no count: it is a whole number from 1, majority or supermajority (did you mean majority?)\n  at least majorty of s in xs: a.seq[s] < 1\n           ^"},
	{"all s in xs: a.seq[t] < 1", "1:20: t is unknown here: operands are fields of the operations a and b, such as a.t, integers and texts in quotes\n  all s in xs: a.seq[t] < 1\n                     ^"},
	{"all s in xs: a.sqe[s] < 1", "1:16: the field sqe is not declared (did you mean seq?)\n  all s in xs: a.sqe[s] < 1\n                 ^"},
}

func TestQuantifierErrors(t *testing.T) {
	for _, c := range quantifierErrors {
		_, err := CompileRule(c.text, testFields, testLists)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: got %v, want an *Error", c.text, err)
		} else if err.Error() != c.want {
			t.Errorf("%q:\ngot\n%s\nwant\n%s", c.text, err, c.want)
		}
	}
}

func TestPlans(t *testing.T) {
	for text, want := range map[string]string{
		"a.revision < b.revision":                                                        "clock: one comparison",
		"a.kind == \"write\" && b.kind == \"read\"":                                      "clock: no comparison between the two but of what each is",
		"a.leader == b.leader && b.revision >= a.index":                                  "clock: one comparison, within operations of the same leader",
		"a.revision < b.revision && a.index < b.index":                                   "dominance: 2 comparisons at once",
		"a.revision == b.index":                                                          "dominance: 1 comparison at once",
		"all s in xs: a.seq[s] < b.seq[s] && a.type == 1":                                "dominance: 1 comparison for each s",
		"at least 2 of s in replicas: a.seq[s] < b.seq[s] && a.seq[a.replica] < b.index": "dominance: 1 comparison for each s",
		"at most 2 of s in replicas: a.seq[s] < b.seq[s]":                                "pairs: at most does not come apart",
		"all s in xs: all t in xs: a.seq[s] < b.seq[t]":                                  "pairs: it has several quantifiers",
		"a.revision < b.revision || a.index < b.index":                                   "pairs: it is an alternative (||): two rules would be two clocks",
		"!(a.revision < b.revision)":                                                     "pairs: it is a negation",
		"a.deps[b.replica] < b.index":                                                    "pairs: it is no conjunction of comparisons that each have a on one side and b on the other",
		"a.revision != b.revision":                                                       "pairs: it is no conjunction of comparisons that each have a on one side and b on the other",
	} {
		r, err := CompileRule(text, testFields, testLists)
		if err != nil {
			t.Fatal(err)
		}
		class, words := r.Plan()
		if got := class.String() + ": " + words; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// Every error of the grammar, with its place.
var errorCases = []struct{ text, want string }{
	{"", "1:1: the condition is empty\n  \n  ^"},
	{"a.revison < b.revision", "1:3: the field revison is not declared (did you mean revision?)\n  a.revison < b.revision\n    ^"},
	{"a.knid == \"read\"", "1:3: the field knid is not declared (did you mean kind?)\n  a.knid == \"read\"\n    ^"},
	{"a.nothingLikeIt == 1", "1:3: the field nothingLikeIt is not declared\n  a.nothingLikeIt == 1\n    ^"},
	{"c.revision < b.revision", "1:1: c is unknown here: the two operations are a and b\n  c.revision < b.revision\n  ^"},
	{"revision < b.revision", "1:1: revision is unknown here: operands are fields of the operations a and b, such as a.revision, integers and texts in quotes\n  revision < b.revision\n  ^"},
	{"a.revision", "1:1: a.revision alone is no condition: it is an integer; compare it with something\n  a.revision\n  ^"},
	{"1 < 2", "1:1: 1 < 2 compares two constants\n  1 < 2\n  ^"},
	{"a.revision + 1 < b.revision", "1:12: arithmetic (+) has no place in a condition; " + supported + "\n  a.revision + 1 < b.revision\n             ^"},
	{"len(a.seq) < 2", "1:1: a call has no place in a condition; " + supported + "\n  len(a.seq) < 2\n  ^"},
	{"*a.seq < 2", "1:1: a * has no place in a condition; " + supported + "\n  *a.seq < 2\n  ^"},
	{"a.seq[1:2] < 2", "1:1: a slice has no place in a condition; " + supported + "\n  a.seq[1:2] < 2\n  ^"},
	{"func(){} == 2", "1:1: a function has no place in a condition; " + supported + "\n  func(){} == 2\n  ^"},
	{"x{1} == 2", "1:1: a composite literal has no place in a condition; " + supported + "\n  x{1} == 2\n  ^"},
	{"a.(int) == 2", "1:1: a type assertion has no place in a condition; " + supported + "\n  a.(int) == 2\n  ^"},
	{"-a.revision < 2", "1:1: a minus stands only before an integer\n  -a.revision < 2\n  ^"},
	{"+1 < a.revision", "1:1: + has no place before an operand; " + supported + "\n  +1 < a.revision\n  ^"},
	{"!a.revision < 2", "1:1: ! binds more tightly than a comparison; write !(a.x < b.x)\n  !a.revision < 2\n  ^"},
	{"a.revision < b.revision < 3", "1:12: the result of a comparison cannot be compared; join comparisons with &&\n  a.revision < b.revision < 3\n             ^"},
	{"(a.revision < 2 && b.revision < 2) == 3", "1:17: a condition cannot be compared; put the comparison in parentheses of its own\n  (a.revision < 2 && b.revision < 2) == 3\n                  ^"},
	{"a.seq < b.seq", "1:1: seq is an array; compare its elements, such as a.seq[0]\n  a.seq < b.seq\n  ^"},
	{"a.revision[0] < 1", "1:11: a.revision is an integer and has no elements\n  a.revision[0] < 1\n            ^"},
	{"a.seq[0][1] < 1", "1:9: a.seq[0] is an integer and has no elements\n  a.seq[0][1] < 1\n          ^"},
	{"a.seq[-1] < 1", "1:7: an index counts from 0, and -1 is negative\n  a.seq[-1] < 1\n        ^"},
	{"a.seq[a.leader] < 1", "1:7: an index is an integer, and a.leader is a string\n  a.seq[a.leader] < 1\n        ^"},
	{"a.revision == \"x\"", "1:12: a.revision is an integer and \"x\" is a string\n  a.revision == \"x\"\n             ^"},
	{"a.process == 1", "1:11: a.process is a string and 1 is an integer; a text stands in double quotes\n  a.process == 1\n            ^"},
	{"a.kind < \"write\"", "1:8: a kind is compared with == and != only\n  a.kind < \"write\"\n         ^"},
	{"a.kind == b.kind", "1:11: a kind is compared with \"read\" or \"write\" only\n  a.kind == b.kind\n            ^"},
	{"a.kind == \"raed\"", "1:11: a kind is \"read\" or \"write\" (did you mean read?)\n  a.kind == \"raed\"\n            ^"},
	{"a.in == b.revision", "1:6: a.in is a recorded value and b.revision is an integer; a recorded value is compared with a constant or another recorded value\n  a.in == b.revision\n       ^"},
	{"a.in < \"x\"", "1:6: recorded values are compared with texts by == and != only\n  a.in < \"x\"\n       ^"},
	{"a.leader == 'n'", "1:13: texts stand in double quotes\n  a.leader == 'n'\n              ^"},
	{"a.revision < 1.5", "1:14: 1.5 is not an integer; numbers are integers of 64 bits\n  a.revision < 1.5\n               ^"},
	{"a.revision < 010", "1:14: 010 would be octal; write it without the leading 0\n  a.revision < 010\n               ^"},
	{"a.revision < 9223372036854775808", "1:14: 9223372036854775808 does not fit 64 bits\n  a.revision < 9223372036854775808\n               ^"},
	{"a.seq[0].x < 1", "1:1: only a.field and b.field can be selected\n  a.seq[0].x < 1\n  ^"},
	{"a.revision < b.revision // why", "1:25: a condition holds no comment\n  a.revision < b.revision // why\n                          ^"},
	{"a.revision < 1; b.revision < 1", "1:15: a semicolon has no place in a condition; write several rules, or join them with ||\n  a.revision < 1; b.revision < 1\n                ^"},
	{"a.revision = b.revision", "1:12: expected '==', found '='\n  a.revision = b.revision\n             ^"},
	{"a.revision < 1 and b.revision < 1", "1:16: expected the end of the condition, found and (did you mean &&?)\n  a.revision < 1 and b.revision < 1\n                 ^"},
	{"a.revision <", "1:13: expected operand, found the end of the condition\n  a.revision <\n              ^"},
	{"a.leader == `x\ny`", "1:13: a text cannot hold a line break\n  a.leader == `x\n              ^"},
	{"a.revision < b.revision &&\n\ta.index << b.index", "2:10: arithmetic (<<) has no place in a condition; " + supported + "\n  \ta.index << b.index\n  \t        ^"},
	{"a.leader == \"é\" && a.indx < 1", "1:22: the field indx is not declared (did you mean index?)\n  a.leader == \"é\" && a.indx < 1\n                       ^"},
	{"all s in xs: a.seq[s] < b.seq[s]", "1:1: quantifiers (all s in xs: ..., at least n of s in xs: ...) have no place here; " + supported + "\n  all s in xs: a.seq[s] < b.seq[s]\n  ^"},
	{" at least 2 of s in xs: a.seq[s] < b.seq[s]", "1:2: quantifiers (all s in xs: ..., at least n of s in xs: ...) have no place here; " + supported + "\n   at least 2 of s in xs: a.seq[s] < b.seq[s]\n   ^"},
}

func TestErrors(t *testing.T) {
	for _, c := range errorCases {
		_, err := Compile(c.text, testFields)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: got %v, want an *Error", c.text, err)
		} else if err.Error() != c.want {
			t.Errorf("%q:\ngot\n%s\nwant\n%s", c.text, err, c.want)
		}
	}
}

// two builds a View of two operations with the given hints.
func two(a, b []history.Hint) *history.View {
	h := &history.Of[int, int]{Ops: []history.Op[int, int]{
		{Process: 3, F: "put", Key: "x", Node: "n1", Invoke: 5, Return: 9, Hints: a},
		{Process: 4, F: "get", Key: "x", Invoke: 7, Outcome: history.Info, Hints: b},
	}}
	v := history.NewView(h)
	v.Read = []bool{false, true}
	v.In = []history.Value{history.Int(7), history.Absent}
	v.Out = []history.Value{history.String("seven"), history.Int(8)}
	return v
}

func hint(name string, v history.Value) history.Hint { return history.Hint{Name: name, Value: v} }

func TestEval(t *testing.T) {
	list := func(ns ...int64) (v history.Value) {
		var vs []history.Value
		for _, n := range ns {
			vs = append(vs, history.Int(n))
		}
		return history.Array(vs...)
	}
	v := two([]history.Hint{hint("revision", history.Int(-5)), hint("type", history.Int(1)), hint("leader", history.String("n1")), hint("seq", list(4, 5, 6)), hint("replica", history.Int(1))},
		[]history.Hint{hint("revision", history.Int(6)), hint("leader", history.String("n2")), hint("seq", list(4)), hint("deps", list(9, 8))})
	cases := []struct {
		text string
		want Tri
	}{
		{"a.revision < b.revision", True}, {"a.revision <= b.revision", True}, {"a.revision > b.revision", False},
		{"a.revision >= b.revision", False}, {"a.revision == b.revision", False}, {"a.revision != b.revision", True},
		{"a.revision == -5", True}, {"a.revision == -0x5", True}, {"-9223372036854775808 < a.revision", True},
		{"a.type == 1", True}, {"b.type == 1", Unknown}, {"a.index == b.index", Unknown},
		{"a.leader == \"n1\"", True}, {"a.leader == `n1`", True}, {"a.leader < b.leader", True}, {"a.leader >= b.leader", False}, {"a.leader != b.leader", True},
		{"a.seq[2] == 6", True}, {"b.seq[2] == 6", Unknown}, {"a.seq[a.replica] == 5", True}, {"b.deps[a.replica] == 8", True},
		{"a.seq[b.replica] == 5", Unknown}, {"a.seq[a.seq[0]] == 5", Unknown}, {"a.seq[a.revision] == 5", Unknown},
		{"a.kind == \"write\"", True}, {"a.kind != \"write\"", False}, {"\"read\" == b.kind", True}, {"b.kind != \"write\"", True},
		{"a.f == \"put\" && b.f == \"get\"", True}, {"a.key == b.key", True}, {"a.process == \"3\"", True},
		{"a.node == \"n1\"", True}, {"b.node == \"n1\"", Unknown}, {"a.node != b.node", Unknown},
		{"a.invoke < b.invoke", True}, {"a.return == 9", True}, {"b.return == 9", Unknown}, {"b.return > a.return", Unknown},
		{"a.in == 7", True}, {"a.in < 8", True}, {"a.in != 7", False}, {"b.in == 7", Unknown}, {"a.in == \"7\"", False},
		{"a.out == \"seven\"", True}, {"a.out < 8", Unknown}, {"a.out == b.out", False}, {"a.in < b.out", True}, {"a.out != 7", True},
		{"!(a.revision < b.revision)", False}, {"!(a.index < 1)", Unknown}, {"((a.revision)) < (6)", True},
		{"a.revision < b.revision\n&& a.kind == \"write\"", True},
	}
	for _, c := range cases {
		r, err := Compile(c.text, testFields)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		b, err := r.Bind(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Eval(0, 1); got != c.want {
			t.Errorf("%s: got %v, want %v", c.text, got, c.want)
		}
	}
}

// Typed histories have no recorded values, and other columns may be missing.
func TestMissingColumns(t *testing.T) {
	v := two(nil, nil)
	v.In, v.Out, v.Read = nil, nil, nil
	for _, text := range []string{"a.in == 1", "a.out == b.out", "a.out < 1", "a.revision < 1", "a.leader == \"\"", "a.seq[0] == b.seq[0]"} {
		r, err := Compile(text, testFields)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Bind(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Eval(0, 1); got != Unknown {
			t.Errorf("%s: got %v, want unknown", text, got)
		}
	}
	r, _ := Compile("a.in == 1 || !(b.kind == \"read\")", testFields)
	if _, err := r.Bind(v); !errors.Is(err, ErrCannotTell) {
		t.Errorf("got %v, want ErrCannotTell", err)
	}
}

func TestKleene(t *testing.T) {
	// T, F, U as conditions over an operation with revision 1 and no index.
	text := map[Tri]string{True: "a.revision == 1", False: "a.revision != 1", Unknown: "a.index == 1"}
	and := [3][3]Tri{{False, False, False}, {False, Unknown, Unknown}, {False, Unknown, True}}
	or := [3][3]Tri{{False, Unknown, True}, {Unknown, Unknown, True}, {True, True, True}}
	v := two([]history.Hint{hint("revision", history.Int(1))}, nil)
	eval := func(s string) Tri {
		r, err := Compile(s, testFields)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := r.Bind(v)
		return b.Eval(0, 1)
	}
	for x := False; x <= True; x++ {
		if got := eval("!(" + text[x] + ")"); got != True-x {
			t.Errorf("!%v: got %v", x, got)
		}
		for y := False; y <= True; y++ {
			if got := eval(text[x] + " && " + text[y]); got != and[x][y] {
				t.Errorf("%v && %v: got %v", x, y, got)
			}
			if got := eval(text[x] + " || " + text[y]); got != or[x][y] {
				t.Errorf("%v || %v: got %v", x, y, got)
			}
		}
	}
}

func TestWhy(t *testing.T) {
	v := two([]history.Hint{hint("revision", history.Int(40)), hint("index", history.Int(1)), hint("leader", history.String("n1"))},
		[]history.Hint{hint("revision", history.Int(41)), hint("leader", history.String("n2"))})
	for text, want := range map[string]string{
		"a.revision < b.revision":                          "a.revision < b.revision: 40 < 41",
		"a.kind == \"write\" && a.revision  <\nb.revision": "a.kind == \"write\" && a.revision < b.revision: 40 < 41",
		"a.index < b.index || a.revision < b.revision":     "a.index < b.index || a.revision < b.revision: 40 < 41",
		"!(a.revision >= b.revision || a.index == 7)":      "!(a.revision >= b.revision || a.index == 7): 40 < 41, 1 != 7",
		"a.leader != b.leader && a.in != b.out":            "a.leader != b.leader && a.in != b.out: \"n1\" != \"n2\", 7 != 8",
		"a.kind == \"write\" && b.kind == \"read\"":        "a.kind == \"write\" && b.kind == \"read\"",
	} {
		r, err := Compile(text, testFields)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := r.Bind(v)
		if got := b.Why(0, 1); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	for name, want := range map[string]string{"revison": " (did you mean revision?)", "Revision": " (did you mean revision?)", "x": "", "zebra": "", "kidn": " (did you mean kind?)"} {
		if got := DidYouMean(name, []string{"revision", "kind", "write"}); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func bench(tb testing.TB, text string) func(a, b int32) Tri {
	r, err := CompileRule(text, testFields, testLists)
	if err != nil {
		tb.Fatal(err)
	}
	list := history.Array(history.Int(1), history.Int(2))
	h := func(n int64) []history.Hint {
		return []history.Hint{hint("revision", history.Int(n)), hint("seq", list), hint("replica", history.Int(n%2)), hint("leader", history.String("n1"))}
	}
	b, err := r.Bind(two(h(40), h(41)))
	if err != nil {
		tb.Fatal(err)
	}
	return b.Eval
}

func TestEvalAllocatesNothing(t *testing.T) {
	for _, text := range []string{"a.revision < b.revision", "a.kind == \"write\" && a.seq[0] < b.seq[a.replica] && a.leader == b.leader",
		"!(a.in == 7) || a.in < b.in || a.out == \"x\" || a.key == b.key && a.return < 3",
		"all s in xs: a.seq[s] < b.seq[s]", "some s in a.seq: a.seq[s] < b.seq[s] && a.leader == b.leader",
		"at least supermajority of s in a.seq: a.seq[s] <= b.seq[s]", "at most 1 of s in xs: a.seq[s] < b.seq[s]",
		"all s in xs: some t in b.seq: a.seq[s] < b.seq[t]"} {
		eval := bench(t, text)
		if n := testing.AllocsPerRun(100, func() { eval(0, 1); eval(1, 0) }); n > 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	for _, text := range []string{"a.revision < b.revision", "a.revision < 7", "a.seq[0] < b.seq[a.replica]",
		"a.kind == \"write\" && b.kind == \"read\" && a.revision < b.revision", "all s in xs: a.seq[s] < b.seq[s]"} {
		b.Run(text, func(b *testing.B) {
			eval := bench(b, text)
			for b.Loop() {
				eval(0, 1)
			}
		})
	}
}

func FuzzCompile(f *testing.F) {
	for _, c := range errorCases {
		f.Add(c.text)
	}
	f.Add("!(a.kind == \"read\" && a.in < b.out) || a.deps[b.replica] >= -7")
	v := two(nil, nil)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := CompileRule(text, testFields, testLists)
		if err != nil {
			_ = err.Error()
			return
		}
		b, err := r.Bind(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Eval(0, 1)
		b.Why(1, 0)
		b.Parts()
		r.Plan()
	})
}
