package kvstores

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"
)

// entry asks for a position of the log until it is there.
func entryOf(t *testing.T, p *person, id string, at int) string {
	t.Helper()
	var a Reply
	eventually(t, fmt.Sprintf("position %d at %s", at, id), func() error {
		if a = p.say(id, 2*time.Second, "get", "", fmt.Sprint(at)); a.Outcome != OK {
			return fmt.Errorf("%+v", a)
		}
		return nil
	})
	return string(a.Out)
}

func TestLogKeepsTheOrderOfWhatWasAcknowledged(t *testing.T) {
	r := newRing(t, "kvlog", 3, "", true)
	r.ready()
	p := &person{r: r, name: "p"}
	for i := range 9 {
		p.must(r.names[i%3], "append", "", fmt.Sprint(i), "")
	}
	for i := range 10 {
		want := fmt.Sprint(i)
		if i == 9 {
			want = "null"
		}
		if got := entryOf(t, p, r.names[i%3], i); got != want {
			t.Errorf("position %d: %s, want %s", i, got, want)
		}
	}
	again := p.repeat("n1", 2*time.Second, "append", "", "99") // the number of the last get: nobody has appended by it
	if again.Outcome != OK || entryOf(t, p, "n2", 9) != "99" {
		t.Errorf("a new append: %+v", again)
	}
	p.seq = 1
	if twice := p.repeat("n3", 2*time.Second, "append", "", "0"); twice.Outcome != OK || entryOf(t, &person{r: r, name: "q"}, "n1", 10) != "null" {
		t.Errorf("a retry of the first append was carried out again: %+v", twice)
	}
}

// TestLogFailover has two appends, one after the other, in the tail that is not
// final when the leader is killed.
func TestLogFailover(t *testing.T) {
	for bug, want := range map[string]string{"": `["a","b"]`, "reorder-at-failover": `["b","a"]`} {
		t.Run("bug="+bug, func(t *testing.T) {
			t.Parallel()
			r := newRing(t, "kvlog", 3, bug, true)
			r.ready()
			leader, others := r.leader(r.names...)
			n := r.nodes[leader].node.(*logNode)
			n.lazy.Store(true) // it makes nothing final of its own accord
			var views []int64
			for _, name := range []string{"a", "b"} {
				a := (&person{r: r, name: name}).must(others[0], "append", "", `"`+name+`"`, "")
				view, _ := json.Marshal(a.Hints["view"])
				var v int64
				_ = json.Unmarshal(view, &v)
				views = append(views, v)
			}
			r.kill(leader)
			p := &person{r: r, name: "reader"}
			var got Reply
			eventually(t, "the tail is final", func() error {
				if got = p.say(others[1], 2*time.Second, "read", "", "0"); got.Outcome != OK {
					return fmt.Errorf("%+v", got)
				}
				return nil
			})
			if string(got.Out) != want {
				t.Errorf("after the failover: %s, want %s (views %v)", got.Out, want, views)
			}
			r.restart(leader)
			if a := entryOf(t, p, leader, 1); a != string(want[5:8]) {
				t.Errorf("the old leader has %s at position 1", a)
			}
		})
	}
}

// TestLogLateSequencer: a sequencer that hears of a record when it is final
// already still gives it a place, in the view that made it final only.
func TestLogLateSequencer(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvlog", 3, "", false)
	r.ready()
	p := &person{r: r, name: "p"}
	p.must("n1", "append", "", "0", "")
	n := r.nodes["n2"].node.(*logNode)
	view, _ := n.now()
	n.mutex.Lock()
	next := n.seq.next
	n.places["late"], n.places["old"] = placing{0, view.Number}, placing{0, view.Number - 1}
	n.mutex.Unlock()
	if a := n.take(appendQuestion{view.Number, logRecord{ID: "late"}}); a != (appendAnswer{true, next}) {
		t.Errorf("final in this view: %+v, want place %d", a, next)
	}
	if a := n.take(appendQuestion{view.Number, logRecord{ID: "old"}}); a.Taken {
		t.Errorf("final in an earlier view: %+v", a)
	}
	p.must("n1", "append", "", "1", "")
	if got := entryOf(t, p, "n2", 1); got != "1" {
		t.Errorf("position 1 is %s, want 1", got)
	}
	eventually(t, "the tail is empty", func() error {
		n.mutex.Lock()
		defer n.mutex.Unlock()
		if len(n.seq.tail) > 0 {
			return fmt.Errorf("%d records", len(n.seq.tail))
		}
		return nil
	})
}

