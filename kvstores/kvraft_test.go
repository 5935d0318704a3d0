package kvstores

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pinyon/engine/spec"
)

var raftMix = []string{"get", "get", "put", "cas", "cas"}

// person is a sequential client of a raft store, which goes by name and number.
type person struct {
	r    *ring
	name string
	seq  int64
}

// say is one request, with a limit.
func (p *person) say(id string, limit time.Duration, f, key, in string) Reply {
	p.seq++
	return p.repeat(id, limit, f, key, in)
}

// repeat is the last request again, perhaps at another node.
func (p *person) repeat(id string, limit time.Duration, f, key, in string) Reply {
	c := NewClient(p.r.address[id])
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	q := Request{Client: p.name, Seq: p.seq, F: f, Key: key}
	if in != "" {
		q.In = json.RawMessage(in)
	}
	return c.Do(ctx, q)
}

// must is say that has to give out. It asks again while there is no answer.
func (p *person) must(id, f, key, in, out string) Reply {
	p.r.t.Helper()
	p.seq++
	var a Reply
	eventually(p.r.t, fmt.Sprintf("%s of %s at %s", f, key, id), func() error {
		if a = p.repeat(id, 4*time.Second, f, key, in); a.Outcome != OK {
			return fmt.Errorf("%+v", a)
		}
		return nil
	})
	if a.Outcome != OK || string(a.Out) != out {
		p.r.t.Fatalf("%s %s of %s at %s: %s %s (%s), want ok %s", f, in, key, id, a.Outcome, a.Out, a.Error, out)
	}
	return a
}

// leader waits until the nodes among agree on a leader among them.
func (r *ring) leader(among ...string) (leader string, others []string) {
	r.t.Helper()
	eventually(r.t, "a leader", func() error {
		leader, others = "", nil
		for _, id := range among {
			s := r.status(id)
			if s.Leader == "" || leader != "" && s.Leader != leader {
				return fmt.Errorf("%s says %+v", id, s)
			}
			leader = s.Leader
		}
		for _, id := range among {
			if id != leader {
				others = append(others, id)
			}
		}
		if len(others) == len(among) {
			return fmt.Errorf("%s leads", leader)
		}
		return nil
	})
	return leader, others
}

// three are the names of a ring of three.
func three(r *ring) []string { return r.names }

// failover records while leaders are cut off, killed and started again.
func failover(r *ring) {
	for round := range 2 {
		time.Sleep(300 * time.Millisecond)
		leader, others := r.leader(r.names...)
		if round == 0 {
			r.part([]string{leader}, others)
			time.Sleep(700 * time.Millisecond)
			r.part()
			continue
		}
		r.kill(leader)
		time.Sleep(500 * time.Millisecond)
		r.restart(leader)
	}
}

func TestRaftStoresKeepTheirClaims(t *testing.T) {
	for _, name := range []string{"kvraft", "kvholipaxos", "kvredisraft"} {
		t.Run(name, func(t *testing.T) {
			r := newRing(t, name, 3, "", true)
			r.ready()
			h := r.record(load{clients: 6, keys: 2, f: raftMix, length: 2800 * time.Millisecond, roam: true, faults: failover})
			holds(t, h, r.store.Claim, r.store.Oracle, spec.Consistent)
		})
	}
}

func TestRaftServesOnTheMajoritySide(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvraft", 5, "", false)
	leader, others := r.leader(r.names...)
	p := &person{r: r, name: "p"}
	p.must(leader, "put", "x", "1", "")
	few, many := []string{leader, others[0]}, others[1:]
	r.part(few, many)
	for _, id := range many {
		p.must(id, "cas", "x", fmt.Sprintf("[%d,%d]", p.seq, p.seq+1), "true")
	}
	lost := &person{r: r, name: "lost"}
	eventually(t, "the old leader steps down", func() error {
		if s := r.status(leader); s.Ready {
			return fmt.Errorf("it says %+v", s)
		}
		return nil
	})
	if a := lost.say(few[1], 4*time.Second, "get", "x", ""); a.Outcome != Fail {
		t.Errorf("a read of the minority: %+v, want fail", a)
	}
	r.part()
	p.must(leader, "get", "x", "", fmt.Sprint(p.seq))
}

