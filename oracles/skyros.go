package oracles

import (
	"fmt"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// skyros: what is durable on a supermajority is ordered later.
func skyros() builtin {
	const doc = `Skyros: by view, durability log and consensus log
Hard, per key: a lower view comes first. In one view: of two writes, the one with
the lower DIdx both at the leader and at a supermajority of the replicas (f +
ceil(f/2) + 1 of 2f + 1) that hold it; a write comes before a read whose CIdx is at
least its DIdx at the leader; of two reads, the one with the lower CIdx. DIdx is -1
at a replica that does not hold the write. Soft: DIdx at the leader alone.`
	return native("skyros", doc, false, []string{"view", "leader", "DIdx", "CIdx"}, skyrosOrder)
}

func skyrosOrder(v *history.View, r *order.Rules) error {
	if v.Read == nil {
		return ErrCannotTell
	}
	view, done, log := v.Hints["view"].Int, v.Hints["CIdx"].Int, v.Hints["DIdx"]
	write := func(i int32) bool { return !v.Read[i] }
	read := func(i int32) bool { return v.Read[i] }
	leader := func(i int32) (int64, bool) { l, ok := v.Hints["leader"].Int(i); return l, ok }
	atLeader := func(i int32) (int64, bool) {
		l, ok := leader(i)
		n, has := log.At(i, l)
		return n, ok && has
	}
	views := numbered(v, view)
	r.AddHard("view", lower(v, view, view))
	writes := lower(v, where(write, atLeader), where(write, atLeader))
	writes.Within = numbered(v, view, leader)
	for _, durable := range supermajority(v, log, writes) {
		r.AddHard("durable", durable)
	}
	seen := atMost(v, where(write, atLeader), where(read, done))
	seen.Within = views
	r.AddHard("write-read", seen)
	reads := lower(v, where(read, done), where(read, done))
	reads.Within = views
	r.AddHard("read-read", reads)
	soft := lower(v, where(write, atLeader), where(write, atLeader))
	soft.Within = views
	r.AddSoft("leader", soft)
	return nil
}

// maxLengths is how many lengths of arrays get a relation each.
const maxLengths = 4

// supermajority is the relation "must, and a lower element of the array, which a
// has and which is not negative, at a supermajority of a's". How many that are
// depends on the length of a's array, and elements that b lacks are not lower; so
// there is one dominance for each length, of which there is one in a history of
// one store. A history with very many lengths, which no store returns, goes by pairs.
func supermajority(v *history.View, array *history.Column, must *order.Clock) []order.Relation {
	var clocks []*order.Clock
	for k := range longest(v, array) {
		held := func(i int32) (int64, bool) { n, ok := array.At(i, int64(k)); return n, ok && n >= 0 }
		clocks = append(clocks, lower(v, held, func(i int32) (int64, bool) { return array.At(i, int64(k)) }))
	}
	reason := func(a, b int32) string {
		list, _ := array.List(a)
		n := 0
		for _, c := range clocks {
			if c.Precedes(a, b) {
				n++
			}
		}
		return fmt.Sprintf("lower DIdx at the leader, %s, and at %d of %d replicas", must.Why(a, b), n, len(list))
	}
	lengths := lengthsOf(v, array)
	if len(lengths) > maxLengths {
		return []order.Relation{&order.Pair{Reason: reason, Before: func(a, b int32) bool {
			list, _ := array.List(a)
			d := &order.Dominance{Must: []*order.Clock{must}, Clocks: clocks[:len(list)], AtLeast: enough(len(list))}
			return len(list) > 0 && d.Precedes(a, b)
		}}}
	}
	var all []order.Relation
	for _, m := range lengths {
		all = append(all, &order.Dominance{Must: []*order.Clock{ofLength(v, must, array, m)}, Clocks: clocks[:m], AtLeast: enough(m), Reason: reason})
	}
	return all
}

// enough is a supermajority of m = 2f + 1 replicas.
func enough(m int) int {
	f := (m - 1) / 2
	return f + (f+1)/2 + 1
}

// ofLength is the clock, where the array of the first operation has m elements.
func ofLength(v *history.View, must *order.Clock, array *history.Column, m int) *order.Clock {
	c := &order.Clock{Name: must.Name, Out: slices.Clone(must.Out), In: must.In, Within: must.Within, Reason: must.Reason}
	for i := range int32(v.N) {
		if list, ok := array.List(i); !ok || len(list) != m {
			c.Out[i] = order.OutNever
		}
	}
	return c
}
