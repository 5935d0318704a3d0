package kvstores

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// The stores whose claim rests on hints keep it, healthy and under faults.
func TestHintStoresKeepTheirClaims(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"kvgryff", "kvzab"} {
		for _, c := range []struct {
			name   string
			n      int
			faults func(*ring)
		}{
			{"healthy", 3, nil},
			{"killed", 3, killing("n1", "n2", "n3")},
			{"cut", 5, cutting},
		} {
			t.Run(store+" "+c.name, func(t *testing.T) {
				t.Parallel()
				r := newRing(t, store, c.n, "", true)
				r.ready()
				h := r.record(load{clients: 6, keys: 3, f: []string{"put", "get", "get", "cas"}, length: time.Second, roam: c.name == "cut", faults: c.faults})
				level, oracle := r.store.Claims(nil)
				holds(t, h, level, oracle, spec.Consistent)
				hinted(t, h, map[string]string{"kvgryff": "carstamp", "kvzab": "zxid"}[store])
			})
		}
	}
}

// hinted looks at the hints themselves, without the checker: every answer has
// one, no two updates share one, reads have their writer's (of registers), and
// a write that returned before another was invoked has the lower one.
func hinted(t *testing.T, h *history.Raw, name string) {
	t.Helper()
	var updates []hintedWrite
	writer := map[string]string{}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Outcome != history.OK {
			continue
		}
		at := slices.IndexFunc(op.Hints, func(x history.Hint) bool { return x.Name == name })
		if at < 0 {
			t.Fatalf("operation %d, %s of %s, has no %s", i, op.F, op.Key, name)
		}
		stamp := stampOf(t, op.Hints[at].Value)
		if op.F == "get" || op.Out == history.False {
			continue
		}
		updates = append(updates, hintedWrite{op.Key, stamp, op.Invoke, op.Return})
		id := fmt.Sprint(op.Key, stamp)
		if name == "zxid" {
			id = fmt.Sprint(stamp)
		}
		if _, twice := writer[id]; twice {
			t.Errorf("two updates have %s %s", name, id)
		}
		writer[id] = written(op)
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		if name != "carstamp" || op.Outcome != history.OK || op.F != "get" {
			continue
		}
		at := slices.IndexFunc(op.Hints, func(x history.Hint) bool { return x.Name == name })
		id := fmt.Sprint(op.Key, stampOf(t, op.Hints[at].Value))
		if w, ok := writer[id]; ok && w != op.Out.Text() {
			t.Errorf("the get %d has %s and returned %s, which its writer did not write (%s)", i, id, op.Out.Text(), w)
		}
	}
	inOrder(t, updates, name)
}

type hintedWrite struct {
	key         string
	stamp       []int64
	from, until int64
}

func inOrder(t *testing.T, updates []hintedWrite, name string) {
	t.Helper()
	for _, a := range updates {
		for _, b := range updates {
			if a.until < b.from && (name == "zxid" || a.key == b.key) && slices.Compare(a.stamp, b.stamp) >= 0 {
				t.Fatalf("an update of %s with %v returned before one of %s with %v was invoked", a.key, a.stamp, b.key, b.stamp)
			}
		}
	}
}

// written is the value that an update left, as text.
func written(op *history.Op[history.Value, history.Value]) string {
	if op.F == "cas" {
		list, _ := op.In.Elems()
		return list[1].Text()
	}
	return op.In.Text()
}