func TestRaftMinorityDoesNotKnow(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvraft", 3, "", false)
	leader, others := r.leader(three(r)...)
	p := &person{r: r, name: "p"}
	p.must(leader, "put", "x", "1", "")
	r.part([]string{leader}, others)
	// The leader still takes it into its log; it may yet be committed.
	if a := p.say(leader, 4*time.Second, "put", "x", "2"); a.Outcome != Info {
		t.Errorf("a write at a leader that is cut off: %+v, want info", a)
	}
	// By now it knows that it does not lead.
	if a := p.say(leader, 4*time.Second, "put", "x", "3"); a.Outcome != Fail {
		t.Errorf("a write where nobody leads: %+v, want fail", a)
	}
}

func TestRaftProgressWithAMinorityDead(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvraft", 3, "", true)
	p := &person{r: r, name: "p"}
	for i := range 3 {
		leader, others := r.leader(r.names...)
		p.must(leader, "put", "x", fmt.Sprint(i), "")
		r.kill(leader)
		p.must(others[0], "get", "x", "", fmt.Sprint(i))
		p.must(others[1], "add", "x", "1", fmt.Sprint(i+1))
		r.restart(leader)
		p.must(leader, "get", "x", "", fmt.Sprint(i+1))
	}
}

func TestRaftAnswersARetryOnce(t *testing.T) {
	for bug, want := range map[string]string{"": "1", "apply-retry-twice": "2"} {
		r := newRing(t, "kvraft", 3, bug, false)
		leader, others := r.leader(r.names...)
		p := &person{r: r, name: "p"}
		first := p.must(others[0], "add", "x", "1", "1")
		bystander := &person{r: r, name: "bystander"}
		bystander.must(others[1], "put", "y", "1", "")
		if bug == "" {
			r.part([]string{leader}, others)
		}
		again := p.repeat(others[1], 4*time.Second, "add", "x", "1")
		if string(again.Out) != want {
			t.Errorf("bug %q: the retry gave %s (%s), want %s", bug, again.Out, again.Error, want)
		}
		if bug == "" && fmt.Sprint(first.Hints) != fmt.Sprint(again.Hints) {
			t.Errorf("the retry has hints %v, want those of the entry, %v", again.Hints, first.Hints)
		}
		r.part()
		p.must(others[0], "get", "x", "", want)
	}
}

// TestRaftMistakesOfALeaderThatIsCutOff: each is asked the same as its twin.
func TestRaftMistakesOfALeaderThatIsCutOff(t *testing.T) {
	for _, c := range []struct {
		store, bug, f, in    string
		back, later          bool // set the leader's clock back; write elsewhere first
		correct, wrong, gave string
	}{
		{"kvraft", "no-read-index", "get", "", false, true, Fail, OK, "1"},
		{"kvredisraft", "no-read-index", "get", "", false, true, Fail, OK, "1"},
		{"kvraft", "stale-lease-read", "get", "", true, true, Fail, OK, "1"},
		{"kvraft", "stale-leader-cas", "cas", "[1,3]", false, true, "", OK, "true"},
		{"kvraft", "ack-before-commit", "put", "3", false, false, Info, OK, ""},
	} {
		for _, bug := range []string{"", c.bug} {
			t.Run(c.store+"/"+c.bug+"="+fmt.Sprint(bug != ""), func(t *testing.T) {
				t.Parallel()
				r := newRing(t, c.store, 3, bug, false)
				leader, others := r.leader(r.names...)
				p := &person{r: r, name: "p"}
				p.must(leader, "put", "x", "1", "")
				if c.back {
					r.offset[leader].Shift(-time.Minute)
				}
				r.part([]string{leader}, others)
				if c.later {
					p.must(others[0], "put", "x", "2", "")
				}
				a := p.say(leader, 4*time.Second, c.f, "x", c.in)
				if bug != "" && (a.Outcome != c.wrong || string(a.Out) != c.gave) {
					t.Errorf("with the mistake: %+v, want %s %s", a, c.wrong, c.gave)
				}
				if bug == "" && (a.Outcome == OK || c.correct != "" && a.Outcome != c.correct) {
					t.Errorf("without it: %+v, want %s", a, c.correct)
				}
			})
		}
	}
}

