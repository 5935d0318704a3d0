package main

import (
	"compress/gzip"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pinyon": main, "squatter": squatter})
}

// TestScripts runs the scripts of testdata/script against the real main. Each
// pins the exit status, stdout and stderr; -update rewrites the latter two.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			root, err := filepath.Abs(filepath.Join("..", ".."))
			e.Setenv("ROOT", root)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "gzip": gzipFile, "replace": replace, "dropstats": dropStats,
		},
	})
}

// exits runs a command and pins its exit status: exits 65 pinyon check x.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// gzipFile packs FROM as TO.
func gzipFile(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	defer file.Close()
	z := gzip.NewWriter(file)
	_, err = z.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(z.Close())
}

// replace changes the first OLD of FILE to NEW, and fails where there is none.
func replace(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[2])
	if !strings.Contains(text, args[0]) {
		ts.Fatalf("%s does not hold %q", args[2], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Replace(text, args[0], args[1], 1)), 0o666))
}

// dropStats copies the JSON document FROM to TO without its "stats" objects.
func dropStats(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	for {
		at := strings.Index(text, ",\n      \"stats\": {")
		if at < 0 {
			break
		}
		end := at + strings.Index(text[at:], "\n      }") + len("\n      }")
		text = text[:at] + text[end:]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}
