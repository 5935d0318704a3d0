package paths_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"pinyon/engine/brute"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
	"pinyon/models"
)

// staleCase makes a history of a register whose reads see any of the last k
// versions, and then changes up to three of what was seen. Half of the updates
// may be without an answer; compare-and-sets of another value than the newest fail
// now and then.
func staleCase(r *rand.Rand, k int) *spec.Subject {
	s := shape{ops: 3 + r.IntN(9), processes: 1 + r.IntN(6), squeezed: r.IntN(3) == 0, lostAdds: []float64{0, 0.2, 0.5}[r.IntN(3)]}
	if r.IntN(16) == 0 {
		s.ops += 4
	}
	ops := intervals(r, s)
	in := make([]models.RegisterIn, len(ops))
	writes, cas, repeat := 0.3+0.3*r.Float64(), 0.25*r.Float64(), r.IntN(8) == 0
	for i := range ops {
		v := i + 1
		if repeat && r.IntN(4) == 0 {
			v = r.IntN(3)
		}
		switch x := r.Float64(); {
		case x < writes:
			ops[i].f, in[i] = "write", models.Write(value(v))
		case x < writes+cas:
			ops[i].f, in[i] = "cas", models.Cas(value(0), value(v))
			ops[i].told = r.IntN(3) == 0 // it expects anything
		default:
			ops[i].f, in[i] = "read", models.Read()
		}
		ops[i].lost = r.Float64() < s.lostAdds
	}
	simulateStale(r, ops, in, k)
	for range []int{0, 0, 0, 1, 1, 2, 3}[r.IntN(7)] {
		if x := r.IntN(len(ops)); ops[x].f == "read" {
			ops[x].value = r.IntN(len(ops) + 1)
		} else if ops[x].f == "cas" {
			in[x].Value = value(r.IntN(len(ops) + 1))
		}
	}
	return staleSubject(r, ops, in)
}

// simulateStale performs the operations along an order that their intervals allow.
func simulateStale(r *rand.Rand, ops []event, in []models.RegisterIn, k int) {
	versions := []int{0}
	along(r, ops, func(x int) {
		newest := versions[len(versions)-1]
		switch ops[x].f {
		case "read":
			ops[x].value = versions[len(versions)-1-r.IntN(min(k, len(versions)))]
			return
		case "cas":
			expected := newest
			if ops[x].told {
				expected = r.IntN(len(ops) + 1)
			}
			in[x].Value = value(expected)
			if ops[x].value = 0; expected != newest {
				return
			}
			ops[x].value = 1
			n, _ := in[x].To.Int64()
			newest = int(n)
		default:
			n, _ := in[x].Value.Int64()
			newest = int(n)
		}
		versions = append(versions, newest)
	})
}

func staleSubject(r *rand.Rand, ops []event, in []models.RegisterIn) *spec.Subject {
	ties := history.TiesConcurrent
	if r.IntN(2) == 0 {
		ties = history.TiesPrecede
	}
	h := &history.Of[models.RegisterIn, history.Value]{Header: history.Header{Ties: ties, HasTies: true}, Ops: make([]history.Op[models.RegisterIn, history.Value], len(ops))}
	unknown := r.IntN(8) == 0
	for i := range ops {
		e, op := &ops[i], &h.Ops[i]
		op.Process, op.F, op.Invoke, op.Return = e.process, e.f, e.call, e.ret
		op.In, op.Out, op.NoOut = in[i], history.Absent, unknown && e.f != "write" && r.IntN(6) == 0
		switch {
		case e.lost:
			op.Outcome = history.Info
		case e.f == "read":
			op.Out = value(e.value)
		case e.f == "cas":
			op.Out = history.Bool(e.value == 1)
		}
	}
	s, err := spec.Erase(h, models.CasRegister(value(0)))
	if err != nil {
		panic(err)
	}
	return s
}

// staleMachine is the machine of s where reads see any of the last k versions.
func staleMachine(t testing.TB, s *spec.Subject, k int) spec.Machine {
	t.Helper()
	m, err := spec.KStale(k).Over(s.Machine(context.Background(), s.View, false), s.View)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestStaleEqualsTwin compares the path for stale registers with the twin, which
// tries every order, by versions and by versions and time.
func TestStaleEqualsTwin(t *testing.T) {
	for _, k := range []int{2, 3, 4} {
		for _, early := range []string{"", ",t=3ns"} {
			level := fmt.Sprintf("bounded-staleness:k=%d%s", k, early)
			t.Run(level, func(t *testing.T) {
				t.Parallel()
				staleEqualsTwin(t, k, level, rand.New(rand.NewPCG(uint64(k), uint64(len(early)))))
			})
		}
	}
}

// TestStaleWindowEqualsTwin is that for four versions alone: only in wide windows
// does the order of the last writes matter to what comes next.
func TestStaleWindowEqualsTwin(t *testing.T) {
	staleEqualsTwin(t, 4, "bounded-staleness:k=4", rand.New(rand.NewPCG(4, 0)))
}

func staleEqualsTwin(t *testing.T, k int, level string, r *rand.Rand) {
	t.Helper()
	c := &tally{}
	for range *fuzzN {
		c.stale(t, r, k, level)
	}
	t.Logf("%d consistent, %d violations; %d left to the search, %d for the order", c.yes, c.no, c.unknown, c.otherOrder)
	if decided := c.yes + c.no; c.yes*100 < 15*decided || c.no*100 < 15*decided || c.unknown*4 > decided {
		t.Error("lopsided")
	}
}

func (c *tally) stale(t *testing.T, r *rand.Rand, k int, level string) {
	t.Helper()
	s := staleCase(r, 1+r.IntN(k+1))
	rules := leveled(t, s, level, rand.New(zero{}))
	a, _ := paths.Try(&paths.Problem{Rules: rules, Machine: staleMachine(t, s, k)}, paths.Late)
	if _, _, ok := order.Intervals(rules); !ok {
		c.otherOrder++
		return
	}
	want, _, err := brute.Decide(s, level, nil)
	switch {
	case err != nil:
		t.Fatal(err)
	case a.Broken || a.Kind != spec.Unknown && (a.Kind == spec.Consistent) != want:
		t.Fatalf("%s: the path says %v (%s%s %v), the twin consistent: %v\n%s", level, a.Kind, a.Reason, a.Words, a.Core, want, show(s))
	case a.Kind == spec.Unknown:
		c.unknown++
	case want:
		c.yes++
	default:
		c.no++
	}
}

// zero is a source of zeros: leveled then adds no edges.
type zero struct{}

// Uint64 implements rand.Source.
func (zero) Uint64() uint64 { return 0 }
