package pinyon_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports says which packages of this module each package may import
// directly, outside its tests (a test may import whatever compiles). The rows
// are a strict order from bottom to top: a package only ever imports rows above
// its own line. What the rows keep apart, and why, is in docs/ARCHITECTURE.md.
var imports = []struct {
	pkg string
	may []string
}{
	{"engine/history/suggest", nil},
	{"engine/history", []string{"engine/history/suggest"}},
	{"engine/history/strictyaml", []string{"engine/history", "engine/history/suggest"}},
	{"engine/history/importers", []string{"engine/history", "engine/history/suggest"}},
	{"oracles/rule", []string{"engine/history", "engine/history/strictyaml", "engine/history/suggest"}},
	{"faultnet", nil},
	{"engine/order", []string{"engine/history"}},
	{"engine/spec", []string{"engine/history"}},
	{"engine/verify", []string{"engine/history", "engine/spec"}},
	{"engine/brute", []string{"engine/history", "engine/spec", "engine/verify"}},
	{"engine/brute/histgen", []string{"engine/history", "engine/spec"}},
	{"engine/paths", []string{"engine/history", "engine/order", "engine/spec"}},
	{"engine", []string{"engine/history", "engine/order", "engine/paths", "engine/spec"}},
	{"engine/views", []string{"engine", "engine/history", "engine/order", "engine/spec"}},
	{"models", []string{"engine/history", "engine/history/strictyaml", "engine/history/suggest", "engine/spec", "oracles/rule"}},
	{"oracles", []string{"engine/history", "engine/history/strictyaml", "engine/order", "oracles/rule"}},
	{"consistency", []string{"engine", "engine/brute", "engine/history", "engine/history/strictyaml", "engine/history/suggest", "engine/order", "engine/spec", "engine/verify", "engine/views", "oracles/rule"}},
	{"consistency/report", []string{"consistency", "engine/history", "engine/order", "engine/spec"}},
	{"bench/gen", []string{"engine/history"}},
	{"kvstores", nil},
	{"harness", []string{"consistency", "engine/history", "engine/history/importers", "engine/order", "engine/spec", "faultnet", "kvstores", "models", "oracles"}},
	{"cmd/pinyon", []string{"bench/gen", "consistency", "consistency/report", "engine/brute", "engine/history", "engine/history/importers", "engine/history/strictyaml", "engine/history/suggest", "engine/order", "engine/spec", "engine/verify", "engine/views", "faultnet", "harness", "kvstores", "models", "oracles"}},
	{"bench/mutations", nil},
	{"bench/phenomena", nil},
}

// external says which packages may import a module from outside, outside
// their tests.
var external = map[string][]string{
	"github.com/bits-and-blooms/bitset": {"engine", "engine/order"},
	"github.com/spf13/cobra":            {"cmd/pinyon"},
	"github.com/spf13/pflag":            {"cmd/pinyon"},
	"go.etcd.io/raft/v3":                {"kvstores"},
	"go.etcd.io/raft/v3/raftpb":         {"kvstores"},
	"golang.org/x/term":                 {"cmd/pinyon"},
	"google.golang.org/protobuf/proto":  {"kvstores"},
	"gopkg.in/yaml.v3":                  {"engine/history/strictyaml"},
}

// maxLines is the length of the longest function allowed.
const maxLines = 80

// undocumented are the methods that fmt and errors call; their names say all.
var undocumented = []string{"String", "Error", "Unwrap"}

