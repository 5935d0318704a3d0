package main

const (
	dependenciesGo = "engine/order/dependencies.go"
	indexGo        = "engine/order/index.go"
	sparseGo       = "engine/order/sparse.go"
	ruleSplitGo    = "oracles/rule/split.go"
	quantifierGo   = "oracles/rule/quantifier.go"
	oracleRulesGo  = "oracles/rules.go"
	factsGo        = "oracles/facts.go"
)

// often is a rule that random histories with hints need many tries for.
func often(name, file, from, to string) mutation {
	m := by("oracles", "TestVerdictsEqualTheDefinitions", name, file, from, to)
	m.Args = []string{"-oracles.verdicts=5000"}
	return m
}

// oracleRules are those of the oracles: forms of order, quantifiers, the planner,
// findings, and each built-in one.
var oracleRules = []mutation{
	by("engine/order", "TestDependencies", "Inside a component of dependencies a lower seq comes first.", dependenciesGo,
		"		return d.h.Seq[a] < d.h.Seq[b]\n	}\n	return d.depends", "		return d.h.Seq[a] <= d.h.Seq[b]\n	}\n	return d.depends"),
	by("engine/order", "TestDependencies", "Where an operation without hints may lie between, only a greater seq follows.", dependenciesGo,
		`(!d.open[d.comp[a]] || d.h.Seq[a] < d.h.Seq[b])`, `(!d.open[d.comp[a]] || true)`),
	by("engine/order", "TestDependencies", "What may depend on an operation without hints passes that on.", dependenciesGo,
		`out[c] = out[c] || out[comp[s]]`, `_ = s`),
	by("engine/order", "TestDependencies", "An instance that no recorded operation has may be one without hints.", dependenciesGo,
		`return uint64(to-from) < uint64(known)+1`, `return uint64(to-from) < uint64(known)`),
	by("engine/order", "TestDependencies", "An operation that was invoked later is no dependency.", dependenciesGo,
		`v.ClockError.ByNode == nil && call > add(`, `v.ClockError.ByNode != nil && call > add(`),
	by("engine/order", "TestDependencies", "An operation depends on what its dependencies reach, not beyond.", dependenciesGo,
		`g.succ[i] = append(g.succ[i], r.first+int32(k)-1)`, `g.succ[i] = append(g.succ[i], r.first+min(int32(k), int32(len(r.insts))-1))`),
	by("engine/order", "TestDependencies", "Groups of operations do not depend on each other.", dependenciesGo,
		`!d.h.Has[b] || d.group(a) != d.group(b) {`, `!d.h.Has[b] {`),
	by("engine/order", "TestIndexes", "The last predecessor is looked for from the end.", indexGo,
		`	if m := t.search(2*node+1, stretch{mid, here.to}, wanted, may, exact); m >= 0 {
		return m
	}
	return t.search(2*node, stretch{here.from, mid}, wanted, may, exact)`, `	if m := t.search(2*node, stretch{here.from, mid}, wanted, may, exact); m >= 0 {
		return m
	}
	return t.search(2*node+1, stretch{mid, here.to}, wanted, may, exact)`),
	by("engine/order", "TestIndexes", "Nothing is looked for only where all that follows is too late on a clock that must agree.", indexGo,
		`if floor >= end || least[floor] >= in[k] {`, `if floor >= end || least[floor]+1 >= in[k] {`),
	by("engine/order", "TestIndexes", "The bound on a clock is behind the last Out that is low enough.", indexGo,
		`		end = high
	}`, `		end = low
	}`),
	by("engine/order", "TestIndexes", "Clocks that may disagree bound nothing.", formsGo,
		`newSuffixes(list, clocks[:must])`, `newSuffixes(list, clocks)`),
	by("engine/order", "TestIndexes", "What stands before the floor is not found.", indexGo,
		`if m, ok := at[a]; ok && m >= floor {`, `if m, ok := at[a]; ok {`),
	by("engine/order", "TestIndexes", "A dominance of some clocks may fail on the others.", formsGo,
		`must, spare := len(d.Must), len(d.Clocks)-d.AtLeast`, `must, spare := len(d.Must), 0*d.AtLeast`),
	by("engine/order", "TestCoverOfAClock", "An operation joins the first chain that it can.", "engine/order/cover.go",
		`if node *= 2; e.least[node] >= in {`, `if node *= 2; e.least[node] >= in || e.least[node+1] < in {`),
	by("engine/order", "TestCoverOfAClock", "The tree of ends knows the newest end of a chain.", "engine/order/cover.go",
		`e.least[node] = min(e.least[2*node], e.least[2*node+1])
	}
}

// grow`, `e.least[node] = min(e.least[node], e.least[2*node])
	}
}

// grow`),
	by("engine/order", "TestGraphStops", "The making of a graph stops while chains are made.", "engine/order/cover.go",
		`if stop != nil && stop() {`, `if stop != nil && false {`),
	by("engine/order", "TestGraphStops", "The making of a graph stops while order is carried through lost operations.", graphGo,
		`		if b.stop() {
			return
		}
		b.never[y]`, `		b.never[y]`),
	by("engine/order", "TestSparse", "A chain's own edges are kept where a relation is replaced.", sparseGo,
		`pairs[g.general[k]] = append(pairs[g.general[k]], [2]int32{a, x})`, `_, _ = a, x`),
	by("engine/order", "TestSparse", "The last of a chain that comes before an operation is kept.", sparseGo,
		`pairs[n.by] = append(pairs[n.by], [2]int32{g.Chains[n.chain][n.count-1], x})`, `_ = n`),
	by("engine/order", "TestSparse", "Relations with edges of operations without an answer are not replaced.", sparseGo,
		`	if g.lost {`, `	if false {`),
	by("engine/order", "TestFrontierEqualsClosure", "Operations without an answer may come before others.", graphGo,
		`	general := b.optionalPrecede()`, `	general := false`),
	by("oracles", "TestRulesTwin", "Numbers too great to be doubled go by their order.", "oracles/rules.go",
		`if least >= -great && most <= great {`, `if most <= math.MaxInt64 {`),
	by("oracles/rule", "TestQuantifierTwin", "A supermajority is f + ceil(f/2) + 1.", quantifierGo, `return f + (f+1)/2 + 1`, `return f + f/2 + 1`),
	by("oracles/rule", "TestQuantifierTwin", "A quantifier over nothing is unknown.", quantifierGo, `return len(list), ok && len(list) > 0`, `return len(list), ok`),
	by("oracles/rule", "TestQuantifierTwin", "At least n is false only once n can no longer be.", quantifierGo, `case Unknown:
				may++`, `case Unknown:
				may += 0`),
	by("oracles/rule", "TestQuantifierTwin", "At most n is not at least n+1.", quantifierGo, `want++ // at most n`, `want += 0 // at most n`),
	by("oracles/rule", "TestQuantifierTwin", "What an instance asks of one operation is asked.", ruleSplitGo, `if asks(op) != True {`, `if asks(op) == False {`),
	by("oracles/rule", "TestQuantifierTwin", "A threshold that differs by operation does not come apart.", ruleSplitGo,
		`len(list) != n && len(list) > 0 {`, `len(list) != n && len(list) > 9 {`),
	by("oracles", "TestOwnErrorsOfDominance", "Two halves of the clocks may order a pair both ways.", oracleRulesGo,
		`2*s.parts.AtLeast > len(s.each)`, `2*s.parts.AtLeast >= len(s.each)`),
	by("oracles", "TestBuiltinsEqualTheirFiles", "Beyond the end of a's array all holds by itself.", oracleRulesGo,
		`clock.Out[i] = math.MinInt64
`, `clock.Out[i] = order.OutNever
`),
	by("oracles", "TestBuiltinsEqualTheirFiles", "Equal numbers precede where the comparison says so.", oracleRulesGo,
		`				clock.In[i]++
`, ``),
	by("oracles", "TestManyPairsAreSaid", "A rule that tries too many pairs says so.", oracleRulesGo, `n > manyPairs {`, `n > 2*manyPairs {`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "Unique is about writes.", factsGo, `if v.Read[i] || v.Info[i] || slices`, `if v.Info[i] || slices`),
	by("oracles", "TestUniqueByKey", "Unique is per key, unless of all.", factsGo, `			if !allKeys {
				at.key`, `			if false {
				at.key`),
	often("A read that names a write and returned another value is a finding.", factsGo,
		`if !slices.ContainsFunc(named, right) {`, `if false && !slices.ContainsFunc(named, right) {`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "A hint older than every write may name the initial value.", factsGo,
		`!w.some || m < w.least || len(wrote) == 0 {`, `!w.some || len(wrote) == 0 {`),
	often("A value whose write has no answer contradicts nothing.", factsGo,
		`!ok || v.Info[x] {
			return`, `!ok || v.Info[x] {
			continue`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "A read may miss as many entries as the bound says, and no more.", "oracles/staleness.go",
		`<= uint64(s.entries) {`, `< uint64(s.entries) {`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "A read may miss what was acknowledged within the bound in time.", "oracles/staleness.go",
		`return int64(s.time), v.Read[i] }`, `return 0, v.Read[i] }`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "Nothing sees the future under bounded staleness by the log.", "oracles/staleness.go",
		`r.AddHard(order.RealTimeName, source.Relation)`, `_ = source`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "Of a number line, a write comes before a read at the same place.", "oracles/numberline.go",
		`			if v.Read[i] {
					t++`, `			if !v.Read[i] {
					t++`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "Carstamps and terms: a write comes before a read at the same place.", "oracles/consensus.go",
		`if ties && v.Read[i] {`, `if ties && !v.Read[i] {`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "Erwin: indexes count in one view.", "oracles/erwin.go",
		`	sameView.Within = numbered(v, view)
`, ``),
	by("oracles", "TestVerdictsEqualTheDefinitions", "Erwin: a read has seen an append that is at most its index everywhere.", "oracles/erwin.go",
		`return atMost(v, at(k), idx) }`, `return lower(v, at(k), idx) }`),
	by("oracles", "TestBuiltinsEqualTheirFiles", "Skyros: a supermajority, not a majority, holds the order.", "oracles/skyros.go",
		`return f + (f+1)/2 + 1`, `return f + 1`),
	by("oracles", "TestSkyrosOfSeveralLengths", "Skyros: of arrays of several lengths each has a supermajority of its own.", "oracles/skyros.go",
		`Clocks: clocks[:m], AtLeast: enough(m), Reason`, `Clocks: clocks, AtLeast: enough(len(clocks)), Reason`),
	by("oracles", "TestSkyrosOfSeveralLengths", "Skyros: a dominance orders only the writes of its length.", "oracles/skyros.go",
		`if list, ok := array.List(i); !ok || len(list) != m {`, `if list, ok := array.List(i); ok && len(list) == 0 {`),
	by("oracles", "TestBuiltinsEqualTheirFiles", "Skyros: the leader holds the order too.", "oracles/skyros.go",
		`lower(v, where(write, atLeader), where(write, atLeader))
	writes.Within`, `lower(v, where(write, view), where(write, func(i int32) (int64, bool) { n, ok := view(i); return n + 1, ok }))
	writes.Within`),
	by("oracles", "TestBuiltinsEqualTheirFiles", "The pair rule for EPaxos: one way only.", "oracles/epaxos.go",
		`return known && on && knows && !back`, `return known && on && !back && (knows || !knows)`),
	by("oracles", "TestPairRuleAccusesACorrectStore", "EPaxos goes by components, not by pairs.", "oracles/epaxos.go",
		`epaxosHints.order("", false))`, `epaxosByPairs)`),
	by("oracles", "TestSeveralOraclesTogether", "Soft order against hard order is counted.", "consistency/conflicts.go", `	if against > 0 {`, `	if against > 1 {`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "An order that a path finds without hints must keep the hints.", "engine/decide.go",
		`found.Kind == spec.Consistent && !obeys(g, found.Witness)`, `found.Kind == spec.Consistent && !obeys(g, found.Witness) && false`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "A finding is a violation.", "engine/decide.go", `if len(r.Findings) > 0 {`, `if len(r.Findings) > 1 {`),
	by("oracles", "TestVerdictsEqualTheDefinitions", "A finding across keys is looked for before the keys are decided apart.", "consistency/parts.go",
		`if len(c.rules.Findings) > 0 {`, `if len(c.rules.Findings) > 9 {`),
	by("oracles", "TestForgedHints", "Only hints that contradict each other are a proof.", "engine/verify/check.go",
		`return slices.Equal(of, ops) }) {`, `return len(of) == len(ops) }) {`),
	by("oracles", "TestForgedHints", "No order is a pass where hints contradict each other.", "engine/verify/check.go",
		`if c.contradicted(members) {`, `if false && c.contradicted(members) {`),
}
