package views

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// The writer of a demand: an operation, or one of these.
const (
	initially int32 = -1 // the initial value
	undecided int32 = -2
	absent    int32 = -3 // the operation has no answer and did not happen
)

// reader is a history with the question which write each demand saw.
type reader struct {
	v       *history.View
	object  []int32   // by operation: its key code
	demand  []int32   // by operation: cell that it saw, or -1
	write   []int32   // by operation: cell that it writes, or -1
	initial []int32   // by key code: cell that holds at first
	rank    []int64   // by operation: place in its session
	session [][]int32 // by process: operations in session order
	writers map[int32][]int32
	choices map[int32][]int32 // by demanding operation
	open    []int32           // operations with more than one choice, fewest first
	sure    []bool            // operations that happened for sure
	saw     []int32           // the assignment: by operation, writer, initially or undecided

	line []int32 // a topological order of causality under the assignment
	past past    // the room of the causal pasts
}

// newReader reads the tokens of the model. It fails with ErrModel where an
// update does not say what it leaves, or what it saw, or a failed
// compare-and-set only says what it did not see.
func newReader(p Problem) (*reader, error) {
	return newReaderOf(p, func(*history.View, int32) bool { return true })
}

// newReaderOf is newReader where what an operation saw matters only if counts
// says so.
func newReaderOf(p Problem, counts func(v *history.View, x int32) bool) (*reader, error) {
	v := p.View
	m, err := p.Machine(v)
	if err != nil {
		return nil, err
	}
	tokens, ok := m.(spec.Tokens)
	if !ok || v.Read == nil {
		return nil, ErrModel
	}
	r := &reader{v: v, object: v.Key, demand: make([]int32, v.N), write: make([]int32, v.N), rank: order.SessionRank(v),
		writers: map[int32][]int32{}, choices: map[int32][]int32{}, saw: make([]int32, v.N)}
	cells := map[[2]int32]int32{}
	cell := func(key, token int32) int32 {
		if token < 0 {
			return -1
		}
		k := [2]int32{key, token}
		if _, ok := cells[k]; !ok {
			cells[k] = int32(len(cells))
		}
		return cells[k]
	}
	for key := range v.KeyName {
		r.initial = append(r.initial, cell(int32(key), tokens.Held(m.Init(int32(key)))))
	}
	for x := range int32(v.N) {
		r.demand[x], r.write[x] = cell(v.Key[x], sees(tokens, v, x)), -1
		switch idle := v.Idle != nil && v.Idle[x]; {
		case !v.Read[x] && !idle:
			if r.write[x] = cell(v.Key[x], tokens.Write(x)); r.write[x] < 0 {
				return nil, fmt.Errorf("%w; %s does not", ErrModel, v.FName[v.F[x]])
			}
			if !v.Info[x] && r.demand[x] >= 0 && tokens.Demand(x) < 0 {
				return nil, fmt.Errorf("%w; the answer of a %s was not recorded", ErrModel, v.FName[v.F[x]])
			}
		case v.Read[x] && tokens.Observes(x):
			return nil, fmt.Errorf("%w; a failed %s says only what it did not see (--fail-cas drop leaves it out where its outcome is fail)", ErrModel, v.FName[v.F[x]])
		case idle:
			r.demand[x] = -1
		}
	}
	r.sessions()
	r.candidates()
	r.settle(func(x int32) bool { return counts(v, x) })
	return r, nil
}

// sees is the value that x saw: what it names, and for an answered read only
// what it says that it found.
func sees(t spec.Tokens, v *history.View, x int32) int32 {
	if v.Read[x] {
		return t.Demand(x)
	}
	return t.Want(x)
}

// forced reports whether x can have seen one thing only, and happened.
func (r *reader) forced(x int32) bool {
	return len(r.choices[x]) == 1 && r.choices[x][0] != absent
}

// sawEdges writes the assignment out.
func (r *reader) sawEdges() (edges []spec.SawEdge) {
	for x, w := range r.saw {
		if w >= initially {
			edges = append(edges, spec.SawEdge{Op: int32(x), Write: w})
		}
	}
	return edges
}

func (r *reader) sessions() {
	r.session = make([][]int32, len(r.v.ProcessName))
	for x := range int32(r.v.N) {
		r.session[r.v.Process[x]] = append(r.session[r.v.Process[x]], x)
	}
	for _, ops := range r.session {
		slices.SortFunc(ops, func(a, b int32) int { return cmp.Compare(r.rank[a], r.rank[b]) })
	}
}

// after reports whether b stands later than a in the session of both.
func (r *reader) after(a, b int32) bool {
	return r.v.Process[a] == r.v.Process[b] && r.rank[a] < r.rank[b]
}

