package engine

import (
	"bytes"
	"hash/maphash"
)

// memo is a set of configurations, each a key of one fixed length: placed set
// and states, and at the end a set of bits: the optional operations that are
// placed. It is exact: a hit compares whole keys, so the hash decides nothing but
// the time. Keys lie in an arena of chunks and the table grows by shards, so no
// growth ever doubles the memory held.
//
// A key is known, too, where one with fewer bits is and all else equal: what can
// follow with more optional operations placed can follow with fewer (R5 of
// docs/ARCHITECTURE.md, section 6). So keys that differ in their bits alone hang in
// one list; a key is added only where no member's bits are all among its own.
type memo struct {
	size   int      // bytes a key
	bits   int      // of these, at the end, those of the set
	links  []uint32 // by key: the next of its list, by number plus one; nil where there are no bits
	seed   maphash.Seed
	hash   func(key []byte) uint64 // nil: maphash
	shards [memoShards]shard
	chunks [][]byte
	perLog int   // log2 of the keys in a chunk
	count  int64 // keys held
	seen   int64 // keys that were new when they came
	bytes  int64 // memory held by arena and table
	old    *memo // the keys from before it aged last, which are only looked up; nil: there are none
}

const (
	memoShards = 256
	chunkBytes = 1 << 20
)

// shard is an open-addressing table: the upper half of a slot is a tag of the
// hash, the lower half the key's number plus one.
type shard struct {
	slots []uint64
	used  int
}

func newMemo(size, bits int) *memo {
	m := &memo{size: max(size, 1), bits: bits, seed: maphash.MakeSeed()}
	for m.perLog = 0; m.size<<(m.perLog+1) <= chunkBytes; m.perLog++ {
	}
	return m
}

// base is a key without its bits.
func (m *memo) base(key []byte) []byte { return key[:len(key)-m.bits] }

// set is the bits of a key.
func (m *memo) set(key []byte) []byte { return key[len(key)-m.bits:] }

func (m *memo) hashed(key []byte) uint64 {
	if m.hash != nil {
		return m.hash(m.base(key))
	}
	return maphash.Bytes(m.seed, m.base(key))
}

// insert adds key and reports whether it was new.
func (m *memo) insert(key []byte) bool {
	for old := m.old; old != nil; old = old.old {
		if old.knows(key) {
			return false
		}
	}
	h := m.hashed(key)
	s := &m.shards[h>>56]
	if 4*(s.used+1) > 3*len(s.slots) {
		m.grow(s)
	}
	mask := uint64(len(s.slots) - 1)
	tag := h << 8 >> 32 << 32
	for i := h & mask; ; i = (i + 1) & mask {
		slot := s.slots[i]
		if slot == 0 {
			s.slots[i] = tag | uint64(m.store(key))
			s.used++
			m.seen++
			return true
		}
		if slot>>32<<32 == tag && bytes.Equal(m.base(m.key(uint32(slot)-1)), m.base(key)) {
			return m.bits > 0 && m.hang(uint32(slot), key)
		}
	}
}

// knows reports whether key is known, and leaves it at that.
func (m *memo) knows(key []byte) bool {
	h := m.hashed(key)
	s := &m.shards[h>>56]
	if len(s.slots) == 0 {
		return false
	}
	mask := uint64(len(s.slots) - 1)
	tag := h << 8 >> 32 << 32
	for i := h & mask; s.slots[i] != 0; i = (i + 1) & mask {
		slot := s.slots[i]
		if slot>>32<<32 != tag || !bytes.Equal(m.base(m.key(uint32(slot)-1)), m.base(key)) {
			continue
		}
		if m.bits == 0 {
			return true
		}
		for n := uint32(slot); n != 0; n = m.links[n-1] {
			if within(m.set(m.key(n-1)), m.set(key)) {
				return true
			}
		}
		return false
	}
	return false
}

// generations is how often a memo ages before it has no more room.
const generations = 4

// fit keeps what is held within room, in bytes, by forgetting the keys that have
// been known longest. To forget is never wrong: a configuration that is not known
// is searched again.
func (m *memo) fit(room int64) {
	if m.full() || m.bytes > room/generations {
		was := *m
		*m = *newMemo(was.size, was.bits)
		m.hash, m.seen, m.old = was.hash, was.seen, &was
	}
	for m.old != nil && m.held() > room {
		before := m
		for before.old.old != nil {
			before = before.old
		}
		before.old = nil
	}
}

// forget forgets all keys.
func (m *memo) forget() {
	was := *m
	*m = *newMemo(was.size, was.bits)
	m.hash, m.seen = was.hash, was.seen
}

// held is the memory of all that is known, in bytes.
func (m *memo) held() (bytes int64) {
	for ; m != nil; m = m.old {
		bytes += m.bytes
	}
	return bytes
}

// hang adds key to the list that starts at a key, unless one of the list has no
// bit that key lacks.
func (m *memo) hang(first uint32, key []byte) bool {
	set := m.set(key)
	last, greater := first, []byte(nil)
	for n := first; n != 0; n = m.links[n-1] {
		held := m.set(m.key(n - 1))
		if within(held, set) {
			return false
		}
		if greater == nil && within(set, held) {
			greater = held
		}
		last = n
	}
	m.seen++
	if greater != nil {
		copy(greater, set) // what it knew, key knows
		return true
	}
	n := m.store(key)
	m.links[last-1] = n
	return true
}

// within reports whether b has all bits of a.
func within(a, b []byte) bool {
	for i := range a {
		if a[i]&^b[i] != 0 {
			return false
		}
	}
	return true
}

// key returns the key number n.
func (m *memo) key(n uint32) []byte {
	at := int(n&(1<<m.perLog-1)) * m.size
	return m.chunks[n>>m.perLog][at : at+m.size]
}

// store appends key to the arena and returns its number plus one.
func (m *memo) store(key []byte) uint32 {
	last := len(m.chunks) - 1
	if m.count&(1<<m.perLog-1) == 0 {
		capacity := m.size << m.perLog
		if last++; last == 0 {
			capacity = m.size // the first chunk grows, so that a small search stays small
		}
		m.chunks = append(m.chunks, make([]byte, 0, capacity))
		m.bytes += int64(capacity)
	}
	c := m.chunks[last]
	if len(c) == cap(c) {
		bigger := make([]byte, len(c), min(2*cap(c), m.size<<m.perLog))
		m.bytes += int64(cap(bigger) - copy(bigger, c))
		c = bigger
	}
	m.chunks[last] = append(c, key...)
	if m.count++; m.bits > 0 {
		before := cap(m.links)
		m.links = append(m.links, 0)
		m.bytes += int64(4 * (cap(m.links) - before))
	}
	return uint32(m.count)
}

// full reports whether key numbers are about to run out.
func (m *memo) full() bool { return m.count >= 1<<32-2 }

func (m *memo) grow(s *shard) {
	old := s.slots
	n := max(16, 2*len(old))
	s.slots = make([]uint64, n)
	m.bytes += int64(8 * (n - len(old)))
	mask := uint64(n - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := m.hashed(m.key(uint32(slot)-1)) & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = slot
	}
}
