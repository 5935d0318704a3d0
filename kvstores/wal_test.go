package kvstores

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// recordsOf are the bodies of a log's records, read back after a kill.
func recordsOf(t *testing.T, dir string) (bodies []string) {
	t.Helper()
	w, records, err := openWAL(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		bodies = append(bodies, fmt.Sprintf("%d:%s", r.kind, r.body))
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return bodies
}

func TestWALKeepsWhatWasSynced(t *testing.T) {
	dir := t.TempDir()
	w, records, err := openWAL(dir, 0)
	if err != nil || len(records) != 0 {
		t.Fatal(records, err)
	}
	var want []string
	for i := range 100 {
		w.add(byte(i%3), bytes.Repeat([]byte{'a' + byte(i%26)}, i*100))
		want = append(want, fmt.Sprintf("%d:%s", i%3, bytes.Repeat([]byte{'a' + byte(i%26)}, i*100)))
		if err := w.sync(); err != nil {
			t.Fatal(err)
		}
	}
	w.add(9, []byte("never synced")) // and never closed: as after kill -9
	if got := recordsOf(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %d records, want %d", len(got), len(want))
	}
	if got := recordsOf(t, dir); len(got) != len(want) {
		t.Errorf("opened twice: got %d records, want %d", len(got), len(want))
	}
}

func TestWALDropsATornRecord(t *testing.T) {
	whole := appendRecord(appendRecord(nil, walRecord{1, []byte("first")}), walRecord{2, []byte("second, which is torn")})
	first := len(appendRecord(nil, walRecord{1, []byte("first")}))
	for cut := first; cut < len(whole); cut++ {
		for _, zeros := range []int{0, 1, 50} {
			dir := t.TempDir()
			text := append(bytes.Clone(whole[:cut]), make([]byte, zeros)...)
			if err := os.WriteFile(filepath.Join(dir, "wal"), text, 0o644); err != nil {
				t.Fatal(err)
			}
			if got := recordsOf(t, dir); len(got) != 1 || got[0] != "1:first" {
				t.Fatalf("cut at %d, %d zeros behind: got %q", cut, zeros, got)
			}
		}
	}
}

func TestWALGoesOnBehindATornRecord(t *testing.T) {
	dir := t.TempDir()
	text := append(appendRecord(nil, walRecord{1, []byte("first")}), 0, 0, 0, 99, 1, 2)
	if err := os.WriteFile(filepath.Join(dir, "wal"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	w, _, err := openWAL(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.add(2, []byte("second"))
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(recordsOf(t, dir)); got != "[1:first 2:second]" {
		t.Errorf("got %s", got)
	}
}

func TestWALRefusesDamageInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	text := appendRecord(appendRecord(nil, walRecord{1, []byte("first")}), walRecord{2, []byte("second")})
	text[walHeader+2] ^= 1
	if err := os.WriteFile(filepath.Join(dir, "wal"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openWAL(dir, 0); err == nil {
		t.Error("a log with a broken record in front of a good one was accepted")
	}
}

func TestWALIsReplacedAtOnce(t *testing.T) {
	dir := t.TempDir()
	w, _, err := openWAL(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.add(1, []byte("old"))
	if err := w.sync(); err != nil {
		t.Fatal(err)
	}
	if err := w.replace([]walRecord{{3, []byte("all in one")}}); err != nil {
		t.Fatal(err)
	}
	w.add(1, []byte("more"))
	if err := w.sync(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(recordsOf(t, dir)); got != "[3:all in one 1:more]" {
		t.Errorf("got %s", got)
	}
}

func TestWALThatIsLateLosesWhatItSaidToKeep(t *testing.T) {
	dir := t.TempDir()
	w, _, err := openWAL(dir, lateBytes)
	if err != nil {
		t.Fatal(err)
	}
	w.add(1, []byte("said to be on disk"))
	if err := w.sync(); err != nil {
		t.Fatal(err)
	}
	if got := recordsOf(t, dir); len(got) != 0 {
		t.Errorf("got %q, want nothing", got)
	}
}
