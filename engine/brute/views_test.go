package brute_test

import (
	"errors"
	"strings"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// drawn makes a history of a cas-register from one line for each process:
// words such as Wx1, Rx1, Rx- (nothing yet), Cx12 (1 to 2); a last ? means that
// there was no answer.
func drawn(t *testing.T, processes ...string) *spec.Subject {
	t.Helper()
	value := func(c byte) history.Value {
		if c == '-' {
			return history.Null
		}
		return history.Int(int64(c - '0'))
	}
	raw := &history.Raw{}
	for p, line := range processes {
		for i, word := range strings.Fields(line) {
			op := history.Op[history.Value, history.Value]{Process: p, Key: word[1:2], Invoke: int64(10 * i), Return: int64(10*i + 5)}
			switch word[0] {
			case 'W':
				op.F, op.In = "write", value(word[2])
			case 'R':
				op.F, op.Out = "read", value(word[2])
			case 'C':
				op.F, op.In, op.Out = "cas", history.Array(value(word[2]), value(word[3])), history.True
			}
			if strings.HasSuffix(word, "?") {
				op.Outcome, op.Out = history.Info, history.Absent
			}
			raw.Ops = append(raw.Ops, op)
		}
	}
	s, err := (&histgen.Case{Raw: raw, Model: "cas-register"}).Subject()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDecideViews pins the definitions on histories that can be decided by
// looking at them: accept lists the levels that hold, of all eight.
func TestDecideViews(t *testing.T) {
	names := map[string]string{"P": "pram", "C": "causal", "M": "causal-memory", "V": "causal-convergence",
		"y": "read-your-writes", "r": "monotonic-reads", "w": "monotonic-writes", "f": "writes-follow-reads"}
	for _, c := range []struct {
		name, accept string
		processes    []string
	}{
		{"nothing", "PCMVyrwf", nil},
		{"store buffering", "PCMVyrwf", []string{"Wx1 Ry-", "Wy1 Rx-"}},
		{"a cause is missed", "Pyrwf", []string{"Wx1", "Rx1 Wy1", "Ry1 Rx-"}},
		{"two last writers", "PCMrwf", []string{"Wx1 Rx2", "Wx2 Rx1"}},
		{"reordered writes", "yrwf", []string{"Wx1 Wx2", "Rx2 Rx1"}},
		{"convergent, not memory", "CVyrwf", []string{"Wz1 Wx1 Wy1", "Wx2 Rz- Ry1 Rx2"}},
		{"back and forth", "Cywf", []string{"Wx1", "Wx2", "Rx1 Rx2 Rx1"}},
		{"own write forgotten", "rwf", []string{"Wx1 Rx-"}},
		{"a read goes back", "ywf", []string{"Wx1", "Rx1 Rx-"}},
		{"written before read", "Pyrw", []string{"Rx1 Wy1", "Ry1 Wx1"}},
		{"own future", "", []string{"Rx1 Wx1"}},
		{"from nowhere", "", []string{"Rx1", "Wx2"}},
		{"an unanswered write is seen", "PCMVyrwf", []string{"Wx1?", "Rx- Rx1"}},
		{"two winners", "CMVyrwf", []string{"Cx-1", "Cx-2"}},
		{"two unanswered winners", "PCMVyrwf", []string{"Wx1", "Cx12?", "Rx2", "Cx13?", "Rx3"}},
		{"a circle of compare-and-sets", "yr", []string{"Cx12 Wy1", "Cy12 Wx1"}},
		{"a compare-and-set from the start", "CVyrwf", []string{"Cx-2", "Wx1 Cx23"}},
	} {
		s := drawn(t, c.processes...)
		for letter, level := range names {
			got, err := brute.DecideViews(s, level)
			if err != nil || got != strings.Contains(c.accept, letter) {
				t.Errorf("%s: %s is %v (%v)", c.name, level, got, err)
			}
		}
	}
}

func TestDecideViewsErrors(t *testing.T) {
	if _, err := brute.DecideViews(drawn(t, "Wx1"), "sequential"); err == nil {
		t.Error("sequential is no such level")
	}
	if _, err := brute.DecideViews(drawn(t, strings.Repeat("Wx1 ", brute.MaxViewOps+1)), "pram"); !errors.Is(err, brute.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	raw := &history.Raw{Ops: []history.Op[history.Value, history.Value]{{F: "append", In: history.String("a"), Return: 1}}}
	s, err := (&histgen.Case{Raw: raw, Model: "kv"}).Subject()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := brute.DecideViews(s, "pram"); !errors.Is(err, brute.ErrNotRegister) {
		t.Errorf("append: %v", err)
	}
}
