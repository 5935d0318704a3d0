package engine

import (
	"context"
	"sync/atomic"

	"pinyon/engine/paths"
	"pinyon/engine/spec"
)

// Fast is Decide without a search: it asks the fast paths alone. The part is
// Unknown where none of them can tell. The caller has seen that hard order has
// no circle, and that an operation has an answer.
func Fast(ctx context.Context, t Task) (spec.Part, error) {
	part := spec.Part{Ops: t.Rules.View.N, Kind: spec.Unknown}
	var cancelled atomic.Bool
	defer context.AfterFunc(ctx, func() { cancelled.Store(true) })()
	t.byPath(ctx, &part, &paths.Problem{Rules: t.Rules, Machine: t.Machine, Stop: cancelled.Load}, paths.All)
	return part, nil
}
