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

// growRules are what a search knows of texts that are appended to.
var growRules = []mutation{
	grows("What is written later may be extended to a value that is demanded.", pinsGo,
		`if needs > 0 && p.origins[i] == 0 && !p`, `if needs > 0 && p.origins[i] < 99 && !p`),
	grows("An operation that has its value now does not wait for it.", pinsGo,
		`		if p.demand[x] == a.cell {
			needs-- // x itself has its value now
		}
		if needs > 0 && p.o`, `		if needs > 0 && p.o`),
	grows("Only what is left demands.", pinsGo, `if needs > 0 && p.origins[i]`, `if p.origins[i]`),
	grows("Going back counts writes again that a value may be an extension of.", pinsGo,
		`			p.origins[i] += n`, `			p.origins[i] += min(n, 0)`),
	grows("An operation that neither grows nor says what it leaves ends the rule.", pinsGo,
		`		case v.Read[x] || v.Idle != nil && v.Idle[x] || appends:
		case`, `		case v.Read[x] || v.Idle != nil && v.Idle[x] || appends || true:
		case`),
}

// grows is a rule about them.
func grows(name, file, from, to string) mutation {
	return by("engine", "TestGrowingEqualsPlainSearch", name, file, from, to)
}

// returnRules are how the first bad return is found.
var returnRules = []mutation{
	by("consistency", "TestFirstBadReturnIsTheFirst", "The first bad return is sought until the one before it is possible.", explainGo,
		`low+1 < high; {`, `low+2 < high; {`),
	by("consistency", "TestFirstBadReturnIsTheFirst", "What a cut shows to be a core is one of the whole history, or is left.", explainGo,
		` && k.stands(core.Ops) {`, ` {`),
	by("consistency", "TestFirstBadReturnIsTheFirst", "The operations that are named as impossible are those of the first bad return.", explainGo,
		`part.Proof = core
`, `_ = core
`),
	by("consistency", "TestLongExplanation", "The order of an explanation has states for each operation.", "engine/decide.go",
		`+ 1_000 + min(2*int64(p.View.N), farthest)`, `+ 1_000`),
	by("consistency", "TestFirstBadReturnIsTheFirst", "A cut knows no answer that came after it.", explainGo,
		`append(lost, k.place[i] >= int32(returned))`, `append(lost, k.view.Info[i])`),
}

const explainGo = "consistency/explain.go"
