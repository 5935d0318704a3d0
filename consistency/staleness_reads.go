package consistency

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// Sight says whether the age of an operation was measured.
type Sight uint8

const (
	NoRead     Sight = iota // an update, or of a key that was not asked for
	Measured                // an answered read of something that had been written
	Unwritten               // it saw what nobody had begun to write when it returned
	Unsettled               // it may have seen an update that does not say what it leaves
	Unnamed                 // its answer was not recorded, or says only what it did not see
	Unanswered              // a read without an answer
)

// Age is how stale a read certainly was. Zero Versions: not stale at all.
type Age struct {
	Sight    Sight
	Versions int32 // writes that certainly came after what it saw and before it
	Time     int64 // ns since the first of them had certainly returned; 0 where the history is not timed
}

// ReadAges measures every read of a register-like history on its own, by
// real-time order within its key: a before b when a returned before b was
// invoked, by the clock, the tie rule and the clock error of the history.
//
// The candidates of a read are the updates of its key that leave what it saw
// and do not come after it, and the initial value where it is that. A write w'
// overwrites a candidate w before the read x when w comes before w' and w'
// before x; every answered write of the key comes after the initial value. An
// update without an answer never overwrites, since nothing comes after it, and
// nor does one that may have been refused. The number of such w' is the age of
// w in versions, and x.invoke - w'.return, less the clock error, at the
// earliest of them its age in time. The age of the read is the least over its
// candidates; it is stale where that is positive in versions.
//
// So ages are lower bounds, and no fresh read is called stale: one order of the
// updates and this read that obeys real time puts some candidate w last before
// x (Herlihy and Wing, "Linearizability", 1990), and then no w' lies between.
// For the same reason
//
//   - a linearizable history has no stale read;
//   - bounded-staleness:k=K allows only ages of at most K-1 versions, since all
//     w' stand between w and x (Aiyer, Alvisi, Bazzi, 2005: k-atomicity);
//   - bounded-staleness:t=T allows only ages of at most T in time, and of less
//     than T with ties precede: otherwise w' comes before x even where x is
//     moved back by T (Golab, Li, Shah, "Analyzing Consistency Properties for
//     Fun and Profit", PODC 2011: Delta-atomicity, of which the greatest age is
//     the part that one read shows).
//
// The converses fail: reads that contradict each other, or updates that
// contradict reads, make a history impossible without a stale read.
//
// Where the clock error is given by node it counts for pairs of one node too,
// which makes ages smaller, never greater. Time O(n log n).
func ReadAges(ctx context.Context, s *spec.Subject, o Options) (ages []Age, err error) {
	defer func() {
		if r := recover(); r != nil {
			ages, err = nil, panicError(s, r)
		}
	}()
	v := s.View
	only := -1
	if o.HasOnlyKey {
		if only = slices.Index(v.KeyName, o.OnlyKey); only < 0 {
			return nil, fmt.Errorf("no operation has the key %q", o.OnlyKey)
		}
	}
	if v.Read == nil {
		return nil, spec.ErrCannotTell
	}
	m := s.Machine(ctx, v, false)
	tokens, ok := m.(spec.Tokens)
	if !ok {
		return nil, ErrNoSight
	}
	clock := order.RealTime(v, order.Span{})[0].Relation.(*order.Clock) // the first holds for all pairs
	r := &readAges{v: v, tokens: tokens, begin: clock.In, end: clock.Out, ages: make([]Age, v.N)}
	for key, ops := range v.Keys() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if only < 0 || key == only {
			r.key(ops, tokens.Held(m.Init(int32(key))))
		}
	}
	return r.ages, nil
}

// readAges measures key by key. An operation a comes before b when
// end[a] < begin[b].
type readAges struct {
	v          *history.View
	tokens     spec.Tokens
	begin, end []int64
	ages       []Age
}

// span is an update on the clock.
type span struct {
	token      int32 // what it leaves
	begin, end int64
}

// key measures the reads among ops, which are those of one key that held the
// token initial at first.
func (r *readAges) key(ops []int32, initial int32) {
	k := r.updates(ops)
	var stale []question
	for _, x := range ops {
		saw, ok := r.sees(x)
		if !ok {
			continue
		}
		after, found := k.latest(saw, r.end[x], saw == initial)
		first := int64(math.MaxInt64)
		if found {
			first = k.overwritten(after)
		}
		switch fresh := found && first >= r.begin[x]; {
		case fresh:
			r.ages[x] = Age{Sight: Measured}
		case k.unnamed <= r.end[x]:
			r.ages[x] = Age{Sight: Unsettled}
		case !found:
			r.ages[x] = Age{Sight: Unwritten}
		default:
			r.ages[x] = Age{Sight: Measured, Time: r.time(first, x)}
			stale = append(stale, question{x, after, r.begin[x]})
		}
	}
	for i, n := range k.count(stale) {
		r.ages[stale[i].read].Versions = n
	}
}

// time is the age in ns of a read of what an update that ended at end, on the
// clock of four steps to the nanosecond, overwrote.
func (r *readAges) time(end int64, x int32) int64 {
	if !timed(r.v) {
		return 0
	}
	return (r.begin[x] - end) >> 2
}

