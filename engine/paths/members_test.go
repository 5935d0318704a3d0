package paths_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
	"pinyon/models"
)

func setOp(p int, in models.SetIn, yes bool, from, to int64) history.Op[models.SetIn, models.SetOut] {
	return history.Op[models.SetIn, models.SetOut]{Process: p, F: in.F, In: in, Out: models.SetAnswer(yes), Invoke: from, Return: to}
}

func setOf(ops ...history.Op[models.SetIn, models.SetOut]) *spec.Subject {
	return erased(&history.Of[models.SetIn, models.SetOut]{Ops: ops}, models.Set())
}

func lockOf[S, In, Out any](m spec.Model[S, In, Out], ops ...history.Op[In, Out]) *spec.Subject {
	return erased(&history.Of[In, Out]{Ops: ops}, m)
}

func owning(p int, f string, out history.Value, from, to int64) history.Op[models.OwnedIn, history.Value] {
	return history.Op[models.OwnedIn, history.Value]{Process: p, F: f, In: models.OwnedIn{F: f, Owner: value(p)}, Out: out, Invoke: from, Return: to}
}

func counting(p int, in models.CounterIn, out history.Value, from, to int64) history.Op[models.CounterIn, history.Value] {
	return history.Op[models.CounterIn, history.Value]{Process: p, F: in.F, In: in, Out: out, Invoke: from, Return: to}
}

// TestEffectsStandBack: what the paths do not know they leave alone, and say
// why; each of these histories is consistent.
func TestEffectsStandBack(t *testing.T) {
	one, none := value(1), history.Absent
	silent := func(op history.Op[models.SetIn, models.SetOut]) history.Op[models.SetIn, models.SetOut] {
		op.NoOut = true
		return op
	}
	read := setOp(2, models.SetRead(), true, 2, 3)
	read.Out = models.SetElements(one)
	twoKeys := setOp(2, models.SetAdd(one), true, 2, 3)
	twoKeys.Key = "k"
	dropped := silent(setOp(2, models.SetRemove(one), true, 2, 3))
	for _, c := range []struct {
		name, reason string
		s            *spec.Subject
	}{
		{"a read of the whole set", "members: an operation does what the path does not know", setOf(setOp(1, models.SetAdd(one), true, 0, 1), read)},
		{"several keys", "members: there are several keys", setOf(setOp(1, models.SetAdd(one), true, 0, 1), twoKeys)},
		{"a session at one instant", "members: the hard order is not one interval order",
			setOf(setOp(1, models.SetAdd(one), true, 0, 1), setOp(1, models.SetContains(one), true, 1, 2), setOp(2, models.SetContains(one), true, 0, 5))},
		{"an add of unknown effect", "members: a change of unknown effect to a member that others change, too",
			setOf(silent(setOp(1, models.SetAdd(one), true, 0, 1)), setOp(2, models.SetRemove(one), true, 2, 3))},
		{"a remove of unknown effect", "members: a change of unknown effect to a member that others change, too", setOf(dropped)},
		{"an attempt that failed", "mutex: an attempt that failed says only that somebody held the lock",
			lockOf(models.OwnerMutex(), owning(1, "acquire", none, 0, 1), owning(2, "try-acquire", history.False, 2, 3))},
		{"owners without an order", "mutex: the operations of an owner have no order of their own",
			lockOf(models.OwnerMutex(), owning(1, "acquire", none, 0, 1), history.Op[models.OwnedIn, history.Value]{Process: 2, F: "release", In: models.ReleaseBy(value(1)), Invoke: 1, Return: 2})},
		{"a token that was not recorded", "mutex: the answer of an attempt was not recorded",
			lockOf(models.FencedMutex(history.Absent), func() history.Op[models.OwnedIn, history.Value] {
				op := owning(1, "acquire", none, 0, 1)
				op.NoOut = true
				return op
			}())},
		{"addends that differ", "counter: not all add the same",
			lockOf(models.Counter(none), counting(1, models.CounterAdd(1), none, 0, 1), counting(1, models.CounterAdd(2), none, 2, 3))},
		{"large addends", "counter: the numbers are too large", lockOf(models.Counter(none), counting(1, models.CounterAdd(1<<40), none, 0, 1))},
	} {
		a, name := try(c.s, rules(c.s))
		if a.Kind != spec.Unknown || name != "" || a.Reason != c.reason {
			t.Errorf("%s: %v by %q: %q, want %q", c.name, a.Kind, name, a.Reason, c.reason)
		}
		if part := decide(t, c.s, false, engine.Limits{}); part.Kind != spec.Consistent {
			t.Errorf("%s: %v", c.name, part.Kind)
		}
	}
}

