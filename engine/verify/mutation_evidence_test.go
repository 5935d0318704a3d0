package verify_test

import (
	"slices"
	"strings"
	"testing"

	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// TestCycleTurnedRound: a circle is a proof only in the direction in which its
// edges hold.
func TestCycleTurnedRound(t *testing.T) {
	turned := 0
	each(t, 3000, func(c *histgen.Case, s *spec.Subject, level string) {
		extra := c.Extra(s.View)
		d, _ := verify.Define(level)
		direct, err := d.Order(s.View, extra)
		if err != nil {
			t.Fatal(err)
		}
		edges := circle(direct)
		holds := true
		for i, e := range edges {
			edges[i].From, edges[i].To = e.To, e.From
			holds = holds && direct.Has(e.To, e.From)
		}
		slices.Reverse(edges)
		if edges == nil || holds {
			return
		}
		turned++
		if err := verify.Cycle(s, level, extra, edges); err == nil || !strings.Contains(err.Error(), "does not hold") {
			t.Fatalf("%s: %v: %v\n%s", level, edges, err, c.Text())
		}
	})
	if turned < 50 {
		t.Errorf("only %d circles turned round", turned)
	}
}

// TestKeysThatMeetAtAnInstant: two keys that pass alone and fail together are
// not joined, however many operations there are.
func TestKeysThatMeetAtAnInstant(t *testing.T) {
	type op = history.Op[string, int]
	h := &history.Of[string, int]{Ops: []op{
		{Process: 1, F: "write", Key: "x", In: "write", Invoke: 0, Return: 5},
		{Process: 1, F: "write", Key: "y", In: "write", Invoke: 5, Return: 10},
		{Process: 2, F: "read", Key: "y", Out: 1, Invoke: 5, Return: 5},
		{Process: 2, F: "read", Key: "x", Out: 0, Invoke: 5, Return: 6},
	}}
	s, err := spec.Erase(h, spec.Model[int, string, int]{Name: "flag", Init: func() int { return 0 },
		Step: func(s int, in string, out *int) (int, bool) {
			if in == "write" {
				return 1, true
			}
			return s, *out == s
		}})
	if err != nil {
		t.Fatal(err)
	}
	part := func(key string, order ...int32) spec.Part {
		return spec.Part{Key: key, Kind: spec.Consistent, Witness: order}
	}
	v := &spec.Verdict{Kind: spec.Consistent, Split: true, Parts: []spec.Part{part("x", 3, 0), part("y", 1, 2)}}
	for limit, want := range map[int]verify.Answer{3000: verify.Refused, 0: verify.NotCheckable} {
		restore := verify.SetClosureLimit(limit)
		r, err := verify.NewFile(s, "linearizable", v).Check(s, nil)
		restore()
		if err != nil || r.Answer != want {
			t.Errorf("closure up to %d: %v (%s), %v; want %v", limit, r.Answer, r.Reason, err, want)
		}
	}
}
