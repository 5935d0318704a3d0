package kvstores

import (
	"context"
	"testing"
	"time"
)

func TestScratchLatency(t *testing.T) {
	for _, kept := range []bool{false, true} {
		r := newRing(t, "kvraft", 3, "", kept)
		r.ready()
		for _, id := range r.names {
			c := NewClient(r.address[id])
			for _, f := range []string{"put", "get"} {
				b := time.Now()
				for i := range 50 {
					q := Request{Client: id + f, Seq: int64(i + 1), F: f, Key: "x", In: marshal(i)}
					ctx, cancel := context.WithTimeout(context.Background(), time.Second)
					if a := c.Do(ctx, q); a.Outcome != OK {
						t.Log(a)
					}
					cancel()
				}
				t.Log(kept, id, r.status(id).Leader, f, time.Since(b)/50)
			}
			c.Close()
		}
	}
}
