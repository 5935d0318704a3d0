package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pinyon/engine/spec"
)

// What was forwarded may have been applied: only where nothing was sent, or
// the leader refused, is it a failure.
func TestForwarderNeverFailsWhatMayBeApplied(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := closed.Addr().String()
	closed.Close()
	text := func(status int, body string) string {
		return answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
	for _, c := range []struct{ name, leader, outcome string }{
		{"the leader is down", refused, Fail},
		{"the leader refuses", text(200, `{"outcome":"fail","error":"no"}`), Fail},
		{"the leader does not know", text(200, `{"outcome":"info"}`), Info},
		{"the leader answers", text(200, `{"outcome":"ok","out":true}`), OK},
		{"the leader is silent", answering(t, func(_ http.ResponseWriter, q *http.Request) {
			select {
			case <-q.Context().Done():
			case <-time.After(2 * time.Second):
			}
		}), Info},
		{"the leader breaks off", answering(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), Info},
		{"a reset in the middle of the answer", socket(t, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"outc", true), Info},
		{"a cut-off answer", text(200, `{"outcome":"fa`), Info},
		{"an answer without an outcome", text(200, `{}`), Info},
		{"an unexpected status", text(503, `{"outcome":"fail"}`), Info},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, store := range []Store{kvforward(), kvsplit()} {
				n, err := store.New(Config{ID: "n2", Nodes: []string{"n1", "n2"}, Peers: NewPeers("n2", map[string]string{"n1": c.leader}), Log: io.Discard})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
				got := n.Do(ctx, Request{F: "put", Key: "x", In: json.RawMessage("1")})
				cancel()
				if got.Outcome != c.outcome {
					t.Errorf("%s: %s (%s), want %s", store.Name, got.Outcome, got.Error, c.outcome)
				}
				if err := n.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestForwardFollowsItsLeader(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvforward", 3, "", true)
	r.must("n2", "put", "x", "1", "")
	r.must("n3", "get", "x", "", "1")
	r.kill("n1")
	if got := r.do("n2", "put", "x", "2"); got.Outcome != Fail {
		t.Errorf("without a leader: %+v, want fail", got)
	}
	r.restart("n1")
	r.must("n2", "get", "x", "", "1")
	r.part([]string{"n1"}, []string{"n2", "n3"})
	if got := r.do("n2", "put", "x", "2"); got.Outcome != Info {
		t.Errorf("across a cut: %+v, want info", got)
	}
	r.must("n1", "get", "x", "", "1")
}

// What was acknowledged is there after a kill.
func TestAcknowledgedWritesSurviveAKill(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"kvsingle": 1, "kvforward": 2, "kvabd": 3, "kvgryff": 3, "kvzab": 3} {
		t.Run(name, func(t *testing.T) {
			r := newRing(t, name, n, "", true)
			r.ready()
			r.must("n1", "put", "x", "1", "")
			r.must("n1", "put", "y", `"é"`, "")
			r.must("n1", "put", "x", "2", "")
			if r.store.Ops == nil {
				r.must("n1", "cas", "x", "[2,3]", "true")
			} else {
				r.must("n1", "put", "x", "3", "")
			}
			for range 2 {
				for _, id := range r.names {
					r.kill(id)
				}
				for _, id := range r.names {
					r.restart(id)
				}
				r.ready()
				r.must("n1", "get", "y", "", `"é"`)
				r.must("n1", "get", "x", "", "3")
			}
		})
	}
}

// kvsplit has one leader while all is well, two under a cut, and afterwards
// forgets what one of them had answered.
func TestSplitPromotesItself(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvsplit", 3, "", false)
	r.ready()
	r.must("n3", "put", "x", "1", "")
	eventually(t, "n2 has a copy", func() error {
		if s := r.status("n2"); s.Applied != 1 || s.Leader != "n1" {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	r.part([]string{"n1"}, []string{"n2", "n3"})
	eventually(t, "the others follow n2", func() error {
		if a, b := r.status("n2"), r.status("n3"); a.Leader != "n2" || b.Leader != "n2" {
			return fmt.Errorf("%+v %+v", a, b)
		}
		return nil
	})
	r.must("n3", "get", "x", "", "1")
	r.must("n3", "put", "x", "2", "")
	r.must("n1", "get", "x", "", "1") // two leaders
	r.must("n1", "put", "y", "1", "")
	r.part()
	eventually(t, "n2 and n3 follow again", func() error {
		if a, b := r.status("n2"), r.status("n3"); a.Leader != "n1" || b.Leader != "n1" {
			return fmt.Errorf("%+v %+v", a, b)
		}
		return nil
	})
	r.must("n2", "get", "x", "", "1") // 2 was answered and is lost
	own := r.nodes["n2"].node.(*split).book
	eventually(t, "n2 has the leader's state", func() error {
		own.mutex.Lock()
		defer own.mutex.Unlock()
		if x, y := own.state.Get("x"), own.state.Get("y"); string(x) != "1" || string(y) != "1" {
			return fmt.Errorf("x is %s, y is %s", x, y)
		}
		return nil
	})
	r.must("n3", "get", "y", "", "1")
}

// kvsync answers ok though a replica was not reached, and compares without asking.
func TestSyncIsWrong(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvsync", 3, "", false)
	r.must("n1", "put", "x", "1", "")
	r.must("n3", "get", "x", "", "1")
	r.kill("n3")
	r.must("n1", "put", "x", "2", "")
	r.restart("n3")
	r.must("n3", "get", "x", "", "null")
	r.delay("n1", "n2", 100*time.Millisecond)
	r.delay("n2", "n1", 100*time.Millisecond)
	var both sync.WaitGroup
	for i, id := range []string{"n1", "n2"} {
		both.Go(func() {
			if got := r.do(id, "cas", "x", fmt.Sprintf("[2,%d]", 3+i)); string(got.Out) != "true" {
				t.Errorf("%s: %+v, want true", id, got)
			}
		})
	}
	both.Wait()
}

// kvquorum reads what another node has long overwritten.
func TestQuorumIsWrong(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvquorum", 3, "", false)
	r.delay("n1", "n2", 300*time.Millisecond)
	r.must("n1", "put", "x", "1", "")
	r.must("n2", "get", "x", "", "null")
	eventually(t, "n2 hears of it", func() error {
		if got := r.do("n2", "get", "x", ""); string(got.Out) != "1" {
			return fmt.Errorf("%s", got.Out)
		}
		return nil
	})
}

func TestABDServesTheMajority(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvabd", 3, "", true)
	r.must("n1", "put", "x", "1", "")
	r.kill("n3")
	r.must("n2", "get", "x", "", "1")
	r.must("n2", "put", "x", "2", "")
	r.restart("n3")
	r.part([]string{"n1", "n2"}, []string{"n3"})
	r.must("n1", "put", "x", "3", "")
	r.must("n2", "get", "x", "", "3")
	for _, f := range []string{"get", "put"} {
		began := time.Now()
		if got := r.do("n3", f, "x", "9"); got.Outcome == OK || time.Since(began) > 2*patience {
			t.Errorf("%s at the minority: %s after %v", f, got.Outcome, time.Since(began))
		}
	}
	r.part()
	eventually(t, "n3 is back", func() error {
		if got := r.do("n3", "get", "x", ""); string(got.Out) != "3" {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	if got := r.do("n1", "cas", "x", "[3,4]"); got.Outcome != Fail {
		t.Errorf("cas: %+v, want fail", got)
	}
}

// A put whose stamp was chosen and that reached no majority may yet be seen.
func TestABDDoesNotFailWhatMayBeSeen(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvabd", 3, "", false)
	r.delay("n1", "n2", 300*time.Millisecond)
	r.delay("n1", "n3", 300*time.Millisecond)
	var put sync.WaitGroup
	put.Go(func() {
		if got := r.do("n1", "put", "x", "1"); got.Outcome != Info {
			t.Errorf("a put that is cut off halfway: %+v, want info", got)
		}
	})
	time.Sleep(100 * time.Millisecond) // its question is on the way; what follows is cut off
	r.part([]string{"n1"}, []string{"n2", "n3"})
	put.Wait()
	r.part()
	eventually(t, "it is seen", func() error {
		if got := r.do("n1", "get", "x", ""); string(got.Out) != "1" {
			return errors.New(string(got.Out))
		}
		return nil
	})
}

// olderAfterNewer puts at n1, whose messages are slow, waits until a get at n2
// sees the value, and counts the gets that see the old one afterwards.
func olderAfterNewer(t *testing.T, bug string) (old int) {
	r := newRing(t, "kvabd", 3, bug, false)
	r.must("n1", "put", "x", "1", "")
	r.delay("n1", "n2", 250*time.Millisecond)
	r.delay("n1", "n3", 250*time.Millisecond)
	var put sync.WaitGroup
	put.Go(func() { r.must("n1", "put", "x", "2", "") })
	eventually(t, "a get sees 2", func() error {
		if got := r.do("n2", "get", "x", ""); string(got.Out) != "2" {
			return errors.New(string(got.Out))
		}
		return nil
	})
	for range 20 {
		if got := r.do("n3", "get", "x", ""); string(got.Out) == "1" {
			old++
		}
	}
	put.Wait()
	return old
}

func TestABDWritesBack(t *testing.T) {
	t.Parallel()
	if old := olderAfterNewer(t, ""); old > 0 {
		t.Errorf("%d gets saw the old value after the new one", old)
	}
	if old := olderAfterNewer(t, "no-write-back"); old == 0 {
		t.Error("without write-back no get saw the old value after the new one")
	}
}

// Without write-back runs whose puts take their time are regular where each key has one writer,
// weakly regular where it has several (a put need not see what an earlier get
// saw), and soon not linearizable.
func TestABDWithoutWriteBackIsRegular(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} {
		r := newRing(t, "kvabd", 3, "no-write-back", true)
		r.delay("n1", "n2", 20*time.Millisecond)
		r.delay("n1", "n3", 40*time.Millisecond)
		milder := []string{"regular-weak"}
		if own {
			milder = append(milder, "regular")
		}
		r.convicted(load{clients: 6, keys: 2, own: own, f: []string{"put", "get", "get"}, length: 500 * time.Millisecond}, "linearizable", "", milder...)
	}
}

// The stores without a leader or with one, healthy and broken, keep their claims.
func TestPlainStoresKeepTheirClaims(t *testing.T) {
	t.Parallel()
	values := []string{"put", "get", "get", "cas", "delete"}
	registers := []string{"put", "get", "get"}
	for _, c := range []struct {
		name, store string
		n           int
		f           []string
		faults      func(*ring)
	}{
		{"kvsingle", "kvsingle", 1, values, nil},
		{"kvforward", "kvforward", 3, values, nil},
		{"kvforward killed", "kvforward", 3, values, killing("n1")},
		{"kvforward cut", "kvforward", 3, values, cutting},
		{"kvsplit", "kvsplit", 3, values, nil},
		{"kvabd", "kvabd", 3, registers, nil},
		{"kvabd killed", "kvabd", 3, registers, killing("n1", "n2", "n3")},
		{"kvabd cut", "kvabd", 5, registers, cutting},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRing(t, c.store, c.n, "", true)
			r.ready()
			h := r.record(load{clients: 6, keys: 3, f: c.f, length: time.Second, roam: strings.HasSuffix(c.name, "cut"), faults: c.faults})
			level, oracle := r.store.Claims(nil)
			holds(t, h, level, oracle, spec.Consistent)
		})
	}
}

// The stores that are wrong are found out, kvsplit under a cut only.
func TestWrongStoresAreConvicted(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]func(*ring){"kvsync": nil, "kvquorum": nil, "kvsplit": func(r *ring) {
		r.part([]string{"n1"}, []string{"n2", "n3"})
	}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRing(t, name, 3, "", false)
			r.ready()
			r.convicted(load{clients: 6, keys: 2, f: []string{"put", "get", "cas"}, length: 700 * time.Millisecond, faults: faults}, "linearizable", "")
		})
	}
}

// killing kills and restarts nodes in turn.
func killing(ids ...string) func(*ring) {
	return func(r *ring) {
		for _, id := range ids {
			time.Sleep(100 * time.Millisecond)
			r.kill(id)
			time.Sleep(100 * time.Millisecond)
			r.restart(id)
		}
	}
}

// cutting cuts a minority off, another one, and heals.
func cutting(r *ring) {
	for i := range 3 {
		time.Sleep(100 * time.Millisecond)
		k := i % len(r.names)
		r.part(r.names[k:k+1], append(append([]string{}, r.names[:k]...), r.names[k+1:]...))
		time.Sleep(200 * time.Millisecond)
		r.part()
	}
}
