package models

import (
	"cmp"
	"slices"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// longFork is Jepsen's long-fork: an anomaly of parallel snapshot isolation,
// in which two reads see two writes in opposite orders.
func longFork() Analysis {
	return analysis(Analysis{
		Name: "long-fork",
		Doc: "Transactions that read several keys, each of which is written once: of two that read the same keys, one must see all that the other sees. " +
			"Unknown where a key turns out to hold two values.",
	}, []operation[List[Micro], List[Micro]]{{
		OpDoc: OpDoc{F: "txn", Aliases: []string{"read", "write"}, In: txnWant, Out: "the same with the reads filled in; null: not written yet"},
		in:    txnInput, out: txnOutput,
	}}, judgeLongFork)
}

// snapshot is what one transaction read: keys in order, and which of them it
// saw written.
type snapshot struct {
	op   int
	keys []history.Value
	saw  []bool
	n    int // how many it saw
}

func judgeLongFork(b *object[List[Micro], List[Micro]]) {
	groups := map[string][]snapshot{}
	var names []string // of groups, in the order of their first reads
	value := map[history.Value]history.Value{}
	for _, i := range b.ops {
		if !b.known(i) {
			continue
		}
		s, twice := readSnapshot(b, i, value)
		if twice != history.Absent {
			b.settle(spec.Unknown, "key "+twice.Label()+" holds two values, so it was not written once; this analysis says nothing then")
			return
		}
		if len(s.keys) < 2 {
			continue
		}
		group := history.Array(s.keys...).Text()
		if groups[group] == nil {
			names = append(names, group)
		}
		groups[group] = append(groups[group], s)
	}
	if len(names) == 0 {
		b.settle(spec.Vacuous, "no transaction that reads several keys returned")
	}
	for _, name := range names {
		forks(b, groups[name])
	}
}

// readSnapshot returns what a transaction read, and a key under which it saw
// another value than an earlier one, else history.Absent.
func readSnapshot(b *object[List[Micro], List[Micro]], i int, value map[history.Value]history.Value) (s snapshot, twice history.Value) {
	s.op = i
	steps := b.Ops[i].Out.Slice()
	slices.SortStableFunc(steps, func(x, y Micro) int { return history.Compare(x.Key, y.Key) })
	for k, m := range steps {
		if m.Write || k > 0 && steps[k-1].Key == m.Key {
			return snapshot{}, history.Absent // only pure reads of distinct keys compare
		}
		saw := m.Value != history.Null
		if saw {
			if v, known := value[m.Key]; known && v != m.Value {
				return s, m.Key
			}
			value[m.Key] = m.Value
			s.n++
		}
		s.keys, s.saw = append(s.keys, m.Key), append(s.saw, saw)
	}
	return s, history.Absent
}

// forks reports reads of one group that do not see one another's past. What
// they saw must be a chain of sets; sorted by size it is one exactly when each
// holds the one before it.
func forks(b *object[List[Micro], List[Micro]], group []snapshot) {
	slices.SortStableFunc(group, func(x, y snapshot) int { return cmp.Compare(x.n, y.n) })
	for k := 1; k < len(group); k++ {
		x, y := group[k-1], group[k]
		var onlyX, onlyY []string
		for i, key := range x.keys {
			switch {
			case x.saw[i] && !y.saw[i]:
				onlyX = append(onlyX, key.Label())
			case y.saw[i] && !x.saw[i]:
				onlyY = append(onlyY, key.Label())
			}
		}
		if len(onlyX) > 0 {
			b.report(true, "long fork", []int{x.op, y.op}, "%s saw the write of %s and not of %s, %s the other way round",
				b.Where(x.op), strings.Join(onlyX, ", "), strings.Join(onlyY, ", "), b.Where(y.op))
		}
	}
}
