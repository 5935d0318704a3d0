package kvstores

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

var epaxosLoad = []string{"put", "get", "get", "cas"}

// Both stores keep their claim, healthy and under faults.
func TestEpaxosKeepsItsClaim(t *testing.T) {
	for _, c := range []struct {
		store, name string
		n           int
		faults      func(*ring)
	}{
		{"kvepaxos", "killed", 3, killing("n1", "n2", "n3")},
		{"kvepaxos", "cut", 5, cutting},
		{"kvepaxos-revisited", "killed", 3, killing("n3", "n1")},
		{"kvepaxos-revisited", "healthy", 5, nil},
	} {
		t.Run(c.store+" "+c.name, func(t *testing.T) {
			for answered := 0; answered < 10 && !t.Failed(); { // a busy machine needs more than one
				r := newRing(t, c.store, c.n, "", true)
				h := r.record(load{clients: 6, keys: 3, f: epaxosLoad, length: 1500 * time.Millisecond, roam: c.name == "cut", faults: c.faults})
				level, oracle := r.store.Claims(nil)
				if v := judge(t, h, level, oracle); v.Kind != spec.Consistent && v.Kind != spec.Vacuous {
					holds(t, h, level, oracle, spec.Consistent)
				}
				sizes := graph(t, h, c.n)
				for size, n := range sizes {
					answered += size * n
				}
			}
		})
	}
}

// hintedNode is an operation in the dependency graph, as its hints have it.
type hintedNode struct {
	Replica int     `json:"replica"`
	Inst    int64   `json:"inst"`
	Seq     int64   `json:"seq"`
	Deps    []int64 `json:"deps"`
}

// graph looks at the hints themselves, without the checker: every answer has
// all, no two name one instance, and what was answered before another of its
// key was invoked has a lower seq. It returns how many components there are of each size.
func graph(t *testing.T, h *history.Raw, replicas int) (sizes map[int]int) {
	t.Helper()
	byKey, times := map[string][]hintedNode{}, map[epaxosID][2]int64{}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Outcome != history.OK {
			continue
		}
		fields := map[string]json.RawMessage{}
		for _, x := range op.Hints {
			fields[x.Name] = json.RawMessage(x.Value.Text())
		}
		var node hintedNode
		if err := json.Unmarshal(marshal(fields), &node); err != nil || len(fields) < 4 || len(node.Deps) != replicas {
			t.Fatalf("operation %d has hints %v: %v", i, op.Hints, err)
		}
		id := epaxosID{node.Replica, node.Inst}
		if _, twice := times[id]; twice {
			t.Errorf("two operations have instance %v", id)
		}
		times[id] = [2]int64{op.Invoke, op.Return}
		byKey[op.Key] = append(byKey[op.Key], node)
	}
	sizes = map[int]int{}
	for _, list := range byKey {
		for _, a := range list {
			for _, b := range list {
				if times[epaxosID{a.Replica, a.Inst}][1] < times[epaxosID{b.Replica, b.Inst}][0] && a.Seq >= b.Seq {
					t.Errorf("%+v was answered before %+v was invoked", a, b)
				}
			}
		}
		components(list, sizes)
	}
	return sizes
}

// components counts the components of one key by size, by trying all that are
// near each other by seq.
func components(list []hintedNode, sizes map[int]int) {
	slices.SortFunc(list, func(a, b hintedNode) int { return int(a.Seq - b.Seq) })
	reach := func(from int, on func(b, a hintedNode) bool) map[int]bool {
		found, todo := map[int]bool{from: true}, []int{from}
		for ; len(todo) > 0; todo = todo[1:] {
			for y := max(0, from-25); y < min(len(list), from+25); y++ {
				if !found[y] && on(list[todo[0]], list[y]) {
					found[y] = true
					todo = append(todo, y)
				}
			}
		}
		return found
	}
	forth := func(b, a hintedNode) bool { return a.Inst <= b.Deps[a.Replica] }
	seen := map[int]bool{}
	for i := range list {
		if seen[i] {
			continue
		}
		down, up, size := reach(i, forth), reach(i, func(b, a hintedNode) bool { return forth(a, b) }), 0
		for j := range down {
			if up[j] {
				seen[j] = true
				size++
			}
		}
		sizes[size]++
	}
}

