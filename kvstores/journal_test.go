package kvstores

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// reopened is what a journal holds when it is opened.
func reopened(t *testing.T, dir string) (*journal, []string, error) {
	t.Helper()
	var got []string
	j, err := openJournal(dir, "j", func(b []byte) error {
		var s string
		defer func() { got = append(got, s) }()
		return json.Unmarshal(b, &s)
	})
	return j, got, err
}

func TestJournalToleratesATornTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, _, err := reopened(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"one", "two", "three"} {
		if err := j.note(s); err != nil {
			t.Fatal(err)
		}
	}
	j.close()
	path := filepath.Join(dir, "j")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := len(whole) - frame - len(`"three"`)
	for cut := second; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		j, got, err := reopened(t, dir)
		if err != nil || !slices.Equal(got, []string{"one", "two"}) {
			t.Fatalf("cut at %d: %q, %v", cut, got, err)
		}
		if err := j.note("four"); err != nil {
			t.Fatal(err)
		}
		j.close()
		j, got, err = reopened(t, dir)
		if err != nil || !slices.Equal(got, []string{"one", "two", "four"}) {
			t.Fatalf("cut at %d, then written on: %q, %v", cut, got, err)
		}
		j.close()
	}
	whole[len(whole)-2] ^= 1 // the last record, whole but wrong
	damaged(t, path, dir, whole, "")
	whole[frame+1] ^= 1 // the first one
	damaged(t, path, dir, whole, "the record at byte 0 is damaged")
}

// damaged opens bytes as a journal: all but the last record are there, or it says why not.
func damaged(t *testing.T, path, dir string, data []byte, want string) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	j, got, err := reopened(t, dir)
	switch {
	case want == "" && (err != nil || !slices.Equal(got, []string{"one", "two"})):
		t.Errorf("a damaged tail: %q, %v", got, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("damage: %v, want %q", err, want)
	}
	j.close()
}

func TestJournalServesManyAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, _, err := reopened(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			end, err := j.append(fmt.Sprint(i))
			if err = errors.Join(err, j.sync(end)); err != nil {
				t.Error(err)
			}
			if done, err := j.survives(end); !done || err != nil {
				t.Errorf("record %d was synced: %v, %v", i, done, err)
			}
		})
	}
	all.Wait()
	j.close()
	if err := j.note("late"); err == nil {
		t.Error("a closed journal takes records")
	}
	if err := j.sync(0); err == nil {
		t.Error("a journal that failed acknowledges")
	}
	j, got, err := reopened(t, dir)
	if err != nil || len(got) != 200 {
		t.Errorf("%d records, %v, want 200", len(got), err)
	}
	j.close()
	if _, err := openJournal(dir, "j", func([]byte) error { return errors.New("no") }); err == nil || !strings.Contains(err.Error(), "byte 0: no") {
		t.Errorf("a record that nobody understands: %v", err)
	}
}

// A journal that holds little of use is written anew, and what it held is there.
func TestJournalsAreWrittenAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 3 {
		g, err := openRegisters(dir)
		if err != nil {
			t.Fatal(err)
		}
		a, err := openAcceptors(dir)
		if err != nil {
			t.Fatal(err)
		}
		b, err := openBook(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(40*round - 1)
		if round > 0 {
			last, asked := stamp{int64(40 * round), 1, 1}, ballot{1, "a"}
			if got, err := a.prepare(prepare{"x", last, asked}); err != nil || got.Granted {
				t.Errorf("a promise was forgotten: %+v, %v", got, err)
			}
			if got, err := a.prepare(prepare{"x", stamp{1, 1, 1}, asked}); (err == nil) != (round == 1) {
				t.Errorf("a forgotten instance was granted: %+v", got)
			}
			if x, y := string(g.read("x").Value), string(b.state.Get("x")); x != want || y != want {
				t.Errorf("registers hold %s, the book %s, want %s", x, y, want)
			}
			if y := string(g.read("y").Value); y != "7" {
				t.Errorf("registers hold %s, want 7", y)
			}
		} else if _, err := g.write("y", json.RawMessage("7"), stamp{}, 1); err != nil {
			t.Fatal(err)
		}
		g.journal.spare, a.journal.spare, b.journal.spare = 10, 10, 10
		for i := 40 * round; i < 40*(round+1); i++ {
			v, err := g.write("x", marshal(i), stamp{}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.prepare(prepare{"x", v.Stamp.successor(), ballot{1, "a"}}); err != nil {
				t.Fatal(err)
			}
			if got := b.do(Request{F: "put", Key: "x", In: marshal(i)}); got.Outcome != OK {
				t.Fatal(got)
			}
		}
		if n, m := g.journal.records, b.journal.records; n > 20 || m > 20 || a.journal.records > 150 {
			t.Errorf("records: %d, %d, %d", n, m, a.journal.records)
		}
		a.journal.spare = -1 << 20 // once more, and nothing after it
		if err := a.compact(); err != nil {
			t.Fatal(err)
		}
		for _, j := range []*journal{g.journal, a.journal, b.journal} {
			j.close()
		}
	}
}
