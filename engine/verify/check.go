package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"pinyon/engine/spec"
)

// Answer says what became of a proof.
type Answer uint8

// Accepted: the evidence shows the verdict. Refused: it does not, or belongs
// to something else. NotCheckable: there is no evidence that can be checked,
// such as an exhausted search.
const (
	Accepted Answer = iota
	Refused
	NotCheckable
)

func (a Answer) String() string { return [...]string{"accepted", "refused", "not checkable"}[a] }

// Result is the outcome of a check.
type Result struct {
	Answer Answer
	Reason string   // why refused or not checkable
	Notes  []string // what was not checked in full
}

func refuse(format string, args ...any) Result {
	return Result{Answer: Refused, Reason: fmt.Sprintf(format, args...)}
}

func cannot(format string, args ...any) Result {
	return Result{Answer: NotCheckable, Reason: fmt.Sprintf(format, args...)}
}

// Check checks the file against the history s, which the caller has bound with
// the rules that the file names (initial value, nil reads, failed cas, numbers:
// they have shaped s and cannot be told from it). extra is the order of the
// file's oracles over positions of s.View, nil where it names none.
//
//	1 The digest, model, ties, clock error and order are those of s.
//	2 There is a part for every key, or one for all, each with evidence for its
//	  own verdict; the file's verdict follows from the parts.
//	3 A part's order is a witness (see Witness) over its own operations with
//	  the level restricted to them; its cycle refutes the level (see Cycle) and
//	  stays in the part; the operations of its core have no legal order (TryCore).
//	4 Parts that are keys join: the level is one order over all keys, so the
//	  orders of a consistent history must fit into one (see join).
//
// At a level without a single order there is one part for all, with the evidence
// of docs/ARCHITECTURE.md, section 15.
//
// Refusals outrank what is not checkable. The error is not about the proof: a
// model that failed or cannot tell reads from writes.
func (f *File) Check(s *spec.Subject, extra func(a, b int32) bool) (Result, error) {
	if r := f.belongs(s); r.Answer != Accepted {
		return r, nil
	}
	if l, ok := weakLevels[f.Level]; ok {
		return f.checkWeak(s, l)
	}
	d, err := f.define()
	if err != nil {
		return cannot("%v", err), nil
	}
	if err := d.usable(s.View); err != nil {
		return Result{}, err
	}
	if len(f.Oracles) > 0 && extra == nil {
		return cannot("the order of the oracles is not known"), nil
	}
	if len(f.Oracles) == 0 && extra != nil {
		return cannot("an order of oracles is given, and the file names none"), nil
	}
	c := &checker{Definition: d, file: f, subject: s, extra: extra}
	return c.parts()
}

// define returns the definition of the file's level.
func (f *File) define() (Definition, error) {
	switch {
	case f.LevelText == "":
		return Define(f.Level)
	case f.Entitled == nil:
		return Definition{}, fmt.Errorf("level %s: what its text promises each operation is not known", f.Level)
	}
	return PerOperation(f.Level, f.Entitled), nil
}

// belongs checks that the file is about s, under the rules of s.
func (f *File) belongs(s *spec.Subject) Result {
	rules := rulesOf(s.View)
	switch {
	case f.Digest != Digest(s):
		return refuse("the digest is that of another history, or of this one read under other rules")
	case f.Model != s.Model:
		return refuse("the model is %s, the file says %s", s.Model, f.Model)
	case f.Rules.Ties != rules.Ties:
		return refuse("the rule of ties is %s, the file says %s", rules.Ties, f.Rules.Ties)
	case f.Rules.Order != rules.Order:
		return refuse("the order is by %s, the file says %s", rules.Order, f.Rules.Order)
	case f.Rules.ClockError != rules.ClockError || !maps.Equal(f.Rules.ByNode, rules.ByNode):
		return refuse("the clock error is not the file's")
	}
	return Result{}
}

// checker is one run of Check.
type checker struct {
	Definition
	file    *File
	subject *spec.Subject
	extra   func(a, b int32) bool
	at      map[int64]int32 // id -> position
	orders  [][]int32       // the witnesses of the parts
	notes   []string
}

