// Package order holds relations over operations: what must, or should, come
// before what, and why. A relation is defined by Precedes and Why; the forms
// here (clocks, explicit edges, vector clocks, dominance, dependency
// components, pairs) only make it fast.
//
// Operations are positions in a history.View. Hard order is the transitive
// closure of the union of all hard relations, taken once over every operation
// that did not fail, placed or not (docs/ARCHITECTURE.md, section 2). Soft
// order only decides what a search tries first.
package order

import (
	"fmt"
	"math"
	"slices"

	"pinyon/engine/history"
)

// Relation is one source of order. Precedes(a, a) is never asked.
type Relation interface {
	Precedes(a, b int32) bool
	Why(a, b int32) string // the reason for an edge that Precedes affirms
}

// The values of a clock that order nothing, for operations without a hint.
const (
	OutNever = math.MaxInt64 // as Out: precedes nothing
	InNever  = math.MinInt64 // as In: is preceded by nothing
)

// Clock is the relation "a precedes b iff Out[a] < In[b]": sessions, real
// time, log indexes and time bounds are all clocks. Within, where set, limits
// it to pairs with equal groups; a negative group stands alone.
type Clock struct {
	Name    string
	Out, In []int64
	Within  []int32
	Reason  func(a, b int32) string // nil: the two numbers
}

// Precedes implements Relation.
func (c *Clock) Precedes(a, b int32) bool {
	if c.Within != nil && (c.Within[a] != c.Within[b] || c.Within[a] < 0) {
		return false
	}
	return c.Out[a] < c.In[b]
}

// Why implements Relation.
func (c *Clock) Why(a, b int32) string {
	if c.Reason != nil {
		return c.Reason(a, b)
	}
	return fmt.Sprintf("%s %d < %d", c.Name, c.Out[a], c.In[b])
}

// Pair is a relation given by a function: the last resort, as it is asked for
// every pair.
type Pair struct {
	Before func(a, b int32) bool
	Reason func(a, b int32) string
}

// Precedes implements Relation.
func (p *Pair) Precedes(a, b int32) bool { return p.Before(a, b) }

// Why implements Relation.
func (p *Pair) Why(a, b int32) string {
	if p.Reason == nil {
		return "pair rule"
	}
	return p.Reason(a, b)
}

// Source is a relation with its origin.
type Source struct {
	Relation
	Name string // "real time", "session", or the oracle's name
	Hint bool   // it comes from what the store returned
	// PerKey: it orders operations of one key only. CrossKey: it orders
	// operations of different keys in a way that no level is local with.
	PerKey, CrossKey bool
}

// Rules collects the order of a problem.
type Rules struct {
	View *history.View
	Hard []Source
	Soft []Source
	// Notices are for people: hints missing, comparisons that were unknown.
	Notices []string
	// Findings are hints that contradict each other, or what they name, without
	// any order: each is a violation by itself.
	Findings []Finding
}

// Finding is a contradiction between the hints of a few operations.
type Finding struct {
	Name  string // the oracle's name, and that of its rule
	Ops   []int32
	Words string // what contradicts what
}

// NewRules returns empty rules for v.
func NewRules(v *history.View) *Rules { return &Rules{View: v} }

// AddHard adds a relation that every order must obey. The name stands in every
// explanation; of an oracle's several rules each has its own.
func (r *Rules) AddHard(name string, rel Relation) {
	r.Hard = append(r.Hard, Source{Relation: rel, Name: name})
}

// AddSoft adds a relation that a search should follow where it can.
func (r *Rules) AddSoft(name string, rel Relation) {
	r.Soft = append(r.Soft, Source{Relation: rel, Name: name})
}

// AddFinding adds a contradiction between the hints of some operations.
func (r *Rules) AddFinding(words string, ops ...int32) {
	r.Findings = append(r.Findings, Finding{Ops: ops, Words: words})
}

// Contradictions are the operations of the findings.
func (r *Rules) Contradictions() (list [][]int32) {
	for _, f := range r.Findings {
		list = append(list, f.Ops)
	}
	return list
}

// Notice adds a line for people.
func (r *Rules) Notice(format string, args ...any) {
	r.Notices = append(r.Notices, fmt.Sprintf(format, args...))
}

// Oracle yields order between the operations of a View.
type Oracle struct {
	Name string
	// AllKeys: it orders operations of different keys, which makes any level
	// non-local (docs/ARCHITECTURE.md, section 8). Otherwise only pairs of one key are kept.
	AllKeys bool
	// Order adds to r what v's hints say. An error is the oracle's own fault
	// (it orders an operation before itself, or a pair both ways by one rule).
	Order func(v *history.View, r *Rules) error
	// Text describes the oracle in proof files: its YAML source, or a name.
	Text string

	_ struct{}
}

// Apply adds the order of o to r, named after the oracle and limited to pairs
// of one key unless o.AllKeys.
func (o *Oracle) Apply(r *Rules) error {
	sub := NewRules(r.View)
	if err := o.Order(r.View, sub); err != nil {
		return fmt.Errorf("oracle %s: %w", o.Name, err)
	}
	r.Hard = append(r.Hard, o.adopt(sub.Hard, r.View)...)
	r.Soft = append(r.Soft, o.adopt(sub.Soft, r.View)...)
	for _, f := range sub.Findings {
		if o.AllKeys || oneKeyed(f.Ops, r.View.Key) {
			f.Name = o.Name
			r.Findings = append(r.Findings, f)
		}
	}
	for _, n := range sub.Notices {
		r.Notice("oracle %s: %s", o.Name, n)
	}
	return nil
}

// oneKeyed reports whether all operations have one key.
func oneKeyed(ops, key []int32) bool {
	return !slices.ContainsFunc(ops, func(x int32) bool { return key[x] != key[ops[0]] })
}

func (o *Oracle) adopt(sources []Source, v *history.View) []Source {
	for i, s := range sources {
		s.Hint = true
		if s.Name == "" || s.Name == o.Name {
			s.Name = o.Name
		} else {
			s.Name = o.Name + ": " + s.Name
		}
		s.PerKey, s.CrossKey = !o.AllKeys, o.AllKeys
		if !o.AllKeys {
			s.Relation = perKey(s.Relation, v)
		}
		sources[i] = s
	}
	return sources
}

// perKey limits a relation to pairs of operations of one key.
func perKey(rel Relation, v *history.View) Relation {
	if c, ok := rel.(*Clock); ok {
		d := *c
		d.Within = v.Key
		if c.Within != nil {
			d.Within = product(c.Within, v.Key)
		}
		return &d
	}
	return &oneKey{rel, v.Key}
}

// product numbers the pairs of two groupings; a negative group stays so.
func product(a, b []int32) []int32 {
	numbers := map[[2]int32]int32{}
	out := make([]int32, len(a))
	for i := range a {
		p := [2]int32{a[i], b[i]}
		n, ok := numbers[p]
		if !ok {
			n = int32(len(numbers))
			numbers[p] = n
		}
		if out[i] = n; a[i] < 0 || b[i] < 0 {
			out[i] = -1
		}
	}
	return out
}

type oneKey struct {
	Relation
	key []int32
}

func (o *oneKey) Precedes(a, b int32) bool { return o.key[a] == o.key[b] && o.Relation.Precedes(a, b) }
