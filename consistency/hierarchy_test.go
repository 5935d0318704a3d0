package consistency_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
	"pinyon/models"
)

var (
	hierarchyN      = flag.Int("hierarchy.n", 5000, "histories for the test of the hierarchy of levels, decided by the twin")
	hierarchyEngine = flag.Int("hierarchy.engine", 600, "how many of them the engine decides too")
	hierarchyWrite  = flag.Int("hierarchy.write", 0, "search as many histories for separating ones and write testdata/litmus/pairs")
)

// pair says that whatever the stronger level accepts the weaker one accepts.
type pair struct {
	stronger, weaker string
	blind            bool // only on histories in which no operation reads and writes at once
	equal            bool // the converse holds too
}

const (
	soRYW   = "single-order:read-your-writes"
	soMR    = "single-order:monotonic-reads"
	soMW    = "single-order:monotonic-writes"
	soWFR   = "single-order:writes-follow-reads"
	soMWWFR = "single-order:monotonic-writes+writes-follow-reads"
	soNoWFR = "single-order:read-your-writes+monotonic-reads+monotonic-writes"
)

// hierarchy is what the chart says: its edges between neighbours, and the
// levels that are the same.
var hierarchy = pairsOfChart()

func pairsOfChart() (pairs []pair) {
	c, err := consistency.DrawChart()
	if err != nil {
		panic(err)
	}
	name := func(at int) string { return consistency.Member(c.Nodes[at].Levels[0]) }
	for _, e := range c.Edges {
		pairs = append(pairs, pair{stronger: name(e.From), weaker: name(e.To), blind: e.Blind})
	}
	for _, r := range consistency.Hierarchy() {
		if blind := r.Relation == consistency.BlindSame; blind || r.Relation == consistency.Same {
			pairs = append(pairs, pair{consistency.Member(r.Stronger), consistency.Member(r.Weaker), blind, true})
		}
	}
	return pairs
}

