package consistency_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

var (
	localityN      = flag.Int("locality.n", 3000, "histories for each order of the test of which levels are local, decided by the twin")
	localityEngine = flag.Int("locality.engine", 300, "how many of them the engine decides too")
	localityWrite  = flag.Int("locality.write", 0, "search as many histories for each level that is not local and write testdata/litmus/locality")
)

// localityCase is an order of which the test asks whether keys may be decided
// apart: a level, or a relation that is none.
type localityCase struct {
	name    string
	level   consistency.Level
	oracles []order.Oracle
	// twin decides by definition.
	twin  func(s *spec.Subject) (bool, error)
	local bool
	never bool // not local by its flag, and yet no history shows it
}

func (l *localityCase) file() string {
	return filepath.Join("..", "testdata", "litmus", "locality", consistency.LocalityFile(l.name))
}

// localityCases are the levels of the chart, one of each place, and the related
// orders.
func localityCases(t *testing.T) (cases []*localityCase) {
	t.Helper()
	chart, err := consistency.DrawChart()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range chart.Nodes {
		name := consistency.Member(n.Levels[0])
		level, err := consistency.LookupLevel(name)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, &localityCase{name: name, level: level, local: level.Local, never: consistency.NeverCrosses(name),
			twin: func(s *spec.Subject) (bool, error) { return twinOf(s, name) }})
	}
	return append(cases, relatedCases(t)...)
}

// relatedCases are orders that are no levels and that stand on one side or the
// other of what makes a level local.
func relatedCases(t *testing.T) []*localityCase {
	t.Helper()
	linearizable, err := consistency.LookupLevel("linearizable")
	if err != nil {
		t.Fatal(err)
	}
	stale, err := consistency.LookupLevel("bounded-staleness:t=3ns")
	if err != nil {
		t.Fatal(err)
	}
	sessions := consistency.Level{Name: "staleness with sessions", Order: func(v *history.View, r *order.Rules) error {
		r.Hard = append(r.Hard, order.Session(v, nil, false))
		return stale.Order(v, r)
	}}
	hint := func(allKeys bool) []order.Oracle {
		return []order.Oracle{{Name: "h", AllKeys: allKeys, Order: func(v *history.View, r *order.Rules) error {
			r.AddHard("", hintClock(v))
			return nil
		}}}
	}
	return []*localityCase{
		{name: "hints-within-keys", level: linearizable, oracles: hint(false), local: true,
			twin: joined("linearizable", func(v *history.View, a, b int32) bool { return v.Key[a] == v.Key[b] && hinted(v, a, b) })},
		{name: "hints-across-keys", level: linearizable, oracles: hint(true), twin: joined("linearizable", hinted)},
		{name: "staleness-with-sessions", level: sessions, twin: joined("bounded-staleness:t=3ns", func(v *history.View, a, b int32) bool {
			return v.Process[a] == v.Process[b] && returnedBefore(v, a, b)
		})},
		{name: "regular-as-one-order", level: globalRegular("one order", true), twin: byPairs(func(v *history.View, a, b int32) bool {
			return !(v.Read[a] && v.Read[b]) && returnedBefore(v, a, b)
		})},
		{name: "writes-first-as-one-order", level: globalRegular("writes first", false), local: true, twin: byPairs(func(v *history.View, a, b int32) bool {
			return !v.Read[a] && returnedBefore(v, a, b)
		})},
	}
}

// globalRegular orders, across keys, writes before what is invoked after they
// returned, and with reads also reads before such writes.
func globalRegular(name string, reads bool) consistency.Level {
	return consistency.Level{Name: name, Order: func(v *history.View, r *order.Rules) error {
		isRead := func(i int32) bool { return v.Read[i] }
		isWrite := func(i int32) bool { return !v.Read[i] }
		r.Hard = append(r.Hard, order.RealTime(v, order.Span{From: isWrite})...)
		if reads {
			r.Hard = append(r.Hard, order.RealTime(v, order.Span{From: isRead, To: isWrite})...)
		}
		return nil
	}}
}

// returnedBefore is real time where every event has its own instant.
func returnedBefore(v *history.View, a, b int32) bool { return !v.Info[a] && v.Ret[a] < v.Call[b] }

