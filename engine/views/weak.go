package views

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// WeakRegular decides weak regularity for several writers (Shao, Welch,
// Pierce, Lee, "Multiwriter Consistency Conditions for Shared Memory
// Registers", 2011): each read by itself saw some write of its value, not one
// that was invoked only after it returned, and no other write of the key came
// wholly between the two in real time. The initial value is older than every
// write.
func WeakRegular(ctx context.Context, p Problem) (spec.Part, error) {
	v := p.View
	if !answered(v) {
		return vacuous(v), nil
	}
	r, err := newReader(p)
	if err != nil {
		return spec.Part{}, err
	}
	part := spec.Part{Ops: v.N, Engine: "views", Kind: spec.Consistent}
	w := newWeak(r)
	for x := range int32(v.N) {
		if r.demand[x] < 0 || v.Info[x] {
			continue
		}
		part.States++
		if ctx.Err() != nil {
			part.Kind, part.Budget = spec.Unknown, "time"
			if ctx.Err() != context.DeadlineExceeded {
				part.Budget = "cancelled"
			}
			return part, nil
		}
		saw, over, ok := w.source(x)
		if !ok {
			part.Kind, part.Saw, part.Proof = spec.Violation, nil, w.proof(x, over)
			return part, nil
		}
		part.Saw = append(part.Saw, spec.SawEdge{Op: x, Write: saw})
	}
	return part, nil
}

// weak knows which writes of a key lie before an operation in real time.
type weak struct {
	r       *reader
	sources []order.Source
	writes  map[int32][]int32 // by key: answered writes, by call
}

func newWeak(r *reader) *weak {
	w := &weak{r: r, sources: order.RealTime(r.v, order.Span{}), writes: map[int32][]int32{}}
	for x := range int32(r.v.N) {
		if r.write[x] >= 0 && !r.v.Info[x] {
			w.writes[r.v.Key[x]] = append(w.writes[r.v.Key[x]], x)
		}
	}
	for _, ops := range w.writes {
		slices.SortStableFunc(ops, func(a, b int32) int { return cmp.Compare(r.v.Call[a], r.v.Call[b]) })
	}
	return w
}

func (w *weak) before(a, b int32) bool {
	return slices.ContainsFunc(w.sources, func(s order.Source) bool { return s.Precedes(a, b) })
}

// source finds what x may have seen. Otherwise over is a write that came
// between the last candidate and x, -1 where there is no candidate at all.
func (w *weak) source(x int32) (saw, over int32, ok bool) {
	over = -1
	if w.r.initial[w.r.v.Key[x]] == w.r.demand[x] {
		if over = w.between(initially, x); over < 0 {
			return initially, -1, true
		}
	}
	for _, y := range w.r.writers[w.r.demand[x]] {
		if y == x || w.before(x, y) {
			continue
		}
		between := w.between(y, x)
		if between < 0 {
			return y, -1, true
		}
		over = between
	}
	return 0, over, false
}

// between returns a write of x's key that comes after y (initially: any) and
// before x, or -1. It looks back from x's call to y's: what is not wholly
// between them in that stretch was in flight at one of the two.
func (w *weak) between(y, x int32) int32 {
	writes := w.writes[w.r.v.Key[x]]
	later := sort.Search(len(writes), func(i int) bool { return w.r.v.Call[writes[i]] > w.r.v.Call[x] })
	for i := later - 1; i >= 0; i-- {
		z := writes[i]
		if y != initially && w.r.v.Call[z] < w.r.v.Call[y] {
			break
		}
		if z != x && z != y && (y == initially || w.before(y, z)) && w.before(z, x) {
			return z
		}
	}
	return -1
}

func (w *weak) proof(x, over int32) *spec.Proof {
	if over < 0 {
		return &spec.Proof{Kind: spec.ProofPattern, Name: spec.ThinAirRead, Ops: []int32{x}, Words: "nothing wrote what it saw, at least nothing that was invoked before it returned"}
	}
	return &spec.Proof{Kind: spec.ProofPattern, Name: spec.StaleRead, Ops: []int32{over, x},
		Words: "the first overwrote, before the last was invoked, every write that the last may have seen"}
}
