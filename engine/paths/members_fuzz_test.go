package paths_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
)

// objectKind generates histories of one object of which a path knows the
// effects of each operation.
type objectKind struct {
	name, path string
	orders     bool // of any kind, not one interval order alone
	least      int  // of a hundred histories as many at least are decided by the path
	make       func(r *rand.Rand, s shape) *spec.Subject
}

var objectKinds = []objectKind{
	{"mutex", "members", false, 80, func(r *rand.Rand, s shape) *spec.Subject {
		m := models.Mutex()
		return object(r, s, m, func(e *event, last string) (models.MutexIn, bool) {
			return models.MutexIn{F: lockF(r, last, 0.2)}, r.IntN(20) == 0
		}, applied(m))
	}},
	{"semaphore", "members", false, 80, func(r *rand.Rand, s shape) *spec.Subject {
		m := models.Semaphore(1)
		return object(r, s, m, func(e *event, last string) (models.SemaphoreIn, bool) {
			return models.SemaphoreIn{F: lockF(r, last, 0.1), N: 1}, false
		}, applied(m))
	}},
	{"set", "members", false, 60, setCase},
	{"owner-mutex", "mutex", true, 50, func(r *rand.Rand, s shape) *spec.Subject {
		m := models.OwnerMutex()
		return object(r, s, m, owned(r, 0.04), applied(m))
	}},
	{"reentrant-mutex", "mutex", true, 50, func(r *rand.Rand, s shape) *spec.Subject {
		m := models.ReentrantMutex()
		return object(r, s, m, owned(r, 0.04), applied(m))
	}},
	{"fenced-mutex", "mutex", true, 50, fencedCase},
	{"counter", "counter", false, 80, counterCase},
}

// lockF is what a process does with a lock after what it did last.
func lockF(r *rand.Rand, last string, tries float64) string {
	switch held := last == "acquire" || last == "try-acquire"; {
	case held != (r.IntN(8) == 0):
		return "release"
	case r.Float64() < tries:
		return "try-acquire"
	}
	return "acquire"
}

// owned draws the inputs of a lock with owners, which are mostly the processes.
func owned(r *rand.Rand, tries float64) func(e *event, last string) (models.OwnedIn, bool) {
	few := r.IntN(8) == 0
	return func(e *event, last string) (models.OwnedIn, bool) {
		owner := e.process
		if few {
			owner = r.IntN(3)
		}
		return models.OwnedIn{F: lockF(r, last, tries), Owner: value(owner)}, r.IntN(200) == 0
	}
}

// applied performs an operation by the model.
func applied[S, In, Out any](m spec.Model[S, In, Out]) func(s S, in In) (S, Out, bool) {
	return m.Apply
}

func setCase(r *rand.Rand, s shape) *spec.Subject {
	elements, silent, removes := 1+r.IntN(3), r.IntN(4) == 0, 0.35
	var initial []history.Value
	if r.IntN(3) == 0 {
		initial = append(initial, value(0))
	}
	if silent && r.IntN(4) > 0 {
		removes = 0
	}
	m := models.Set(initial...)
	return object(r, s, m, func(e *event, _ string) (in models.SetIn, noOut bool) {
		x := value(r.IntN(elements))
		switch p := r.Float64(); {
		case p < 0.35:
			return models.SetAdd(x), silent && r.IntN(2) == 0
		case p < 0.35+removes:
			return models.SetRemove(x), r.IntN(50) == 0
		case p < 0.98 || elements > 1:
			return models.SetContains(x), r.IntN(20) == 0
		}
		return models.SetRead(), r.IntN(2) == 0
	}, applied(m))
}

func fencedCase(r *rand.Rand, s shape) *spec.Subject {
	initial, token := history.Absent, int64(0)
	if r.IntN(3) == 0 {
		initial, token = value(5), 5
	}
	return object(r, s, models.FencedMutex(initial), owned(r, 0.02), func(f models.Fence, in models.OwnedIn) (models.Fence, history.Value, bool) {
		switch {
		case in.F == "release":
			return models.Fence{}, history.Absent, f.Owner == in.Owner
		case f.Owner != history.Absent && in.F == "try-acquire":
			return f, history.Null, true
		}
		if f.Owner == history.Absent {
			token += int64(r.IntN(39)+1) / 2 // sometimes not greater
		}
		return models.Fence{Owner: in.Owner}, history.Int(token), f.Owner == history.Absent
	})
}

