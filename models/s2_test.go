package models

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// TestS2Chain holds the hash to vectors that S2's own verification publishes.
func TestS2Chain(t *testing.T) {
	if got := S2Chain(0, 0xab6e5f64077e7d8a); got != 0x4d2b003ee417c3a5 { // of the body "foo"
		t.Errorf("%#x", got)
	}
}

// s2Records is what a stream holds, record by record: the twin of S2Stream.
type s2Records struct {
	hashes []uint64
	token  string
}

func (s s2Records) hash() (h uint64) {
	for _, r := range s.hashes {
		h = S2Chain(h, r)
	}
	return h
}

// s2Call is a request and its answer, as the twin and as a file have it.
type s2Call struct {
	f          string
	hashes     []uint64
	match      int // -1: none
	fence, set string
	tail       int
	hash       uint64
	start, end int64
	outcome    history.Outcome
	process    int
}

// step is the specification once more, in the words of S2's documents.
func (s s2Records) step(c *s2Call) (s2Records, bool) {
	answered := c.outcome == history.OK
	if c.f != "append" {
		return s, !answered || c.tail == len(s.hashes) && (c.f != "read" || c.hash == s.hash())
	}
	if c.match >= 0 && c.match != len(s.hashes) || c.fence != "" && c.fence != s.token {
		return s, false
	}
	s.hashes = append(slices.Clip(s.hashes), c.hashes...)
	if c.set != "" {
		s.token = c.set
	}
	return s, !answered || c.tail == len(s.hashes)
}

// s2Possible tries every order of the calls.
func s2Possible(calls []s2Call, done []bool, s s2Records) bool {
	open := false
	for i := range calls {
		c := &calls[i]
		open = open || !done[i] && c.outcome == history.OK
		if done[i] || c.outcome == history.Fail {
			continue
		}
		first := true
		for j := range calls {
			first = first && (done[j] || calls[j].outcome != history.OK || calls[j].end >= c.start)
		}
		if next, ok := s.step(c); first && ok {
			done[i] = true
			if s2Possible(calls, done, next) {
				return true
			}
			done[i] = false
		}
	}
	return !open
}

// randomS2 carries requests out one after the other, spreads them in time, and
// spoils some answers.
func randomS2(r *rand.Rand) []s2Call {
	var s s2Records
	calls := make([]s2Call, 3+r.IntN(5))
	for i := range calls {
		c := &calls[i]
		*c = s2Call{f: [...]string{"append", "append", "read", "check-tail"}[r.IntN(4)], match: -1, process: i}
		c.start = int64(10*i) - r.Int64N(25)
		c.end = int64(10*i) + r.Int64N(25)
		if c.f == "append" {
			for range 1 + r.IntN(2) {
				c.hashes = append(c.hashes, r.Uint64N(3)<<62)
			}
			if c.match = len(s.hashes) + r.IntN(5)/4; r.IntN(2) == 0 {
				c.match = -1
			}
			c.fence = [...]string{"", s.token, "a"}[r.IntN(3)]
			c.set = [...]string{"", "", "a", "b"}[r.IntN(4)]
		}
		c.outcome = history.Info // nothing is answered yet
		next, ok := s.step(c)
		if !ok && c.f == "append" && r.IntN(4) == 0 { // a stream that forgets its conditions
			free := *c
			free.match, free.fence = -1, ""
			next, ok = s.step(&free)
		}
		c.outcome = history.OK
		if took := r.IntN(6) > 0; ok && took {
			s = next
		} else if c.f == "append" {
			c.outcome = history.Fail
		}
		c.tail, c.hash = len(s.hashes), s.hash()
		switch r.IntN(12) {
		case 0:
			c.outcome = history.Info
		case 1:
			c.tail++
		case 2:
			c.hash++
		}
	}
	return calls
}

// raw is the history of the calls as a file would hold it.
func s2Raw(t *testing.T, calls []s2Call) *history.Raw {
	h := &history.Raw{Path: "h.jsonl"}
	for _, c := range calls {
		op := history.Op[history.Value, history.Value]{Process: c.process, F: c.f, Invoke: c.start, Return: c.end, Outcome: c.outcome}
		out := fmt.Sprintf(`{"tail":%d}`, c.tail)
		if c.f == "read" {
			out = fmt.Sprintf(`{"tail":%d,"stream_hash":%d}`, c.tail, c.hash)
		}
		if c.f == "append" {
			in := fmt.Sprintf(`{"num_records":%d,"record_hashes":[`, len(c.hashes))
			for i, hash := range c.hashes {
				in += fmt.Sprintf(`%s%d`, [...]string{"", ","}[min(i, 1)], hash)
			}
			in += "]"
			if c.match >= 0 {
				in += fmt.Sprintf(`,"match_seq_num":%d`, c.match)
			}
			if c.fence != "" {
				in += fmt.Sprintf(`,"fencing_token":%q`, c.fence)
			}
			if c.set != "" {
				in += fmt.Sprintf(`,"set_fencing_token":%q`, c.set)
			}
			op.In = value(t, in+"}")
		}
		if c.outcome == history.OK {
			op.Out = value(t, out)
		}
		h.Ops = append(h.Ops, op)
	}
	return h
}

// TestS2EqualsTwin: the model and the engine say of random histories of a
// stream what trying every order over the records themselves says.
func TestS2EqualsTwin(t *testing.T) {
	level, err := consistency.LookupLevel("linearizable")
	if err != nil {
		t.Fatal(err)
	}
	r, verdicts := rand.New(rand.NewPCG(5, 6)), map[bool]int{}
	const histories = 3000
	for range histories {
		calls := randomS2(r)
		s := bindTo(t, "s2", s2Raw(t, calls), Options{})
		want := s2Possible(calls, make([]bool, len(calls)), s2Records{})
		verdicts[want]++
		for _, engine := range [...]string{"auto", "brute"} {
			v, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{Workers: 1, Engine: engine})
			if err != nil || (v.Kind != spec.Violation) != want {
				t.Fatalf("engine %v says %v %v, want possible %v: %+v", engine, v.Kind, err, want, calls)
			}
		}
	}
	t.Logf("possible %d, impossible %d", verdicts[true], verdicts[false])
	if 100*min(verdicts[true], verdicts[false]) < 15*histories {
		t.Errorf("one-sided: %v", verdicts)
	}
}
