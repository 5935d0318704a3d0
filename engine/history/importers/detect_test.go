package importers

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinyon/engine/history"
)

// corpusFormats are the formats of the recorded histories, by the beginnings of
// their paths; the longest that fits decides.
var corpusFormats = map[string]string{
	"elle/": "jepsen-edn", "elle-cli/": "jepsen-edn", "elle-cli/jepsen/long-fork.edn": "knossos",
	"elle-cli/elle/rw-register.json": "elle-json", "elle-cli/jepsen/set_full.json": "elle-json", "elle-cli/knossos/": "elle-json",
	"fast-jepsen/": "jepsen-edn", "issues/": "jepsen-edn", "jepsen-checker-tests/": "jepsen-edn", "jepsen-rs/": "knossos",
	"knossos/": "knossos", "porcupine/jepsen/": "etcd-log", "porcupine/kv/": "porcupine-kv", "ratis-jepsen/": "jepsen-edn",
	"real/": "native", "redis-model/": "knossos", "splitbrain/": "splitbrain", "splitbrain-runs/": "splitbrain", "violin/": "violin",
	// Of no length: nothing tells, and nothing depends on it.
	"porcupine/jepsen/etcd_095.log": "native",
}

// TestCorpusIsDetected: the format of every recorded history is told by its
// content, and under no name that the content does not depend on.
func TestCorpusIsDetected(t *testing.T) {
	dir, rows := corpus(t)
	formats := map[string]int{}
	for _, row := range rows {
		want, longest := "", 0
		for prefix, name := range corpusFormats {
			if strings.HasPrefix(row.file, prefix) && len(prefix) > longest {
				want, longest = name, len(prefix)
			}
		}
		o := Options{}
		src, err := open(filepath.Join(dir, row.file), &o)
		if err != nil {
			t.Fatal(err)
		}
		src.path = "-"
		got, why, err := detect(src)
		if err != nil || got != want || why == "" {
			t.Errorf("%s: detected %q (%s) %v, want %q", row.file, got, why, err, want)
		}
		formats[got]++
	}
	t.Logf("%d files: %v", len(rows), formats)
}

// TestCorpusFoldersAreDetected: a folder that holds recorded histories as their
// tools leave them is read by its path alone.
func TestCorpusFoldersAreDetected(t *testing.T) {
	dir, rows := corpus(t)
	stores := 0
	for _, row := range rows {
		name := filepath.Base(row.file)
		if name != "history.edn" && name != "history.edn.gz" {
			continue
		}
		file := filepath.Join(dir, row.file)
		h, r, err := Load(filepath.Dir(file), Options{})
		if err != nil || r.Path != file || r.Format != "jepsen-edn" || len(h.Ops) == 0 {
			t.Errorf("%s: %v", filepath.Dir(row.file), err)
		}
		stores++
	}
	if stores < 20 {
		t.Errorf("only %d stores", stores)
	}
}

// sample is a text in a known format.
type sample struct{ name, format, text string }

// samples are small texts in every format but table, which no content tells.
func samples(t *testing.T) (all []sample) {
	t.Helper()
	for _, c := range loads {
		if c.options.Format == "" && c.options.Map == "" {
			all = append(all, sample{c.name, c.format, c.text})
		}
	}
	for _, c := range foreignLoads {
		if c.options.Format == "" && c.options.Map == "" {
			all = append(all, sample{c.name, c.format, c.text})
		}
	}
	for _, c := range megabytes {
		if c.mapping != "" {
			continue
		}
		text := c.head + c.line(0) + "\n" + c.line(1) + "\n"
		if c.head == "[" {
			text += "]"
		}
		all = append(all, sample{"megabyte of " + c.name, c.name, text})
	}
	return all
}

// TestEveryFormatIsDetected: each format but table has samples that are told
// without being named.
func TestEveryFormatIsDetected(t *testing.T) {
	found := map[string]int{"table": 1}
	for _, s := range samples(t) {
		_, r, err := load(s.text, Options{})
		if err != nil || r.Format != s.format {
			t.Errorf("%s: want %s, got %v %v", s.name, s.format, r, err)
			continue
		}
		found[s.format]++
	}
	for _, f := range Formats() {
		if found[f.Name] == 0 {
			t.Errorf("no sample of %s", f.Name)
		}
	}
}

// sameReading are pairs of formats that read a text alike: one reader under the
// same rules, which only the reports tell apart.
var sameReading = map[[2]string]bool{
	{"jepsen-edn", "knossos"}: true, {"knossos", "jepsen-edn"}: true,
	{"jepsen-txt", "jepsen-log"}: true, {"jepsen-log", "jepsen-txt"}: true,
}