// sees returns the token that an answered read saw; for any other operation it
// notes what it is.
func (r *readAges) sees(x int32) (token int32, ok bool) {
	switch {
	case r.v.Idle != nil && r.v.Idle[x]:
		r.ages[x].Sight = Unanswered
	case r.v.Read[x]:
		if token = r.tokens.Demand(x); token >= 0 {
			return token, true
		}
		r.ages[x].Sight = Unnamed
	}
	return -1, false
}

// keyUpdates are the updates of one key.
type keyUpdates struct {
	// writers are those that say what they leave, by token and then begin; ends
	// is the greatest end among those of its token so far.
	writers []span
	ends    []int64
	// sure are those that had an effect if they were answered (else they have no
	// end), by begin; earliest is the least end from there on.
	sure     []span
	earliest []int64
	unnamed  int64 // the first begin of one that does not say what it leaves
}

// updates sorts the updates among ops.
func (r *readAges) updates(ops []int32) *keyUpdates {
	k := &keyUpdates{unnamed: math.MaxInt64}
	for _, x := range ops {
		if r.v.Read[x] || r.v.Idle != nil && r.v.Idle[x] {
			continue
		}
		w := span{r.tokens.Write(x), r.begin[x], r.end[x]}
		if w.token < 0 {
			k.unnamed = min(k.unnamed, w.begin)
			continue
		}
		k.writers = append(k.writers, w)
		refusable := r.tokens.Want(x) >= 0 && r.tokens.Demand(x) < 0 // it asks for a value and does not say that it met it
		if !refusable {
			k.sure = append(k.sure, w)
		}
	}
	slices.SortFunc(k.writers, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	k.ends = make([]int64, len(k.writers))
	for i, w := range k.writers {
		k.ends[i] = w.end
		if i > 0 && k.writers[i-1].token == w.token {
			k.ends[i] = max(w.end, k.ends[i-1])
		}
	}
	slices.SortFunc(k.sure, func(a, b span) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end)) })
	k.earliest = make([]int64, len(k.sure))
	for i := len(k.sure) - 1; i >= 0; i-- {
		k.earliest[i] = k.sure[i].end
		if i+1 < len(k.sure) {
			k.earliest[i] = min(k.earliest[i], k.earliest[i+1])
		}
	}
	return k
}

// latest returns the end of the least stale candidate of a read that saw token
// and ended at end: what begins after the latest end of all candidates begins
// after each, so that one has the least age in time and in versions at once.
func (k *keyUpdates) latest(token int32, end int64, initially bool) (after int64, found bool) {
	i, _ := slices.BinarySearchFunc(k.writers, end, func(w span, end int64) int {
		if w.token < token || w.token == token && w.begin <= end {
			return -1
		}
		return 1
	})
	if i > 0 && k.writers[i-1].token == token {
		return k.ends[i-1], true
	}
	return math.MinInt64, initially
}

// overwritten is the earliest end of an update that begins after the given
// instant; MaxInt64 where there is none.
func (k *keyUpdates) overwritten(after int64) int64 {
	if i := k.late(after); i < len(k.sure) {
		return k.earliest[i]
	}
	return math.MaxInt64
}

// late is the first of sure that begins after the given instant.
func (k *keyUpdates) late(after int64) int {
	i, _ := slices.BinarySearchFunc(k.sure, after, func(w span, after int64) int {
		if w.begin <= after {
			return -1
		}
		return 1
	})
	return i
}

// question asks how many updates lie between two instants: begin after the
// first and end before the second.
type question struct {
	read          int32
	after, before int64
}

// count answers questions by a sweep: updates enter in the order of their ends,
// and a tree of sums by begin (Fenwick, "A New Data Structure for Cumulative
// Frequency Tables", 1994) tells how many of those entered begin late enough.
func (k *keyUpdates) count(questions []question) []int32 {
	if len(questions) == 0 {
		return nil
	}
	asked, entering := make([]int, len(questions)), make([]int, len(k.sure))
	for i := range asked {
		asked[i] = i
	}
	for i := range entering {
		entering[i] = i
	}
	slices.SortFunc(asked, func(a, b int) int { return cmp.Compare(questions[a].before, questions[b].before) })
	slices.SortFunc(entering, func(a, b int) int { return cmp.Compare(k.sure[a].end, k.sure[b].end) })
	sums := make(fenwick, len(k.sure)+1)
	counts, entered := make([]int32, len(questions)), 0
	for _, i := range asked {
		q := questions[i]
		for ; entered < len(entering) && k.sure[entering[entered]].end < q.before; entered++ {
			sums.add(entering[entered])
		}
		counts[i] = int32(entered) - sums.below(k.late(q.after))
	}
	return counts
}

// fenwick is a tree of sums over 0..len-2.
type fenwick []int32

func (f fenwick) add(i int) {
	for i++; i < len(f); i += i & -i {
		f[i]++
	}
}

// below is the sum over 0..n-1.
func (f fenwick) below(n int) (sum int32) {
	for ; n > 0; n -= n & -n {
		sum += f[n]
	}
	return sum
}
