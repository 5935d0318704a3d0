package order

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pinyon/engine/history"
)

// The names of the sources that every history has.
const (
	SessionName  = "session"
	RealTimeName = "real time"
)

// Filter selects operations; nil selects all.
type Filter func(op int32) bool

func (f Filter) has(op int32) bool { return f == nil || f(op) }

// Not inverts a Filter.
func (f Filter) Not() Filter { return func(op int32) bool { return !f(op) } }

// SessionRank returns each operation's position in its process: by call, then
// return, then position in the View.
func SessionRank(v *history.View) []int64 {
	byCall := make([]int32, v.N)
	for i := range byCall {
		byCall[i] = int32(i)
	}
	SortBy(byCall, v.Ret)
	SortBy(byCall, v.Call)
	rank, next := make([]int64, v.N), make([]int64, len(v.ProcessName))
	for _, i := range byCall {
		rank[i] = next[v.Process[i]]
		next[v.Process[i]]++
	}
	return rank
}

// Session orders the operations of one process that pass the filter, as the
// process issued them. An operation without an answer precedes nothing.
func Session(v *history.View, only Filter, perKey bool) Source {
	rank := SessionRank(v)
	c := &Clock{Name: SessionName, Out: make([]int64, v.N), In: make([]int64, v.N), Within: v.Process}
	for i := range rank {
		c.Out[i], c.In[i] = OutNever, InNever
		if only.has(int32(i)) {
			c.In[i] = rank[i]
			if !v.Info[i] {
				c.Out[i] = rank[i]
			}
		}
	}
	if perKey {
		c.Within = product(v.Process, v.Key)
	}
	c.Reason = func(a, b int32) string { return fmt.Sprintf("both by process %s", v.ProcessName[v.Process[a]]) }
	return Source{Relation: c, Name: SessionName, PerKey: perKey}
}

// Span limits and shifts real-time order: From and To select the operations
// that may stand before and after, Early moves the call of an operation back
// by so many nanoseconds (a time bound on staleness), Within keeps pairs of
// one group only.
type Span struct {
	From, To Filter
	Early    func(op int32) (ns int64, moved bool)
	Within   []int32
	PerKey   bool // Within keeps pairs of one key
}

// RealTime orders a before b when a returned before b was invoked, under the
// View's tie rule and clock error (history.Ties, history.ClockError). It is
// one clock, or two where the clock error is given by node: pairs of one node
// are exact.
func RealTime(v *history.View, s Span) []Source {
	if v.ClockError.ByNode == nil || v.Order == history.ByLine {
		return []Source{{Relation: s.clock(v, func(int32) (int64, int64) { return v.ClockError.All, 0 }, s.Within), Name: RealTimeName, PerKey: s.PerKey}}
	}
	byNode := func(i int32) (out, in int64) {
		e := v.ClockError.ByNode[v.NodeName[v.Node[i]]]
		return e, e
	}
	exact := func(int32) (out, in int64) { return 0, 0 }
	within := v.Node
	if s.Within != nil {
		within = product(s.Within, v.Node)
	}
	return []Source{
		{Relation: s.clock(v, byNode, s.Within), Name: RealTimeName, PerKey: s.PerKey},
		// Two clocks together are no interval order, so no level is local with them.
		{Relation: s.clock(v, exact, within), Name: RealTimeName, PerKey: s.PerKey, CrossKey: !s.PerKey},
	}
}

// clock encodes real-time order as one clock.
func (s Span) clock(v *history.View, err func(i int32) (out, in int64), within []int32) *Clock {
	c := &Clock{Name: RealTimeName, Out: make([]int64, v.N), In: make([]int64, v.N), Within: within}
	var early []int64
	if s.Early != nil && v.Order == history.ByLine {
		early = s.earlyLines(v)
	}
	for i := range int32(v.N) {
		out, in := err(i)
		zero := v.Call[i] == v.Ret[i]
		if v.Order == history.ByLine {
			out, in = 0, 0
		} else if s.Early != nil {
			early, _ := s.Early(i)
			in = add(in, early)
			zero = zero && early == 0 // a call moved back gives its operation a width
		}
		c.Out[i], c.In[i] = OutNever, InNever
		if s.From.has(i) && !v.Info[i] {
			c.Out[i] = outStep(v, i, add(v.Ret[i], out))
		}
		if s.To.has(i) {
			c.In[i] = inStep(v, add(v.Call[i], -in), zero)
			if early != nil {
				c.In[i] = min(c.In[i], early[i])
			}
		}
	}
	c.Reason = func(a, b int32) string { return returnedBefore(v, a, b) }
	return c
}

// outStep and inStep put times on the scale of a clock. Four steps per
// nanosecond hold the tie rule: under TiesPrecede, at one instant, the returns
// of operations with a width come first (0), then operations of zero width,
// unordered among themselves (1), then the calls of operations with a width
// (2). Under TiesConcurrent nothing at one instant is ordered.
func outStep(v *history.View, i int32, t int64) int64 {
	if v.Ties == history.TiesPrecede && v.Call[i] == v.Ret[i] {
		return scale(t) + 1
	}
	return scale(t)
}

func inStep(v *history.View, t int64, zero bool) int64 {
	switch {
	case v.Ties == history.TiesConcurrent:
		return scale(t)
	case zero:
		return scale(t) + 1
	}
	return scale(t) + 2
}

// scale multiplies by four without overflow; what lies so far off is as good
// as never.
func scale(t int64) int64 {
	const far = 1<<61 - 8
	return 4 * min(max(t, -far), far)
}

// earlyLines is In for operations that are moved back in time where the order
// of lines is the clock: the step after the last return whose time lies before
// the moved call. Times run forwards there, or the level is refused.
func (s Span) earlyLines(v *history.View) []int64 {
	byReturn := make([]int32, 0, v.N)
	for i := range int32(v.N) {
		if !v.Info[i] {
			byReturn = append(byReturn, i)
		}
	}
	slices.SortStableFunc(byReturn, func(a, b int32) int { return cmp.Compare(v.Return[a], v.Return[b]) })
	last := make([]int64, len(byReturn)) // greatest line among the first k returns
	for k, i := range byReturn {
		last[k] = v.Ret[i]
		if k > 0 {
			last[k] = max(last[k], last[k-1])
		}
	}
	in := make([]int64, v.N)
	for i := range int32(v.N) {
		in[i] = OutNever
		early, moved := s.Early(i)
		if !moved {
			continue
		}
		at := add(v.Invoke[i], -early)
		k, _ := slices.BinarySearchFunc(byReturn, at, func(a int32, t int64) int { return cmp.Compare(v.Return[a], t) })
		if in[i] = InNever; k > 0 {
			in[i] = scale(last[k-1]) + 1
		}
	}
	return in
}

// add adds without overflow.
func add(a, b int64) int64 {
	c := a + b
	if (c > a) != (b > 0) && b != 0 {
		if b > 0 {
			return OutNever
		}
		return InNever
	}
	return c
}

func returnedBefore(v *history.View, a, b int32) string {
	if v.Order == history.ByLine {
		return fmt.Sprintf("event %d, its return, before event %d, the call", v.Ret[a], v.Call[b])
	}
	return fmt.Sprintf("answered at %s, the other invoked at %s", At(v.Return[a]), At(v.Invoke[b]))
}

// At writes a time since the start of the run.
func At(ns int64) string {
	if ns == history.Never {
		return "never"
	}
	return time.Duration(ns).String()
}
