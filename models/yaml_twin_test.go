package models

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/views"
)

// fileTwins are models that there are in Go and as files, and whether the
// levels that ask which write a read saw take the one in Go.
var fileTwins = []struct {
	name  string
	views bool
}{{"register", true}, {"cas-register", true}, {"counter", false}}

func decided(s *spec.Subject, level string) (spec.Kind, error) {
	l, err := consistency.LookupLevel(level)
	if err != nil {
		return 0, err
	}
	v, err := consistency.CheckSubject(context.Background(), s, l, consistency.Options{Timeout: -1, MaxMemory: 1 << 30, Workers: 1})
	if err != nil {
		return 0, err
	}
	return v.Kind, nil
}

// TestModelFilesEqualGo: the files say of random histories what the models in
// Go say.
func TestModelFilesEqualGo(t *testing.T) {
	n := 700
	if testing.Short() {
		n /= 4
	}
	levels := []string{"linearizable", "ordered-sequential", "bounded-staleness:k=2", "causal"}
	for _, m := range fileTwins {
		data, err := os.ReadFile("../testdata/models/" + m.name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		file, inGo := loadModel(t, string(data)), lookup(t, m.name)
		count := map[string]*[2]int{}
		for i, o := range []histgen.Options{{}, {Lines: true}, {Squeezed: true}, {RegisterLike: true, WriteHeavy: true}, {Weak: true}} {
			if o.Models = []string{m.name}; o.Weak && !m.views {
				continue
			}
			g := histgen.New(uint64(100+i), o)
			for range n {
				c := g.Next()
				a, b := bound(t, file, c.Raw), bound(t, inGo, c.Raw)
				sameKnowledge(t, c, a, b, m.views)
				for _, level := range levels {
					want, errGo := decided(b, level)
					got, errFile := decided(a, level)
					switch {
					case errors.Is(errGo, views.ErrModel) && (!m.views || errors.Is(errFile, views.ErrModel)):
						continue // the file may know more
					case errGo != nil || errFile != nil || got != want:
						t.Fatalf("%s: the file says %v (%v), Go %v (%v)", describe(c, level), got, errFile, want, errGo)
					}
					if count[level] == nil {
						count[level] = &[2]int{}
					}
					if want == spec.Violation {
						count[level][1]++
					} else if want == spec.Consistent {
						count[level][0]++
					}
				}
			}
		}
		for _, level := range levels {
			n := count[level]
			if n == nil {
				if m.views {
					t.Errorf("%s: no history was decided at %s", m.name, level)
				}
				continue
			}
			t.Logf("%s at %s: %d consistent, %d violations", m.name, level, n[0], n[1])
			if least := (n[0] + n[1]) * 15 / 100; min(n[0], n[1]) < least {
				t.Errorf("%s at %s: %d consistent and %d violations are too uneven", m.name, level, n[0], n[1])
			}
		}
	}
}

func bound(t *testing.T, e Entry, h *history.Raw) *spec.Subject {
	t.Helper()
	s, err := e.Bind(h, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func describe(c *histgen.Case, what string) string {
	var b strings.Builder
	for _, op := range c.Raw.Ops {
		fmt.Fprintf(&b, "\n  process %d %s %s %s -> %s [%d %d] %v noout %v", op.Process, op.F, op.Key, op.In.Text(), op.Out.Text(), op.Invoke, op.Return, op.Outcome, op.NoOut)
	}
	return fmt.Sprintf("seed %d, history %d, %s: %s%s", c.Seed, c.Number, what, c.Model, b.String())
}

// sameKnowledge compares what is derived of the operations, and the states
// along random orders.
func sameKnowledge(t *testing.T, c *histgen.Case, a, b *spec.Subject, tokens bool) {
	t.Helper()
	if !slices.Equal(a.View.Read, b.View.Read) || !slices.Equal(a.View.Idle, b.View.Idle) || a.Constrained != b.Constrained {
		t.Fatalf("%s: reads %v and %v, idle %v and %v, constrained %d and %d", describe(c, "reads"),
			a.View.Read, b.View.Read, a.View.Idle, b.View.Idle, a.Constrained, b.Constrained)
	}
	ma, mb := a.Machine(context.Background(), a.View, true), b.Machine(context.Background(), b.View, true)
	if ta, tb := told(ma, a.View), told(mb, b.View); tokens && !slices.Equal(ta, tb) {
		t.Fatalf("%s: the file knows\n%v\nGo knows\n%v", describe(c, "tokens"), ta, tb)
	}
	rng := rand.New(rand.NewPCG(c.Seed, uint64(c.Number)))
	x, y := ma.Init(0), mb.Init(0)
	for range 3 * a.View.N {
		op := rng.Int32N(int32(a.View.N))
		nx, okx := ma.Step(x, op)
		ny, oky := mb.Step(y, op)
		if okx != oky || okx && spec.DescribeState(ma, nx) != spec.DescribeState(mb, ny) {
			t.Fatalf("%s: operation %d in %s: %v, %v", describe(c, "states"), op, spec.DescribeState(ma, x), okx, oky)
		}
		if okx {
			x, y = nx, ny
		}
	}
}

// told lists the tokens of the operations, numbered by first appearance, where
// anybody asks for them.
func told(m spec.Machine, v *history.View) (list []int32) {
	t, ok := m.(spec.Tokens)
	if !ok {
		return nil
	}
	numbers := map[int32]int32{-1: -1}
	token := func(n int32) {
		if _, ok := numbers[n]; !ok {
			numbers[n] = int32(len(numbers))
		}
		list = append(list, numbers[n])
	}
	token(t.Held(m.Init(0)))
	for x := range int32(v.N) {
		token(t.Demand(x))
		if !v.Idle[x] {
			token(t.Want(x))
		}
		if !v.Read[x] && !v.Idle[x] {
			token(t.Write(x))
		}
		if v.Read[x] && t.Observes(x) {
			list = append(list, -2)
		}
	}
	return list
}

// randomModel writes a model of operations a, b, ... that nobody would want.
func randomModel(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	value := func() string { return pick("p", "q", "p", "0", "1", "null", "true", "state") }
	var condition func(depth int) string
	condition = func(depth int) string {
		switch k := r.IntN(10); {
		case depth > 0 && k < 2:
			return "(" + condition(depth-1) + pick(" && ", " || ") + condition(depth-1) + ")"
		case depth > 0 && k == 2:
			return "!(" + condition(depth-1) + ")"
		case k == 3:
			return "isNumber(state) && state " + pick("<", "<=", ">", ">=") + pick(" 1", " 2")
		case k == 4:
			return pick("isNumber(p)", "isNumber(state)", "true", "p == 1", "p != q")
		}
		return pick("state", "state", "state", value()) + pick(" == ", " == ", " != ") + value()
	}
	var b strings.Builder
	b.WriteString("model: random\nversion: 1\ninitial: " + pick("null", "0", "1") + "\noperations:\n")
	for _, f := range []string{"a", "b", "c", "d"}[:2+r.IntN(3)] {
		fmt.Fprintf(&b, "  - f: %s\n    input: [p, q]\n", f)
		indent := "    "
		silent, boolean := r.IntN(4) == 0, r.IntN(3) == 0
		for {
			more := r.IntN(2) == 0
			if more || r.IntN(4) == 0 {
				fmt.Fprintf(&b, "%swhen: '%s'\n", indent, condition(2))
			}
			if r.IntN(3) > 0 {
				fmt.Fprintf(&b, "%snext: %s\n", indent, pick("p", "q", "p", "0", "null", "state", "state + 1", "state + 0", "state - p"))
			}
			switch {
			case boolean:
				fmt.Fprintf(&b, "%soutput: %s\n", indent, pick("true", "false"))
			case !silent && r.IntN(6) > 0:
				fmt.Fprintf(&b, "%soutput: '%s'\n", indent, pick("state", "state", "next", "p", "1", "any", "state == p"))
			}
			if !more || len(indent) > 8 {
				break
			}
			fmt.Fprintf(&b, "%selse:\n", indent)
			indent += "  "
		}
		if indent == "    " && strings.HasSuffix(b.String(), "input: [p, q]\n") {
			fmt.Fprintf(&b, "    output: state\n")
		}
	}
	return b.String()
}

// loadRandom returns a random model and its operations. Mistakes of kind are
// the only reason to try again.
func loadRandom(t *testing.T, r *rand.Rand) (string, *modelLoader, Entry) {
	for range 1000 {
		text := strings.ReplaceAll(randomModel(r), "else:\n    - f", "else: {}\n    - f")
		e, err := Load("m.yaml", []byte(text))
		if err != nil {
			continue
		}
		return text, loaderOf(t, text), e
	}
	t.Fatal("no random model loads")
	return "", nil, Entry{}
}

func values(t testing.TB, texts ...string) (vs []history.Value) {
	for _, text := range texts {
		vs = append(vs, value(t, text))
	}
	return vs
}

// stepped is fileStep by the definition of the language: failed where a value
// has the wrong kind.
func stepped(s history.Value, in fileIn, out *fileOut) (next history.Value, ok, failed bool) {
	defer func() {
		if r := recover(); r != nil {
			next, ok, failed = history.Absent, false, true
		}
	}()
	next, ok = fileStep(s, in, out)
	return next, ok, false
}

// claim counts how often something was derived, how often it was not, and how
// often it was not although it holds in every state tried.
type claim struct{ yes, no, missed int }

// TestDerivedKnowledgeHolds: what is derived from the text of random models is
// true in every state of a small world.
func TestDerivedKnowledgeHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	world := values(t, "null", "true", "false", "0", "1", "2", "-1", "1.0", `"a"`)
	inputs := values(t, "null", "true", "0", "1", "2")
	outputs := []*fileOut{nil, {any: true}, {}}
	for _, v := range values(t, "null", "true", "false", "0", "1", "2") {
		outputs = append(outputs, &fileOut{v: v})
	}
	claims := map[string]*claim{"read-only": {}, "demands": {}, "writes": {}}
	for range 1500 {
		text, l, _ := loadRandom(t, r)
		for range 12 {
			o := l.ops[r.IntN(len(l.ops))]
			in, want := o.decodeIn(history.Array(inputs[r.IntN(len(inputs))], inputs[r.IntN(len(inputs))]))
			if want != "" {
				continue
			}
			out := outputs[r.IntN(len(outputs))]
			if bad := judge(in, out, world, claims); bad != "" {
				t.Fatalf("%s of %s with %+v: %s\n%s", o.F, in.whole.Text(), out, bad, text)
			}
		}
	}
	for name, c := range claims {
		t.Logf("%s: derived %d, not derived %d, of which it holds in this world %d", name, c.yes, c.no, c.missed)
		if least := (c.yes + c.no) * 15 / 100; min(c.yes, c.no) < least {
			t.Errorf("%s: derived %d times and not derived %d times is too uneven", name, c.yes, c.no)
		}
	}
}

// judge compares what is derived with every state of the world.
func judge(in fileIn, out *fileOut, world []history.Value, claims map[string]*claim) string {
	readOnly := true
	var from, to []history.Value // of changes
	var possible []history.Value
	refused := false
	for _, s := range world {
		next, ok, failed := stepped(s, in, out)
		if ok {
			possible = append(possible, s)
		}
		refused = refused || !ok && !failed
		if ok && next != s {
			readOnly = false
			from, to = append(from, s), append(to, next)
		}
	}
	count := func(name string, derived, holds bool) {
		switch c := claims[name]; {
		case derived:
			c.yes++
		case holds:
			c.missed++
			fallthrough
		default:
			c.no++
		}
	}
	got := in.readOnly(out)
	count("read-only", got, readOnly)
	if got && !readOnly {
		return "derived as read-only, and it changes a state"
	}
	needs := possible
	if out == nil && !got {
		needs = from // what an effect needs
	}
	what, ok := in.demands(out)
	count("demands", ok, len(needs) == 1)
	for _, s := range needs {
		if ok && what != any(s) {
			return fmt.Sprintf("demands %v, and takes effect in %s", what, s.Text())
		}
	}
	what, wrote := in.writes(out)
	if got {
		return "" // nobody asks what a read writes
	}
	count("writes", wrote, len(to) > 0 && len(slices.Compact(to)) == 1 && !refused && len(from) >= len(possible)-1)
	if !wrote {
		return ""
	}
	for _, s := range possible {
		next, _, _ := stepped(s, in, out)
		if next != s && what != any(next) {
			return fmt.Sprintf("writes %v, and leads from %s to %s", what, s.Text(), next.Text())
		}
		// Without a demand it must come about everywhere.
		if _, named := in.demands(out); !named && what != any(next) {
			return fmt.Sprintf("writes %v, and leaves %s as it is", what, s.Text())
		}
	}
	if _, named := in.demands(out); !named && refused {
		return fmt.Sprintf("writes %v, and some state refuses it without a demand", what)
	}
	return ""
}

// loaderOf reads a model once more, for its operations.
func loaderOf(t *testing.T, text string) *modelLoader {
	t.Helper()
	l := &modelLoader{}
	l.Path, l.Data = "m.yaml", []byte(text)
	root, err := l.Parse()
	if err == nil {
		err = l.header(root, &Entry{})
	}
	if err == nil {
		err = l.operations(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRandomModelFilesEqualTwin: the engine, which leaves dead ends early by
// what is derived, gives the verdict of the twin that tries every order.
func TestRandomModelFilesEqualTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var count [2]int
	failed := 0
	for range 6000 {
		text, l, e := loadRandom(t, r)
		h := recordedRun(r, l)
		s, err := e.Bind(h, Options{})
		if err != nil {
			continue // an answer that the operation cannot have
		}
		level := []string{"linearizable", "ordered-sequential"}[r.IntN(2)]
		want, ok := tried(s, level)
		got, err := decided(s, level)
		if !ok || err != nil {
			if err != nil && !strings.Contains(err.Error(), ErrKind.Error()) {
				t.Fatalf("%v\n%s", err, text)
			}
			failed++
			continue
		}
		if got == spec.Vacuous {
			got = spec.Consistent
		}
		if (got == spec.Consistent) != want {
			c := &histgen.Case{Raw: h, Model: text}
			t.Fatalf("the engine says %v, the twin %v\n%s", got, want, describe(c, level))
		}
		if want {
			count[0]++
		} else {
			count[1]++
		}
	}
	t.Logf("%d consistent, %d violations, %d stopped on a value of the wrong kind", count[0], count[1], failed)
	if min(count[0], count[1]) < (count[0]+count[1])*15/100 || count[0]+count[1] < 2500 {
		t.Errorf("%d consistent and %d violations are too few or too uneven", count[0], count[1])
	}
}

// tried is the twin's verdict; ok is false where it met a value of the wrong
// kind.
func tried(s *spec.Subject, level string) (consistent, ok bool) {
	defer func() {
		if recover() != nil {
			consistent, ok = false, false
		}
	}()
	consistent, _, err := brute.Decide(s, level, nil)
	return consistent, err == nil
}

// recordedRun performs random operations in a random order and records them
// with overlapping times; some answers are lost and some are changed.
func recordedRun(r *rand.Rand, l *modelLoader) *history.Raw {
	inputs := []history.Value{history.Null, history.True, history.Int(0), history.Int(1), history.Int(1), history.Int(2)}
	h := &history.Raw{Path: "h.jsonl"}
	state := l.initial
	for i := range 3 + r.IntN(5) {
		o := l.ops[r.IntN(len(l.ops))]
		v := history.Array(inputs[r.IntN(len(inputs))], inputs[r.IntN(len(inputs))])
		in, want := o.decodeIn(v)
		if want != "" {
			continue
		}
		op := history.Op[history.Value, history.Value]{Process: i, F: o.F, In: v, Invoke: int64(10*i - r.IntN(25)), Return: int64(10*i + 1 + r.IntN(25))}
		next, out, ok := answerOf(state, in)
		if !ok && r.IntN(4) > 0 {
			continue // some that are impossible are kept
		}
		if ok {
			state = next
		}
		op.Out = out
		switch r.IntN(14) {
		case 0, 1:
			op.Outcome, op.Return, op.Out = history.Info, history.Never, history.Absent
		case 2:
			op.NoOut, op.Out = true, history.Absent
		case 3, 4, 5, 6, 7:
			op.Out = inputs[r.IntN(len(inputs))]
		}
		h.Ops = append(h.Ops, op)
	}
	return h
}

// answerOf performs an operation.
func answerOf(s history.Value, in fileIn) (next, out history.Value, ok bool) {
	next, ok, failed := stepped(s, in, nil)
	if !ok || failed {
		return s, history.Absent, false
	}
	for i := range in.op.cases {
		c := &in.op.cases[i]
		if c.when != nil {
			if holds, _ := c.when.truth(s, &in); !holds {
				continue
			}
		}
		if c.output.value != nil {
			out, _ = c.output.value.eval(s, &in)
		}
		break
	}
	return next, out, true
}
