package main

const (
	checkGo   = "engine/verify/check.go"
	witnessGo = "engine/verify/witness.go"
	inOrderGo = "engine/verify/inorder.go"
	defineGo  = "engine/verify/definition.go"
)

// verifying is a rule of the verifier.
func verifying(test, name, file, from, to string) mutation {
	return by("engine/verify", test, name, file, from, to)
}

// evidenceRules are those of the verifier and of the twin, which check the
// engine and must be checked themselves. Equivalent, so not here: that the twin
// waits for the required operations before one (what it precedes is refused
// later), that what never returned precedes nothing in time (its return is the
// greatest time), and that unknown fields of a proof file are refused as they
// are read (what was read, written again, must be the same value).
var evidenceRules = []mutation{
	verifying("TestWitness", "A witness keeps the closure of the order, not only its edges.", inOrderGo, `closed := direct.Close()`, `closed := direct`),
	verifying("TestWitness", "A witness holds no operation twice.", witnessGo, `case seen[x]:`, `case false:`),
	verifying("TestWitness", "A witness holds every operation that got an answer.", witnessGo, `!seen[x] && !p.view.Info[x]`, `false`),
	verifying("TestWitness", "A witness is legal.", witnessGo, `return sampled, p.replay(placed)`, `return sampled, nil`),
	verifying("TestWitness", "A version beyond the last k is forgotten.", witnessGo, `len(longer) - max(p.Versions, 1)`, `len(longer) - max(p.Versions+1, 1)`),
	verifying("TestNondeterministicWitness", "A witness of a nondeterministic model follows every state.", witnessGo, `for _, s := range steps(m, past[len(past)-1], x) {`, `for _, s := range steps(m, past[len(past)-1], x)[:min(1, len(steps(m, past[len(past)-1], x)))] {`),
	verifying("TestManyOperations", "Large histories keep their sessions.", inOrderGo, `last >= 0 && place[x] < place[last]`, `false`),
	verifying("TestManyOperations", "Large histories keep real time.", inOrderGo, `ok && p.inTime(v, x, early)`, `false && ok && p.inTime(v, x, early)`),
	verifying("TestManyOperations", "Of operations that real time treats alike the latest call counts.", inOrderGo, `!ok || v.Call[x] > v.Call[old]`, `!ok || v.Call[x] < v.Call[old]`),
	verifying("TestCycleTurnedRound", "Every edge of a cycle holds.", "engine/verify/cycle.go", `!d.Holds(s.View, e.From, e.To) && (extra == nil || !extra(e.From, e.To))`, `false`),
	verifying("TestCycle", "A cycle is closed.", "engine/verify/cycle.go", `e.To != next.From {`, `false && e.To != next.From {`),
	verifying("TestCycle", "A cycle holds an operation that got an answer.", "engine/verify/cycle.go", `	if !required {`, `	if false {`),
	verifying("TestTamperedFiles", "A proof file belongs to one history.", checkGo, `case f.Digest != Digest(s):`, `case false:`),
	verifying("TestDigestCoversTheHistory", "The digest covers the times.", "engine/verify/file.go", `v.Invoke[i], v.Return[i], v.Call[i], v.Ret[i]}`, `v.Invoke[i], v.Call[i], v.Ret[i]}`),
	verifying("TestTamperedFiles", "A proof file has a part for every key.", checkGo, `if _, missing := code[name]; missing {`, `if _, missing := code[name]; missing && false {`),
	verifying("TestTamperedFiles", "A proof file names a key once.", checkGo, `delete(code, parts[i].Key)`, `_ = i`),
	verifying("TestTamperedFiles", "A file's verdict follows from its parts.", checkGo, `if c.file.Verdict != all.String() {`, `if false {`),
	verifying("TestTamperedFiles", "A vacuous part has no answer.", checkGo, `		if answered {`, `		if false {`),
	verifying("TestCheck", "The orders of the keys fit into one order.", checkGo, `open = c.join()`, `_ = c.join`),
	verifying("TestKeysThatMeetAtAnInstant", "Orders of large histories join only where sessions lie in real time.", "engine/verify/join.go", `session(v, a, b) && v.Key[a] != v.Key[b] && !c.inTime(v, a, b)`, `false && session(v, a, b) && v.Key[a] != v.Key[b] && !c.inTime(v, a, b)`),
	verifying("TestReadFile", "A proof file has every field, spelt exactly.", "engine/verify/file.go", `err != nil || same != value {`, `err != nil || same != value && false {`),
	verifying("TestBefore", "The definition puts ties in order where the history says so.", defineGo, `return !instants`, `return !instants && false`),
	by("engine/brute", "TestDecideIsTheDefinition", "The twin keeps order through operations that never happen.", "engine/brute/brute.go",
		`case s.after[x]&(placed|bit) != 0:`, `case false:`),
}
