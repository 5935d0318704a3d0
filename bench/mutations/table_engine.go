package main

// mutations is the table, in the order of docs/MUTATIONS.md.
var mutations = concat(searchRules, inferRules, growRules, returnRules, orderRules, levelRules, modelRules, modelFileRules, historyRules, importRules, evidenceRules, viewRules, viewEvidenceRules, laggingRules, registerRules, staleRules, stalenessRules, hierarchyRules, pathRules, grownRules, setPathRules, manyRules, faultRules, storeRules, harnessRules, oracleRules, epaxosRules, raftStoreRules)

func concat(tables ...[]mutation) (all []mutation) {
	for _, t := range tables {
		all = append(all, t...)
	}
	return all
}

// twin is a rule without which the engine and the twin disagree.
func twin(name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./consistency",
		Test: "TestEngineEqualsTwin", Args: []string{"-fuzz.n=10000"}}
}

// squeezed is twin on the histories whose times lie on a few instants.
func squeezed(name, file, from, to string) mutation {
	m := twin(name, file, from, to)
	m.Test = "TestEngineEqualsTwinSqueezed"
	return m
}

// by is a rule that the named test of a package guards.
func by(pkg, test, name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./" + pkg, Test: test}
}

const (
	searchGo = "engine/search.go"
	pinsGo   = "engine/pins.go"
	optGo    = "engine/optional.go"
)

