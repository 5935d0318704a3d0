package oracles

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// revisions builds operations of one key from their revisions; -1: no hint.
func revisions(read []bool, revs ...int64) *history.View {
	h := &history.Of[int, int]{}
	h.Ops = append(h.Ops, history.Op[int, int]{Outcome: history.Fail}) // so that op N is not position N
	for i, rev := range revs {
		o := history.Op[int, int]{Process: i, Key: "k"}
		if rev >= 0 {
			o.Hints = []history.Hint{{Name: "rev", Value: history.Int(rev)}, {Name: "idx", Value: history.Int(-rev)}}
		}
		h.Ops = append(h.Ops, o)
	}
	v := history.NewView(h)
	v.Read = read
	return v
}

func load(t *testing.T, text string) order.Oracle {
	t.Helper()
	o, err := Load("o.yaml", []byte(head+text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// An oracle that contradicts itself is at fault itself.
func TestOwnErrors(t *testing.T) {
	for text, want := range map[string]string{
		"hard: [a.rev <= b.rev]":                                     "oracle x: rule hard 1 orders op 1 before itself (a.rev <= b.rev: 40 <= 40): this is the oracle's own error, not the store's",
		"soft: [{name: up, when: a.rev != b.rev || a.idx <= b.idx}]": "oracle x: rule up orders op 1 before itself (a.rev != b.rev || a.idx <= b.idx: -40 <= -40): this is the oracle's own error, not the store's",
		"hard: [a.rev < b.rev, a.rev < b.rev || a.idx < b.idx]":      "oracle x: rule hard 2 orders op 1 before op 2 (a.rev < b.rev || a.idx < b.idx: 40 < 41) and op 2 before op 1 (a.rev < b.rev || a.idx < b.idx: -41 < -40): this is the oracle's own error, not the store's",
	} {
		_, err := apply(load(t, text), revisions(nil, 40, 41))
		if !errors.Is(err, ErrOwn) || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
	// Not for operations of different keys, unless it orders those.
	v := revisions(nil, 40, 41)
	v.Key, v.KeyName = []int32{0, 1}, []string{"k", "l"}
	if _, err := apply(load(t, "hard: [a.rev < b.rev || a.idx < b.idx]"), v); err != nil {
		t.Error(err)
	}
	if _, err := apply(load(t, "scope: all\nhard: [a.rev < b.rev || a.idx < b.idx]"), v); !errors.Is(err, ErrOwn) {
		t.Error(err)
	}
}

// A rule that comes apart may still order two operations both ways: at least one
// of two, or comparisons that equality satisfies.
func TestOwnErrorsOfDominance(t *testing.T) {
	for text, want := range map[string]bool{
		"hard: [\"at least 1 of s in xs: a.seq[s] < b.seq[s]\"]":          true,
		"hard: [\"at least 2 of s in xs: a.seq[s] < b.seq[s]\"]":          false,
		"hard: [\"all s in a.seq: a.seq[s] < b.seq[s]\"]":                 false,
		"hard: [\"a.rev <= b.rev && a.seq[0] < b.seq[0]\"]":               false,
		"hard: [\"a.seq[0] < b.seq[1] && a.seq[1] > b.seq[0]\"]":          true,
		"hard: [\"a.rev == b.rev\"]":                                      true,
		"hard: [\"a.rev == b.rev && a.seq[0] < b.seq[0]\"]":               false,
		"hard: [\"some s in xs: a.rev == b.rev && a.seq[s] < b.seq[s]\"]": true,
	} {
		h := &history.Of[int, int]{}
		for _, seq := range [][]int64{{0, 1}, {1, 0}} {
			h.Ops = append(h.Ops, history.Op[int, int]{Process: len(h.Ops), Key: "k", Hints: []history.Hint{{Name: "rev", Value: history.Int(7)},
				{Name: "seq", Value: history.Array(history.Int(seq[0]), history.Int(seq[1]))}}})
		}
		v := history.NewView(h)
		v.Read = []bool{false, false}
		if _, err := apply(load(t, "lists: {xs: [0, 1]}\n"+text), v); errors.Is(err, ErrOwn) != want {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// Of one key, what other keys' writes were given does not count; of all it does.
func TestUniqueByKey(t *testing.T) {
	v := revisions([]bool{false, false, false, true}, 5, 5, 5, 5)
	v.Key, v.KeyName = []int32{0, 1, 1, 1}, []string{"k", "l"}
	v.FName = []string{"put"}
	for text, want := range map[string]string{
		"unique: rev":                                       "[[1 2]]",
		"unique: [rev, idx]":                                "[[1 2]]",
		"scope: all\nunique: rev":                           "[[0 1] [0 2]]",
		"scope: all\nunique: [rev]":                         "[[0 1] [0 2]]",
		"scope: all\nunique: {of: rev, except: [put, del]}": "[]",
		"scope: all\nunique: {of: [rev], except: [cas]}":    "[[0 1] [0 2]]",
	} {
		r, err := apply(load(t, text), v)
		if got := fmt.Sprint(r.Contradictions()); err != nil || got != want {
			t.Errorf("%s: %v %s, want %s", text, err, got, want)
		}
	}
}

// A rule that would be asked for too many pairs says so.
func TestManyPairsAreSaid(t *testing.T) {
	revs := make([]int64, 10_100)
	for i := range revs {
		revs[i] = int64(i)
	}
	r, err := apply(load(t, "hard: [\"a.rev < b.rev && a.rev != b.rev\"]"), revisions(nil, revs...))
	const want = "oracle x: rule hard 1 is asked pair by pair, for up to 101999900 pairs, as it is no conjunction of comparisons that each have a on one side and b on the other (pinyon oracles FILE --explain-plan)"
	if err != nil || len(r.Notices) != 1 || r.Notices[0] != want {
		t.Errorf("%v %q", err, r.Notices)
	}
}

// Of too many pairs a sample is looked at, the same in every run.
func TestSampledPairs(t *testing.T) {
	revs := make([]int64, 2500)
	for i := range revs {
		revs[i] = int64(i/2) - 1 // pairs of equal revisions; the first two have none
	}
	v := revisions(nil, revs...)
	var notices []string
	for range 2 {
		r, err := apply(load(t, "hard: [\"a.rev < b.rev && a.rev != b.rev\"]"), v)
		if err != nil {
			t.Fatal(err)
		}
		notices = append(notices, r.Notices...)
	}
	if len(notices) != 2 || notices[0] != notices[1] || !strings.Contains(notices[0], "of 1000000 sampled pairs") {
		t.Errorf("got %q", notices)
	}
	if _, err := apply(load(t, "hard: [a.rev < b.rev || a.idx < b.idx]"), v); !errors.Is(err, ErrOwn) {
		t.Errorf("got %v", err)
	}
}

func TestReasonsAndNotices(t *testing.T) {
	v := revisions([]bool{false, true, true, false}, 40, 40, 41, -1)
	why := func(text string, a, b int32) (string, []string) {
		r, err := apply(load(t, text), v)
		if err != nil {
			t.Fatal(err)
		}
		all := append(r.Hard, r.Soft...)
		for _, s := range all {
			if s.Precedes(a, b) {
				return s.Name + ": " + s.Why(a, b), r.Notices
			}
		}
		return "unordered", r.Notices
	}
	for _, c := range []struct {
		text   string
		a, b   int32
		want   string
		notice string
	}{
		{"order_by: rev", 0, 2, "x: rev 40 < 41", "oracle x: 1 of 4 operations lack rev and are unordered"},
		{"order_by: rev", 0, 1, "unordered", "oracle x: 1 of 4 operations lack rev and are unordered"},
		{"order_by: rev", 0, 3, "unordered", "oracle x: 1 of 4 operations lack rev and are unordered"},
		{"order_by: rev\nties: write_before_read", 0, 1, "x: rev 40 = 40, write before read", "oracle x: 1 of 4 operations lack rev and are unordered"},
		{"order_by: rev\nties: read_before_write", 1, 0, "x: rev 40 = 40, read before write", "oracle x: 1 of 4 operations lack rev and are unordered"},
		{"order_by: {write: idx, read: rev}", 0, 2, "x: idx -40 < rev 41", "oracle x: 1 of 4 operations lack idx (writes) or rev (reads) and are unordered"},
		{"order_by: [rev, idx]", 0, 2, "x: (rev, idx) (40, -40) < (41, -41)", "oracle x: 1 of 4 operations lack rev or idx and are unordered"},
		{"order_by: rev\nonly: [cas]", 0, 2, "unordered", "oracle x: no operation is named cas, so order_by orders nothing"},
		{"hard: [a.rev < b.rev]", 0, 2, "x: a.rev < b.rev: 40 < 41", "oracle x: 1 of 4 operations lack what rule hard 1 asks for"},
		{"soft: [{name: up, when: a.rev < b.rev}]", 0, 2, "x: up: a.rev < b.rev: 40 < 41", "oracle x: 1 of 4 operations lack what rule up asks for"},
		{"hard: [a.rev == 40 && a.rev < b.rev && a.idx > b.idx]", 0, 2, "x: a.rev == 40 && a.rev < b.rev && a.idx > b.idx: 40 < 41, -40 > -41", "oracle x: 1 of 4 operations lack what rule hard 1 asks for"},
		{"hard: [a.rev == 40 && a.rev < b.rev && a.idx != b.idx]", 0, 2, "x: a.rev == 40 && a.rev < b.rev && a.idx != b.idx: 40 < 41, -40 != -41", "oracle x: rule hard 1 is unknown for 5 of 12 pairs"},
	} {
		got, notices := why(c.text, c.a, c.b)
		if got != c.want || len(notices) != 1 || notices[0] != c.notice {
			t.Errorf("%s:\ngot  %s %q\nwant %s %q", c.text, got, notices, c.want, c.notice)
		}
	}
	got, _ := why("order_by: idx\nhard: [{name: n, when: a.rev == 99 && b.rev == 99}]\nsoft: [a.rev < b.rev]", 0, 2)
	if want := "x: soft 1: a.rev < b.rev: 40 < 41"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCannotTell(t *testing.T) {
	v := revisions(nil, 40, 41)
	for _, text := range []string{"order_by: rev\nties: write_before_read", "order_by: {write: rev, read: idx}", "hard: ['a.kind == \"read\" && a.rev < b.rev']"} {
		if _, err := apply(load(t, text), v); !errors.Is(err, ErrCannotTell) {
			t.Errorf("%s: got %v", text, err)
		}
	}
	asksNothing := []string{"epaxos", "epaxos-pairs", "epaxos-revisited", "holipaxos"}
	for _, o := range Builtin() {
		if _, err := apply(o, v); errors.Is(err, ErrCannotTell) == slices.Contains(asksNothing, o.Name) {
			t.Errorf("%s: got %v", o.Name, err)
		}
	}
}

func TestLookup(t *testing.T) {
	if _, err := Lookup("zokeeper"); err == nil || err.Error() != `there is no oracle "zokeeper" (did you mean zookeeper?)` {
		t.Errorf("got %v", err)
	}
	for i, o := range Builtin() {
		info := Infos()[i]
		if o.Name != info.Name || info.Doc == "" || len(info.Hints) == 0 {
			t.Errorf("%s is described as %+v", o.Name, info)
		}
	}
}

func TestNoOperations(t *testing.T) {
	v := history.NewView(&history.Of[int, int]{})
	v.Read = []bool{}
	for _, o := range append(Builtin(), load(t, "order_by: rev\nhard: [a.rev == b.rev && a.idx < b.idx]")) {
		if r, err := apply(o, v); err != nil || len(r.Notices) > 0 {
			t.Errorf("%s: %v %q", o.Name, err, r.Notices)
		}
	}
}

func BenchmarkOrderBy(b *testing.B) {
	revs := make([]int64, 100_000)
	r := twinRand(5)
	for i := range revs {
		revs[i] = r.Int64N(1 << 40)
	}
	v := revisions(make([]bool, len(revs)), revs...)
	for _, text := range []string{"order_by: rev", "hard: [a.rev < b.rev]"} {
		o, err := Load("o.yaml", []byte(head+text))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := apply(o, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