// Under load on one key all replicas execute the writes in one order, and
// requests depend on each other in twos and threes.
func TestEpaxosExecutesAlike(t *testing.T) {
	total := map[int]int{}
	for range 6 {
		r := newRing(t, "kvepaxos", 3, "", false)
		for _, id := range r.names {
			r.replica(id, func(e *epaxos) { e.run.traced = true })
		}
		h := r.record(load{clients: 6, keys: 1, f: []string{"put", "put", "get", "cas"}, length: 800 * time.Millisecond})
		holds(t, h, "linearizable", "epaxos", spec.Consistent)
		sizes := graph(t, h, 3)
		t.Logf("components by size: %v", sizes)
		orders := map[string]string{}
		eventually(t, "all have executed the same", func() error {
			for _, id := range r.names {
				r.replica(id, func(e *epaxos) { orders[id] = e.writes() })
			}
			if orders["n1"] != orders["n2"] || orders["n1"] != orders["n3"] {
				return fmt.Errorf("the writes of n1, n2 and n3: %d, %d and %d bytes", len(orders["n1"]), len(orders["n2"]), len(orders["n3"]))
			}
			return nil
		})
		for size, n := range sizes {
			total[size] += n
		}
		if total[2] > 0 && total[3] > 0 {
			return
		}
	}
	t.Errorf("components by size: %v, want some of two and of three", total)
}

// replica looks at a node's own state.
func (r *ring) replica(id string, look func(*epaxos)) {
	e := r.nodes[id].node.(*epaxos)
	e.lock.Lock()
	defer e.lock.Unlock()
	look(e)
}

// writes are those executed, in their order; held.
func (e *epaxos) writes() string {
	var b strings.Builder
	for _, id := range e.run.trace {
		if q := e.at(id).Request; q != nil && !isRead(q.F) {
			fmt.Fprint(&b, id, " ")
		}
	}
	return b.String()
}

// Where nothing conflicts and all answer in time, puts are decided without an accept.
func TestEpaxosFastPath(t *testing.T) {
	for _, s := range []Store{kvepaxos(), kvepaxosRevisited()} {
		r := newRing(t, s.Name, 3, "", false)
		p := &person{r: r, name: "p"}
		eventually(t, "three fast puts", func() (err error) {
			p.must("n1", "put", fmt.Sprint("k", p.seq), "1", "")
			r.replica("n1", func(e *epaxos) {
				if e.fastAgreed < 3 {
					err = fmt.Errorf("%d of %d", e.fastAgreed, p.seq)
				}
			})
			return err
		})
	}
}

// While any minority is dead the others answer everything, and what the dead
// left undecided holds up nobody for long.
func TestEpaxosServesTheMajority(t *testing.T) {
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			r := newRing(t, "kvepaxos", n, "", true)
			p := &person{r: r, name: "p"}
			p.must("n1", "put", "x", "1", "")
			// n1's next put has been heard of at n3 only when n1 dies.
			m := epaxosMessage{ID: epaxosID{0, 1}, epaxosValue: epaxosValue{Request: putOf("x", 99), Seq: 2, Deps: slices.Repeat([]int64{-1}, n)}}
			m.Deps[0] = 0
			r.kill("n1")
			if n == 5 {
				r.kill("n2")
			}
			if vote, err := r.nodes["n3"].node.(*epaxos).preAccept(m); err != nil || !vote.Granted {
				t.Fatal(vote, err)
			}
			alive := r.names[n/2:]
			p.must("n3", "put", "x", "2", "")
			for i := range 10 {
				id := alive[i%len(alive)]
				p.must(id, "put", "x", fmt.Sprint(i), "")
				p.must(alive[(i+1)%len(alive)], "get", "x", "", fmt.Sprint(i))
			}
			r.replica("n3", func(e *epaxos) {
				if x := e.at(m.ID); x.Stage != committed || x.Request == nil || !x.executed {
					t.Errorf("what the dead node began is %+v", x)
				}
			})
		})
	}
}

