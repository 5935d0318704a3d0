package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// Cas replaces the value from by to, if from is what the register holds.
func Cas(from, to history.Value) RegisterIn { return RegisterIn{F: "cas", Value: from, To: to} }

// CasRegister is a Register with compare-and-set, whose output is history.True
// or history.False.
func CasRegister(initial history.Value) spec.Model[history.Value, RegisterIn, history.Value] {
	if initial == history.Absent {
		initial = history.Null
	}
	return spec.Model[history.Value, RegisterIn, history.Value]{
		Name:  "cas-register",
		Init:  func() history.Value { return initial },
		Apply: registerApply,
		ReadOnly: func(in RegisterIn, out *history.Value) bool {
			switch in.F {
			case "read":
				return true
			case "cas":
				return in.Value == in.To || out != nil && *out == history.False
			}
			return false
		},
		Holds: func(s history.Value) any { return s },
		Demands: func(in RegisterIn, out *history.Value) (any, bool) {
			switch {
			case in.F == "read" && out != nil:
				return *out, true
			case in.F == "cas" && (out == nil || *out == history.True):
				return in.Value, true
			}
			return nil, false
		},
		Writes: func(in RegisterIn, out *history.Value) (any, bool) {
			switch {
			case in.F == "write":
				return in.Value, true
			case in.F == "cas" && (out == nil || *out == history.True):
				return in.To, true
			}
			return nil, false
		},
		Avoids: func(in RegisterIn, out *history.Value) (any, bool) {
			return in.Value, in.F == "cas" && out != nil && *out == history.False
		},
		Text:     registerText,
		Describe: history.Value.Label,
	}
}

func casRegisterEntry() Entry {
	ops := append(registerOps(), operation[RegisterIn, history.Value]{
		OpDoc: OpDoc{F: "cas", Aliases: []string{"compare-and-set"}, In: "[from, to]", Out: casDoc},
		in:    pairInput(Cas), out: casOutput,
	})
	return entry(Entry{
		Name:    "cas-register",
		Doc:     "One value that is written, read, and compared and set.",
		Initial: "any value; null",
	}, ops, func(initial history.Value) (spec.Model[history.Value, RegisterIn, history.Value], error) {
		return CasRegister(initial), nil
	})
}
