package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

func kvsplit() Store {
	return Store{
		Name: "kvsplit",
		Doc: "kvforward whose nodes promote themselves when they lose the leader\n" +
			"Each node follows the first node, in the order of their names, that is not lost, and leads where all before it are. A node is lost when it was not heard for about 0.4 s and the others say the same, or for 0.8 s where nobody else answers. " +
			"A follower copies its leader every 50 ms and, after a cut, throws its own writes away and takes the leader's state: clean when healthy, two leaders under a partition.",
		Model: "kv", Claim: "linearizable",
		Wrong:  "nothing makes sure that there is one leader: a cut, a pause or a kill of the leader splits the store",
		Faults: []string{"halves", "isolate-leader", "chaos"},
		New: func(c Config) (Node, error) {
			b, err := openBook(c.Dir)
			if err != nil {
				return nil, err
			}
			s := &split{circle: newCircle(c), book: b, leader: c.Nodes[0], missed: map[string]int{}, heard: map[string]time.Time{}, gone: map[string]bool{}, began: time.Now(), change: make(chan struct{})}
			if s.leader == c.ID {
				s.reign()
			}
			s.every(splitBeat, s.watch)
			return s, nil
		},
	}
}

const (
	splitBeat  = 50 * time.Millisecond  // between two looks at the leader
	splitProbe = 100 * time.Millisecond // how long one look waits
	splitLost  = 4                      // looks in a row without an answer: gone, if others say so too; twice as many if nobody can be asked
	splitHeard = 250 * time.Millisecond // an answer that old is still a sign of life
	splitLate  = 30 * time.Millisecond  // a look that ends later than it should by this says nothing: this node was held up itself
	splitGrace = 3 * time.Second        // for a leader that was never seen
	splitKept  = 4096                   // updates that a leader keeps for its followers
)

type split struct {
	*circle
	book   *book // its lock guards what follows, too
	leader string
	change chan struct{} // closed when there is another leader
	epoch  string        // the reign whose updates the state holds; "": none
	index  int64         // updates of this reign
	recent []Request     // the last of them, for followers
	missed map[string]int
	heard  map[string]time.Time
	gone   map[string]bool
	seen   bool // it has reached some node before it, once
	began  time.Time
}

// splitLook is what a follower asks: what came after the updates that it has.
type splitLook struct {
	Epoch string `json:"epoch"`
	Index int64  `json:"index"`
}

// splitNews is what a leader answers: the updates, or the whole state.
type splitNews struct {
	Leads   bool      `json:"leads"`
	Epoch   string    `json:"epoch"`
	Index   int64     `json:"index"`
	Updates []Request `json:"updates,omitempty"`
	Whole   bool      `json:"whole,omitempty"`
	State   Machine   `json:"state,omitempty"`
}

// reign begins to lead; the caller holds the lock, or is the only one.
func (s *split) reign() {
	s.leader, s.index, s.recent = s.ID, 0, nil
	s.epoch = s.ID + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
}

func (s *split) Do(ctx context.Context, r Request) Reply {
	if why := Check(r); why != "" {
		return failed(why)
	}
	s.book.mutex.Lock()
	leader, change := s.leader, s.change
	s.book.mutex.Unlock()
	if leader == s.ID {
		return s.lead(r)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-ctx.Done():
		case <-change: // nobody waits for a leader that is gone
			cancel()
		}
	}()
	return forwarded(ctx, s.circle, leader, r)
}

func (s *split) lead(r Request) Reply {
	s.book.mutex.Lock()
	if s.leader != s.ID {
		s.book.mutex.Unlock()
		return failed("not the leader")
	}
	reply, end, err := s.book.apply(r)
	if !isRead(r.F) && reply.Outcome == OK {
		s.index++
		s.recent = append(s.recent, r)
		if len(s.recent) > 2*splitKept {
			s.recent = slices.Clone(s.recent[splitKept:])
		}
	}
	s.book.mutex.Unlock()
	return s.book.settle(reply, end, err)
}

func (s *split) Peer(_ context.Context, _, kind string, body []byte) ([]byte, error) {
	switch kind {
	case "do":
		var r Request
		if err := json.Unmarshal(body, &r); err != nil {
			return nil, err
		}
		return marshal(s.lead(r)), nil
	case "alive": // needs no lock: a slow disk is no lost leader
		return null, nil
	case "hears":
		return served(body, s.hears)
	case "look":
		var q splitLook
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, err
		}
		return marshal(s.news(q)), nil
	}
	return nil, fmt.Errorf("unexpected message %q", kind)
}

