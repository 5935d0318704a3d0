// Command mutations proves the tests: it switches off one rule of the checker
// at a time and requires that the test which guards the rule fails.
//
//	go run ./bench/mutations [-write] [-only REGEXP] [-part I/N] [-list]
//
// A mutation replaces one fragment of one source file, through go test's
// -overlay flag, so the working tree is never touched. It counts as killed when
// the mutated package compiles and its one named test fails; a mutation that
// does not compile, or whose fragment no longer stands exactly once in the
// file, is a failure of the table. Each named test must pass unmutated first.
//
// What it shows: that somebody looks at every rule of the table. What it does
// not: that the table holds every rule.
//
// The table is docs/MUTATIONS.md too, which -write renews; without it a file
// that differs fails the run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// document is where the table is written down, below the module's root.
const document = "docs/MUTATIONS.md"

func main() {
	write := flag.Bool("write", false, "renew "+document+" after the run")
	only := flag.String("only", "", "run only the mutations whose rule, file or test this regular expression matches")
	part := flag.String("part", "1/1", "run every Nth mutation only, from the I-th on: `I/N`")
	list := flag.Bool("list", false, "print the table and run nothing")
	workers := flag.Int("workers", 2, "mutations at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root, err := moduleRoot()
	ms, badOnly := chosen(*only)
	ms, badPart := share(ms, *part)
	if err = errors.Join(err, badOnly, badPart); err == nil {
		err = standing(root, mutations)
	}
	if err == nil {
		r := &runner{root: root, out: os.Stdout, workers: max(1, *workers), timeout: 100 * time.Second}
		err = run(ctx, r, ms, *only == "", *write, *list)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(1)
	}
}

// run does what the flags say; whole is false when only a part of the table
// was chosen, which then says nothing about the document.
func run(ctx context.Context, r *runner, ms []mutation, whole, write, list bool) error {
	if list {
		for _, m := range ms {
			fmt.Fprintf(r.out, "%s\n\t%s, %s in %s\n", m.Name, m.File, m.Test, m.Package)
		}
		return nil
	}
	if len(ms) == 0 {
		return errors.New("no mutation matches")
	}
	err := r.all(ctx, ms)
	path := filepath.Join(r.root, document)
	switch text := markdown(mutations); {
	case write && err == nil:
		return os.WriteFile(path, []byte(text), 0o644)
	case whole:
		if old, readErr := os.ReadFile(path); readErr != nil || string(old) != text {
			err = errors.Join(err, errors.New(document+" is not the table; renew it with: go run ./bench/mutations -write"))
		}
	}
	return err
}

// chosen returns the mutations that -only names.
func chosen(only string) (ms []mutation, err error) {
	re, err := regexp.Compile("(?i)" + only)
	if err != nil {
		return nil, err
	}
	for _, m := range mutations {
		if re.MatchString(m.Name) || re.MatchString(m.File) || re.MatchString(m.Test) {
			ms = append(ms, m)
		}
	}
	return ms, nil
}

// share returns the part of the mutations that I/N names.
func share(ms []mutation, part string) (mine []mutation, err error) {
	var i, n int
	if _, err := fmt.Sscanf(part, "%d/%d", &i, &n); err != nil || n < 1 || i < 1 || i > n {
		return nil, fmt.Errorf("-part %s: expected I/N, I from 1 to N", part)
	}
	for k := i - 1; k < len(ms); k += n {
		mine = append(mine, ms[k])
	}
	return mine, nil
}

// standing checks that the fragment of every mutation stands exactly once in
// its file, also of those that do not run now.
func standing(root string, ms []mutation) (err error) {
	files := map[string]string{}
	for _, m := range ms {
		text, ok := files[m.File]
		if !ok {
			data, readErr := os.ReadFile(filepath.Join(root, m.File))
			if readErr != nil {
				return readErr
			}
			text = string(data)
			files[m.File] = text
		}
		if n := strings.Count(text, m.Old); n != 1 {
			err = errors.Join(err, fmt.Errorf("%s: its fragment stands %d times in %s, not once:\n%s", m.Name, n, m.File, m.Old))
		}
	}
	return err
}

// moduleRoot finds go.mod in the working directory or above it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod here or above; run it in the module")
		}
		dir = up
	}
}

// markdown writes the table of docs/MUTATIONS.md.
func markdown(ms []mutation) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Rules and the tests that guard them

Each row is a rule of the checker that `+"`go run ./bench/mutations`"+` switches off in
turn, by changing one fragment of one file, and the test that must fail then.
All %d are killed. The table is generated from bench/mutations by
`+"`go run ./bench/mutations -write`"+`; do not edit it here.

| rule | file | test |
|---|---|---|
`, len(ms))
	for _, m := range ms {
		pkg := strings.TrimPrefix(m.Package, "./")
		if pkg == "." {
			pkg = "the root"
		}
		fmt.Fprintf(&b, "| %s | %s | %s in %s |\n", strings.ReplaceAll(m.Name, "|", `\|`), m.File, m.Test, pkg)
	}
	return b.String()
}

// seconds writes a duration for a line of the run.
func seconds(w io.Writer, d time.Duration) { fmt.Fprintf(w, "%.1f s", d.Seconds()) }
