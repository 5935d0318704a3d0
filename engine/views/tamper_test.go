package views_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// reread writes a file and reads it again, which must give the same bytes.
func reread(t *testing.T, f *verify.File) *verify.File {
	t.Helper()
	var text, again bytes.Buffer
	if err := verify.WriteFile(&text, f); err != nil {
		t.Fatal(err)
	}
	g, err := verify.ReadFile(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, text.Bytes())
	}
	if err := verify.WriteFile(&again, g); err != nil || !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Fatalf("%v: read and written again it is\n%s\nnot\n%s", err, again.Bytes(), text.Bytes())
	}
	return g
}

// tampering is one file that is accepted, with what a change needs to know.
type tampering struct {
	*rand.Rand
	*spec.Subject
	*verify.File
	part *verify.FilePart
	at   map[int64]int32
}

// some returns an index into a list, false where it is empty.
func some[T any](t *tampering, list []T) (int, bool) {
	if len(list) == 0 {
		return 0, false
	}
	return t.IntN(len(list)), true
}

// tampers are changes after which no file is accepted; false: they do not apply.
var tampers = map[string]func(t *tampering) bool{
	"the digest":      func(t *tampering) bool { t.Digest = "00"; return true },
	"the model":       func(t *tampering) bool { t.File.Model += "x"; return true },
	"an oracle":       func(t *tampering) bool { t.Oracles = []verify.OracleText{{Name: "o"}}; return true },
	"split":           func(t *tampering) bool { t.Split = true; return true },
	"a key":           func(t *tampering) bool { t.part.Key = "nowhere"; return true },
	"a part twice":    func(t *tampering) bool { t.Parts = append(t.Parts, t.Parts[0]); return true },
	"no part":         func(t *tampering) bool { t.Parts = nil; return true },
	"other verdict":   func(t *tampering) bool { return flip(t) },
	"a file's word":   func(t *tampering) bool { t.Verdict = "unknown"; return true },
	"vacuous":         func(t *tampering) bool { t.Verdict, t.part.Verdict = "vacuous", "vacuous"; return true },
	"one order":       func(t *tampering) bool { t.part.Order = []int64{t.ID(0)}; return true },
	"two proofs":      func(t *tampering) bool { t.part.Exhausted = true; return true },
	"saw less":        func(t *tampering) bool { return dropSaw(t) },
	"saw twice":       func(t *tampering) bool { return copySaw(t) },
	"saw another":     func(t *tampering) bool { return otherSaw(t) },
	"an order less":   func(t *tampering) bool { i, ok := some(t, t.part.Views); return ok && dropView(t, i) },
	"an order twice":  func(t *tampering) bool { return copyView(t) },
	"one in an order": func(t *tampering) bool { l := list(t); return l != nil && dropOne(t, l) },
	"one twice":       func(t *tampering) bool { l := list(t); return l != nil && copyOne(t, l) },
	"a session swapped": func(t *tampering) bool {
		l := list(t)
		return l != nil && (t.part.Views != nil || t.Level == "causal-convergence" || t.Level == "monotonic-writes") && swapSession(t, *l)
	},
	"what was seen swapped":        func(t *tampering) bool { return swapSeen(t) },
	"what was seen before swapped": func(t *tampering) bool { return t.Level == "writes-follow-reads" && swapFollowed(t) },
	"the process":                  func(t *tampering) bool { return t.part.Pattern != nil && changed(&t.part.Pattern.Process, "nobody") },
	"the pattern":                  func(t *tampering) bool { return t.part.Pattern != nil && changed(&t.part.Pattern.Name, "CyclicAll") },
	"no steps":                     func(t *tampering) bool { return noSteps(t) },
	"no operations":                func(t *tampering) bool { return noOperations(t) },
	"a step turned":                func(t *tampering) bool { return turnStep(t) },
	"a step's reason":              func(t *tampering) bool { s := step(t); return s != nil && changed(&s.Why, "luck") },
	"a step's read":                func(t *tampering) bool { return otherRead(t) },
}

func changed(s *string, to string) bool { *s = to; return true }

func flip(t *tampering) bool {
	other := map[string]string{"consistent": "violation", "violation": "consistent"}[t.Verdict]
	t.Verdict, t.part.Verdict = other, other
	return other != ""
}

func dropSaw(t *tampering) bool {
	i, ok := some(t, t.part.Saw)
	if !ok || t.View.Info[t.at[t.part.Saw[i].Op]] {
		return false
	}
	t.part.Saw = slices.Delete(t.part.Saw, i, i+1)
	return true
}

func copySaw(t *tampering) bool {
	i, ok := some(t, t.part.Saw)
	if ok {
		t.part.Saw = append(t.part.Saw, t.part.Saw[i])
	}
	return ok
}