func (s *split) news(q splitLook) splitNews {
	s.book.mutex.Lock()
	defer s.book.mutex.Unlock()
	n := splitNews{Leads: s.leader == s.ID, Epoch: s.epoch, Index: s.index}
	switch behind := s.index - q.Index; {
	case !n.Leads:
	case q.Epoch == s.epoch && behind >= 0 && behind <= int64(len(s.recent)):
		n.Updates = slices.Clone(s.recent[len(s.recent)-int(behind):])
	default:
		n.Whole, n.State = true, s.book.state.Clone()
	}
	return n
}

// watch looks at all nodes before this one, decides whom to follow, and copies
// what the leader has done.
func (s *split) watch() {
	before := s.Nodes[:slices.Index(s.Nodes, s.ID)]
	if len(before) == 0 {
		return
	}
	s.book.mutex.Lock()
	q, leader := splitLook{s.epoch, s.index}, s.leader
	suspect := s.missed[leader] >= splitLost-1
	s.book.mutex.Unlock()
	var news splitNews
	lost, others := make([]error, len(before)), s.Others()
	says := make([]splitSays, len(others))
	began := time.Now()
	var all sync.WaitGroup
	for i, node := range before {
		all.Go(func() { lost[i] = s.call(node, "alive", null, nil, splitProbe) })
	}
	for i, node := range others {
		switch {
		case node == leader:
			all.Go(func() { _ = s.call(node, "look", q, &news, splitProbe) })
		case suspect:
			all.Go(func() { _ = s.call(node, "hears", leader, &says[i], splitProbe) })
		}
	}
	all.Wait()
	late := time.Since(began) > splitProbe+splitLate
	s.book.mutex.Lock()
	defer s.book.mutex.Unlock()
	for i, node := range before {
		switch {
		case lost[i] == nil:
			s.missed[node], s.heard[node], s.seen = 0, time.Now(), true
		case !late:
			s.missed[node]++
		}
	}
	s.choose(before, slices.Contains(says, splitYes), slices.Contains(says, splitNo))
	if s.leader == leader {
		s.take(q, news)
	}
}

// splitSays is what a node says of whether it hears another.
type splitSays string

const (
	splitYes splitSays = "yes"
	splitNo  splitSays = "no"
)

func (s *split) hears(node string) (splitSays, error) {
	s.book.mutex.Lock()
	defer s.book.mutex.Unlock()
	if node == s.ID || time.Since(s.heard[node]) < splitHeard {
		return splitYes, nil
	}
	return splitNo, nil
}

// choose follows the first node that is not lost. One that others hear is not;
// one that others do not hear either is lost sooner than where no other answers.
func (s *split) choose(before []string, heard, unheard bool) {
	if !s.seen && time.Since(s.began) < splitGrace {
		return
	}
	enough := 2 * splitLost
	if unheard {
		enough = splitLost
	}
	leader := s.ID
	for _, node := range slices.Backward(before) {
		switch {
		case s.missed[node] == 0:
			s.gone[node] = false
		case s.missed[node] >= enough && !(node == s.leader && heard):
			s.gone[node] = true // until it answers
		}
		if !s.gone[node] {
			leader = node
		}
	}
	if leader == s.leader {
		return
	}
	close(s.change)
	s.change = make(chan struct{})
	switch leader {
	case s.ID:
		fmt.Fprintf(s.Log, "%s: the leader is lost, %s leads\n", s.ID, s.ID)
		s.reign()
	default:
		fmt.Fprintf(s.Log, "%s: %s leads\n", s.ID, leader)
		s.leader, s.epoch, s.index, s.recent = leader, "", 0, nil
	}
}

// take brings the copy up to date with what the leader said to q.
func (s *split) take(q splitLook, n splitNews) {
	switch {
	case !n.Leads || s.epoch != q.Epoch || s.index != q.Index:
	case n.Whole:
		s.book.state, s.epoch, s.index = n.State.Clone(), n.Epoch, n.Index
	case n.Epoch == s.epoch:
		for _, r := range n.Updates {
			s.book.state.Apply(r)
		}
		s.index = n.Index
	}
}

func (s *split) Status() Status {
	s.book.mutex.Lock()
	defer s.book.mutex.Unlock()
	return Status{Leader: s.leader, Applied: s.index, Ready: s.leader == s.ID || s.epoch != ""}
}

func (s *split) Close() error { return errors.Join(s.circle.Close(), s.book.journal.close()) }