func hinted(v *history.View, a, b int32) bool {
	x, okA := v.Hints["h"].Int(a)
	y, okB := v.Hints["h"].Int(b)
	return okA && okB && x < y
}

func joined(level string, extra func(v *history.View, a, b int32) bool) func(s *spec.Subject) (bool, error) {
	return func(s *spec.Subject) (consistent bool, err error) {
		consistent, _, err = brute.Decide(s, level, func(a, b int32) bool { return extra(s.View, a, b) })
		return consistent, err
	}
}

func byPairs(hard func(v *history.View, a, b int32) bool) func(s *spec.Subject) (bool, error) {
	return func(s *spec.Subject) (consistent bool, err error) {
		consistent, _, err = brute.DecideFunc(s, func(a, b int32) bool { return hard(s.View, a, b) }, spec.Validity{})
		return consistent, err
	}
}

// asked is a history bound as a whole and key by key.
type asked struct {
	raw   *history.Raw
	whole *spec.Subject
	keys  []*spec.Subject
}

func bindKeys(raw *history.Raw, bind func(*history.Raw) (*spec.Subject, error)) (a *asked, err error) {
	a = &asked{raw: raw}
	if a.whole, err = bind(raw); err != nil {
		return nil, err
	}
	done := map[string]bool{}
	for _, op := range raw.Ops {
		if done[op.Key] {
			continue
		}
		done[op.Key] = true
		part := &history.Raw{Header: raw.Header}
		for _, o := range raw.Ops {
			if o.Key == op.Key {
				part.Ops = append(part.Ops, o)
			}
		}
		key, err := bind(part)
		if err != nil {
			return nil, err
		}
		a.keys = append(a.keys, key)
	}
	return a, nil
}

