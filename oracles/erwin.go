package oracles

import (
	"fmt"
	"math"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// erwin: a shared log whose tail is ordered late, from what every sequencer saw.
func erwin() builtin {
	const doc = `Erwin (LazyLog): by view and the indexes of the sequencers
Hard, per key: an append of a lower view comes first; in one view, one with a lower
seqIdx at every sequencer; an append comes before a read whose idx is at least its
seqIdx at every sequencer. Soft: by the first sequencer, the leader, alone.`
	return native("erwin", doc, false, []string{"view", "seqIdx", "idx"}, erwinOrder)
}

func erwinOrder(v *history.View, r *order.Rules) error {
	if v.Read == nil {
		return ErrCannotTell
	}
	view, idx := v.Hints["view"].Int, v.Hints["idx"].Int
	write := func(i int32) bool { return !v.Read[i] }
	read := func(i int32) bool { return v.Read[i] }
	any := func(n int64) side { return func(int32) (int64, bool) { return n, true } }
	r.AddHard("view", lower(v, where(write, view), where(write, view)))
	seq := v.Hints["seqIdx"]
	each := func(clock func(k int64) *order.Clock) []*order.Clock {
		var clocks []*order.Clock
		for k := range longest(v, seq) {
			clocks = append(clocks, clock(int64(k)))
		}
		return clocks
	}
	at := func(k int64) side { return func(i int32) (int64, bool) { return seq.At(i, k) } }
	sameView := lower(v, where(write, any(0)), where(write, any(1)))
	sameView.Within = numbered(v, view)
	addEach(r, v, seq, "every-sequencer", "seqIdx", []*order.Clock{sameView},
		each(func(k int64) *order.Clock { return lower(v, at(k), at(k)) }))
	addEach(r, v, seq, "append-seen", "idx", []*order.Clock{lower(v, where(write, any(0)), where(read, any(1)))},
		each(func(k int64) *order.Clock { return atMost(v, at(k), idx) }))
	leader := at(0)
	r.AddSoft("leader-writes", lower(v, where(write, leader), where(write, leader)))
	r.AddSoft("leader-seen", atMost(v, where(write, leader), where(read, idx)))
	r.AddSoft("leader-unseen", lower(v, where(read, idx), where(write, leader)))
	return nil
}

// addEach adds the relation "all of must and, for every element k of the array
// that a holds, clock k", where b's side is the hint other. Beyond the end of a's
// array everything holds.
func addEach(r *order.Rules, v *history.View, array *history.Column, name, other string, must, clocks []*order.Clock) {
	if len(clocks) == 0 { // nobody has an array
		return
	}
	for k, c := range clocks {
		for i := range int32(v.N) {
			if list, ok := array.List(i); ok && len(list) > 0 && len(list) <= k {
				c.Out[i] = math.MinInt64
			}
			if c.In[i] == order.InNever {
				c.In[i] = math.MinInt64 + 1 // after what holds anyway, and nothing else
			}
		}
	}
	r.AddHard(name, &order.Dominance{Must: must, Clocks: clocks,
		Reason: func(a, b int32) string {
			x, _ := array.Text(a)
			y, _ := v.Hints[other].Text(b)
			return fmt.Sprintf("%s %s before %s %s at every sequencer", array.Name, x, other, y)
		}})
}
