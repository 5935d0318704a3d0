package kvstores

import (
	"encoding/json"
	"errors"
	"testing"
)

// What a store says of its leaders and links decides which faults are refused
// for it, so it must be so: no node of one that is Leaderless ever names a
// leader, and none of one that is Apart sends its peers anything.
func TestLeaderlessAndApartAreSo(t *testing.T) {
	for _, s := range Stores() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r := newRingOf(t, s, 3, "", false)
			q := Request{Client: "c", F: "put", Key: "k", In: json.RawMessage("1")}
			if s.Model == "log" {
				q.F = "append"
			}
			led, sent := "", int64(0)
			eventually(t, "an answer, and a leader and messages where they are promised", func() error {
				answered := false
				for _, id := range r.names {
					q.Seq++
					answered = r.nodes[id].node.Do(t.Context(), q).Outcome == OK || answered
					led += r.status(id).Leader
					sent += r.nodes[id].peers.Sent()
				}
				if !answered || !s.Leaderless && led == "" || !s.Apart && sent == 0 {
					return errors.New("not yet")
				}
				return nil
			})
			if s.Leaderless && led != "" || s.Apart && sent > 0 {
				t.Errorf("leaders %q, %d messages; it says leaderless %v, apart %v", led, sent, s.Leaderless, s.Apart)
			}
		})
	}
}
