package report

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// checked reads lines as a native history of kv and checks it.
func checked(t *testing.T, level string, oracles []order.Oracle, lines ...string) *Input {
	t.Helper()
	text := `{"pinyon":"history","version":1}` + "\n" + strings.Join(lines, "\n") + "\n"
	h, err := history.ReadNative("run.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := models.Lookup("kv")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Bind(h, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := consistency.LookupLevel(level)
	if err != nil {
		t.Fatal(err)
	}
	v, err := consistency.CheckSubject(context.Background(), s, l, consistency.Options{Oracles: oracles})
	if err != nil {
		t.Fatal(err)
	}
	in := &Input{
		Path: "run.jsonl", Format: "native", Level: level, Subject: s, Verdict: v, Oracles: v.Oracles,
		Rules:  Rules{Initial: "{}", NilRead: "absent", FailCas: "drop", Ties: "concurrent", Order: "time"},
		Repeat: "pinyon check run.jsonl",
	}
	return in
}

// both orders an operation by two hints.
func both() []order.Oracle {
	by := func(name string) order.Oracle {
		return order.Oracle{Name: name, Text: name, Order: func(v *history.View, r *order.Rules) error {
			c := &order.Clock{Name: name, Out: make([]int64, v.N), In: make([]int64, v.N)}
			for i := range int32(v.N) {
				n, _ := v.Hints[name].Int(i)
				c.Out[i], c.In[i] = n, n
			}
			r.AddHard("", c)
			return nil
		}}
	}
	return []order.Oracle{by("term"), by("index")}
}

// twice says that no two writes have one index, and term by edges.
func twice() []order.Oracle {
	return []order.Oracle{both()[0], {Name: "once", Text: "once", Order: func(_ *history.View, r *order.Rules) error {
		r.AddFinding("both writes have term 1", 0, 1)
		return nil
	}}}
}

const (
	putA  = `{"process":0,"f":"put","key":"a","in":1,"invoke":10,"return":50,"outcome":"ok","hints":{"term":1,"index":2}}`
	putA2 = `{"process":1,"f":"put","key":"a","in":2,"invoke":20,"return":60,"outcome":"ok","hints":{"term":2,"index":1}}`
	getA  = `{"process":2,"f":"get","key":"a","invoke":70,"return":80,"outcome":"ok","out":3}`
	getA1 = `{"process":2,"f":"get","key":"a","invoke":70,"return":80,"outcome":"ok","out":1,"hints":{"ballot":9,"term":3}}`
	putB  = `{"process":3,"f":"put","key":"b","in":1,"invoke":10,"outcome":"info"}`
	putC  = `{"process":4,"f":"put","key":"c","in":1,"invoke":1200000000,"return":1206000000,"outcome":"ok"}`
)

// TestTextAndJSON pins the words and the document of one case each.
func TestTextAndJSON(t *testing.T) {
	for name, in := range map[string]*Input{
		"a_read_of_a_value_that_nobody_wrote": checked(t, "linearizable", nil, putA, putA2, getA, putB, putC),
		"hints_contradict_each_other":         checked(t, "linearizable", both(), putA, putA2),
		"hints_are_a_finding":                 checked(t, "linearizable", twice(), putA, putA2),
		"hints_are_behind_a_core":             checked(t, "linearizable", both()[:1], putA, putA2, getA1),
		"one_order_for_all_keys":              checked(t, "sequential", nil, putA, getA, putC),
		"nothing_to_complain_of":              checked(t, "linearizable", nil, putA, putC),
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			if err := Text(&text, in, Options{Explain: true}); err != nil {
				t.Fatal(err)
			}
			in.Verdict.Elapsed = 0
			for i := range in.Verdict.Parts {
				in.Verdict.Parts[i].Elapsed = 0
			}
			text.WriteString("-- json --\n")
			if err := JSON(&text, []Input{*in}); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name+".txt"), text.Bytes())
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update rewrites it); got:\n%s", path, got)
	}
}

// TestErrorHasNoVerdict: a file without a verdict has an error in its place.
func TestErrorHasNoVerdict(t *testing.T) {
	var doc bytes.Buffer
	err := JSON(&doc, []Input{
		{Path: "a", Err: &history.Error{Path: "a", Line: 3, Col: 7, Msg: "no"}},
		{Path: "b", Err: errors.New("gone")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"line": 3`, `"column": 7`, `"message": "a:3:7: no"`, `"message": "gone"`} {
		if !strings.Contains(doc.String(), want) {
			t.Errorf("no %s in %s", want, doc.String())
		}
	}
	if strings.Contains(doc.String(), `"verdict"`) {
		t.Error("there is a verdict")
	}
}

// TestSummaryOfKeys: the last line counts what there is.
func TestSummaryOfKeys(t *testing.T) {
	part := func(k spec.Kind, reason string) spec.Part { return spec.Part{Key: "k", Kind: k, Reason: reason} }
	c, bad, open, none := part(spec.Consistent, ""), part(spec.Violation, ""), part(spec.Unknown, "no time"), part(spec.Vacuous, "")
	skipped := spec.Part{Key: "s", Kind: spec.Unknown, Skipped: true}
	for _, test := range []struct {
		kind  spec.Kind
		parts []spec.Part
		want  string
	}{
		{spec.Consistent, []spec.Part{c}, "consistent: linearizable"},
		{spec.Consistent, []spec.Part{c, c}, "consistent: 2 keys, each linearizable"},
		{spec.Consistent, []spec.Part{c, none}, "consistent: 1 key linearizable, 1 vacuous"},
		{spec.Violation, []spec.Part{bad}, "violation: k is not linearizable"},
		{spec.Violation, []spec.Part{c, bad, open}, "violation: 1 of 3 keys"},
		{spec.Violation, []spec.Part{bad, skipped}, "violation: 1 of 2 keys, 1 not checked"},
		{spec.Unknown, []spec.Part{open}, "unknown: no time"},
		{spec.Unknown, []spec.Part{c, open}, "unknown: 1 of 2 keys undecided; k: no time"},
		{spec.Vacuous, []spec.Part{none, none}, "vacuous: nothing was tested, no operation has an answer"},
		{spec.Vacuous, nil, "vacuous: nothing was tested, no operation has an answer"},
	} {
		if got := Summary(&spec.Verdict{Kind: test.kind, Level: "linearizable", Parts: test.parts}); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 41203: "41,203", -1234567: "-1,234,567"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"k3": "k3", "bounded-staleness:k=3,t=1ms": "bounded-staleness:k=3,t=1ms", "": "''", "a b": "'a b'",
		`"x"`: `'"x"'`, "it's": `'it'\''s'`, "$HOME": "'$HOME'",
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", word, got, want)
		}
	}
}
