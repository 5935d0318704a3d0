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
	level level
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
	bounds, ok := strings.CutPrefix(name, "bounded-staleness:")
	if !ok {
		return d, fmt.Errorf("level %q has no definition here", name)
	}
	err := d.bounds(bounds)
	return d, err
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

// bounds reads the parameters of bounded-staleness.
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
		d.level, d.Bound, d.session = staleByTime, int64(span), writeWrite
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
	case linearizable, sequential, perKeySequential:
		return false
	}
	return true
}

// perKey reports whether the level is a condition on each key alone, so that
// its relation never leads from one key to another.
func (d Definition) perKey() bool {
	switch d.level {
	case perKeySequential, prefixLinearizable, timeline, regular, safe:
		return true
	}
	return false
}

// usable refuses a View whose model cannot tell reads where the level asks.
func (d Definition) usable(v *history.View) error {
	if d.AsksReads() && v.Read == nil {
		return spec.ErrCannotTell
	}
	return nil
}

// Holds reports whether a must come before b by the level alone: by session or
// by real time. It is the direct relation, not its closure.
func (d Definition) Holds(v *history.View, a, b int32) bool {
	return a != b && (d.inSession(v, a, b) || d.inTime(v, a, b))
}

// inSession is the session part of each level:
//
//	linearizable, sequential, ordered-sequential, real-time-writes,
//	regular-sequential, bounded-staleness:k: every pair of a session
//	bounded-staleness:t, prefix-sequential: the pairs in which neither is a read
//	single-order: the pairs of the guarantees
//	per-key-sequential: the pairs of one key
//	prefix-linearizable, timeline, regular, safe: none
func (d Definition) inSession(v *history.View, a, b int32) bool {
	switch d.session {
	case 0:
		return false
	case allClasses:
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
//	sequential, per-key-sequential, prefix-sequential, single-order: none
func (d Definition) inTime(v *history.View, a, b int32) bool {
	switch d.level {
	case linearizable, staleByVersions:
		return before(v, a, b)
	case orderedSequential:
		return !v.Read[b] && before(v, a, b)
	case realTimeWrites:
		return !v.Read[a] && !v.Read[b] && before(v, a, b)
	case regularSequential:
		return !v.Read[a] && (!v.Read[b] || v.Key[a] == v.Key[b]) && before(v, a, b)
	case staleByTime:
		return d.beforeBound(v, a, b)
	case prefixLinearizable:
		return v.Key[a] == v.Key[b] && !v.Read[a] && !v.Read[b] && before(v, a, b)
	case timeline:
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
