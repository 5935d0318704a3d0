package kvstores

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// zabVote asks for a node's promise to take part in an epoch under the sender,
// whose history is as given. With Try nothing is promised: would it be?
type zabVote struct {
	Epoch   int64 `json:"epoch"`
	Current int64 `json:"current"`
	Last    int64 `json:"last"`
	Try     bool  `json:"try,omitempty"`
}

// zabVoted is the answer, with the newest epoch that the node has promised.
type zabVoted struct {
	Granted  bool  `json:"granted"`
	Promised int64 `json:"promised"`
}

// vote grants an epoch to a node whose history is no older than this one's:
// so whoever leads by a majority has all that was ever committed. As long as it
// hears from a leader it grants none.
func (z *zab) vote(v zabVote) (zabVoted, error) {
	z.lock.Lock()
	current := cmp.Or(cmp.Compare(v.Current, z.current), cmp.Compare(v.Last, z.last())) >= 0
	content := z.reign != nil || time.Since(z.heard) < zabSilent
	granted := v.Epoch > z.promised && current && !content
	end, err := int64(0), error(nil)
	if granted && !v.Try {
		z.promised, z.leader = v.Epoch, ""
		z.rest()
		end, err = z.noteEpochs()
	}
	answer := zabVoted{granted, z.promised}
	z.lock.Unlock()
	return answer, errors.Join(err, z.journal.sync(end))
}

// zabSync is a leader's message: the entries after Prev, to the end of its
// log, and how far they are committed. Without entries it is a sign of life.
type zabSync struct {
	Epoch   int64      `json:"epoch"`
	Prev    int64      `json:"prev"`            // a zxid; 0: from the start
	Whole   *zabWhole  `json:"whole,omitempty"` // the state at Prev, for a follower that is far behind
	Entries []zabEntry `json:"entries,omitempty"`
	Commit  int64      `json:"commit"` // a zxid
	Serve   bool       `json:"serve"`  // the leader's history is committed: replicas may answer
}

// zabSynced is a follower's answer. Where it has no entry Prev, Last is the
// newest that it has before.
type zabSynced struct {
	OK       bool  `json:"ok"`
	Promised int64 `json:"promised"`
	Last     int64 `json:"last"`
}

// follow takes over what a leader says, and answers once that survives.
func (z *zab) follow(from string, m zabSync) (zabSynced, error) {
	z.lock.Lock()
	answer, end, err := z.takeOver(from, m)
	z.lock.Unlock()
	return answer, errors.Join(err, z.journal.sync(end))
}

// find returns how many entries there are up to the one at zxid; held. Where
// there is none, how many there are before it, and less than were dropped where
// that is not known any more.
func (z *zab) find(zxid int64) (n int, ok bool) {
	if zxid <= z.base {
		return z.dropped - min(1, int(z.base-zxid)), zxid == z.base
	}
	n, ok = slices.BinarySearchFunc(z.log, zxid, func(e zabEntry, zxid int64) int { return cmp.Compare(e.Zxid, zxid) })
	if ok {
		n++
	}
	return z.dropped + n, ok
}

// takeOver is follow without the wait; held.
func (z *zab) takeOver(from string, m zabSync) (answer zabSynced, end int64, err error) {
	if m.Epoch < z.promised {
		return zabSynced{Promised: z.promised}, 0, nil
	}
	if m.Epoch > z.promised {
		z.promised = m.Epoch
		if end, err = z.noteEpochs(); err != nil {
			return answer, end, err
		}
	}
	z.reign, z.leader, z.heard = nil, from, time.Now()
	z.rest()
	if err = z.install(&m); err != nil {
		return answer, end, err
	}
	n, ok := z.find(m.Prev)
	if !ok {
		return zabSynced{Promised: z.promised, Last: z.zxidAt(n)}, end, nil
	}
	if end, err = z.extend(n, m); err != nil {
		return answer, end, err
	}
	if n, ok := z.find(m.Commit); ok {
		err = z.commit(n)
	}
	z.synced = z.synced || m.Serve
	return zabSynced{OK: true, Promised: z.promised}, end, err
}

// install takes over a leader's state, where it is newer, and makes a message
// that begins before what this node keeps begin there: both have what is
// before, for it is committed; held.
func (z *zab) install(m *zabSync) error {
	if m.Whole != nil && m.Whole.At > z.applied() {
		z.log, z.dropped, z.committed = nil, 0, 0
		z.base, z.state = m.Whole.At, m.Whole.State.Clone()
		close(z.moved)
		z.moved = make(chan struct{})
		if err := z.rewrite(); err != nil {
			return err
		}
	}
	if m.Prev < z.base {
		m.Prev = z.base
		m.Entries = slices.DeleteFunc(m.Entries, func(e zabEntry) bool { return e.Zxid <= z.base })
	}
	return nil
}

// extend makes the log after its first n entries that of the message; held.
// Once a leader's history is taken over it only grows: a late message of the
// same epoch takes nothing away.
func (z *zab) extend(n int, m zabSync) (end int64, err error) {
	end = z.journal.end()
	fresh := z.current < m.Epoch
	for _, e := range m.Entries {
		if n < z.size() && z.log[n-z.dropped].Zxid != e.Zxid {
			if err = z.truncate(n); err != nil {
				return end, err
			}
		}
		if n == z.size() {
			if end, err = z.add(e); err != nil {
				return end, err
			}
		}
		n++
	}
	if !fresh {
		return end, nil
	}
	if n < z.size() {
		if err = z.truncate(n); err != nil {
			return end, err
		}
	}
	z.current = m.Epoch
	return z.noteEpochs()
}

// truncate drops all entries but the first n, none of which may be committed; held.
func (z *zab) truncate(n int) error {
	if n < z.committed {
		return fmt.Errorf("the leader's history lacks %d committed writes", z.committed-n)
	}
	cut := z.zxidAt(n)
	if cut == 0 {
		cut = -1
	}
	_, err := z.journal.append(zabRecord{Cut: cut})
	if err == nil {
		z.log = slices.Clip(z.log[:n-z.dropped])
	}
	return err
}
