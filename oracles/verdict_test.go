package oracles

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
	"pinyon/models"
)

var verdictRuns = flag.Int("oracles.verdicts", 500, "random histories for each oracle and level, checked against the twin")

// levelsOf are the levels that an oracle is checked with.
func levelsOf(name string) []string {
	switch name {
	case "zookeeper":
		return []string{"ordered-sequential", "linearizable"}
	case "gryff":
		return []string{"regular-sequential", "linearizable"}
	case "applied-staleness:k=1,t=3ns":
		return []string{"prefix-linearizable"}
	}
	return []string{"linearizable"}
}

// run is one history of a store that gives hints: operations take effect in a
// hidden order, and what they return and what the hints say follows from it,
// but for some noise.
type run struct {
	*rand.Rand
	n             int
	values, hints int // percent of outputs and of hints that are noise
}

func newRun(r *rand.Rand) *run {
	return &run{r, 3 + r.IntN(4), []int{0, 0, 20, 60}[r.IntN(4)], []int{0, 8, 20, 40}[r.IntN(4)]}
}

func (g *run) noise(percent int) bool { return g.IntN(100) < percent }

// history makes the operations, in the hidden order, with the hints of all
// oracles that are named.
func (g *run) history(names []string) *history.Of[models.KVIn, history.Value] {
	h := &history.Of[models.KVIn, history.Value]{}
	state, last := map[string]int64{}, map[string]int64{}
	writes, insts := int64(0), [3]int64{}
	for i := range g.n {
		at := int64(4 * i)
		o := history.Op[models.KVIn, history.Value]{Process: i, Key: []string{"k", "l"}[g.IntN(5)/3], F: "put",
			Invoke: at - int64(g.IntN(9)), Return: at + int64(g.IntN(9))}
		seen := last[o.Key]
		if g.IntN(2) == 0 {
			writes++
			state[o.Key], last[o.Key] = int64(1+g.IntN(3)), writes
			o.In = models.Put(history.Int(state[o.Key]))
		} else {
			o.F, o.In, o.Out = "get", models.Get(), history.Int(state[o.Key])
			if g.noise(g.values) {
				o.Out = history.Int(int64(g.IntN(4)))
			}
		}
		replica := g.IntN(3)
		if g.IntN(12) == 0 {
			o.Outcome = history.Info
		} else {
			for _, name := range names {
				if hint, ok := g.hint(name, int64(i), writes, seen, int64(replica), insts[:]); ok && !g.noise(g.hints/3) {
					o.Hints = append(o.Hints, history.Hint{Name: name, Value: hint})
				}
			}
		}
		insts[replica]++
		h.Ops = append(h.Ops, o)
	}
	g.Shuffle(len(h.Ops), func(i, j int) { h.Ops[i], h.Ops[j] = h.Ops[j], h.Ops[i] })
	for i := range h.Ops {
		h.Ops[i].Process = i
	}
	return h
}

// hint is what the store says with the i-th operation of the hidden order, after
// so many writes, where the key was last written by the write seen.
func (g *run) hint(name string, i, writes, seen, replica int64, insts []int64) (history.Value, bool) {
	number := func(n int64) (history.Value, bool) {
		if g.noise(g.hints) {
			n += int64(g.IntN(5)) - 2
		}
		return history.Int(n), true
	}
	list := func(ns ...int64) (history.Value, bool) {
		var vs []history.Value
		for _, n := range ns {
			v, _ := number(n)
			vs = append(vs, v)
		}
		if g.noise(g.hints / 3) {
			vs = vs[:len(vs)-1]
		}
		return history.Array(vs...), true
	}
	switch name {
	case "mod_revision", "mzxid":
		return number(seen)
	case "instance", "seq", "timestamp":
		return number(i)
	case "term", "view":
		return number(1 + i/3)
	case "leader":
		return number(1)
	case "replica":
		return history.Int(replica), true
	case "inst":
		return history.Int(insts[replica]), true
	case "deps":
		return list(insts[0]-1, insts[1]-1, insts[2]-1)
	case "carstamp":
		return list(writes, 0, 0)
	case "seqIdx", "DIdx":
		return list(writes, writes, writes)
	}
	return number(writes)
}

// subject is the history bound to its model, with its values recorded.
func subject(t *testing.T, h *history.Of[models.KVIn, history.Value]) *spec.Subject {
	t.Helper()
	s, err := spec.Erase(h, models.KV(history.Int(0)))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range s.View.Ops {
		o := h.Ops[i]
		s.View.In, s.View.Out = append(s.View.In, o.In.Value), append(s.View.Out, o.Out)
		if o.F == "get" {
			s.View.In[len(s.View.In)-1] = history.Absent
		} else {
			s.View.Out[len(s.View.Out)-1] = history.Absent
		}
	}
	return s
}

// TestVerdictsEqualTheDefinitions: with every built-in oracle and its file a
// check says what trying every order says under the oracle's definition, and
// carries evidence that the verifier accepts.
func TestVerdictsEqualTheDefinitions(t *testing.T) {
	var all [2]int
	for name := range defined {
		for _, level := range levelsOf(name) {
			t.Run(name+"/"+level, func(t *testing.T) {
				var count [2]int
				rng := twinRand(11)
				for k := range *verdictRuns {
					count[againstDefinition(t, rng, name, level, k)]++
				}
				t.Logf("consistent %d, violations %d", count[0], count[1])
				all[0], all[1] = all[0]+count[0], all[1]+count[1]
				if min(count[0], count[1])*100 < 15**verdictRuns {
					t.Error("one verdict is rarer than 15 %")
				}
			})
		}
	}
	t.Logf("all: consistent %d, violations %d", all[0], all[1])
}

