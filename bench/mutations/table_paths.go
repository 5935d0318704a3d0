package main

const (
	slotsGo     = "engine/paths/slots.go"
	coverGo     = "engine/paths/cover.go"
	queueGo     = "engine/paths/queue.go"
	stackGo     = "engine/paths/stack.go"
	priorityGo  = "engine/paths/priority.go"
	logGo       = "engine/paths/log.go"
	containerGo = "engine/paths/container.go"
	pathsGo     = "engine/paths/paths.go"
	intervalsGo = "engine/order/intervals.go"
	coreGo      = "engine/brute/core.go"
	grownGo     = "engine/paths/grown.go"
)

// grown is a rule of appended texts.
func grown(name, from, to string) mutation {
	return by("engine/paths", "TestGrownTextsEqualSearch", name, grownGo, from, to)
}

// refused is a rule of refused compare-and-sets.
func refused(name, file, from, to string) mutation {
	return by("engine/paths", "TestRefusedCompareAndSets", name, file, from, to)
}

// grownRules are those of texts that are appended to.
var grownRules = []mutation{
	refused("A write that nobody read makes room for a refused compare-and-set.", "engine/paths/aside.go",
		`if whole == nil && a.demand != nil {`, `if false {`),
	refused("An answered write that nobody read is moved to make room.", "engine/paths/aside_spread.go",
		`return nil, s.move(x, from, to, key, write, a.avoid[i])`, `return nil, nil`),
	refused("A second refused compare-and-set finds what was brought for the first.", "engine/paths/aside_spread.go",
		`brought && v != a.avoid[i] {`, `brought && v != a.avoid[i] && false {`),
	grown("Two appends of one text may both have made it, where what was before them was there twice.",
		`if len(all) > 1 && g.twice(text, all) || g.guess`, `if g.guess`),
	by("engine/paths", "TestGrownTexts", "What was appended after a read may have made the same text once more.", grownGo,
		`return g.demand[x] >= 0 || !also && g.hard`, `return g.demand[x] >= 0 || g.hard`),
	grown("A text that was put need not have been appended.",
		`possible = append(possible, fromStart)`, `possible = append(possible[:0], fromStart)`),
	grown("Every way in which texts may have come about is tried.",
		`if w.chosen[k]++; w.chosen[k] < w.of[k] {`, `if w.chosen[k] = w.of[k]; false {`),
	grown("Where an append begins a text is not settled while others may have left the same.",
		`case ways > 1 || ways == 1 && len(all) > 0:`, `case ways > 1:`),
	by("engine/paths", "TestGrownTexts", "A core holds every append that may have left a text of it.", grownGo,
		`g.loose = g.loose || len(possible) < len(all) || len(all) > 1`, `_ = 0`),
	grown("Only what begins late cannot have begun from the initial value.",
		`return piece == text && g.late(x)`, `return piece == text`),
	by("engine/paths", "TestGrownTexts", "What an unanswered compare-and-set would have found need not have been there.", grownGo,
		`|| g.guess(w.value, len(all)) {`, `{`),
	by("engine/paths", "TestCoreOfTexts", "A core of texts holds every append that may end one of them.", "engine/brute/core_register.go",
		`add(held{todo[0].key, s.ap.Token(rest)})`, `_ = rest`),
}

// path is a rule without which a fast path and the search disagree, or the
// evidence of the path does not hold.
func path(name, file, from, to string) mutation {
	return by("engine/paths", "TestPathsEqualSearch", name, file, from, to)
}

