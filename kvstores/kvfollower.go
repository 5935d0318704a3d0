package kvstores

import (
	"fmt"
	"strconv"
	"time"
)

// followerLag is how long a follower of kvfollower lets committed entries
// gather before it applies them, unless somebody needs one.
const followerLag = 50 * time.Millisecond

// staleness is a promise: reads miss at most versions-1 of their key's newest
// versions, or (age > 0) at most what was acknowledged in the last age. A nil
// *staleness promises that nothing is missed.
type staleness struct {
	versions int
	age      time.Duration
}

func kvfollower() Store {
	return Store{
		Name: "kvfollower",
		Doc: `kvraft whose replicas answer reads from what they have applied, boundedly stale
Option k (the default, 3): a read returns one of the last k versions of its key.
Option t: it may miss what was acknowledged in the last t, and nothing older.
Followers apply what is committed every 50 ms, or when they need it.

By versions. The replica asks the leader for a read index: it learns an index i
that is at least every entry that had an effect anybody saw before the read was
asked for (ReadIndex). When it knows the entries up to i to be committed, it
counts those that concern the key and that it has not applied; if they are
fewer than k it answers from what it has applied, and otherwise it applies them
first. So at the moment of the question at most k-1 versions were missing. No
clock is involved. A replica that reaches no majority does not answer.

By time. Each replica asks for a read index every 30 ms, and notes by its own
clock when it asked. Once it has applied everything up to the index that came
back, everything acknowledged before it asked is applied. While that is at most
t ago it answers reads from what it has applied, at once; later, each read asks
for an index of its own, and gets no answer without a majority. The time is
measured by one node's monotonic clock between two events of that node, which
setting the clock does not move and which runs on while the process is stopped;
assumed is only that clocks of different nodes run at the same rate, to one in a
thousand over t, for which t less a thousandth is used.

Hints: index of the entry that a write is; applied, the last entry that the
replica had applied when it answered (for an entry: itself).`,
		Model: "kv", Claim: "bounded-staleness:k=3",
		ClaimFor: func(o Options) (level, oracle string) {
			s, err := stalenessOf(o)
			switch {
			case err != nil:
				return "bounded-staleness:k=3", ""
			case s.age > 0:
				return "bounded-staleness:t=" + o["t"], ""
			}
			return fmt.Sprintf("bounded-staleness:k=%d", s.versions), ""
		},
		Valid: func(o Options) error {
			_, err := stalenessOf(o)
			return err
		},
		Options: []Option{
			{"k", "3", "a read returns one of the last k versions of its key"},
			{"t", "", "instead: a read may miss what was acknowledged in the last t, such as 200ms"},
			hintsOption,
		},
		Bugs: []Bug{{Name: "unbounded-lag", Doc: "replicas answer reads from what they have applied, however old that is",
			Faults: []string{"isolate-one", "halves", "pause", "none", "chaos"}}},
		New: func(c Config) (Node, error) {
			s, err := stalenessOf(c.Options)
			if err != nil {
				return nil, err
			}
			return newRaftNode(c, raftFlavor{
				entry: func(_, index uint64) map[string]any { return map[string]any{"index": index, "applied": index} },
				read:  func(_, index uint64) map[string]any { return map[string]any{"applied": index} },
				stale: s,
			})
		},
	}
}

// stalenessOf reads the options.
func stalenessOf(o Options) (*staleness, error) {
	k, byVersions := o["k"]
	t, byTime := o["t"]
	switch {
	case byVersions && byTime:
		return nil, fmt.Errorf("kvfollower takes option k or option t, not both")
	case byTime:
		age, err := time.ParseDuration(t)
		if err != nil || age <= 0 {
			return nil, fmt.Errorf("option t=%s: expected a duration above 0, such as 200ms", t)
		}
		return &staleness{age: age}, nil
	case !byVersions:
		k = "3"
	}
	versions, err := strconv.Atoi(k)
	if err != nil || versions < 1 {
		return nil, fmt.Errorf("option k=%s: expected a whole number above 0", k)
	}
	return &staleness{versions: versions}, nil
}

// within reports whether a read may be answered from what is applied if that is
// as of so long ago.
func (s *staleness) within(ago time.Duration) bool {
	return s != nil && s.age > 0 && ago <= s.age-s.age/1000
}

// refresh reports whether it is time to ask for a read index for nobody.
func (s *staleness) refresh(tick int64) bool { return s != nil && s.age > 0 && tick%2 == 0 }

// fewMissing reports whether everything up to index is known to be committed,
// and fewer than k versions of key in it are not applied.
func (n *raftNode) fewMissing(key string, index uint64) bool {
	s := n.flavor.stale
	if s == nil || s.versions == 0 || len(n.backlog) == 0 || n.backlog[len(n.backlog)-1].index < index {
		return false
	}
	missing := 0
	for _, p := range n.backlog {
		if p.index <= index && p.command != nil && p.Key == key {
			missing++
		}
	}
	return missing < s.versions
}

// due reports whether the backlog is to be applied now. Only a follower that
// may be stale ever waits, and not while it holds up somebody: a request whose
// entry is in the backlog, or a read that misses too much.
func (n *raftNode) due() bool {
	const lag = int64(followerLag / raftTick)
	if n.flavor.stale == nil || n.raw.BasicStatus().Lead == n.number(n.config.ID) || n.ticks-n.drained >= lag {
		return true
	}
	last := n.backlog[len(n.backlog)-1].index
	for _, p := range n.backlog {
		if p.command != nil && len(n.waiting[p.operation()]) > 0 {
			return true
		}
	}
	for _, b := range n.reads.known {
		for _, a := range b.reads {
			if b.index <= last && !n.fewMissing(a.Key, b.index) {
				return true
			}
		}
	}
	return false
}
