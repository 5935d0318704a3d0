package main

const (
	mutexPathGo   = "engine/paths/mutex.go"
	membersPathGo = "engine/paths/members.go"
	membersCoreGo = "engine/paths/members_core.go"
	membersLineGo = "engine/paths/members_accept.go"
	countPathGo   = "engine/paths/count.go"
	coreEffectsGo = "engine/brute/core_effects.go"
)

// effect is a rule without which a path for locks, members or numbers and the
// search disagree, or the evidence of the path does not hold.
func effect(name, file, from, to string) mutation {
	test := map[string]string{mutexPathGo: "TestMutexPathEqualsSearch", countPathGo: "TestCountPathEqualsSearch"}[file]
	if test == "" {
		test = "TestMembersPathEqualsSearch"
	}
	m := by("engine/paths", test, name, file, from, to)
	m.Args = []string{"-fuzz.n=2000"}
	return m
}

// coreOf is a rule about what the core of such a path may leave out.
func coreOf(name, from, to string) mutation {
	return by("engine/paths", "TestCoresOfEffects", name, coreEffectsGo, from, to)
}

// setPathRules are those of the paths for locks, members and numbers.
// Equivalent, so not here: that a take without an answer which follows others of
// its owner is dropped (its block would come last, and nobody waits for it), and
// which of several changes without an answer is used (none of them is ever over).
var setPathRules = []mutation{
	effect("A lock is given back only by who holds it.", mutexPathGo,
		`case give && depth == 0:`, `case false:`),
	effect("An owner cannot take again what it holds.", mutexPathGo,
		`case depth > 0 && !m.locks.Reentrant:`, `case false:`),
	effect("A reentrant lock is free only once it was given back as often.", mutexPathGo,
		`if depth--; depth == 0 {`, `if depth--; depth <= 1 {`),
	effect("Two owners cannot both keep a lock.", mutexPathGo,
		`case m.last != nil:`, `case false:`),
	effect("A give without an answer may come.", mutexPathGo,
		`case lost && (!give || depth != 1):`, `case lost:`),
	effect("A take without an answer need not have come.", mutexPathGo,
		`case lost && (!give || depth != 1):`, `case lost && give && depth != 1:`),
	effect("What an owner keeps it takes after all others.", mutexPathGo,
		`if bad := m.afterLast(); bad != nil {`, `if bad := m.afterLast(); bad != nil && false {`),
	by("engine/paths", "TestWhatIsKeptComesLast", "Explicit edges put what is kept after all others.", mutexPathGo,
		`				if m.chain[y] >= 0 {`, `				if m.chain[y] >= 0 && false {`),
	effect("The operations of an owner must have an order.", mutexPathGo,
		`if !m.hard.precedes(ops[i-1], ops[i]) {`, `if false {`),
	effect("Tokens order the blocks of a fenced lock.", mutexPathGo,
		`m.hard.clocks = append(slices.Clip(m.hard.clocks), c)`, `_ = c`),
	effect("A fenced lock gives out no token twice.", mutexPathGo,
		`if m.locks.Token[takes[i-1]] == m.locks.Token[takes[i]] {`, `if false {`),
	effect("A lock's core holds whole blocks.", mutexPathGo,
		`core = append(core, m.members[m.from[c]:m.from[c+1]]...)`, `core = append(core, x)`),
	effect("An attempt that failed is left to the search.", mutexPathGo,
		`case kind == spec.LockFail && !lost:`, `case false:`),

	effect("What sees a member comes only where it is so.", membersPathGo,
		`		if m.there {
			now = &m.seen`, `		if !m.there {
			now = &m.seen`),
	effect("Of several changes the one that is over first comes next.", membersLineGo,
		`return d.out[a] < d.out[b] || d.out[a] == d.out[b] && a < b`, `return d.out[a] > d.out[b]`),
	effect("What must come after an operation that is left waits.", membersPathGo,
		`m.in[ops[next]] <= m.out[m.byOut[due]]; next++`, `true; next++`),
	effect("What may come next may come at the same slot.", membersPathGo,
		`m.in[ops[next]] <= m.out[m.byOut[due]]; next++`, `m.in[ops[next]] < m.out[m.byOut[due]]; next++`),
	effect("An answered change comes before one without an answer.", membersPathGo,
		`	if len(heap.ops) > 0 {
		return heap.pop()
	}
	if len(*spare) == 0 {
		return -1
	}`, `	if len(*spare) == 0 && len(heap.ops) > 0 {
		return heap.pop()
	}
	if len(*spare) == 0 {
		return -1
	}`),
	effect("A change without an answer may come.", membersPathGo,
		`	if len(*spare) == 0 {
		return -1
	}`, `	if len(*spare) >= 0 {
		return -1
	}`),
	effect("Members are there at first where the model says so.", membersPathGo,
		`if stuck := m.solve(ops, m.start[k], plan); stuck {`, `if stuck := m.solve(ops, false, plan); stuck {`),
	effect("A put of unknown effect comes after the one that must enter.", membersPathGo,
		`case enters:`, `case enters && false:`),
	effect("A put of unknown effect is a choice where the member may leave.", membersPathGo,
		`	case leaves:
		return noPuts, false`, `	case leaves && false:
		return noPuts, false`),
	effect("Puts that wait see what the first did.", membersPathGo,
		`if m.there = !m.there; puts == putsEnter {`, `if m.there = !m.there; false {`),
	effect("Members are merged by slot.", membersPathGo,
		`mergedBySlot(m.line, m.slot)`, `m.line`),
	by("engine/paths", "TestEffectsNameTheCulprits", "A core keeps the state that what was left out made.", membersCoreGo,
		`	if before != start {`, `	if before != start && false {`),
	by("engine/paths", "TestEffectsNameTheCulprits", "A core begins where nothing is under way.", membersCoreGo,
		`		if last < m.in[x] {`, `		if false {`),
	effect("A core ends only where nothing is under way.", membersCoreGo,
		`		if last < m.in[x] {`, `		if last < m.in[x] || i > at {`),

	effect("A counter is read between the adds that it tells of.", countPathGo,
		`if v <= c.highest && c.from[v] > c.to[v] {`, `if false {`),
	effect("An add is counted before its return.", countPathGo,
		`if x = open.pop(); c.out[x] < c.from[v] {`, `if x = open.pop(); false {`),
	effect("An add is counted after its call.", countPathGo,
		`c.in[c.adds[next]] <= c.to[v]; next++`, `true; next++`),
	effect("An add may be counted at the slot of a read.", countPathGo,
		`c.in[c.adds[next]] <= c.to[v]; next++`, `c.in[c.adds[next]] < c.to[v]; next++`),
	effect("An add that saw the sum saw one less, too.", countPathGo,
		`			saw(v-1, x)
`, ``),
	effect("No two adds see one sum.", countPathGo,
		`case changes && c.pinned[v] >= 0:`, `case false:`),
	effect("Adds without an answer are counted where they must be.", countPathGo,
		`		case len(spare) > 0:
`, `		case false:
`),
	by("engine/paths", "TestSumBetweenAdds", "A sum that no number of adds gives is impossible.", countPathGo,
		`if !within || (seen-c.initial)%c.by != 0 {`, `if !within {`),
	effect("Adds that differ are left to the search.", countPathGo,
		`case adds && by != 0 && use.By != by:`, `case false:`),
	effect("What was read earlier bounds later sums.", countPathGo,
		`		if c.from[v-1] > c.from[v] {`, `		if false {`),
	effect("What was read later bounds earlier sums.", countPathGo,
		`		if c.to[v+1] < c.to[v] {`, `		if false {`),

	coreOf("A core of a number holds all adds.", `return fmt.Errorf("operation %d adds to the number and is left out", x)`, `continue`),
	coreOf("What a core leaves out leaves its member as it was.", `	if sum != 0 {`, `	if false {`),
	coreOf("At most one of a core stands among what it leaves out, and it changes the member.",
		`if kind := m.Kind[among]; c.v.Info[among] || kind != spec.MemberEnter && kind != spec.MemberLeave {`, `if false {`),
	coreOf("A core holds whole blocks of a lock.", `if c.in[x] != c.in[ops[begin]] {`, `if false {`),
}
