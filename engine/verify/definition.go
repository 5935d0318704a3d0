package verify

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// level names the pairs of a definition, one constant for each line of the
// list of levels.
type level uint8

const (
	linearizable level = iota
	sequential
	orderedSequential
	realTimeWrites
	regularSequential
	staleByVersions
	staleByTime // also with versions: the order is the same
	perKeySequential
	singleOrder // with the guarantees of the Definition
	prefixSequential
	prefixLinearizable
	timeline
	regular
	safe
	kLinearizable // reads miss fewer than Missing writes, see Definition
	prefixStale   // also by time
	cosmosRegions // cosmos-tla2018
	cosmosLog     // cosmos-tla2022
	severalLevels // all of Parts
	perOperation  // by entitled
)

var plainLevels = map[string]level{
	"linearizable":       linearizable,
	"sequential":         sequential,
	"ordered-sequential": orderedSequential,
	"real-time-writes":   realTimeWrites,
	"regular-sequential": regularSequential,
	"per-key-sequential": perKeySequential,

	"prefix-sequential":   prefixSequential,
	"prefix-linearizable": prefixLinearizable,
	"timeline":            timeline,
	"regular":             regular,
	"safe":                safe,
}

// classes are the pairs of a session, by whether each side is a read.
type classes uint8

const (
	writeRead  classes = 1 << iota // read-your-writes
	readRead                       // monotonic-reads
	writeWrite                     // monotonic-writes
	readWrite                      // writes-follow-reads
	allClasses = writeRead | readRead | writeWrite | readWrite
)

var guarantees = map[string]classes{
	"read-your-writes": writeRead, "monotonic-reads": readRead,
	"monotonic-writes": writeWrite, "writes-follow-reads": readWrite,
}

// classOf is the class of a pair.
func classOf(firstIsRead, secondIsRead bool) classes {
	switch {
	case !firstIsRead && secondIsRead:
		return writeRead
	case firstIsRead && secondIsRead:
		return readRead
	case firstIsRead:
		return readWrite
	}
	return writeWrite
}

// Definition is a level as it is written down: which operation must come
// before which, and how old a version a read may return.
type Definition struct {
	Name string
	// Versions is K of bounded-staleness: a read may return what any of the last
	// K versions of its key gives. 0: the level does not say, each output is
	// what the model's step gives.
	Versions int
	// Bound is t of bounded-staleness, in nanoseconds: a read may be ordered up
	// to that long before its invocation.
	Bound int64
	// Timed says that t is given, if only as 0.
	Timed bool
	// Missing, where not 0, is a bound on what a read may miss: fewer than that
	// many of the writes that precede it in real time, Bound left between, stand
	// behind it in the order; those of its key, or of all keys.
	Missing    int
	MissingAll bool
	// LogVersions, where not 0, is K of cosmos-tla2022: a read may return what its
	// key held after any of the last K prefixes of the writes of all keys.
	LogVersions int
	// Parts are the levels that the level is made of: each has an order of its
	// own. Nil at all other levels.
	Parts []Definition
	// entitled is what each operation of a View is promised, at a level per
	// operation.
	entitled func(v *history.View, i int32) spec.Entitlement
	level    level
	// session is which pairs of a session are ordered.
	session classes
}

// Define returns the definition of a level by its full name, such as
// "linearizable" or "bounded-staleness:k=3,t=100ms".
func Define(name string) (Definition, error) {
	d := Definition{Name: name, session: allClasses}
	if l, ok := plainLevels[name]; ok {
		d.level = l
		d.session = d.sessionClasses()
		return d, nil
	}
	if list, ok := strings.CutPrefix(name, "single-order:"); ok {
		d.level = singleOrder
		err := d.guarantee(list)
		return d, err
	}
	family, list, _ := strings.Cut(name, ":")
	read, ok := boundedLevels[family]
	if !ok {
		return d, fmt.Errorf("level %q has no definition here", name)
	}
	if err := d.bounds(list); err != nil {
		return d, err
	}
	err := read(&d)
	if err == nil && d.level == severalLevels {
		err = d.split()
	}
	return d, err
}

