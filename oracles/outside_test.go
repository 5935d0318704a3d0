package oracles

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A program outside this module defines its own model, oracle and level in
// under 80 lines of code, is built without a network, and checks files.
func TestProgramOutsideThisModule(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command:", err)
	}
	const sources = "../testdata/oracles-outside"
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copied := func(from, to string) []byte {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
			t.Fatal(err)
		}
		return text
	}
	program := copied(filepath.Join(sources, "main.go"), "main.go")
	if lines := codeLines(program); lines >= 80 {
		t.Errorf("the program has %d lines of code, want under 80", lines)
	}
	copied("../go.sum", "go.sum")
	mod := fmt.Sprintf("module outside\n\ngo 1.26\n\nrequire pinyon v0.0.0\n\nreplace pinyon => %s\n", root)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "outside", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for file, want := range map[string]string{"good.jsonl": "consistent tick-quiet\n", "bad.jsonl": "violation tick-quiet\n"} {
		path, _ := filepath.Abs(filepath.Join(sources, file))
		out, err := exec.Command(filepath.Join(dir, "outside"), path).CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s: %q %v, want %q", file, out, err, want)
		}
	}
}

// codeLines counts the lines that are neither empty nor a comment.
func codeLines(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			n++
		}
	}
	return n
}
