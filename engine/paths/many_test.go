package paths_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pinyon/engine"
	"pinyon/engine/brute"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
	"pinyon/models"
)

// manyLevels are the levels under which several keys are compared.
var manyLevels = []string{
	"sequential", "ordered-sequential", "real-time-writes", "regular-sequential", "prefix-staleness:t=0s", "prefix-staleness:t=4ns",
	"prefix-sequential", "single-order:read-your-writes+monotonic-reads", "single-order:monotonic-writes+writes-follow-reads", "linearizable",
}

// manyShape steers the generator of several keys.
type manyShape struct {
	shape
	keys     int
	sessions bool // answers follow an order of the sessions that may leave real time
	repeated bool // some values are written twice
	unknown  bool // some answers were not recorded
	cas      float64
}

func smallMany(r *rand.Rand) manyShape {
	s := manyShape{shape: small(r), keys: 2 + r.IntN(2), sessions: r.IntN(2) == 0, repeated: r.IntN(6) == 0, unknown: r.IntN(6) == 0}
	s.ops += 2
	if r.IntN(2) == 0 {
		s.cas = 0.2
	}
	return s
}

// manyKeys makes a history of registers: every write and compare-and-set
// leaves a value of its own, but for repeats.
func manyKeys(r *rand.Rand, s manyShape) *spec.Subject {
	ops := intervals(r, s.shape)
	in, keys, noOut := make([]models.RegisterIn, len(ops)), make([]int, len(ops)), make([]bool, len(ops))
	writes := 0.3 + 0.2*r.Float64()
	for i := range ops {
		keys[i] = r.IntN(s.keys)
		v := i + 1
		if s.repeated && r.IntN(3) == 0 {
			v = 1 + r.IntN(3)
		}
		switch x := r.Float64(); {
		case x < writes:
			ops[i].f, in[i] = "write", models.Write(value(v))
			ops[i].lost = r.Float64() < s.lostAdds
		case x < writes+s.cas:
			ops[i].f, in[i] = "cas", models.Cas(value(0), value(v))
			ops[i].lost = r.Float64() < s.lostAdds
			if ops[i].told = s.repeated && r.IntN(3) == 0; ops[i].told { // it expects anything
				in[i].Value = value(r.IntN(4))
			}
		default:
			ops[i].f, in[i] = "read", models.Read()
			ops[i].lost = r.Float64() < s.lostTakes
			noOut[i] = s.unknown && r.IntN(6) == 0
		}
	}
	simulateMany(r, ops, in, keys, s)
	if s.mutations {
		mutateRegister(r, ops, in)
	}
	ties := history.TiesConcurrent
	if r.IntN(2) == 0 {
		ties = history.TiesPrecede
	}
	h := &history.Of[models.RegisterIn, history.Value]{Header: history.Header{Ties: ties, HasTies: true}, Ops: make([]history.Op[models.RegisterIn, history.Value], len(ops))}
	for i := range ops {
		e, op := &ops[i], &h.Ops[i]
		op.Process, op.F, op.Key, op.Invoke, op.Return = e.process, e.f, fmt.Sprint("k", keys[i]), e.call, e.ret
		op.In, op.Out, op.NoOut = in[i], history.Absent, noOut[i]
		switch {
		case e.lost:
			op.Outcome = history.Info
		case e.f == "read":
			op.Out = value(e.value)
		case e.f == "cas":
			op.Out = history.Bool(e.value == 1)
		}
	}
	subject, err := spec.Erase(h, models.CasRegister(value(0)))
	if err != nil {
		panic(err)
	}
	return subject
}

// simulateMany performs the operations along a random order that their
// intervals allow, or only their sessions; a compare-and-set expects what it
// finds.
func simulateMany(r *rand.Rand, ops []event, in []models.RegisterIn, keys []int, s manyShape) {
	var pending []int
	for i := range ops {
		if !ops[i].lost || r.IntN(2) == 0 {
			pending = append(pending, i)
		}
	}
	state := make([]int, s.keys)
	for len(pending) > 0 {
		var ready []int
		for at, x := range pending {
			if !slices.ContainsFunc(pending, func(y int) bool {
				return !ops[y].lost && ops[y].ret < ops[x].call && (!s.sessions || ops[y].process == ops[x].process)
			}) {
				ready = append(ready, at)
			}
		}
		at := ready[r.IntN(len(ready))]
		x := pending[at]
		pending = slices.Delete(pending, at, at+1)
		held := &state[keys[x]]
		switch ops[x].f {
		case "read":
			ops[x].value = *held
			continue
		case "cas":
			if !ops[x].told {
				in[x].Value = value(*held)
			}
			expected, _ := in[x].Value.Int64()
			if ops[x].value = 0; int(expected) == *held {
				ops[x].value = 1
				to, _ := in[x].To.Int64()
				*held = int(to)
			}
			continue
		}
		v, _ := in[x].Value.Int64()
		*held = int(v)
	}
}

// manyTally counts verdicts of the path over several keys.
type manyTally struct {
	yes, no, cores, unknown int
	reasons                 map[string]int
}

