package main

const (
	eraseGo    = "engine/spec/erase.go"
	validityGo = "engine/spec/validity.go"
	classesGo  = "engine/spec/classes.go"
	bindGo     = "models/bind.go"
)

// modelRules are what a legal sequence is: validity, erasure, the models.
var modelRules = []mutation{
	twin("A read sees the last k versions and no older one.", validityGo, `if len(list) == s.k {`, `if len(list) == s.k+1 {`),
	twin("A read sees every one of the last k versions.", validityGo, `for i := len(list) - 1; i >= 0; i-- {`, `for i := len(list) - 1; i >= len(list)-1; i-- {`),
	twin("A write of the value that is there makes a version.", validityGo, `	return s.push(list, next), true`, `	if next == list[len(list)-1] {
		return state, true
	}
	return s.push(list, next), true`),
	twin("The initial state is a version.", validityGo, `if len(list) == s.k {`, `if len(list) == s.k || len(list) == 1 {`),
	twin("A write works on the newest version.", validityGo, `s.base.Step(list[len(list)-1], op)`, `s.base.Step(list[0], op)`),
	twin("Lists of versions share no array.", validityGo, `	fresh := make([]int32, 0, len(list)+1)
	return s.number(append(append(fresh, list...), next))`, `	return s.number(append(list, next))`),
	by("consistency", "TestNondeterministicEqualsTwin", "A step over a set of states follows every one.", validityGo,
		`	for _, n := range s.members[state] {
		all`, `	for _, n := range s.members[state][:1] {
		all`),
	by("consistency", "TestNondeterministicEqualsTwin", "Every past of a nondeterministic model has its own versions.", validityGo,
		`		for _, n := range list {
			if len(s.nd`, `		for _, n := range list[len(list)-1:] {
			if len(s.nd`),
	by("engine/spec", "TestEraseUnanswered", "What an unanswered operation holds as output is ignored.", eraseGo,
		`op.Outcome == history.OK && !op.NoOut`, `!op.NoOut`),
	by("models", "TestNilReads", "An answer that was not recorded constrains nothing.", bindGo,
		`	if o.nilRead && null && b.nilUnknown {
		return in, out, false, nil`, `	if o.nilRead && null && b.nilUnknown {
		return in, out, true, nil`),
	by("engine/spec", "TestEraseUnanswered", "An operation without an answer is never a read.", classesGo,
		`readOnly && !v.Info[i], readOnly && v.Info[i]`, `readOnly, readOnly && v.Info[i]`),
	by("engine/spec", "TestCutForgetsAnswers", "A cut forgets answers that came after it.", eraseGo,
		`		return nil // also where`, `		return t.output(t.index[op]) // also where`),
	by("engine/spec", "TestCutForgetsAnswers", "An operation whose answer is cut off steps like no other.", eraseGo,
		`if t.Known[i] && t.view.Info[op] {`, `if false {`),
	by("models", "TestNilReads", "A read of nil is unknown where the rule says so.", bindGo, `if o.nilRead && null && b.nilUnknown {`, `if false {`),
	by("models", "TestNilReads", "A read of nil means that nothing is there where the rule says so.", bindGo, `if o.nilRead && null && b.nilUnknown {`, `if o.nilRead && null {`),
	by("models", "TestNilReads", "The rule about nil is about reads.", bindGo, `if o.nilRead && null && b.nilUnknown {`, `if null && b.nilUnknown {`),
	by("models", "TestFailedOperations", "What came back with a failed operation is ignored.", bindGo, `if raw.Outcome != history.OK || raw.NoOut {`, `if raw.Outcome == history.Info || raw.NoOut {`),
	by("models", "TestStories", "A cas that failed changes nothing.", "models/register.go", `return s, history.False, true`, `return in.To, history.False, true`),
	by("models", "TestReadOnlyIsExact", "A cas that failed is a read.", "models/cas_register.go",
		`return in.Value == in.To || out != nil && *out == history.False`, `return in.Value == in.To`),
	by("models", "TestStories", "A cas compares.", "models/register.go", `if s == in.Value {`, `if true {`),
	by("models", "TestStories", "A cas without a recorded answer succeeded.", "models/decode.go", `		return history.True, true, ""
	}
	return boolOutput(r)`, `		return history.True, false, ""
	}
	return boolOutput(r)`),
	by("models", "TestReadOnlyIsExact", "A successful cas is a write.", "models/cas_register.go",
		`in.Value == in.To || out != nil && *out == history.False`, `in.Value == in.To || out != nil`),
	by("models", "TestRepeatedInputIsNoAnswerInForeignFormats", "Only foreign formats repeat the input for an answer.", bindGo,
		`b.h.Format != "" && b.h.Format != "native"`, `true`),
}
