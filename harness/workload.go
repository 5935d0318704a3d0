package harness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"pinyon/engine/history"
)

// Mix says how often each operation is asked for, in parts of their sum.
type Mix []Share

// Share is one operation's part.
type Share struct {
	F     string
	Parts int
}

// ParseMix reads "get=50,put=30,cas=20".
func ParseMix(text string) (Mix, error) {
	var m Mix
	for _, part := range strings.Split(text, ",") {
		f, n, ok := strings.Cut(strings.TrimSpace(part), "=")
		parts, err := strconv.Atoi(n)
		if !ok || f == "" || err != nil || parts < 0 || parts > 1e6 {
			return nil, fmt.Errorf("mix %q: expected OPERATION=PARTS, such as get=50,put=50", part)
		}
		m = append(m, Share{f, parts})
	}
	if m.sum() == 0 {
		return nil, fmt.Errorf("mix %q asks for nothing", text)
	}
	return m, nil
}

// String is the text that ParseMix reads.
func (m Mix) String() string {
	var parts []string
	for _, s := range m {
		parts = append(parts, fmt.Sprintf("%s=%d", s.F, s.Parts))
	}
	return strings.Join(parts, ",")
}

func (m Mix) sum() (n int) {
	for _, s := range m {
		n += s.Parts
	}
	return n
}

// fits says which operation of the mix the store does not answer.
func (m Mix) fits(c Claim) error {
	for _, s := range m {
		if s.Parts > 0 && !slices.Contains(c.Ops, s.F) {
			return fmt.Errorf("%s does not answer %q; it answers %s", c.Name, s.F, strings.Join(c.Ops, ", "))
		}
	}
	return nil
}

// DefaultMix is half reads, and of the rest what the store answers.
func DefaultMix(c Claim) Mix {
	switch {
	case c.Model == "log":
		return Mix{{"append", 50}, {"get", 50}}
	case slices.Contains(c.Ops, "cas"):
		return Mix{{"get", 50}, {"put", 35}, {"cas", 15}}
	}
	return Mix{{"get", 50}, {"put", 50}}
}

// workload makes the operations of all clients: each client's from a source of
// its own, so that one seed asks for the same whatever the timing, but for
// what depends on values that a client saw.
type workload struct {
	mix    Mix
	keys   int
	values int          // how many values there are; 0: every one is new
	log    bool         // the object is a log: values are appended, positions asked for
	next   atomic.Int64 // the last new value
	length atomic.Int64 // of a log, as far as anybody knows
}

// generator makes the operations of one client.
type generator struct {
	*workload
	rng  *rand.Rand
	seen map[string]history.Value // the value last seen, by key
}

func (w *workload) generator(seed, client uint64) *generator {
	return &generator{w, rand.New(rand.NewPCG(seed, client+1)), map[string]history.Value{}}
}

// keyName is the name of a key: k0, k1, ...
func keyName(i int) history.Value { return history.String("k" + strconv.Itoa(i)) }

func (g *generator) value() history.Value {
	if g.values > 0 {
		return history.Int(g.rng.Int64N(int64(g.values)))
	}
	return history.Int(g.next.Add(1))
}

// operation makes the next one. A compare-and-set names the value that the
// client last saw under the key.
func (g *generator) operation() Operation {
	op := Operation{F: g.pick(), Key: keyName(g.rng.IntN(g.keys))}
	if g.log {
		return g.logOperation(op)
	}
	switch op.F {
	case "put", "write":
		op.In = g.value()
	case "cas":
		from, ok := g.seen[op.Key.Label()]
		if !ok {
			from = history.Null
		}
		op.In = history.Array(from, g.value())
	case "append":
		op.In = history.String(g.value().Text() + " ")
	case "add":
		op.In = history.Int(1)
	}
	return op
}

// logOperation asks near the end of the log, where order is still open.
func (g *generator) logOperation(op Operation) Operation {
	switch op.F {
	case "append":
		op.In = g.value()
	case "get", "read":
		length := g.length.Load()
		op.In = history.Int(max(0, length+2-g.rng.Int64N(8)))
	}
	return op
}

func (g *generator) pick() string {
	n := g.rng.IntN(g.mix.sum())
	for _, s := range g.mix {
		if n -= s.Parts; n < 0 {
			return s.F
		}
	}
	return ""
}

// saw keeps what an answer tells of a value.
func (g *generator) saw(op Operation, r Result) {
	if r.Outcome != history.OK {
		return
	}
	if g.log {
		if op.F == "append" {
			g.length.Add(1)
		}
		return
	}
	key := op.Key.Label()
	switch op.F {
	case "get", "read", "add":
		g.seen[key] = r.Out
	case "put", "write":
		g.seen[key] = op.In
	case "cas":
		if pair, ok := op.In.Elems(); ok && r.Out == history.True {
			g.seen[key] = pair[1]
		}
	}
}