// TestEffectsKnowOnlyPlainValidity: under a validity of another kind the
// machine says nothing of its operations.
func TestEffectsKnowOnlyPlainValidity(t *testing.T) {
	for _, s := range []*spec.Subject{
		setOf(setOp(1, models.SetAdd(value(1)), true, 0, 1)),
		lockOf(models.OwnerMutex(), owning(1, "acquire", history.Absent, 0, 1)),
		lockOf(models.Counter(history.Absent), counting(1, models.CounterAdd(1), history.Absent, 0, 1)),
	} {
		m, err := spec.KStale(2).Over(s.Machine(context.Background(), s.View, false), s.View)
		if err != nil {
			t.Fatal(err)
		}
		if a, name := paths.Try(&paths.Problem{Rules: rules(s), Machine: m}, all); a.Kind != spec.Unknown || name != "" || a.Reason != "" {
			t.Errorf("%v by %q: %q", a.Kind, name, a.Reason)
		}
	}
}

// TestEffectsNameTheCulprits: of a long history the core names the operations
// that matter, and package brute accepts it, and nothing less.
func TestEffectsNameTheCulprits(t *testing.T) {
	one := value(1)
	var flips []history.Op[models.SetIn, models.SetOut]
	for i := range 200 {
		in := models.SetAdd(one)
		if i%2 == 1 {
			in = models.SetRemove(one)
		}
		flips = append(flips, setOp(1, in, true, int64(10*i), int64(10*i+5)))
	}
	in := slices.Clone(flips)
	in[101] = setOp(1, models.SetContains(one), false, 1010, 1015) // the element is there
	var holds []history.Op[models.OwnedIn, history.Value]
	for i := range 200 {
		holds = append(holds, owning(i/2, []string{"acquire", "release"}[i%2], history.Absent, int64(10*i), int64(10*i+5)))
	}
	holds[100].Invoke, holds[100].Return = 980, 984 // 50 takes it between the take and the give of 49
	for _, c := range []struct {
		name string
		s    *spec.Subject
		want []int32
	}{
		{"a set", setOf(in...), []int32{0, 101}},
		{"a lock", lockOf(models.OwnerMutex(), holds...), []int32{98, 99, 100, 101}},
		{"a lock that is given back by another", lockOf(models.OwnerMutex(), append(slices.Clone(holds[:99]), owning(7, "release", history.Absent, 5000, 5001))...), []int32{99}},
	} {
		part := decide(t, c.s, false, engine.Limits{})
		if part.Kind != spec.Violation || part.Proof.Kind != spec.ProofCore || !slices.Equal(part.Proof.Ops, c.want) {
			t.Errorf("%s: %v by %s: %+v, want the core %v", c.name, part.Kind, part.Engine, part.Proof, c.want)
			continue
		}
		if err := coreAt(c.s, "linearizable", part.Proof.Ops); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestWhatIsKeptComesLast: of three owners the first keeps the lock, which an
// explicit edge puts before the second's; sessions order the rest.
func TestWhatIsKeptComesLast(t *testing.T) {
	none := history.Absent
	s := lockOf(models.OwnerMutex(), owning(1, "acquire", none, 0, 99), owning(2, "acquire", none, 0, 9), owning(2, "release", none, 10, 99),
		owning(3, "acquire", none, 0, 9), owning(3, "release", none, 10, 99))
	for _, c := range []struct {
		edge [2]int32
		want spec.Kind
		core []int32
	}{
		{[2]int32{2, 0}, spec.Consistent, nil},
		{[2]int32{0, 1}, spec.Violation, []int32{0, 1, 2}},
		{[2]int32{0, 4}, spec.Violation, []int32{0, 3, 4}},
	} {
		edges, err := order.NewEdges(s.View.N, [][2]int32{c.edge}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := order.NewRules(s.View)
		r.Hard = append(r.Hard, order.Session(s.View, nil, false), order.Source{Relation: edges, Name: "edges", Hint: true})
		a, name := try(s, r)
		if a.Kind != c.want || name != "mutex" || !slices.Equal(a.Core, c.core) {
			t.Errorf("edge %v: %v by %q, core %v (%s); want %v, core %v", c.edge, a.Kind, name, a.Core, a.Reason, c.want, c.core)
		}
	}
}

// TestCoresOfEffects: a core that leaves out what matters is refused.
func TestCoresOfEffects(t *testing.T) {
	one, none := value(1), history.Absent
	set := setOf(setOp(1, models.SetAdd(one), true, 0, 1), setOp(1, models.SetRemove(one), true, 2, 3), setOp(1, models.SetContains(one), true, 4, 5))
	plain := setOf(setOp(1, models.SetAdd(one), true, 0, 1), setOp(2, models.SetRemove(one), true, 4, 6))
	over := setOf(setOp(1, models.SetAdd(one), true, 0, 1), setOp(2, models.SetRemove(one), true, 0, 6), setOp(1, models.SetContains(one), true, 4, 5), setOp(1, models.SetRemove(one), true, 8, 9))
	lock := lockOf(models.OwnerMutex(), owning(1, "acquire", none, 0, 1), owning(1, "release", none, 2, 3), owning(1, "acquire", none, 4, 5), owning(2, "acquire", none, 4, 9))
	count := lockOf(models.Counter(none), counting(1, models.CounterAdd(1), none, 0, 1), counting(1, models.CounterRead(), value(1), 2, 3), counting(1, models.CounterRead(), value(0), 4, 5))
	for _, c := range []struct {
		name, err string
		s         *spec.Subject
		ops       []int32
	}{
		{"all of a set", "", set, []int32{0, 1, 2}},
		{"a member that was made to leave before", "", set, []int32{2}},
		{"one that may stand among what is left out", "may stand among", over, []int32{2}},
		{"what enters is left out", "changes a member of the core", plain, []int32{1}},
		{"what comes later may be left out, and does no harm", "is legal", over, []int32{0, 1, 2}},
		{"as many entered as left", "", over, []int32{3}},
		{"a block is cut", "belongs to some of the core", lock, []int32{0, 2, 3}},
		{"two hold it", "", lock, []int32{2, 3}},
		{"twice", "stands twice", lock, []int32{2, 3, 2}},
		{"all of a number", "", count, []int32{0, 2}},
		{"an add to a number is missing", "adds to the number", count, []int32{1}},
	} {
		err := coreAt(c.s, "linearizable", c.ops)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}

// TestSumBetweenAdds: adds of two never give an odd sum.
func TestSumBetweenAdds(t *testing.T) {
	s := lockOf(models.Counter(history.Absent), counting(1, models.CounterAdd(2), history.Absent, 0, 9), counting(2, models.CounterAdd(2), history.Absent, 0, 9),
		counting(3, models.CounterRead(), value(1), 1, 2))
	if part := decide(t, s, false, engine.Limits{}); part.Kind != spec.Violation || part.Engine != "counter" {
		t.Errorf("%v by %s", part.Kind, part.Engine)
	}
}
