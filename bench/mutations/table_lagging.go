package main

const (
	missingGo  = "consistency/missing.go"
	cosmosGo   = "consistency/cosmos.go"
	windowGo   = "consistency/logwindow.go"
	perOpGo    = "consistency/peroperation.go"
	levelFile  = "consistency/levelfile.go"
	everyGo    = "consistency/every.go"
	weakGo     = "engine/views/weak.go"
	lagGo      = "engine/verify/lag.go"
	definition = "engine/verify/definition.go"
)

// lagging is a rule of the levels whose reads may miss writes, guarded by the
// twin.
func lagging(name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./consistency",
		Test: "TestOrdersEqualTwin", Args: []string{"-breadth.n=20000"}}
}

// separated is a rule that a recorded pair of histories tells from its
// neighbour, where random histories seldom do.
func separated(name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./consistency", Test: "TestPairsAreSeparated"}
}

func classed(name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./consistency",
		Test: "TestPerOperationEqualsTwin", Args: []string{"-breadth.n=5000"}}
}

// laggingRules are those of k-linearizability, prefix-staleness, the Cosmos DB
// levels, weak regularity and levels per operation.
var laggingRules = []mutation{
	lagging("A read misses no more than it may.", missingGo, `func (g *missing) Step(state, op int32) (int32, bool) {
	if g.view.Read[op] && g.missed(op) > g.may {`, `func (g *missing) Step(state, op int32) (int32, bool) {
	if g.view.Read[op] && g.missed(op) > g.may+1 {`),
	lagging("Only the writes of its key count for a read.", missingGo, `	if !b.all {
		span.Within`, `	if false {
		span.Within`),
	lagging("At cosmos-tla2018 the writes of all keys count.", cosmosGo, `staleBy{writes: p.k, all: true}`, `staleBy{writes: p.k}`),
	lagging("At cosmos-tla2018 k writes may be missed, not k-1.", cosmosGo, `staleBy{writes: p.k, all: true}`, `staleBy{writes: p.k - 1, all: true}`),
	lagging("At cosmos-tla2018 the reads of a region do not go back.", cosmosGo, `order.Span{From: reads(v), To: reads(v), Within: v.Node}`, `order.Span{From: reads(v), To: func(int32) bool { return false }, Within: v.Node}`),
	lagging("At cosmos-tla2018 the reads of two regions are not ordered.", cosmosGo, `To: reads(v), Within: v.Node}`, `To: reads(v)}`),
	lagging("A write that was taken back is missed again.", missingGo, `func (b *byClock) Unplaced(op int32) { b.add(op, -1) }`, `func (b *byClock) Unplaced(op int32) {}`),
	lagging("Under clock errors by node every pair is asked.", missingGo, `	if len(sources) > 1 {
		return pairCounter`, `	if false {
		return pairCounter`),
	separated("Young writes may be missed.", missingGo, `	if b.aged {`, `	if false {`),
	lagging("Prefix-staleness by time grants the bound and not more.", cosmosGo, `return int64(t), v.Read[i] }`, `return int64(t) + 1, v.Read[i] }`),
	lagging("Prefix-staleness by time counts writes of every key.", cosmosGo, `order.Span{From: writes(v), To: reads(v), Early: early}`, `order.Span{From: writes(v), To: reads(v), Early: early, Within: v.Key}`),
	lagging("Cosmos-docs forgives neither bound.", cosmosGo, `[]params{{k: p.k + 1}, {t: p.t, hasT: true}}`, `[]params{{k: p.k + 1}}`),
	lagging("A search tells the level what it places.", searchGo, `	if s.watcher != nil {
		s.watcher.Placed(op)
	}`, ``),
	lagging("A search tells the level what it takes back.", searchGo, `		if s.watcher != nil {
			s.watcher.Unplaced(last.op)
		}`, ``),
	lagging("The window of a log counts writes of all keys.", windowGo, `version{next, w.length + 1}), w.length+1)`, `version{next, int32(len(list))}), int32(len(list)))`),
	lagging("The window of a log has k prefixes.", windowGo, `list[1].since-1 < length-w.k+1`, `list[1].since-1 < length-w.k`),
	lagging("A version that left the window is gone.", windowGo, `	for len(list) > 1 && list[1]`, `	for false && list[1]`),
	lagging("Where entries are counted over all keys, orders of keys do not merge.", partsGo, `if !merge || c.level.spans ||`, `if !merge ||`),

	classed("Real time does not bind what is untimed.", perOpGo, `return !list[i].Untimed }`, `return true }`),
	classed("Session order does not bind what is sessionless.", perOpGo, `return !list[i].Sessionless }`, `return true }`),
	classed("Session order binds all others.", perOpGo, `return !list[i].Sessionless }`, `return !list[i].Sessionless && !list[i].Untimed }`),
	classed("Only reads are early.", perOpGo, `list[i].EarlyRead(v.Read[i])`, `list[i].EarlyRead(true)`),
	by("consistency", "TestLoadLevel", "The first class that matches decides.", levelFile, `for k, b := range bind(v) {
			if b.Eval(i, i) == rule.True {`, `for k, b := range bind(v) {
			if k == len(f.classes)-1 && b.Eval(i, i) == rule.True {`),
	by("consistency", "TestLoadLevelRefuses", "The condition of a class is about one operation.", levelFile, `err == nil && !r.OnlyA()`, `false`),

	{Name: "Weakly regular: what was invoked after the read is not seen.", File: weakGo, Old: `y == x || w.before(x, y)`, New: `y == x`, Package: "./consistency", Test: "TestViewsEqualTwin", Args: []string{"-breadth.n=20000"}},
	{Name: "Weakly regular: what was overwritten before the read is not seen.", File: weakGo, Old: `		if between < 0 {
			return y`, New: `		if true {
			return y`, Package: "./consistency", Test: "TestViewsEqualTwin", Args: []string{"-breadth.n=20000"}},
	{Name: "Weakly regular: the initial value is older than every write.", File: weakGo, Old: `		if over = w.between(initially, x); over < 0 {`, New: `		if over = -1; over < 0 {`, Package: "./consistency", Test: "TestViewsEqualTwin", Args: []string{"-breadth.n=20000"}},
}