// searchRules are those of the search: what it prunes, and why that is right.
// Equivalent, so not here: leaving idle operations in the list of optional ones
// (they change nothing, which is a rule of its own), and counting what the
// optional operation itself wants among the wants (one that writes what it
// wants is idle).
var searchRules = []mutation{
	by("engine", "TestUnansweredWhereTheyAreNeeded", "A read is placed at once only where it drops nothing.", searchGo,
		`!s.f.Ready(x) || !s.f.Strict(x) {`, `!s.f.Ready(x) {`),
	by("consistency", "TestNondeterministicEqualsTwin", "A read is placed at once only where it leaves the set of states as it is.", searchGo,
		`return ok && next == now`, `return ok && (next == now || true)`),
	by("engine", "TestReadsThatMoveTheState", "A read is placed at once only where the validity promises that it changes nothing.", searchGo,
		`if s.View.Read == nil || !s.Eager {`, `if s.View.Read == nil {`),
	by("engine", "TestUnansweredThatChangeNothing", "An unanswered operation that would change nothing is not placed.", optGo,
		`ok && next != now && !s.strands(y, now, next)`, `ok && !s.strands(y, now, next)`),
	by("engine", "TestUnansweredWhereTheyAreNeeded", "An operation stands for an optional one only where it drops nothing.", optGo,
		`s.object[c.op] == s.object[y] && s.f.Strict(c.op) {`, `s.object[c.op] == s.object[y] {`),
	by("engine", "TestUnansweredWhereTheyAreNeeded", "Nothing stands for an optional operation that precedes others.", optGo,
		`if s.class == nil || s.Graph.Bridge(y) {`, `if s.class == nil {`),
	by("engine", "TestUnansweredWhereTheyAreNeeded", "Only operations on one object stand for each other.", optGo,
		`s.object[c.op] == s.object[y] && s.f.Strict(c.op) {`, `s.f.Strict(c.op) {`),
	twin("Only operations that step alike stand for each other.", optGo,
		`s.class[c.op] == s.class[y] && s.object`, `s.object`),
	twin("The memory of configurations knows which optional operations are placed.", optGo,
		`o.bits[k>>3] ^= 1 << (k & 7)`, `o.bits[k>>3] ^= 0 << (k & 7)`),
	by("engine", "TestUnansweredWhereTheyAreNeeded", "The first of a lane stands for the others only where it drops nothing.", optGo,
		`if !l.alone && s.f.Strict(y) {`, `if !l.alone {`),
	twin("A lane is of one class.", optGo, `of := [2]int32{class[x], object[x]}`, `of := [2]int32{0, object[x]}`),
	by("engine", "TestUnansweredWhereTheyAreNeeded", "A lane is of one object.", optGo, `of := [2]int32{class[x], object[x]}`, `of := [2]int32{class[x], 0}`),
	twin("That one of a lane may not come yet says nothing of the others, unless times alone order them.", optGo,
		`				if s.optional.timed {`, `				if true {`),
	twin("A lane begins with the first that is not placed.", optGo, `		l.first = at
`, ``),
	by("engine", "TestForgettingChangesNoVerdict", "Where there is no room, configurations are forgotten.", searchGo, `	if !s.limits.Forget {
		return s.memo`, `	if true {
		return s.memo`),
	by("engine", "TestForgettingChangesNoVerdict", "Of what is old, what fewer unanswered operations could not do stays known, not what more could not.", "engine/memo.go",
		`if within(m.set(m.key(n-1)), m.set(key)) {`, `if within(m.set(key), m.set(m.key(n-1))) {`),
	by("engine", "TestResumedSearchGoesOn", "A search that goes on holds its memory again.", searchGo,
		`	s.live.Bytes.Add(s.memo.held()) // finish gave it back
`, ``),
	twin("The memory of configurations knows the states.", searchGo,
		`AppendUint32(k, uint32(n))`, `AppendUint32(k, uint32(n&0))`),
	twin("The memory of configurations knows the positions in the chains.", searchGo,
		`AppendUint16(k, uint16(p))`, `AppendUint16(k, uint16(p&0))`),
	by("engine", "TestChainsBeyond16Bits", "Chains of more than 65,535 operations have wider positions.", searchGo,
		`s.wide || len(ch) > 0xffff`, `s.wide || len(ch) > 0x7fffffff`),
	by("engine", "TestConstantHashSameVerdicts", "A hit of the memory compares whole keys.", "engine/memo.go",
		`slot>>32<<32 == tag && bytes.Equal(m.base(m.key(uint32(slot)-1)), m.base(key))`, `slot>>32<<32 == tag && bytes.Equal(nil, nil)`),
	by("engine", "TestMoreUnansweredMayHelp", "Where steps depend on what was placed, so does the memory of configurations.", searchGo,
		`	if s.watcher != nil {
		bits = 0`, `	if false {
		bits = 0`),
	by("engine", "TestMemoKnowsWhatFewerKnew", "What more unanswered operations cannot do, fewer may.", "engine/memo.go",
		`if within(held, set) {`, `if within(held, set) || within(set, held) {`),
	by("engine", "TestMemoKnowsWhatFewerKnew", "What fewer unanswered operations cannot do, more cannot.", "engine/memo.go",
		`if within(held, set) {`, `if bytes.Equal(held, set) {`),
	by("engine", "TestMemoKnowsWhatFewerKnew", "Every list of configurations is looked through to its end.", "engine/memo.go",
		`for n := first; n != 0; n = m.links[n-1] {`, `for n := first; n != 0; n = 0 {`),
	by("engine", "TestConfigurationsAreSearchedOnce", "A configuration seen before is not searched again.", searchGo,
		`if s.memo.insert(s.pack()) {`, `if s.memo.insert(s.pack()) || true {`),
	by("engine", "TestChildrenInOrder", "Soft order decides what is tried first.", searchGo,
		`cmp.Or(cmp.Compare(a.soft, b.soft), `, `cmp.Or(0, `),
	by("engine", "TestChildrenInOrder", "What returned first is tried first.", searchGo,
		`cmp.Compare(s.View.Ret[a.op], s.View.Ret[b.op])`, `0`),
	by("engine", "TestEachBudgetStopsAlone", "The budget of states is exact.", searchGo,
		`n >= s.limits.States:`, `n > s.limits.States:`),
	by("engine", "TestPinsEqualTwin", "Going back takes the values back that operations demand and write.", searchGo,
		`s.pins.count(last.op, 1)`, `s.pins.count(last.op, 0)`),
	by("engine", "TestPinsEqualTwin", "A value that somebody can still write may be overwritten.", pinsGo,
		` || p.gives[held] > 0 {`, ` {`),
	by("engine", "TestPinsEqualTwin", "Values are pinned only where every update says what it writes.", pinsGo,
		`if now == next || !p.exact[object] {`, `if now == next {`),
	by("engine", "TestPinsEqualTwin", "No write is unwanted where somebody observes that a value is not there.", pinsGo,
		`!p.exact[object] || !p.silent[object] {`, `!p.exact[object] {`),
	by("engine", "TestPinsEqualTwin", "An operation that overwrites a value has seen it itself.", pinsGo,
		`if p.demand[x] == held {`, `if false {`),
	squeezed("A part without an answer is vacuous.", "engine/decide.go", `if !answered {`, `if false {`),
	by("engine", "TestMalformedCircle", "A circle of session and real time is an error.", "engine/decide.go", `	if plain {`, `	if false {`),
}
