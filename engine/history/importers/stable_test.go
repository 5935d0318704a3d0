package importers

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"pinyon/engine/history"
)

// toNative and toEDN are the two ways of `pinyon convert`.
func toNative(t *testing.T, text string) string {
	t.Helper()
	h, _, err := load(text, Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return written(t, h)
}

func toEDN(t *testing.T, text string) string {
	t.Helper()
	h, _, err := load(text, Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var b bytes.Buffer
	if err := WriteEDN(&b, h); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return b.String()
}

// processNames are files whose processes have names of every sort.
var processNames = []sample{
	{name: "strings", text: lines(`{:type :invoke, :process "a b", :f :write, :value 1}`, `{:type :ok, :process "a b", :f :write, :value 1}`,
		`{:type :invoke, :process "c1", :f :read, :value nil}`, `{:type :info, :process "c1", :f :read, :value nil}`)},
	{name: "keywords", text: lines(`{:type :invoke, :process :c1, :f :write, :value 1}`, `{:type :info, :process :nemesis, :f :start}`, `{:type :ok, :process :c1, :f :write, :value 1}`)},
	{name: "a client called nemesis", text: lines(`{:type :invoke, :process :nemesis, :f :write, :value 1}`, `{:type :info, :process :other, :f :start}`)},
	{name: "numbers and strings of numbers", text: lines(`{:type :invoke, :process 0, :f :write, :value 1}`, `{:type :invoke, :process "0", :f :write, :value 1}`, `{:type :invoke, :process -7, :f :write, :value 1}`)},
	{name: "renamed after an info", text: lines(`{:type :invoke, :process :c, :f :write, :value 1}`, `{:type :info, :process :c, :f :write, :value 1}`,
		`{:type :invoke, :process :c, :f :write, :value 2}`, `{:type :ok, :process :c, :f :write, :value 2}`)},
	{name: "a name that EDN cannot write", text: `{"pinyon":"history","version":1}` + "\n" + `{"process":":a b","f":"w","invoke":1,"outcome":"info"}` + "\n" + `{"process":"","f":"w","invoke":1,"outcome":"info"}` + "\n"},
}

// TestConvertedFilesAreStable: a file that convert wrote, of either format,
// comes back byte for byte by way of the other.
func TestConvertedFilesAreStable(t *testing.T) {
	texts := append(samples(t), processNames...)
	if !testing.Short() {
		texts = append(texts, smallCorpus(t)...)
	}
	files := 0
	for _, s := range texts {
		h, _, err := load(s.text, Options{})
		if err != nil || history.Validate(h) != nil {
			continue
		}
		if len(h.Ops) == 0 {
			h.Order = history.ByTime
		}
		native := written(t, h)
		edn := toEDN(t, native)
		if back := toNative(t, edn); back != native {
			t.Errorf("%s: native\n%s\nby way of\n%s\nis\n%s", s.name, native, edn, back)
		}
		if again := toEDN(t, toNative(t, edn)); again != edn {
			t.Errorf("%s: EDN\n%s\nis\n%s", s.name, edn, again)
		}
		files++
	}
	if files < 60 {
		t.Errorf("only %d files", files)
	}
	t.Logf("%d files", files)
}

// TestReadingEndsWithItsContext: whatever the format, a context that is done
// ends reading with its own error and no history.
func TestReadingEndsWithItsContext(t *testing.T) {
	for _, c := range megabytes {
		ctx, cancel := context.WithCancel(context.Background())
		text := c.head + strings.Repeat(c.line(0)+"\n", 2)
		o := Options{Format: c.name, Map: c.mapping, Context: ctx}
		o.Stdin = io.MultiReader(strings.NewReader(text), stopper{cancel})
		h, _, err := Load("-", o)
		if h != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// stopper is the end of an input after which the context is done.
type stopper struct{ cancel context.CancelFunc }

func (s stopper) Read([]byte) (int, error) {
	s.cancel()
	return 0, io.EOF
}

// TestUnpackingHasACeiling: a small gzip file that holds a huge one is refused
// before that is in memory.
func TestUnpackingHasACeiling(t *testing.T) {
	text := lines("; a comment", `{:type :invoke, :process 0, :f :write, :value 1}`)
	for _, c := range []struct {
		most int64
		want string
	}{
		{int64(len(text)), ""},
		{int64(len(text)) - 1, "-: unpacks to more than 60 bytes, which is the ceiling for a gzip file; if it is meant to be that large, unpack it and give the file itself"},
	} {
		_, _, err := load(gzipped(t, text), Options{MaxUnpacked: c.most})
		if (c.want == "") != (err == nil) || err != nil && err.Error() != c.want {
			t.Errorf("ceiling %d: %v, want %q", c.most, err, c.want)
		}
	}
	bomb := gzipped(t, strings.Repeat(" ", 64<<20))
	peak := peakHeap(4<<20, func() any {
		_, _, err := load(bomb, Options{MaxUnpacked: 16 << 20})
		return err
	})
	if peak > 4<<20 {
		t.Errorf("%d KiB held while refusing a file of %d KiB", peak>>10, len(bomb)>>10)
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
