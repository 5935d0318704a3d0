package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// Analysis judges a recorded history without looking for an order: it checks
// conditions that hold of every right history, such as bounds on what a read
// may return. What it refutes is refuted for good; that it finds nothing wrong
// is less than an order.
type Analysis struct {
	Name string
	Doc  string
	Ops  []OpDoc
	// Initial says what the initial value may be; "" where there is none.
	Initial string
	// Run judges each key of h as an object of its own. What does not decode is a
	// *history.Error.
	Run func(h *history.Raw, o Options) (*Result, error)

	_ struct{}
}

// Finding is one thing that an Analysis noticed.
type Finding struct {
	Name string // "lost", "duplicated", ...
	Key  string // the object
	Bad  bool   // it makes the history invalid; else it is only worth knowing
	Ops  []int  // the operations involved, as positions in the history's Ops
	Text string // in words
}

// Result is what an Analysis says of a history.
type Result struct {
	Kind     spec.Kind
	Reason   string // why unknown or vacuous; "" otherwise
	Findings []Finding
	Counts   spec.Counts
	Parts    []ResultPart // by key, in the order of their first operations
}

// ResultPart is the answer for one key.
type ResultPart struct {
	Key    string
	Kind   spec.Kind
	Reason string
	Ops    int // operations that were looked at
}

// Verdict returns the result as the verdict of a check. The findings become
// notices, worst first; a caller that can show operations shows Findings
// instead.
func (r *Result) Verdict(analysis string) *spec.Verdict {
	v := &spec.Verdict{Kind: r.Kind, Model: analysis, Level: "analysis", Counts: r.Counts, Split: len(r.Parts) > 1}
	for _, p := range r.Parts {
		v.Parts = append(v.Parts, spec.Part{Key: p.Key, Kind: p.Kind, Ops: p.Ops, Engine: "analysis", Reason: p.Reason})
	}
	for _, bad := range []bool{true, false} {
		for _, f := range r.Findings {
			if f.Bad == bad {
				v.Notices = append(v.Notices, f.Name+": "+f.Text)
			}
		}
	}
	return v
}

// Analyses returns every analysis, sorted by name.
func Analyses() []Analysis {
	all := []Analysis{
		counterBounds(), totalQueue(), onceQueue(), setFinal(), setFull(), uniqueIDs(), longFork(),
	}
	slices.SortFunc(all, func(a, b Analysis) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// LookupAnalysis returns the analysis with the given name, or an error that
// wraps ErrUnknown and names the analyses there are.
func LookupAnalysis(name string) (Analysis, error) {
	var names []string
	for _, a := range Analyses() {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Analysis{}, fmt.Errorf("%w %q; %s", ErrUnknown, name, expected(name, names))
}

// object is one key's operations while it is judged. Its judge reports
// findings; the verdict follows from those, unless it settles on another.
type object[In, Out any] struct {
	*history.Of[In, Out]
	when
	ops     []int // positions in Ops, in the order of the history
	initial history.Value
	key     string
	found   []Finding
	part    ResultPart
}

// report notes a finding about operations.
func (b *object[In, Out]) report(bad bool, name string, ops []int, format string, args ...any) {
	b.found = append(b.found, Finding{Name: name, Key: b.key, Bad: bad, Ops: ops, Text: fmt.Sprintf(format, args...)})
	if bad {
		b.part.Kind, b.part.Reason = spec.Violation, ""
	}
}

// settle gives the verdict where nothing bad was found.
func (b *object[In, Out]) settle(kind spec.Kind, reason string) {
	if b.part.Kind != spec.Violation {
		b.part.Kind, b.part.Reason = kind, reason
	}
}

// known reports whether operation i answered, and the answer was recorded.
func (b *object[In, Out]) known(i int) bool {
	return b.Ops[i].Outcome == history.OK && !b.Ops[i].NoOut
}

// analysis completes a from the table of its operations and its judge.
func analysis[In, Out any](a Analysis, ops []operation[In, Out], judge func(b *object[In, Out])) Analysis {
	for i := range ops {
		a.Ops = append(a.Ops, ops[i].OpDoc)
	}
	a.Run = func(h *history.Raw, o Options) (*Result, error) {
		unknown, err := o.nilIsUnknown(h)
		if err != nil {
			return nil, err
		}
		b := &binder[In, Out]{h: h, model: a.Name, ops: ops, nilUnknown: unknown}
		typed, err := b.decode()
		if err != nil {
			return nil, err
		}
		initial := o.Initial
		if initial == history.Absent {
			initial = h.Header.Initial
		}
		r := &Result{Kind: spec.Vacuous, Reason: "the history holds no operation"}
		for _, part := range objects(typed, newWhen(h), initial) {
			judge(part)
			r.add(part.part, part.found)
		}
		r.Counts = counts(typed, len(r.Parts))
		return r, nil
	}
	return a
}

// objects splits a history by key.
func objects[In, Out any](h *history.Of[In, Out], w when, initial history.Value) (all []*object[In, Out]) {
	byKey := map[string]*object[In, Out]{}
	for i := range h.Ops {
		key := h.Ops[i].Key
		b := byKey[key]
		if b == nil {
			b = &object[In, Out]{Of: h, when: w, initial: initial, key: key, part: ResultPart{Key: key}}
			byKey[key] = b
			all = append(all, b)
		}
		b.ops = append(b.ops, i)
		b.part.Ops++
	}
	return all
}

func (r *Result) add(p ResultPart, found []Finding) {
	if r.Kind == spec.Vacuous || spec.Worse(r.Kind, p.Kind) != r.Kind {
		r.Kind, r.Reason = p.Kind, p.Reason
	}
	r.Parts = append(r.Parts, p)
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Ops[0], b.Ops[0]) })
	r.Findings = append(r.Findings, found...)
}

func counts[In, Out any](h *history.Of[In, Out], keys int) (c spec.Counts) {
	c.Keys = keys
	for i := range h.Ops {
		switch op := &h.Ops[i]; {
		case op.Outcome == history.Fail:
			c.Fail++
		case op.Outcome == history.Info:
			c.Info++
		default:
			c.OK++
			if !op.NoOut {
				c.Constrained++
			}
		}
	}
	return c
}

// ignored is for operations that take nothing, where a recorder may have noted
// something all the same, such as the key or what is about to be returned.
func ignored[In any](in In) func(history.Value) (In, string) {
	return func(history.Value) (In, string) { return in, "" }
}

// tally holds operations by the value that they are about, and the values in
// the order of their first appearance.
type tally struct {
	by     map[history.Value][]int
	values []history.Value
}

func (t *tally) add(v history.Value, op int) {
	if t.by == nil {
		t.by = map[history.Value][]int{}
	}
	if t.by[v] == nil {
		t.values = append(t.values, v)
	}
	t.by[v] = append(t.by[v], op)
}

// among returns how many of ops have the given outcome.
func (b *object[In, Out]) among(ops []int, outcome history.Outcome) (n int) {
	for _, i := range ops {
		if b.Ops[i].Outcome == outcome {
			n++
		}
	}
	return n
}
