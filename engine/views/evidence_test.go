package views_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
	"pinyon/engine/views"
)

var (
	evidenceN    = flag.Int("evidence.n", 24_000, "histories for TestEvidence")
	evidenceSeed = flag.Uint64("evidence.seed", 1, "seed of TestEvidence")
)

// level is one of those without a single order.
type level struct {
	name   string
	decide func(ctx context.Context, p views.Problem) (spec.Part, error)
}

func causal(name string, s views.Strength) level {
	return level{name, func(ctx context.Context, p views.Problem) (spec.Part, error) { return views.CausalLevel(ctx, p, s) }}
}

func guarantee(name string, g views.Guarantees) level {
	return level{name, func(ctx context.Context, p views.Problem) (spec.Part, error) { return views.SessionLevel(ctx, p, g) }}
}

var levels = []level{
	{"pram", views.Pram},
	causal("causal", views.Causal),
	causal("causal-memory", views.Memory),
	causal("causal-convergence", views.Convergence),
	guarantee("read-your-writes", views.Guarantees{ReadYourWrites: true}),
	guarantee("monotonic-reads", views.Guarantees{MonotonicReads: true}),
	guarantee("monotonic-writes", views.Guarantees{MonotonicWrites: true}),
	{"regular-weak", views.WeakRegular},
	guarantee("writes-follow-reads", views.Guarantees{WritesFollowReads: true}),
}

// problem is the case as its generator reads it.
func problem(s *spec.Subject) views.Problem {
	return views.Problem{View: s.View, Machine: func(v *history.View) (spec.Machine, error) {
		return s.Machine(context.Background(), v, false), nil
	}}
}

// file is the proof file of a part.
func file(s *spec.Subject, level string, p spec.Part) *verify.File {
	return verify.NewFile(s, level, &spec.Verdict{Kind: p.Kind, Parts: []spec.Part{p}})
}

// unique reports whether every value is written at most once and is not there
// at first, and no update sees anything, which an order of a process may then
// have to serve.
func unique(s *spec.Subject) (values, reads bool) {
	m := s.Machine(context.Background(), s.View, false)
	tokens := m.(spec.Tokens)
	seen := map[[2]int32]bool{}
	for key := range s.View.KeyName {
		seen[[2]int32{int32(key), tokens.Held(m.Init(int32(key)))}] = true
	}
	values, reads = true, true
	for x := range int32(s.View.N) {
		if s.View.Read[x] || s.View.Idle[x] {
			continue
		}
		at := [2]int32{s.View.Key[x], tokens.Write(x)}
		values = values && !seen[at]
		seen[at] = true
		reads = reads && tokens.Want(x) < 0
	}
	return values, reads
}

// tally counts what TestEvidence met at one level.
type tally struct{ accepted, refuted, exhausted, uniques, uniqueViolations int }

// evidence decides one history at one level and lets the verifier check what
// the verdict carries.
func (n *tally) evidence(c *histgen.Case, l level) error {
	s, err := c.Subject()
	if err != nil {
		return err
	}
	part, err := l.decide(context.Background(), problem(s))
	if err != nil {
		return err
	}
	if s.View.N <= brute.MaxViewOps {
		want, err := brute.DecideViews(s, l.name)
		if err != nil || want == (part.Kind == spec.Violation) {
			return fmt.Errorf("%v, and the twin says consistent=%v (%v)", part.Kind, want, err)
		}
	}
	r, err := file(s, l.name, part).Check(s, nil)
	if err != nil {
		return err
	}
	values, reads := unique(s)
	if values {
		n.uniques++
		if part.Kind == spec.Violation {
			n.uniqueViolations++
		}
	}
	exhausted := part.Proof != nil && part.Proof.Kind == spec.ProofExhausted
	switch {
	case exhausted && r.Answer == verify.NotCheckable:
		n.exhausted++
		if byView := l.name == "pram" || l.name == "causal-memory"; values && (reads || !byView) {
			return errors.New("exhausted, and values are unique")
		}
	case r.Answer != verify.Accepted:
		return fmt.Errorf("%v: %v: %s\n%+v", part.Kind, r.Answer, r.Reason, part.Proof)
	case part.Kind == spec.Violation:
		n.refuted++
	default:
		n.accepted++
	}
	return nil
}

