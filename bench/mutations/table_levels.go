package main

const (
	ordersGo = "consistency/orders.go"
	splitGo  = "consistency/split.go"
	partsGo  = "consistency/parts.go"
	levelsGo = "consistency/levels.go"
)

// levelRules are the definitions of the levels and what may be decided key by
// key. Equivalent, so not here: asking only the last operation of a session
// whether it lies in real time, and not the last of another key (where the
// first edge to a key lies in real time, the later ones do).
var levelRules = []mutation{
	squeezed("Linearizable keeps sessions.", ordersGo, `func orderAll(v *history.View, r *order.Rules) error {
	addAll(r, order.Session(v, nil, false))`, `func orderAll(v *history.View, r *order.Rules) error {`),
	twin("Linearizable keeps real time.", ordersGo, `order.Span{})...)`, `order.Span{To: func(int32) bool { return false }})...)`),
	twin("Sequential keeps sessions across keys.", ordersGo, `func orderSession(v *history.View, r *order.Rules) error {
	addAll(r, order.Session(v, nil, false))`, `func orderSession(v *history.View, r *order.Rules) error {
	addAll(r, order.Session(v, nil, true))`),
	twin("Per-key-sequential keeps sessions within a key only.", ordersGo, `order.Session(v, nil, true)`, `order.Session(v, nil, false)`),
	twin("Ordered-sequential leaves reads free of real time.", ordersGo, `order.Span{To: writes(v)}`, `order.Span{}`),
	twin("Ordered-sequential orders reads before later writes.", ordersGo, `order.Span{To: writes(v)}`, `order.Span{From: writes(v), To: writes(v)}`),
	twin("Real-time-writes does not order reads before later writes.", ordersGo, `order.Span{From: writes(v), To: writes(v)}`, `order.Span{To: writes(v)}`),
	twin("Real-time-writes does not order writes before later reads.", ordersGo, `order.Span{From: writes(v), To: writes(v)}`, `order.Span{From: writes(v)}`),
	twin("Regular-sequential orders writes before later reads of their key.", ordersGo, `To: reads(v), Within: v.Key}`, `To: func(int32) bool { return false }, Within: v.Key}`),
	by("consistency", "TestRegularSequentialByKey", "Regular-sequential does not order writes before reads of another key.", ordersGo, `To: reads(v), Within: v.Key}`, `To: reads(v)}`),
	twin("Regular-sequential does not order reads by real time.", ordersGo, `order.Span{From: writes(v), To: reads(v)`, `order.Span{To: reads(v)`),
	twin("Bounded staleness by time keeps sessions of writes.", ordersGo, `order.Session(v, writes(v), false)`, `order.Session(v, func(int32) bool { return false }, false)`),
	twin("Bounded staleness by time frees reads from their session.", ordersGo, `order.Session(v, writes(v), false)`, `order.Session(v, nil, false)`),
	twin("Bounded staleness by time grants the bound and not more.", ordersGo, `return int64(t), true`, `return int64(t) + 1, true`),
	twin("Bounded staleness by time moves reads only.", ordersGo, `			if v.Read[i] {
				return int64(t), true`, `			if v.Read[i] || true {
				return int64(t), true`),
	twin("Bounded staleness by time and versions has both.", levelsGo, `	if p.k > 0 {
		l.Validity`, `	if p.k > 0 && !p.hasT {
		l.Validity`),
	by("consistency", "TestLevelsThatAskForReads", "A level that asks for reads refuses a model that cannot tell.", ordersGo,
		`	if v.Read == nil {
		return spec.ErrCannotTell`, `	if false {
		return spec.ErrCannotTell`),
	by("consistency", "TestTimesRunForwards", "A bound in time refuses lines whose times run backwards.", "consistency/check.go",
		`case s.View.Order == history.ByLine:`, `case false:`),
	by("consistency", "TestBoundInTimeNeedsTimes", "A bound in time refuses a history without times.", "consistency/check.go",
		`case s.View.Untimed:`, `case false:`),
	by("consistency", "TestOneKeyMayOnlyConvict", "One key alone may only convict at a level that is not local.", "consistency/check.go",
		`	c.onlyConvicts(verdict)
`, ``),
	by("consistency", "TestNoLevelIsNoPass", "A level without a name or an order is refused.", "consistency/check.go",
		`if level.Name == "" || level.Order == nil && level.views == nil && level.all == nil {`, `if false {`),
	by("consistency", "TestOnlyLocalLevelsAreSplit", "Sequential is not local.", levelsGo,
		`How to Make a Multiprocessor Computer That Correctly Executes Multiprocess Programs\", 1979",`, `How to Make a Multiprocessor Computer That Correctly Executes Multiprocess Programs\", 1979", local: true,`),
	by("consistency", "TestOnlyLocalLevelsAreSplit", "Ordered-sequential is not local.", levelsGo, `with A the updates",`, `with A the updates", local: true,`),
	by("consistency", "TestOnlyLocalLevelsAreSplit", "Real-time-writes is not local.", levelsGo, `"Pine, arXiv 2608.17388, 2026",`, `"Pine, arXiv 2608.17388, 2026", local: true,`),
	by("consistency", "TestOnlyLocalLevelsAreSplit", "Regular-sequential is not local.", levelsGo, `SOSP 2021, stated here as remembered",`, `SOSP 2021, stated here as remembered", local: true,`),

	by(".", "TestReasons", "Sessions that go beyond real time forbid splitting by key.", splitGo, `!s.PerKey && !c.sessionInRealTime(s)`, `!s.PerKey && false`),
	twin("A key that is vacuous alone convicts nobody.", partsGo, `		if parts[i].Kind == spec.Violation {
			p := parts[i]`, `		if parts[i].Kind != spec.Consistent {
			p := parts[i]`),
	twin("The orders of the keys are merged under all hard order.", partsGo,
		`append(append([]order.Source(nil), rules.Hard...), order.Source{Relation: edges, Name: "merge"})`, `append(append([]order.Source(nil), rules.Hard[:0]...), order.Source{Relation: edges, Name: "merge"})`),
	twin("The merged order keeps the orders of the keys.", partsGo, `pairs = append(pairs, [2]int32{at[p.Witness[i-1]], at[x]})`, `_, _ = i, x`),
	by("consistency", "TestUnknownKeyIsNoPass", "Orders are merged only when every key has one.", partsGo, `if !merge || c.level.spans || c.answered() == 0 {`, `if c.level.spans || c.answered() == 0 {`),
	by("consistency", "TestKeysOverTheirShareOfMemory", "A key over its share of the memory is decided again with all of it.", partsGo,
		`if workers > 1 && parts[i].Budget == "memory" && i < q.stopAt {`, `if false {`),
	by("engine/spec", "TestWorse", "A violation outranks what is unknown.", "engine/spec/verdict.go", `Violation: 3, Unknown: 2`, `Violation: 2, Unknown: 3`),
	by("engine/spec", "TestWorse", "What is unknown outranks a pass.", "engine/spec/verdict.go", `Consistent: 1, Violation: 3, Unknown: 2`, `Consistent: 2, Violation: 3, Unknown: 1`),
	by("engine/spec", "TestWorse", "A pass outranks what is vacuous.", "engine/spec/verdict.go", `Vacuous: 0}`, `Vacuous: 2}`),
}
