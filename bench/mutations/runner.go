package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// mutation switches off one rule.
type mutation struct {
	Name     string   // the rule, a sentence
	File     string   // below the module's root
	Old, New string   // Old stands exactly once in File and becomes New
	Package  string   // of the test
	Test     string   // the test that must fail
	Args     []string // for the test binary
	Hang     bool     // without the rule the test never ends: that is a kill
}

// runner runs mutations.
type runner struct {
	root    string
	out     io.Writer
	workers int
	timeout time.Duration // of one test
	mu      sync.Mutex    // guards out
}

// all runs the named tests unmutated and then every mutation. The error says
// that something is wrong with the tests or with the table.
func (r *runner) all(ctx context.Context, ms []mutation) error {
	start := time.Now()
	if err := r.baseline(ctx, ms); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "mutations")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	next := make(chan int)
	failed := 0
	var wg sync.WaitGroup
	for range r.workers {
		wg.Go(func() {
			for i := range next {
				dir := filepath.Join(tmp, fmt.Sprint(i))
				began := time.Now()
				outcome, ok := r.mutate(ctx, dir, ms[i])
				r.mu.Lock()
				if !ok {
					failed++
				}
				fmt.Fprintf(r.out, "%-72s %s in ", ms[i].Name, outcome)
				seconds(r.out, time.Since(began))
				fmt.Fprintln(r.out)
				r.mu.Unlock()
			}
		})
	}
	for i := range ms {
		next <- i
	}
	close(next)
	wg.Wait()
	fmt.Fprintf(r.out, "%d passed, %d failed, in ", len(ms)-failed, failed)
	seconds(r.out, time.Since(start))
	fmt.Fprintln(r.out)
	if failed > 0 {
		return fmt.Errorf("%d of %d mutations were not killed", failed, len(ms))
	}
	return nil
}

// baseline requires that every named test passes as the code is: tests of one
// package with the same arguments run together.
func (r *runner) baseline(ctx context.Context, ms []mutation) error {
	type group struct{ pkg, args string }
	tests := map[group][]string{}
	var order []group
	for _, m := range ms {
		g := group{m.Package, strings.Join(m.Args, " ")}
		if tests[g] == nil {
			order = append(order, g)
		}
		if !slices.Contains(tests[g], m.Test) {
			tests[g] = append(tests[g], m.Test)
		}
	}
	var bad []error
	for _, g := range order {
		text, err := r.test(ctx, "", g.pkg, strings.Join(tests[g], "|"), strings.Fields(g.args))
		for _, name := range tests[g] {
			if err == nil && !strings.Contains(text, "--- PASS: "+name+" ") {
				err = errors.New("it was skipped or does not exist")
			}
			if err != nil {
				bad = append(bad, fmt.Errorf("%s in %s does not pass unmutated: %w\n%s", name, g.pkg, err, text))
			}
		}
	}
	return errors.Join(bad...)
}

// mutate applies one mutation and says what came of it.
func (r *runner) mutate(ctx context.Context, dir string, m mutation) (outcome string, killed bool) {
	overlay, err := r.overlay(dir, m)
	if err != nil {
		return "STALE: " + err.Error(), false
	}
	text, err := r.test(ctx, overlay, m.Package, m.Test, m.Args)
	if err == nil && ctx.Err() == nil {
		// A test of processes and sockets depends on timing: a mistake that got
		// away once is tried once more.
		text, err = r.test(ctx, overlay, m.Package, m.Test, m.Args)
	}
	switch {
	case ctx.Err() != nil:
		return "interrupted", false
	case err == nil:
		return "SURVIVED " + m.Test, false
	case strings.Contains(text, "[build failed]") || strings.Contains(text, "[setup failed]"):
		return "DOES NOT COMPILE: " + text, false
	case strings.Contains(text, "panic: test timed out"):
		if m.Hang {
			return "killed by " + m.Test + ", which hung,", true
		}
		return "TIMED OUT " + m.Test, false
	case strings.Contains(text, "--- FAIL: "+m.Test) || strings.Contains(text, "panic: ") || strings.Contains(text, "fatal error: "):
		return "killed by " + m.Test, true
	}
	return "FAILED OTHERWISE: " + text, false
}

// overlay writes the mutated file and the overlay that puts it in place.
func (r *runner) overlay(dir string, m mutation) (path string, err error) {
	file := filepath.Join(r.root, filepath.FromSlash(m.File))
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if n := bytes.Count(text, []byte(m.Old)); n != 1 {
		return "", fmt.Errorf("%q stands %d times in %s", m.Old, n, m.File)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	mutated := filepath.Join(dir, filepath.Base(m.File))
	if err := os.WriteFile(mutated, bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), 0o644); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutated}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o644)
}

// test runs the tests of one package whose names the pattern lists, and
// returns what they print.
func (r *runner) test(ctx context.Context, overlay, pkg, pattern string, args []string) (string, error) {
	flags := []string{"test", "-count=1", "-vet=off", "-v", "-ldflags=-s -w", "-timeout", r.timeout.String(), "-run", "^(" + pattern + ")$"}
	if overlay != "" {
		flags = append(flags, "-overlay", overlay)
	}
	flags = append(append(flags, pkg, "-args"), args...)
	cmd := exec.CommandContext(ctx, "go", flags...)
	cmd.Dir = r.root
	text, err := cmd.CombinedOutput()
	return string(text), err
}