// A node that is cut off learns what it missed.
func TestEpaxosCatchesUp(t *testing.T) {
	r := newRing(t, "kvepaxos", 3, "", false)
	p := &person{r: r, name: "p"}
	r.part([]string{"n3"}, []string{"n1", "n2"})
	if a := p.say("n3", 3*time.Second, "put", "x", "7"); a.Outcome != Info {
		t.Errorf("a put without a majority: %+v, want info", a)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			q := &person{r: r, name: fmt.Sprint("q", i)}
			for j := range 10 {
				q.must(r.names[i%2], "put", fmt.Sprint("k", i), fmt.Sprint(j), "")
			}
		})
	}
	all.Wait()
	r.part()
	for i := range 8 {
		p.must("n3", "get", fmt.Sprint("k", i), "", "9")
	}
	// The put without an answer may have come to pass or to nothing, and to the
	// same everywhere.
	eventually(t, "the put is decided", func() error {
		var said []string
		for _, id := range r.names {
			r.replica(id, func(e *epaxos) {
				if x := e.at(epaxosID{2, 0}); x != nil && x.Stage == committed {
					said = append(said, string(marshal(x.epaxosValue)))
				}
			})
		}
		if len(said) < 3 || said[0] != said[1] || said[0] != said[2] {
			return fmt.Errorf("%v", said)
		}
		return nil
	})
}

// What was acknowledged is still there after all were killed.
func TestEpaxosKeepsWhatWasAcknowledged(t *testing.T) {
	for _, store := range []string{"kvepaxos", "kvepaxos-revisited"} {
		r := newRing(t, store, 3, "", true)
		p := &person{r: r, name: "p"}
		for i := range 12 {
			p.must(r.names[i%3], "put", fmt.Sprint("k", i%4), fmt.Sprint(i), "")
		}
		for _, id := range r.names {
			r.kill(id)
		}
		for _, id := range r.names {
			r.restart(id)
		}
		for k := range 4 {
			p.must(r.names[k%3], "get", fmt.Sprint("k", k), "", fmt.Sprint(8+k))
		}
		p.must("n1", "put", "k0", "100", "")
		p.must("n2", "get", "k0", "", "100")
	}
}

// A retry is carried out once, whichever node gets it.
func TestEpaxosDoesNotRepeat(t *testing.T) {
	r := newRing(t, "kvepaxos", 3, "", true)
	p := &person{r: r, name: "p"}
	first := p.must("n1", "add", "x", "5", "5")
	for _, id := range []string{"n1", "n2", "n3"} {
		eventually(t, id+" knows of it", func() error {
			if a := p.repeat(id, 3*time.Second, "add", "x", "5"); a.Outcome != OK || string(a.Out) != "5" || fmt.Sprint(a.Hints) != fmt.Sprint(first.Hints) {
				return fmt.Errorf("%+v, want %+v", a, first)
			}
			return nil
		})
	}
	(&person{r: r, name: "q"}).must("n2", "get", "x", "", "5")
	// Two nodes get it at once.
	p.seq++
	var all sync.WaitGroup
	for _, id := range []string{"n1", "n2"} {
		all.Go(func() {
			if a := p.repeat(id, 3*time.Second, "add", "x", "1"); a.Outcome == Fail {
				t.Errorf("at %s: %+v", id, a)
			}
		})
	}
	all.Wait()
	(&person{r: r, name: "s"}).must("n3", "get", "x", "", "6")
}

// Mistakes that lie in the order of execution are soon convicted in a healthy run.
func TestEpaxosBugsAreConvicted(t *testing.T) {
	for store, bugs := range map[string][]string{"kvepaxos": {noTieBreak, skipCommitted}, "kvepaxos-revisited": {skipCommitted}} {
		for _, bug := range bugs {
			t.Run(store+" "+bug, func(t *testing.T) {
				t.Parallel()
				for range 8 {
					r := newRing(t, store, 3, bug, false)
					r.slow3ms()
					h := r.record(load{clients: 6, keys: 1, f: []string{"put", "get"}, length: 600 * time.Millisecond})
					level, oracle := r.store.Claims(nil)
					if judge(t, h, level, oracle).Kind == spec.Violation {
						return
					}
				}
				t.Errorf("no run was convicted")
			})
		}
	}
}

// Of two puts at once one ends up below the other, at all nodes the same one;
// where puts do not conflict, each node ends with the one that came from afar.
func TestEpaxosOrdersBlindWrites(t *testing.T) {
	for _, bug := range []string{"", blindWrites} {
		r := newRing(t, "kvepaxos", 3, bug, false)
		r.slow3ms()
		differ := 0
		for i := 0; i < 12 && differ == 0; i++ {
			key := fmt.Sprint("k", i)
			var both sync.WaitGroup
			for _, id := range []string{"n1", "n2"} {
				both.Go(func() { (&person{r: r, name: id + key}).say(id, 3*time.Second, "put", key, marshalText(id)) })
			}
			both.Wait()
			p := &person{r: r, name: "p" + key}
			a, b := p.say("n1", 3*time.Second, "get", key, ""), p.say("n2", 3*time.Second, "get", key, "")
			if a.Outcome == OK && b.Outcome == OK && !same(a.Out, b.Out) {
				differ++
			}
		}
		if (differ > 0) != (bug != "") {
			t.Errorf("bug %q: n1 and n2 differ on %d keys", bug, differ)
		}
	}
}

