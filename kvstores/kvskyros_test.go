package kvstores

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pinyon/engine/spec"
)

func TestSkyrosKeepsItsClaim(t *testing.T) {
	r := newRing(t, "kvskyros", 3, "", true)
	r.ready()
	h := r.record(load{clients: 6, keys: 2, f: []string{"get", "put", "put", "delete"}, length: 2800 * time.Millisecond, roam: true, faults: failover})
	holds(t, h, r.store.Claim, r.store.Oracle, spec.Consistent)
}

// TestSkyrosFailover has two writes of a key, one after the other, that are
// durable and not final when the leader is killed.
func TestSkyrosFailover(t *testing.T) {
	for bug, want := range map[string]string{"": "2", "forget-durability-order": "1"} {
		t.Run("bug="+bug, func(t *testing.T) {
			t.Parallel()
			r := newRing(t, "kvskyros", 3, bug, true)
			r.ready()
			leader, others := r.leader(r.names...)
			r.nodes[leader].node.(*logNode).lazy.Store(true)
			for i, name := range []string{"a", "b"} {
				a := (&person{r: r, name: name}).must(others[0], "put", "x", fmt.Sprint(i+1), "")
				if a.Hints["DIdx"] == nil {
					t.Errorf("not durable at a supermajority: %+v", a)
				}
			}
			r.kill(leader)
			p := &person{r: r, name: "reader"}
			var got Reply
			eventually(t, "a read", func() error {
				if got = p.say(others[1], 2*time.Second, "get", "x", ""); got.Outcome != OK {
					return fmt.Errorf("%+v", got)
				}
				return nil
			})
			if string(got.Out) != want {
				t.Errorf("after the failover: %s, want %s", got.Out, want)
			}
			// Two of three are no supermajority, but a majority: the leader orders it.
			slow := (&person{r: r, name: "slow"}).must(others[0], "put", "x", "3", "")
			if slow.Hints["DIdx"] != nil {
				t.Errorf("a write that only two have: %+v", slow)
			}
			p.must(others[1], "get", "x", "", "3")
		})
	}
}

func TestSkyrosRecovery(t *testing.T) {
	n := &logNode{config: Config{Nodes: []string{"n1", "n2", "n3", "n4", "n5"}}, keyed: true}
	log := func(ids string) sealAnswer {
		a := sealAnswer{Sealed: true, Held: true}
		for _, id := range strings.Fields(ids) {
			a.Tail = append(a.Tail, logRecord{ID: id})
		}
		return a
	}
	for _, c := range []struct {
		logs []string // of a majority of five: two of three are enough, or four of five
		want string
	}{
		{[]string{"a b", "a b", "b a"}, "a b"},
		{[]string{"b a", "b a", "a b"}, "b a"},
		{[]string{"a b", "b", "a"}, "a b"},
		{[]string{"a", "b", ""}, ""},
		{[]string{"a b c", "c", "a c b"}, "a c b"},
		{[]string{"a b c", "a b c", "a b c", "c", "c"}, "c"},
	} {
		answers := map[string]sealAnswer{}
		for i, text := range c.logs {
			answers[n.config.Nodes[i]] = log(text)
		}
		var got []string
		for _, r := range n.recoverKeyed(answers) {
			got = append(got, r.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: recovered %q, want %q", c.logs, strings.Join(got, " "), c.want)
		}
	}
	circle := topological([]logRecord{{ID: "a"}, {ID: "b"}, {ID: "c"}}, func(a, b logRecord) bool { return strings.Contains("abca", a.ID+b.ID) })
	if len(circle) != 3 || slices.ContainsFunc(circle, func(r logRecord) bool { return r.ID == "" }) {
		t.Errorf("a circle: %v", circle)
	}
}

// TestSkyrosReadOutlivesItsView: a read that waits for a leader that is cut off
// is answered by the next view. A machine that is too slow for that gets five tries.
func TestSkyrosReadOutlivesItsView(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvskyros", 3, "", false)
	r.ready()
	var a Reply
	for try := range 5 {
		leader, others := r.leader(r.names...)
		p := &person{r: r, name: fmt.Sprint("p", try)}
		p.must(leader, "put", "x", "1", "")
		before := r.status(others[0]).Term
		r.part([]string{leader}, others)
		a = p.say(others[0], 4*time.Second, "get", "x", "")
		r.part()
		if a.Outcome == OK && fmt.Sprint(a.Hints["view"]) == fmt.Sprint(before+1) {
			return
		}
		r.ready()
	}
	t.Errorf("the last answer: %+v", a)
}
