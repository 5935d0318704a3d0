package pinyon_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/verify"
)

var update = flag.Bool("update", false, "write what commands print into README.md and docs")

// pages are the documents written by hand. What a console block shows is what
// the command prints, and code stands in a file that is compiled or loaded.
var pages = []string{"README.md", "docs/ARCHITECTURE.md", "docs/FORMATS.md", "docs/LABORATORY.md", "docs/LADDER.md", "docs/LEVELS-PER-OPERATION.md", "docs/LIMITS.md", "docs/MODELS.md", "docs/ORACLES.md", "docs/PAPER.md"}

// elsewhere are commands that a console block may show and no test runs here.
var elsewhere = []string{"go test ./...", "go install ./cmd/pinyon"}

// Every command of a console block runs, and what it prints on stdout is what
// the page shows. With -update the page is rewritten.
func TestCommandsOfTheDocs(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh:", err)
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/pinyon").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			text := readFile(t, page)
			run := newShell(t, bin)
			got := blocks("console").ReplaceAllStringFunc(text, func(block string) string {
				return run.console(block)
			})
			if got == text {
				return
			}
			if *update {
				if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%s shows something else than its commands print (go test . -run Docs -update rewrites it):\n%s", page, firstDifference(text, got))
		})
	}
}

// blocks matches the fenced blocks of a language.
func blocks(language string) *regexp.Regexp {
	return regexp.MustCompile("(?ms)^```" + language + "\n.*?^```$")
}

// shell runs the commands of one page in a folder of its own, in which the
// histories of testdata are found.
type shell struct {
	t        *testing.T
	dir, bin string
	status   int // of the last command
}

func newShell(t *testing.T, bin string) *shell {
	dir := t.TempDir()
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(here, filepath.Join(dir, "testdata")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	return &shell{t: t, dir: dir, bin: bin}
}

// console returns the block with the output of its commands in place of the
// lines shown.
func (s *shell) console(block string) string {
	var b strings.Builder
	for line := range strings.Lines(block) {
		switch command, ok := strings.CutPrefix(line, "$ "); {
		case ok:
			b.WriteString(line)
			b.WriteString(s.run(strings.TrimSuffix(command, "\n")))
		case strings.HasPrefix(line, "```"):
			b.WriteString(line)
		}
	}
	return b.String()
}

func (s *shell) run(command string) string {
	if command == "echo $?" {
		return fmt.Sprintln(s.status)
	}
	for _, other := range elsewhere {
		if command == other {
			return ""
		}
	}
	if rest, ok := strings.CutPrefix(command, "go run ./cmd/pinyon "); ok {
		command = "pinyon " + rest
	}
	if !strings.HasPrefix(command, "pinyon ") {
		s.t.Errorf("the command %q is not pinyon's; name it in elsewhere if it is right", command)
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if s.status = 0; errors.As(err, &exit) {
		s.status = exit.ExitCode()
	} else if err != nil {
		s.t.Fatal(err)
	}
	if s.status > 3 {
		s.t.Errorf("%s: exit status %d\n%s", command, s.status, stderr.String())
	}
	return string(out)
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n  page     %s\n  command  %s", i+1, a[i], b[i])
		}
	}
	return "one of them is longer"
}

// The code of the pages is code that is compiled, and the oracles are files
// that a test loads.
func TestCodeOfTheDocs(t *testing.T) {
	sources := map[string][]string{
		"go":   {"example_test.go", "models/example_test.go"},
		"yaml": append(append(glob(t, "testdata/oracles-docs/*.yaml"), glob(t, "testdata/levels/*.yaml")...), glob(t, "testdata/models/*.yaml")...),
		"json": append(glob(t, "testdata/oracles-docs/*.jsonl"), glob(t, "testdata/models/*.jsonl")...),
	}
	for _, page := range pages {
		text := readFile(t, page)
		for language, files := range sources {
			var all string
			for _, f := range files {
				all += unindented(readFile(t, f))
			}
			for _, block := range blocks(language).FindAllString(text, -1) {
				body := strings.TrimSuffix(strings.TrimPrefix(block, "```"+language+"\n"), "```")
				for piece := range strings.SplitSeq(body, "\n\n") {
					if piece = strings.TrimSpace(unindented(piece)); !strings.Contains(all, piece) {
						t.Errorf("%s: this stands in none of %v:\n%s", page, files, piece)
					}
				}
			}
		}
	}
}

// The histories that the pages show are valid.
func TestHistoriesOfTheDocs(t *testing.T) {
	shown := 0
	for _, page := range pages {
		for _, block := range blocks("jsonl").FindAllString(readFile(t, page), -1) {
			shown++
			h, err := history.ReadNative(page, strings.NewReader(strings.TrimSuffix(strings.TrimPrefix(block, "```jsonl\n"), "```")))
			if err == nil {
				err = history.Validate(h)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows a history")
	}
}

// unindented drops the white space at the start of every line.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, " \t"))
	}
	return b.String()
}

// The section on proofs names every field of one.
func TestFieldsOfTheProofInTheDocs(t *testing.T) {
	_, section, _ := strings.Cut(readFile(t, "docs/FORMATS.md"), "## 5. The proof file")
	seen := map[reflect.Type]bool{}
	var visit func(of reflect.Type)
	visit = func(of reflect.Type) {
		for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			if !strings.Contains(section, "`"+name+"`") {
				t.Errorf("docs/FORMATS.md, section 5: nothing says what `%s` of %s is", name, of)
			}
			visit(of.Field(i).Type)
		}
	}
	visit(reflect.TypeFor[verify.File]())
}

// Every file that a page links to is there.
func TestLinksOfTheDocs(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(readFile(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The oracle of docs/ORACLES.md in Go orders the pairs that its file orders.
func TestOracleOfTheDocsIsTheSameInGo(t *testing.T) {
	v := loadSubject(t, "testdata/oracles-docs/tally.jsonl").View
	file := loadOracle(t, "testdata/oracles-docs/tally.yaml")
	inFile, inGo := order.NewRules(v), order.NewRules(v)
	if err := file.Apply(inFile); err != nil {
		t.Fatal(err)
	}
	if err := tally.Apply(inGo); err != nil {
		t.Fatal(err)
	}
	ordered := 0
	for a := range int32(v.N) {
		for b := range int32(v.N) {
			x, y := inFile.Hard[0].Precedes(a, b), inGo.Hard[0].Precedes(a, b)
			if a != b && x != y {
				t.Errorf("operation %d before %d: %v in the file, %v in Go", a, b, x, y)
			}
			if a != b && x {
				ordered++
			}
		}
	}
	if ordered != 3 {
		t.Errorf("%d pairs are ordered, want 3", ordered)
	}
}
