package consistency_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
)

// staleHistory has two keys and two nodes: b is read two versions late, and a
// once fresh and once one version late.
const staleHistory = `{"pinyon":"history","version":1,"model":"register"}
{"process":0,"node":"n1","f":"write","key":"a","in":1,"invoke":0,"return":10,"outcome":"ok"}
{"process":0,"node":"n1","f":"write","key":"a","in":2,"invoke":20,"return":30,"outcome":"ok"}
{"process":1,"node":"n2","f":"read","key":"a","invoke":40,"return":50,"outcome":"ok","out":1}
{"process":1,"node":"n2","f":"read","key":"a","invoke":51,"return":60,"outcome":"ok","out":2}
{"process":1,"node":"n2","f":"read","key":"a","invoke":61,"return":62,"outcome":"ok","out":9}
{"process":0,"node":"n1","f":"write","key":"b","in":1,"invoke":100,"return":110,"outcome":"ok"}
{"process":0,"node":"n1","f":"write","key":"b","in":2,"invoke":120,"return":130,"outcome":"ok"}
{"process":0,"node":"n1","f":"write","key":"b","in":3,"invoke":140,"return":150,"outcome":"ok"}
{"process":2,"f":"read","key":"b","invoke":5130,"return":5140,"outcome":"ok","out":1}
{"process":2,"node":"n1","f":"read","key":"b","invoke":9980,"return":9999,"outcome":"ok","out":3}
{"process":3,"node":"n1","f":"read","key":"b","invoke":9980,"outcome":"info"}
`

