package importers

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pinyon/engine/history"
)

// One fuzz target for each format; .ci/run runs them all. Whatever the text:
//
//   - nothing panics, and the same text gives the same twice;
//   - a refusal is a *history.Error that names the file and, where the text has
//     lines, the line;
//   - what loads and is valid is written in the native format and read again;
//   - and it is the same history after a detour through EDN.

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

// FuzzTable mixes mappings and tables.
func FuzzTable(f *testing.F) {
	for _, c := range tableLoads {
		f.Add(c.mapping, c.text)
	}
	for _, c := range tableRefusals {
		f.Add(c.mapping, c.text)
	}
	f.Fuzz(func(t *testing.T, mapping, text string) {
		if _, err := ParseMapping(mapping); mapping != "" && err != nil {
			return
		}
		detour(t, text, Options{Map: mapping})
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
	h, ok := loadTwice(t, text, o)
	if !ok || history.Validate(h) != nil {
		return
	}
	if len(h.Ops) == 0 {
		h.Order = history.ByTime
	}
	var want, got, edn bytes.Buffer
	if err := history.WriteNative(&want, h); err != nil {
		t.Fatal(err)
	}
	a, err := history.ReadNative("", bytes.NewReader(want.Bytes()))
	if err == nil {
		err = history.Validate(a)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, want.String())
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

// loadTwice loads a text; ok is false where it is refused, as it must be.
func loadTwice(t *testing.T, text string, o Options) (h *history.Raw, ok bool) {
	h, r, err := load(text, o)
	again, s, errAgain := load(text, o)
	if (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
		t.Fatalf("%v, and then %v", err, errAgain)
	}
	if err != nil {
		wantPlace(t, text, err)
		return nil, false
	}
	if d := cmp.Diff(r.Lines(), s.Lines()); d != "" {
		t.Fatalf("another report:\n%s", d)
	}
	if !reflect.DeepEqual(h, again) {
		t.Fatal("another history")
	}
	if len(h.Ops) != r.OK+r.Fail+r.Info {
		t.Fatalf("%d operations, %d reported", len(h.Ops), r.OK+r.Fail+r.Info)
	}
	return h, true
}

// ofTheWhole are the beginnings of messages about a file as a whole.
var ofTheWhole = []string{"a binary", "damaged gzip file", "unpacks to more", "the format "}

// wantPlace checks that a refusal names the file, and a line that it has.
func wantPlace(t *testing.T, text string, err error) {
	var e *history.Error
	if !errors.As(err, &e) || e.Path != "-" || e.Msg == "" {
		t.Fatalf("not a *history.Error that names the file: %v", err)
	}
	if strings.HasPrefix(text, "\x1f\x8b") {
		return // its lines are inside
	}
	whole := slices.ContainsFunc(ofTheWhole, func(s string) bool { return strings.HasPrefix(e.Msg, s) })
	if most := strings.Count(text, "\n") + 1; !whole && (e.Line < 1 || e.Line > most) {
		t.Fatalf("line %d of %d: %v", e.Line, most, err)
	}
}
