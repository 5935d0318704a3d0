package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// RegisterIn is the input of register and cas-register; Write, Read and Cas
// make one.
type RegisterIn struct {
	F         string // "write", "read" or "cas"
	Value, To history.Value
}

// Write puts v into a register.
func Write(v history.Value) RegisterIn { return RegisterIn{F: "write", Value: v} }

// Read asks for a register's value.
func Read() RegisterIn { return RegisterIn{F: "read"} }

// Register is one value that is written and read. The output of a read is the
// value, of a write history.Absent. An absent initial value is null.
func Register(initial history.Value) spec.Model[history.Value, RegisterIn, history.Value] {
	m := CasRegister(initial)
	m.Name = "register"
	m.Apply = func(s history.Value, in RegisterIn) (history.Value, history.Value, bool) {
		if in.F == "cas" {
			panic(noSuch("register", in.F))
		}
		return registerApply(s, in)
	}
	return m
}

func registerApply(s history.Value, in RegisterIn) (next, out history.Value, ok bool) {
	switch in.F {
	case "write":
		return in.Value, history.Absent, true
	case "read":
		return s, s, true
	case "cas":
		if s == in.Value {
			return in.To, history.True, true
		}
		return s, history.False, true
	}
	panic(noSuch("cas-register", in.F))
}

func registerText(in RegisterIn, out *history.Value) string {
	switch in.F {
	case "write":
		return "write " + in.Value.Label()
	case "cas":
		return answered("cas "+in.Value.Label()+" to "+in.To.Label(), out, "null")
	}
	return answered(in.F, out, "null")
}

func registerOps() []operation[RegisterIn, history.Value] {
	return []operation[RegisterIn, history.Value]{{
		OpDoc: OpDoc{F: "write", Aliases: []string{"put"}, In: "the value"},
		in:    anyInput(Write), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "read", Aliases: []string{"get"}, Out: "the value"},
		in:    noInput(Read()), out: anyOutput, nilRead: true,
	}}
}

func registerEntry() Entry {
	return entry(Entry{
		Name:    "register",
		Doc:     "One value that is written and read.",
		Initial: "any value; null",
	}, registerOps(), func(initial history.Value) (spec.Model[history.Value, RegisterIn, history.Value], error) {
		return Register(initial), nil
	})
}
