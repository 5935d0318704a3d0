package gen_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"pinyon/bench/gen"
	"pinyon/engine/brute"
	"pinyon/engine/history"
	"pinyon/models"
)

var kinds = []string{"register", "cas-register", "kv", "queue", "stack", "priority-queue", "set", "counter", "mutex", "owner-mutex", "log"}

// random is a shape of a history that every order can be tried of.
func random(r *rand.Rand, model string) gen.Shape {
	s := gen.Shape{
		Model: model, Clients: 1 + r.IntN(5), Ops: 4 + r.IntN(9), Reads: r.Float64(),
		Values: r.IntN(4), Cas: r.Float64() / 2, FailedCas: r.Float64(), Full: r.Float64() / 2,
		Ties: r.IntN(2) == 0, Stale: r.IntN(2) == 0, Seed: r.Uint64(),
	}
	if r.IntN(2) == 0 {
		s.Crash = 0.3
	}
	if r.IntN(2) == 0 {
		s.Law = "heavy"
	}
	if model == "kv" {
		s.Keys = 1 + r.IntN(2)
	}
	if slices.Contains([]string{"queue", "stack", "priority-queue", "set"}, model) {
		s.Values = 0
	}
	return s
}

// verdict tries every order, after the history went through its file.
func verdict(t *testing.T, s gen.Shape, h *history.Raw) bool {
	t.Helper()
	var file bytes.Buffer
	if err := history.WriteNative(&file, h); err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	h, err := history.ReadNative("generated", &file)
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	if err := history.Validate(h); err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	e, err := models.Lookup(h.Header.Model)
	if err != nil {
		t.Fatal(err)
	}
	subject, err := e.Bind(h, models.Options{Initial: h.Header.Initial})
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	ok, _, err := brute.Decide(subject, "linearizable", nil)
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	return ok
}

// What is generated is a valid history; it is possible, and impossible with an
// answer that was made stale.
func TestSmall(t *testing.T) {
	for _, model := range kinds {
		t.Run(model, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 5))
			var possible, impossible int
			for possible+impossible < 600 {
				s := random(r, model)
				s.Stale = impossible < possible
				h, err := s.History()
				if err != nil && s.Stale {
					continue // too short for a stale answer
				}
				if err != nil {
					t.Fatal(err)
				}
				if verdict(t, s, h) == s.Impossible() {
					t.Fatalf("%+v: consistent %v\n%s", s, s.Impossible(), text(t, h))
				}
				if s.Stale {
					impossible++
				} else {
					possible++
				}
			}
			if min(possible, impossible)*100 < 15*(possible+impossible) {
				t.Errorf("%d possible, %d impossible", possible, impossible)
			}
		})
	}
}

func text(t *testing.T, h *history.Raw) string {
	var b bytes.Buffer
	if err := history.WriteNative(&b, h); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBursts(t *testing.T) {
	for _, model := range []string{"register", "kv", "log"} {
		for _, look := range []string{"first", "middle", "last", "initial", "two", "two-during", "full"} {
			if (model == "log") != (look == "full") {
				continue
			}
			for k := 1; k < 7; k++ {
				s := gen.Shape{Model: model, Burst: k, Look: look}
				h, err := s.History()
				if err != nil {
					t.Fatal(err)
				}
				if verdict(t, s, h) == s.Impossible() {
					t.Errorf("%+v: impossible %v", s, !s.Impossible())
				}
			}
		}
	}
}

// The same shape makes the same bytes, another seed others.
func TestDeterministic(t *testing.T) {
	for _, model := range kinds {
		s := gen.Shape{Model: model, Clients: 7, Ops: 500, Reads: .3, Crash: .02, Keys: 3, Stale: true, Seed: 9}
		var texts []string
		for _, seed := range []uint64{9, 9, 10} {
			s.Seed = seed
			h, err := s.History()
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text(t, h))
		}
		if texts[0] != texts[1] || texts[0] == texts[2] {
			t.Errorf("%s: equal seeds equal %v, other seeds equal %v", model, texts[0] == texts[1], texts[0] == texts[2])
		}
	}
}

// What a shape asks for is there, about as often as it says.
func TestShares(t *testing.T) {
	s := gen.Shape{Model: "cas-register", Clients: 10, Ops: 20_000, Reads: .4, Crash: .05, Cas: .5, FailedCas: .3, Values: 5, Law: "heavy", Seed: 1}
	h, err := s.History()
	if err != nil {
		t.Fatal(err)
	}
	var reads, lost, cas, refused int
	values := map[history.Value]bool{}
	for _, op := range h.Ops {
		switch op.F {
		case "read":
			reads++
			values[op.Out] = true
		case "cas":
			cas++
			if op.Outcome == history.OK && op.Out == history.False {
				refused++
			}
		}
		if op.Outcome == history.Info {
			lost++
		}
	}
	for _, c := range []struct {
		what        string
		share, want float64
	}{
		{"reads", float64(reads) / 20_000, .4}, {"without an answer", float64(lost) / 12_000, .05},
		{"cas", float64(cas) / 12_000, .5}, {"refused", float64(refused) / 6000, .3 * .95},
	} {
		if c.share < c.want*.9 || c.share > c.want*1.1 {
			t.Errorf("%s: %.3f, want about %.3f", c.what, c.share, c.want)
		}
	}
	if len(values) != 5 && len(values) != 6 {
		t.Errorf("%d values were read, want 5, and perhaps the initial one", len(values))
	}
}

func TestRefused(t *testing.T) {
	for _, s := range []gen.Shape{
		{Model: "bank", Clients: 1, Ops: 1}, {Model: "register"}, {Model: "register", Burst: 3, Look: "full"},
		{Model: "log", Burst: 3, Look: "first"}, {Model: "register", Clients: 1, Ops: 2, Reads: 0, Stale: true},
	} {
		if _, err := s.History(); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
}
