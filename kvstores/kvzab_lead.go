package kvstores

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// zabReign is what a leader knows of its epoch.
type zabReign struct {
	epoch       int64
	counter     int64 // of its writes
	initial     int   // entries that it began with
	own         int   // entries that survive here; -1: not even the epoch
	established bool  // a majority has taken over its history: it may commit
	followers   map[string]*zabFollower
}

// zabFollower is what a leader knows of a follower.
type zabFollower struct {
	next    int       // entries that it is thought to have
	match   int       // entries that it has taken over, for sure; -1: it has not answered
	heard   time.Time // when it last agreed
	waiting chan struct{}
}

// tick starts an election where no leader is heard, and ends a reign without a
// majority.
func (z *zab) tick() {
	z.lock.Lock()
	if z.reign != nil {
		if z.backing() < z.Majority() {
			fmt.Fprintf(z.Log, "%s: no majority, epoch %d ends\n", z.ID, z.reign.epoch)
			z.abdicate()
		}
		z.lock.Unlock()
		return
	}
	due := time.Now().After(z.patience)
	if due {
		z.leader = ""
		z.rest()
	}
	z.lock.Unlock()
	if due {
		z.campaign()
	}
}

// backing counts the nodes that agreed lately; held.
func (z *zab) backing() int {
	n := 1
	for _, f := range z.reign.followers {
		if time.Since(f.heard) < zabAlone {
			n++
		}
	}
	return n
}

// abdicate ends this node's reign; held.
func (z *zab) abdicate() {
	z.reign, z.leader = nil, ""
	z.rest()
}

// campaign asks whether it would win, so that a node that cannot hear the
// leader does not end its epoch, and then for the votes.
func (z *zab) campaign() {
	z.lock.Lock()
	v := zabVote{max(z.promised, z.seen) + 1, z.current, z.last(), true}
	z.lock.Unlock()
	if !z.wins(v) {
		return
	}
	z.lock.Lock()
	if z.promised >= v.Epoch || z.leader != "" {
		z.lock.Unlock()
		return // somebody else was faster
	}
	z.promised = v.Epoch
	v.Current, v.Last, v.Try = z.current, z.last(), false
	end, err := z.noteEpochs()
	z.lock.Unlock()
	if errors.Join(err, z.journal.sync(end)) == nil && z.wins(v) {
		z.lead(v)
	}
}

// wins reports whether a majority grants v, this node included.
func (z *zab) wins(v zabVote) bool {
	others := z.Others()
	votes := make(chan zabVoted, len(others))
	for _, node := range others {
		z.spawn(func() {
			var a zabVoted
			_ = z.call(node, "vote", v, &a, zabCall)
			votes <- a
		})
	}
	granted := 1
	for range others {
		if granted >= z.Majority() {
			break
		}
		select {
		case <-z.life.Done():
			return false
		case a := <-votes:
			if a.Granted {
				granted++
			}
			z.lock.Lock()
			z.seen = max(z.seen, a.Promised)
			z.lock.Unlock()
		}
	}
	return granted >= z.Majority()
}

// lead begins the reign that v won, unless the node has promised more since.
func (z *zab) lead(v zabVote) {
	z.lock.Lock()
	if z.promised != v.Epoch || z.current != v.Current || z.last() != v.Last {
		z.lock.Unlock()
		return
	}
	fmt.Fprintf(z.Log, "%s: leads epoch %d\n", z.ID, v.Epoch)
	z.current, z.leader = v.Epoch, z.ID
	r := &zabReign{epoch: v.Epoch, initial: z.size(), own: -1, followers: map[string]*zabFollower{}}
	z.reign = r
	end, err := z.noteEpochs()
	for _, node := range z.Others() {
		r.followers[node] = &zabFollower{next: z.size(), match: -1, heard: time.Now(), waiting: make(chan struct{}, 1)}
	}
	z.lock.Unlock()
	if errors.Join(err, z.journal.sync(end)) != nil {
		return
	}
	z.survived(r, r.initial)
	for _, node := range z.Others() {
		z.spawn(func() { z.feed(r, node) })
	}
}

// survived notes that n entries are safe at this node.
func (z *zab) survived(r *zabReign, n int) {
	z.lock.Lock()
	defer z.lock.Unlock()
	r.own = max(r.own, n)
	z.advance(r)
}

