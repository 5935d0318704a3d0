package importers

import (
	"bytes"
	"strings"
	"testing"

	"pinyon/engine/history"
)

// One fuzz target for each format. Whatever the text: no panic, and what loads
// and is valid is the same history after a detour through EDN.

func FuzzNative(f *testing.F)         { fuzzFormat(f, "native") }
func FuzzJepsenEDN(f *testing.F)      { fuzzFormat(f, "jepsen-edn") }
func FuzzKnossos(f *testing.F)        { fuzzFormat(f, "knossos") }
func FuzzJepsenText(f *testing.F)     { fuzzFormat(f, "jepsen-txt") }
func FuzzJepsenLog(f *testing.F)      { fuzzFormat(f, "jepsen-log") }
func FuzzElleJSON(f *testing.F)       { fuzzFormat(f, "elle-json") }
func FuzzEtcdLog(f *testing.F)        { fuzzFormat(f, "etcd-log") }
func FuzzPorcupineKV(f *testing.F)    { fuzzFormat(f, "porcupine-kv") }
func FuzzSplitbrain(f *testing.F)     { fuzzFormat(f, "splitbrain") }
func FuzzViolin(f *testing.F)         { fuzzFormat(f, "violin") }
func FuzzObjectLog(f *testing.F)      { fuzzFormat(f, "object-log") }
func FuzzEtcdReport(f *testing.F)     { fuzzFormat(f, "etcd-report") }
func FuzzChaos(f *testing.F)          { fuzzFormat(f, "chaos") }
func FuzzS2(f *testing.F)             { fuzzFormat(f, "s2") }
func FuzzTurnpike(f *testing.F)       { fuzzFormat(f, "turnpike") }
func FuzzTurnpikeEvents(f *testing.F) { fuzzFormat(f, "turnpike-events") }

// FuzzDetect leaves the format to the content.
func FuzzDetect(f *testing.F) { fuzzFormat(f, "") }

// FuzzTable mixes mappings and tables.
func FuzzTable(f *testing.F) {
	for _, c := range tableLoads {
		f.Add(c.mapping, c.text)
	}
	for _, c := range tableRefusals {
		f.Add(c.mapping, c.text)
	}
	f.Fuzz(func(t *testing.T, mapping, text string) { detour(t, text, Options{Map: mapping}) })
}

// FuzzResults reads the findings of another tool, which must never fail.
func FuzzResults(f *testing.F) {
	f.Add(`{:linear {:valid? false}, :valid? :unknown}`)
	f.Add(`{:a #x {:valid? nil}, :valid? 1/2}`)
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := parseEDN(text); err == nil {
			var parts []string
			deepResults(v, "", &parts)
		}
	})
}

func fuzzFormat(f *testing.F, format string) {
	for _, c := range loads {
		if format == "" || c.format == format {
			f.Add(c.text)
		}
	}
	for _, c := range foreignLoads {
		if format == "" || c.format == format {
			f.Add(c.text)
		}
	}
	for _, c := range refusals {
		f.Add(c.text)
	}
	for _, c := range foreignRefusals {
		f.Add(c.text)
	}
	if format == "native" {
		f.Add(lines(`{"pinyon":"history","version":1}`, `{"process":0,"f":"r","invoke":1,"return":2,"outcome":"ok","out":{"$kw":"a b"}}`, `{"note":"n","from":-1}`))
	}
	f.Fuzz(func(t *testing.T, text string) { detour(t, text, Options{Format: format}) })
}

// detour loads a text and, if it is a valid history, writes it as EDN and back.
func detour(t *testing.T, text string, o Options) {
	h, r, err := load(text, o)
	if err != nil {
		return
	}
	r.Lines()
	if history.Validate(h) != nil {
		return
	}
	if len(h.Ops) == 0 {
		h.Order = history.ByTime
	}
	var want, got, edn bytes.Buffer
	if history.WriteNative(&want, h) != nil {
		return
	}
	a, err := history.ReadNative("", bytes.NewReader(want.Bytes()))
	if err != nil || history.Validate(a) != nil {
		return // a name or a time that the native format cannot hold
	}
	if err := WriteEDN(&edn, a); err != nil {
		if strings.Contains(err.Error(), "without a name") {
			return
		}
		t.Fatal(err)
	}
	b, _, err := load(edn.String(), Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, edn.String())
	}
	if err := history.WriteNative(&got, b); err != nil {
		t.Fatal(err)
	}
	if want.String() != got.String() {
		t.Fatalf("through EDN:\n%s\nbecame:\n%s\nby way of:\n%s", want.String(), got.String(), edn.String())
	}
}