// otherSaw makes an operation see one that does not write what it saw.
func otherSaw(t *tampering) bool {
	i, ok := some(t, t.part.Saw)
	if !ok {
		return false
	}
	m := t.Machine(context.Background(), t.View, false).(spec.Tokens)
	x, y := t.at[t.part.Saw[i].Op], int32(t.IntN(t.View.N))
	if t.View.Key[x] == t.View.Key[y] && m.Want(x) == m.Write(y) {
		return false
	}
	id := t.ID(y)
	t.part.Saw[i].Write = &id
	return true
}

func dropView(t *tampering, i int) bool {
	reads := false // without reads of its own pram needs no order of a process
	for x := range int32(t.View.N) {
		reads = reads || t.View.Read[x] && t.View.ProcessName[t.View.Process[x]] == t.part.Views[i].Process
	}
	t.part.Views = slices.Delete(t.part.Views, i, i+1)
	return reads || t.Level == "causal-memory"
}

func copyView(t *tampering) bool {
	i, ok := some(t, t.part.Views)
	if ok {
		t.part.Views = append(t.part.Views, t.part.Views[i])
	}
	return ok
}

// list returns an order in the file, of the writes or of a process.
func list(t *tampering) *[]int64 {
	if i, ok := some(t, t.part.Views); ok && len(t.part.Views[i].Order) > 0 {
		return &t.part.Views[i].Order
	}
	if len(t.part.Arbitration) > 0 {
		return &t.part.Arbitration
	}
	return nil
}

func dropOne(t *tampering, l *[]int64) bool {
	i := t.IntN(len(*l))
	answered := !t.View.Info[t.at[(*l)[i]]]
	*l = slices.Delete(*l, i, i+1)
	return answered
}

func copyOne(t *tampering, l *[]int64) bool {
	*l = append(*l, (*l)[t.IntN(len(*l))])
	return true
}

// swapSession swaps two of one session in an order.
func swapSession(t *tampering, l []int64) bool {
	for i := range l {
		for j := range i {
			if a, b := t.at[l[j]], t.at[l[i]]; t.View.Process[a] == t.View.Process[b] {
				l[i], l[j] = l[j], l[i]
				return true
			}
		}
	}
	return false
}

// swapSeen swaps a compare-and-set with what it saw.
func swapSeen(t *tampering) bool {
	for _, e := range t.part.Saw {
		if e.Write == nil {
			continue
		}
		i, j := slices.Index(t.part.Arbitration, e.Op), slices.Index(t.part.Arbitration, *e.Write)
		if i >= 0 && j >= 0 {
			t.part.Arbitration[i], t.part.Arbitration[j] = *e.Write, e.Op
			return true
		}
	}
	return false
}

// swapFollowed swaps a write with what its process saw earlier.
func swapFollowed(t *tampering) bool {
	for _, e := range t.part.Saw {
		if e.Write == nil {
			continue
		}
		y, j := t.at[e.Op], slices.Index(t.part.Arbitration, *e.Write)
		for i, id := range t.part.Arbitration {
			if x := t.at[id]; i != j && t.View.Process[x] == t.View.Process[y] && t.View.Call[y] < t.View.Call[x] {
				t.part.Arbitration[i], t.part.Arbitration[j] = *e.Write, id
				return true
			}
		}
	}
	return false
}

func noSteps(t *tampering) bool {
	if t.part.Pattern == nil || len(t.part.Pattern.Steps) == 0 {
		return false
	}
	t.part.Pattern.Steps = nil
	return true
}

func noOperations(t *tampering) bool {
	if t.part.Pattern == nil {
		return false
	}
	t.part.Pattern.Operations = nil
	return true
}

func step(t *tampering) *verify.FileStep {
	if t.part.Pattern == nil || len(t.part.Pattern.Steps) == 0 {
		return nil
	}
	return &t.part.Pattern.Steps[t.IntN(len(t.part.Pattern.Steps))]
}

func turnStep(t *tampering) bool {
	s := step(t)
	if s == nil || s.Why != string(spec.StepSession) && s.Why != string(spec.StepConflict) {
		return false
	}
	s.From, s.To = s.To, s.From
	return true
}

// otherRead lets a step rest on an operation that saw another value or key.
func otherRead(t *tampering) bool {
	var s *verify.FileStep
	if t.part.Pattern != nil {
		for i := range t.part.Pattern.Steps {
			if t.part.Pattern.Steps[i].Read != nil {
				s = &t.part.Pattern.Steps[i]
			}
		}
	}
	if s == nil {
		return false
	}
	m := t.Machine(context.Background(), t.View, false).(spec.Tokens)
	old := t.at[*s.Read]
	for x := range int32(t.View.N) {
		if t.View.Key[x] != t.View.Key[old] || m.Want(x) != m.Want(old) {
			id := t.ID(x)
			s.Read = &id
			return true
		}
	}
	return false
}

