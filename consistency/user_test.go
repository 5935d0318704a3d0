package consistency_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
)

// A level of a user's own: processes keep their order and writes keep real
// time, and a read may return any value that its key has had so far.

// everSeen is a validity: a read may return what any version so far gives.
type everSeen struct {
	spec.Machine
	view     *history.View
	versions [][]int32 // state -> the model's states so far
}

func (m *everSeen) add(v []int32) int32 {
	m.versions = append(m.versions, v)
	return int32(len(m.versions) - 1)
}
func (m *everSeen) Init(key int32) int32 { return m.add([]int32{m.Machine.Init(key)}) }
func (m *everSeen) Step(state, op int32) (int32, bool) {
	v := m.versions[state]
	if !m.view.Read[op] {
		next, ok := m.Machine.Step(v[len(v)-1], op)
		return m.add(append(v[:len(v):len(v)], next)), ok
	}
	for _, old := range v {
		if _, ok := m.Machine.Step(old, op); ok {
			return state, true
		}
	}
	return 0, false
}

// eventualReads is the level: about 25 lines with its validity.
var eventualReads = consistency.Level{
	Name: "eventual-reads",
	Order: func(v *history.View, r *order.Rules) error {
		writes := order.Filter(func(i int32) bool { return !v.Read[i] })
		r.Hard = append(r.Hard, order.Session(v, nil, false))
		r.Hard = append(r.Hard, order.RealTime(v, order.Span{From: writes, To: writes})...)
		return nil
	},
	Validity: spec.Validity{Name: "ever seen", EagerReads: true, Over: func(m spec.Machine, v *history.View) (spec.Machine, error) {
		return &everSeen{Machine: m, view: v}, nil
	}},
}

func put(p int, v int64, from, to int64) history.Op[models.RegisterIn, history.Value] {
	return history.Op[models.RegisterIn, history.Value]{Process: p, F: "write", In: models.Write(history.Int(v)), Invoke: from, Return: to}
}

func get(p int, v int64, from, to int64) history.Op[models.RegisterIn, history.Value] {
	return history.Op[models.RegisterIn, history.Value]{Process: p, F: "read", In: models.Read(), Out: history.Int(v), Invoke: from, Return: to}
}

func TestLevelOfAUser(t *testing.T) {
	h := &history.Of[models.RegisterIn, history.Value]{Ops: []history.Op[models.RegisterIn, history.Value]{
		put(0, 1, 0, 1), put(0, 2, 2, 3), get(1, 2, 4, 5), get(1, 1, 6, 7)}}
	for _, c := range []struct {
		level consistency.Level
		last  int64
		want  spec.Kind
	}{{eventualReads, 1, spec.Consistent}, {eventualReads, 3, spec.Violation}, {must("linearizable"), 1, spec.Violation}} {
		h.Ops[3].Out = history.Int(c.last)
		v, err := consistency.Check(context.Background(), h, models.Register(history.Int(0)), c.level, consistency.Options{})
		if err != nil || v.Kind != c.want {
			t.Errorf("%s, last read %d: %v, %v; want %v", c.level.Name, c.last, v, err, c.want)
		}
	}
}

func must(level string) consistency.Level {
	l, err := consistency.LookupLevel(level)
	if err != nil {
		panic(err)
	}
	return l
}

// TestLevelOfAUserEqualsTwin compares it with the twin, which takes the order
// pair by pair.
func TestLevelOfAUserEqualsTwin(t *testing.T) { sameAsTwin(t, eventualReads, 4000) }

func sameAsTwin(t *testing.T, level consistency.Level, runs int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	count := map[spec.Kind]int{}
	for range runs {
		h := &history.Of[models.RegisterIn, history.Value]{Ops: randomRegister(rng)}
		s, err := spec.Erase(h, models.Register(history.Int(0)))
		if err != nil {
			t.Fatal(err)
		}
		auto, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{})
		if err != nil {
			t.Fatal(err)
		}
		twin, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{Engine: "brute"})
		if err != nil {
			t.Fatal(err)
		}
		if auto.Kind != twin.Kind {
			t.Fatalf("%v, the twin says %v: %+v", auto.Kind, twin.Kind, h.Ops)
		}
		count[auto.Kind]++
	}
	if min(count[spec.Consistent], count[spec.Violation]) < runs/10 {
		t.Errorf("one verdict is rare: %v", count)
	}
}

func randomRegister(rng *rand.Rand) (ops []history.Op[models.RegisterIn, history.Value]) {
	for p := range 2 + rng.IntN(2) {
		now := int64(rng.IntN(4))
		for range 1 + rng.IntN(3) {
			end := now + 1 + int64(rng.IntN(5))
			if rng.IntN(2) == 0 {
				ops = append(ops, put(p, int64(1+rng.IntN(2)), now, end))
			} else {
				ops = append(ops, get(p, int64(rng.IntN(3)), now, end))
			}
			if now = end + int64(rng.IntN(3)); rng.IntN(8) == 0 {
				ops[len(ops)-1].Outcome = history.Info
				break
			}
		}
	}
	return ops
}