// narrower are pairs of which the first has a stricter grammar, so that a text
// which fits it is told by that: the reader of the second takes it too.
var narrower = map[[2]string]bool{
	{"etcd-log", "jepsen-log"}: true, {"etcd-log", "jepsen-txt"}: true,
	{"porcupine-kv", "jepsen-edn"}: true, {"porcupine-kv", "knossos"}: true,
}

// TestNoOtherFormatFits: whatever is detected, no other format accepts the text
// with another meaning, but for those of a wider grammar.
func TestNoOtherFormatFits(t *testing.T) {
	all := samples(t)
	if !testing.Short() {
		all = append(all, smallCorpus(t)...)
	}
	pairs := 0
	for _, s := range all {
		h, r, err := load(s.text, Options{})
		if err != nil || len(h.Ops) == 0 {
			continue // refused, or nothing to tell
		}
		for _, f := range Formats() {
			pair := [2]string{r.Format, f.Name}
			other, _, err := load(s.text, Options{Format: f.Name})
			if f.Name == r.Format || err != nil || len(other.Ops) == 0 || narrower[pair] {
				continue
			}
			if pairs++; !sameReading[pair] || written(t, h) != written(t, other) {
				t.Errorf("%s is taken for %s, and %s accepts it too", s.name, r.Format, f.Name)
			}
		}
	}
	t.Logf("%d texts, %d times another name of the same reader", len(all), pairs)
}

func written(t *testing.T, h *history.Raw) string {
	t.Helper()
	var b bytes.Buffer
	if err := history.WriteNative(&b, h); err != nil {
		return err.Error()
	}
	return b.String()
}

// smallCorpus are the recorded histories below a size; none where there is no
// corpus.
func smallCorpus(t *testing.T) (all []sample) {
	dir := corpusDir()
	rows, err := manifest(dir)
	if err != nil {
		return nil
	}
	for _, row := range rows {
		text, err := os.ReadFile(filepath.Join(dir, row.file))
		if err == nil && len(text) < 20<<10 {
			all = append(all, sample{name: row.file, text: string(text)})
		}
	}
	return all
}

// TestTwoFormatsThatFitAreAQuestion: where the content does not decide, the
// user is asked.
func TestTwoFormatsThatFitAreAQuestion(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a key-value log with a field of its own": {
			lines(`{:process 0, :type :invoke, :f :put, :key "a", :value "b", :node "n1"}`),
			"-:1: may have more than one format: jepsen-edn (a stream of EDN maps), porcupine-kv (EDN maps with :key and get, put or append); name the right one with --format",
		},
		"a key-value log of numbers": {
			lines("; a comment", `{:process 0, :type :invoke, :f :put, :key "a", :value 7}`),
			"-:1: may have more than one format: jepsen-edn (a stream of EDN maps), porcupine-kv (EDN maps with :key and get, put or append); name the right one with --format",
		},
		"an etcd log with a mistake": {
			lines("INFO  jepsen.util - 0\t:invoke\t:write\t1", "INFO  jepsen.util - 0\t:ok\t:write\tnil"),
			"-:1: may have more than one format: etcd-log (the grammar of 1 of 2 operations; the first that is not: -:2: process 0: not in the grammar of the etcd logs: :ok :write nil), " +
				"jepsen-log (columns process, type, f, value behind a logger's prefix); name the right one with --format",
		},
		"an event of two tools": {
			lines(`{"type":"invoke","f":"read","process":0,"action":"invoke","proc":0}`),
			`-:1: may have more than one format: chaos (JSON lines with "action"), elle-json (JSON lines with "type"); name the right one with --format`,
		},
		"a table of two tools": {
			lines("call_ns,return_ns,op,ClientID,Kind,Action", "1,2,put,1,Invocation,put"),
			"-:1: may have more than one format: turnpike (the columns call_ns, return_ns and op), turnpike-events (the columns ClientID, Kind and Action); name the right one with --format",
		},
	} {
		if _, _, err := load(c.text, Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, c.want)
		}
	}
	// Another operation than etcd's makes it a log like any other.
	text := lines("INFO  jepsen.util - 0\t:invoke\t:write\t1", "INFO  jepsen.util - 0\t:ok\t:write\t1", "INFO  jepsen.util - 0\t:invoke\t:enqueue\t1")
	if _, r, err := load(text, Options{}); err != nil || r.Format != "jepsen-log" {
		t.Errorf("%v %v", r, err)
	}
}