// eachKey reports whether every key alone is allowed.
func (a *asked) eachKey(decide func(*spec.Subject) (bool, error)) (bool, error) {
	for _, s := range a.keys {
		if ok, err := decide(s); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// engine decides a history as a whole, never split.
func (l *localityCase) engine(s *spec.Subject) (bool, error) {
	v, err := consistency.CheckSubject(context.Background(), s, l.level, consistency.Options{
		Timeout: -1, MaxMemory: 1 << 30, Workers: 1, NoSplit: true, Oracles: l.oracles})
	if err == nil && v.Kind == spec.Unknown {
		err = errors.New("undecided")
	}
	return err == nil && v.Kind != spec.Violation, err
}

// tells reports whether every key of raw alone is allowed and all together are
// not.
func (l *localityCase) tells(raw *history.Raw) bool {
	a, err := bindKeys(raw, twinSubject)
	if err != nil {
		return false
	}
	each, err := a.eachKey(l.twin)
	if !each || err != nil {
		return false
	}
	whole, err := l.twin(a.whole)
	return err == nil && !whole
}

// plainHistory makes a random history of two or three keys in which every
// event has its own instant.
func plainHistory(rng *rand.Rand, maxOps int) *history.Raw {
	raw := &history.Raw{Header: history.Header{Model: []string{"register", "cas-register"}[rng.IntN(2)]}}
	n, processes, keys := 4+rng.IntN(maxOps-3), 2+rng.IntN(2), 2
	if n > 4 && rng.IntN(4) == 0 {
		keys = 3
	}
	running := map[int]int{} // by process, the operation that is on its way
	for now := int64(0); len(raw.Ops) < n || len(running) > 0; now++ {
		p := 1 + rng.IntN(processes)
		x, busy := running[p]
		switch {
		case busy:
			raw.Ops[x].Return = now
			delete(running, p)
		case len(raw.Ops) < n:
			running[p] = len(raw.Ops)
			raw.Ops = append(raw.Ops, history.Op[history.Value, history.Value]{Process: p, Key: string(rune('x' + rng.IntN(keys))), Node: "n" + fmt.Sprint(p), Invoke: now})
		}
	}
	unique := rng.IntN(3) > 0
	for i := range raw.Ops {
		plainOperation(rng, raw, i, unique)
		h := i // mostly along the calls
		if rng.IntN(3) == 0 {
			h = rng.IntN(n)
		}
		raw.Ops[i].Hints = []history.Hint{{Name: "h", Value: history.Int(int64(h))}}
	}
	plainAnswers(rng, raw)
	lastUnanswered(rng, raw)
	return raw
}

// plainOperation chooses what op does. In two histories of three a write's
// value is its place, so that who saw it is known; what is read is the initial
// value or one that some operation may write.
func plainOperation(rng *rand.Rand, raw *history.Raw, i int, unique bool) {
	op, value := &raw.Ops[i], int64(1+rng.IntN(2))
	if unique {
		value = int64(1 + i)
	}
	kind := rng.IntN(6)
	switch {
	case kind < 3:
		op.F = "read"
	case kind == 3 && raw.Header.Model == "cas-register":
		op.F, op.In, op.Out = "cas", history.Array(history.Null, history.Int(value)), history.True
	default:
		op.F, op.In = "write", history.Int(value)
	}
}

// plainAnswers chooses what reads and compare-and-sets saw.
func plainAnswers(rng *rand.Rand, raw *history.Raw) {
	for i := range raw.Ops {
		op := &raw.Ops[i]
		values := []history.Value{history.Null}
		for j := range raw.Ops {
			other := &raw.Ops[j]
			if pair, ok := other.In.Elems(); ok && i != j && other.Key == op.Key {
				values = append(values, pair[1])
			} else if other.F == "write" && other.Key == op.Key {
				values = append(values, other.In)
			}
		}
		saw := values[rng.IntN(len(values))]
		if pair, ok := op.In.Elems(); ok {
			op.In = history.Array(saw, pair[1])
		} else if op.F == "read" {
			op.Out = saw
		}
	}
}

// lastUnanswered takes, in one history of six, the answer from the last write
// of a process.
func lastUnanswered(rng *rand.Rand, raw *history.Raw) {
	i := rng.IntN(len(raw.Ops))
	last := !slices.ContainsFunc(raw.Ops[i+1:], func(o history.Op[history.Value, history.Value]) bool { return o.Process == raw.Ops[i].Process })
	if op := &raw.Ops[i]; last && op.F == "write" && rng.IntN(2) == 0 {
		op.Outcome, op.Return = history.Info, 0
	}
}

// localityCount is what the histories of one order showed: how many were put
// to it, in how many every key alone was allowed, and how many of these were
// not allowed as a whole.
type localityCount struct{ asked, each, told atomic.Int64 }

// TestLocality: at a local level no history is allowed key by key and not as a
// whole. A key that is not allowed always convicts the whole. The orders that
// are not local are asked of the first histories only, to count.
func TestLocality(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	cases := localityCases(t)
	counts := make([]localityCount, len(cases))
	first := max(*localityN/10, 1000)
	eachPlain(t, *localityN, func(n int, raw *history.Raw) bool {
		twin, err := bindKeys(raw, twinSubject)
		engine, err2 := bindKeys(raw, bind)
		if err != nil || err2 != nil {
			t.Error(err, err2)
			return false
		}
		for i, l := range cases {
			if !l.local && !l.never && n >= first {
				continue
			}
			if !l.count(t, twin, l.twin, n, &counts[i]) || n < *localityEngine && !l.count(t, engine, l.engine, n, nil) {
				return false
			}
		}
		return true
	})
	for i, l := range cases {
		c := &counts[i]
		t.Logf("of %7d histories %7d have every key allowed and %5d of these are not allowed: %s", c.asked.Load(), c.each.Load(), c.told.Load(), l.name)
		if c.each.Load()*20 < c.asked.Load() {
			t.Errorf("%s: only %d histories of %d have every key allowed", l.name, c.each.Load(), c.asked.Load())
		}
	}
}

// count asks one order of one history; false: it broke the promise.
func (l *localityCase) count(t *testing.T, a *asked, decide func(*spec.Subject) (bool, error), n int, c *localityCount) bool {
	t.Helper()
	each, err := a.eachKey(decide)
	whole := each
	if err == nil && (each || n%16 == 0) {
		whole, err = decide(a.whole)
	}
	if c != nil {
		c.asked.Add(1)
		if each {
			c.each.Add(1)
		}
		if each && !whole {
			c.told.Add(1)
		}
	}
	if err == nil && (whole == each || !whole && !l.local && !l.never) {
		return true
	}
	t.Errorf("%s: each key allowed %v, the whole %v (%v)\n%s", l.name, each, whole, err, (&histgen.Case{Raw: a.raw}).Text())
	return false
}

// eachPlain calls f for n plain histories, until it returns false.
func eachPlain(t *testing.T, n int, f func(n int, raw *history.Raw) bool) {
	t.Helper()
	const size = 250
	blocks := make(chan int)
	var wg sync.WaitGroup
	var stop atomic.Bool
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for b := range blocks {
				rng := rand.New(rand.NewPCG(*fuzzSeed, uint64(b)))
				for i := range min(size, n-b*size) {
					if stop.Load() || !f(b*size+i, plainHistory(rng, 6)) {
						stop.Store(true)
						break
					}
				}
			}
		})
	}
	for b := range (n + size - 1) / size {
		blocks <- b
	}
	close(blocks)
	wg.Wait()
}

