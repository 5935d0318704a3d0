//go:build unix

package oracles

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
)

// cpu is the processor time that this process has used.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// totalOrder is a correct history of a store whose revision orders it.
func totalOrder(n int) *history.Of[models.KVIn, history.Value] {
	r := twinRand(31)
	h := &history.Of[models.KVIn, history.Value]{}
	free := make([]int64, 16)
	writes, at := int64(0), int64(0)
	for range n {
		process := r.IntN(16)
		invoke := max(free[process]+1, at-int64(r.IntN(100)))
		at = max(at+10, invoke)
		free[process] = at + 1 + int64(r.IntN(100))
		o := history.Op[models.KVIn, history.Value]{Process: process, F: "put", Key: "k", Invoke: invoke, Return: free[process]}
		if r.IntN(2) == 0 {
			writes++
			o.In = models.Put(history.Int(writes))
		} else {
			o.F, o.In, o.Out = "get", models.Get(), history.Int(writes)
		}
		o.Hints = []history.Hint{{Name: "revision", Value: history.Int(writes)}}
		h.Ops = append(h.Ops, o)
	}
	return h
}

// TestTotalOrder: a long history with a total order is checked in a few seconds
// of processor time.
func TestTotalOrder(t *testing.T) {
	s, err := spec.Erase(totalOrder(*millionOps), models.KV(history.Int(0)))
	if err != nil {
		t.Fatal(err)
	}
	o, _ := Lookup("etcd")
	level, _ := consistency.LookupLevel("linearizable")
	runtime.GC()
	before := cpu(t)
	v, err := consistency.CheckSubject(context.Background(), s, level, consistency.Options{Oracles: []order.Oracle{o}, Timeout: -1})
	took := cpu(t) - before
	if err != nil || v.Kind != spec.Consistent {
		t.Fatalf("%v %+v", err, v)
	}
	t.Logf("%d operations: %v of processor time, by %s", *millionOps, took.Round(time.Millisecond), v.Parts[0].Engine)
	if *millionOps == 1_000_000 && took > 3*time.Second {
		t.Errorf("%v is more than 3 s", took)
	}
}