func counterCase(r *rand.Rand, s shape) *spec.Subject {
	initial, by, gets := int64(r.IntN(3)), []int64{1, 1, 2, -1, -3}[r.IntN(5)], 0.15*float64(r.IntN(2))
	several := r.IntN(12) == 0
	return object(r, s, models.Counter(history.Int(initial)), func(e *event, _ string) (models.CounterIn, bool) {
		n := by
		if several {
			n = int64(r.IntN(3)) - 1
		}
		switch p := r.Float64(); {
		case p < 0.5-gets:
			return models.CounterAdd(n), false
		case p < 0.5:
			return models.AddAndGet(n), r.IntN(6) == 0
		case p < 0.52:
			return models.AddAndGet(0), false
		}
		return models.CounterRead(), r.IntN(15) == 0
	}, func(c models.Count, in models.CounterIn) (models.Count, history.Value, bool) {
		n, _ := in.N.Int64()
		m, _ := c.Value().Int64()
		if c == (models.Count{}) {
			m = 0
		}
		out := history.Absent
		if sum := history.Int(m + n); in.F != "add" {
			out = sum
		}
		next := models.Counter(history.Int(m + n)).Init()
		return next, out, true
	})
}

// object makes a history: random intervals, inputs by draw, which is told what
// the process did last and says besides whether the answer was not recorded,
// answers by performing the operations along a random order that the intervals
// allow, then up to three inputs or answers exchanged.
func object[S comparable, In, Out any](r *rand.Rand, s shape, m spec.Model[S, In, Out], draw func(e *event, last string) (In, bool), perform func(s S, in In) (S, Out, bool)) *spec.Subject {
	events := intervals(r, s)
	h := &history.Of[In, Out]{Header: history.Header{HasTies: true}, Ops: make([]history.Op[In, Out], len(events))}
	if r.IntN(2) == 0 {
		h.Header.Ties = history.TiesPrecede
	}
	last, retired := map[int]string{}, map[int]int{}
	drawn := func(i int, last string) string {
		op := &h.Ops[i]
		op.In, op.NoOut = draw(&events[i], last)
		op.F = strings.Trim(strings.Split(fmt.Sprintf("%v", op.In), " ")[0], "{}")
		return op.F
	}
	for i := range events {
		e, op := &events[i], &h.Ops[i]
		e.process += 100 * retired[e.process]
		op.Process, op.Invoke, op.Return = e.process, e.call, e.ret
		last[e.process] = drawn(i, last[e.process])
		if r.Float64() < s.lostAdds {
			op.Outcome = history.Info
			retired[e.process%100]++
		}
	}
	answers(r, h, m.Init(), perform, drawn)
	for range []int{0, 0, 0, 1, 1, 2, 3}[r.IntN(7)] {
		x, y := &h.Ops[r.IntN(len(h.Ops))], &h.Ops[r.IntN(len(h.Ops))]
		if x.F == y.F {
			x.Out, y.Out = y.Out, x.Out
		}
		if r.IntN(4) == 0 {
			x.Out = y.Out
			x.F, x.In, x.NoOut = y.F, y.In, y.NoOut
		}
	}
	subject, err := spec.Erase(h, m)
	if err != nil {
		panic(err)
	}
	return subject
}