func TestRaftStartsFromASnapshot(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvraft", 3, "", true)
	leader, others := r.leader(r.names...)
	p := &person{r: r, name: "p"}
	p.must(leader, "put", "x", `"<old>"`, "")
	r.kill(others[0])
	for _, id := range []string{leader, others[1]} {
		n := r.nodes[id].node.(*raftNode)
		for i := range 50 {
			p.must(id, "put", fmt.Sprint("k", i%7), fmt.Sprint(i), "")
		}
		n.pause(func() {
			if err := n.compact(0); err != nil {
				t.Fatal(err)
			}
		})
	}
	r.restart(others[0]) // catches up from a snapshot, because the entries are gone
	p.must(others[0], "get", "x", "", `"\u003cold\u003e"`)
	for _, id := range r.names {
		r.kill(id)
	}
	for _, id := range r.names {
		r.restart(id)
	}
	p.must(others[0], "cas", "x", `["<old>","new"]`, "true")
	if again := p.repeat(leader, 4*time.Second, "cas", "x", `["<old>","new"]`); string(again.Out) != "true" {
		t.Errorf("the retry gave %+v", again)
	}
	p.must(leader, "get", "k3", "", "45")
}

func TestRaftHintsCostNoMessage(t *testing.T) {
	count := func(hints string) (sent [2]int64) {
		s := kvraft()
		inner := s.New
		s.New = func(c Config) (Node, error) {
			c.Options = Options{"hints": hints}
			return inner(c)
		}
		r := newRingOf(t, s, 3, "", false)
		leader, _ := r.leader(r.names...)
		p := &person{r: r, name: "p"}
		p.must(leader, "put", "x", "0", "")
		n := r.nodes[leader].node.(*raftNode)
		appended := func() (all int64) {
			n.pause(func() {
				for kind, c := range n.sent {
					if kind.String() == "MsgApp" {
						all += c
					}
				}
			})
			return all
		}
		for i, f := range []string{"put", "get"} {
			before := appended()
			for range 50 {
				p.must(leader, f, "x", map[string]string{"put": "1"}[f], map[string]string{"get": "1"}[f])
			}
			sent[i] = appended() - before
		}
		return sent
	}
	// Two to append and two to tell of the commit; a follower that answers late
	// is told again, so the least of a few runs counts. A hint that cost a
	// message would cost it in every run.
	on, off := count("on"), count("off")
	for i := 0; i < 5 && (on[0] > off[0]+25 || off[0] > on[0]+25 || max(on[0], off[0]) > 250); i++ {
		again, without := count("on"), count("off")
		on, off = [2]int64{min(on[0], again[0]), max(on[1], again[1])}, [2]int64{min(off[0], without[0]), max(off[1], without[1])}
	}
	if on[0] > off[0]+25 || off[0] > on[0]+25 || off[0] < 150 || off[0] > 300 || max(on[1], off[1]) > 25 {
		t.Errorf("messages that append, of 50 puts and of 50 gets: %v with hints, %v without; want about 200, and about none", on, off)
	}
}

// TestRaftReadWaitsUntilEnoughIsApplied: for the index that it was given, and
// no longer, and what it shows is as of when it was asked.
func TestRaftReadWaitsUntilEnoughIsApplied(t *testing.T) {
	n := &raftNode{flavor: raftFlavor{read: raftHints}, state: raftState{Index: 4, Term: 2, Data: Machine{}, Clients: map[string]result{}}}
	early := time.Now().Add(-time.Second)
	a := &asked{Request: Request{F: "get", Key: "x"}, answer: make(chan Reply, 1)}
	n.reads.known = []*batch{{reads: []*asked{a}, asked: early, index: 5}}
	n.answerReads()
	if len(a.answer) > 0 || n.reads.asOf.Equal(early) {
		t.Fatal("answered before entry 5 was applied")
	}
	n.state.apply(placed{term: 3, index: 5, command: &command{Request: Request{Client: "c", F: "put", Key: "x", In: json.RawMessage("7")}}})
	n.answerReads()
	if len(a.answer) == 0 || !n.reads.asOf.Equal(early) {
		t.Fatalf("not answered, or as of %v", n.reads.asOf)
	}
	if r := <-a.answer; string(r.Out) != "7" || fmt.Sprint(r.Hints) != "map[index:5 term:3]" {
		t.Errorf("got %+v", r)
	}
}
