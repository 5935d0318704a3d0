package oracles

import (
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// depsNames are the hints of a dependency graph in which each replica numbers
// its own instances (order.Dependencies).
type depsNames struct{ replica, inst, deps, seq string }

// order adds the order of the graph's strongly connected components.
func (d *depsNames) order(name string, allKeys bool) func(*history.View, *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		h := order.DependencyHints{Has: make([]bool, v.N), Replica: make([]int32, v.N), Inst: make([]int64, v.N),
			Seq: make([]int64, v.N), Known: make([][]int64, v.N), Within: v.Key}
		if allKeys {
			h.Within = nil
		}
		lacking := 0
		for i := range int32(v.N) {
			replica, ok := v.Hints[d.replica].Int(i)
			inst, has := v.Hints[d.inst].Int(i)
			known, knows := v.Hints[d.deps].List(i)
			seq, ranked := v.Hints[d.seq].Int(i)
			if !ok || !has || !knows || !ranked || replica < 0 || replica >= order.MaxReplicas {
				lacking++
				continue
			}
			h.Has[i], h.Replica[i], h.Inst[i], h.Known[i], h.Seq[i] = true, int32(replica), inst, known, seq
		}
		if lacking > 0 {
			r.Notice("%d of %d operations lack %s and are unordered", lacking, v.N, strings.Join([]string{d.replica, d.inst, d.deps, d.seq}, ", "))
		}
		r.AddHard(name, order.NewDependencies(v, h))
		return nil
	}
}