// hierarchyLevels lists the levels of the hierarchy.
func hierarchyLevels() (names []string) {
	for _, p := range hierarchy {
		for _, name := range []string{p.stronger, p.weaker} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// hierarchyOptions are the histories that the hierarchy is held against. None
// is ordered by its lines: there real time and the time that bounds staleness
// are two clocks, and levels of the one do not compare with levels of the other.
var hierarchyOptions = []histgen.Options{
	{Models: registerModels, Weak: true, MaxOps: 6, ManyKeys: true, MaxKeys: 2},
	{Models: []string{"register"}, Weak: true, MaxOps: 6, MaxKeys: 2},
	{Models: registerModels, Weak: true, MaxOps: 5, Squeezed: true},
	{Models: []string{"register"}, Weak: true, MaxOps: 7, ManyKeys: true, MaxKeys: 2, Processes: 3},
	{Models: registerModels, RegisterLike: true, MaxOps: 6, WriteHeavy: true},
}

// decider decides histories at all levels of the hierarchy.
type decider struct {
	names  []string
	levels []consistency.Level
	places [][2]int // by pair: where its levels stand in names
	// relations are the definitions of the levels that are a relation over the
	// operations, and that allow every legal order which keeps it; nil for the
	// others. lenient are those that allow more orders.
	relations []*verify.Definition
	lenient   []bool
}

func newDecider(t *testing.T) *decider {
	t.Helper()
	d := &decider{names: hierarchyLevels()}
	for _, name := range d.names {
		l, err := consistency.LookupLevel(name)
		if err != nil {
			t.Fatal(err)
		}
		d.levels = append(d.levels, l)
		family, params, _ := strings.Cut(name, ":")
		versions := family == "cosmos-tla2022" || family == "bounded-staleness" && strings.Contains(params, "k=")
		d.relations, d.lenient = append(d.relations, nil), append(d.lenient, versions)
		if versions || family == "bounded-staleness" || slices.Contains(onlyRelations, family) {
			definition, err := verify.Define(name)
			if err != nil {
				t.Fatal(err)
			}
			d.relations[len(d.relations)-1] = &definition
		}
	}
	for _, p := range hierarchy {
		d.places = append(d.places, [2]int{d.index(p.stronger), d.index(p.weaker)})
	}
	return d
}

func (d *decider) index(level string) int { return slices.Index(d.names, level) }

func decide(s *spec.Subject, l consistency.Level) (consistent bool, err error) {
	v, err := consistency.CheckSubject(context.Background(), s, l, consistency.Options{Timeout: -1, MaxMemory: 1 << 30, Workers: 1})
	if err == nil && v.Kind == spec.Unknown {
		err = errors.New("undecided")
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", l.Name, err)
	}
	return v.Kind != spec.Violation, nil
}

func bind(raw *history.Raw) (*spec.Subject, error) {
	entry, err := models.Lookup(raw.Header.Model)
	if err != nil {
		return nil, err
	}
	return entry.Bind(raw, models.Options{})
}

// verdict is what a level says of a history; some levels cannot judge some
// histories, for want of a node, say.
type verdict int8

const (
	cannot verdict = iota
	rejects
	accepts
)

// all decides a history at every level by the twin, and with engine by both,
// which must agree.
func (d *decider) all(raw *history.Raw, engine bool) ([]verdict, error) {
	twin, err := twinSubject(raw)
	if err != nil {
		return nil, err
	}
	var s *spec.Subject
	if engine {
		if s, err = bind(raw); err != nil {
			return nil, err
		}
	}
	verdicts := make([]verdict, len(d.levels))
	var found asks
	for i, l := range d.levels {
		pairs, ok := pairsOf(d.relations[i], twin.View)
		if ok {
			verdicts[i] = found.say(pairs, d.lenient[i])
		}
		if verdicts[i] == cannot {
			if verdicts[i], err = judged(twinOf(twin, l.Name)); err != nil {
				return nil, fmt.Errorf("%s by the twin: %w", l.Name, err)
			}
		}
		if ok && !d.lenient[i] {
			found.note(pairs, verdicts[i])
		}
		if !engine {
			continue
		}
		got, err := judged(decide(s, l))
		if got == cannot { // the twin is not as strict about what a history lacks
			verdicts[i] = cannot
		}
		if err != nil || got != verdicts[i] {
			return nil, fmt.Errorf("%s: the twin says %d, the engine %d (%w)", l.Name, verdicts[i], got, err)
		}
	}
	return verdicts, nil
}

// onlyRelations are the families of which every member is a relation.
var onlyRelations = []string{"linearizable", "sequential", "ordered-sequential", "real-time-writes", "regular-sequential",
	"prefix-sequential", "prefix-linearizable", "timeline", "regular", "per-key-sequential", "single-order"}

// asks are the relations of one history, as sets of pairs, that a legal order
// keeps or none does. They spare the twin most of its work: an order that keeps
// a relation keeps each part of it, and what is legal as it is is legal where
// reads may look back. Whether one level implies another is not asked here.
type asks struct{ kept, broken []uint64 }

func (a *asks) say(pairs uint64, lenient bool) verdict {
	switch {
	case slices.ContainsFunc(a.kept, func(more uint64) bool { return pairs&^more == 0 }):
		return accepts
	case !lenient && slices.ContainsFunc(a.broken, func(fewer uint64) bool { return fewer&^pairs == 0 }):
		return rejects
	}
	return cannot
}

func (a *asks) note(pairs uint64, v verdict) {
	if v == accepts {
		a.kept = append(a.kept, pairs)
	} else if v == rejects {
		a.broken = append(a.broken, pairs)
	}
}

// pairsOf is the relation of a level over a small history.
func pairsOf(d *verify.Definition, v *history.View) (pairs uint64, ok bool) {
	if d == nil || v.N > 8 {
		return 0, false
	}
	for a := range int32(v.N) {
		for b := range int32(v.N) {
			if d.Holds(v, a, b) {
				pairs |= 1 << (a*8 + b)
			}
		}
	}
	return pairs, true
}

func judged(consistent bool, err error) (verdict, error) {
	var unfit *history.Error
	switch {
	case errors.As(err, &unfit):
		return cannot, nil
	case err != nil:
		return cannot, err
	case consistent:
		return accepts, nil
	}
	return rejects, nil
}

// twinSubject binds a history under the twin's own reading of its model.
func twinSubject(raw *history.Raw) (*spec.Subject, error) {
	return (&histgen.Case{Raw: raw, Model: raw.Header.Model}).Subject()
}

func twinOf(s *spec.Subject, level string) (consistent bool, err error) {
	if isView(level) {
		return brute.DecideViews(s, level)
	}
	consistent, _, err = brute.Decide(s, level, nil)
	return consistent, err
}

// isBlind reports that no operation reads and writes at once.
func isBlind(raw *history.Raw) bool {
	return !slices.ContainsFunc(raw.Ops, func(op history.Op[history.Value, history.Value]) bool { return op.F == "cas" })
}

// census counts what the pairs of the hierarchy met, and which levels were
// told apart, by these and by the kept histories: by what accepts and what
// rejects, on all and on blind histories.
type census struct {
	mutex      sync.Mutex
	n          int
	counts     []met
	all, blind [][]int
}

func newCensus(d *decider) *census {
	c := &census{counts: make([]met, len(hierarchy))}
	for range d.names {
		c.all, c.blind = append(c.all, make([]int, len(d.names))), append(c.blind, make([]int, len(d.names)))
	}
	return c
}

// met is what one pair met, on the histories that it speaks of: how often the
// stronger level accepted, the weaker one rejected, and how often the weaker
// one alone accepted.
type met struct{ accepted, rejected, separated int }

// add counts one history and returns the pair that it refutes, if one does.
func (c *census) add(d *decider, verdicts []verdict, blind bool) (broken *pair) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.n++
	for i, p := range hierarchy {
		if p.blind && !blind {
			continue
		}
		m, strong, weak := &c.counts[i], verdicts[d.places[i][0]], verdicts[d.places[i][1]]
		switch {
		case strong == cannot || weak == cannot:
			continue
		case strong > weak || p.equal && weak != strong:
			broken = &hierarchy[i]
		case weak > strong:
			m.separated++
		}
		if strong == accepts {
			m.accepted++
		}
		if weak == rejects {
			m.rejected++
		}
	}
	c.tell(verdicts, blind)
	return broken
}

func (c *census) tell(verdicts []verdict, blind bool) {
	for a, x := range verdicts {
		for b, y := range verdicts {
			if x == accepts && y == rejects {
				c.all[a][b]++
				if blind {
					c.blind[a][b]++
				}
			}
		}
	}
}

// unexplained lists the pairs of levels that nothing told apart, though nothing
// in the hierarchy says that the one implies the other: either a row is
// missing, or there were too few histories.
func (c *census) unexplained(d *decider) string {
	var b strings.Builder
	follows, blindly := closure(d, false), closure(d, true)
	for x, accepts := range d.names {
		for y, rejects := range d.names {
			switch {
			case c.all[x][y] == 0 && !follows[x][y]:
				fmt.Fprintf(&b, "no history of %s is not %s\n", accepts, rejects)
			case c.blind[x][y] == 0 && !blindly[x][y]:
				fmt.Fprintf(&b, "no blind history of %s is not %s\n", accepts, rejects)
			}
		}
	}
	return b.String()
}

// TestHierarchy holds every pair against random histories, and requires that
// each was put to the test: the stronger level accepted many of them, and each
// pair of neighbours was told apart, by them or by the kept histories.
func TestHierarchy(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	d := newDecider(t)
	found := newCensus(d)
	eachHistory(t, *hierarchyN, func(n int, c *histgen.Case) bool {
		verdicts, err := d.all(c.Raw, n < *hierarchyEngine)
		if err != nil {
			t.Errorf("%v\n%s", err, c.Text())
			return false
		}
		if p := found.add(d, verdicts, isBlind(c.Raw)); p != nil {
			t.Errorf("%+v is broken:\n%s", *p, c.Text())
			return false
		}
		return true
	})
	for _, path := range litmusFiles(t) {
		raw, err := readHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		if verdicts, err := d.all(raw, false); err == nil {
			found.tell(verdicts, isBlind(raw))
		}
	}
	t.Logf("%d histories\n%s%s", found.n, found.table(), found.unexplained(d))
	for i, p := range hierarchy {
		if m := found.counts[i]; m.accepted*20 < *hierarchyN {
			t.Errorf("%s, %s: the stronger accepted only %d of %d", p.stronger, p.weaker, m.accepted, *hierarchyN)
		} else if !p.equal && found.all[d.places[i][1]][d.places[i][0]] == 0 {
			t.Errorf("no history separates %s from %s", p.weaker, p.stronger)
		}
	}
}

func (c *census) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%9s %9s %9s\n", "stronger", "weaker", "weaker")
	fmt.Fprintf(&b, "%9s %9s %9s\n", "accepts", "rejects", "alone")
	for i, p := range hierarchy {
		m, note := c.counts[i], ""
		if p.equal {
			note = ", the same"
		}
		if p.blind {
			note += ", where no operation reads and writes at once"
		}
		fmt.Fprintf(&b, "%9d %9d %9d  %s -> %s%s\n", m.accepted, m.rejected, m.separated, p.stronger, p.weaker, note)
	}
	return b.String()
}

