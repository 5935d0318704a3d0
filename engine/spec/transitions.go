package spec

// transitions remembers steps: (state, class) to the next state, or -1. This
// look-up is on the search's hottest path. It is a cache: beyond maxTransitions
// a new step may take the place of an old one, so its memory is bounded.
type transitions struct {
	keys []uint64 // plus one; 0: free
	next []int32
	used int
}

const (
	maxTransitions  = 1 << 20 // slots
	transitionProbe = 8       // slots that are looked at
	transitionBytes = 12      // memory of a slot
)

func newTransitions() *transitions { return newTransitionsOf(1 << 6) }

func newTransitionsOf(slots int) *transitions {
	return &transitions{keys: make([]uint64, slots), next: make([]int32, slots)}
}

// home is the first slot for key; the others follow it.
func (t *transitions) home(key uint64) int {
	return int((key+1)*0x9e3779b97f4a7c15>>32) & (len(t.keys) - 1)
}

func (t *transitions) get(key uint64) (next int32, ok bool) {
	h, mask := t.home(key), len(t.keys)-1
	for i := range transitionProbe {
		switch s := (h + i) & mask; t.keys[s] {
		case key + 1:
			return t.next[s], true
		case 0:
			return 0, false
		}
	}
	return 0, false
}

// put adds key, which is not there.
func (t *transitions) put(key uint64, next int32) {
	if 2*t.used > len(t.keys) && len(t.keys) < maxTransitions {
		t.double()
	}
	h, mask := t.home(key), len(t.keys)-1
	for i := range transitionProbe {
		if s := (h + i) & mask; t.keys[s] == 0 {
			t.keys[s], t.next[s] = key+1, next
			t.used++
			return
		}
	}
	t.keys[h], t.next[h] = key+1, next
}

func (t *transitions) double() {
	bigger := newTransitionsOf(2 * len(t.keys))
	for i, k := range t.keys {
		if k != 0 {
			bigger.put(k-1, t.next[i])
		}
	}
	*t = *bigger
}

func (t *transitions) bytes() int64 { return int64(len(t.keys)) * transitionBytes }