func (c *checker) parts() (Result, error) {
	c.at = make(map[int64]int32, c.subject.View.N)
	for i := range int32(c.subject.View.N) {
		c.at[c.subject.ID(i)] = i
	}
	members, r := c.members()
	if r.Answer != Accepted {
		return r, nil
	}
	open := Result{} // the first part that is not checkable
	all := spec.Vacuous
	for i := range c.file.Parts {
		p := &c.file.Parts[i]
		kind, err := spec.ParseKind(p.Verdict)
		if err != nil {
			return refuse("part %q: %v", p.Key, err), nil
		}
		all = spec.Worse(all, kind)
		r, err := c.part(p, kind, members[i])
		if err != nil || r.Answer == Refused {
			return r, err
		}
		if open.Answer == Accepted {
			open = r
		}
	}
	if c.file.Verdict != all.String() {
		return refuse("the verdicts of the parts make %v, the file says %s", all, c.file.Verdict), nil
	}
	if open.Answer == Accepted && all == spec.Consistent && c.file.Split {
		open = c.join()
	}
	open.Notes = c.notes
	return open, nil
}

// members returns the operations of each part; nil stands for all.
func (c *checker) members() ([][]int32, Result) {
	v, parts := c.subject.View, c.file.Parts
	if !c.file.Split {
		if len(parts) != 1 {
			return nil, refuse("a file that is not split has one part, not %d", len(parts))
		}
		if key := parts[0].Key; key != "" && (len(v.KeyName) != 1 || key != v.KeyName[0]) {
			return nil, refuse("the only part is named %q, which is not the only key", key)
		}
		all := make([]int32, v.N)
		for i := range all {
			all[i] = int32(i)
		}
		return [][]int32{all}, Result{}
	}
	code := make(map[string]int, len(v.KeyName))
	for k, name := range v.KeyName {
		code[name] = k
	}
	byKey := v.Keys()
	members := make([][]int32, len(parts))
	for i := range parts {
		k, ok := code[parts[i].Key]
		if !ok {
			return nil, refuse("part %q is not a key of the history, or stands twice", parts[i].Key)
		}
		delete(code, parts[i].Key)
		members[i] = append([]int32{}, byKey[k]...)
	}
	for _, name := range v.KeyName {
		if _, missing := code[name]; missing {
			return nil, refuse("there is no part for key %q", name)
		}
	}
	return members, Result{}
}

// part checks one part's evidence for its own verdict.
func (c *checker) part(p *FilePart, kind spec.Kind, members []int32) (Result, error) {
	answered := false
	for _, i := range members {
		answered = answered || !c.subject.View.Info[i]
	}
	if len(p.Saw)+len(p.Arbitration)+len(p.Views) > 0 || p.Pattern != nil {
		return refuse("part %q has evidence that is no order and no cycle, which level %s does not ask for", p.Key, c.Name), nil
	}
	if kind != spec.Consistent && len(p.Order)+len(p.Orders) > 0 {
		return refuse("part %q is no pass and has an order", p.Key), nil
	}
	if kind != spec.Violation && (len(p.Cycle)+len(p.Core)+len(p.Hints) > 0 || p.Exhausted) {
		return refuse("part %q is no violation and has a proof of one", p.Key), nil
	}
	switch kind {
	case spec.Vacuous:
		if answered {
			return refuse("part %q is not vacuous: an operation of it got an answer", p.Key), nil
		}
		return Result{}, nil
	case spec.Unknown:
		return cannot("part %q is unknown: there is nothing to check", p.Key), nil
	case spec.Consistent:
		if !answered {
			return refuse("part %q is vacuous: no operation of it got an answer", p.Key), nil
		}
		if c.contradicted(members) {
			return refuse("part %q: hints contradict each other, so no order is possible", p.Key), nil
		}
		if c.Parts != nil {
			return c.ordersOf(p, members)
		}
		return c.order(p, members)
	}
	if c.Parts == nil {
		return c.cycle(p, members), nil
	}
	for _, d := range c.Parts {
		if d.Name == p.Level {
			one := *c
			one.Definition = d
			return one.cycle(p, members), nil
		}
	}
	return refuse("part %q does not say which of the levels of %s it breaks", p.Key, c.Name), nil
}

// ordersOf checks the witnesses of a level that is several, one for each.
func (c *checker) ordersOf(p *FilePart, members []int32) (Result, error) {
	if len(p.Orders) != len(c.Parts) || len(p.Order) > 0 {
		return refuse("part %q has %d orders and not %d, one for each level of %s", p.Key, len(p.Orders), len(c.Parts), c.Name), nil
	}
	for i, d := range c.Parts {
		if p.Orders[i].Level != d.Name {
			return refuse("part %q: order %d is for %s and not for %s", p.Key, i, p.Orders[i].Level, d.Name), nil
		}
		one := *c
		one.Definition = d
		if r, err := one.order(&FilePart{Key: p.Key, Order: p.Orders[i].Order}, members); err != nil || r.Answer != Accepted {
			return r, err
		}
		c.notes = one.notes
	}
	return Result{}, nil
}

