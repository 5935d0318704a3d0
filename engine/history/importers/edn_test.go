package importers

import (
	"errors"
	"strings"
	"testing"

	"pinyon/engine/history"
)

var ednValues = []struct{ edn, json string }{
	{"nil", "null"}, {"true", "true"}, {" false ; comment", "false"},
	{"42", "42"}, {"-7", "-7"}, {"+7", "7"}, {"42N", "42"}, {"18446744073709551615", "18446744073709551615"},
	{"-123456789012345678901234567890N", "-123456789012345678901234567890"}, {"0x1F", "31"},
	{"42.0", "42.0"}, {"1.50M", "1.5"}, {"5M", "5.0"}, {"1e3", "1000.0"}, {"-2.5E-1", "-0.25"}, {"3.", "3.0"},
	{"1/2", `{"$ratio":[1,2]}`}, {"-1/2", `{"$ratio":[-1,2]}`}, {"##Inf", `{"$sym":"##Inf"}`}, {"##-Inf", `{"$sym":"##-Inf"}`},
	{`"a\n\"\\\u00e9\ud83d\ude00"`, `"a\n\"\\` + "\u00e9\U0001F600" + `"`}, {"\"two\nlines\"", `"two\nlines"`},
	{`\a`, `{"$char":"a"}`}, {`\newline`, `{"$char":"\n"}`}, {`\u0041`, `{"$char":"A"}`}, {`\o101`, `{"$char":"A"}`}, {`[\( \)]`, `[{"$char":"("},{"$char":")"}]`},
	{":a/b", `{"$kw":"a/b"}`}, {"foo.bar/baz", `{"$sym":"foo.bar/baz"}`}, {"-", `{"$sym":"-"}`}, {"+x", `{"$sym":"+x"}`},
	{"[1, 2 ,,3]", "[1,2,3]"}, {"(1 (2))", "[1,[2]]"}, {"#{3 1 1 2}", `{"$set":[1,2,3]}`}, {"[]", "[]"},
	{`{"n1" #{"n2"}}`, `{"n1":{"$set":["n2"]}}`}, {"{0 97, 1 0}", `{"$map":[[0,97],[1,0]]}`}, {"{:b 1 :a 2}", `{"$map":[[{"$kw":"a"},2],[{"$kw":"b"},1]]}`},
	{`#inst "2020"`, `{"$tag":["inst","2020"]}`}, {"#knossos.model.CASRegister{:value 3}", `{"$tag":["knossos.model.CASRegister",{"$map":[[{"$kw":"value"},3]]}]}`},
	{`#object[a.B 0x4b9e "b"]`, `{"$tag":["object",[{"$sym":"a.B"},19358,"b"]]}`}, {"#_1 #_ #_ 2 3 4", "4"}, {"[1 #_2]", "[1]"},
}

func TestEDNValues(t *testing.T) {
	for _, c := range ednValues {
		v, err := parseEDN(c.edn)
		if err != nil || v.Text() != c.json {
			t.Errorf("%s: got %s %v, want %s", c.edn, v.Text(), err, c.json)
		}
	}
}

var ednMistakes = []struct {
	edn string
	at  int
	msg string
}{
	{"", 0, "a value is missing"}, {"[1", 0, "not closed"}, {"[1)", 2, "expected ']'"}, {"{:a}", 1, "has no value"}, {"{1 2", 0, "not closed"},
	{"{1 2 1 3}", 0, "stands twice"}, {`"a`, 0, "not closed"}, {`"\q"`, 1, "unknown escape"}, {`"\ud800"`, 1, "surrogate"}, {`"\u12"`, 1, "hexadecimal"},
	{"007", 0, "not a number"}, {"1x", 0, "not a number"}, {"1/0", 0, "not a number"}, {"0x", 0, "not a number"}, {"1e", 0, "not a number"}, {"1.2.3", 0, "not a number"},
	{":", 0, "not a keyword"}, {"::a", 0, "not a keyword"}, {"]", 0, "closes nothing"}, {"#<a>", 0, "unreadable"}, {"##Foo", 0, "symbolic"}, {"@a", 0, "expected an EDN value"},
	{`\foo`, 0, "not a character"}, {`\`, 0, "must follow"}, {"\"\xff\"", 1, "UTF-8"}, {":a\xff", 2, "UTF-8"}, {"1 2", 2, "after the value"}, {"#tag", 4, "missing"},
	{strings.Repeat("[", 100000), 61, "nested deeper"}, {strings.Repeat("#_", 100000), 122, "nested deeper"},
}

func TestEDNMistakes(t *testing.T) {
	for _, c := range ednMistakes {
		_, err := parseEDN(c.edn)
		var syntax *history.SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != c.at || !strings.Contains(syntax.Msg, c.msg) {
			t.Errorf("%.20q: got %v (%+v), want %q at %d", c.edn, err, syntax, c.msg, c.at)
		}
	}
}

// The deepest values that are read must still be read from their canonical
// text, where a map takes three levels.
func TestEDNDepthFitsCanonicalText(t *testing.T) {
	for _, nest := range [][2]string{{"{:a ", "}"}, {"#{", "}"}, {"#t [", "]"}, {"[", "]"}} {
		deepest := ""
		for n := 1; n < 80; n++ {
			v, err := parseEDN(strings.Repeat(nest[0], n) + ":x" + strings.Repeat(nest[1], n))
			if err != nil {
				break
			}
			if again, err := history.ParseValue(history.Array(v).Text()); err != nil || again != history.Array(v) {
				t.Fatalf("%s nested %d times: %v", nest[0], n, err)
			}
			deepest = nest[0]
		}
		if deepest == "" {
			t.Errorf("%s was never read", nest[0])
		}
	}
}

// FuzzEDN: whatever is read survives its canonical text, and nothing panics.
func FuzzEDN(f *testing.F) {
	for _, c := range ednValues {
		f.Add(c.edn)
	}
	for _, c := range ednMistakes[:len(ednMistakes)-2] {
		f.Add(c.edn)
	}
	f.Add(`{:linear {:valid? false}, :valid? :unknown}`)
	f.Add(`{:a #x {:valid? nil}, :valid? 1/2}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseEDN(text)
		if err != nil {
			return
		}
		var findings []string
		deepResults(v, "", &findings) // of results.edn, which must never fail
		if again, err := history.ParseValue(v.Text()); err != nil || again != v {
			t.Errorf("%q: %s reads back as %s, %v", text, v.Text(), again.Text(), err)
		}
	})
}

// FuzzLoad mixes the options; without one for the format, the content tells it.
func FuzzLoad(f *testing.F) {
	for _, c := range loads {
		f.Add([]byte(c.text), uint8(0))
	}
	for _, c := range foreignLoads {
		f.Add([]byte(c.text), uint8(0))
	}
	for _, c := range refusals {
		f.Add([]byte(c.text), uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, choice uint8) {
		o := Options{}
		if n := int(choice>>2) % (len(formats()) + 1); n > 0 {
			o.Format = formats()[n-1].Name
		}
		o.Strict = choice&1 == 1
		if choice&2 == 2 {
			o.Keyed = "yes"
		}
		detour(t, string(data), o)
	})
}
