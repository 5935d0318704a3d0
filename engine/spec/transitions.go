package spec

// transitions remembers steps: (state, class) to the next state, or -1. It is
// an open-addressing table, as this look-up is on the search's hottest path.
type transitions struct {
	keys []uint64 // plus one; 0: free
	next []int32
	used int
}

func newTransitions() *transitions {
	return &transitions{keys: make([]uint64, 64), next: make([]int32, 64)}
}

// slot finds the place of key, or the free place where it belongs.
func (t *transitions) slot(key uint64) int {
	mask := len(t.keys) - 1
	h := (key + 1) * 0x9e3779b97f4a7c15
	for i := int(h>>32) & mask; ; i = (i + 1) & mask {
		if t.keys[i] == key+1 || t.keys[i] == 0 {
			return i
		}
	}
}

func (t *transitions) get(key uint64) (next int32, ok bool) {
	i := t.slot(key)
	return t.next[i], t.keys[i] != 0
}

func (t *transitions) put(key uint64, next int32) {
	if 2*(t.used+1) > len(t.keys) {
		old := *t
		t.keys, t.next = make([]uint64, 2*len(old.keys)), make([]int32, 2*len(old.keys))
		for i, k := range old.keys {
			if k != 0 {
				j := t.slot(k - 1)
				t.keys[j], t.next[j] = k, old.next[i]
			}
		}
	}
	i := t.slot(key)
	t.keys[i], t.next[i] = key+1, next
	t.used++
}