// split gives cosmos-docs its parts: neither bound is forgiven.
func (d *Definition) split() error {
	for _, name := range []string{fmt.Sprintf("prefix-staleness:k=%d", d.Versions+1), "prefix-staleness:t=" + time.Duration(d.Bound).String()} {
		part, err := Define(name)
		if err != nil {
			return err
		}
		d.Parts = append(d.Parts, part)
	}
	d.Versions, d.Bound = 0, 0
	return nil
}

// PerOperation is the definition of a level that promises each operation of a
// View what entitled says:
//
//	session: every pair of a session in which neither is Sessionless
//	real time: before(any, any) of those that are not Untimed, with the call of
//	a read so much earlier as it is Early
func PerOperation(name string, entitled func(v *history.View, i int32) spec.Entitlement) Definition {
	return Definition{Name: name, level: perOperation, session: allClasses, entitled: entitled}
}

// boundedLevels are the levels with the parameters k and t, which bounds has
// read into Versions, Bound and level.
var boundedLevels = map[string]func(d *Definition) error{
	"bounded-staleness": func(d *Definition) error {
		if d.Timed {
			d.session = writeWrite
		}
		return nil
	},
	"k-linearizability": func(d *Definition) error {
		d.Missing, d.Versions, d.session = d.Versions, 0, 0
		return d.exactly(kLinearizable, false)
	},
	"prefix-staleness": func(d *Definition) error {
		d.Missing, d.Versions, d.level = d.Versions, 0, prefixStale
		return nil
	},
	"cosmos-docs": func(d *Definition) error { return d.exactly(severalLevels, true) },
	"cosmos-tla2018": func(d *Definition) error {
		d.Missing, d.MissingAll, d.Versions, d.session = d.Versions+1, true, 0, 0
		return d.exactly(cosmosRegions, false)
	},
	"cosmos-tla2022": func(d *Definition) error {
		d.LogVersions, d.Versions = d.Versions, 0
		return d.exactly(cosmosLog, false)
	},
}

// exactly makes d the level of a family that takes k, and t where timed.
func (d *Definition) exactly(l level, timed bool) error {
	hasK := d.Versions+d.Missing+d.LogVersions > 0
	if !hasK || timed != d.Timed {
		return fmt.Errorf("level %q does not have the parameters of its family", d.Name)
	}
	d.level = l
	return nil
}

// misses counts the writes that x, a read, misses where behind says which
// operations do not stand before it.
func (d Definition) misses(v *history.View, x int32, behind func(w int32) bool) (n int) {
	for w := range int32(v.N) {
		if !v.Read[w] && behind(w) && (d.MissingAll || v.Key[w] == v.Key[x]) && d.old(v, w, x) {
			n++
		}
	}
	return n
}

// old reports whether w returned before x, a read, was invoked; with a bound in
// time, by more than that.
func (d Definition) old(v *history.View, w, x int32) bool {
	if d.Timed {
		return d.beforeBound(v, w, x)
	}
	return before(v, w, x)
}

// Misses reports whether x may not stand where behind says which operations
// come later or never: it is a read and would miss more than the level allows.
func (d Definition) Misses(v *history.View, x int32, behind func(w int32) bool) bool {
	return d.Missing > 0 && v.Read[x] && d.misses(v, x, behind) >= d.Missing
}

// guarantee reads the parameters of single-order.
func (d *Definition) guarantee(list string) error {
	d.session = 0
	for _, name := range strings.Split(list, "+") {
		class, ok := guarantees[name]
		if !ok {
			return fmt.Errorf("level %q: %q is no session guarantee", d.Name, name)
		}
		d.session |= class
	}
	return nil
}

// bounds reads the parameters of a family with bounds.
func (d *Definition) bounds(bounds string) error {
	d.level = staleByVersions
	k, t, both := strings.Cut(bounds, ",")
	if !both && strings.HasPrefix(bounds, "t=") {
		k, t = "", bounds
	}
	if k != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(k, "k="))
		if err != nil || n < 1 || !strings.HasPrefix(k, "k=") {
			return fmt.Errorf("level %q: expected k=N with N at least 1, got %q", d.Name, k)
		}
		d.Versions = n
	}
	if t != "" || both || k == "" {
		span, err := time.ParseDuration(strings.TrimPrefix(t, "t="))
		if err != nil || span < 0 || !strings.HasPrefix(t, "t=") {
			return fmt.Errorf("level %q: expected t=DURATION, such as t=100ms, got %q", d.Name, t)
		}
		d.level, d.Timed, d.Bound = staleByTime, true, int64(span)
	}
	return nil
}

