package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const stepModel = `model: step
version: 1
initial: 0
operations:
  - f: add
    next: state + input
  - f: set
    next: input
  - f: read
    output: state
`

// stepHistories writes a model and histories of it, and returns their folder.
func stepHistories(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"step.yaml": stepModel,
		"good.jsonl": `{"pinyon":"history","version":1,"model":"step.yaml"}
{"process":0,"f":"add","in":2,"invoke":0,"return":1,"outcome":"ok"}
{"process":0,"f":"read","invoke":2,"return":3,"outcome":"ok","out":2}
`,
		"kinds.jsonl": `{"pinyon":"history","version":1,"model":"step.yaml"}
{"process":0,"f":"set","in":null,"invoke":0,"return":1,"outcome":"ok"}
{"process":0,"f":"add","in":2,"invoke":2,"return":3,"outcome":"ok"}
{"process":0,"f":"read","invoke":4,"return":5,"outcome":"ok","out":2}
`,
		"above.jsonl": `{"pinyon":"history","version":1,"model":"../step.yaml"}
{"process":0,"f":"read","invoke":2,"return":3,"outcome":"ok","out":0}
`,
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if name == "above.jsonl" {
			name = "sub/" + name
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestModelFiles: a history may name the model file that stands beside it and
// no other, a proof holds the model's text, and a value of the wrong kind is no
// verdict. testdata/script/model-files.txtar shows the words.
func TestModelFiles(t *testing.T) {
	dir := stepHistories(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	expect := func(want int, args ...string) {
		t.Helper()
		if code, stdout, stderr := call(args...); code != want || want >= exitUsage && stdout != "" {
			t.Errorf("pinyon %s: exit status %d, want %d\n%s%s", strings.Join(args, " "), code, want, stdout, stderr)
		}
	}
	expect(exitConsistent, "check", at("good.jsonl"), "--proof", at("proof.json"))
	expect(exitMalformed, "check", at("kinds.jsonl"))
	expect(exitMalformed, "check", at("sub/above.jsonl"))
	expect(exitConsistent, "check", at("sub/above.jsonl"), "--model", at("step.yaml"))
	if err := os.Remove(at("step.yaml")); err != nil {
		t.Fatal(err)
	}
	expect(exitNoInput, "check", at("good.jsonl"))
	expect(exitConsistent, "verify", at("good.jsonl"), at("proof.json"))
}
