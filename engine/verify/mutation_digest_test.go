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
	digest := func(change func(op *history.Op[int, int]), lines bool) string {
		h := &history.Of[int, int]{Ops: []history.Op[int, int]{
			{F: "read", Key: "k", Node: "n", Invoke: 1, Return: 2}, {Process: 1, F: "write", Key: "k", Node: "n", In: 3, Out: 4, Invoke: 5, Return: 8}}}
		if lines {
			h.Order, h.Origins = history.ByLine, []history.Origin{{Line: 1, Seq: 0, DoneSeq: 1}, {Line: 3, Seq: 2, DoneSeq: 3}}
		}
		change(&h.Ops[1])
		s, err := spec.Erase(h, spec.Model[int, int, int]{Name: "m", Init: func() int { return 0 },
			Apply: func(s, in int) (int, int, bool) { return s, s, true }})
		if err != nil {
			t.Fatal(err)
		}
		return verify.Digest(s)
	}
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
		for _, lines := range []bool{false, true} {
			if digest(change, lines) == digest(func(*history.Op[int, int]) {}, lines) {
				t.Errorf("by lines %v: the digest does not cover the %s", lines, name)
			}
		}
	}
}