// candidates lists for each demand what it may have seen: a write of its value
// to its key that is not later in its own session, or the initial value.
func (r *reader) candidates() {
	for x := range int32(r.v.N) {
		if r.write[x] >= 0 {
			r.writers[r.write[x]] = append(r.writers[r.write[x]], x)
		}
	}
	for x := range int32(r.v.N) {
		if r.demand[x] < 0 {
			continue
		}
		var cs []int32
		if r.initial[r.v.Key[x]] == r.demand[x] {
			cs = append(cs, initially)
		}
		for _, w := range r.writers[r.demand[x]] {
			if w != x && !r.after(x, w) {
				cs = append(cs, w)
			}
		}
		if r.v.Info[x] {
			cs = append(cs, absent)
		}
		r.choices[x] = cs
	}
}

// settle decides what there is nothing to choose about. An unanswered
// compare-and-set happened when an operation that counts, and happened, can have
// seen nothing else; it is taken not to have happened when no chain of what
// may have been seen leads to it from an operation that counts.
func (r *reader) settle(counts func(x int32) bool) {
	sure, wanted := make([]bool, r.v.N), make([]bool, r.v.N)
	r.sure = sure
	var queue []int32
	for x := range int32(r.v.N) {
		if !r.v.Info[x] && counts(x) {
			sure[x], wanted[x] = true, true
			queue = append(queue, x)
		}
	}
	for rest := slices.Clone(queue); len(rest) > 0; rest = rest[1:] {
		if cs := r.choices[rest[0]]; len(cs) == 1 && cs[0] >= 0 && !sure[cs[0]] {
			w := cs[0]
			sure[w] = true
			if n := len(r.choices[w]); n > 0 && r.choices[w][n-1] == absent {
				r.choices[w] = r.choices[w][:n-1]
			}
			rest = append(rest, w)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, w := range r.choices[queue[0]] {
			if w >= 0 && !wanted[w] {
				wanted[w] = true
				queue = append(queue, w)
			}
		}
	}
	r.open = nil
	for x := range int32(r.v.N) {
		r.saw[x] = undecided
		switch {
		case r.demand[x] < 0 || !r.v.Info[x] && !counts(x):
			continue
		case r.v.Info[x] && !wanted[x]:
			r.choices[x] = []int32{absent}
		}
		if len(r.choices[x]) == 1 {
			r.saw[x] = r.choices[x][0]
		} else {
			r.open = append(r.open, x)
		}
	}
	slices.SortStableFunc(r.open, func(a, b int32) int { return cmp.Compare(len(r.choices[a]), len(r.choices[b])) })
}

// try looks for an assignment that fits: fits is asked of every partial one
// (it must accept the parts of what it accepts) and, with complete set, of the
// whole. It returns true when found, the budget that ran out, or what was wrong:
// with every assignment, where one thing is (see certain), or else with the last
// of those that went farthest.
func (r *reader) try(ctx context.Context, limit int64, fits func(complete bool) (*spec.Proof, error)) (found bool, proof *spec.Proof, states int64, budget string, err error) {
	far, done := -1, false
	var walk func(depth int) bool
	walk = func(depth int) bool {
		states++
		switch {
		case ctx.Err() == context.DeadlineExceeded:
			budget = "time"
		case ctx.Err() != nil:
			budget = "cancelled"
		case limit > 0 && states > limit:
			budget = "states"
		}
		if budget != "" {
			return false
		}
		bad, e := fits(depth == len(r.open))
		if e != nil {
			err = e
			return false
		}
		if bad != nil {
			if done = r.certain(bad); done || depth >= far {
				far, proof = depth, bad
			}
			return false
		}
		if depth == len(r.open) {
			return true
		}
		x := r.open[depth]
		for _, w := range r.choices[x] {
			r.saw[x] = w
			if walk(depth + 1) {
				return true
			}
			if budget != "" || err != nil || done {
				break
			}
		}
		r.saw[x] = undecided
		return false
	}
	found = walk(0)
	if found {
		proof = nil
	}
	return found, proof, states, budget, err
}

// ghost returns a proof where something saw an operation that is taken not to
// have happened.
func (r *reader) ghost() *spec.Proof {
	for x, w := range r.saw {
		if w >= 0 && r.saw[w] == absent {
			return &spec.Proof{Kind: spec.ProofPattern, Words: "the last saw what the first wrote, which can have had no effect", Ops: []int32{w, int32(x)}}
		}
	}
	return nil
}

// begin reads the history for a level that asks which write each read saw. A
// nil reader says that the part is decided already: nothing was answered, or
// something was seen that nobody wrote.
func begin(p Problem) (*reader, spec.Part, error) {
	if !answered(p.View) {
		return nil, vacuous(p.View), nil
	}
	r, err := newReader(p)
	if err != nil {
		return nil, spec.Part{}, err
	}
	part := spec.Part{Ops: p.View.N, Engine: "views"}
	if x := r.orphan(); x >= 0 {
		part.Kind, part.Proof = spec.Violation, r.thinAir(x)
		return nil, part, nil
	}
	return r, part, nil
}

// orphan returns a demand that nothing can have answered, or -1.
func (r *reader) orphan() int32 {
	for _, x := range r.open {
		if len(r.choices[x]) == 0 {
			return x
		}
	}
	return -1
}
