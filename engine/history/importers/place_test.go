package importers

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinyon/engine/history"
)

// folder writes files, by their paths, and returns where.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write([]byte(text))
			z.Close()
			text = b.String()
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	oneEDN  = "{:index 0, :time 1, :type :invoke, :process 0, :f :write, :value 1}\n"
	oneText = "0\t:invoke\t:read\tnil\n"
	oneOwn  = `{"pinyon":"history","version":1}` + "\n" + `{"process":0,"f":"inc","invoke":1,"outcome":"info"}` + "\n"
)

func TestFolders(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		file  string // the one that is read
		f     string // of its operation
		lines []string
	}{
		{"a bundle", map[string]string{"history.jsonl": oneOwn, "history.edn": oneEDN}, "history.jsonl", "inc", []string{"history.jsonl of a Pinyon bundle"}},
		{"a store", map[string]string{"history.edn": oneEDN, "history.txt": oneText, "test.jepsen": "JEPSEN", "results.edn": "{:valid? true}"}, "history.edn", "write",
			[]string{"history.edn of a Jepsen store", "results.edn: :valid? true", "warning: history.txt of the store is not read: history.edn says more"}},
		{"a packed store", map[string]string{"history.edn.gz": oneEDN, "history.txt": oneText}, "history.edn.gz", "write", []string{"history.edn.gz of a Jepsen store"}},
		{"a store of text", map[string]string{"history.txt": oneText, "results.edn": `{:valid? :unknown, :independent {:valid? false, :results {3 {:valid? false}, 4 {:valid? true}}}, :perf {:valid? true}}`}, "history.txt", "read",
			[]string{"results.edn: :valid? :unknown (independent false, independent results 3 false)"}},
		{"a test above a run", map[string]string{"latest/history.edn": oneEDN, "20260101T000000Z/x": ""}, "latest/history.edn", "write", nil},
		{"a store above a test above a run", map[string]string{"current/latest/history.edn": oneEDN}, "current/latest/history.edn", "write", nil},
		{"results that cannot be read", map[string]string{"history.edn": oneEDN, "results.edn": "{:valid? "}, "history.edn", "write", []string{"results.edn cannot be read: a value is missing at the end of the file"}},
		{"results that say nothing", map[string]string{"history.edn": oneEDN, "results.edn": "{}"}, "history.edn", "write", []string{"results.edn names no :valid?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.files)
			h, r, err := Load(dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := filepath.Join(dir, filepath.FromSlash(c.file))
			if r.Path != want || h.Path != want || len(h.Ops) != 1 || h.Ops[0].F != c.f {
				t.Errorf("read %s, %d operations", r.Path, len(h.Ops))
			}
			text := strings.Join(r.Lines(), "\n")
			for _, line := range c.lines {
				if !strings.Contains(text, line) {
					t.Errorf("no %q in:\n%s", line, text)
				}
			}
		})
	}
}