// floors is a validity whose reads do change the state: a read may return any
// version so far, but none before one that was read already.
type floors struct{ everSeen }

func (m *floors) Step(state, op int32) (int32, bool) {
	v := m.versions[state]
	if !m.view.Read[op] {
		return m.everSeen.Step(state, op)
	}
	for i, old := range v {
		if _, ok := m.Machine.Step(old, op); ok {
			return m.add(v[i:]), true
		}
	}
	return 0, false
}

// TestReadsThatChangeTheState: a validity that does not promise otherwise may
// change the state by a read, and no read is placed early.
func TestReadsThatChangeTheState(t *testing.T) {
	level := eventualReads
	level.Name = "floors"
	level.Validity = spec.Validity{Name: "floors", Over: func(m spec.Machine, v *history.View) (spec.Machine, error) {
		return &floors{everSeen{Machine: m, view: v}}, nil
	}}
	sameAsTwin(t, level, 4000)
}

// lossyRegister is a register whose writes may get lost: a nondeterministic model.
func lossyRegister() spec.Model[history.Value, models.RegisterIn, history.Value] {
	m := models.Register(history.Int(0))
	m.Apply, m.Holds, m.Demands, m.Writes = nil, nil, nil, nil
	m.Name = "lossy register"
	m.Steps = func(s history.Value, in models.RegisterIn, out *history.Value) []history.Value {
		switch {
		case in.F == "write" && in.Value != s:
			return []history.Value{s, in.Value}
		case in.F == "write" || out == nil || *out == s:
			return []history.Value{s}
		}
		return nil
	}
	return m
}

// TestNondeterministicModelEqualsTwin: sets of states, also below staleness.
func TestNondeterministicModelEqualsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	count := map[bool]int{}
	for run := range 6000 {
		h := &history.Of[models.RegisterIn, history.Value]{Ops: randomRegister(rng)}
		s, err := spec.Erase(h, lossyRegister())
		if err != nil {
			t.Fatal(err)
		}
		level := []string{"linearizable", "sequential", "bounded-staleness:k=2"}[run%3]
		want, _, err := brute.Decide(s, level, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := consistency.CheckSubject(context.Background(), s, must(level), consistency.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if vacuous := v.Kind == spec.Vacuous; (v.Kind == spec.Consistent) != want && !vacuous {
			t.Fatalf("%s: %v, the twin says consistent=%v: %+v", level, v.Kind, want, h.Ops)
		}
		count[want]++
	}
	if min(count[true], count[false]) < 600 {
		t.Errorf("one verdict is rare: %v", count)
	}
}

// TestUsersMistakes: a panic, a step that changes its argument, and a model
// that cannot tell reads are errors that name the operation or the level.
func TestUsersMistakes(t *testing.T) {
	ops := []history.Op[models.RegisterIn, history.Value]{put(0, 1, 0, 1), get(0, 1, 2, 3)}
	h := &history.Of[models.RegisterIn, history.Value]{Ops: ops}
	throws := models.Register(history.Null)
	throws.Apply = func(history.Value, models.RegisterIn) (history.Value, history.Value, bool) { panic("boom") }
	blind := models.Register(history.Null)
	blind.ReadOnly = nil
	for _, c := range []struct {
		model spec.Model[history.Value, models.RegisterIn, history.Value]
		level string
		want  string
	}{{throws, "linearizable", "op 0: the model failed: boom"}, {blind, "ordered-sequential", "cannot tell reads from writes"}} {
		_, err := consistency.Check(context.Background(), h, c.model, must(c.level), consistency.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.level, err, c.want)
		}
	}
	aliased := spec.Model[*[1]int, int, int]{Name: "aliased", Init: func() *[1]int { return new([1]int) },
		Step:   func(s *[1]int, in int, _ *int) (*[1]int, bool) { s[0] = in; return s, true },
		States: func() spec.States[*[1]int] { return &byContent{} }}
	_, err := consistency.Check(context.Background(), &history.Of[int, int]{Ops: []history.Op[int, int]{{F: "set", In: 7, Return: 1}}},
		aliased, must("linearizable"), consistency.Options{Debug: true})
	if err == nil || !strings.Contains(err.Error(), "changed the state") {
		t.Errorf("error %v, want one about the changed state", err)
	}
	if _, err := consistency.LookupLevel("linearisable"); err == nil || !strings.Contains(fmt.Sprint(err), `did you mean "linearizable"`) {
		t.Errorf("error %v, want a suggestion", err)
	}
}

// byContent numbers arrays by what they hold, so that a changed one shows.
type byContent struct {
	contents [][1]int
	states   []*[1]int
}

func (b *byContent) Number(s *[1]int) int32 {
	for i, o := range b.contents {
		if o == *s {
			return int32(i)
		}
	}
	b.contents, b.states = append(b.contents, *s), append(b.states, s)
	return int32(len(b.states) - 1)
}
func (b *byContent) State(n int32) *[1]int { return b.states[n] }
