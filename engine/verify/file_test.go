package verify_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// verdict makes the verdict of a checker that splits by key where split is
// set, by brute force.
func verdict(t *testing.T, c *histgen.Case, s *spec.Subject, level string, split bool) *spec.Verdict {
	t.Helper()
	v := &spec.Verdict{Kind: spec.Vacuous, Split: split}
	parts := [][]int32{nil}
	if split {
		parts = s.View.Keys()
	} else {
		for i := range int32(s.View.N) {
			parts[0] = append(parts[0], i)
		}
	}
	extra := c.Extra(s.View)
	for k, members := range parts {
		p := spec.Part{}
		if split {
			p.Key = s.View.KeyName[k]
		}
		part := *s
		part.View = s.View.Slice(members)
		var within func(a, b int32) bool
		if extra != nil {
			within = func(a, b int32) bool { return extra(members[a], members[b]) }
		}
		ok, order, err := brute.Decide(&part, level, within)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range order {
			p.Witness = append(p.Witness, members[x])
		}
		p.Kind = kind(s, members, ok)
		if p.Kind == spec.Vacuous {
			p.Witness = nil
		}
		if p.Kind == spec.Violation {
			p.Proof = &spec.Proof{Kind: spec.ProofExhausted}
		}
		v.Kind = spec.Worse(v.Kind, p.Kind)
		v.Parts = append(v.Parts, p)
	}
	return v
}

func kind(s *spec.Subject, members []int32, ok bool) spec.Kind {
	if !ok {
		return spec.Violation
	}
	for _, i := range members {
		if !s.View.Info[i] {
			return spec.Consistent
		}
	}
	return spec.Vacuous
}

func file(t *testing.T, c *histgen.Case, s *spec.Subject, level string, split bool) *verify.File {
	f := verify.NewFile(s, level, verdict(t, c, s, level, split))
	if len(c.Edges) > 0 {
		f.Oracles = []verify.OracleText{{Name: "edges"}}
	}
	return f
}

func check(t *testing.T, f *verify.File, c *histgen.Case, s *spec.Subject) verify.Result {
	t.Helper()
	r, err := f.Check(s, c.Extra(s.View))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCheck: a file that is not split is accepted or rests on a search; a file
// that is split is never accepted as consistent where the whole is not.
func TestCheck(t *testing.T) {
	counts := map[string]int{}
	each(t, 4000, func(c *histgen.Case, s *spec.Subject, level string) {
		whole, _, err := brute.Decide(s, level, c.Extra(s.View))
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range []bool{false, true} {
			f := file(t, c, s, level, split)
			r := check(t, f, c, s)
			text := "whole "
			if split {
				text = "split "
			}
			counts[text+f.Verdict+" "+r.Answer.String()]++
			switch {
			case f.Verdict == "violation" && (r.Answer != verify.NotCheckable || whole):
				t.Fatalf("%s: %+v, consistent as a whole: %v\n%s", level, r, whole, c.Text())
			case f.Verdict != "violation" && r.Answer == verify.Accepted && !whole,
				f.Verdict != "violation" && r.Answer != verify.Accepted && !split:
				t.Fatalf("%s: %+v, consistent as a whole: %v\n%s", level, r, whole, c.Text())
			}
		}
	})
	for _, must := range []string{"whole consistent accepted", "whole violation not checkable", "whole vacuous accepted",
		"split consistent accepted", "split consistent refused", "split violation not checkable"} {
		if counts[must] < 20 {
			t.Errorf("%s: %d times", must, counts[must])
		}
	}
	t.Log(counts)
}

// TestJoinOfManyOperations: the theory by which the parts of large histories
// join never accepts what is no consistent whole.
func TestJoinOfManyOperations(t *testing.T) {
	accepted, refused := 0, 0
	defer verify.SetClosureLimit(0)()
	each(t, 6000, func(c *histgen.Case, s *spec.Subject, level string) {
		c.Edges = nil // sampled only
		f := file(t, c, s, level, true)
		if f.Verdict != "consistent" {
			return
		}
		r := check(t, f, c, s)
		whole, _, err := brute.Decide(s, level, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Answer == verify.Accepted && !whole || r.Answer == verify.Refused:
			t.Fatalf("%s: %+v, consistent as a whole: %v\n%s", level, r, whole, c.Text())
		case r.Answer == verify.Accepted:
			accepted++
		default:
			refused++
		}
	})
	if accepted < 500 || refused < 500 {
		t.Errorf("one-sided: %d accepted, %d not checkable", accepted, refused)
	}
}

// TestTamperedFiles: every change to a file that is accepted makes it one that
// is not.
func TestTamperedFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	times := map[string]int{}
	n := 3000
	if testing.Short() {
		n /= 4
	}
	each(t, n, func(c *histgen.Case, s *spec.Subject, level string) {
		split := r.IntN(2) == 0
		if f := file(t, c, s, level, split); f.Verdict != "consistent" || check(t, f, c, s).Answer != verify.Accepted {
			return
		}
		for name, change := range changes {
			f := file(t, c, s, level, split)
			if !change(r, f) {
				continue
			}
			times[name]++
			if got := check(t, f, c, s); got.Answer == verify.Accepted {
				t.Fatalf("%s: %s was accepted: %+v\n%s", level, name, f, c.Text())
			}
		}
	})
	for name := range changes {
		if times[name] < 50 {
			t.Errorf("%s was tried %d times", name, times[name])
		}
	}
}