// sessionClasses is which pairs of a session a level without parameters orders.
func (d Definition) sessionClasses() classes {
	switch d.level {
	case prefixSequential:
		return writeWrite
	case prefixLinearizable, timeline, regular, safe:
		return 0
	}
	return allClasses
}

// AsksReads reports whether the level depends on what a read is.
func (d Definition) AsksReads() bool {
	switch d.level {
	case linearizable, sequential, perKeySequential, perOperation: // the last: see usable
		return false
	}
	return true
}

// perKey reports whether the level is a condition on each key alone, so that
// its relation never leads from one key to another.
func (d Definition) perKey() bool {
	switch d.level {
	case perKeySequential, prefixLinearizable, timeline, regular, safe, kLinearizable:
		return true
	}
	return false
}

// usable refuses a View whose model cannot tell reads where the level asks.
func (d Definition) usable(v *history.View) error {
	if v.Read != nil {
		return nil
	}
	for i := range int32(v.N) {
		if d.AsksReads() || d.level == perOperation && d.entitled(v, i).Early > 0 {
			return spec.ErrCannotTell
		}
	}
	return nil
}

// Holds reports whether a must come before b by the level alone: by session or
// by real time. It is the direct relation, not its closure.
func (d Definition) Holds(v *history.View, a, b int32) bool {
	return a != b && (d.inSession(v, a, b) || d.inTime(v, a, b))
}

// Timely reports whether a must come before b by the real-time part alone.
func (d Definition) Timely(v *history.View, a, b int32) bool { return a != b && d.inTime(v, a, b) }

// inSession is the session part of each level:
//
//	linearizable, sequential, ordered-sequential, real-time-writes,
//	regular-sequential, bounded-staleness:k: every pair of a session
//	bounded-staleness:t, prefix-sequential: the pairs in which neither is a read
//	single-order: the pairs of the guarantees
//	per-key-sequential: the pairs of one key
//	prefix-staleness: every pair of a session
//	prefix-linearizable, timeline, regular, safe, k-linearizability,
//	cosmos-tla2018: none
//	cosmos-tla2022: every pair of a session
func (d Definition) inSession(v *history.View, a, b int32) bool {
	switch {
	case d.session == 0:
		return false
	case d.level == perOperation && (d.entitled(v, a).Sessionless || d.entitled(v, b).Sessionless):
		return false
	case d.session == allClasses:
	default:
		if d.session&classOf(v.Read[a], v.Read[b]) == 0 {
			return false
		}
	}
	return session(v, a, b) && (d.level != perKeySequential || v.Key[a] == v.Key[b])
}

// inTime is the real-time part of each level:
//
//	linearizable, bounded-staleness:k: before(any, any)
//	ordered-sequential: before(any, write)
//	real-time-writes: before(write, write)
//	regular-sequential: before(write, write), before(write, read of its key)
//	bounded-staleness:t: before with the calls of reads t earlier
//	prefix-linearizable: before(write, write) of one key
//	timeline: before(any, write) of one key
//	regular, safe: before(any, any) of one key, one of them a write
//	k-linearizability: before(any, write) of one key
//	prefix-staleness: before(any, write); with t alone also before(write, read)
//	with the calls of reads t earlier
//	cosmos-tla2018: before(any, write), before(read, read of its node)
//	cosmos-tla2022: before(any, any)
//	sequential, per-key-sequential, prefix-sequential, single-order: none
func (d Definition) inTime(v *history.View, a, b int32) bool {
	switch d.level {
	case linearizable, staleByVersions, cosmosLog:
		return before(v, a, b)
	case prefixStale:
		return !v.Read[b] && before(v, a, b) || d.Missing == 0 && !v.Read[a] && v.Read[b] && d.beforeBound(v, a, b)
	case cosmosRegions:
		return (!v.Read[b] || v.Read[a] && v.Node[a] == v.Node[b]) && before(v, a, b)
	case orderedSequential:
		return !v.Read[b] && before(v, a, b)
	case realTimeWrites:
		return !v.Read[a] && !v.Read[b] && before(v, a, b)
	case regularSequential:
		return !v.Read[a] && (!v.Read[b] || v.Key[a] == v.Key[b]) && before(v, a, b)
	case perOperation:
		return d.beforeEntitled(v, a, b)
	case staleByTime:
		return d.beforeBound(v, a, b)
	case prefixLinearizable:
		return v.Key[a] == v.Key[b] && !v.Read[a] && !v.Read[b] && before(v, a, b)
	case timeline, kLinearizable:
		return v.Key[a] == v.Key[b] && !v.Read[b] && before(v, a, b)
	case regular, safe:
		return v.Key[a] == v.Key[b] && !(v.Read[a] && v.Read[b]) && before(v, a, b)
	}
	return false
}

