package main

const (
	manyGo         = "engine/paths/many.go"
	manyWritersGo  = "engine/paths/many_writers.go"
	manyWebGo      = "engine/paths/many_web.go"
	manySettleGo   = "engine/paths/many_settle.go"
	manyScheduleGo = "engine/paths/many_schedule.go"
	manyProofGo    = "engine/paths/many_proof.go"
)

// many is a rule that the comparison of the path over several keys guards.
func many(name, file, from, to string) mutation {
	return by("engine/paths", "TestManyKeysEqualSearch", name, file, from, to)
}

// guessed is a rule of that path where it must guess.
func guessed(name, file, from, to string) mutation {
	return by("engine/paths", "TestManyKeysGuess", name, file, from, to)
}

// logOrder is a rule of logs under any hard order.
func logOrder(name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./engine/paths", Test: "TestLogUnderAnyOrderEqualsSearch", Args: []string{"-fuzz.n=20000"}}
}

// manyRules are those of the fast path over several register-like keys.
// Equivalent, so not here: that a write before a read comes before what was
// read, which guesses would find, too.
var manyRules = []mutation{
	many("What says which value was not there does not stand where it is.", "engine/paths/aside.go",
		`if from > to || held == a.avoid[i] {`, `if from > to {`),
	{Name: "On one clock what is put back stands before what follows it.", File: "engine/paths/aside.go",
		Old: `if !ok || gap > w.to(c.Out[x]) {`, New: `if !ok {`,
		Package: "./engine/paths", Test: "TestRegisterPathEqualsSearch", Args: []string{"-fuzz.n=20000"}},
	many("On one clock what is put back does not stand where its value is.", "engine/paths/aside.go",
		`if runs[k].value != avoid {`, `if true {`),
	many("What is put back stands after what precedes it.", "engine/paths/aside.go",
		`			if h.precedes(y, x) {`, `			if false {`),
	logOrder("A deadline is passed on through the order of hints.", "engine/order/spread.go",
		`		for _, n := range g.needs(x) {
			if n.count > 0 && l.Most[x]`, `		for _, n := range g.needs(x) {
			if false && l.Most[x]`),
	logOrder("A release is passed on through clocks.", "engine/order/spread.go",
		`raise(x, clocks[i][k].below(c.before(k, c.In[x])))`, `raise(x, clocks[i][k].below(0))`),
	by("engine/paths", "TestSeenWithoutAnswerBoundsWhatPrecedes", "An entry that was seen bounds what precedes it although it has no answer.", "engine/order/spread.go",
		`if g.Optional[x] && must(x) {`, `if false {`),
	logOrder("The append with the earliest deadline goes first.", "engine/paths/logorder.go",
		`return h.Most[h.ops[i]] < h.Most[h.ops[j]]`, `return h.ops[i] < h.ops[j]`),
	logOrder("Appends without an answer fill what must be filled.", "engine/paths/logorder.go",
		`case len(fillers) > 0 && l.Least[fillers[0]] <= k:`, `case false:`),
	logOrder("An append that comes too late refutes.", "engine/paths/logorder.go",
		`if h.Len() > 0 && l.Most[h.ops[0]] < k {`, `if false {`),
	many("A write without an answer happened where it was read.", manyGo,
		`k.live[from], k.because[from] = true, x`, `k.because[from] = x`),
	many("A write without an answer that was read reads, too.", manyGo,
		`if k.demand[from] >= 0 {`, `if false {`),
	many("Of several writes of a value in a key, one that is meant must be the only one.", manyWritersGo,
		`return from, true`, `return from, false`),
	many("A write is out for a read only where another comes between on one clock.", manyWritersGo,
		`groupOf(c, y) == groupOf(c, x) && c.Out[y] < c.In[over]`, `groupOf(c, y) == groupOf(c, x)`),
	many("Each chain of several keys is in hard order.", manyWebGo,
		`if !ok || !follows(c, x) {`, `if !ok {`),
	many("Clocks order several keys.", manyWebGo,
		`last[j] = max(last[j], w.pos[y]+1)`, `last[j] = max(last[j], 1)`),
	many("Explicit edges order several keys.", manyWebGo,
		`w.raw(here[a], here[b])`, `_ = b`),
	many("Reads of the initial value come before all writes of the key.", manySettleGo,
		`ops[0] != r && !w.before(r, ops[0])`, `false`),
	many("What was overwritten was read before.", manySettleGo,
		`if r != x && !w.before(r, x) {`, `if false {`),
	many("A compare-and-set may overwrite what it read itself.", manySettleGo,
		`if r != x && !w.before(r, x) {`, `if !w.before(r, x) {`),
	many("An operation that comes before itself refutes.", manySettleGo,
		`if chain == w.chain[y] && count > w.pos[y] && w.knot < 0 {`, `if false {`),
	many("A write waits until what it overwrites was read by all.", manyScheduleGo,
		`return *s.pending(s.key[x]) == mine`, `return *s.pending(s.key[x]) >= mine`),
	guessed("Two writes are tried in both orders.", manyScheduleGo,
		`if !g.turned {`, `if false {`),
	guessed("A guess that failed leaves nothing behind.", manySettleGo,
		`w.row[w.trail[i].at] = w.trail[i].was`, `_ = i`),
	by("engine/paths", "TestManyKeysDrift", "A write that is taken back leaves what was there.", manyScheduleGo,
		`s.current[key] = s.was[x]`, `_ = s.was[x]`),
	by("engine/paths", "TestManyKeysDrift", "A read that is taken back is still to come.", manyScheduleGo,
		`*s.pending(key)++`, `_ = s.pending(key)`),
	many("A core of several keys holds what its operations read from.", manyProofGo,
		`todo = append(todo, k.from[x], k.because[x])`, `todo = append(todo, k.from[x])`),
	many("A core may be of several registers.", coreGo,
		`if !ok && registerLike(s) {`, `if false {`),
	by("consistency", "TestManyKeysBeforeMerge", "A path over all keys comes before a merge of many operations.", partsGo,
		`if c.view.N <= soonMerged {`, `if true {`),
}