// changes alter a file of a consistent history; false: they do not apply.
var changes = map[string]func(r *rand.Rand, f *verify.File) bool{
	"the digest":  func(_ *rand.Rand, f *verify.File) bool { f.Digest = strings.Repeat("0", 64); return true },
	"the model":   func(_ *rand.Rand, f *verify.File) bool { f.Model += "x"; return true },
	"the level":   func(_ *rand.Rand, f *verify.File) bool { f.Level = "eventual"; return true },
	"an oracle":   func(_ *rand.Rand, f *verify.File) bool { return toggleOracles(f) },
	"the ties":    func(_ *rand.Rand, f *verify.File) bool { f.Rules.Ties = "never"; return true },
	"the order":   func(_ *rand.Rand, f *verify.File) bool { f.Rules.Order = "size"; return true },
	"clock error": func(_ *rand.Rand, f *verify.File) bool { f.Rules.ClockError++; return true },
	"the verdict": func(_ *rand.Rand, f *verify.File) bool { f.Verdict = "violation"; return true },
	"split": func(_ *rand.Rand, f *verify.File) bool {
		f.Split = !f.Split
		return len(f.Parts) > 1
	},
	"a part less":  func(_ *rand.Rand, f *verify.File) bool { f.Parts = f.Parts[1:]; return true },
	"a part twice": func(_ *rand.Rand, f *verify.File) bool { f.Parts = append(f.Parts, f.Parts[0]); return true },
	"a key":        func(_ *rand.Rand, f *verify.File) bool { f.Parts[0].Key += "'"; return f.Split },
	"both proofs":  func(_ *rand.Rand, f *verify.File) bool { f.Parts[0].Exhausted = true; return true },
	"vacuous part": func(_ *rand.Rand, f *verify.File) bool { return weaken(f, "vacuous") },
	"unknown part": func(_ *rand.Rand, f *verify.File) bool { return weaken(f, "unknown") },
	"no proof":     func(_ *rand.Rand, f *verify.File) bool { return weaken(f, "violation") },
	"no such word": func(_ *rand.Rand, f *verify.File) bool { return weaken(f, "fine") },
	"an id":        func(r *rand.Rand, f *verify.File) bool { o := order(f); o[r.IntN(len(o))] = 77; return true },
	"an id twice": func(_ *rand.Rand, f *verify.File) bool {
		o := order(f)
		o[len(o)-1] = o[0]
		return len(o) > 1
	},
	"the whole lot": func(_ *rand.Rand, f *verify.File) bool { f.Parts = nil; return true },
}

func toggleOracles(f *verify.File) bool {
	if f.Oracles == nil {
		return false
	}
	f.Oracles = nil
	return true
}

// weaken gives a part that is consistent another verdict and no evidence.
func weaken(f *verify.File, verdict string) bool {
	for i := range f.Parts {
		if f.Parts[i].Verdict == "consistent" {
			f.Parts[i].Verdict, f.Parts[i].Order = verdict, nil
			if len(f.Parts) == 1 && verdict != "fine" {
				f.Verdict = verdict
			}
			return true
		}
	}
	return false
}

func order(f *verify.File) []int64 {
	for i := range f.Parts {
		if f.Parts[i].Order != nil {
			return f.Parts[i].Order
		}
	}
	return nil
}

// TestReadFile: what is written is read, byte for byte, and what is not is an
// error.
func TestReadFile(t *testing.T) {
	c := histgen.New(6, histgen.Options{Models: []string{"register"}}).Next()
	s, err := c.Subject()
	if err != nil {
		t.Fatal(err)
	}
	f := file(t, c, s, "linearizable", true)
	f.Initial = []byte(`{"a": 1}`)
	f.Rules.ByNode = map[string]int64{"n1": 4}
	f.Parts[0].Cycle = []verify.FileEdge{{From: 1, To: 2, Source: "real time", Why: "3 < 4"}}
	var text bytes.Buffer
	if err := verify.WriteFile(&text, f); err != nil {
		t.Fatal(err)
	}
	g, err := verify.ReadFile(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := verify.WriteFile(&again, g); err != nil || !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Errorf("%v: read and written again it is\n%s\nnot\n%s", err, again.Bytes(), text.Bytes())
	}
	for _, change := range [][2]string{
		{`"digest"`, `"Digest"`}, {`"digest"`, `"sum"`}, {`"split": true`, `"split": true, "split": true`},
		{`"version": 1`, `"version": 2`}, {`"split": true,`, ``}, {`}` + "\n", `}}`}, {`"from": 1`, `"from": 1.5`}, {`"from": 1`, `"from": "1"`},
		{`"key"`, `"extra": 1, "key"`},
	} {
		bad := strings.Replace(text.String(), change[0], change[1], 1)
		if bad == text.String() {
			t.Fatalf("%q is not in the file:\n%s", change[0], bad)
		}
		if _, err := verify.ReadFile(strings.NewReader(bad)); err == nil {
			t.Errorf("%s for %s was read", change[1], change[0])
		}
	}
}
