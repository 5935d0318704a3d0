// Package histgen makes random small histories for differential tests: the
// same seed and options give the same histories. Each is well-formed (DESIGN
// 4.4: processes are sequential and retire after an operation without an
// answer; under TiesPrecede no two operations without width of a key at one
// instant) and small enough for package brute.
//
// How it gets both verdicts (a recipe of Gavin Lowe, "Testing for linearizability", 2017, widened): random intervals;
// answers by simulating the objects along a random order that the history's
// real time and sessions allow, operations without an answer applied half of
// the time; then up to three answers changed to something plausible. One
// history in four is simulated along an order that keeps sessions only, so
// that the weaker levels have something to accept.
//
// Weak histories come from replicas that hear of each other's writes late, in
// one of several disciplines, for the levels that have no single order.
//
// Squeezed histories put all times on two to four instants, with operations
// of zero width, two values, mostly one process and often mostly unanswered:
// the corner in which tie rules go wrong.
package histgen

import (
	"math/rand/v2"

	"pinyon/engine/history"
)

// Models are the models that can be asked for.
var Models = []string{"register", "cas-register", "kv", "counter", "queue", "set", "stack", "mutex", "log"}

// Options steer the generator. The zero value gives histories of all Models.
type Options struct {
	Models    []string // nil: all
	MaxOps    int      // operations in a history, dropped ones counted; 0: 9
	Processes int      // at once (one that retires is replaced); 0: 4
	MaxKeys   int      // 0: 3
	Squeezed  bool     // all times on a few instants
	// Lines lets one history in four be ordered by its lines (history.ByLine);
	// their times run forwards.
	Lines bool
	// Oracles lets one history in two carry Edges, and one in two hints.
	Oracles bool
	// RegisterLike leaves out the operations of register, cas-register and kv
	// that read and write at once without naming both values: append, add, and
	// a cas that answers false. The other models are not affected.
	RegisterLike bool
	// WriteHeavy makes one read in three a write, ManyKeys lets most histories
	// have several keys.
	WriteHeavy, ManyKeys bool
	// Weak lets the answers come from replicas that hear of writes late; the
	// models must be those of RegisterLike, which it implies.
	Weak bool
}

// Case is one generated history.
type Case struct {
	Raw   *history.Raw
	Model string
	// Edges are hard edges beside the level, as pairs of indexes into Raw.Ops,
	// the first before the second. They may form a circle, and may name failed
	// operations, which Extra leaves out.
	Edges [][2]int
	// Seed and Number say how to get it again: New(Seed, o), Number calls of
	// Next before it.
	Seed   uint64
	Number int
}

// Extra returns the Edges as a relation over the positions of v, the form that
// brute and verify take; nil without edges.
func (c *Case) Extra(v *history.View) func(a, b int32) bool {
	if len(c.Edges) == 0 {
		return nil
	}
	return func(a, b int32) bool {
		for _, e := range c.Edges {
			if int(v.Ops[a]) == e[0] && int(v.Ops[b]) == e[1] {
				return true
			}
		}
		return false
	}
}

// Gen makes one history after the other.
type Gen struct {
	o      Options
	r      *rand.Rand
	seed   uint64
	number int
}

// New returns a generator. Its histories depend on seed and o alone.
func New(seed uint64, o Options) *Gen {
	if o.Models == nil {
		o.Models = Models
	}
	set := func(p *int, byDefault int) {
		if *p <= 0 {
			*p = byDefault
		}
	}
	o.RegisterLike = o.RegisterLike || o.Weak
	set(&o.MaxOps, 9)
	set(&o.Processes, 4)
	set(&o.MaxKeys, 3)
	return &Gen{o: o, r: rand.New(rand.NewPCG(seed, 0x70696e796f6e)), seed: seed}
}

// Next returns the next history.
func (g *Gen) Next() *Case {
	c := &Case{Raw: &history.Raw{}, Seed: g.seed, Number: g.number}
	g.number++
	c.Model = g.o.Models[g.r.IntN(len(g.o.Models))]
	c.Raw.Header.Model = c.Model
	g.header(c.Raw)
	g.shape(c.Raw, c.Model)
	var order []int
	if g.o.Weak {
		order = g.replicate(c)
	} else {
		order = g.simulate(c)
	}
	g.mutate(c)
	if g.o.Oracles {
		g.edges(c, order)
		g.hints(c.Raw, order)
	}
	return c
}

// chance is true in n of d cases.
func (g *Gen) chance(n, d int) bool { return g.r.IntN(d) < n }

// header chooses ties, clock error, nodes and the initial value.
func (g *Gen) header(raw *history.Raw) {
	h := &raw.Header
	if g.chance(2, 5) {
		h.Ties = history.TiesPrecede
	}
	h.HasTies = true
	h.Nodes = []string{"n1", "n2", "n3"}
	switch g.r.IntN(6) {
	case 0:
		h.ClockError.All = int64(1 + g.r.IntN(3))
	case 1:
		h.ClockError.ByNode = map[string]int64{}
		for _, n := range h.Nodes {
			h.ClockError.ByNode[n] = int64(g.r.IntN(3))
		}
	}
	if m := h.Model; g.chance(1, 4) && (m == "register" || m == "cas-register" || m == "counter") {
		h.Initial = history.Int(int64(g.r.IntN(2)))
	}
	if g.o.Lines && g.chance(1, 4) {
		raw.Order = history.ByLine
	}
}

// shape makes the operations without their answers.
func (g *Gen) shape(raw *history.Raw, model string) {
	n := 1 + g.r.IntN(g.o.MaxOps)
	if g.o.Weak || g.chance(1, 2) {
		n = max(n, g.o.MaxOps-2) // fewer operations seldom tell weak levels apart
	}
	for try := 0; ; try++ {
		raw.Ops = raw.Ops[:0]
		g.intervals(raw, n)
		g.keys(raw)
		if raw.Header.Ties == history.TiesConcurrent || !crowded(raw) {
			break
		}
		if try == 20 {
			raw.Header.Ties = history.TiesConcurrent // no room for so many instants
		}
	}
	values := 2 + g.r.IntN(3)
	if g.o.Weak {
		values += g.r.IntN(4)
	}
	if g.o.Squeezed {
		values = 2
	}
	text := g.chance(1, 2)
	for i := range raw.Ops {
		op := &raw.Ops[i]
		op.F, op.In = call(g.r, model, values, text)
		if g.o.WriteHeavy && reads(op.F) && g.chance(1, 3) {
			op.F, op.In = call(g.r, model, values, text)
		}
		if g.o.RegisterLike && model == "kv" && (op.F == "append" || op.F == "add") {
			op.F = "put"
		}
		op.Node = raw.Header.Nodes[g.r.IntN(len(raw.Header.Nodes))]
	}
	if raw.Order == history.ByLine {
		g.lines(raw)
	}
	g.r.Shuffle(n, func(i, j int) {
		raw.Ops[i], raw.Ops[j] = raw.Ops[j], raw.Ops[i]
		if raw.Origins != nil {
			raw.Origins[i], raw.Origins[j] = raw.Origins[j], raw.Origins[i]
		}
	})
}