func (c *checker) order(p *FilePart, members []int32) (Result, error) {
	order := make([]int32, len(p.Order))
	for k, id := range p.Order {
		x, ok := c.at[id]
		if !ok {
			return refuse("part %q: there is no operation %d", p.Key, id), nil
		}
		order[k] = x
	}
	sampled, err := c.witness(c.subject, c.extra, members, order)
	if failed, ok := err.(*spec.StepError); ok {
		return Result{}, failed
	}
	if err != nil {
		return refuse("part %q: %v", p.Key, err), nil
	}
	if sampled {
		c.notes = append(c.notes, fmt.Sprintf("part %q: the order of the oracles was checked on a sample of pairs", p.Key))
	}
	c.orders = append(c.orders, order)
	return Result{}, nil
}

// ErrUnclear is wrapped by what TryCore says of a core that may well be one, but
// not by what can be checked.
var ErrUnclear = errors.New("that the other operations do not matter is not clear")

// core checks operations of a part that are impossible by themselves.
func (c *checker) core(p *FilePart, members []int32) Result {
	if c.file.TryCore == nil {
		return cannot("part %q rests on a core, and nobody tries its orders", p.Key)
	}
	core := make([]int32, len(p.Core))
	for k, id := range p.Core {
		x, ok := c.at[id]
		if !ok || !slices.Contains(members, x) {
			return refuse("part %q: there is no operation %d", p.Key, id)
		}
		core[k] = x
	}
	switch err := c.file.TryCore(c.subject, c.Definition, c.extra, core); {
	case errors.Is(err, ErrUnclear):
		return cannot("part %q: %v", p.Key, err)
	case err != nil:
		return refuse("part %q: %v", p.Key, err)
	}
	return Result{}
}

// hints checks operations of a part whose hints contradict each other.
func (c *checker) hints(p *FilePart, members []int32) Result {
	if c.file.Contradictions == nil {
		return cannot("part %q rests on hints that contradict each other, and nobody reads them", p.Key)
	}
	ops := make([]int32, len(p.Hints))
	for k, id := range p.Hints {
		x, ok := c.at[id]
		if !ok || !slices.Contains(members, x) {
			return refuse("part %q: there is no operation %d", p.Key, id)
		}
		ops[k] = x
	}
	if !slices.ContainsFunc(c.file.Contradictions(), func(of []int32) bool { return slices.Equal(of, ops) }) {
		return refuse("part %q: the hints of these operations do not contradict each other", p.Key)
	}
	return Result{}
}

// contradicted reports whether hints of some members contradict each other.
func (c *checker) contradicted(members []int32) bool {
	if c.file.Contradictions == nil {
		return false
	}
	in := make(map[int32]bool, len(members))
	for _, i := range members {
		in[i] = true
	}
	return slices.ContainsFunc(c.file.Contradictions(), func(ops []int32) bool {
		return !slices.ContainsFunc(ops, func(x int32) bool { return !in[x] })
	})
}

func (c *checker) cycle(p *FilePart, members []int32) Result {
	switch {
	case p.Exhausted && len(p.Cycle)+len(p.Core)+len(p.Hints) > 0, len(p.Cycle) > 0 && len(p.Core)+len(p.Hints) > 0, len(p.Core) > 0 && len(p.Hints) > 0:
		return refuse("part %q has two proofs", p.Key)
	case len(p.Hints) > 0:
		return c.hints(p, members)
	case len(p.Core) > 0:
		return c.core(p, members)
	case p.Exhausted:
		return cannot("part %q rests on a search that tried every order", p.Key)
	}
	in := make(map[int32]bool, len(members))
	for _, i := range members {
		in[i] = true
	}
	edges := make([]spec.Edge, len(p.Cycle))
	for k, e := range p.Cycle {
		from, ok := c.at[e.From]
		to, also := c.at[e.To]
		if !ok || !also || !in[from] || !in[to] {
			return refuse("part %q: edge %d of the cycle leaves the part", p.Key, k)
		}
		edges[k] = spec.Edge{From: from, To: to, Source: e.Source, Why: e.Why}
	}
	if err := c.circle(c.subject, c.extra, edges); err != nil {
		return refuse("part %q: %v", p.Key, err)
	}
	return Result{}
}
