package consistency

import (
	"fmt"
	"slices"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/history/suggest"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// guarantees are the session guarantees under a single order: each keeps one
// class of session edges.
var guarantees = []struct {
	name             string
	fromRead, toRead bool
}{
	{"read-your-writes", false, true},
	{"monotonic-reads", true, true},
	{"monotonic-writes", false, false},
	{"writes-follow-reads", true, false},
}

// parseGuarantees reads "a+b" into the places of guarantees, ascending.
func parseGuarantees(text string) (chosen []int, err error) {
	var names []string
	for _, g := range guarantees {
		names = append(names, g.name)
	}
	for _, word := range strings.Split(text, "+") {
		i := slices.Index(names, word)
		switch {
		case i < 0 && suggest.Closest(word, names) != "":
			return nil, fmt.Errorf("unknown guarantee %q; did you mean %q?", word, suggest.Closest(word, names))
		case i < 0:
			return nil, fmt.Errorf("unknown guarantee %q; there are %s", word, strings.Join(names, ", "))
		case slices.Contains(chosen, i):
			return nil, fmt.Errorf("%s stands twice", word)
		}
		chosen = append(chosen, i)
	}
	slices.Sort(chosen)
	return chosen, nil
}

// orderGuarantees keeps the session edges of the chosen classes. A session is
// one clock only as a whole; a class of its edges is a clock that hides the
// other kind's In or Out.
func orderGuarantees(chosen []int) func(v *history.View, r *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		if err := asks(v); err != nil {
			return err
		}
		for _, g := range chosen {
			addAll(r, sessionClass(v, guarantees[g].fromRead, guarantees[g].toRead))
		}
		return nil
	}
}

func sessionClass(v *history.View, fromRead, toRead bool) order.Source {
	s := order.Session(v, nil, false)
	c := s.Relation.(*order.Clock)
	for i := range v.N {
		if v.Read[i] != fromRead {
			c.Out[i] = order.OutNever
		}
		if v.Read[i] != toRead {
			c.In[i] = order.InNever
		}
	}
	return s
}

func orderSessionWrites(v *history.View, r *order.Rules) error {
	return orderGuarantees([]int{2})(v, r)
}

func orderPrefix(v *history.View, r *order.Rules) error {
	if err := asks(v); err != nil {
		return err
	}
	addAll(r, order.RealTime(v, order.Span{From: writes(v), To: writes(v), Within: v.Key, PerKey: true})...)
	return nil
}

func orderTimeline(v *history.View, r *order.Rules) error {
	if err := asks(v); err != nil {
		return err
	}
	addAll(r, order.RealTime(v, order.Span{To: writes(v), Within: v.Key, PerKey: true})...)
	return nil
}

func orderRegularRegister(v *history.View, r *order.Rules) error {
	if err := asks(v); err != nil {
		return err
	}
	addAll(r, order.RealTime(v, order.Span{From: writes(v), Within: v.Key, PerKey: true})...)
	addAll(r, order.RealTime(v, order.Span{From: reads(v), To: writes(v), Within: v.Key, PerKey: true})...)
	return nil
}

// freeReads lets the reads that overlap a write return anything.
type freeReads struct {
	spec.Machine
	free []bool
}

func (f *freeReads) Step(state, op int32) (int32, bool) {
	if f.free[op] {
		return state, true
	}
	return f.Machine.Step(state, op)
}

// overlapping finds the reads that overlap a write of their key: those for
// which some write is neither before nor after them in real time.
func overlapping(v *history.View) []bool {
	free := make([]bool, v.N)
	sources := order.RealTime(v, order.Span{})
	for _, ops := range v.Keys() {
		var writes []int32
		for _, x := range ops {
			if !v.Read[x] && (v.Idle == nil || !v.Idle[x]) { // an unanswered read writes nothing
				writes = append(writes, x)
			}
		}
		count := countApart(sources, writes)
		for _, x := range ops {
			free[x] = v.Read[x] && count(x) < len(writes)
		}
	}
	return free
}

// countApart returns a function that counts the writes before or after a read.
// On one clock that is two look-ups in sorted numbers; where clock error by
// node makes it two clocks, every pair is asked.
func countApart(sources []order.Source, writes []int32) func(read int32) int {
	if len(sources) > 1 {
		return func(read int32) (n int) {
			for _, w := range writes {
				if slices.ContainsFunc(sources, func(s order.Source) bool { return s.Precedes(w, read) || s.Precedes(read, w) }) {
					n++
				}
			}
			return n
		}
	}
	c := sources[0].Relation.(*order.Clock)
	var outs, ins []int64
	for _, w := range writes {
		outs, ins = append(outs, c.Out[w]), append(ins, c.In[w])
	}
	slices.Sort(outs)
	slices.Sort(ins)
	return func(read int32) int {
		before, _ := slices.BinarySearch(outs, c.In[read])
		upTo, _ := slices.BinarySearch(ins, c.Out[read]+1)
		return before + len(ins) - upTo
	}
}
