package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// blocking is an input that interrupts the program and then never ends.
type blocking struct{ started bool }

func (b *blocking) Read(p []byte) (int, error) {
	if !b.started {
		b.started = true
		return copy(p, `{"pinyon":"history","version":1}`+"\n"), nil
	}
	syscall.Kill(os.Getpid(), syscall.SIGINT)
	select {}
}

// TestInterruptedConvertLeavesNothing: an interrupt while the input is read, or
// while the output is written, ends convert at once, with the status of an
// interrupted check, and what -o names is as it was before.
func TestInterruptedConvertLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old.jsonl"), filepath.Join(dir, "fresh.jsonl")
	if err := os.WriteFile(old, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{old, fresh} {
		var stdout, stderr bytes.Buffer
		start := time.Now()
		code := run([]string{"convert", "-", "-o", out}, &blocking{}, &stdout, &stderr)
		if code != exitUnknown || stderr.String() != "pinyon: -: interrupted while it was read\n" || time.Since(start) > 5*time.Second {
			t.Errorf("exit %d after %v: %s", code, time.Since(start), stderr.String())
		}
		ctx, cancel := context.WithCancel(context.Background())
		err := (&app{}).writeTo(ctx, out, func(w io.Writer) error {
			io.WriteString(w, strings.Repeat("half\n", 100_000))
			cancel()
			select {}
		})
		if codeOf(err) != exitUnknown || err.Error() != "interrupted: "+out+" was not written" {
			t.Errorf("%v", err)
		}
	}
	wantFiles(t, dir, map[string]string{"old.jsonl": "before"})
}

// TestConvertReplacesWhenComplete: an error while writing leaves what was there,
// and success replaces it under its own mode, also behind a link.
func TestConvertReplacesWhenComplete(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("before"), 0o640), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space")
	a, ctx := &app{}, context.Background()
	if err := a.writeTo(ctx, link, func(io.Writer) error { return full }); err != full {
		t.Errorf("%v", err)
	}
	wantFiles(t, dir, map[string]string{"file": "before", "link": "before"})
	if err := a.writeTo(ctx, link, func(w io.Writer) error { _, err := io.WriteString(w, "after"); return err }); err != nil {
		t.Errorf("%v", err)
	}
	wantFiles(t, dir, map[string]string{"file": "after", "link": "after"})
	info, err := os.Lstat(link)
	if mode, _ := os.Stat(file); err != nil || info.Mode()&os.ModeSymlink == 0 || mode.Mode().Perm() != 0o640 {
		t.Errorf("%v, mode %v", info.Mode(), mode.Mode())
	}
	if err := a.writeTo(ctx, os.DevNull, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced", os.DevNull)
	}
}

// wantFiles checks that a folder holds these files and nothing else.
func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want) {
		t.Errorf("%v in the folder, %v", entries, err)
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, text)
		}
	}
}
