package verify

import (
	"cmp"
	"slices"
)

// lag follows an order and knows what a read at its end would miss, and which
// versions of a key the log still holds.
type lag struct {
	*piece
	placed []bool
	left   []int32         // answered writes by return; those placed already are dropped from its front
	log    int             // writes placed
	since  map[int32][]int // by key: the place in the log of each of its writes, from 1
}

func (p *piece) newLag() *lag {
	l := &lag{piece: p, placed: make([]bool, p.view.N), since: map[int32][]int{}}
	if p.Missing == 0 {
		return l
	}
	for x := range int32(p.view.N) {
		if !p.view.Read[x] && !p.view.Info[x] {
			l.left = append(l.left, x)
		}
	}
	slices.SortStableFunc(l.left, func(a, b int32) int { return cmp.Compare(p.view.Ret[a], p.view.Ret[b]) })
	return l
}

// missed counts the writes that precede x, a read, by the bound, and are not
// placed. None does that returned after x was invoked.
func (l *lag) missed(x int32) (n int) {
	if l.Missing == 0 || !l.view.Read[x] {
		return 0
	}
	for _, w := range l.left {
		if l.view.Ret[w] > l.view.Call[x] {
			break
		}
		if !l.placed[w] && (l.MissingAll || l.view.Key[w] == l.view.Key[x]) && l.old(l.view, w, x) {
			n++
		}
	}
	return n
}

// window is how many versions of x's key, counted from the newest, were the
// key's at one of the last LogVersions prefixes of the log, the whole included.
// Version i, the initial one being 0, held from its place in the log until the
// next one's.
func (l *lag) window(x int32) int {
	since := l.since[l.view.Key[x]]
	n := 1
	for i := len(since) - 1; i >= 0 && since[i]-1 >= l.log-l.LogVersions+1; i-- {
		n++
	}
	return n
}

func (l *lag) place(x int32) {
	l.placed[x] = true
	for len(l.left) > 0 && l.placed[l.left[0]] {
		l.left = l.left[1:]
	}
	if l.LogVersions > 0 && !l.view.Read[x] {
		l.log++
		l.since[l.view.Key[x]] = append(l.since[l.view.Key[x]], l.log)
	}
}
