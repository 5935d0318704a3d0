package main

const (
	patternGo     = "engine/verify/pattern.go"
	sightsGo      = "engine/verify/sights.go"
	weakWitnessGo = "engine/verify/weakwitness.go"
	weakViewsGo   = "engine/verify/weakviews.go"
	impossibleGo  = "engine/views/impossible.go"
	readsFromGo   = "engine/views/readsfrom.go"
)

// weakly is a rule of the evidence at levels without a single order.
func weakly(test, name, file, from, to string) mutation {
	return by("engine/views", test, name, file, from, to)
}

// viewEvidenceRules are those of the evidence at levels without a single order,
// of the verifier first. Equivalent, so not here: that the writes at both ends
// of a conflict stand in the order of the process (a chain of steps leads from
// them to one that does), that at pram only the reads of the process have seen
// anything (others did not happen for sure there), that at monotonic-writes a
// session step leads from write to write (through reads it leads there too), and
// that an update of a proof happened for sure where it is not the one that saw
// something.
var viewEvidenceRules = []mutation{
	verifying("TestEveryProof", "A proof rests on what can have been seen alone.", sightsGo,
		`if choices := t.maySee(x); len(choices) == 1 {`, `if choices := t.maySee(x); len(choices) > 0 {`),
	weakly("TestForeignEvidence", "Nothing is seen that the own session wrote only later.", sightsGo,
		`if w != x && !session(t.view, x, w) {`, `if w != x {`),
	verifying("TestEveryProof", "A session step lies in a session.", patternGo,
		`return session(r.view, s.From, s.To) && (writes ||`, `return (writes ||`),
	verifying("TestEveryProof", "Who saw something in a step saw it.", patternGo,
		`return r.saw(s.To, s.From) && (!ofWrites`, `return (!ofWrites`),
	verifying("TestEveryProof", "A conflict needs a write that must have been seen.", patternGo,
		`r.rival(s.From, s.Read) && r.mustHaveSeen(s)`, `r.rival(s.From, s.Read)`),
	verifying("TestEveryProof", "A conflict is between writes of one key.", patternGo,
		`s.From != s.To && r.rival(s.From, s.Read) &&`, `s.From != s.To &&`),
	verifying("TestEveryProof", "A conflict rests on who saw the later write.", patternGo,
		`return r.saw(s.Read, s.To) && s.From != s.To`, `return s.From != s.To`),
	verifying("TestEveryProof", "What follows a read was written by its process later.", patternGo,
		`r.write[s.To] >= 0 && session(r.view, s.Read, s.To)`, `r.write[s.To] >= 0`),
	verifying("TestEveryProof", "An overwriting write comes after what was seen.", patternGo,
		`return seen == initially || seen != w && path(r.next, seen, w)`, `return seen != w`),
	weakly("TestForeignEvidence", "A pattern is one that the level forbids.", patternGo,
		`if name != spec.ThinAirRead && !slices.Contains(c.patterns, name) {`, `if false {`),
	verifying("TestEveryProof", "A step is of a kind that the level knows.", patternGo,
		`if !slices.Contains(r.steps, step.Why) {`, `if false {`),
	weakly("TestForeignEvidence", "Out of thin air is what nothing can have written.", patternGo,
		`r.want[x] < 0 || len(r.maySee(x)) > 0 ||`, `r.want[x] < 0 ||`),
	verifying("TestEveryProof", "A read of the initial value saw that alone.", patternGo,
		`if !r.saw(x, initially) || !r.rival(w, x) || !path(before, w, x) {`, `if !r.rival(w, x) || !path(before, w, x) {`),
	weakly("TestTamperedEvidence", "A write before a read of the initial value comes before it by steps.", patternGo,
		`if !r.saw(x, initially) || !r.rival(w, x) || !path(before, w, x) {`, `if !r.saw(x, initially) || !r.rival(w, x) {`),
	verifying("TestEveryProof", "A read saw what another write overwrote before it.", patternGo,
		`!path(before, w, over) || !path(before, over, x) {`, `!path(before, over, x) {`),
	verifying("TestEveryProof", "A forgotten write must have been seen.", patternGo,
		`!r.rival(w, x) || !must {`, `!r.rival(w, x) || !must && false {`),
	verifying("TestEveryProof", "A circle is closed by steps.", patternGo,
		`if !r.step[[2]int32{x, y}] {`, `if false {`),
	verifying("TestEveryProof", "What was overwritten, was so in the causal past.", patternGo,
		`before := r.causes // of`, `before := r.next // of`),
	weakly("TestTamperedEvidence", "What was seen is what the write left.", weakWitnessGo,
		`case !slices.Contains(w.maySee(x), saw):`, `case false:`),
	weakly("TestTamperedEvidence", "Everyone who names a value says what was seen.", weakWitnessGo,
		`case saw == nothing && w.want[x] >= 0 && !v.Info[x]:`, `case false:`),
	weakly("TestTamperedEvidence", "Nobody saw two things.", weakWitnessGo,
		`case w.saw[x] != nothing:`, `case false:`),
	verifying("TestForgedWitnesses", "Causality has no circle.", weakWitnessGo,
		`	if len(w.line) < n {`, `	if false {`),
	verifying("TestForgedWitnesses", "What was seen is not overwritten in the causal past.", weakWitnessGo,
		`if y := w.saw[x]; y >= 0 && over[x]&bit[y] != 0 {`, `if y := w.saw[x]; y >= 0 && over[x]&bit[y] != 0 && false {`),
	verifying("TestForgedWitnesses", "The initial value is not overwritten in the causal past.", weakWitnessGo,
		`if w.saw[x] == initially && w.view.Key[x] == key && written[x] {`, `if false {`),
	weakly("TestTamperedEvidence", "The order of the writes keeps causality.", weakWitnessGo,
		`if w.place[x] > 0 && w.place[x] < latest[x] {`, `if false {`),
	verifying("TestForgedWitnesses", "What was seen is the last write of the causal past.", weakWitnessGo,
		`y >= 0 && latest[x] != w.place[y]) {`, `false) {`),
	weakly("TestTamperedEvidence", "The order of the writes holds a write once.", weakWitnessGo,
		`case w.place[x] > 0:`, `case false:`),
	weakly("TestTamperedEvidence", "The order of the writes holds each that happened.", weakWitnessGo,
		`if w.write[x] >= 0 && w.there[x] && w.place[x] == 0 {`, `if false {`),
	weakly("TestTamperedEvidence", "An update stands after what it saw.", weakWitnessGo,
		`y >= 0 && w.place[x] > 0 && w.place[y] > w.place[x] {`, `y >= 0 && w.place[x] > 0 && w.place[y] > w.place[x] && false {`),
	weakly("TestTamperedEvidence", "The verifier orders the writes of a process at monotonic-writes.", weakWitnessGo,
		`case w.level == "monotonic-writes" && w.write[y] >= 0`, `case false && w.write[y] >= 0`),
	weakly("TestTamperedEvidence", "The verifier orders writes after what their process saw.", weakWitnessGo,
		`case w.level == "writes-follow-reads" && w.saw[y] >= 0`, `case false && w.saw[y] >= 0`),
	verifying("TestForgedWitnesses", "The verifier lets a process see its own writes.", weakWitnessGo,
		`case w.conflict == ownWrite && w.rival(y, x):`, `case false:`),
	verifying("TestForgedWitnesses", "The verifier lets no read go back.", weakWitnessGo,
		`case w.conflict == ownRead && w.saw[y] >= 0 && w.view.Key[y] == w.view.Key[x]:`, `case false:`),
	weakly("TestTamperedEvidence", "The order of a process holds its members.", weakViewsGo,
		`		if member != (place[x] > 0) {`, `		if false {`),
	weakly("TestTamperedEvidence", "The order of a process keeps causality.", weakViewsGo,
		`if member && place[x] < latest[x] {`, `if false {`),
	verifying("TestForgedWitnesses", "The order of a process is legal.", weakViewsGo,
		`if len(next) == 0 || w.write[x] >= 0`, `if len(next) == 0 && false || w.write[x] >= 0`),
	weakly("TestTamperedEvidence", "At pram every process that read has an order.", weakViewsGo,
		`if !ok && reads {`, `if false {`),
	weakly("TestTamperedEvidence", "In causal memory every process has an order.", weakViewsGo,
		`if ok != (last > 0) {`, `if false {`),
	weakly("TestTamperedEvidence", "A process has one order.", weakViewsGo,
		`if _, twice := orders[p.Process]; twice {`, `if false {`),

	weakly("TestEvidence", "A proof by choice is no proof.", "engine/views/trace.go",
		`case s.Why == spec.StepSaw && !r.forced(s.To),`, `case false,`),
	weakly("TestEvidence", "A step is older than those that rest on it.", "engine/views/trace.go",
		`		if _, seen := next[from]; seen || i >= limit {`, `		if _, seen := next[from]; seen {`),
	weakly("TestUnneededUpdates", "An unanswered compare-and-set that nobody needs is left out.", readsFromGo,
		`case r.v.Info[x] && !wanted[x]:`, `case false:`),
	weakly("TestEvidence", "An unanswered compare-and-set that somebody needs happened.", readsFromGo,
		`if n := len(r.choices[w]); n > 0 &&`, `if n := len(r.choices[w]); false &&`),
	weakly("TestWhatIsSureEndsTheSearch", "What is sure convicts whatever else is chosen.", readsFromGo,
		`if done = r.certain(bad); done || depth >= far {`, `if depth >= far {`),
	weakly("TestEvidence", "What comes before a read is no later than what it saw.", impossibleGo,
		`t.add(spec.Step{From: w, To: r.saw[x], Why: spec.StepConflict, Read: x, After: -1})`, `_ = w`),
	weakly("TestPatterns", "What overwrites what was seen comes after who saw it.", impossibleGo,
		`				t.before(x, w, spec.StepOverwrites)
`, ``),
	weakly("TestPatterns", "An unanswered operation that somebody knows of is in the order of a process.", "engine/views/views.go",
		`	asked.Info = make([]bool, sub.N)
`, ``),
	weakly("TestPatterns", "An unanswered compare-and-set in the order of a process had its effect.", "engine/views/views.go",
		`if want, ok := e.wants[op]; ok && e.Tokens.Held(state) != want {`, `if false {`),
	weakly("TestMemoryBudget", "The causal pasts count towards the budget of memory.", causalGo,
		`budget > 0 && r.pastBytes(s) > budget {`, `budget > 0 && r.pastBytes(s) > budget && false {`),
	weakly("TestUnusableModels", "A compare-and-set whose answer was not recorded is no register's.", readsFromGo,
		`if !v.Info[x] && r.demand[x] >= 0 && tokens.Demand(x) < 0 {`, `if false {`),
}