// pathRules are those of the fast paths over containers. Equivalent, so not
// here: that an item which contradicts itself is found before the rest (a
// wrong line is not accepted, and the search decides), and the order among
// operations of one slot that do not meet; and that an unanswered add which
// nobody saw is left out (it fits at the end of every order).
var pathRules = []mutation{
	path("A container's element is not taken before it is added.", slotsGo,
		`return s.takeOut >= s.addIn`, `return true`),
	path("An element is not seen before it is added.", slotsGo,
		`if f.slots.out[p] < s.addIn || f.slots.in[p] > s.takeOut {`, `if f.slots.in[p] > s.takeOut {`),
	path("An element is not seen after it is taken.", slotsGo,
		`if f.slots.out[p] < s.addIn || f.slots.in[p] > s.takeOut {`, `if f.slots.out[p] < s.addIn {`),
	path("A peek tells by when its element was there.", slotsGo,
		`s.lo, s.hi = min(s.lo, f.slots.out[p]), max(s.hi, f.slots.in[p])`, `s.hi = max(s.hi, f.slots.in[p])`),
	path("A peek tells until when its element was there.", slotsGo,
		`s.lo, s.hi = min(s.lo, f.slots.out[p]), max(s.hi, f.slots.in[p])`, `s.lo = min(s.lo, f.slots.out[p])`),
	path("A peek comes after the add of its element.", slotsGo,
		`return max(f.slots.in[peek], f.span[item].addIn), f.slots.out[peek]`, `return f.slots.in[peek], f.slots.out[peek]`),
	path("An element that was added for sure is there.", slotsGo,
		`s.lo, s.hi = min(s.addOut, s.takeOut), max(s.addIn, s.takeIn)`, `s.lo, s.hi = s.takeOut, max(s.addIn, s.takeIn)`),
	path("A container is empty only where no element must be there.", coverGo,
		`			at = his[j-1]
`, ``),
	path("Emptiness may be seen at the last slot of its observation.", coverGo,
		`if at > f.slots.out[e] {`, `if at >= f.slots.out[e] {`),
	path("Elements that leave and come at one slot leave it free.", coverGo,
		`n > 0 && s.lo < his[n-1] {`, `n > 0 && s.lo <= his[n-1] {`),

	path("A queue gives elements out in the order of their adds.", queueGo,
		`q.span[q.byAddIn[add]].addIn <= q.span[q.byLo[lo]].lo; add++`, `true; add++`),
	path("Adds at one slot of a queue come in any order.", queueGo,
		`q.span[q.byAddIn[add]].addIn <= q.span[q.byLo[lo]].lo; add++`, `q.span[q.byAddIn[add]].addIn < q.span[q.byLo[lo]].lo; add++`),
	path("The elements of a queue stand at its front one after the other.", queueGo,
		`q.fronts[q.byMaxIn[see]].maxIn <= q.fronts[first].minOut; see++`, `true; see++`),
	path("Elements at the front of a queue change at one slot.", queueGo,
		`q.fronts[q.byMaxIn[see]].maxIn <= q.fronts[first].minOut; see++`, `q.fronts[q.byMaxIn[see]].maxIn < q.fronts[first].minOut; see++`),
	path("An element of a queue does not wait for itself.", queueGo,
		`if second == n || q.fronts[first].maxIn <= q.fronts[q.byOut[second]].minOut {`, `if second == n {`),
	path("A peek sees the front of a queue.", queueGo,
		`fr[i].minOut, fr[i].maxIn = min(fr[i].minOut, f.slots.out[p]), max(fr[i].maxIn, f.slots.in[p])`, `_ = p`),
	path("Where a queue is empty, what came before is gone.", queueGo,
		`		part[k] = int32(c)
`, `		part[k] = int32(c) * 0
`),

	path("The bottom of a stack is pushed before what lies above.", stackGo,
		`return s.items.find(first, beyond, lo, hi, func(i int) bool {`, `return s.items.find(first, beyond, noneLeft-1, hi, func(i int) bool {`),
	path("The bottom of a stack is taken after what lies above.", stackGo,
		`return s.items.find(first, beyond, lo, hi, func(i int) bool {`, `return s.items.find(first, beyond, lo, 0, func(i int) bool {`),
	path("The bottom may be pushed at the slot where the stretch begins.", stackGo,
		`return s.items.find(first, beyond, lo, hi, func(i int) bool {`, `return s.items.find(first, beyond, lo-1, hi, func(i int) bool {`),
	path("A peek at the bottom of a stack is alone with it.", stackGo,
		`if !s.alone(item, p) {`, `if false && !s.alone(item, p) {`),
	path("A peek at the bottom may be where only the bottom must be.", stackGo,
		`return s.counts.first(max(first, lo+1), 1) <= min(last, hi-1)`, `return s.counts.first(max(first, lo+1), 1) <= min(last, hi-1)*0-1`),
	path("A bottom no longer counts among what lies above it.", stackGo,
		`int(s.position[s.span[item].hi])-1, -1)`, `int(s.position[s.span[item].hi])-1, 0)`),

	path("Greater elements hide lesser ones.", priorityGo,
		`		p.cover(s.lo, s.hi)
`, `		_ = p
`),
	path("A greater element hides nothing at the slots where it comes and goes.", priorityGo,
		`p.cover(s.lo, s.hi)`, `p.cover(s.lo, s.hi+1)`),
	path("A peek at a priority queue is where nothing greater is.", priorityGo,
		`if at[x] = p.place(first, last, pivot); at[x] < 0 {`, `if at[x] = max(first, min(last, pivot)); at[x] < 0 {`),
	path("An operation goes where its element must be anyway.", priorityGo,
		`if at[x] = p.place(first, last, pivot); at[x] < 0 {`, `if at[x] = p.place(first, last, first); at[x] < 0 {`),
	path("An element is added before it is seen.", priorityGo,
		`			in = min(in, at[x])
`, ``),
	path("At one slot greater elements leave first.", priorityGo,
		`		item(byRank[k], true)
`, `		item(byRank[len(byRank)-1-k], true)
`),
	path("At one slot greater elements come last.", priorityGo,
		`	for _, i := range byRank {
		item(i, false)
	}`, `	for k := range byRank {
		item(byRank[len(byRank)-1-k], false)
	}`),

	path("An entry of a log has one position.", logGo,
		`case l.position[value] >= 0 && l.position[value] != at:`, `case false:`),
	path("A position of a log has one entry.", logGo,
		`		if l.owner[at] >= 0 {
			l.refute`, `		if false {
			l.refute`),
	path("A log is long enough for what was seen of it.", logGo,
		`			l.due[v.least-1] = l.sooner(l.due[v.least-1], v.op)
`, ``),
	path("A log is no longer than what was seen of it.", logGo,
		`if v.most < int64(l.adds) && (`, `if v.most < 0 && (`),
	path("Appends whose positions were seen keep real time.", logGo,
		`l.due[at] = l.sooner(l.due[at], x)`, `l.due[at] = l.sooner(l.due[at], min(x, -1))`),
	path("Entries of a log at one slot come in any order.", logGo,
		`if due >= 0 && l.slots.out[due] < l.slots.in[last] {`, `if due >= 0 && l.slots.out[due] <= l.slots.in[last] {`),
	path("Appends that nobody saw go by their returns.", logGo,
		`return h.out[h.ops[i]] < h.out[h.ops[j]]`, `return h.out[h.ops[i]] > h.out[h.ops[j]]`),
	path("An append waits for what must precede it.", logGo,
		`w.slots.in[w.byIn[w.in]] <= slot; w.in++`, `true; w.in++`),
	path("An append without an answer fills a position that must be filled.", logGo,
		`if len(w.lost) > 0 && w.slots.in[w.lost[0]] <= slot {`, `if false {`),

	path("A take without an answer may explain what nobody took.", containerGo,
		`if len(suspects) == 0 || len(b.spares) == 0 {`, `if len(suspects) == 0 || len(b.spares) >= 0 {`),
	by("engine/paths", "TestLostTakesInCores", "More elements that must be gone than takes refute.", containerGo,
		`if out++; out > len(b.spares) {`, `if out++; out < 0 {`),
	path("An element counts as gone for sure only where it is alone in its conflict.", containerGo,
		`if len(suspects) == 1 {`, `if len(suspects) >= 1 {`),
	path("A take without an answer comes after its call.", containerGo,
		`if used == len(b.spares) || b.in[b.spares[used]] > least[k] {`, `if used == len(b.spares) {`),

	by("engine/paths", "TestPathsStandBack", "A path leaves elements that occur twice to the search.", pathsGo,
		`case adds[p.accesses.Value[i]]:`, `case false:`),
	by("engine/paths", "TestPathsStandBack", "A path decides one key.", pathsGo,
		`return false, "there are several keys"`, `continue`),
	by("engine/paths", "TestPathsStandBack", "A path needs one interval order.", "engine/order/intervals.go",
		`		if c.interval(r.View.Info) && !slices.ContainsFunc(clocks, func(d *Clock) bool { return d != c && !c.covers(d) }) {`, `		if c.interval(r.View.Info) {`),
	by("engine/paths", "TestPathsStandBack", "A take whose answer was not recorded may have taken anything.", pathsGo,
		`case kind == spec.AccessUnknown && !v.Info[i]:`, `case false:`),
	by("engine/paths", "TestPathsStandBack", "A path knows containers that start empty.", "models/container.go",
		`if initial > 0 {`, `if initial < 0 {`),
	by("engine/paths", "TestEqualPriorities", "A path leaves equal priorities to the search.", containerGo,
		`		if used[r] {`, `		if false {`),
	by("engine/paths", "TestEngineSearchTakesNoPath", "A search that was asked for takes no path.", "engine/fastpath.go",
		`if t.NoPaths {`, `if false {`),
	by("engine/paths", "TestReplayEqualsModel", "The plain container gives out the next element.", "engine/paths/replay.go",
		`return length > 0 && s.next() == a.Value[op]`, `return length > 0`),
	by("engine/paths", "TestReplayEqualsModel", "The plain container is empty when nothing is in it.", "engine/paths/replay.go",
		`return a.Index == nil && length == 0 ||`, `return a.Index == nil ||`),

	by("engine/order", "TestIntervals", "An interval does not end before it begins.", intervalsGo,
		`if c.In[i] > c.Out[i] || info`, `if info`),
	by("engine/order", "TestIntervals", "A clock of groups is no order of all.", intervalsGo,
		`c.Within != nil && (c.Within[i] < 0 || c.Within[i] != c.Within[0])`, `c.Within != nil && c.Within[i] < 0`),
	by("engine/order", "TestIntervals", "Every edge of every clock is one of the clock that stands for all.", intervalsGo,
		`if last >= 0 && c.Out[last] >= c.In[b] {`, `if last >= 0 && c.Out[last] > c.In[b] {`),
	by("engine/order", "TestIntervals", "An operation does not precede itself.", intervalsGo,
		`if last == b {`, `if false {`),

	by("engine/paths", "TestCoreIsLeast", "A core holds all that is done to its elements.", coreGo,
		`case e == nil || in[op] || kind == spec.AccessPeek:`, `case true:`),
	by("engine/paths", "TestCoreIsLeast", "A core is impossible by itself.", coreGo,
		`	case ok:
`, `	case ok && false:
`),
	by("engine/paths", "TestLostTakesInCores", "A core holds takes without an answer for what nobody took.", coreGo,
		`if len(inside) < elements {`, `if len(inside) < 0*elements {`),
	by("engine/paths", "TestLostTakesInCores", "A core holds the takes without an answer that can come first.", coreGo,
		`		if v.Call[x] < last {`, `		if false {`),
}
