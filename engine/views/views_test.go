package views_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pinyon/engine"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
	"pinyon/engine/views"
)

// drawn reads a history of cas-registers that are null at first: a line for
// each process, operations between semicolons, such as
//
//	p: w x 1; r x 2; r y -; c x 1 2; c? x 1 2; w? x 1
//
// for a write, a read, a read of null, a compare-and-set from 1 to 2, and two
// without an answer. Operations have the times of their places in the line.
func drawn(t *testing.T, text string) *spec.Subject {
	t.Helper()
	raw := &history.Raw{Header: history.Header{Model: "cas-register"}}
	for process, line := range strings.Split(strings.TrimSpace(text), "\n") {
		_, line, _ = strings.Cut(line, ":")
		for place, word := range strings.Split(line, ";") {
			raw.Ops = append(raw.Ops, parsed(t, process, place, strings.Fields(word)))
		}
	}
	s, err := (&histgen.Case{Raw: raw, Model: "cas-register"}).Subject()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parsed(t *testing.T, process, place int, f []string) history.Op[history.Value, history.Value] {
	t.Helper()
	value := func(s string) history.Value {
		if s == "-" {
			return history.Null
		}
		v, err := history.ParseValue(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	op := history.Op[history.Value, history.Value]{Process: process, Key: f[1], Invoke: int64(20 * place), Return: int64(20*place + 10)}
	kind, unanswered := strings.CutSuffix(f[0], "?")
	if unanswered {
		op.Outcome = history.Info
	}
	switch kind {
	case "w":
		op.F, op.In = "write", value(f[2])
	case "r":
		op.F, op.Out = "read", value(f[2])
	case "c":
		op.F, op.In = "cas", history.Array(value(f[2]), value(f[3]))
		if !unanswered {
			op.Out = history.True
		}
	case "n": // a cas whose answer was not recorded
		op.F, op.In, op.NoOut = "cas", history.Array(value(f[2]), value(f[3])), true
	case "f": // a cas that failed
		op.F, op.In, op.Out = "cas", history.Array(value(f[2]), value(f[3])), history.False
	default:
		t.Fatalf("%q is no operation", f)
	}
	return op
}

func decideAt(t *testing.T, s *spec.Subject, name string) spec.Part {
	t.Helper()
	for _, l := range levels {
		if l.name == name {
			part, err := l.decide(context.Background(), problem(s))
			if err != nil {
				t.Fatal(err)
			}
			return part
		}
	}
	t.Fatalf("no level %s", name)
	return spec.Part{}
}

// TestPatterns draws each named pattern, with the levels that it breaks and
// some that it does not.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		name, text, breaks, keeps string
		want                      spec.Pattern
	}{
		{"out of thin air", "p: r x 7", "causal causal-memory causal-convergence pram monotonic-writes", "", spec.ThinAirRead},
		{"from its own future", "p: r x 1; w x 1", "causal pram writes-follow-reads read-your-writes", "", spec.ThinAirRead},
		{"a cas that saw nothing, and was seen", "p: c? x 5 6\nq: r x 6", "causal causal-memory monotonic-reads", "", spec.ThinAirRead},
		{"a circle of two", "p: r x 1; w y 1\nq: r y 1; w x 1", "causal causal-memory causal-convergence", "monotonic-reads monotonic-writes", spec.CyclicCO},
		{"an effect without its cause", "p: w x 1\nq: r x 1; w y 1\ns: r y 1; r x -", "causal causal-memory causal-convergence", "pram monotonic-reads", spec.WriteCOInitRead},
		{"an overwritten cause", "p: w x 1; w x 2\nq: r x 2; w y 1\ns: r y 1; r x 1", "causal causal-memory causal-convergence", "monotonic-writes", spec.WriteCORead},
		{"no last writer", "p: w x 1; r x 2\nq: w x 2; r x 1", "causal-convergence", "causal causal-memory pram", spec.CyclicCF},
		{"to and fro", "p: w x 1\nq: w x 2\ns: r x 1; r x 2; r x 1", "causal-memory pram", "causal", spec.CyclicHB},
		{"a late first value", "p: w x 1; c y - 1\nq: r y -; c x - 2", "", "causal", ""},
		{"written back", "p: w z 1; w x 1; w y 1\nq: w x 2; r z -; r y 1; r x 2", "causal-memory pram", "causal causal-convergence", spec.WriteHBInitRead},
		{"the initial value too late", "p: w x 1; w a 1; w b 1\nq: w a 2; r x -; r b 1; r a 2", "causal-memory pram", "causal causal-convergence", spec.WriteHBInitRead},
		{"a cas from the initial value too late", "p: c x - 1\nq: w x 2; c x 1 3", "causal-memory pram", "causal", spec.WriteHBInitRead},
		{"a forgotten write", "p: w x 1; r x -", "read-your-writes", "monotonic-reads monotonic-writes", spec.ForgottenWrite},
		{"a forgotten read", "p: w x 1\nq: r x 1; r x -", "monotonic-reads", "read-your-writes", spec.ForgottenWrite},
		{"writes in a circle", "p: c x 1 2; w y 1\nq: c y 1 2; w x 1", "monotonic-writes writes-follow-reads", "read-your-writes monotonic-reads", spec.CyclicWrites},
		// The unanswered write of x was seen, so it happened, and stands in the
		// first process' order after its read of y and before that of z.
		{"a known unanswered write", "p: w x 1; r y -; r z 1; r x 1\nq: w y 1; w? x 2\ns: r x 2; w z 1", "causal-memory", "causal causal-convergence", spec.WriteHBInitRead},
		{"a known unanswered cas", "p: w x 5; w x 9; r y -; r z 1\nq: w y 1; c? x 5 2\ns: r x 2; w z 1", "causal-memory", "causal pram", spec.CyclicHB},
		{"an unanswered cas that nobody saw", "p: w x 1; r x 1; r x 1\nq: c? x 1 2", "", "causal causal-memory causal-convergence pram monotonic-reads", ""},
	} {
		s := drawn(t, c.text)
		for want, names := range map[spec.Kind]string{spec.Violation: c.breaks, spec.Consistent: c.keeps} {
			for _, name := range strings.Fields(names) {
				part := decideAt(t, s, name)
				twin, err := brute.DecideViews(s, name)
				if part.Kind != want || err != nil || twin == (want == spec.Violation) {
					t.Errorf("%s: %s says %v, the twin consistent=%v (%v), want %v", c.name, name, part.Kind, twin, err, want)
					continue
				}
				if want == spec.Violation && part.Proof.Name != c.want {
					t.Errorf("%s: at %s the pattern is %s, want %s", c.name, name, part.Proof.Name, c.want)
				}
				if r, err := file(s, name, part).Check(s, nil); err != nil || r.Answer != verify.Accepted {
					t.Errorf("%s: at %s the evidence is %v (%s, %v): %+v", c.name, name, r.Answer, r.Reason, err, part.Proof)
				}
			}
		}
	}
}

// TestExhausted: where each read may have seen either of two writes, and no
// choice is possible, the proof is a search, and says how one choice fails.
func TestExhausted(t *testing.T) {
	s := drawn(t, "p: w x 1\nq: w x 1\nu: w x 2\ns: r x 1; r x 2; r x 1; r x 2")
	part := decideAt(t, s, "monotonic-reads")
	if part.Kind != spec.Violation || part.Proof.Kind != spec.ProofExhausted || !strings.Contains(part.Proof.Words, "all were tried") || len(part.Proof.Steps) == 0 {
		t.Errorf("%v: %+v", part.Kind, part.Proof)
	}
	if r, err := file(s, "monotonic-reads", part).Check(s, nil); err != nil || r.Answer != verify.NotCheckable {
		t.Errorf("%v, %v", r, err)
	}
}

// TestWhatIsSureConvictsAlone: a pattern of operations that can have seen one
// thing only is the proof, whatever may be chosen elsewhere.
func TestWhatIsSureConvictsAlone(t *testing.T) {
	s := drawn(t, "p: w x 1; r x -\nq: w y 1\nu: w y 1\ns: r y 1; r y 1; r y 1")
	part := decideAt(t, s, "causal")
	if part.Proof == nil || part.Proof.Name != spec.WriteCOInitRead || part.States != 1 {
		t.Errorf("%v after %d states: %+v", part.Kind, part.States, part.Proof)
	}
}

// TestWhatIsSureEndsTheSearch: the same where the views are decided only once
// everything is chosen.
func TestWhatIsSureEndsTheSearch(t *testing.T) {
	s := drawn(t, "p: w x 1\nq: w x 2\ns: r x 1; r x 2; r x 1\na: w y 1\nb: w y 1\nc: r y 1; r y 1")
	part := decideAt(t, s, "causal-memory")
	if part.Proof == nil || part.Proof.Name != spec.CyclicHB {
		t.Errorf("%v: %+v", part.Kind, part.Proof)
	}
}

// TestUnneededUpdates: whether compare-and-sets without an answer happened is
// not tried where nobody can have seen them.
func TestUnneededUpdates(t *testing.T) {
	lines := []string{"p: w x 1", "q: w x 1"}
	for range 12 {
		lines = append(lines, "s: c? x 1 2")
	}
	part := decideAt(t, drawn(t, strings.Join(append(lines, "u: w x 3; r x 7; w x 7"), "\n")), "causal")
	if part.Kind != spec.Violation || part.States != 0 {
		t.Errorf("%v after %d states", part.Kind, part.States)
	}
	part = decideAt(t, drawn(t, strings.Join(lines, "\n")), "causal")
	if part.Kind != spec.Consistent || part.States != 1 {
		t.Errorf("%v after %d states", part.Kind, part.States)
	}
}

// TestProofBeforeSearch: a proof that is tried in the place of a long search
// convicts only what the twin does.
func TestProofBeforeSearch(t *testing.T) {
	defer views.SetPatience(0)()
	g := histgen.New(31, histgen.Options{Weak: true, MaxOps: 8, MaxKeys: 2, Models: []string{"register", "cas-register", "kv"}})
	var n [2]tally
	for i := range 3000 {
		c, l := g.Next(), 2*(i%2) // pram and causal-memory
		if i%3 == 0 {
			distinct(c)
		}
		if err := n[i%2].evidence(c, levels[l]); err != nil {
			t.Fatalf("%s: %v\n%s", levels[l].name, err, c.Text())
		}
	}
	for i, l := range []string{"pram", "causal-memory"} {
		if min(n[i].accepted, n[i].refuted) < 300 {
			t.Errorf("%s: one-sided: %+v", l, n[i])
		}
	}
}

// TestMemoryBudget: the causal pasts count towards the budget of memory before
// they are there.
func TestMemoryBudget(t *testing.T) {
	var lines []string
	for p := range 40 {
		lines = append(lines, fmt.Sprintf("p: w x %d; w y %d; r x %d", p, p, p))
	}
	s := drawn(t, strings.Join(lines, "\n"))
	p := problem(s)
	for _, c := range []struct {
		strength views.Strength
		bytes    int64
	}{{views.Causal, 120 * 40 * 4}, {views.Convergence, 120 * 40 * 4}, {views.Memory, 120 * 40 * 44}} {
		for _, short := range []int64{0, 1} {
			p.Limits = engine.Limits{Memory: c.bytes - short}
			part, err := views.CausalLevel(context.Background(), p, c.strength)
			if err != nil {
				t.Fatal(err)
			}
			if unknown := part.Kind == spec.Unknown && part.Budget == "memory"; unknown != (short > 0) && c.strength != views.Memory || short > 0 && !unknown {
				t.Errorf("strength %d with %d bytes: %v, budget %q", c.strength, p.Limits.Memory, part.Kind, part.Budget)
			}
		}
	}
}

// TestUnusableModels: what is no register is refused where it matters what a
// read saw.
func TestUnusableModels(t *testing.T) {
	for name, text := range map[string]string{
		"a cas that failed":                   "p: f x 1 2; r x -",
		"a cas whose answer was not recorded": "p: n x - 2; r x -",
	} {
		if _, err := views.CausalLevel(context.Background(), problem(drawn(t, text)), views.Causal); !errors.Is(err, views.ErrModel) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := histgen.New(3, histgen.Options{Models: []string{"queue"}}).Next().Subject()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := views.SessionLevel(context.Background(), problem(s), views.Guarantees{}); !errors.Is(err, views.ErrModel) {
		t.Errorf("a queue: %v", err)
	}
}

// TestNothingAnswered: there is nothing to be consistent.
func TestNothingAnswered(t *testing.T) {
	s := drawn(t, "p: w? x 1\nq: c? x 1 2")
	for _, l := range levels {
		if part := decideAt(t, s, l.name); part.Kind != spec.Vacuous {
			t.Errorf("%s: %v", l.name, part.Kind)
		}
	}
	if !slices.Contains(s.View.Info, true) {
		t.Error("the history is not what it should be")
	}
}
