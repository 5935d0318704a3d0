package history_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pinyon/engine/history"
)

func TestRecorderIsReadBack(t *testing.T) {
	var b bytes.Buffer
	r, err := history.NewRecorder(&b, &history.Header{Model: "kv", Level: "linearizable", Oracles: []string{"raft"},
		ClockError: history.ClockError{All: 40}, Nodes: []string{"n1", "n2"}})
	if err != nil {
		t.Fatal(err)
	}
	x := history.String("x")
	r.Call(history.Called{ID: 0, Process: 1, F: "put", Key: x, In: history.Int(5), Node: "n1", Time: 10})
	r.Note(history.Note{Name: "cut", From: 15, To: 30, Detail: history.String("n1>n2")})
	r.Call(history.Called{ID: 1, Process: 2, F: "get", Key: x, Node: "n2", Time: 20})
	r.End(history.Ended{ID: 1, Time: 25, Outcome: history.OK, Out: history.Null, Hints: []history.Hint{{Name: "index", Value: history.Int(3)}}})
	r.Call(history.Called{ID: 2, Process: 2, F: "cas", Key: x, In: history.Array(history.Null, history.Int(1)), Time: 26})
	r.End(history.Ended{ID: 2, Time: 27, Outcome: history.Fail, Error: "refused"})
	r.End(history.Ended{ID: 0, Time: 30, Outcome: history.Info, Error: "timeout"})
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	h := read(t, b.String())
	var got []string
	for i, op := range h.Ops {
		got = append(got, strings.Join([]string{h.Where(i), op.F, op.Key, op.In.Text(), op.Out.Text(), op.Outcome.String(), op.Error, op.Node}, "|"))
	}
	want := []string{`op 0 (h.jsonl:2)|put|x|5||info|timeout|n1`, `op 1 (h.jsonl:4)|get|x||null|ok||n2`, `op 2 (h.jsonl:6)|cas|x|[null,1]||fail|refused|`}
	if !slices.Equal(got, want) || h.Ops[1].Return != 25 || len(h.Notes) != 1 || h.Ops[1].Hints[0].Value != history.Int(3) {
		t.Errorf("read back:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// failing fails from the n-th write on.
type failing struct{ n int }

func (f *failing) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errors.New("no space left")
	}
	return len(b), nil
}

func TestRecorderKeepsTheFirstError(t *testing.T) {
	w := &failing{1}
	r, err := history.NewRecorder(w, &history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	r.Call(history.Called{F: "get"})
	r.Call(history.Called{ID: 1, F: "get"})
	if r.Err() == nil || w.n != -1 {
		t.Errorf("error %v after %d writes beyond the first failure", r.Err(), -1-w.n)
	}
}