func TestFoldersWithoutAHistory(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"test.jepsen": "JEPSEN"}, ": a Jepsen store with nothing but the binary test.jepsen; convert it with `lein run serve` or jepsen.store/load, or give the history.edn that stands beside it"},
		{map[string]string{"test.fressian": ""}, ": a Jepsen store with nothing but the binary test.fressian; convert it with"},
		{map[string]string{"readme": ""}, ": is a folder that holds no history: no history.jsonl (a Pinyon bundle), history.edn, "},
		{map[string]string{"latest/latest/latest/latest/latest/x": ""}, ": leads from link to link and to no history"},
	} {
		dir := folder(t, c.files)
		if _, _, err := Load(dir, Options{}); err == nil || !strings.HasPrefix(err.Error(), dir+c.want) {
			t.Errorf("\n got %v\nwant %s", err, dir+c.want)
		}
	}
	if _, _, err := Load(filepath.Join(t.TempDir(), "none"), Options{}); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestLatestIsALink(t *testing.T) {
	dir := folder(t, map[string]string{"run/history.edn": oneEDN})
	if err := os.Symlink("run", filepath.Join(dir, "latest")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(".", filepath.Join(dir, "run", "latest")); err != nil {
		t.Fatal(err)
	}
	if _, r, err := Load(dir, Options{}); err != nil || r.Path != filepath.Join(dir, "latest", "history.edn") {
		t.Errorf("%v %v", r, err)
	}
}

func TestEtcdReportsAreFolders(t *testing.T) {
	put := `{"ClientId":%,"Input":{"Type":"txn","Txn":{"OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"a","Value":{"Value":"x"}}}]}},"Call":%,"Output":{"Txn":{"Results":[{}]},"Revision":2},"Return":90}`
	dir := folder(t, map[string]string{
		"client-10/operations.json": strings.ReplaceAll(put, "%", "10"), "client-2/operations.json": strings.ReplaceAll(put, "%", "2"),
		"client-2/watch.json": "not even JSON", "server-1/x": "",
	})
	h, r, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := lines(`2 put({"key":"a","value":"x"}) = {"revision":2} ok @2..90 revision=2`, `10 put({"key":"a","value":"x"}) = {"revision":2} ok @10..90 revision=2`)
	if show(h) != want || r.Format != "etcd-report" || len(r.Warnings) != 1 || h.Where(1) != "op 1" {
		t.Errorf("%s %v %s\n%s", r.Format, r.Warnings, h.Where(1), show(h))
	}
	if err := history.Validate(h); err != nil {
		t.Error(err)
	}
	bad := folder(t, map[string]string{"client-1/operations.json": "\n{}"})
	part := filepath.Join(bad, "client-1", "operations.json")
	if _, _, err := Load(bad, Options{}); err == nil || err.Error() != part+":2:1: an operation of an etcd report needs ClientId, Input, Call, Output and Return" {
		t.Errorf("got %v", err)
	}
	if _, _, err := Load(bad, Options{Format: "native"}); err == nil {
		t.Error("a report is no native history")
	}
}

// TestMaelstrom: a store of lin-kv, whose errors are outcomes already.
func TestMaelstrom(t *testing.T) {
	dir := folder(t, map[string]string{"latest/history.edn": lines(
		`{:index 0, :time 10, :type :invoke, :process 1, :f :cas, :value [0 [1 2]]}`,
		`{:index 1, :time 20, :type :fail, :process 1, :f :cas, :value [0 [1 2]], :error [:key-does-not-exist "no k"]}`,
		`{:index 2, :time 30, :type :invoke, :process 0, :f :write, :value [0 4]}`,
		`{:index 3, :time 40, :type :info, :process 0, :f :write, :value [0 4], :error :net-timeout}`,
		`{:index 4, :time 50, :type :invoke, :process 1, :f :read, :value [0 nil]}`,
		`{:index 5, :time 60, :type :fail, :process 1, :f :read, :value [0 nil], :error :net-timeout}`,
		`{:index 6, :time 70, :type :invoke, :process 1, :f :read, :value [0 nil]}`,
		`{:index 7, :time 80, :type :ok, :process 1, :f :read, :value [0 4]}`,
	), "latest/results.edn": `{:workload {:valid? true, :results {0 {:linearizable {:valid? true, :model #knossos.model.CASRegister{:value 3}}}}}, :valid? true}`})
	h, r, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := lines(`1 cas 0([1,2]) fail @10..20 error=[:key-does-not-exist "no k"]`, "0 write 0(4) info @30 error=:net-timeout", "1 read 0() fail @50..60 error=:net-timeout", "1 read 0() = 4 ok @70..80")
	if show(h) != want || !r.Keyed || r.Results != "results.edn: :valid? true" {
		t.Errorf("keyed %v, %s\n%s", r.Keyed, r.Results, show(h))
	}
}