// timeless reports that the level knows no real time.
func (d Definition) timeless() bool {
	switch d.level {
	case sequential, perKeySequential, prefixSequential, singleOrder:
		return true
	}
	return false
}

// session: one process, a got an answer, and a comes first by call, return and
// position. An operation without an answer precedes nothing in its session.
func session(v *history.View, a, b int32) bool {
	return v.Process[a] == v.Process[b] && !v.Info[a] && first(v, a, b)
}

func first(v *history.View, a, b int32) bool {
	if v.Call[a] != v.Call[b] {
		return v.Call[a] < v.Call[b]
	}
	if v.Ret[a] != v.Ret[b] {
		return v.Ret[a] < v.Ret[b]
	}
	return a < b
}

// before: a returned before b was invoked.
func before(v *history.View, a, b int32) bool {
	return returned(v, a, b, 0)
}

// beforeBound is before, with the call of a read moved Bound earlier. Where
// lines decide the order they have no durations, so the recorded times must
// grant the bound and the lines the order.
func (d Definition) beforeBound(v *history.View, a, b int32) bool {
	if !v.Read[b] {
		return before(v, a, b)
	}
	if v.Order == history.ByLine {
		return before(v, a, b) && plus(v.Return[a], d.Bound) < v.Invoke[b]
	}
	return returned(v, a, b, d.Bound)
}

// beforeEntitled is before for operations that are timed, each read as early as
// it is promised.
func (d Definition) beforeEntitled(v *history.View, a, b int32) bool {
	of, by := d.entitled(v, a), d.entitled(v, b)
	if of.Untimed || by.Untimed {
		return false
	}
	early, ok := by.EarlyRead(v.Read != nil && v.Read[b])
	if !ok {
		return before(v, a, b)
	}
	d.Bound = int64(early)
	return d.beforeBound(v, a, b)
}

// returned is the comparison of the return of a with the call of b, moved
// earlier by shift. Under TiesPrecede two operations without width at one
// instant stay concurrent; a call that was moved gives its operation a width.
func returned(v *history.View, a, b int32, shift int64) bool {
	if v.Info[a] {
		return false // it never returned
	}
	end := plus(plus(v.Ret[a], clockError(v, a, b)), shift)
	if v.Ties == history.TiesConcurrent || end != v.Call[b] {
		return end < v.Call[b]
	}
	instants := v.Call[a] == v.Ret[a] && v.Call[b] == v.Ret[b] && shift == 0
	return !instants
}

// clockError is how far the clocks behind a's return and b's call may be
// apart. Lines have no clock.
func clockError(v *history.View, a, b int32) int64 {
	if v.Order == history.ByLine {
		return 0
	}
	if v.ClockError.ByNode == nil {
		return v.ClockError.All
	}
	if v.Node[a] == v.Node[b] {
		return 0
	}
	of := func(i int32) int64 { return v.ClockError.ByNode[v.NodeName[v.Node[i]]] }
	return plus(of(a), of(b))
}

// plus adds a span that is not negative, and stays at the greatest number
// where the sum would overflow: no call is as late.
func plus(t, span int64) int64 {
	if t > math.MaxInt64-span {
		return math.MaxInt64
	}
	return t + span
}
