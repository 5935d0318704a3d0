package importers

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pinyon/engine/history"
)

// manifestRow is what the manifest of the recorded histories says of a file.
type manifestRow struct{ file, exit, ops, info, options, quirks string }

// corpusDir is where the recorded histories are, if they are anywhere.
func corpusDir() string {
	if dir := os.Getenv("PINYON_HISTORIES"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "..", "shared", "histories")
}

// corpus returns the folder of recorded histories and its manifest, or skips.
func corpus(t testing.TB) (string, []manifestRow) {
	dir := corpusDir()
	rows, err := manifest(dir)
	if err != nil {
		t.Skipf("no recorded histories: set PINYON_HISTORIES to a folder with a MANIFEST.tsv (%v)", err)
	}
	return dir, rows
}

// manifest reads the manifest of the recorded histories.
func manifest(dir string) (rows []manifestRow, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		c := strings.Split(line, "\t")
		if !seen[c[0]] { // a file stands once for each way to check it
			rows = append(rows, manifestRow{c[0], c[2], c[7], c[8], c[10], c[11]})
		}
		seen[c[0]] = true
	}
	return rows, nil
}

// TestCorpus loads every recorded history and compares it with the manifest.
func TestCorpus(t *testing.T) {
	dir, rows := corpus(t)
	formats, refused, excepted := map[string]int{}, 0, 0
	for _, row := range rows {
		h, r, err := Load(filepath.Join(dir, row.file), Options{})
		if err == nil {
			err = history.Validate(h)
		}
		if row.exit == "65" {
			var malformed *history.Error
			if !errors.As(err, &malformed) {
				t.Errorf("%s: want a *history.Error, got %v", row.file, err)
			}
			refused++
			continue
		}
		if exceptions[row.file] != "" && (err != nil || r.Info == 1) {
			excepted++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", row.file, err)
			continue
		}
		formats[r.Format]++
		checkRow(t, row, h, r)
	}
	if excepted != len(exceptions) {
		t.Errorf("%d exceptions came up, %d are known", excepted, len(exceptions))
	}
	t.Logf("loaded %v, refused %d", formats, refused)
}

var backwards = regexp.MustCompile(`time goes back (\d+)x`)

// exceptions are the rows where the rules of this package and the manifest's
// differ, each with the reason.
var exceptions = map[string]string{
	"elle-cli/jepsen/set_full.json":       "the read at its end is invoked with [0 null] and completed with the bare set: a lost key is an error",
	"redis-model/blog-counterexample.edn": "its last write has no completion, which makes it info; the manifest counts :info lines of clients only",
}

func checkRow(t *testing.T, row manifestRow, h *history.Raw, r *Report) {
	t.Helper()
	if want, err := strconv.Atoi(row.ops); err == nil && want != len(h.Ops) {
		t.Errorf("%s: %d operations, the manifest says %d (ok %d fail %d info %d)", row.file, len(h.Ops), want, r.OK, r.Fail, r.Info)
	}
	if want, err := strconv.Atoi(row.info); err == nil && want != r.Info {
		t.Errorf("%s: %d without an answer, the manifest says %d (ok %d fail %d)", row.file, r.Info, want, r.OK, r.Fail)
	}
	if want := strings.Contains(row.options, "keyed=[k v]"); want != r.Keyed {
		t.Errorf("%s: keyed %v, want %v", row.file, r.Keyed, want)
	}
	want := 0
	if m := backwards.FindStringSubmatch(row.quirks); m != nil {
		want, _ = strconv.Atoi(m[1])
	}
	if want != r.Inversions {
		t.Errorf("%s: time runs backwards %d times, the manifest says %d", row.file, r.Inversions, want)
	}
}
