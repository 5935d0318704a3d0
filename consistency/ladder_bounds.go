package consistency

import (
	"context"
	"fmt"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// maxLadderK is the greatest bound in versions that Climb tries.
const maxLadderK = 1000

// bounds finds the smallest bounds of staleness. A greater bound allows more, so
// each is found by halving. Linearizable is k=1 and t=0; no bound below the
// greatest age of a read can hold (ReadAges), and where reads alone are to blame
// that one holds at once.
//
// Where no bound in time holds, none in versions does: take an order that k
// allows and move each read back to just after the version that it saw. Updates
// stay as they were, and with reads free to be as old as the run nothing must
// come before a read. (An oracle may say otherwise.)
func (l *Ladder) bounds(ctx context.Context, s *spec.Subject, o Options) error {
	switch l.kind("linearizable") {
	case spec.Consistent:
		l.SmallestK, l.SmallestT = 1, 0
		if !timed(s.View) {
			l.SmallestT, l.NoT = -1, "not asked: "+noTimes(s.View)
		}
		return nil
	case spec.Vacuous:
		l.NoK, l.NoT = "nothing was tested", "nothing was tested"
		return nil
	}
	k, t := l.start(s)
	ask := func(b *search) error {
		return b.run(func(n int64) (Rung, error) { return askLevel(ctx, s, "bounded-staleness:"+b.name(n), o) })
	}
	if !timed(s.View) {
		l.NoT = "not asked: " + noTimes(s.View)
	} else if err := ask(t); err != nil {
		return err
	} else {
		l.NoT = t.why
	}
	if t.found {
		l.SmallestT = time.Duration(t.high)
	}
	if t.none && len(o.Oracles) == 0 {
		l.NoK = "none holds, since none in time does"
		return nil
	}
	err := ask(k)
	if l.NoK = k.why; k.found {
		l.SmallestK = int(k.high)
	}
	return err
}

// start is between which bounds the smallest are looked for.
func (l *Ladder) start(s *spec.Subject) (k, t *search) {
	k = &search{low: 0, high: greatestK(s.View), name: func(k int64) string { return fmt.Sprintf("k=%d", k) }}
	t = &search{low: -1, high: runLength(s), leap: true, name: func(t int64) string { return "t=" + time.Duration(t).String() }}
	if l.kind("linearizable") == spec.Violation {
		k.low = 1
	}
	if m := l.Staleness; m != nil && m.Total.Stale > 0 {
		k.low = max(k.low, int64(m.Total.MaxVersions))
		t.low = m.Total.MaxTime - 1 // that much is too little
		if s.View.Ties == history.TiesPrecede {
			t.low++
		}
	}
	k.high = max(k.high, k.low+1)
	return k, t
}

// search finds the least bound that holds.
type search struct {
	low, high int64 // too little, and the most that is tried or the least found to hold
	leap      bool  // the greatest is as quick to check as any
	name      func(n int64) string
	found     bool
	none      bool   // the greatest does not hold
	why       string // not found
}

// run tries low+1, +2, +4 and so on until one holds, or with leap the greatest
// after the first, and halves from there.
func (b *search) run(ask func(n int64) (Rung, error)) error {
	for step := int64(1); !b.found || b.low+1 < b.high; step *= 2 {
		n := min(b.low+step, b.high)
		if b.leap && step > 1 {
			n = b.high
		}
		if b.found {
			n = b.low + (b.high-b.low)/2
		}
		r, err := ask(n)
		switch {
		case err != nil:
			return err
		case r.Kind == spec.Consistent:
			b.found, b.high = true, n
		case r.Kind != spec.Violation:
			b.why = "the least is not known: "
			if b.found {
				b.why += b.name(b.high) + " holds, "
			}
			b.found, b.why = false, b.why+b.name(n)+": "+undecidedWords(r)
			return nil
		case n == b.high:
			b.none, b.why = true, "none holds, not even "+b.name(n)
			return nil
		default:
			b.low = n
		}
	}
	return nil
}

func undecidedWords(r Rung) string {
	if r.Reason != "" {
		return r.Reason
	}
	return r.Kind.String()
}

// greatestK is a bound in versions beyond which more allow nothing more, or the
// greatest that Climb tries: the updates of a key and its initial value.
func greatestK(v *history.View) int64 {
	updates := make([]int, len(v.KeyName))
	most := 0
	for x := range v.N {
		if v.Read != nil && !v.Read[x] {
			updates[v.Key[x]]++
			most = max(most, updates[v.Key[x]])
		}
	}
	return min(int64(most)+1, maxLadderK)
}

// runLength is the time from the first call to the last event, in ns: a read
// that may be that old may be as old as any.
func runLength(s *spec.Subject) int64 {
	v := s.View
	if v.N == 0 {
		return 0
	}
	first, last := v.Invoke[0], v.Invoke[0]
	for i := range v.N {
		first, last = min(first, v.Invoke[i]), max(last, v.Invoke[i])
		if !v.Info[i] {
			last = max(last, v.Return[i])
		}
	}
	return last - first + 1
}