// compare holds the path to the search.
func (c *manyTally) compare(t *testing.T, s *spec.Subject, level string, rules *order.Rules, limits engine.Limits) (decided bool, got spec.Part) {
	t.Helper()
	decide := func(noPaths bool) spec.Part {
		part, err := engine.Decide(context.Background(), engine.Task{Rules: rules, Machine: s.Machine(context.Background(), s.View, false),
			Eager: true, Focus: -1, Mute: true, NoPaths: noPaths, Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	want, got := decide(true), decide(false)
	switch {
	case want.Kind == spec.Vacuous || want.Kind == spec.Unknown:
		return false, got
	case got.Kind != want.Kind:
		t.Fatalf("%s: the path says %v (%s, tried %q), the search %v\n%s", level, got.Kind, got.Engine, got.Tried, want.Kind, showMany(s, rules))
	case strings.Contains(got.Tried, "hold") || strings.Contains(got.Tried, "possible by themselves"):
		t.Fatalf("%s: %s; the search says %v\n%s", level, got.Tried, want.Kind, showMany(s, rules))
	case got.Engine == "many-keys" && got.Kind == spec.Consistent:
		c.yes++
	case got.Engine == "many-keys":
		if c.no++; got.Proof.Kind == spec.ProofCore {
			c.cores++
		}
	case got.Engine != "order" && severalKeys(s.View):
		c.unknown++
		if c.reasons == nil {
			c.reasons = map[string]int{}
		}
		c.reasons[got.Tried]++
	}
	return true, got
}

func severalKeys(v *history.View) bool {
	return slices.ContainsFunc(v.Key, func(k int32) bool { return k != v.Key[0] })
}

func showMany(s *spec.Subject, rules *order.Rules) string {
	text := show(s)
	for i, k := range s.View.Key {
		text += fmt.Sprintf("%d:%s ", i, s.View.KeyName[k])
	}
	for _, source := range rules.Hard {
		if e, ok := source.Relation.(*order.Edges); ok {
			text += fmt.Sprintf("edges %v", e.To)
		}
	}
	return text
}

func (c *manyTally) judge(t *testing.T) {
	t.Logf("%d consistent, %d violations (%d small cores), %d left to the search", c.yes, c.no, c.cores, c.unknown)
	for _, reason := range slices.Sorted(mapsKeys(c.reasons)) {
		t.Logf("%8d %s", c.reasons[reason], reason)
		if strings.Contains(reason, "pairs of writes") || strings.Contains(reason, "no place") {
			t.Error("it gave up")
		}
	}
	if decided := c.yes + c.no; c.yes*100 < 15*decided || c.no*100 < 15*decided || c.unknown > decided/4 {
		t.Error("lopsided")
	}
}

func mapsKeys(m map[string]int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestManyKeysEqualSearch compares the path with the search on small histories
// of two and three keys, at levels of every kind of hard order.
func TestManyKeysEqualSearch(t *testing.T) {
	for k := range 2 {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, uint64(k)))
			c := &manyTally{}
			for i := range *fuzzN {
				s := manyKeys(r, smallMany(r))
				level := manyLevels[r.IntN(len(manyLevels))]
				rules := leveled(t, s, level, r)
				if _, got := c.compare(t, s, level, rules, engine.Limits{}); i%50 == 0 && got.Kind != spec.Vacuous {
					manyAgainstTwin(t, s, level, rules, got)
				}
			}
			c.judge(t)
		})
	}
}

// manyAgainstTwin holds a verdict to the twin that tries every order.
func manyAgainstTwin(t *testing.T, s *spec.Subject, level string, rules *order.Rules, got spec.Part) {
	t.Helper()
	var extra func(a, b int32) bool
	for _, source := range rules.Hard {
		if source.Name == "edges" {
			extra = source.Precedes
		}
	}
	if got.Proof != nil && got.Proof.Kind == spec.ProofCore {
		d, err := verify.Define(level)
		if err != nil {
			t.Fatal(err)
		}
		if err := brute.Core(s, d, extra, got.Proof.Ops); err != nil {
			t.Fatalf("%s: core %v: %v\n%s", level, got.Proof.Ops, err, showMany(s, rules))
		}
	}
	ok, _, err := brute.Decide(s, level, extra)
	if err != nil {
		t.Fatal(err)
	}
	if ok != (got.Kind == spec.Consistent) {
		t.Fatalf("%s: %s says %v, the twin consistent: %v\n%s", level, got.Engine, got.Kind, ok, showMany(s, rules))
	}
}

// TestManyKeysEqualSearchOnLonger compares them on histories of 30 to 60
// operations, where the search decides within a budget.
func TestManyKeysEqualSearchOnLonger(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	c := &manyTally{}
	for range *fuzzN / 10 {
		s := smallMany(r)
		s.ops, s.processes, s.squeezed, s.keys = 30+r.IntN(31), 2+r.IntN(5), false, 2+r.IntN(4)
		s.lostAdds, s.lostTakes, s.repeated = s.lostAdds/4, s.lostTakes/8, false
		subject := manyKeys(r, s)
		level := manyLevels[r.IntN(len(manyLevels))]
		c.compare(t, subject, level, leveled(t, subject, level, r), engine.Limits{States: 5000})
	}
	c.judge(t)
}
