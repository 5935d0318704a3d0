package oracles

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// holiPaxos: one log of consensus instances decides all.
func holiPaxos() builtin {
	const doc = `HoliPaxos: by the consensus instance that decided the operation
Hard, per key: a.instance < b.instance orders a before b. An operation that was
decided in two instances was applied twice, and its answer names one of them. The
ballot says which leader proposed it; no rule uses it, and reports show it.`
	return native("holipaxos", doc, false, []string{"instance"}, tupleLine(false, "instance"))
}

// raft: the log, by term and index.
func raft() builtin {
	const doc = `Raft: by the term and the index of the log
Hard, over all keys of one log: a lower term comes first, and in one term a lower
index; of equal ones, a write (whose entry it is) comes before a read. A write's
hints are those of its entry, a read's those of the last entry that its server had
applied (not the term that the server is in).
Two acknowledged writes with one index are a finding.`
	return native("raft", doc, true, []string{"term", "index"}, tupleLine(true, "term", "index"), unique(true, "index"))
}

// gryff: carstamps, which totally order what happened to a register.
func gryff() builtin {
	const doc = `Gryff-RSC: by carstamp [ts, id, rmw]
Hard, per key: a lower carstamp comes first, compared element by element; of equal
ones, a write (which made the value) comes before a read (which returned it). To be
used with the level regular-sequential, which is what Gryff-RSC promises.
Two acknowledged writes with one carstamp are a finding.`
	return native("gryff", doc, false, []string{"carstamp"}, tupleLine(true, "carstamp"), unique(false, "carstamp"))
}

// tupleLine orders operations by several integers, lexicographically; a hint may
// be an array of them. Of equal ones a write comes before a read where ties.
func tupleLine(ties bool, names ...string) func(*history.View, *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		if v.Read == nil && ties {
			return ErrCannotTell
		}
		tuples := make([][][]int64, v.N)
		var placed []int32
		for i := range int32(v.N) {
			tuples[i] = tuple(v, i, names)
			if tuples[i] != nil {
				placed = append(placed, i)
			}
		}
		if missing := v.N - len(placed); missing > 0 {
			r.Notice("%d of %d operations lack %s and are unordered", missing, v.N, strings.Join(names, " or "))
		}
		compare := func(a, b int32) int { return slices.CompareFunc(tuples[a], tuples[b], slices.Compare[[]int64]) }
		slices.SortFunc(placed, func(a, b int32) int { return cmp.Or(compare(a, b), cmp.Compare(a, b)) })
		c := &order.Clock{Name: names[0], Out: slices.Repeat([]int64{order.OutNever}, v.N), In: slices.Repeat([]int64{order.InNever}, v.N)}
		rank := int64(0)
		for k, i := range placed {
			if k > 0 && compare(placed[k-1], i) != 0 {
				rank += 2
			}
			c.Out[i] = rank
			if ties && v.Read[i] {
				c.Out[i]++
			}
			c.In[i] = c.Out[i]
		}
		c.Reason = func(a, b int32) string {
			x, _ := hintTexts(v, a, names)
			y, _ := hintTexts(v, b, names)
			return compared(bracketed(names), bracketed(x), bracketed(names), bracketed(y), "write before read")
		}
		r.AddHard("", c)
		return nil
	}
}

// tuple is the value of the hints of operation i, nil where it lacks one.
func tuple(v *history.View, i int32, names []string) (t [][]int64) {
	for _, name := range names {
		if list, ok := v.Hints[name].List(i); ok {
			t = append(t, list)
		} else if n, ok := v.Hints[name].Int(i); ok {
			t = append(t, []int64{n})
		} else {
			return nil
		}
	}
	return t
}

func bracketed(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	return fmt.Sprintf("(%s)", strings.Join(texts, ", "))
}
