package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pinyon/engine/history/strictyaml"
)

// newRunDir makes the folder of a run, named by when it starts and its seed,
// and points "latest" at it. No earlier run is overwritten.
func newRunDir(out string, seed uint64) (string, error) {
	name := fmt.Sprintf("%s-seed%d", time.Now().Format("2006-01-02T15-04-05"), seed)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	dir := filepath.Join(out, name)
	for n := 2; ; n++ {
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		dir = filepath.Join(out, name+"-"+strconv.Itoa(n))
	}
	latest := filepath.Join(out, "latest")
	next := latest + strconv.Itoa(os.Getpid())
	if err := os.Symlink(filepath.Base(dir), next); err == nil {
		_ = os.Rename(next, latest) // a convenience; a folder of that name stays
		_ = os.Remove(next)
	}
	return dir, nil
}

// writeRunYAML keeps the flags of a run: name and value in turn.
func writeRunYAML(path string, flags []string) error {
	var b strings.Builder
	b.WriteString("run: 1\nflags:\n")
	for i := 0; i+1 < len(flags); i += 2 {
		fmt.Fprintf(&b, "  - %s\n", strconv.Quote(flags[i]+"="+flags[i+1]))
	}
	if len(flags) == 0 {
		b.WriteString("  []\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// again sets the flags of an earlier run that were not given now.
func again(cmd *cobra.Command, run string) error {
	path := run
	if info, err := os.Stat(run); err == nil && info.IsDir() {
		path = filepath.Join(run, "run.yaml")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return missingFile(err)
	}
	return setFromYAML(cmd, path, text)
}

// setFromYAML sets the flags that a run.yaml names and that were not given.
func setFromYAML(cmd *cobra.Command, path string, text []byte) error {
	file := strictyaml.File{Path: path, Data: text, What: "a run", Has: "the keys run and flags"}
	root, err := file.Parse()
	if err != nil {
		return err
	}
	if err := file.KnownKeys(root, "a run", "run", "flags"); err != nil {
		return err
	}
	given := map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = true })
	list := root.Get("flags")
	if list == nil || list.Form != strictyaml.List {
		return file.Errorf(1, 1, `the key "flags" is missing; it is a list of flags, each "NAME=VALUE"`)
	}
	for _, n := range list.Items {
		word, err := file.Word(n, "a flag")
		if err != nil {
			return err
		}
		name, value, ok := strings.Cut(word, "=")
		if !ok || cmd.Flags().Lookup(name) == nil {
			return file.At(n, "%q is no flag of pinyon run; expected NAME=VALUE", word)
		}
		if given[name] {
			continue
		}
		if err := cmd.Flags().Set(name, value); err != nil {
			return file.At(n, "%v", err)
		}
	}
	return nil
}
