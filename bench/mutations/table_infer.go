package main

const inferGo = "engine/infer.go"

// inferRules are what a search may infer of a model that tells nothing.
var inferRules = []mutation{
	guess("What a guessed register forbids is proved before it is believed.", `res.Kind == spec.Violation && !f.prove(stop)`, `false`),
	guess("An operation may find what was left by updates that were invoked before it returned.",
		`f.in[f.byIn[i]] > f.out[x] })`, `f.in[f.byIn[i]] > f.in[x] })`),
	guess("An operation may find what an unanswered update left.",
		`if y != x && f.in[y] <= f.out[x] {`, `if false {`),
	guess("An operation may find the initial state while no update is over.",
		`		f.add(f.initial)`, ``),
}

// guess is a rule of the inference of registers.
func guess(name, from, to string) mutation {
	return by("engine", "TestInferredRegisterEqualsSearch", name, inferGo, from, to)
}