// TestEvidence: at every level the verifier, which shares no code with this
// package, accepts what a verdict carries; where values are unique nothing rests
// on a search.
func TestEvidence(t *testing.T) {
	shapes := []histgen.Options{
		{Lines: true, RegisterLike: true, MaxOps: 7, WriteHeavy: true, ManyKeys: true},
		{Lines: true, Weak: true, MaxOps: 7},
		{Weak: true, MaxOps: 8, WriteHeavy: true, ManyKeys: true},
		{Weak: true, MaxOps: 18, MaxKeys: 2, Models: []string{"register"}},
		{Weak: true, MaxOps: 14, Processes: 3, MaxKeys: 2},
	}
	const size = 400
	counts := make([]tally, len(levels))
	var mutex sync.Mutex
	var wg sync.WaitGroup
	blocks := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := range blocks {
				o := shapes[n%len(shapes)]
				if o.Models == nil {
					o.Models = []string{"register", "cas-register", "kv"}
				}
				g := histgen.New(*evidenceSeed+uint64(n), o)
				local := make([]tally, len(levels))
				for i := range size {
					c, l := g.Next(), (i+n)%len(levels)
					if i%2 == 0 {
						distinct(c)
					}
					if err := local[l].evidence(c, levels[l]); err != nil {
						t.Errorf("%s: %v\n%s", levels[l].name, err, c.Text())
						break
					}
				}
				mutex.Lock()
				for l := range counts {
					counts[l].add(local[l])
				}
				mutex.Unlock()
			}
		})
	}
	for n := range (*evidenceN + size - 1) / size {
		if !t.Failed() {
			blocks <- n
		}
	}
	close(blocks)
	wg.Wait()
	report(t, counts)
}

func (n *tally) add(m tally) {
	n.accepted += m.accepted
	n.refuted += m.refuted
	n.exhausted += m.exhausted
	n.uniques += m.uniques
	n.uniqueViolations += m.uniqueViolations
}

// report prints the table; each level must have met both kinds of evidence.
func report(t *testing.T, counts []tally) {
	var table strings.Builder
	for l, n := range counts {
		total := n.accepted + n.refuted + n.exhausted
		fmt.Fprintf(&table, "%-20s %7d witnesses %7d patterns %7d exhausted; values unique in %d, of which violations %d\n",
			levels[l].name, n.accepted, n.refuted, n.exhausted, n.uniques, n.uniqueViolations)
		if min(n.accepted, n.refuted)*100 < 15*total {
			t.Errorf("%s: one kind of evidence is rarer than 15 %%", levels[l].name)
		}
		if n.uniques*10 < total || min(n.uniqueViolations, n.uniques-n.uniqueViolations)*100 < 15*n.uniques {
			t.Errorf("%s: histories with unique values are rare or one-sided", levels[l].name)
		}
	}
	t.Logf("\n%s", table.String())
}

// distinct makes the written values of a history unique: each plain write of a
// value that another update of the key leaves too becomes one of its own, and
// half of those who may have seen it see the new value.
func distinct(c *histgen.Case) {
	written := map[string]bool{}
	at := func(key string, v history.Value) string { return key + " " + v.Text() }
	next := int64(100)
	for i := range c.Raw.Ops {
		op := &c.Raw.Ops[i]
		if op.F != "write" && op.F != "put" {
			continue
		}
		if old := at(op.Key, op.In); written[old] || op.In == c.Raw.Header.Initial {
			was := op.In
			op.In = history.Int(next)
			next++
			turn := 0
			for j := range c.Raw.Ops {
				r := &c.Raw.Ops[j]
				if r.Key == op.Key && slices.Contains([]string{"read", "get"}, r.F) && r.Out == was {
					if turn++; turn%2 == 0 {
						r.Out = op.In
					}
				}
			}
		}
		written[at(op.Key, op.In)] = true
	}
}
