package oracles

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// staleness says how far a read may lag, in the store's own log: a write knows
// its entry, a read the last entry that its replica had applied. A read that
// misses more than entries of the entries acknowledged more than time before it
// was invoked is a finding. Nothing sees the future: what returned before a
// write was invoked comes before the write.
type staleness struct {
	write, read string
	entries     int64
	time        time.Duration
}

// order decides it in O(n log n).
func (s *staleness) order(allKeys bool) func(*history.View, *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		if v.Read == nil {
			return ErrCannotTell
		}
		if v.Untimed && s.time > 0 {
			return &history.Error{Msg: "the oracle has a bound in time, and some events of the history have no time"}
		}
		write := func(i int32) bool { return !v.Read[i] }
		read := func(i int32) bool { return v.Read[i] }
		into, seen := order.Span{To: write}, order.Span{From: write, To: read}
		seen.Early = func(i int32) (int64, bool) { return int64(s.time), v.Read[i] }
		if s.time == 0 {
			seen.Early = nil
		}
		if !allKeys {
			into.Within, seen.Within = v.Key, v.Key
		}
		for _, source := range order.RealTime(v, into) {
			r.AddHard(order.RealTimeName, source.Relation)
		}
		last := make([]int32, v.N) // the write of the greatest entry that a read must know, -1: none
		for i := range last {
			last[i] = -1
		}
		for _, source := range order.RealTime(v, seen) {
			s.latest(v, source.Relation.(*order.Clock), last)
		}
		for i, w := range last {
			s.judge(v, r, int32(i), w)
		}
		return nil
	}
}

// latest raises the last write of each read by those that precede it on a clock.
func (s *staleness) latest(v *history.View, c *order.Clock, last []int32) {
	type row struct {
		writes []int32 // by Out
		best   []int32 // of the writes so far, the one of the greatest entry
	}
	entry := func(i int32) int64 { n, _ := v.Hints[s.write].Int(i); return n }
	within := func(i int32) int32 {
		if c.Within == nil {
			return 0
		}
		return c.Within[i]
	}
	rows := map[int32]*row{}
	for i := range int32(v.N) {
		if _, ok := v.Hints[s.write].Int(i); !ok || v.Read[i] || v.Info[i] || within(i) < 0 {
			continue
		}
		if rows[within(i)] == nil {
			rows[within(i)] = &row{}
		}
		at := rows[within(i)]
		at.writes = append(at.writes, i)
	}
	for _, at := range rows {
		slices.SortStableFunc(at.writes, func(a, b int32) int { return cmp.Compare(c.Out[a], c.Out[b]) })
		for k, w := range at.writes {
			if k > 0 && entry(at.best[k-1]) >= entry(w) {
				w = at.best[k-1]
			}
			at.best = append(at.best, w)
		}
	}
	for i := range int32(v.N) {
		at := rows[within(i)]
		if !v.Read[i] || at == nil {
			continue
		}
		k := sort.Search(len(at.writes), func(k int) bool { return c.Out[at.writes[k]] >= c.In[i] })
		if k > 0 && (last[i] < 0 || entry(at.best[k-1]) > entry(last[i])) {
			last[i] = at.best[k-1]
		}
	}
}

// judge adds a finding where read i lags too far behind write w.
func (s *staleness) judge(v *history.View, r *order.Rules, i, w int32) {
	applied, ok := v.Hints[s.read].Int(i)
	if !ok || w < 0 {
		return
	}
	entry, _ := v.Hints[s.write].Int(w)
	if applied >= entry || uint64(entry)-uint64(applied) <= uint64(s.entries) {
		return
	}
	r.AddFinding(fmt.Sprintf("the read knew the log up to %s %d, %d entries behind %s %d, which was acknowledged more than %v before it was invoked; at most %d may be missing",
		s.read, applied, uint64(entry)-uint64(applied), s.write, entry, s.time, s.entries), w, i)
}

// appliedName is what the names of the oracle begin with.
const appliedName = "applied-staleness"

func applied() builtin {
	const doc = `Bounded staleness: by how far the log that a read knew lags behind
Hard, over all keys of one log: writes follow their index, reads their applied, and
a write comes before a read that had applied it; what returned before a write was
invoked comes before the write. With the bounds k and t
(applied-staleness:k=3,t=100ms) a read is a finding that misses more than k of the
entries that were acknowledged more than t before it was invoked; without them k and
t are 0. Two acknowledged writes with one index are a finding. To be used with the
level prefix-linearizable, which lets reads lag without bound.`
	o, err := appliedStaleness(appliedName)
	if err != nil {
		panic(err) // the name alone has no bounds that could be wrong
	}
	return builtin{Info{appliedName, doc, []string{"index", "applied"}}, o}
}

// appliedStaleness is the oracle with its bounds: "applied-staleness", or with
// ":k=3", ":t=100ms" or ":k=3,t=100ms"; what is not named is 0.
func appliedStaleness(name string) (order.Oracle, error) {
	s := &staleness{write: "index", read: "applied"}
	_, text, _ := strings.Cut(name, ":")
	for _, p := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(p, "=")
		var err error
		switch {
		case text == "":
		case key == "k":
			s.entries, err = strconv.ParseInt(value, 10, 64)
		case key == "t":
			s.time, err = time.ParseDuration(value)
		default:
			err = fmt.Errorf("no bound is called %q", key)
		}
		if err != nil || s.entries < 0 || s.time < 0 {
			return order.Oracle{}, fmt.Errorf("the oracle %q: bounds are k (entries of the log) and t (a time), such as %s:k=3,t=100ms", name, appliedName)
		}
	}
	steps := steps(numberLine("index", "applied"), unique(true, "index"), s.order(true))
	return order.Oracle{Name: name, AllKeys: true, Order: steps, Text: name}, nil
}