func marshalText(v any) string { return string(marshal(v)) }

// Three puts that each depend on the next, one way round only, are executed by
// seq and replica everywhere. The oracle epaxos accepts that; the published
// pair rule takes it for a circle.
func TestEpaxosCircleOfThree(t *testing.T) {
	var nodes []*epaxos
	for i := range 3 {
		nodes = append(nodes, replicaOf(t, 3, i, ""))
	}
	var puts []epaxosMessage
	for q, e := range nodes {
		x := e.reserve(*putOf("x", q+1))
		if _, err := e.keep(x); err != nil {
			t.Fatal(err)
		}
		puts = append(puts, epaxosMessage{ID: x.ID, epaxosValue: x.epaxosValue})
	}
	for q, m := range puts { // replica q and the next one are its majority
		vote, err := nodes[(q+1)%3].preAccept(m)
		if err != nil || !vote.Granted {
			t.Fatal(vote, err)
		}
		puts[q].epaxosValue = vote.Entry.epaxosValue
	}
	h := &history.Raw{Path: "three puts and a get"}
	note := func(f string, process int, in, out string, from, until int64, x *epaxosEntry) {
		op := history.Op[history.Value, history.Value]{Process: process, F: f, Key: "x", Invoke: from, Return: until,
			In: parsed(t, json.RawMessage(in)), Out: parsed(t, json.RawMessage(out))}
		hints := map[string]any{"replica": x.ID.Replica, "inst": x.ID.Inst, "seq": x.Seq, "deps": x.Deps}
		for _, name := range sortedNames(hints) {
			op.Hints = append(op.Hints, history.Hint{Name: name, Value: parsed(t, marshal(hints[name]))})
		}
		h.Ops = append(h.Ops, op)
	}
	for q, e := range nodes {
		for i := range puts {
			if err := e.learn(puts[(q+i)%3]); err != nil {
				t.Fatal(err)
			}
		}
		if got := string(e.run.state["x"]); got != "3" {
			t.Errorf("replica %d ends with %s", q, got)
		}
		note("put", q, string(puts[q].Request.In), "", 0, 10, e.at(puts[q].ID))
	}
	get := nodes[0].reserve(*getOf("x", 9))
	note("get", 3, "", "3", 20, 30, get)
	holds(t, h, "linearizable", "epaxos", spec.Consistent)
	holds(t, h, "linearizable", "epaxos-pairs", spec.Violation)
}

// slow3ms has all messages between nodes take so long: what clients do then
// overlaps much more than on a loopback alone.
func (r *ring) slow3ms() {
	for _, a := range r.names {
		for _, b := range r.names {
			r.delay(a, b, 3*time.Millisecond)
		}
	}
}

func TestEpaxosHintsCostNoMessage(t *testing.T) {
	count := func(hints string) int64 {
		s := kvepaxos()
		s.New = func(c Config) (Node, error) {
			c.Options = Options{"hints": hints}
			return newEpaxos(c, false)
		}
		r := newRingOf(t, s, 3, "", false)
		p := &person{r: r, name: "p"}
		sent := func() (all int64) {
			for _, id := range r.names {
				all += r.nodes[id].peers.Sent()
			}
			return all
		}
		before := sent()
		for i := range 60 {
			a := p.must("n1", "put", "x", fmt.Sprint(i), "")
			if (a.Hints == nil) != (hints == "off") {
				t.Fatalf("hints %s: %v", hints, a.Hints)
			}
		}
		var n int64
		eventually(t, "all commits are sent", func() error {
			if now := sent(); now != n {
				n = now
				return errors.New("messages are still sent")
			}
			return nil
		})
		return n - before
	}
	on, off := count("on"), count("off")
	t.Logf("60 puts: %d messages with hints, %d without", on, off)
	// Two to ask and two to tell; a slow answer costs two more, to accept.
	if on < 240 || off < 240 || on > 400 || off > 400 {
		t.Errorf("60 puts: %d messages with hints, %d without, want about 240", on, off)
	}
}