// againstDefinition compares one random history; it returns 1 for a violation.
func againstDefinition(t *testing.T, rng *rand.Rand, name, level string, k int) int {
	oracle, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	info := Infos()[slices.IndexFunc(Infos(), func(i Info) bool { return i.Name == name || i.Name == appliedName && name[0] == 'a' })]
	if k%2 == 1 && info.Name != appliedName {
		oracle = fileOf(t, name)
	}
	s := subject(t, newRun(rng).history(info.Hints))
	d := defined[name](&reader{s.View})
	want, _, err := brute.Decide(s, level, d.hard)
	if err != nil {
		t.Fatal(err)
	}
	want = want && !d.finding
	l, err := consistency.LookupLevel(level)
	if err != nil {
		t.Fatal(err)
	}
	v, err := consistency.CheckSubject(context.Background(), s, l, consistency.Options{Oracles: []order.Oracle{oracle},
		Engine: []string{"auto", "search"}[rng.IntN(2)], Timeout: -1, MaxMemory: 1 << 30, Workers: 1, NoSplit: rng.IntN(4) == 0})
	if err != nil {
		t.Fatalf("%v\n%s", err, described(s.View))
	}
	if v.Kind == spec.Vacuous {
		return 0
	}
	if got := v.Kind == spec.Consistent; got != want {
		t.Fatalf("history %d: the twin says consistent %v (finding %v), the check %v\n%s", k, want, d.finding, v.Kind, described(s.View))
	}
	if err := evidence(s, level, v, oracle, d.hard); err != nil {
		t.Fatalf("history %d: %v\n%s", k, err, described(s.View))
	}
	if want {
		return 0
	}
	return 1
}

// evidence lets the verifier check what the verdict carries.
func evidence(s *spec.Subject, level string, v *spec.Verdict, o order.Oracle, hard func(a, b int32) bool) error {
	f := verify.NewFile(s, level, v)
	f.TryCore, f.Oracles = brute.Core, []verify.OracleText{{Name: o.Name}}
	rules := order.NewRules(s.View)
	if err := o.Apply(rules); err != nil {
		return err
	}
	f.Contradictions = rules.Contradictions
	r, err := f.Check(s, hard)
	if err != nil || r.Answer == verify.Refused {
		return fmt.Errorf("the verifier: %v %s %v", r.Answer, r.Reason, err)
	}
	return nil
}

// TestForgedHints: the verifier takes hints as proof only where the oracles say
// that these hints contradict each other, and then accepts no order.
func TestForgedHints(t *testing.T) {
	h := &history.Of[models.KVIn, history.Value]{}
	for i, revision := range []int64{4, 5, 5} {
		h.Ops = append(h.Ops, history.Op[models.KVIn, history.Value]{Process: i, F: "put", Key: "k", In: models.Put(history.Int(1)), Return: 9,
			Hints: []history.Hint{{Name: "revision", Value: history.Int(revision)}}})
	}
	s := subject(t, h)
	o, _ := Lookup("etcd")
	level, _ := consistency.LookupLevel("linearizable")
	v, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{Oracles: []order.Oracle{o}})
	if err != nil || v.Kind != spec.Violation || v.Parts[0].Proof.Kind != spec.ProofHints {
		t.Fatalf("%v %+v", err, v)
	}
	rules := order.NewRules(s.View)
	if err := o.Apply(rules); err != nil {
		t.Fatal(err)
	}
	check := func(change func(f *verify.File)) verify.Answer {
		t.Helper()
		f := verify.NewFile(s, "linearizable", v)
		f.Oracles, f.Contradictions = []verify.OracleText{{Name: "etcd"}}, rules.Contradictions
		change(f)
		r, err := f.Check(s, func(a, b int32) bool { return precedes(rules.Hard, a, b) })
		if err != nil {
			t.Fatal(err)
		}
		return r.Answer
	}
	for name, c := range map[string]struct {
		change func(f *verify.File)
		want   verify.Answer
	}{
		"as it is":         {func(*verify.File) {}, verify.Accepted},
		"other operations": {func(f *verify.File) { f.Parts[0].Hints = []int64{0, 1} }, verify.Refused},
		"no operation":     {func(f *verify.File) { f.Parts[0].Hints = []int64{0, 9} }, verify.Refused},
		"nobody reads":     {func(f *verify.File) { f.Contradictions = nil }, verify.NotCheckable},
		"two proofs":       {func(f *verify.File) { f.Parts[0].Core = []int64{0} }, verify.Refused},
		"an order": {func(f *verify.File) {
			f.Verdict, f.Parts[0] = "consistent", verify.FilePart{Key: "k", Verdict: "consistent", Order: []int64{0, 1, 2}}
		}, verify.Refused},
		"a pass with hints": {func(f *verify.File) {
			f.Verdict, f.Parts[0].Verdict, f.Parts[0].Order = "consistent", "consistent", []int64{0, 1, 2}
			f.Contradictions = func() [][]int32 { return nil }
		}, verify.Refused},
	} {
		if got := check(c.change); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	brute, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{Oracles: []order.Oracle{o}, Engine: "brute"})
	if err != nil || brute.Kind != spec.Violation || brute.Parts[0].Proof.Kind != spec.ProofHints {
		t.Errorf("by trying every order: %v %+v", err, brute)
	}
}