// answers performs the operations, those that are possible first; where none is
// they are drawn again.
func answers[S, In, Out any](r *rand.Rand, h *history.Of[In, Out], state S, perform func(s S, in In) (S, Out, bool), draw func(i int, last string) string) {
	again := r.IntN(8) > 0
	var pending []int
	for i := range h.Ops {
		if h.Ops[i].Outcome == history.OK || r.IntN(2) == 0 {
			pending = append(pending, i)
		}
	}
	for len(pending) > 0 {
		var ready []int
		for at, x := range pending {
			if !slices.ContainsFunc(pending, func(y int) bool { return h.Ops[y].Outcome == history.OK && h.Ops[y].Return < h.Ops[x].Invoke }) {
				ready = append(ready, at)
			}
		}
		r.Shuffle(len(ready), func(i, j int) { ready[i], ready[j] = ready[j], ready[i] })
		at := ready[0]
		for try := range 4 * len(ready) {
			k := ready[try%len(ready)]
			op := &h.Ops[pending[k]]
			if try >= len(ready) && again {
				draw(pending[k], []string{"acquire", "release"}[r.IntN(2)])
			}
			next, out, ok := perform(state, op.In)
			if op.Out = out; ok {
				at, state = k, next
				break
			}
		}
		pending = slices.Delete(pending, at, at+1)
	}
}

// The paths for locks, members and numbers are compared with the search, and
// every fiftieth history with the twin.
func TestMutexPathEqualsSearch(t *testing.T)   { effectsEqualSearch(t, "mutex") }
func TestMembersPathEqualsSearch(t *testing.T) { effectsEqualSearch(t, "members") }
func TestCountPathEqualsSearch(t *testing.T)   { effectsEqualSearch(t, "counter") }

func effectsEqualSearch(t *testing.T, path string) {
	for k, kind := range objectKinds {
		if kind.path != path {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(12, uint64(k)))
			c, reasons := &tally{}, map[string]int{}
			for i := range *fuzzN {
				shape := small(r)
				s := kind.make(r, shape)
				level, rules := "linearizable", rules(s)
				if r.IntN(3) == 0 && (kind.orders || i%2 == 0) {
					level = effectLevels[r.IntN(len(effectLevels))]
					rules = leveled(t, s, level, r)
				}
				c.effects(t, kind.path, s, level, rules, reasons)
				if i%50 == 0 {
					againstTwin(t, s)
				}
			}
			decided := c.yes + c.no
			t.Logf("%d consistent, %d violations, %d left to the search (%.1f %%): %v", c.yes, c.no, c.unknown, 100*float64(c.unknown)/float64(decided+c.unknown), reasons)
			if c.yes*100 < 15*decided || c.no*100 < 15*decided || decided*100 < kind.least*(decided+c.unknown) {
				t.Error("lopsided")
			}
		})
	}
}

var effectLevels = []string{"linearizable", "sequential", "ordered-sequential", "real-time-writes", "regular-sequential", "timeline",
	"bounded-staleness:t=4ns", "single-order:monotonic-writes+writes-follow-reads"}

func (c *tally) effects(t *testing.T, path string, s *spec.Subject, level string, rules *order.Rules, reasons map[string]int) {
	t.Helper()
	decide := func(noPaths bool) spec.Part {
		part, err := engine.Decide(context.Background(), engine.Task{Rules: rules, Machine: s.Machine(context.Background(), s.View, false),
			Eager: true, Focus: -1, Mute: true, NoPaths: noPaths})
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	want, got := decide(true), decide(false)
	switch {
	case got.Kind != want.Kind:
		t.Fatalf("%s: the path says %v (%s, tried %q), the search %v\n%s", level, got.Kind, got.Engine, got.Tried, want.Kind, show(s))
	case strings.Contains(got.Tried, "hold:") || strings.Contains(got.Tried, "possible by themselves"):
		t.Fatalf("%s: %s; the search says %v\n%s", level, got.Tried, want.Kind, show(s))
	case want.Kind == spec.Vacuous || got.Engine == "order":
	case got.Engine == path && got.Kind == spec.Consistent:
		c.yes++
	case got.Engine == path:
		c.no++
		if got.Proof.Kind == spec.ProofCore && !slices.ContainsFunc(rules.Hard, func(h order.Source) bool { return h.Hint }) && c.no%10 == 0 {
			if err := coreAt(s, level, got.Proof.Ops); err != nil {
				t.Fatalf("%s: core %v: %v\n%s", level, got.Proof.Ops, err, show(s))
			}
		}
	default:
		c.unknown++
		reasons[got.Tried]++
	}
}