// TestHierarchyOnLitmus holds every pair against the kept histories.
func TestHierarchyOnLitmus(t *testing.T) {
	d := newDecider(t)
	found := newCensus(d)
	for _, path := range litmusFiles(t) {
		raw, err := readHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := d.all(raw, true)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if p := found.add(d, verdicts, isBlind(raw)); p != nil {
			t.Errorf("%s breaks %+v", path, *p)
		}
	}
	for i, p := range hierarchy {
		if !p.equal && found.counts[i].separated < 2 {
			t.Errorf("%s, %s: told apart by %d kept histories, want 2", p.stronger, p.weaker, found.counts[i].separated)
		}
	}
}

// eachHistory calls f for n histories from several workers until it returns
// false.
func eachHistory(t *testing.T, n int, f func(n int, c *histgen.Case) bool) {
	const size = 250
	blocks := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for b := range blocks {
				g := histgen.New(*fuzzSeed+uint64(b), hierarchyOptions[b%len(hierarchyOptions)])
				for i := range min(size, n-b*size) {
					if t.Failed() || !f(b*size+i, g.Next()) {
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

// closure is what follows from the list, with the pairs for blind histories or
// without.
func closure(d *decider, blind bool) [][]bool {
	n := len(d.names)
	follows := make([][]bool, n)
	for a := range follows {
		follows[a] = make([]bool, n)
		follows[a][a] = true
	}
	for _, p := range hierarchy {
		if p.blind && !blind {
			continue
		}
		a, b := d.index(p.stronger), d.index(p.weaker)
		follows[a][b] = true
		follows[b][a] = follows[b][a] || p.equal
	}
	for mid := range n {
		for a := range n {
			for b := range n {
				follows[a][b] = follows[a][b] || follows[a][mid] && follows[mid][b]
			}
		}
	}
	return follows
}

// TestHierarchyIsNeighbours: no pair of the hierarchy follows from the others,
// and none contradicts them: levels that are the same are said to be.
func TestHierarchyIsNeighbours(t *testing.T) {
	d := newDecider(t)
	whole := hierarchy
	defer func() { hierarchy = whole }()
	for i, p := range whole {
		if p.equal {
			continue
		}
		hierarchy = slices.Delete(slices.Clone(whole), i, i+1)
		follows := closure(d, p.blind)
		if follows[d.index(p.stronger)][d.index(p.weaker)] {
			t.Errorf("%s, %s follows from other pairs", p.stronger, p.weaker)
		}
		if follows[d.index(p.weaker)][d.index(p.stronger)] {
			t.Errorf("%s, %s: the converse follows from other pairs", p.stronger, p.weaker)
		}
	}
}

// TestEveryLevelHasAPlace: each family stands in the chart.
func TestEveryLevelHasAPlace(t *testing.T) {
	c, err := consistency.DrawChart()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range consistency.Levels() {
		if !slices.ContainsFunc(c.Nodes, func(n consistency.ChartNode) bool {
			return slices.ContainsFunc(n.Levels, func(l string) bool { return l == f.Name || strings.HasPrefix(l, f.Name+":") })
		}) {
			t.Errorf("%s has no place in the chart; say in the rows of the hierarchy what it implies", f.Name)
		}
	}
}
