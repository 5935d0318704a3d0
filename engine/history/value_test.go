package history_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pinyon/engine/history"
)

func parse(t testing.TB, s string) history.Value {
	t.Helper()
	v, err := history.ParseValue(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func TestValuesHaveOneText(t *testing.T) {
	for in, want := range map[string]string{
		"9007199254740993":           "9007199254740993",
		"18446744073709551615":       "18446744073709551615",
		"-9223372036854775808":       "-9223372036854775808",
		"-0":                         "0",
		"1.50":                       "1.5",
		"1.0":                        "1.0",
		"1e2":                        "100.0",
		"-0.0":                       "0.0",
		"12.5e-3":                    "0.0125",
		"1E400":                      "1.0e400",
		`{"b":1,"a":2}`:              `{"a":2,"b":1}`,
		`{"$set":[3,1,3,2]}`:         `{"$set":[1,2,3]}`,
		`{"$set":[1,1.0]}`:           `{"$set":[1,1.0]}`,
		`{"$map":[["b",1],["a",2]]}`: `{"a":2,"b":1}`,
		`{"$map":[[7,1],["7",2]]}`:   `{"$map":[[7,1],["7",2]]}`,
		`{"$map":[["$kw","a"]]}`:     `{"$map":[["$kw","a"]]}`,
		`"\u00e9\ud83d\ude00\/"`:     `"é😀/"`,
		`"\b\u001f"`:                 `"\u0008\u001f"`,
		`{"$tag":["inst","2026"]}`:   `{"$tag":["inst","2026"]}`,
	} {
		if got := parse(t, in).Text(); got != want {
			t.Errorf("%s is written %s, want %s", in, got, want)
		}
	}
}

func TestValuesThatDiffer(t *testing.T) {
	texts := []string{"1", "1.0", `"1"`, "true", `"true"`, "null", `"null"`, `{"$kw":"a"}`, `{"$sym":"a"}`, `{"$char":"a"}`, `"a"`, "[1]",
		`{"$set":[1]}`, `{"$ratio":[1,2]}`, "0.5", "{}", "[]", `{"$map":[[1,2]]}`, `{"1":2}`, "18446744073709551615", "18446744073709551616"}
	for i, a := range texts {
		for j, b := range texts {
			if (parse(t, a) == parse(t, b)) != (i == j) {
				t.Errorf("%s == %s is %v", a, b, i != j)
			}
		}
	}
}

func TestParseValueRefuses(t *testing.T) {
	for _, s := range []string{"", "01", "1.", ".5", "+1", "1e", "nul", "[1,]", "[1 2]", `{"a":1,}`, `{"a" 1}`, `"\x"`, `"\ud800"`, "\"\x01\"", `"a`,
		`{"$kw":1}`, `{"$set":1}`, `{"$ratio":[1]}`, `{"$ratio":["a",2]}`, `{"$map":[[1,2],[1,3]]}`, `{"$what":1}`, "1 2", "1e99999999999", "123e2147483647"} {
		if v, err := history.ParseValue(s); err == nil {
			t.Errorf("%s is accepted as %s", s, v.Text())
		}
	}
}

func TestTextAndLabelReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue().Draw(t, "value")
		if got, err := history.ParseValue(v.Text()); err != nil || got != v {
			t.Fatalf("%s reads back as %s, %v", v.Text(), got.Text(), err)
		}
		if got := history.ParseLabel(v.Label()); got != v {
			t.Fatalf("label %s of %s reads back as %s", v.Label(), v.Text(), got.Text())
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		s := history.String(rapid.String().Draw(t, "text"))
		k := history.Keyword(rapid.String().Draw(t, "name"))
		if history.ParseLabel(s.Label()) != s || history.ParseLabel(k.Label()) != k || s.Label() == k.Label() {
			t.Fatalf("labels %s and %s", s.Label(), k.Label())
		}
	})
}

func TestCompareIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOfN(genValue(), 3, 3).Draw(t, "values")
		a, b, c := vs[0], vs[1], vs[2]
		if history.Compare(a, b) != -history.Compare(b, a) || (history.Compare(a, b) == 0) != (a == b) {
			t.Fatalf("%s against %s", a.Text(), b.Text())
		}
		slices.SortFunc(vs, history.Compare)
		if history.Compare(vs[0], vs[2]) > 0 {
			t.Fatalf("not transitive: %s %s %s", a.Text(), b.Text(), c.Text())
		}
	})
}

func TestPartsOfValues(t *testing.T) {
	o := parse(t, `{"from":"a","amount":3}`)
	if n, ok := o.Get("amount").Int64(); n != 3 || !ok || o.Get("to") != history.Absent {
		t.Error("members of an object")
	}
	if ms, ok := parse(t, `{"$map":[[7,1],[5,2]]}`).Members(); !ok || len(ms) != 2 || ms[0].Key != history.Int(5) {
		t.Errorf("members of a map: %v", ms)
	}
	if es, ok := parse(t, `{"$set":["b","a"]}`).Elems(); !ok || len(es) != 2 || es[0] != history.String("a") {
		t.Errorf("elements of a set: %v", es)
	}
	if s, ok := history.Keyword("a/b").Str(); s != "a/b" || !ok {
		t.Error("name of a keyword")
	}
	if s, _ := history.String("\xff").Str(); s != "\uFFFD" {
		t.Errorf("a string that is no UTF-8 is %q", s)
	}
	deep := history.Null
	for range 300 { // deeper than text may be
		deep = history.Array(deep)
	}
	if es, ok := deep.Elems(); !ok || len(es) != 1 {
		t.Error("a deep value has its element")
	}
}