// forbidden must not stand in any tracked file: paths of somebody's machine,
// unfinished work, and notes that no reader of this repository has. The words
// are cut in two so that this file does not hold them.
var forbidden = []*regexp.Regexp{
	regexp.MustCompile(`(^|[^A-Za-z0-9_.-])/(work|tmp|root|home)` + `/`),
	regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`),
	regexp.MustCompile(`\b(DESIGN|STYLE|STORES)` + `\.md`),
	regexp.MustCompile(`\bALGORITHMS` + `\.md`),
	regexp.MustCompile(`\bshared/` + `([a-z]|$)`),
	regexp.MustCompile(`proxy\.` + `golang`),
	regexp.MustCompile(`helper ` + `agent`),
}

// allowed is cut out of a line before the forbidden words are looked for: the
// place where tests look for recorded histories.
var allowed = regexp.MustCompile(`(\.\./)+shared` + `/histories`)

// source is one Go file.
type source struct {
	path, pkg string // slash-separated; pkg is the folder
	test      bool
	text      []byte
	file      *ast.File
}

func TestLint(t *testing.T) {
	fset := token.NewFileSet()
	files := goFiles(t, fset)
	t.Run("imports", func(t *testing.T) { lintImports(t, files) })
	t.Run("table", func(t *testing.T) { lintTable(t, files) })
	t.Run("yaml", func(t *testing.T) { lintYAML(t, files) })
	t.Run("docs", func(t *testing.T) { lintDocs(t, fset, files) })
	t.Run("length", func(t *testing.T) { lintLength(t, fset, files) })
	t.Run("gofmt", func(t *testing.T) { lintFormat(t, files) })
	t.Run("words", lintWords)
}

// goFiles parses every Go file of the module.
func goFiles(t *testing.T, fset *token.FileSet) []source {
	var files []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".":
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if name == "testdata" || name[0] == '.' || name[0] == '_' || nested == nil {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(path)
		pkg := slash[:max(0, strings.LastIndexByte(slash, '/'))]
		files = append(files, source{slash, pkg, strings.HasSuffix(name, "_test.go"), text, f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func lintImports(t *testing.T, files []source) {
	for _, f := range files {
		if f.test {
			continue
		}
		row := slices.IndexFunc(imports, func(r struct {
			pkg string
			may []string
		}) bool {
			return r.pkg == f.pkg
		})
		if row < 0 {
			t.Errorf("%s: package %q is not in the table of imports; say there what it may import", f.path, f.pkg)
			continue
		}
		for _, spec := range f.file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			own, isOwn := strings.CutPrefix(path, "pinyon/")
			first, _, _ := strings.Cut(path, "/")
			switch {
			case isOwn && !slices.Contains(imports[row].may, own):
				t.Errorf("%s: %s may not import %s", f.path, f.pkg, own)
			case !isOwn && strings.Contains(first, ".") && !slices.Contains(external[path], f.pkg):
				t.Errorf("%s: %s may not import the module %s", f.path, f.pkg, path)
			}
		}
	}
}

// lintTable holds the table itself to its promise: every row names a package
// that is there, and may import earlier rows only.
func lintTable(t *testing.T, files []source) {
	there := map[string]bool{"bench/mutations": true} // not every checkout has it
	for _, f := range files {
		there[f.pkg] = true
	}
	seen := map[string]bool{}
	for _, row := range imports {
		if !there[row.pkg] {
			t.Errorf("the table of imports has a row for %q, which is not there", row.pkg)
		}
		for _, p := range row.may {
			if !seen[p] {
				t.Errorf("%s may import %s, which does not stand above it", row.pkg, p)
			}
		}
		seen[row.pkg] = true
	}
}

// lintYAML: one file turns YAML into nodes, so one file knows its traps.
func lintYAML(t *testing.T, files []source) {
	var with []string
	for _, f := range files {
		for _, spec := range f.file.Imports {
			if strings.HasPrefix(spec.Path.Value, `"gopkg.in/yaml`) {
				with = append(with, f.path)
			}
		}
	}
	if len(with) != 1 {
		t.Errorf("yaml is imported by %v, want exactly one file", with)
	}
}

func lintDocs(t *testing.T, fset *token.FileSet, files []source) {
	documented := map[string]bool{}
	for _, f := range files {
		if !f.test {
			documented[f.pkg] = documented[f.pkg] || f.file.Doc != nil
		}
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %s has no doc comment", pkg)
		}
	}
	for _, f := range files {
		if f.test {
			continue
		}
		for _, d := range f.file.Decls {
			for _, name := range bare(d) {
				t.Errorf("%s: exported %s has no doc comment", fset.Position(name.Pos()), name.Name)
			}
		}
	}
}

// bare lists the exported names of a declaration that no comment describes. A
// group of constants or variables may share one.
func bare(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && receiverExported(d) && !slices.Contains(undocumented, d.Name.Name) {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						names = append(names, n)
					}
				}
			}
		}
	}
	return names
}

func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

func lintLength(t *testing.T, fset *token.FileSet, files []source) {
	for _, f := range files {
		for _, d := range f.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxLines {
				t.Errorf("%s: function %s has %d lines, at most %d", fset.Position(fn.Pos()), fn.Name.Name, n, maxLines)
			}
		}
	}
}

func lintFormat(t *testing.T, files []source) {
	for _, f := range files {
		formatted, err := format.Source(f.text)
		if err != nil {
			t.Errorf("%s: %v", f.path, err)
		} else if !bytes.Equal(formatted, f.text) {
			t.Errorf("%s: not formatted; run gofmt -w %s", f.path, f.path)
		}
	}
}

func lintWords(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("git does not list the files here:", err)
	}
	for _, path := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.IndexByte(text, 0) >= 0 {
			continue // deleted but still tracked, or not a text
		}
		if err != nil {
			t.Error(err)
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			line = allowed.ReplaceAllString(line, "")
			for _, re := range forbidden {
				if word := re.FindString(line); word != "" {
					t.Errorf("%s:%d: %q", path, i+1, word)
				}
			}
		}
	}
}
