package kvstores

import (
	"encoding/json"
	"fmt"
	"testing"
)

// The revision counts what changed something, and a read names the revision of
// what it found.
func TestRevisionsAreEtcds(t *testing.T) {
	s := raftState{Data: Machine{}, Clients: map[string]result{}, Revisions: map[string]uint64{}}
	index := uint64(0)
	do := func(f, key, in string) string {
		index++
		c := &command{Request{Client: fmt.Sprint("c", index), Seq: 1, F: f, Key: key, In: json.RawMessage(in)}}
		return fmt.Sprint(s.apply(placed{1, index, c}).Reply.Hints)
	}
	for i, step := range []struct{ f, key, in, want string }{
		{"put", "x", "1", "map[revision:1]"},
		{"put", "y", "1", "map[revision:2]"},
		{"get", "x", "", "map[mod_revision:1 revision:2]"},
		{"get", "z", "", "map[revision:2]"},
		{"cas", "x", "[7,8]", "map[revision:2]"}, // it failed: nothing changed
		{"cas", "x", "[1,2]", "map[revision:3]"},
		{"delete", "z", "", "map[revision:3]"}, // nothing was there
		{"add", "y", "4", "map[revision:4]"},
		{"get", "y", "", "map[mod_revision:4 revision:4]"},
		{"delete", "y", "", "map[revision:5]"},
		{"get", "y", "", "map[revision:5]"},
	} {
		if got := do(step.f, step.key, step.in); got != step.want {
			t.Errorf("step %d, %s %s %s: hints %s, want %s", i, step.f, step.key, step.in, got, step.want)
		}
	}
	data, err := json.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	fresh := raftState{Revisions: map[string]uint64{}}
	if err := fresh.restore(data); err != nil || fresh.Revision != 5 || fresh.Revisions["x"] != 3 {
		t.Errorf("restored: %v, revision %d, of x %d", err, fresh.Revision, fresh.Revisions["x"])
	}
}
