// Package views decides levels that have no single order of all operations:
// every process may see an order of its own, or reads are judged one by one
// against what they must have seen.
//
// PRAM asks the search of package engine once for each process. The causal
// levels and the session guarantees without a single order first settle which
// write each read saw. Where values are unique there is nothing to choose and
// the rest is polynomial (Bouajjani, Enea, Guerraoui, Hamza, "On verifying
// causal consistency", POPL 2017); where values repeat, every assignment may
// have to be tried, which is NP-complete (same paper), and the number of tried
// assignments counts against the budget of states.
//
// All of it ranges over all keys together. An operation without an answer may
// have happened; one that nobody saw is left out.
package views

import (
	"context"
	"errors"
	"fmt"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// Problem is what is decided.
type Problem struct {
	View    *history.View
	Machine func(v *history.View) (spec.Machine, error) // for the View or a Slice of it
	Limits  engine.Limits
	Live    *engine.Live
}

// ErrModel is returned, wrapped, where a level needs to know which write a
// read saw and the model or the history does not let it.
var ErrModel = errors.New("the level needs a register-like model, in which a read names the value it saw and an update the value it leaves")

// answered reports whether any operation has an answer.
func answered(v *history.View) bool {
	for _, info := range v.Info {
		if !info {
			return true
		}
	}
	return false
}

func vacuous(v *history.View) spec.Part {
	return spec.Part{Kind: spec.Vacuous, Ops: v.N, Reason: "no operation has an answer"}
}

// Pram decides PRAM (Lipton and Sandberg, 1988): for each process there is an
// order of all updates and its own reads that keeps the order of every process
// and is legal.
func Pram(ctx context.Context, p Problem) (spec.Part, error) {
	v := p.View
	if v.Read == nil {
		return spec.Part{}, spec.ErrCannotTell
	}
	if !answered(v) {
		return vacuous(v), nil
	}
	session := order.Session(v, nil, false)
	return eachProcess(ctx, p, []order.Source{session}, view{
		member:     func(process, x int32) bool { return !v.Read[x] || v.Process[x] == process },
		impossible: func(process int32) *spec.Proof { return pramProof(ctx, p, process) },
	})
}

// view says what the order of a process is about.
type view struct {
	member func(process, x int32) bool
	// knows: its members happened even where they got no answer, and each
	// process has members of its own. Otherwise all updates are members of all
	// views, and one that got no answer may be left out.
	knows      bool
	causes     func(x int32) bool // with knows: x happened only where it saw what it demands
	impossible func(process int32) *spec.Proof
}

// eachProcess decides, process by process, whether the members of its view have
// a legal order under the hard order sources.
func eachProcess(ctx context.Context, p Problem, sources []order.Source, w view) (spec.Part, error) {
	v := p.View
	whole := spec.Part{Kind: spec.Consistent, Ops: v.N, Engine: "views"}
	for process := range int32(len(v.ProcessName)) {
		keep, own := w.of(v, process)
		if len(keep) == 0 || !own && !w.knows && process > 0 {
			continue // it read nothing: its view is the updates alone, which every view holds
		}
		part, err := w.decide(ctx, p, sources, keep, process)
		if err != nil {
			return whole, err
		}
		whole.States += part.States
		if part.Kind == spec.Violation || part.Kind == spec.Unknown {
			part.States, part.Ops, part.Engine = whole.States, v.N, "views"
			part.Process = v.ProcessName[process]
			if part.Kind == spec.Violation && !isPattern(part.Proof) {
				part.Proof = better(w.impossible(process), part.Proof)
			}
			return part, nil
		}
		whole.Views = append(whole.Views, spec.ViewOrder{Process: v.ProcessName[process], Order: part.Witness})
	}
	return whole, nil
}

// patience is how many states, for each operation, a search may take before a
// proof is tried in its stead. A variable for tests.
var patience = 20

// decide decides the view of one process: by a search, and where that takes
// long, by a proof that it is in vain.
func (w view) decide(ctx context.Context, p Problem, sources []order.Source, keep []int32, process int32) (spec.Part, error) {
	short := p
	short.Limits.States = int64(max(1, patience*len(keep)))
	if p.Limits.States > 0 && p.Limits.States <= short.Limits.States {
		return decideView(ctx, p, sources, keep, w)
	}
	part, err := decideView(ctx, short, sources, keep, w)
	if err != nil || part.Kind != spec.Unknown || part.Budget != "states" {
		return part, err
	}
	if proof := w.impossible(process); isPattern(proof) {
		return spec.Part{Kind: spec.Violation, Proof: proof, States: part.States}, nil
	}
	return decideView(ctx, p, sources, keep, w)
}

// better is the proof by steps where there is one, and otherwise what the search
// says.
func better(steps, search *spec.Proof) *spec.Proof {
	if isPattern(steps) || search == nil || search.Words == "" {
		return steps
	}
	search.Kind = spec.ProofExhausted
	return search
}

// isPattern reports whether the proof is a pattern of these levels.
func isPattern(p *spec.Proof) bool {
	return p != nil && p.Kind == spec.ProofPattern && p.Name != ""
}

// of lists the operations in the view of a process; own says that some read of
// its is among them.
func (w view) of(v *history.View, process int32) (keep []int32, own bool) {
	for i := range int32(v.N) {
		if w.member(process, i) {
			keep = append(keep, i)
			own = own || v.Read[i]
		}
	}
	return keep, own
}

func decideView(ctx context.Context, p Problem, sources []order.Source, keep []int32, w view) (spec.Part, error) {
	sub := p.View.Slice(keep)
	m, err := p.Machine(sub)
	if err != nil {
		return spec.Part{}, err
	}
	asked := sub
	if w.knows {
		m, asked = w.required(m, sub, keep)
	}
	rules := (&order.Rules{View: p.View, Hard: sources}).Slice(keep, asked)
	part, err := engine.Decide(ctx, engine.Task{Rules: rules, Machine: m, Eager: true, Limits: p.Limits, Live: p.Live, Focus: -1})
	if err != nil {
		return part, fmt.Errorf("the view of one process: %w", err)
	}
	part.Translate(func(x int32) int32 { return keep[x] })
	return part, nil
}

// required makes operations without an answer required, which then had their
// effect.
func (w view) required(m spec.Machine, sub *history.View, keep []int32) (spec.Machine, *history.View) {
	e := &effective{Machine: m, wants: map[int32]int32{}}
	asked := *sub
	asked.Info = make([]bool, sub.N)
	unanswered := false
	tokens, _ := m.(spec.Tokens)
	for i, x := range keep {
		unanswered = unanswered || sub.Info[i]
		if w.causes(x) {
			e.wants[int32(i)] = tokens.Want(int32(i))
		}
	}
	if !unanswered {
		return m, sub
	}
	e.Tokens = tokens
	return e, &asked
}

// effective is a register-like Machine under which unanswered operations that
// want a value are legal only where it is held.
type effective struct {
	spec.Machine
	Tokens spec.Tokens // not embedded: a search must not draw conclusions from what it says of operations without an answer
	wants  map[int32]int32
}

// Step implements spec.Machine.
func (e *effective) Step(state, op int32) (int32, bool) {
	if want, ok := e.wants[op]; ok && e.Tokens.Held(state) != want {
		return 0, false
	}
	return e.Machine.Step(state, op)
}

// Describe implements spec.Describer.
func (e *effective) Describe(state int32) string { return spec.DescribeState(e.Machine, state) }

// Bytes implements spec.Sizer.
func (e *effective) Bytes() int64 { return spec.BytesOf(e.Machine) }
