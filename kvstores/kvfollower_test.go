package kvstores

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pinyon/engine/spec"
)

// follower starts kvfollower under an option.
func follower(t *testing.T, bug, option, value string) *ring {
	t.Helper()
	s := kvfollower()
	inner := s.New
	s.New = func(c Config) (Node, error) {
		c.Options = Options{option: value}
		return inner(c)
	}
	s.Claim, s.Oracle = s.ClaimFor(Options{option: value})
	s.Name += " " + option + "=" + value
	if bug != "" {
		s.Name += " " + bug
	}
	r := newRingOf(t, s, 3, bug, false)
	r.ready()
	return r
}

// lonely cuts off a follower for a while.
func lonely(r *ring) {
	time.Sleep(300 * time.Millisecond)
	_, others := r.leader(r.names...)
	r.part(others[:1], without(r.names, others[0]))
	// Longer than its clients wait for a write that they are stuck with.
	time.Sleep(raftPatience + 500*time.Millisecond)
	r.part()
}

func without(list []string, id string) (rest []string) {
	for _, x := range list {
		if x != id {
			rest = append(rest, x)
		}
	}
	return rest
}

func TestFollowerKeepsItsPromiseAndNoMore(t *testing.T) {
	for _, c := range []struct{ option, value, bug string }{
		{"k", "3", ""}, {"k", "3", "unbounded-lag"}, {"t", "200ms", ""}, {"t", "200ms", "unbounded-lag"},
	} {
		t.Run(c.option+c.bug, func(t *testing.T) {
			r := follower(t, c.bug, c.option, c.value)
			h := r.record(load{clients: 6, keys: 1, f: strings.Fields("get get get get get get get put"), length: 1600 * time.Millisecond, faults: lonely})
			if c.bug != "" {
				holds(t, h, r.store.Claim, "", spec.Violation)
				return
			}
			holds(t, h, r.store.Claim, "", spec.Consistent)
			holds(t, h, "linearizable", "", spec.Violation)
		})
	}
}

func TestFollowerThatIsCutOff(t *testing.T) {
	for _, c := range []struct {
		option, value, bug string
		late               string // the outcome of a read after a second
	}{
		{"k", "2", "", Fail}, {"k", "2", "unbounded-lag", OK}, {"t", "300ms", "", Fail}, {"t", "300ms", "unbounded-lag", OK},
	} {
		t.Run(c.option+c.bug, func(t *testing.T) {
			t.Parallel()
			r := follower(t, c.bug, c.option, c.value)
			leader, others := r.leader(r.names...)
			p := &person{r: r, name: "p"}
			p.must(leader, "put", "x", "1", "")
			p.must(others[0], "add", "x", "0", "1") // an entry of its own: it has applied the first
			r.part(others[:1], without(r.names, others[0]))
			cut := time.Now()
			soon := p.say(others[0], 3*time.Second, "get", "x", "")
			if c.option == "t" && time.Since(cut) < 150*time.Millisecond && string(soon.Out) != "1" {
				t.Errorf("a read after %v: %+v, want 1", time.Since(cut), soon)
			}
			for i := range 3 {
				p.must(leader, "put", "x", fmt.Sprint(i+2), "")
			}
			time.Sleep(time.Until(cut.Add(time.Second))) // the promise is about time
			if a := p.say(others[0], 3*time.Second, "get", "x", ""); a.Outcome != c.late {
				t.Errorf("a read after %v: %+v, want %s", time.Since(cut), a, c.late)
			}
			r.part()
			eventually(t, "it catches up", func() error {
				if a := p.say(others[0], 2*time.Second, "get", "x", ""); string(a.Out) != "4" {
					return fmt.Errorf("it says %+v", a)
				}
				return nil
			})
		})
	}
}

func TestFollowerAnswersFromTheLastVersionsOnly(t *testing.T) {
	n := &raftNode{flavor: raftFlavor{stale: &staleness{versions: 3}}}
	for i, key := range []string{"x", "x", "y", "x", ""} {
		p := placed{index: uint64(11 + i)}
		if key != "" {
			p.command = &command{Request: Request{F: "put", Key: key}}
		}
		n.backlog = append(n.backlog, p)
	}
	for _, c := range []struct {
		key   string
		index uint64
		want  bool
	}{{"x", 13, true}, {"x", 14, false}, {"x", 15, false}, {"y", 15, true}, {"z", 15, true}, {"y", 16, false}} {
		if got := n.fewMissing(c.key, c.index); got != c.want {
			t.Errorf("a read of %s at index %d: answered without applying: %v, want %v", c.key, c.index, got, c.want)
		}
	}
}

func TestFollowerOptions(t *testing.T) {
	for _, c := range []struct {
		o     Options
		claim string
		bad   bool
	}{
		{nil, "bounded-staleness:k=3", false},
		{Options{"k": "5"}, "bounded-staleness:k=5", false},
		{Options{"t": "200ms"}, "bounded-staleness:t=200ms", false},
		{Options{"k": "0"}, "", true},
		{Options{"k": "many"}, "", true},
		{Options{"t": "-1s"}, "", true},
		{Options{"k": "2", "t": "1s"}, "", true},
	} {
		_, err := stalenessOf(c.o)
		if (err != nil) != c.bad {
			t.Errorf("%v: error %v", c.o, err)
		}
		if claim, _ := kvfollower().Claims(c.o); err == nil && claim != c.claim {
			t.Errorf("%v: claims %s, want %s", c.o, claim, c.claim)
		}
	}
}
