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
	return eachProcess(ctx, p, []order.Source{session}, nil)
}

// eachProcess decides, process by process, whether its reads and the updates
// that count for it (nil: all of them) have a legal order under the hard order
// sources.
func eachProcess(ctx context.Context, p Problem, sources []order.Source, counts func(process, op int32) bool) (spec.Part, error) {
	v := p.View
	whole := spec.Part{Kind: spec.Consistent, Ops: v.N, Engine: "views"}
	for process := range int32(len(v.ProcessName)) {
		keep, own := viewOf(v, process, counts)
		if !own && counts == nil && process > 0 {
			continue // it read nothing: its view is the updates alone, which every view holds
		}
		part, err := decideView(ctx, p, sources, keep)
		if err != nil {
			return whole, err
		}
		whole.States += part.States
		if part.Kind == spec.Violation || part.Kind == spec.Unknown {
			part.States, part.Ops, part.Engine = whole.States, v.N, "views"
			part.Process = v.ProcessName[process]
			return part, nil
		}
		whole.Views = append(whole.Views, spec.ViewOrder{Process: v.ProcessName[process], Order: part.Witness})
	}
	return whole, nil
}

// viewOf lists the operations in the view of a process; own says that some
// read of its is among them.
func viewOf(v *history.View, process int32, counts func(process, op int32) bool) (keep []int32, own bool) {
	for i := range int32(v.N) {
		mine := v.Process[i] == process
		if v.Read[i] && mine || !v.Read[i] && (mine || counts == nil || counts(process, i)) {
			keep = append(keep, i)
			own = own || v.Read[i]
		}
	}
	return keep, own
}

func decideView(ctx context.Context, p Problem, sources []order.Source, keep []int32) (spec.Part, error) {
	sub := p.View.Slice(keep)
	m, err := p.Machine(sub)
	if err != nil {
		return spec.Part{}, err
	}
	rules := (&order.Rules{View: p.View, Hard: sources}).Slice(keep, sub)
	part, err := engine.Decide(ctx, engine.Task{Rules: rules, Machine: m, Eager: true, Limits: p.Limits, Live: p.Live, Focus: -1})
	if err != nil {
		return part, fmt.Errorf("the view of one process: %w", err)
	}
	part.Translate(func(x int32) int32 { return keep[x] })
	return part, nil
}
