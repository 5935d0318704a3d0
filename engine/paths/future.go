package paths

import (
	"cmp"
	"slices"
	"sort"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// never stands for an event that does not come.
const never = 1<<31 - 1

// future knows, before a sweep begins, who can read each write, now or later.
type future struct {
	*sweep
	writers *writers
	blind   bool // some read does not say what it needs
	avoids  []avoidance
}

// avoidance is a read that says only which value it did not find. since is the
// earliest call of a write of that value that may still be current then.
type avoidance struct {
	read  int32
	since int64
}

// shy looks at the reads that say only which value they did not find. Where no
// write of that value can be current, they are reads of no value, and it leaves
// them out of ops.
func (f *future) shy(ops []int32) []int32 {
	in, _, _ := f.p.Intervals()
	a, knows := f.m.(spec.Avoider)
	return slices.DeleteFunc(ops, func(x int32) bool {
		if f.write[x] >= 0 || f.want[x] >= 0 {
			return false
		}
		v := int32(-1)
		if knows {
			v = a.Avoid(x)
		}
		if v < 0 {
			f.blind = true
			return false
		}
		over, since := f.writers.over(x), int64(order.OutNever)
		if v == f.writers.initial && over < 0 {
			since = order.InNever
		}
		for _, w := range f.writers.written(v) {
			if f.writers.possible(w, x, over) {
				since = min(since, in[w])
			}
		}
		if since == order.OutNever {
			f.idle = append(f.idle, x)
			return true
		}
		f.avoids = append(f.avoids, avoidance{x, since})
		return false
	})
}

// lasts finds for each write the event at which the last is called that can
// need it. A read cannot have read a write that returned before another was
// invoked that returned before the read was invoked. A read that says which
// value it did not find can need any write to take that value away, as long as
// the value may be there before the write returns. Where a read says nothing,
// and for values that an update without an answer finds, it is not known.
func (f *future) lasts(byCall []int32) {
	in, out, _ := f.p.Intervals()
	f.last = filled(len(in), never)
	if f.blind {
		return
	}
	called := make([]int32, len(in))
	for i, e := range f.events {
		if !e.ret {
			called[e.op] = int32(i)
		}
	}
	readers := map[int32][]int32{} // by value, by call
	lost := map[int32]bool{}
	since := make([]int64, len(in)) // by operation: when the last write before it was invoked
	for _, x := range byCall {
		if since[x] = order.InNever; f.writers.over(x) >= 0 {
			since[x] = in[f.writers.over(x)]
		}
		switch v := f.want[x]; {
		case v >= 0 && f.p.Rules.View.Info[x]:
			lost[v] = true
		case v >= 0:
			readers[v] = append(readers[v], x)
		}
	}
	slices.SortStableFunc(f.avoids, func(a, b avoidance) int { return cmp.Compare(a.since, b.since) })
	latest := make([]int32, len(f.avoids)) // the last call among the first so many
	for i, a := range f.avoids {
		latest[i] = called[a.read]
		if i > 0 {
			latest[i] = max(latest[i], latest[i-1])
		}
	}
	for _, x := range byCall {
		v := f.write[x]
		if v < 0 || lost[v] {
			continue
		}
		f.last[x] = 0
		list := readers[v]
		if k := sort.Search(len(list), func(i int) bool { return since[list[i]] > out[x] }); k > 0 {
			f.last[x] = called[list[k-1]]
		}
		if k := sort.Search(len(f.avoids), func(i int) bool { return f.avoids[i].since > out[x] }); k > 0 {
			f.last[x] = max(f.last[x], latest[k-1])
		}
	}
}
