package consistency_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

var staleN = flag.Int("stale.n", 4000, "histories for each mode of the differential test of staleness")

// staleModes are the histories on which ages are compared. Whole keeps the
// updates of kv that do not say what they leave, and refused cas.
var staleModes = map[string]histgen.Options{
	"usual":    {Lines: true, RegisterLike: true, MaxKeys: 1, MaxOps: 10},
	"whole":    {Lines: true, MaxKeys: 1},
	"weak":     {Lines: true, Weak: true, WriteHeavy: true, MaxKeys: 1},
	"squeezed": {Lines: true, RegisterLike: true, Squeezed: true, MaxKeys: 1},
}

// TestAgesEqualTwin compares the age of every read with what the definition
// says, in double loops, and holds the ages to the levels that bound them, as
// the twin that tries every order decides these.
func TestAgesEqualTwin(t *testing.T) {
	var all staleTally
	for name, o := range staleModes {
		t.Run(name, func(t *testing.T) {
			o.Models = registerModels
			g, rng := histgen.New(*fuzzSeed, o), rand.New(rand.NewPCG(*fuzzSeed, 1))
			var n staleTally
			for i := range *staleN {
				c := g.Next()
				if i%3 > 0 {
					outdate(c.Raw, rng)
				}
				if !n.compare(t, c) {
					t.Fatalf("seed %d, history %d:\n%s", c.Seed, c.Number, c.Text())
				}
			}
			t.Logf("%+v", n)
			if n.unwritten == 0 || n.unanswered == 0 || name == "whole" && n.unsettled == 0 || n.byTime == 0 || n.several == 0 {
				t.Error("some case does not occur")
			}
			all.byK += n.byK
			all.linearizable, all.violations = all.linearizable+n.linearizable, all.violations+n.violations
		})
	}
	whole := all.linearizable + all.violations
	for _, pair := range [][2]int{{all.byK, whole - all.byK}, {all.linearizable, all.violations}} { // with a stale read or none
		if min(pair[0], pair[1])*100 < 15*(pair[0]+pair[1]) {
			t.Errorf("one of the verdicts %v is rarer than 15 %%", pair)
		}
	}
}

// outdate gives most writes a value of their own, lets most reads see one of
// their key that was invoked before, the first rather than the last, and forgets
// the answers of some cas.
func outdate(h *history.Raw, rng *rand.Rand) {
	writes := map[string][]int{}
	for i := range h.Ops {
		if op := &h.Ops[i]; (op.F == "write" || op.F == "put") && op.Outcome != history.Fail {
			writes[op.Key] = append(writes[op.Key], i)
			if rng.IntN(8) > 0 {
				op.In = history.Int(int64(100 + i))
			}
		}
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.F == "cas" && op.Outcome == history.OK && rng.IntN(2) == 0 {
			op.Out, op.NoOut = history.Absent, true
		}
		if op.F != "read" && op.F != "get" || op.Outcome != history.OK || rng.IntN(8) == 0 {
			continue
		}
		first := op.Invoke
		for _, w := range writes[op.Key] {
			if h.Ops[w].Invoke < first && rng.IntN(8) > 0 {
				first, op.Out = h.Ops[w].Invoke, h.Ops[w].In
			}
		}
	}
}

// staleTally counts reads by what was found, and histories.
type staleTally struct {
	stale, fresh, unwritten, unsettled, unnamed, unanswered int
	several                                                 int // stale by more than a version
	linearizable, violations                                int
	byK, byTime                                             int // histories with a stale read, and so a bound that is ruled out
	tightK, tightT                                          int // the next bound holds
}

