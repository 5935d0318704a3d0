package importers

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pinyon/engine/history"
)

// place is what a path leads to: a file, or the part of a folder that holds
// the history.
type place struct {
	path    string   // the file to read; of an etcd report, the folder
	why     string   // what the folder is; "" where the path is a file itself
	results string   // results.edn beside a Jepsen history, "" where there is none
	parts   []string // the files of an etcd report
	notices []string // what a person should know of the rest of the folder
}

// storeFiles are the histories of a Jepsen store, best first: history.edn has
// what history.txt lacks, and the binary test has what both have.
var storeFiles = [...]string{"history.edn", "history.edn.gz", "history.txt", "history.txt.gz"}

// maxLinks bounds how many "latest" links are followed.
const maxLinks = 4

// locate finds the history in a folder: a Pinyon bundle, a Jepsen or Maelstrom
// store, or an etcd robustness report. In a folder above a run, "latest" or
// "current" leads to it.
func locate(path string) (place, error) {
	if path == "-" {
		return place{path: path}, nil
	}
	dir := path
	for range maxLinks {
		info, err := os.Stat(dir)
		if err != nil {
			return place{}, err
		}
		if !info.IsDir() {
			return place{path: dir}, nil
		}
		if p, ok := inFolder(dir); ok {
			return p, nil
		}
		next := ""
		for _, name := range [...]string{"latest", "current"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() && next == "" {
				next = filepath.Join(dir, name)
			}
		}
		if next == "" {
			return place{}, &history.Error{Path: dir, Msg: emptyFolder(dir)}
		}
		dir = next
	}
	return place{}, &history.Error{Path: path, Msg: "leads from link to link and to no history"}
}

// inFolder finds the history that stands in the folder itself.
func inFolder(dir string) (place, bool) {
	if has(dir, "history.jsonl") {
		return place{path: filepath.Join(dir, "history.jsonl"), why: "history.jsonl of a Pinyon bundle"}, true
	}
	if parts, _ := filepath.Glob(filepath.Join(dir, "client-*", "operations.json")); len(parts) > 0 {
		return etcdPlace(dir, parts), true
	}
	for i, name := range storeFiles {
		if !has(dir, name) {
			continue
		}
		p := place{path: filepath.Join(dir, name), why: name + " of a Jepsen store"}
		if has(dir, "results.edn") {
			p.results = filepath.Join(dir, "results.edn")
		}
		for _, other := range storeFiles[i+1:] {
			if has(dir, other) {
				p.notices = append(p.notices, other+" of the store is not read: "+name+" says more")
			}
		}
		return p, true
	}
	return place{}, false
}

func has(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular()
}

// etcdPlace is an etcd report, its clients in the order of their numbers.
func etcdPlace(dir string, parts []string) place {
	number := func(path string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "client-"))
		return n
	}
	slices.SortStableFunc(parts, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	p := place{path: dir, why: fmt.Sprintf("%d files client-*/operations.json of an etcd robustness report", len(parts)), parts: parts}
	if watches, _ := filepath.Glob(filepath.Join(dir, "client-*", "watch.json")); len(watches) > 0 {
		p.notices = append(p.notices, fmt.Sprintf("%d files watch.json are not read: watches are no operations of the store's model", len(watches)))
	}
	return p
}

// emptyFolder says why a folder has nothing to read.
func emptyFolder(dir string) string {
	for _, name := range [...]string{"test.jepsen", "test.fressian"} {
		if has(dir, name) {
			return "a Jepsen store with nothing but the binary " + name + binaryWay
		}
	}
	return "is a folder that holds no history: no history.jsonl (a Pinyon bundle), " + strings.Join(storeFiles[:], ", ") +
		" (a Jepsen store), client-*/operations.json (an etcd robustness report), and no link latest or current to one"
}

// open reads the place; the parts of an etcd report are opened one by one.
func (p *place) open(o *Options) (*source, error) {
	if p.parts != nil {
		return &source{path: p.path, parts: p.parts, ctx: o.Context, lastLine: 1}, nil
	}
	return open(p.path, o)
}

// tell tells the format, and why it is that.
func (p *place) tell(src *source, o *Options) (name, why string, err error) {
	switch {
	case p.parts != nil && o.Format != "" && o.Format != "etcd-report" || p.parts != nil && o.Map != "":
		return "", "", &history.Error{Path: p.path, Msg: "is an etcd robustness report; to read one of its files otherwise, name that file"}
	case p.parts != nil:
		return "etcd-report", p.why, nil
	case o.Map != "":
		name, why = "table", "named by a mapping"
	case o.Format != "":
		name, why = o.Format, "named by the user"
	default:
		name, why, err = detect(src)
	}
	if p.why != "" && err == nil {
		why = p.why + ": " + why
	}
	return name, why, err
}
