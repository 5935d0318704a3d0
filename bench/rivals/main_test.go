package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pinyon/bench/gen"
	"pinyon/engine/history"
)

// file writes the history of a shape.
func file(t *testing.T, s gen.Shape) string {
	t.Helper()
	h, err := s.History()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "history.jsonl")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := history.WriteNative(out, h); err != nil {
		t.Fatal(err)
	}
	return path
}

// Histories whose verdict is known by their making get it.
func TestVerdicts(t *testing.T) {
	for _, model := range []string{"register", "cas-register", "kv", "queue", "stack", "counter", "log"} {
		for _, stale := range []bool{false, true} {
			for seed := range uint64(10) {
				s := gen.Shape{Model: model, Clients: 4, Ops: 80, Reads: .4, Crash: .02, Cas: .4, FailedCas: .4, Full: .1, Ties: seed%2 == 0, Stale: stale, Seed: seed}
				if model == "kv" {
					s.Keys, s.Values = 3, 4
				}
				var out bytes.Buffer
				code, err := run([]string{file(t, s), "--model", model, "--timeout", "20s"}, &out)
				if err != nil {
					t.Fatalf("%+v: %v", s, err)
				}
				var r result
				if err := json.Unmarshal(out.Bytes(), &r); err != nil {
					t.Fatal(err)
				}
				want := "consistent"
				if stale {
					want = "violation"
				}
				if r.Verdict != want || code != statuses[want] || r.CPU <= 0 {
					t.Errorf("%+v: exit status %d: %s", s, code, out.String())
				}
			}
		}
	}
}

func TestBursts(t *testing.T) {
	for _, look := range []string{"first", "initial", "two", "two-during", "full"} {
		s := gen.Shape{Model: "register", Burst: 6, Look: look}
		if look == "full" {
			s.Model = "log"
		}
		var out bytes.Buffer
		code, err := run([]string{file(t, s)}, &out)
		if err != nil || (code == 1) != s.Impossible() {
			t.Errorf("%+v: exit status %d, %v: %s", s, code, err, out.String())
		}
	}
}

// A search that takes too long is unknown.
func TestTimeout(t *testing.T) {
	var out bytes.Buffer
	code, err := run([]string{file(t, gen.Shape{Model: "register", Burst: 40, Look: "two"}), "--timeout", "100ms"}, &out)
	if err != nil || code != 2 {
		t.Errorf("exit status %d, %v: %s", code, err, out.String())
	}
}

// Texts that are appended to.
func TestTexts(t *testing.T) {
	for answer, want := range map[string]int{"ab": 0, "ba": 1, "": 1} {
		text := `{"pinyon":"history","version":1,"model":"kv","initial":""}
{"process":0,"f":"put","key":"x","in":"a","invoke":0,"return":1,"outcome":"ok"}
{"process":0,"f":"append","key":"x","in":"b","invoke":2,"return":3,"outcome":"ok"}
{"process":0,"f":"get","key":"y","invoke":4,"return":5,"outcome":"ok","out":""}
{"process":0,"f":"get","key":"x","invoke":6,"return":7,"outcome":"ok","out":"` + answer + `"}
`
		path := filepath.Join(t.TempDir(), "texts.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, err := run([]string{path}, &bytes.Buffer{}); code != want || err != nil {
			t.Errorf("%q: exit status %d, %v; want %d", answer, code, err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	path := file(t, gen.Shape{Model: "set", Clients: 2, Ops: 10})
	for _, c := range []struct {
		args []string
		want int
	}{
		{nil, 64}, {[]string{path, path}, 64}, {[]string{"--no-such"}, 64},
		{[]string{path}, 65}, {[]string{path + ".missing"}, 65},
	} {
		if code, err := run(c.args, &bytes.Buffer{}); code != c.want || err == nil {
			t.Errorf("%s: exit status %d, %v; want %d", fmt.Sprint(c.args), code, err, c.want)
		}
	}
}
