package main

const (
	causalGo     = "engine/views/causal.go"
	gatheredGo   = "engine/views/gathered.go"
	guaranteesGo = "engine/views/guarantees.go"
)

// viewRules are those of the levels without a single order, and of the levels
// of single order that came with them.
var viewRules = []mutation{
	by("consistency", "TestViewsEqualTwin", "A read of what was overwritten in its causal past convicts.", causalGo,
		`if r.saw[x] == initially || w != r.saw[x] && k.includes(r, r.saw[x], w) {`, `if r.saw[x] == initially {`),
	by("consistency", "TestViewsEqualTwin", "A read of the initial value has no write of its key in its past.", causalGo,
		`if r.saw[x] == initially || w != r.saw[x] && k.includes(r, r.saw[x], w) {`, `if r.saw[x] >= 0 && w != r.saw[x] && k.includes(r, r.saw[x], w) {`),
	by("consistency", "TestViewsEqualTwin", "Causality goes through what was read.", causalGo,
		`			join(k.count(x), k.count(w))
`, `			_ = w
`),
	by("consistency", "TestLitmus", "Reads agree on one order of the writes in their past.", causalGo,
		`				t.add(spec.Step{From: w, To: r.saw[x], Why: spec.StepConflict, Read: x, After: -1})
`, ``),
	by("consistency", "TestLitmus", "Causal memory judges every process' view.", "engine/views/views.go",
		`!own && !w.knows && process > 0 {`, `!own && process > 0 {`),
	by("consistency", "TestViewsEqualTwin", "PRAM keeps the order of every process.", "engine/views/views.go",
		`session := order.Session(v, nil, false)`, `session := order.Session(v, func(int32) bool { return false }, false)`),
	by("consistency", "TestViewsEqualTwin", "Every way in which reads may have seen writes is tried.", "engine/views/readsfrom.go",
		`		for _, w := range r.choices[x] {
			r.saw[x] = w`, `		for _, w := range r.choices[x][:min(1, len(r.choices[x]))] {
			r.saw[x] = w`),
	by("consistency", "TestViewsEqualTwin", "A read cannot have seen what its process wrote only later.", "engine/views/readsfrom.go",
		`if w != x && !r.after(x, w) {`, `if w != x {`),
	by("consistency", "TestViewsEqualTwin", "A read must have seen the earlier writes of its process.", guaranteesGo,
		`		if s.g.ReadYourWrites {`, `		if false {`),
	by("consistency", "TestViewsEqualTwin", "A read must have seen what the earlier reads of its process saw.", guaranteesGo,
		`w >= 0 && s.g.MonotonicReads {`, `false {`),
	by("consistency", "TestLitmus", "What a process wrote after the write that it read comes before that one.", gatheredGo,
		`for q := from; q < n; q++ {`, `for q := from + n; q < n; q++ {`),
	by("consistency", "TestViewsEqualTwin", "Gathered writes come before all that is linked to their list.", gatheredGo,
		`	if p > 0 {
`, `	if false {
`),
	by("consistency", "TestViewsEqualTwin", "Writes come before one that was gathered, too.", gatheredGo,
		`(!there || g.known[p] < p)`, `!there`),
	by("consistency", "TestViewsEqualTwin", "Own writes are not before the next by themselves.", gatheredGo,
		`	if after {`, `	if true {`),
	by("consistency", "TestLitmus", "The writes of a process are ordered as it issued them.", guaranteesGo,
		`if s.g.MonotonicWrites && s.lastWrite >= 0 {`, `if false {`),
	by("consistency", "TestLitmus", "What a process saw comes before what it writes later.", guaranteesGo,
		`	if s.g.WritesFollowReads {`, `	if false {`),
	by("consistency", "TestOrdersEqualTwin", "A read that overlaps a write is free at safe, and only such.", "consistency/guarantees.go",
		`free[x] = v.Read[x] && count(x) < len(writes)`, `free[x] = v.Read[x] && count(x) >= 0`),
	by("consistency", "TestLitmus", "An unanswered read frees no other.", "consistency/guarantees.go",
		`if !v.Read[x] && (v.Idle == nil || !v.Idle[x]) { // an unanswered read writes nothing`, `if !v.Read[x] {`),
	by("consistency", "TestOrdersEqualTwin", "Regular keeps a read before a later write.", "consistency/guarantees.go",
		`	addAll(r, order.RealTime(v, order.Span{From: reads(v), To: writes(v), Within: v.Key, PerKey: true})...)
`, ``),
	by("consistency", "TestOrdersEqualTwin", "A guarantee under one order keeps its own class of session edges.", "consistency/guarantees.go",
		`		if v.Read[i] != toRead {`, `		if false {`),
	by("cmd/pinyon", "TestUntimedFiles", "A file without times stays one under its model.", "engine/history/view.go",
		`Untimed: h.Untimed, `, ``),
	by("consistency", "TestHierarchy", "The ladder concludes only what random histories bear out.", "consistency/ladder.go",
		`	{"sequential", "pram"}, //`, `	{"causal-memory", "pram"}, //`),
}
