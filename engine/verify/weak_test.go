package verify_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// weakNames are the levels without a single order.
var weakNames = []string{
	"pram", "causal", "causal-memory", "causal-convergence",
	"read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads",
}

// eachWeak calls f with histories of registers, each at one level.
func eachWeak(t *testing.T, count int, f func(c *histgen.Case, s *spec.Subject, level string, consistent bool)) {
	t.Helper()
	for k, o := range []histgen.Options{
		{RegisterLike: true, MaxOps: 6, WriteHeavy: true, ManyKeys: true},
		{Weak: true, MaxOps: 7, WriteHeavy: true},
		{Weak: true, MaxOps: 7, Processes: 2, MaxKeys: 2},
	} {
		o.Models = []string{"register", "cas-register"}
		g := histgen.New(uint64(40+k), o)
		for i := range count {
			c, level := g.Next(), weakNames[i%len(weakNames)]
			s, err := c.Subject()
			if err != nil {
				t.Fatal(err)
			}
			consistent, err := brute.DecideViews(s, level)
			if err != nil {
				t.Fatal(err)
			}
			f(c, s, level, consistent)
		}
	}
}

// TestEveryProof: of all proofs that can be made, the verifier accepts some
// only where the twin says that the history is a violation, and for most of
// these it accepts one.
func TestEveryProof(t *testing.T) {
	counts, n := map[string]int{}, 600
	if testing.Short() {
		n /= 4
	}
	eachWeak(t, n, func(c *histgen.Case, s *spec.Subject, level string, consistent bool) {
		proof, err := verify.Accepts(s, level)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case proof != nil && consistent:
			t.Fatalf("%s: the history is consistent, and this proof is accepted: %+v\n%s", level, proof, c.Text())
		case proof != nil:
			counts["proved"]++
		case consistent:
			counts["consistent"]++
		default:
			counts["not proved"]++
		}
	})
	if counts["proved"] < n*7/12 || counts["consistent"] < n*7/12 || counts["not proved"]*5 > counts["proved"] {
		t.Errorf("one-sided: %v", counts)
	}
	t.Log(counts)
}

// TestForgedWitnesses: of witnesses that are made up at random the verifier
// accepts one only where the twin says that the history is consistent.
func TestForgedWitnesses(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	accepted, refused := map[string]int{}, map[string]int{}
	n := 1200
	if testing.Short() {
		n /= 4
	}
	eachWeak(t, n, func(c *histgen.Case, s *spec.Subject, level string, consistent bool) {
		if !slices.Contains(s.View.Info, false) {
			return
		}
		for range 30 {
			f := verify.NewFile(s, level, &spec.Verdict{Kind: spec.Consistent, Parts: []spec.Part{forged(rng, s, level)}})
			r, err := f.Check(s, nil)
			switch {
			case err != nil:
				t.Fatal(err)
			case r.Answer == verify.Accepted && !consistent:
				t.Fatalf("%s: the history is a violation, and this is accepted: %+v\n%s", level, f.Parts[0], c.Text())
			case r.Answer == verify.Accepted:
				accepted[level]++
			default:
				refused[level]++
			}
		}
	})
	for _, level := range weakNames {
		if accepted[level] < 100 || refused[level] < 100 {
			t.Errorf("%s: one-sided: %d accepted, %d refused", level, accepted[level], refused[level])
		}
	}
}

// forged makes up what operations saw and the orders that the level asks for.
func forged(rng *rand.Rand, s *spec.Subject, level string) spec.Part {
	p := spec.Part{Kind: spec.Consistent}
	v := s.View
	var updates []int32
	m := s.Machine(context.Background(), v, false).(spec.Tokens)
	saw := map[int32]int32{}
	for x := range int32(v.N) {
		if !v.Read[x] && !v.Idle[x] && (!v.Info[x] || rng.IntN(3) > 0) {
			updates = append(updates, x)
		}
	}
	for x := range int32(v.N) {
		if m.Want(x) < 0 || v.Idle[x] || !v.Read[x] && !slices.Contains(updates, x) {
			continue
		}
		fits := []int32{-1}
		for _, w := range updates {
			if v.Key[w] == v.Key[x] && m.Write(w) == m.Want(x) && w != x {
				fits = append(fits, w)
			}
		}
		saw[x] = fits[len(fits)-1]
		if rng.IntN(3) == 0 {
			saw[x] = fits[rng.IntN(len(fits))]
		}
	}
	if level != "pram" {
		for x := range int32(v.N) {
			if w, ok := saw[x]; ok {
				p.Saw = append(p.Saw, spec.SawEdge{Op: x, Write: w})
			}
		}
	}
	switch level {
	case "pram", "causal-memory":
		for process, name := range v.ProcessName {
			p.Views = append(p.Views, spec.ViewOrder{Process: name, Order: forgedView(rng, s, int32(process), updates)})
		}
	case "causal":
	default:
		p.Arbitration = shuffled(rng, s, updates)
	}
	return p
}

// forgedView is an order of updates, all or some, and the reads of a process.
func forgedView(rng *rand.Rand, s *spec.Subject, process int32, updates []int32) []int32 {
	members := slices.Clone(updates)
	if rng.IntN(2) == 0 {
		members = slices.DeleteFunc(members, func(x int32) bool { return s.View.Process[x] != process && rng.IntN(2) == 0 })
	}
	for x := range int32(s.View.N) {
		if s.View.Read[x] && s.View.Process[x] == process {
			members = append(members, x)
		}
	}
	return shuffled(rng, s, members)
}

// shuffled is an order that mostly keeps sessions.
func shuffled(rng *rand.Rand, s *spec.Subject, ops []int32) []int32 {
	order := slices.Clone(ops)
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if rng.IntN(4) == 0 {
		return order
	}
	v := s.View
	for range order { // sort each session in its places
		for i := range order {
			for j := range i {
				a, b := order[j], order[i]
				if v.Process[a] == v.Process[b] && (v.Call[b] < v.Call[a] || v.Call[b] == v.Call[a] && v.Ret[b] < v.Ret[a]) {
					order[i], order[j] = a, b
				}
			}
		}
	}
	return order
}
