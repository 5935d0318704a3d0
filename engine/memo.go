package engine

import (
	"bytes"
	"hash/maphash"
)

// memo is a set of configurations, each a key of one fixed length: placed set
// and states. It is exact: a hit compares whole keys, so the hash decides
// nothing but the time. Keys lie in an arena of chunks and the table grows by
// shards, so no growth ever doubles the memory held.
type memo struct {
	size   int // bytes a key
	seed   maphash.Seed
	hash   func(key []byte) uint64 // nil: maphash
	shards [memoShards]shard
	chunks [][]byte
	perLog int   // log2 of the keys in a chunk
	count  int64 // keys held
	bytes  int64 // memory held by arena and table
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

func newMemo(size int) *memo {
	m := &memo{size: max(size, 1), seed: maphash.MakeSeed()}
	for m.perLog = 0; m.size<<(m.perLog+1) <= chunkBytes; m.perLog++ {
	}
	return m
}

// insert adds key and reports whether it was new.
func (m *memo) insert(key []byte) bool {
	var h uint64
	if m.hash != nil {
		h = m.hash(key)
	} else {
		h = maphash.Bytes(m.seed, key)
	}
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
			return true
		}
		if slot>>32<<32 == tag && bytes.Equal(m.key(uint32(slot)-1), key) {
			return false
		}
	}
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
	m.count++
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
		var h uint64
		if key := m.key(uint32(slot) - 1); m.hash != nil {
			h = m.hash(key)
		} else {
			h = maphash.Bytes(m.seed, key)
		}
		i := h & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = slot
	}
}