// maxCrossing is how many operations a kept history has at most, where it is
// not four. Monotonic reads alone take six under one order: two writes that two
// readers see in opposite orders.
var maxCrossing = map[string]int{soMR: 6}

// TestLocalityFiles: each level that is not local has its history, small, that
// engine and twin allow key by key and not as a whole; no local one has.
func TestLocalityFiles(t *testing.T) {
	var known []string
	for _, l := range localityCases(t) {
		if l.local || l.never {
			continue
		}
		if *localityWrite > 0 {
			l.write(t, *localityWrite)
		}
		known = append(known, filepath.Base(l.file()))
		raw, err := readHistory(l.file())
		if err != nil {
			t.Error(err)
			continue
		}
		most := 4
		if n, ok := maxCrossing[l.name]; ok {
			most = n
		}
		if len(raw.Ops) > most {
			t.Errorf("%s has %d operations, at most %d", l.file(), len(raw.Ops), most)
		}
		l.twoVerdicts(t, raw)
	}
	for _, path := range litmusFiles(t) {
		if filepath.Base(filepath.Dir(path)) == "locality" && !slices.Contains(known, filepath.Base(path)) {
			t.Errorf("%s belongs to a level that is local, or to none", path)
		}
	}
}

// twoVerdicts requires of engine and twin that they allow each key alone and
// not the whole.
func (l *localityCase) twoVerdicts(t *testing.T, raw *history.Raw) {
	t.Helper()
	for _, who := range []struct {
		name   string
		bind   func(*history.Raw) (*spec.Subject, error)
		decide func(*spec.Subject) (bool, error)
	}{{"engine", bind, l.engine}, {"twin", twinSubject, l.twin}} {
		a, err := bindKeys(raw, who.bind)
		if err != nil {
			t.Errorf("%s: %v", l.file(), err)
			continue
		}
		each, err := a.eachKey(who.decide)
		whole, err2 := who.decide(a.whole)
		if !each || whole || err != nil || err2 != nil {
			t.Errorf("%s: by the %s each key is allowed: %v (%v), the whole: %v (%v)", l.file(), who.name, each, err, whole, err2)
		}
	}
}

// write keeps the smallest history that n random ones shrink to.
func (l *localityCase) write(t *testing.T, n int) {
	t.Helper()
	if _, err := os.Stat(l.file()); err == nil {
		return
	}
	var mutex sync.Mutex
	var best *history.Raw
	tried := 0
	look := func(_ int, raw *history.Raw) bool {
		judged := l.level.Source == "" || fits(raw, l.name) // a level of the hierarchy has a source
		if !judged || !l.tells(raw) {
			return true
		}
		small := shrink(raw, l.tells)
		if l.oracles == nil {
			small = plainly(small)
		}
		small = simplest(small, func(raw *history.Raw) bool {
			return l.tells(raw) && (l.level.Source == "" || fits(raw, l.name))
		})
		mutex.Lock()
		defer mutex.Unlock()
		if tried++; best == nil || cost(small) < cost(best) {
			best = small
		}
		return tried < 60
	}
	for _, path := range litmusFiles(t) { // what is kept already may do
		if raw, err := readHistory(path); err == nil {
			look(0, plainly(raw))
		}
	}
	eachPlain(t, n, look)
	if best == nil {
		t.Errorf("%s: no history tells the whole from its keys", l.name)
		return
	}
	best.Header.Source = fmt.Sprintf("%s allows each key alone and not all together", l.name)
	writeHistory(t, l.file(), best)
}
