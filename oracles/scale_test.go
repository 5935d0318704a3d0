package oracles

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
)

var scaleOps = flag.Int("oracles.scale", 4_000, "operations of the long histories")

var millionOps = flag.Int("oracles.total", 50_000, "operations of the history in a total order; with 1000000 its CPU time is bounded")

// longHistory makes n operations of 16 clients, half of them reads, on some
// keys, with the hints of all oracles, as a correct store would.
func longHistory(n, keys int) *history.Of[models.KVIn, history.Value] {
	r := twinRand(21)
	h := &history.Of[models.KVIn, history.Value]{}
	state := make([]int64, keys)
	free := make([]int64, 16)
	insts, held := [5]int64{}, [5]int64{}
	writes, position, at := int64(0), int64(0), int64(0)
	for i := range n {
		process := r.IntN(16)
		invoke := max(free[process], at-int64(r.IntN(100)))
		at = max(at+10, invoke)
		free[process] = at + 1 + int64(r.IntN(100))
		k := r.IntN(keys)
		o := history.Op[models.KVIn, history.Value]{Process: process, F: "put", Key: fmt.Sprint("k", k), Invoke: invoke, Return: free[process]}
		if r.IntN(2) == 0 {
			writes++
			state[k] = writes
			o.In = models.Put(history.Int(writes))
		} else {
			o.F, o.In, o.Out = "get", models.Get(), history.Int(state[k])
		}
		position++
		replica := int64(r.IntN(5))
		hint := func(name string, v history.Value) { o.Hints = append(o.Hints, history.Hint{Name: name, Value: v}) }
		list := func(ns [5]int64) history.Value {
			var vs []history.Value
			for _, n := range ns {
				vs = append(vs, history.Int(n))
			}
			return history.Array(vs...)
		}
		var known [5]int64
		for q := range known {
			known[q] = insts[q] - 1
			held[q] = 10*writes + int64(r.IntN(12))
		}
		hint("revision", history.Int(writes))
		hint("replica", history.Int(replica))
		hint("inst", history.Int(insts[replica]))
		hint("deps", list(known))
		hint("seq", history.Int(position))
		hint("view", history.Int(1+int64(i)*4/int64(n)))
		hint("leader", history.Int(2))
		hint("seqIdx", list(held))
		hint("DIdx", list(held))
		hint("idx", history.Int(10*writes+9))
		hint("CIdx", history.Int(10*writes+9))
		insts[replica]++
		h.Ops = append(h.Ops, o)
	}
	return h
}

// TestLongHistories: no oracle tries all pairs, so time grows about as the
// history does; the log says how long.
func TestLongHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("long histories")
	}
	for _, keys := range []int{1, 4} {
		s, err := spec.Erase(longHistory(*scaleOps, keys), models.KV(history.Int(0)))
		if err != nil {
			t.Fatal(err)
		}
		level, _ := consistency.LookupLevel("linearizable")
		for _, name := range []string{"etcd", "epaxos", "erwin", "skyros"} {
			native, _ := Lookup(name)
			for form, o := range map[string]order.Oracle{"Go": native, "YAML": fileOf(t, name)} {
				start := time.Now()
				v, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{Oracles: []order.Oracle{o}, Timeout: -1, Workers: 1})
				took := time.Since(start)
				if err != nil || v.Kind != spec.Consistent {
					t.Fatalf("%s: %v %v %+v", name, err, v.Kind, v.Parts)
				}
				t.Logf("%d keys, %-8s %-4s %8d operations in %v, by %s", keys, name, form, *scaleOps, took.Round(time.Millisecond), v.Parts[0].Engine)
			}
		}
	}
}
