package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// call runs the program in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// TestMalformedFilesGetNoVerdict: every malformed file is refused with 65, a
// message that names the file, a line and a reason, and nothing on stdout.
func TestMalformedFilesGetNoVerdict(t *testing.T) {
	files, err := filepath.Glob("../../testdata/malformed/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := filepath.Glob("../../testdata/foreign/malformed/*")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, foreign...)
	if len(files) < 20 {
		t.Fatalf("%d malformed files, want at least 20", len(files))
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			args := []string{"check", path, "--model", modelFor(path)}
			if strings.HasPrefix(filepath.Base(path), "etcd-") {
				args = append(args, "--format", "etcd-log") // its mistake makes it a common log
			}
			code, stdout, stderr := call(args...)
			if code != exitMalformed {
				t.Errorf("exit status %d, want %d", code, exitMalformed)
			}
			if stdout != "" {
				t.Errorf("stdout holds %q", stdout)
			}
			want := `^pinyon: (op \d+ \()?` + regexp.QuoteMeta(path) + `:\d+(:\d+)?\)?: .{10,}\n$`
			if !regexp.MustCompile(want).MatchString(stderr) {
				t.Errorf("stderr %q does not match %s", stderr, want)
			}
		})
	}
}

// modelFor names the model under which a malformed file is read.
func modelFor(path string) string {
	switch name := filepath.Base(path); {
	case strings.Contains(name, "kv"):
		return "kv"
	case strings.Contains(name, "queue"):
		return "queue"
	case strings.Contains(name, "stack"):
		return "stack"
	}
	return "cas-register"
}

// TestLevelsDocument: docs/LEVELS.md is what the command prints.
func TestLevelsDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/LEVELS.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, stdout, _ := call("levels", "--markdown"); stdout != string(text) {
		t.Error("docs/LEVELS.md differs; write it with: go run ./cmd/pinyon levels --markdown > docs/LEVELS.md")
	}
}

// TestExamples: the histories made by hand have the verdicts that their names
// promise.
func TestExamples(t *testing.T) {
	for name, want := range map[string]int{"two-keys": exitConsistent, "stale-read": exitViolation, "hidden-by-time": exitViolation} {
		if code, _, stderr := call("check", filepath.Join("../../testdata/examples", name+".jsonl")); code != want {
			t.Errorf("%s: exit status %d, want %d: %s", name, code, want, stderr)
		}
	}
}

// TestNoPanicEscapes: a panic is exit status 70 and a message.
func TestNoPanicEscapes(t *testing.T) {
	var stderr bytes.Buffer
	if code := run([]string{"check", "-"}, panicking{}, nil, &stderr); code != exitFailure {
		t.Errorf("exit status %d, want %d", code, exitFailure)
	}
	if got := stderr.String(); got != "pinyon: -: reading failed: no input today\n" {
		t.Errorf("stderr %q", got)
	}
}

// panicking is an input that panics.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("no input today") }

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1024B": 1024, "512MiB": 512 << 20, "2GiB": 2 << 30, "100MB": 100e6, "7 kB": 7000, "1B": 1,
		"": 0, "512": 0, "MiB": 0, "-1MiB": 0, "0": 0, "1.5GiB": 0, "9223372036854775807KiB": 0, "12mib": 0,
	} {
		if got, err := parseSize(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("parseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

// TestWorse: statuses outrank one another as `pinyon help exit-codes` says.
func TestWorse(t *testing.T) {
	for i, a := range outranks {
		for _, b := range outranks[i:] {
			if worse(a, b) != a || worse(b, a) != a {
				t.Errorf("%d and %d: got %d and %d, want %d", a, b, worse(a, b), worse(b, a), a)
			}
		}
	}
}

// TestInterruptReportsWhatIsKnown: the first interrupt ends the check, not the
// program: the verdict is unknown.
func TestInterruptReportsWhatIsKnown(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"pinyon":"history","version":1,"model":"counter"}` + "\n")
	for i := range 40 { // every sum of them differs, so no state is met twice
		fmt.Fprintf(&text, `{"process":%d,"f":"add","in":%d,"invoke":10,"return":99,"outcome":"ok"}`+"\n", i, int64(1)<<i)
	}
	text.WriteString(`{"process":40,"f":"read","invoke":10,"return":99,"outcome":"ok","out":-1}` + "\n")
	in := io.MultiReader(strings.NewReader(text.String()), interrupting{})
	var stdout, stderr bytes.Buffer
	if code := run([]string{"check", "-"}, in, &stdout, &stderr); code != exitUnknown {
		t.Errorf("exit status %d, want %d: %s", code, exitUnknown, stderr.String())
	}
	if last := lastLine(stdout.String()); !regexp.MustCompile(`^unknown: cancelled after \d+ states$`).MatchString(last) {
		t.Errorf("last line %q", last)
	}
}

// interrupting is the end of an input, shortly after which the user interrupts.
type interrupting struct{}

func (interrupting) Read([]byte) (int, error) {
	time.AfterFunc(200*time.Millisecond, func() { syscall.Kill(os.Getpid(), syscall.SIGINT) })
	return 0, io.EOF
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[len(lines)-1]
}
