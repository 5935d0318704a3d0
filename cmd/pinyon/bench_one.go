package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pinyon/bench/gen"
	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// benchJob is what a process measures: one check of one history.
type benchJob struct {
	Shape     *gen.Shape    `json:"shape,omitempty"` // nil: of File
	File      string        `json:"file,omitempty"`  // "": it is made in memory
	Level     string        `json:"level,omitempty"`
	Oracles   []string      `json:"oracles,omitempty"`  // none, whatever the file claims, where empty
	NoSoft    bool          `json:"no_soft,omitempty"`  // leave their soft order out
	Modified  bool          `json:"modified,omitempty"` // write their order into the times, and check without them
	Engine    string        `json:"engine,omitempty"`
	Explain   bool          `json:"explain,omitempty"` // a violation, which no rival does
	Opaque    bool          `json:"opaque,omitempty"`  // the model says nothing but how to step
	Budget    time.Duration `json:"budget,omitempty"`
	MaxStates int64         `json:"max_states,omitempty"`
}

// measure is what a check cost. The rival prints the fields that both have.
type measure struct {
	Verdict string  `json:"verdict"`
	Engine  string  `json:"engine,omitempty"` // what decided
	Tried   string  `json:"tried,omitempty"`  // the fast path that did not, and why
	States  int64   `json:"states,omitempty"`
	Ops     int     `json:"ops,omitempty"`
	CPU     float64 `json:"cpu_s"`   // processor seconds of the check, all processors together
	Wall    float64 `json:"wall_s"`  //
	PeakMB  float64 `json:"peak_mb"` // most resident memory during the check
	BaseMB  float64 `json:"base_mb"` // resident memory before it
}

// added is the memory that the check added, in MB.
func (m *measure) added() float64 { return max(0, m.PeakMB-m.BaseMB) }

// benchOne runs the job that a parent gave and prints its measure.
func (a *app) benchOne(ctx context.Context, text string) error {
	var job benchJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		return usagef("--one: %v", err)
	}
	h, err := a.benchHistory(&job)
	if err != nil {
		return err
	}
	level, err := consistency.LookupLevel(firstOf(job.Level, h.Header.Level, "linearizable"))
	if err != nil {
		return usagef("%v", err)
	}
	opts := consistency.Options{Engine: job.Engine, Timeout: job.Budget, MaxStates: job.MaxStates, Mute: !job.Explain}
	if opts.Oracles, err = job.oracles(); err != nil {
		return err
	}
	if job.Modified {
		if err := modify(h, opts.Oracles); err != nil {
			return err
		}
		opts.Oracles = nil
	}
	check := benchCheck(h)
	if job.Opaque {
		typed := opaqueHistory(h)
		check = func(ctx context.Context, level consistency.Level, o consistency.Options) (*spec.Verdict, error) {
			return consistency.Check(ctx, typed, opaqueModel(typed.Header.Initial), level, o)
		}
	}
	defer limitMemory(0)()
	runtime.GC()
	debug.FreeOSMemory()
	m := measure{Ops: len(h.Ops), BaseMB: resetPeak()}
	cpu, start := processTime(), time.Now()
	v, err := check(ctx, level, opts)
	m.CPU, m.Wall = (processTime() - cpu).Seconds(), time.Since(start).Seconds()
	m.PeakMB = residentPeak()
	if err != nil {
		return err
	}
	m.Verdict = v.Kind.String()
	var engines, tried []string
	for i := range v.Parts {
		m.States += v.Parts[i].States
		engines, tried = append(engines, v.Parts[i].Engine), append(tried, v.Parts[i].Tried)
	}
	m.Engine, m.Tried = distinct(engines, "+"), distinct(tried, "; ")
	return unwritten(json.NewEncoder(a.stdout).Encode(&m))
}

// distinct joins the different words of a list, sorted.
func distinct(words []string, by string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	slices.Sort(words)
	return strings.Join(slices.Compact(words), by)
}

// benchHistory makes or reads the history of a job.
func (a *app) benchHistory(job *benchJob) (*history.Raw, error) {
	if job.File == "" {
		return job.Shape.History()
	}
	f := &readFlags{}
	f.add(&cobra.Command{}) // for the defaults
	l, err := a.load(job.File, f)
	if err != nil {
		return nil, err
	}
	l.raw.Header.Model = firstOf(l.raw.Header.Model, modelOfFormat[l.report.Format])
	return l.raw, nil
}

// benchCheck decides from operations in memory, which for a model of Pinyon's own
// are recorded values: validation and decoding into the model's types are part
// of it.
func benchCheck(h *history.Raw) func(context.Context, consistency.Level, consistency.Options) (*spec.Verdict, error) {
	return func(ctx context.Context, level consistency.Level, o consistency.Options) (*spec.Verdict, error) {
		if err := history.Validate(h); err != nil {
			return nil, err
		}
		e, err := models.Lookup(h.Header.Model)
		if err != nil {
			return nil, usagef("%v", err)
		}
		s, err := e.Bind(h, models.Options{Initial: h.Header.Initial, NilRead: h.Header.NilRead})
		if err != nil {
			return nil, err
		}
		return consistency.CheckSubject(ctx, s, level, o)
	}
}

// opaqueIn is the input of a register of which nothing is known.
type opaqueIn struct {
	write bool
	value history.Value
}

// opaqueModel is a register as a user may write it in a hurry: it steps, and
// says nothing of what reads, holds or demands what.
func opaqueModel(initial history.Value) spec.Model[history.Value, opaqueIn, history.Value] {
	return spec.Model[history.Value, opaqueIn, history.Value]{
		Name: "opaque",
		Init: func() history.Value { return initial },
		Step: func(s history.Value, in opaqueIn, out *history.Value) (history.Value, bool) {
			if in.write {
				return in.value, true
			}
			return s, out == nil || *out == s
		},
		Text: func(in opaqueIn, out *history.Value) string { return fmt.Sprint(in, out) },
	}
}

// opaqueHistory gives the operations of a register that model's types.
func opaqueHistory(h *history.Raw) *history.Of[opaqueIn, history.Value] {
	typed := &history.Of[opaqueIn, history.Value]{Header: h.Header, IDs: h.IDs, Ops: make([]history.Op[opaqueIn, history.Value], len(h.Ops))}
	for i := range h.Ops {
		from := &h.Ops[i]
		typed.Ops[i] = history.Op[opaqueIn, history.Value]{
			Process: from.Process, F: from.F, Key: from.Key, In: opaqueIn{from.F == "write", from.In}, Out: from.Out,
			Invoke: from.Invoke, Return: from.Return, Outcome: from.Outcome, NoOut: from.NoOut,
		}
	}
	return typed
}
