package kvstores

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The steps of the protocols, one by one.

func TestStampsAreNeverUsedTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	used := map[stamp]bool{}
	for range 3 {
		g, err := openRegisters(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, seen := range []stamp{{}, {}, {5, 9, 0}, {}} {
			v, err := g.write("x", null, seen, 1)
			if err != nil || used[v.Stamp] || v.Stamp.compare(seen) <= 0 {
				t.Errorf("above %v: %v again: %v, %v", seen, v.Stamp, used[v.Stamp], err)
			}
			used[v.Stamp] = true
		}
		g.journal.close()
	}
}

func TestRegistersShowWhatSurvives(t *testing.T) {
	t.Parallel()
	g, err := openRegisters(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := g.store(version{"x", stamp{2, 1, 0}, json.RawMessage("2")}); err != nil {
		t.Fatal(err)
	}
	if err := g.store(version{"x", stamp{1, 9, 9}, json.RawMessage("1")}); err != nil || string(g.read("x").Value) != "2" {
		t.Errorf("after an older version: %s, %v, want 2", g.read("x").Value, err)
	}
	g.journal.close() // from now on nothing survives
	if err := g.store(version{"x", stamp{3, 1, 0}, json.RawMessage("3")}); err == nil || string(g.read("x").Value) != "2" {
		t.Errorf("without a journal: %s, %v, want 2 and an error", g.read("x").Value, err)
	}
}

func TestAcceptorsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *acceptors {
		a, err := openAcceptors(dir)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	s := stamp{1, 1, 1}
	low, high := ballot{1, "b"}, ballot{2, "a"}
	for round := range 2 { // once more after a restart
		a := open()
		if round == 0 {
			first, err := a.prepare(prepare{"x", s, high})
			if err != nil || !first.Granted || first.Accepted != nil {
				t.Errorf("the first promise: %+v, %v", first, err)
			}
			if got, err := a.accept(proposal{"x", s, null, "b", low}); err != nil || got.Granted {
				t.Errorf("accepted below its promise: %+v, %v", got, err)
			}
			if got, err := a.accept(proposal{"x", s, null, "a", high}); err != nil || !got.Granted {
				t.Errorf("did not accept what it promised: %+v, %v", got, err)
			}
		}
		for _, b := range []ballot{low, high} {
			if got, err := a.prepare(prepare{"x", s, b}); err != nil || got.Granted || got.Promised != high || got.Accepted == nil || got.Accepted.ID != "a" {
				t.Errorf("round %d, asked at %v again: %+v, %v", round, b, got, err)
			}
		}
		a.journal.close()
	}
	a := open()
	defer a.journal.close()
	for i := range int64(keptInstances + 1) {
		if _, err := a.prepare(prepare{"x", stamp{2, 1, i}, low}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := a.prepare(prepare{"x", s, ballot{9, ""}}); err == nil {
		t.Errorf("a forgotten instance was granted: %+v", got)
	}
}

// What may have been chosen is brought to its end before anything else is built
// on the same version.
func TestGryffHelpsWhatMayBeChosen(t *testing.T) {
	t.Parallel()
	for accepted := 1; accepted <= 2; accepted++ {
		r := newRing(t, "kvgryff", 3, "", false)
		r.must("n1", "put", "x", "1", "")
		base := r.nodes["n1"].node.(*gryff).registers.read("x").Stamp
		for _, id := range r.names[1 : 1+accepted] {
			p := proposal{"x", base.successor(), json.RawMessage("5"), "other", ballot{3, "other"}}
			if got, err := r.nodes[id].node.(*gryff).acceptors.accept(p); err != nil || !got.Granted {
				t.Fatal(got, err)
			}
		}
		if accepted == 1 {
			r.kill("n3") // the one that accepted is asked for sure
		}
		a := r.must("n1", "add", "x", "1", "6")
		if want := fmt.Sprint(stamp{base[0], base[1], 2}); fmt.Sprint(a.Hints["carstamp"]) != want {
			t.Errorf("carstamp %v, want %s", a.Hints["carstamp"], want)
		}
	}
}

// aZab is a replica without timers, among three.
func aZab(t *testing.T) *zab {
	return &zab{circle: newCircle(Config{ID: "n1", Nodes: []string{"n1", "n2", "n3"}, Log: io.Discard}), state: Machine{}, keep: zabKeep, moved: make(chan struct{})}
}

// entries are puts to x with the given zxids.
func entries(zxids ...int64) (list []zabEntry) {
	for _, z := range zxids {
		list = append(list, zabEntry{Zxid: z, Request: Request{F: "put", Key: "x", In: marshal(z)}})
	}
	return list
}

// said is what a replica answers to a leader.
func said(t *testing.T, z *zab, m zabSync) zabSynced {
	t.Helper()
	a, err := z.follow("n2", m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestZabFollows(t *testing.T) {
	t.Parallel()
	z := aZab(t)
	if a := said(t, z, zabSync{Epoch: 1, Entries: entries(11, 12, 13), Commit: 11}); !a.OK {
		t.Fatalf("%+v", a)
	}
	if string(z.state.Get("x")) != "11" {
		t.Errorf("x is %s, want 11: only one write is committed", z.state.Get("x"))
	}
	if a := said(t, z, zabSync{Epoch: 1, Prev: 11, Entries: entries(12), Commit: 11}); !a.OK || z.last() != 13 {
		t.Errorf("a late message took something away: %+v, last %d", a, z.last())
	}
	if a := said(t, z, zabSync{Epoch: 1, Prev: 14, Commit: 11}); a.OK || a.Last != 13 {
		t.Errorf("a gap: %+v, want last 13", a)
	}
	if a := said(t, z, zabSync{Epoch: 3, Prev: 11, Entries: entries(31), Commit: 11}); !a.OK || z.last() != 31 || len(z.log) != 2 || z.current != 3 {
		t.Errorf("another leader's history: %+v, log %+v", a, z.log)
	}
	if a := said(t, z, zabSync{Epoch: 1, Prev: 11, Entries: entries(12), Commit: 12}); a.OK || a.Promised != 3 || z.last() != 31 {
		t.Errorf("a deposed leader: %+v, last %d", a, z.last())
	}
	if a := said(t, z, zabSync{Epoch: 4, Prev: 11, Commit: 11}); !a.OK || len(z.log) != 1 {
		t.Errorf("a leader without an uncommitted write: %+v, log %+v", a, z.log)
	}
	if _, err := z.follow("n2", zabSync{Epoch: 5, Prev: 0, Entries: entries(51)}); err == nil || string(z.state.Get("x")) != "11" {
		t.Errorf("a leader without a committed write: %v", err)
	}
}

func TestZabVotes(t *testing.T) {
	t.Parallel()
	z := aZab(t)
	said(t, z, zabSync{Epoch: 1, Entries: entries(11, 12), Commit: 11})
	ask := func(v zabVote, want bool, why string) {
		t.Helper()
		if got, err := z.vote(v); err != nil || got.Granted != want {
			t.Errorf("%s: %+v, %v, want %v", why, got, err, want)
		}
	}
	ask(zabVote{Epoch: 2, Current: 1, Last: 12}, false, "while there is a leader")
	z.heard = time.Now().Add(-time.Hour)
	ask(zabVote{Epoch: 1, Current: 1, Last: 12}, false, "for the epoch that there was")
	ask(zabVote{Epoch: 2, Current: 1, Last: 11}, false, "with fewer writes")
	ask(zabVote{Epoch: 2, Current: 0, Last: 99}, false, "with an older history")
	ask(zabVote{Epoch: 2, Current: 1, Last: 12, Try: true}, true, "as a try")
	ask(zabVote{Epoch: 2, Current: 1, Last: 12}, true, "after the try")
	ask(zabVote{Epoch: 2, Current: 1, Last: 13}, false, "twice")
	if a := said(t, z, zabSync{Epoch: 1, Prev: 12, Entries: entries(13)}); a.OK {
		t.Errorf("the old leader after the vote: %+v", a)
	}
}

// A write that was forwarded to the leader may have been ordered.
func TestZabDoesNotFailWhatMayBeOrdered(t *testing.T) {
	t.Parallel()
	text := func(body string) string {
		return answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
	}
	for _, c := range []struct{ name, leader, outcome string }{
		{"it refuses", text(`{"zxid":0,"reply":{"outcome":"fail","error":"no"}}`), Fail},
		{"it does not know", text(`{"zxid":0,"reply":{"outcome":"info","error":"eh"}}`), Info},
		{"it breaks off", answering(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), Info},
		{"it makes no sense", text(`{}`), Info},
		{"it was ordered and is not known here", text(`{"zxid":7,"reply":{"outcome":"ok"}}`), Info},
	} {
		z := aZab(t)
		z.Peers = NewPeers("n1", map[string]string{"n2": c.leader})
		z.leader = "n2"
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		got := z.Do(ctx, Request{F: "put", Key: "x", In: json.RawMessage("1")})
		cancel()
		if got.Outcome != c.outcome {
			t.Errorf("%s: %+v, want %s", c.name, got, c.outcome)
		}
		z.Peers.Close()
	}
}

// Errors that people read hold no addresses, which differ from run to run.
func TestErrorsHoldNoAddress(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvabd", 3, "", false)
	r.kill("n2")
	r.kill("n3")
	if got := r.do("n1", "put", "x", "1"); got.Outcome != Fail || strings.Contains(got.Error, "127.0.0.1") {
		t.Errorf("%+v, want fail without an address", got)
	}
}

// A node that loses the leader asks the others before it promotes itself.
func TestSplitWaitsForWhomOthersHear(t *testing.T) {
	t.Parallel()
	for heard, want := range map[bool]string{true: "n1", false: "n2"} {
		s := &split{circle: newCircle(Config{ID: "n2", Nodes: []string{"n1", "n2", "n3"}, Log: io.Discard}), leader: "n1", seen: true,
			missed: map[string]int{"n1": 2 * splitLost}, gone: map[string]bool{}, change: make(chan struct{})}
		s.choose([]string{"n1"}, heard, !heard)
		if s.leader != want {
			t.Errorf("heard %v: %s leads, want %s", heard, s.leader, want)
		}
		s.missed["n1"] = 1
		if s.choose([]string{"n1"}, false, false); s.leader != want {
			t.Errorf("heard %v: %s leads, want %s until n1 answers", heard, s.leader, want)
		}
		s.missed["n1"] = 0
		if s.choose([]string{"n1"}, false, false); s.leader != "n1" {
			t.Errorf("heard %v: %s leads, want n1, which answers", heard, s.leader)
		}
	}
}
