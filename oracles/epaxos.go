package oracles

import (
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

var epaxosHints = depsNames{"replica", "inst", "deps", "seq"}

// epaxos: the order in which it executes.
func epaxos() builtin {
	const doc = `EPaxos: by strongly connected components of the dependency graph
Hard, per key: b depends on a when a.inst <= b.deps[a.replica]. Components of the
graph come in the order of their dependencies; within one, lower seq comes first,
and equal seq leaves operations unordered. Where an operation may depend on one
without hints, only what has a greater seq follows it. In O(n log n).`
	return native("epaxos", doc, false, []string{"replica", "inst", "deps", "seq"}, epaxosHints.order("", false))
}

// epaxosRevisited is epaxos, with the time at which a replica first saw the
// operation as a first guess.
func epaxosRevisited() builtin {
	const doc = `EPaxos revisited: as EPaxos, and timestamps for what to try first
Hard, per key: as the oracle epaxos. Soft: a.timestamp < b.timestamp.`
	return native("epaxos-revisited", doc, false, []string{"replica", "inst", "deps", "seq", "timestamp"},
		epaxosHints.order("deps", false), byTimestamp)
}

// byTimestamp is the soft order of epaxosRevisited.
func byTimestamp(v *history.View, r *order.Rules) error {
	c := &order.Clock{Name: "timestamp", Out: make([]int64, v.N), In: make([]int64, v.N)}
	lacking := 0
	for i := range int32(v.N) {
		t, ok := v.Hints["timestamp"].Int(i)
		if c.Out[i], c.In[i] = t, t; !ok {
			c.Out[i], c.In[i] = order.OutNever, order.InNever
			lacking++
		}
	}
	if lacking > 0 {
		r.Notice("%d of %d operations lack what rule soft 1 asks for", lacking, v.N)
	}
	c.Reason = func(a, b int32) string {
		return fmt.Sprintf("a.timestamp < b.timestamp: %d < %d", c.Out[a], c.In[b])
	}
	r.AddSoft("soft 1", c)
	return nil
}

// epaxosPairs is the pair rule that was published for EPaxos. It accuses
// correct runs: three operations of which each depends on the next form one
// component, which the protocol orders by seq, and the rule in a circle.
func epaxosPairs() builtin {
	const doc = `EPaxos by pairs: the published rule, which accuses correct stores
Hard, per key: where b depends on a and a does not depend on b, a comes first;
where each depends on the other, lower seq comes first. Three operations that each
depend on the next, one way, are ordered in a circle. Kept to compare; use epaxos.`
	return native("epaxos-pairs", doc, false, []string{"replica", "inst", "deps", "seq"}, epaxosByPairs)
}

func epaxosByPairs(v *history.View, r *order.Rules) error {
	depends := func(b, a int32) (yes, known bool) { // b on a
		inst, ok := v.Hints["inst"].Int(a)
		replica, has := v.Hints["replica"].Int(a)
		last, knows := v.Hints["deps"].At(b, replica)
		return inst <= last, ok && has && knows
	}
	oneWay := &order.Pair{Before: func(a, b int32) bool {
		on, known := depends(b, a)
		back, knows := depends(a, b)
		return known && on && knows && !back
	}, Reason: func(a, b int32) string { return "it depends on it, one way" }}
	bothWays := &order.Pair{Before: func(a, b int32) bool {
		on, known := depends(b, a)
		back, knows := depends(a, b)
		x, ok := v.Hints["seq"].Int(a)
		y, has := v.Hints["seq"].Int(b)
		return known && on && knows && back && ok && has && x < y
	}, Reason: func(a, b int32) string {
		x, _ := v.Hints["seq"].Int(a)
		y, _ := v.Hints["seq"].Int(b)
		return fmt.Sprintf("each depends on the other, seq %d < %d", x, y)
	}}
	r.AddHard("one-way", oneWay)
	r.AddHard("both-ways", bothWays)
	return nil
}