// TestLogServesThroughFailovers appends from many clients while leaders are
// cut off and killed, and then looks at the log: everything acknowledged is
// there once, and in the order of time.
func TestLogServesThroughFailovers(t *testing.T) {
	r := newRing(t, "kvlog", 3, "", true)
	r.ready()
	type done struct {
		value            int
		invoke, returned time.Time
	}
	var mutex sync.Mutex
	var all []done
	stop := time.Now().Add(3 * time.Second)
	var clients sync.WaitGroup
	for i := range 6 {
		clients.Go(func() {
			c := NewClient(r.address[r.names[i%3]])
			defer c.Close()
			for seq := 1; time.Now().Before(stop); seq++ {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				value, invoke := i*100000+seq, time.Now()
				a := c.Do(ctx, Request{Client: fmt.Sprint("c", i, "/", seq), Seq: 1, F: "append", In: marshal(value)})
				cancel()
				if a.Outcome == OK {
					mutex.Lock()
					all = append(all, done{value, invoke, time.Now()})
					mutex.Unlock()
				} else {
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	failover(r)
	clients.Wait()
	p := &person{r: r, name: "p"}
	var values []int
	eventually(t, "a last read", func() error {
		a := p.say("n2", 2*time.Second, "read", "", "0")
		return json.Unmarshal(a.Out, &values)
	})
	place := map[int]int{}
	for i, v := range values {
		if _, twice := place[v]; twice {
			t.Errorf("%d is there twice", v)
		}
		place[v] = i
	}
	for _, a := range all {
		if _, there := place[a.value]; !there {
			t.Errorf("%d was acknowledged and is not there", a.value)
		}
		for _, b := range all {
			if a.returned.Before(b.invoke) && place[a.value] > place[b.value] {
				t.Fatalf("%d was acknowledged before %d was sent, and stands behind it", a.value, b.value)
			}
		}
	}
	t.Logf("%d acknowledged, %d there", len(all), len(values))
	if len(all) < 30 {
		t.Errorf("only %d appends were acknowledged", len(all))
	}
}

// TestLogSequencerAfterAKill: what it took it still has, and what it sealed
// stays sealed.
func TestLogSequencerAfterAKill(t *testing.T) {
	dir, view := t.TempDir(), logView{Number: 4, Base: 10}
	start := func() *logNode {
		n := &logNode{places: map[string]placing{}, view: view}
		if err := n.seq.open(dir); err != nil {
			t.Fatal(err)
		}
		for v := range int64(5) { // it goes through the views again
			n.seq.begin(logView{Number: v, Base: 10})
		}
		return n
	}
	take := func(n *logNode, id string) appendAnswer {
		return n.take(appendQuestion{4, logRecord{ID: id, Value: null}})
	}
	n := start()
	for i, id := range []string{"a", "b", "a"} {
		if a, want := take(n, id), int64([]int{10, 11, 10}[i]); !a.Taken || a.Index != want {
			t.Fatalf("%s: %+v, want %d", id, a, want)
		}
	}
	n = start() // the first was killed: its log was not closed
	if a := take(n, "c"); !a.Taken || a.Index != 12 {
		t.Fatalf("after a kill: %+v, want 12", a)
	}
	if a := n.seal(4); !a.Sealed || !a.Held || len(a.Tail) != 3 || a.Tail[0].ID != "a" {
		t.Errorf("sealed: %+v", a)
	}
	for _, n := range []*logNode{n, start()} {
		if a := take(n, "d"); a.Taken {
			t.Errorf("a sealed view took a record: %+v", a)
		}
	}
	if a := start().take(appendQuestion{3, logRecord{ID: "e", Value: null}}); a.Taken {
		t.Errorf("a record of an earlier view was taken: %+v", a)
	}
}
