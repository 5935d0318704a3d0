package verify_test

import (
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// TestDigestCoversTheHistory: a change of anything that decides a verdict
// changes the digest.
func TestDigestCoversTheHistory(t *testing.T) {
	digest := func(change func(op *history.Op[int, int])) string {
		h := &history.Of[int, int]{Ops: []history.Op[int, int]{
			{F: "read", Key: "k", Node: "n", Invoke: 1, Return: 2}, {Process: 1, F: "write", Key: "k", Node: "n", In: 3, Out: 4, Invoke: 5, Return: 8}}}
		change(&h.Ops[1])
		s, err := spec.Erase(h, spec.Model[int, int, int]{Name: "m", Init: func() int { return 0 },
			Apply: func(s, in int) (int, int, bool) { return s, s, true }})
		if err != nil {
			t.Fatal(err)
		}
		return verify.Digest(s)
	}
	plain := digest(func(*history.Op[int, int]) {})
	for name, change := range map[string]func(op *history.Op[int, int]){
		"process": func(op *history.Op[int, int]) { op.Process = 2 },
		"key":     func(op *history.Op[int, int]) { op.Key = "l" },
		"node":    func(op *history.Op[int, int]) { op.Node = "m" },
		"input":   func(op *history.Op[int, int]) { op.In++ },
		"output":  func(op *history.Op[int, int]) { op.Out++ },
		"invoke":  func(op *history.Op[int, int]) { op.Invoke++ },
		"return":  func(op *history.Op[int, int]) { op.Return++ },
		"answer":  func(op *history.Op[int, int]) { op.Outcome = history.Info },
		"failed":  func(op *history.Op[int, int]) { op.Outcome = history.Fail },
	} {
		if digest(change) == plain {
			t.Errorf("the digest does not cover the %s", name)
		}
	}
}