func readRegister(t testing.TB, text string) *spec.Subject {
	t.Helper()
	h, err := history.ReadNative("h.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return boundTo(t, h, "register")
}

func boundTo(t testing.TB, h *history.Raw, model string) *spec.Subject {
	t.Helper()
	entry, err := models.Lookup(model)
	if err != nil {
		t.Fatal(err)
	}
	s, err := entry.Bind(h, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func measured(t testing.TB, s *spec.Subject, o consistency.Options) *consistency.Staleness {
	t.Helper()
	m, err := consistency.MeasureStaleness(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestStalenessOfOneHistory(t *testing.T) {
	m := measured(t, readRegister(t, staleHistory), consistency.Options{})
	if want := (consistency.StaleCount{Reads: 4, Stale: 2, MaxVersions: 2, MaxTime: 5000}); m.Total != want || !m.Timed {
		t.Errorf("total %+v, want %+v", m.Total, want)
	}
	if m.Unwritten != 1 || m.Unanswered != 1 || m.Unnamed != 0 || m.Unsettled != 0 {
		t.Errorf("not measured: %+v", m)
	}
	if want := []consistency.StaleBucket{{From: 1, To: 1, Count: 1}, {From: 2, To: 2, Count: 1}}; !reflect.DeepEqual(m.Versions, want) {
		t.Errorf("versions %+v, want %+v", m.Versions, want)
	}
	if b := m.Times; b[0].Count != 1 || b[1].Count != 1 || b[1].From != 1000 || b[1].To != 9999 {
		t.Errorf("times %+v", m.Times)
	}
	if want := []consistency.StaleCount{{"b", 2, 1, 2, 5000}, {"a", 2, 1, 1, 10}}; !reflect.DeepEqual(m.Keys, want) {
		t.Errorf("keys %+v, want %+v", m.Keys, want)
	}
	if want := []consistency.StaleCount{{"n2", 2, 1, 1, 10}, {"n1", 1, 0, 0, 0}}; !reflect.DeepEqual(m.Nodes, want) {
		t.Errorf("nodes %+v, want %+v", m.Nodes, want)
	}
	var slices []int
	for _, s := range m.Slices {
		slices = append(slices, s.Stale)
	}
	if want := []int{1, 0, 0, 0, 0, 1, 0, 0, 0, 0}; !reflect.DeepEqual(slices, want) {
		t.Errorf("over time %v, want %v", slices, want)
	}
}

// With --key only the reads of that key count, and a key that is not there is
// an error.
func TestStalenessOfOneKey(t *testing.T) {
	s := readRegister(t, staleHistory)
	m := measured(t, s, consistency.Options{OnlyKey: "a", HasOnlyKey: true})
	if m.Total.Reads != 2 || m.Total.Stale != 1 || m.Unanswered != 0 || len(m.Keys) != 1 {
		t.Errorf("%+v", m)
	}
	if _, err := consistency.MeasureStaleness(context.Background(), s, consistency.Options{OnlyKey: "c", HasOnlyKey: true}); err == nil {
		t.Error("a key that is not there is measured")
	}
}

// Where the order of the lines is the clock, ages are in versions only.
func TestStalenessWithoutTimes(t *testing.T) {
	for name, change := range map[string]func(v *history.View){
		"lines":   func(v *history.View) { v.Order = history.ByLine },
		"untimed": func(v *history.View) { v.Untimed = true },
	} {
		s := readRegister(t, staleHistory)
		change(s.View)
		m := measured(t, s, consistency.Options{})
		if m.Timed || m.Times != nil || m.Total != (consistency.StaleCount{Reads: 4, Stale: 2, MaxVersions: 2}) {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// A model that does not say what a read saw is not measured.
func TestStalenessNeedsWhatReadsSaw(t *testing.T) {
	g := histgen.New(1, histgen.Options{Models: []string{"queue"}})
	_, err := consistency.MeasureStaleness(context.Background(), boundTo(t, g.Next().Raw, "queue"), consistency.Options{})
	if !errors.Is(err, consistency.ErrNoSight) {
		t.Errorf("a queue: %v", err)
	}
	s := readRegister(t, staleHistory)
	s.View.Read = nil
	if _, err := consistency.MeasureStaleness(context.Background(), s, consistency.Options{}); !errors.Is(err, spec.ErrCannotTell) {
		t.Errorf("a model that cannot tell reads: %v", err)
	}
}

// The smallest bounds that the ladder finds from the greatest ages are those
// that halving from nothing finds: each holds and one less does not.
func TestLadderBoundsAreSmallest(t *testing.T) {
	found, stale := 0, 0
	g, rng := histgen.New(*fuzzSeed, histgen.Options{Models: registerModels, Lines: true, RegisterLike: true, MaxKeys: 2}), rand.New(rand.NewPCG(*fuzzSeed, 2))
	for i := range 150 {
		c := g.Next()
		if i%2 > 0 {
			outdate(c.Raw, rng)
		}
		s := boundTo(t, c.Raw, c.Model)
		l, err := consistency.Climb(context.Background(), s, consistency.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		allows := func(level string) bool {
			v, err := consistency.CheckSubject(context.Background(), s, must(level), consistency.Options{Workers: 1})
			return err == nil && v.Kind == spec.Consistent
		}
		if k := l.SmallestK; k > 0 {
			found++
			if k > 1 {
				stale++
			}
			if !allows(fmt.Sprintf("bounded-staleness:k=%d", k)) || k > 1 && allows(fmt.Sprintf("bounded-staleness:k=%d", k-1)) {
				t.Errorf("k=%d is not smallest\n%s", k, c.Text())
			}
		} else if allows("bounded-staleness:k=20") {
			t.Errorf("no smallest k, %s, though k=20 holds\n%s", l.NoK, c.Text())
		}
		if b := l.SmallestT; b >= 0 {
			if !allows("bounded-staleness:t="+b.String()) || b > 0 && allows(fmt.Sprintf("bounded-staleness:t=%dns", b-1)) {
				t.Errorf("t=%v is not smallest\n%s", b, c.Text())
			}
		} else if s.View.Order == history.ByTime && allows("bounded-staleness:t=1h") {
			t.Errorf("no smallest t, %s, though an hour holds\n%s", l.NoT, c.Text())
		}
		if t.Failed() {
			return
		}
	}
	if found < 40 || stale < 15 {
		t.Errorf("only %d smallest bounds were found, %d above 1", found, stale)
	}
}

// Rungs say which oracles they were checked with: all but those of the levels
// that take none.
func TestLadderNamesOracles(t *testing.T) {
	h := storeBuffering()
	s, err := spec.Erase(h, models.KV(h.Header.Initial))
	if err != nil {
		t.Fatal(err)
	}
	idle := order.Oracle{Name: "idle", Order: func(*history.View, *order.Rules) error { return nil }}
	l, err := consistency.Climb(context.Background(), s, consistency.Options{Oracles: []order.Oracle{idle}})
	if err != nil {
		t.Fatal(err)
	}
	with := map[string]string{}
	for _, r := range l.Rungs {
		with[r.Level] = strings.Join(r.Oracles, ",")
	}
	if with["linearizable"] != "idle" || with["safe"] != "idle" || with["causal"] != "" || !slices.Equal(l.Oracles, []string{"idle"}) {
		t.Errorf("oracles by level %v, for the bounds %v", with, l.Oracles)
	}
}

// An oracle may bind a read so that no bound in time helps it, and one in
// versions does.
func TestLadderBoundsWithOracle(t *testing.T) {
	s := readRegister(t, `{"pinyon":"history","version":1,"model":"register"}
{"process":0,"f":"write","in":1,"invoke":10,"return":50,"outcome":"ok"}
{"process":1,"f":"write","in":2,"invoke":20,"return":50,"outcome":"ok"}
{"process":2,"f":"read","invoke":60,"return":70,"outcome":"ok","out":1}
`)
	as := order.Oracle{Name: "as-listed", Order: func(v *history.View, r *order.Rules) error {
		c := &order.Clock{Name: "as-listed", Out: []int64{0, 1, 2}, In: []int64{0, 1, 2}}
		r.AddHard("", c)
		return nil
	}}
	l, err := consistency.Climb(context.Background(), s, consistency.Options{Oracles: []order.Oracle{as}})
	if err != nil {
		t.Fatal(err)
	}
	if l.SmallestK != 2 || l.SmallestT != -1 || !strings.HasPrefix(l.NoT, "none holds, not even t=") {
		t.Errorf("k=%d (%s), t=%v (%s)", l.SmallestK, l.NoK, l.SmallestT, l.NoT)
	}
}

// A history in which nothing was answered has no bounds and no stale reads.
func TestLadderOfNothing(t *testing.T) {
	s := readRegister(t, staleHistory[:strings.Index(staleHistory, "\n")+1])
	l, err := consistency.Climb(context.Background(), s, consistency.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if l.SmallestK != 0 || l.SmallestT != -1 || l.NoK != "nothing was tested" || l.Staleness.Total.Reads != 0 || len(l.Staleness.Slices) != 10 {
		t.Errorf("%+v", l)
	}
}

// large is a history of n operations over 100 keys by 20 processes, with values
// of their own, in which a read sees a late version now and then.
func large(n int) *history.Of[models.RegisterIn, history.Value] {
	rng := rand.New(rand.NewPCG(1, 1))
	h := &history.Of[models.RegisterIn, history.Value]{}
	last := make([][3]int64, 100)
	for i := range n {
		op := history.Op[models.RegisterIn, history.Value]{Process: i % 20, Invoke: int64(10 * i), Return: int64(10*i + 150)}
		k := rng.IntN(len(last))
		op.Key = fmt.Sprint(k)
		if rng.IntN(2) == 0 {
			last[k][2], last[k][1], last[k][0] = last[k][1], last[k][0], int64(i+1)
			op.F, op.In = "write", models.Write(history.Int(int64(i+1)))
		} else {
			op.F, op.In = "read", models.Read()
			if op.Out = history.Int(last[k][rng.IntN(3)]); op.Out == history.Int(0) {
				op.Out = history.Null
			}
		}
		h.Ops = append(h.Ops, op)
	}
	return h
}

func BenchmarkStaleness(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := spec.Erase(large(n), models.Register(history.Null))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if m := measured(b, s, consistency.Options{}); m.Total.Stale == 0 {
					b.Fatal("no read is stale")
				}
			}
		})
	}
}
