package kvstores

import (
	"testing"
	"time"

	"pinyon/engine/spec"
)

var raftMix = []string{"get", "get", "put", "cas", "cas"}

func TestRaftStoresKeepTheirClaims(t *testing.T) {
	for _, name := range []string{"kvraft", "kvholipaxos", "kvredisraft"} {
		t.Run(name, func(t *testing.T) {
			r := newRing(t, name, 3, "", true)
			r.ready()
			h := r.record(load{clients: 6, keys: 2, f: raftMix, length: 2 * time.Second, roam: true})
			holds(t, h, r.store.Claim, r.store.Oracle, spec.Consistent)
		})
	}
}