func stampOf(t *testing.T, v history.Value) (s []int64) {
	t.Helper()
	var err error
	if text := v.Text(); strings.HasPrefix(text, "[") {
		err = json.Unmarshal([]byte(text), &s)
	} else {
		s = []int64{0}
		err = json.Unmarshal([]byte(text), &s[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Compare-and-set counts right under contention: as many succeed as the value moved.
func TestGryffModifiesOnce(t *testing.T) {
	t.Parallel()
	for _, f := range []string{"cas", "add"} {
		t.Run(f, func(t *testing.T) {
			r := newRing(t, "kvgryff", 3, "", true)
			r.must("n1", "put", "x", "0", "")
			var total sync.WaitGroup
			var mutex sync.Mutex
			done, unsure := 0, 0
			for i := range 6 {
				total.Go(func() {
					for range 15 {
						a := increment(r, r.names[i%3], f)
						mutex.Lock()
						switch a {
						case OK:
							done++
						case Info:
							unsure++
						}
						mutex.Unlock()
					}
				})
			}
			total.Wait()
			var got int
			if err := json.Unmarshal(r.do("n2", "get", "x", "").Out, &got); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d sure, %d unsure, the sum is %d", done, unsure, got)
			if done == 0 || got < done || got > done+unsure {
				t.Errorf("the sum is %d, want at least %d and at most %d", got, done, done+unsure)
			}
		})
	}
}

// increment adds one to x, by a compare-and-set or by an add.
func increment(r *ring, at, f string) string {
	if f == "add" {
		return r.do(at, "add", "x", "1").Outcome
	}
	was := r.do(at, "get", "x", "")
	var n int
	if was.Outcome != OK || json.Unmarshal(was.Out, &n) != nil {
		return Fail
	}
	a := r.carry(at, "cas", "x", fmt.Sprintf("[%d,%d]", n, n+1), was.Carried)
	if string(a.Out) == "false" {
		return Fail
	}
	return a.Outcome
}

// lostCausality has a slow put at n1, of which a client sees the new value at
// n2. It counts how often it sees the old one at n3 afterwards, carrying what
// it was given.
func lostCausality(t *testing.T, bug string) (old int) {
	r := newRing(t, "kvgryff", 3, bug, false)
	r.must("n1", "put", "x", "1", "")
	r.delay("n1", "n2", 250*time.Millisecond)
	r.delay("n1", "n3", 250*time.Millisecond)
	var put sync.WaitGroup
	put.Go(func() { r.must("n1", "put", "x", "2", "") })
	var carried json.RawMessage
	eventually(t, "a get sees 2", func() error {
		got := r.do("n2", "get", "x", "")
		if carried = got.Carried; string(got.Out) != "2" {
			return errors.New(string(got.Out))
		}
		return nil
	})
	for range 20 {
		if got := r.carry("n3", "get", "x", "", carried); string(got.Out) == "1" {
			old++
		}
	}
	put.Wait()
	return old
}

func TestGryffKeepsCausality(t *testing.T) {
	t.Parallel()
	if old := lostCausality(t, ""); old > 0 {
		t.Errorf("%d gets lost what their client had seen", old)
	}
	if old := lostCausality(t, "lose-causality"); old == 0 {
		t.Error("without causality no get lost what its client had seen")
	}
}

// Without causality runs whose puts take their time are soon convicted; gets
// alone are still regular.
func TestGryffWithoutCausalityIsConvicted(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvgryff", 3, "lose-causality", true)
	r.delay("n1", "n2", 20*time.Millisecond)
	r.delay("n1", "n3", 40*time.Millisecond)
	r.convicted(load{clients: 6, keys: 2, own: true, roam: true, f: []string{"put", "get", "get"}, length: 500 * time.Millisecond}, "regular-sequential", "gryff", "regular")
}

// A client that fails keeps what it carries.
func TestFailuresKeepWhatIsCarried(t *testing.T) {
	t.Parallel()
	for store, carried := range map[string]string{"kvgryff": `{"key":"x","stamp":[7,1,0],"value":5}`, "kvzab": `4294967297`} {
		r := newRing(t, store, 3, "", false)
		r.kill("n2")
		r.kill("n3")
		if got := r.carry("n1", "put", "y", "1", json.RawMessage(carried)); got.Outcome != Fail || string(got.Carried) != carried {
			t.Errorf("%s without a majority: %+v, want fail with what was carried", store, got)
		}
		if got := r.carry("n1", "put", "y", "1", json.RawMessage(`"what"`)); got.Outcome != Fail || !strings.Contains(got.Error, "carried") {
			t.Errorf("%s: %+v, want fail", store, got)
		}
	}
}

// The replica that lags behind what a client has seen waits, and with the bug does not.
func TestZabHeedsSessions(t *testing.T) {
	t.Parallel()
	for _, bug := range []string{"", "read-backwards-after-reconnect"} {
		r := newRing(t, "kvzab", 3, bug, true)
		r.ready()
		leader := r.status("n1").Leader
		others := slices.DeleteFunc(slices.Clone(r.names), func(id string) bool { return id == leader })
		r.must(leader, "put", "x", "1", "")
		eventually(t, "all have it", func() error {
			for _, id := range others {
				if got := r.do(id, "get", "x", ""); string(got.Out) != "1" {
					return fmt.Errorf("%s: %s", id, got.Out)
				}
			}
			return nil
		})
		r.part([]string{others[0]}, []string{leader, others[1]})
		seen := r.must(leader, "put", "x", "2", "")
		r.must(others[0], "get", "x", "", "1") // another session may lag
		got := r.carry(others[0], "get", "x", "", seen.Carried)
		if want := map[bool]string{true: Fail, false: OK}[bug == ""]; got.Outcome != want || string(got.Out) == "2" {
			t.Errorf("bug %q: %+v, want %s", bug, got, want)
		}
		r.part()
		eventually(t, "it catches up", func() error {
			if got := r.carry(others[0], "get", "x", "", seen.Carried); string(got.Out) != "2" {
				return fmt.Errorf("%+v", got)
			}
			return nil
		})
	}
}

// With the bug healthy runs are soon convicted.
func TestZabWithoutSessionsIsConvicted(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvzab", 3, "read-backwards-after-reconnect", true)
	r.ready()
	r.convicted(load{clients: 6, keys: 2, f: []string{"put", "get", "get"}, length: 500 * time.Millisecond}, "ordered-sequential", "zookeeper")
}

// A minority's leader commits nothing, and the majority goes on.
func TestZabServesTheMajority(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvzab", 3, "", true)
	r.ready()
	leader := r.status("n1").Leader
	others := slices.DeleteFunc(slices.Clone(r.names), func(id string) bool { return id == leader })
	r.must(leader, "put", "x", "1", "")
	r.part([]string{leader}, others)
	if got := r.do(leader, "put", "x", "9"); got.Outcome == OK {
		t.Errorf("a write at the minority: %+v", got)
	}
	eventually(t, "the majority has a leader", func() error {
		if got := r.do(others[0], "put", "x", "2"); got.Outcome != OK {
			return errors.New(got.Error)
		}
		return nil
	})
	r.must(others[0], "get", "x", "", "2")
	r.must(leader, "get", "x", "", "1") // stale, as the level allows
	if got := r.do(leader, "put", "x", "9"); got.Outcome == OK {
		t.Errorf("a write at the minority: %+v", got)
	}
	r.part()
	eventually(t, "the old leader follows", func() error {
		if got := r.do(leader, "get", "x", ""); string(got.Out) != "2" {
			return errors.New(string(got.Out))
		}
		return nil
	})
}

// few makes replicas keep no more than three applied writes.
func (r *ring) few(ids ...string) {
	for _, id := range ids {
		z := r.nodes[id].node.(*zab)
		z.lock.Lock()
		z.keep = 3
		z.lock.Unlock()
	}
}

// A replica that lacks more than the others have kept is given the state, and
// what was dropped is neither lost by a restart nor by a change of leaders.
func TestZabDropsWhatIsOld(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvzab", 3, "", true)
	r.few(r.names...)
	r.ready()
	put := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			eventually(t, "it is put", func() error {
				if got := r.do("n1", "put", fmt.Sprint("k", i%7), fmt.Sprint(i)); got.Outcome != OK {
					return errors.New(got.Error)
				}
				return nil
			})
		}
	}
	all := func(last int) {
		t.Helper()
		for _, id := range r.names {
			for i := last - 7; i < last; i++ {
				eventually(t, id+" has all", func() error {
					if got := r.do(id, "get", fmt.Sprint("k", i%7), ""); string(got.Out) != fmt.Sprint(i) {
						return fmt.Errorf("k%d is %s, want %d", i%7, got.Out, i)
					}
					return nil
				})
			}
		}
	}
	put(0, 20)
	all(20)
	r.kill("n3")
	put(20, 50)
	r.restart("n3")
	r.few("n3")
	all(50)
	for i := range 13 { // to apply one of them twice would be seen
		r.must("n3", "add", "sum", "1", fmt.Sprint(i+1))
	}
	z := r.nodes["n3"].node.(*zab)
	z.lock.Lock()
	if z.base == 0 || len(z.log) > 8 {
		t.Errorf("n3 keeps %d writes, above %d", len(z.log), z.base)
	}
	z.lock.Unlock()
	for _, id := range r.names {
		r.kill(id)
	}
	for _, id := range r.names {
		r.restart(id)
		r.few(id)
	}
	r.ready()
	all(50)
	for _, id := range r.names {
		eventually(t, id+" has the sum", func() error {
			if got := r.do(id, "get", "sum", ""); string(got.Out) != "13" {
				return fmt.Errorf("%s", got.Out)
			}
			return nil
		})
	}
	r.kill(r.status("n2").Leader)
	for _, id := range r.names {
		if r.nodes[id] == nil {
			r.restart(id)
		}
	}
	put(50, 60)
	all(60)
}

// Hints cost no message: as many are sent with them as without, and a local
// read sends none.
func TestHintsCostNoMessage(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"kvabd", "kvgryff"} {
		on, off := messages(t, store, "on"), messages(t, store, "off")
		if on > off*5/4 || off > on*5/4 || on < 100 {
			t.Errorf("%s: %d messages with hints, %d without", store, on, off)
		}
	}
	r := newRing(t, "kvzab", 3, "", false)
	r.ready()
	_, others := r.leader(r.names...)
	before := r.nodes[others[0]].peers.Sent()
	for range 50 {
		if got := r.must(others[0], "get", "x", "", "null"); got.Hints["zxid"] == nil {
			t.Errorf("%+v, want a zxid", got)
		}
	}
	if sent := r.nodes[others[0]].peers.Sent() - before; sent != 0 {
		t.Errorf("50 local reads sent %d messages", sent)
	}
}

// messages counts those of 50 puts and gets.
func messages(t *testing.T, store, hints string) (all int64) {
	s, err := Lookup(store)
	if err != nil {
		t.Fatal(err)
	}
	inner := s.New
	s.New = func(c Config) (Node, error) {
		c.Options = Options{"hints": hints}
		return inner(c)
	}
	r := newRingOf(t, s, 3, "", false)
	for i := range 50 {
		r.must("n1", "put", "x", fmt.Sprint(i), "")
		if got := r.must("n2", "get", "x", "", fmt.Sprint(i)); (got.Hints == nil) != (hints == "off") {
			t.Errorf("hints %s: %v", hints, got.Hints)
		}
	}
	for _, n := range r.nodes {
		all += n.peers.Sent()
	}
	return all
}

// A node that is closed leaves nothing running behind. Not parallel: it counts.
func TestNothingIsLeftRunning(t *testing.T) {
	for _, store := range []string{"kvsingle", "kvforward", "kvsplit", "kvsync", "kvquorum", "kvabd", "kvgryff", "kvzab"} {
		before := runtime.NumGoroutine()
		r := newRing(t, store, 3, "", true)
		r.ready()
		r.must("n1", "put", "x", "1", "")
		r.part([]string{"n1"}, []string{"n2", "n3"})
		r.do("n2", "put", "x", "2")
		for _, id := range r.names {
			r.kill(id)
		}
		eventually(t, store+" is gone", func() error {
			if n := runtime.NumGoroutine(); n > before {
				return fmt.Errorf("%d goroutines, before there were %d", n, before)
			}
			return nil
		})
	}
}