func (n *staleTally) compare(t *testing.T, c *histgen.Case) bool {
	entry, err := models.Lookup(c.Model)
	if err != nil {
		t.Fatal(err)
	}
	s, err := entry.Bind(c.Raw, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := consistency.ReadAges(context.Background(), s, consistency.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := twinAges(s)
	worst := consistency.Age{}
	for x, a := range got {
		if a != want[x] {
			t.Errorf("op %d %s: age %+v, the twin says %+v", x, s.Text(int32(x)), a, want[x])
			return false
		}
		n.count(a)
		worst.Versions, worst.Time = max(worst.Versions, a.Versions), max(worst.Time, a.Time)
	}
	return n.bounds(t, c, s, worst)
}

func (n *staleTally) count(a consistency.Age) {
	switch a.Sight {
	case consistency.Measured:
		if a.Versions > 1 {
			n.several++
		}
		if a.Versions > 0 {
			n.stale++
		} else {
			n.fresh++
		}
	case consistency.Unwritten:
		n.unwritten++
	case consistency.Unsettled:
		n.unsettled++
	case consistency.Unnamed:
		n.unnamed++
	case consistency.Unanswered:
		n.unanswered++
	}
}

// bounds asks the twin whether the levels rule out what the ages rule out.
func (n *staleTally) bounds(t *testing.T, c *histgen.Case, s *spec.Subject, worst consistency.Age) bool {
	twin, err := c.Subject()
	if err != nil {
		t.Fatal(err)
	}
	allows := func(level string) bool {
		ok, _, err := brute.Decide(twin, level, nil)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if allows("linearizable") {
		n.linearizable++
		if worst.Versions > 0 {
			t.Error("it is linearizable and has a stale read")
		}
		return worst.Versions == 0
	}
	n.violations++
	if worst.Versions == 0 {
		return true
	}
	n.byK++
	if level := fmt.Sprintf("bounded-staleness:k=%d", worst.Versions); allows(level) {
		t.Errorf("%s allows an age of %d versions", level, worst.Versions)
		return false
	}
	if allows(fmt.Sprintf("bounded-staleness:k=%d", worst.Versions+1)) {
		n.tightK++
	}
	if s.View.Order == history.ByLine {
		return true
	}
	n.byTime++
	least := worst.Time // the least bound that may hold
	if s.View.Ties == history.TiesPrecede {
		least++
	}
	if level := "bounded-staleness:t=" + time.Duration(least-1).String(); allows(level) {
		t.Errorf("%s allows an age of %d ns", level, worst.Time)
		return false
	}
	if allows("bounded-staleness:t=" + time.Duration(least).String()) {
		n.tightT++
	}
	return true
}

// twinAges is the definition of consistency.ReadAges, word by word.
func twinAges(s *spec.Subject) []consistency.Age {
	v := s.View
	m := s.Machine(context.Background(), v, false)
	tokens := m.(spec.Tokens)
	ages := make([]consistency.Age, v.N)
	for x := range int32(v.N) {
		switch idle := v.Idle != nil && v.Idle[x]; {
		case idle:
			ages[x].Sight = consistency.Unanswered
		case v.Read[x] && tokens.Demand(x) < 0:
			ages[x].Sight = consistency.Unnamed
		case v.Read[x]:
			ages[x] = twinAge(v, tokens, x, tokens.Held(m.Init(v.Key[x])))
		}
	}
	return ages
}

// twinAge is the least age of x over its candidates.
func twinAge(v *history.View, tokens spec.Tokens, x, initial int32) consistency.Age {
	age := consistency.Age{Versions: math.MaxInt32, Time: math.MaxInt64}
	var candidates []int32
	if tokens.Demand(x) == initial {
		candidates = append(candidates, -1)
	}
	nameless := false
	for w := range int32(v.N) {
		update := !v.Read[w] && (v.Idle == nil || !v.Idle[w])
		if !update || v.Key[w] != v.Key[x] || twinBefore(v, x, w) {
			continue
		}
		if tokens.Write(w) == tokens.Demand(x) {
			candidates = append(candidates, w)
		}
		nameless = nameless || tokens.Write(w) < 0
	}
	for _, w := range candidates {
		versions, first := int32(0), int64(0)
		for over := range int32(v.N) {
			if !certain(v, tokens, over) || v.Key[over] != v.Key[x] || !twinBefore(v, over, x) || w >= 0 && !twinBefore(v, w, over) {
				continue
			}
			versions++
			first = max(first, v.Invoke[x]-v.Return[over]-clockError(v, over, x))
		}
		age.Versions, age.Time = min(age.Versions, versions), min(age.Time, first)
	}
	switch {
	case nameless && (candidates == nil || age.Versions > 0):
		return consistency.Age{Sight: consistency.Unsettled}
	case candidates == nil:
		return consistency.Age{Sight: consistency.Unwritten}
	case v.Order == history.ByLine:
		age.Time = 0
	}
	age.Sight = consistency.Measured
	return age
}

// certain reports whether w is an answered update that says what it leaves and
// cannot have been refused.
func certain(v *history.View, tokens spec.Tokens, w int32) bool {
	return !v.Read[w] && !v.Info[w] && tokens.Write(w) >= 0 && (tokens.Want(w) < 0 || tokens.Demand(w) >= 0)
}

// twinBefore reports whether a returned before b was invoked.
func twinBefore(v *history.View, a, b int32) bool {
	zero := v.Call[a] == v.Ret[a] && v.Call[b] == v.Ret[b]
	end, begin := v.Ret[a], v.Call[b]-clockError(v, a, b)
	return !v.Info[a] && (end < begin || end == begin && v.Ties == history.TiesPrecede && !zero)
}

// clockError is by how much the times of two operations may be off.
func clockError(v *history.View, a, b int32) int64 {
	switch e := v.ClockError; {
	case v.Order == history.ByLine:
		return 0
	case e.ByNode != nil:
		return e.ByNode[v.NodeName[v.Node[a]]] + e.ByNode[v.NodeName[v.Node[b]]]
	default:
		return e.All
	}
}