// eachEvidence calls f with histories and the file of what a level says.
func eachEvidence(t *testing.T, count int, f func(c *histgen.Case, s *spec.Subject, l level, f *verify.File)) {
	t.Helper()
	for k, o := range []histgen.Options{
		{Lines: true, RegisterLike: true, MaxOps: 7, WriteHeavy: true, ManyKeys: true},
		{Weak: true, MaxOps: 8, WriteHeavy: true, ManyKeys: true},
		{Weak: true, MaxOps: 8, Processes: 3, MaxKeys: 2},
	} {
		o.Models = []string{"register", "cas-register", "kv"}
		g := histgen.New(uint64(20+k), o)
		for i := range count {
			c, l := g.Next(), levels[i%len(levels)]
			if i%2 == 0 {
				distinct(c)
			}
			s, err := c.Subject()
			if err != nil {
				t.Fatal(err)
			}
			part, err := l.decide(context.Background(), problem(s))
			if err != nil {
				t.Fatal(err)
			}
			f(c, s, l, file(s, l.name, part))
		}
	}
}

// TestTamperedEvidence: no change to any piece of what is accepted is accepted.
func TestTamperedEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	times := map[string]int{}
	eachEvidence(t, 1200, func(c *histgen.Case, s *spec.Subject, l level, f *verify.File) {
		if r, err := f.Check(s, nil); err != nil || r.Answer != verify.Accepted || f.Verdict == "vacuous" {
			return
		}
		at := map[int64]int32{}
		for x := range int32(s.View.N) {
			at[s.ID(x)] = x
		}
		text, err := json.Marshal(reread(t, f))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(tampers)) {
			g := &verify.File{}
			if err := json.Unmarshal(text, g); err != nil {
				t.Fatal(err)
			}
			if !tampers[name](&tampering{rng, s, g, &g.Parts[0], at}) {
				continue
			}
			times[name]++
			if r, err := g.Check(s, nil); err != nil || r.Answer == verify.Accepted {
				t.Fatalf("%s: %s changed, and it was accepted (%v): %+v\n%s", l.name, name, err, g.Parts[0], c.Text())
			}
		}
	})
	for name := range tampers {
		if times[name] < 15 {
			t.Errorf("%s was tried %d times", name, times[name])
		}
	}
}

// TestForeignEvidence: evidence for one history, level and verdict is accepted
// for another only where that has the verdict, as the twin says.
func TestForeignEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	counts := map[verify.Answer]int{}
	eachEvidence(t, 3000, func(c *histgen.Case, s *spec.Subject, l level, f *verify.File) {
		if s.View.N > brute.MaxViewOps || f.Verdict == "vacuous" {
			return
		}
		other := levels[rng.IntN(len(levels))].name
		if rng.IntN(2) == 0 {
			other = l.name
			another, err := neighbour(c, rng).Subject()
			if err != nil {
				return
			}
			s = another
		}
		f.Level, f.Digest = other, verify.Digest(s)
		want, err := brute.DecideViews(s, other)
		if err != nil {
			return
		}
		r, err := f.Check(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		counts[r.Answer]++
		if r.Answer == verify.Accepted && want != (f.Verdict == "consistent") {
			t.Fatalf("evidence of %s for %s was accepted at %s: %+v\n%s", f.Verdict, l.name, other, f.Parts[0], c.Text())
		}
	})
	if counts[verify.Accepted] < 300 || counts[verify.Refused] < 300 {
		t.Errorf("one-sided: %v", counts)
	}
	t.Log(counts)
}

// neighbour is the case with one or two operations changed.
func neighbour(c *histgen.Case, rng *rand.Rand) *histgen.Case {
	raw := *c.Raw
	raw.Ops = slices.Clone(raw.Ops)
	for range 1 + rng.IntN(2) {
		a, b := &raw.Ops[rng.IntN(len(raw.Ops))], &raw.Ops[rng.IntN(len(raw.Ops))]
		switch {
		case a.F == b.F && rng.IntN(2) == 0:
			a.In, b.In, a.Out, b.Out = b.In, a.In, b.Out, a.Out
		case a.F == b.F && a.Outcome == b.Outcome && (a.Out.Text() == "") == (b.Out.Text() == ""):
			a.Key, b.Key = b.Key, a.Key
		default:
			a.Process = b.Process
		}
	}
	other := *c
	other.Raw = &raw
	return &other
}
