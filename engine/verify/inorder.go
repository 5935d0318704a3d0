package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// closureLimit is the greatest number of operations for which the closure of
// the relation is built. A variable for the test that compares the two ways.
var closureLimit = 3000

// samples is how many pairs an operation is checked in under extra, where not
// all pairs are.
const samples = 16

// inOrder checks that placed respects the level and extra.
func (p *piece) inOrder(placed []int32) (sampled bool, err error) {
	if p.view.N <= closureLimit {
		return false, p.pairs(placed)
	}
	if err := p.sessions(placed); err != nil {
		return false, err
	}
	if err := p.times(placed); err != nil {
		return false, err
	}
	return p.extra != nil, p.sample(placed)
}

// pairs checks every pair of placed against the closure, each operation also
// against itself.
func (p *piece) pairs(placed []int32) error {
	direct, err := p.Order(p.view, p.extra)
	if err != nil {
		return err
	}
	closed := direct.Close()
	for i, late := range placed {
		for _, early := range placed[:i+1] {
			if closed.Has(late, early) {
				return p.misplaced(late, early)
			}
		}
	}
	return nil
}

// misplaced is the error that late stands behind early, which it precedes.
func (p *piece) misplaced(late, early int32) error {
	why := "by a chain of operations"
	switch {
	case p.inSession(p.view, late, early):
		why = "by session"
	case p.inTime(p.view, late, early):
		why = "by real time"
	case p.extra != nil && p.extra(late, early):
		why = "by the oracles"
	}
	if late == early {
		return fmt.Errorf("%s precedes itself %s", p.name(late), why)
	}
	return fmt.Errorf("%s stands in the order after %s, which it precedes %s", p.name(late), p.name(early), why)
}

// sessions checks the session part of the level: along each session, in its
// own order, every operation must be placed after all that got an answer
// before it and are of a class that must precede it. (Where a level exempts
// pairs of two keys, the session's part of one key is walked.)
func (p *piece) sessions(placed []int32) error {
	type session struct{ process, key int32 }
	v := p.view
	bySession := map[session][]int32{}
	place := make([]int, v.N)
	for i, x := range placed {
		place[x] = i
		s := session{process: v.Process[x]}
		if p.level == perKeySequential {
			s.key = v.Key[x]
		}
		bySession[s] = append(bySession[s], x)
	}
	for _, list := range bySession {
		slices.SortFunc(list, func(a, b int32) int {
			if first(v, a, b) {
				return -1
			}
			return 1
		})
		lasts := [2]int32{-1, -1} // writes, reads: the one placed last among those with an answer
		for _, x := range list {
			read := v.Read != nil && v.Read[x]
			if p.promised(x).Sessionless {
				continue
			}
			for class, last := range lasts {
				if last >= 0 && place[x] < place[last] && p.session&classOf(class == 1, read) != 0 {
					return p.misplaced(last, x)
				}
			}
			class := 0
			if read {
				class = 1
			}
			if old := lasts[class]; !v.Info[x] && (old < 0 || place[x] > place[old]) {
				lasts[class] = x
			}
		}
	}
	return nil
}

// kin are operations that differ, as the right side of the level's real-time
// part, in nothing but their call.
type kin struct {
	read, instant bool
	node, key     int32
	promised      spec.Entitlement
}

// nodes is how many nodes the level tells apart.
func (p *piece) nodes() int32 {
	if p.view.ClockError.ByNode != nil || p.level == cosmosRegions {
		return int32(len(p.view.NodeName))
	}
	return 1
}

// promised is what x is promised at a level per operation.
func (p *piece) promised(x int32) (e spec.Entitlement) {
	if p.level == perOperation {
		e = p.entitled(p.view, x)
	}
	return e
}

// promises are the different ones of all operations.
func (p *piece) promises() (list []spec.Entitlement) {
	list = append(list, spec.Entitlement{})
	for x := range int32(p.view.N) {
		if e := p.promised(x); !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}

// manyPromises is the number of different ones above which pairs are checked.
const manyPromises = 64

// kinOf drops what the level does not look at.
func (p *piece) kinOf(x int32) kin {
	v := p.view
	k := kin{read: v.Read != nil && v.Read[x], instant: v.Call[x] == v.Ret[x], key: -1, promised: p.promised(x)}
	if p.nodes() > 1 {
		k.node = v.Node[x]
	}
	if p.level == regularSequential && k.read || p.perKey() {
		k.key = v.Key[x]
	}
	return k
}

// times checks the real-time part of the level along placed. Among kin, the
// one with the latest call is preceded by whatever precedes any of them; so it
// is enough to ask, for each operation, about the latest of each kin placed
// before it.
func (p *piece) times(placed []int32) error {
	if p.timeless() {
		return nil
	}
	v := p.view
	promises := p.promises()
	if (p.Timed || len(promises) > 1) && v.Order == history.ByLine && !forwards(v) || len(promises) > manyPromises {
		return p.timePairs(placed) // two clocks that disagree: there is no latest
	}
	latest := map[kin]int32{}
	nodes := p.nodes()
	for _, x := range placed {
		for i := range 4 * int(nodes) * len(promises) {
			k := kin{read: i&1 != 0, instant: i&2 != 0, node: int32(i / 4 % int(nodes)), key: -1, promised: promises[i/4/int(nodes)]}
			if p.level == regularSequential && k.read || p.perKey() {
				k.key = v.Key[x]
			}
			if early, ok := latest[k]; ok && p.inTime(v, x, early) {
				return p.misplaced(x, early)
			}
		}
		k := p.kinOf(x)
		if old, ok := latest[k]; !ok || v.Call[x] > v.Call[old] {
			latest[k] = x
		}
	}
	return nil
}

// forwards reports whether invocation times never fall along the lines.
func forwards(v *history.View) bool {
	byCall := make([]int32, v.N)
	for i := range byCall {
		byCall[i] = int32(i)
	}
	slices.SortFunc(byCall, func(a, b int32) int {
		if first(v, a, b) {
			return -1
		}
		return 1
	})
	return slices.IsSortedFunc(byCall, func(a, b int32) int { return int(min(max(v.Invoke[a]-v.Invoke[b], -1), 1)) })
}

func (p *piece) timePairs(placed []int32) error {
	for i, late := range placed {
		for _, early := range placed[:i] {
			if p.inTime(p.view, late, early) {
				return p.misplaced(late, early)
			}
		}
	}
	return nil
}

// sample checks extra on adjacent pairs and on some earlier operations of each.
func (p *piece) sample(placed []int32) error {
	if p.extra == nil {
		return nil
	}
	r := rand.New(rand.NewPCG(1, 2)) // the same pairs every time
	for i, late := range placed {
		if p.extra(late, late) {
			return p.misplaced(late, late)
		}
		for n := range samples {
			if i == 0 {
				break
			}
			j := i - 1
			if n > 0 {
				j = r.IntN(i)
			}
			if p.extra(late, placed[j]) {
				return p.misplaced(late, placed[j])
			}
		}
	}
	return nil
}