// advance commits what a majority has, once it has all that the leader began
// with; held.
func (z *zab) advance(r *zabReign) {
	if z.reign != r {
		return
	}
	have := []int{r.own}
	for _, f := range r.followers {
		have = append(have, f.match)
	}
	slices.Sort(have)
	n, before := have[len(have)-z.Majority()], z.committed
	if n < r.initial {
		return
	}
	if z.commit(n) != nil {
		z.abdicate() // its journal failed
		return
	}
	if !r.established || z.committed > before {
		r.established, z.synced = true, true
		r.wake()
	}
}

// wake has the followers told of what is new.
func (r *zabReign) wake() {
	for _, f := range r.followers {
		select {
		case f.waiting <- struct{}{}:
		default:
		}
	}
}

// propose appends a write to the leader's log and waits until it is applied. A
// refusal has no zxid; nor has what is not known.
func (z *zab) propose(ctx context.Context, q Request) zabWritten {
	z.lock.Lock()
	r := z.reign
	if r == nil || !r.established {
		z.lock.Unlock()
		return zabWritten{Reply: failed("not the leader")}
	}
	r.counter++
	e := zabEntry{Zxid: r.epoch<<32 | r.counter, Request: q}
	end, err := z.add(e)
	n := z.size()
	r.wake()
	z.lock.Unlock()
	if err = errors.Join(err, z.journal.sync(end)); err != nil {
		return zabWritten{Reply: unknown(err.Error())}
	}
	z.survived(r, n)
	z.lock.Lock()
	defer z.lock.Unlock()
	if !z.await(ctx, e.Zxid) {
		return zabWritten{Reply: unknown("no majority in time")}
	}
	reply := z.result(e.Zxid)
	if reply.Outcome == Info {
		return zabWritten{Reply: reply}
	}
	return zabWritten{e.Zxid, reply}
}

// feed keeps one follower up to date as long as the reign lasts.
func (z *zab) feed(r *zabReign, node string) {
	f := r.followers[node]
	for {
		m, n, lasts := z.news(r, f)
		if !lasts {
			return
		}
		var a zabSynced
		err := z.call(node, "sync", m, &a, zabCall)
		wait := f.waiting
		switch {
		case err != nil:
			wait = nil // it is not there: no haste
		case z.heed(r, f, m, n, a):
			continue
		}
		select {
		case <-z.life.Done():
			return
		case <-time.After(zabBeat):
		case <-wait:
			if z.onlyCommits(f) {
				time.Sleep(zabLag)
			}
		}
	}
}

// news is the next message to a follower, after which it has n entries.
func (z *zab) news(r *zabReign, f *zabFollower) (m zabSync, n int, lasts bool) {
	z.lock.Lock()
	defer z.lock.Unlock()
	if z.reign != r || z.life.Err() != nil {
		return m, 0, false
	}
	m = zabSync{Epoch: r.epoch, Commit: z.applied(), Serve: r.established}
	from := f.next
	if from < z.dropped {
		from = z.committed
		m.Whole = &zabWhole{State: z.state.Clone(), At: z.applied()}
	}
	m.Prev, m.Entries = z.zxidAt(from), slices.Clone(z.log[from-z.dropped:])
	return m, z.size(), true
}

// onlyCommits reports whether a follower has all entries.
func (z *zab) onlyCommits(f *zabFollower) bool {
	z.lock.Lock()
	defer z.lock.Unlock()
	return f.next == z.size()
}

// heed takes a follower's answer in; again where it must be sent more at once.
func (z *zab) heed(r *zabReign, f *zabFollower, m zabSync, n int, a zabSynced) (again bool) {
	z.lock.Lock()
	defer z.lock.Unlock()
	switch {
	case z.reign != r:
	case a.Promised > r.epoch:
		z.seen = max(z.seen, a.Promised)
		z.abdicate()
	case !a.OK:
		f.next, _ = z.find(min(a.Last, m.Prev-1))
		return true
	default:
		f.match, f.next, f.heard = max(f.match, n), n, time.Now()
		z.advance(r)
		return f.next < z.size()
	}
	return false
}
