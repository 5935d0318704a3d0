// Package models holds sequential specifications, one file each, and their
// registry.
//
// Every model is a typed spec.Model that a library user can call without any
// JSON, with constructors for its inputs:
//
//	m := models.Register(history.Int(0))
//	op := history.Op[models.RegisterIn, history.Value]{F: "write", In: models.Write(history.Int(7)), ...}
//
// The registry (All, Lookup) binds a recorded history, whose inputs and outputs
// are values, to a model by name.
//
// What no sequential specification says, such as bounds on a counter's reads or
// a list of lost elements, is an Analysis, with a registry of its own (Analyses,
// LookupAnalysis).
//
// Rules that hold for every model:
//
//   - Inputs, outputs and states are immutable and comparable; equal inputs and
//     outputs step alike in every state.
//   - Integers are exact at any size; nothing wraps around.
//   - Outputs are compared as values: 7 and "7" differ, and so do 1 and 1.0.
//   - An operation that answers nothing (a write) has the zero output, or NoOut.
//   - An answer that is not known may have been any that the state allows; only
//     unordered-queue needs several states for that (spec.Model.Steps).
//   - Locks with an owner know it from the input; in a recorded history it is the
//     process.
//   - ReadOnly is exact: it holds when the operation, with that input and that
//     output, leaves every state in which it is possible unchanged
//     (such operations need no branching: docs/ARCHITECTURE.md, section 6). It is a fact
//     about the operation, never about one state: a write of the value that is
//     already there is not read-only.
package models
