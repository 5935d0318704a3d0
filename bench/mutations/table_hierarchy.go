package main

const (
	ladderGo = "consistency/ladder.go"
	chartGo  = "consistency/chart.go"
)

// hierarchyRules are what is said of the levels: which implies which, and which
// is local. A wrong row is no error of the checker, but the ladder concludes
// from it, and a wrong flag splits what must not be split.
var hierarchyRules = []mutation{
	onLitmus("Causal does not imply PRAM.", ladderGo, `{"causal", "writes-follow-reads"},`, `{"causal", "writes-follow-reads"}, {"causal", "pram"},`),
	onLitmus("PRAM does not imply causal.", ladderGo, `{"pram", "monotonic-writes"},`, `{"pram", "monotonic-writes"}, {"pram", "causal"},`),
	onRandom("Ordered-sequential does not imply regular-sequential.", ladderGo, `{"ordered-sequential", "timeline"},`, `{"ordered-sequential", "timeline"}, {"ordered-sequential", "regular-sequential"},`),
	onRandom("Regular does not imply sequential.", ladderGo, `{"regular", "safe"},`, `{"regular", "safe"}, {"regular", "sequential"},`),
	onLitmus("Causal memory implies PRAM only without compare-and-sets.", chartGo, `{"causal-memory", "pram", BlindOnly},`, `{"causal-memory", "pram", Stronger},`),
	onRandom("Prefix-linearizable is prefix-sequential only without compare-and-sets.", chartGo, `{"prefix-sequential", "prefix-linearizable", BlindSame},`, `{"prefix-sequential", "prefix-linearizable", Same},`),
	onRandom("A greater bound in time allows more, not less.", chartGo, `{"bounded-staleness:t=T", "bounded-staleness:t=T+", Stronger},`, `{"bounded-staleness:t=T+", "bounded-staleness:t=T", Stronger},`),
	onRandom("Sequential is all four guarantees under one order, not three.", chartGo, `{"sequential", allGuarantees, Same},`, `{"sequential", guaranteesName + "read-your-writes+monotonic-reads+monotonic-writes", Same},`),
	by("consistency", "TestHierarchyIsNeighbours", "The chart leaves out what follows from other rows.", chartGo, `if leads(rest, e.From, e.To, e.Blind, len(c.Nodes)) {`, `if e.Blind && leads(rest, e.From, e.To, e.Blind, len(c.Nodes)) {`),
	by("consistency", "TestEveryLevelHasAPlace", "Every level has a place in the chart.", ladderGo, `	{"regular", "safe"},
`, ``),
	onKeys("TestLocality", "Sequential allows keys apart that it does not allow together.", levelsGo,
		`How to Make a Multiprocessor Computer That Correctly Executes Multiprocess Programs\", 1979",`, `How to Make a Multiprocessor Computer That Correctly Executes Multiprocess Programs\", 1979", local: true,`),
	onKeys("TestLocality", "PRAM allows keys apart that it does not allow together.", levelsGo,
		`as usual (the Pine paper counts three)",`, `as usual (the Pine paper counts three)", local: true,`),
	onKeys("TestLocalityFiles", "Real-time-writes allows keys apart that it does not allow together.", levelsGo,
		`"Pine, arXiv 2608.17388, 2026",`, `"Pine, arXiv 2608.17388, 2026", local: true,`),
	onKeys("TestLocalityFiles", "No history of timeline tells the whole from its keys.", levelsGo,
		`VLDB 2008", local: true,`, `VLDB 2008",`),
	onKeys("TestLocalityFiles", "Monotonic writes cross keys.", chartGo,
		`neverCrosses = []string{`, `neverCrosses = []string{"monotonic-writes", `),
}

// onLitmus is a row of the hierarchy that a kept history refutes.
func onLitmus(name, file, from, to string) mutation {
	return by("consistency", "TestHierarchyOnLitmus", name, file, from, to)
}

// onRandom is a row of the hierarchy that random histories refute.
func onRandom(name, file, from, to string) mutation {
	m := by("consistency", "TestHierarchy", name, file, from, to)
	m.Args = []string{"-hierarchy.n=3000", "-hierarchy.engine=0"}
	return m
}

// onKeys is a flag of locality.
func onKeys(test, name, file, from, to string) mutation {
	m := by("consistency", test, name, file, from, to)
	m.Args = []string{"-locality.n=1000", "-locality.engine=0"}
	return m
}
