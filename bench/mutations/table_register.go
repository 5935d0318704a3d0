package main

const (
	instancesGo = "engine/instances.go"
	registerGo  = "engine/paths/register.go"
	sourcesGo   = "engine/paths/sources.go"
	blocksGo    = "engine/paths/blocks.go"
	arrangeGo   = "engine/paths/arrange.go"
	sweepGo     = "engine/paths/sweep.go"
	futureGo    = "engine/paths/future.go"
)

// swept is a rule that the comparison of the sweep with the search guards.
func swept(name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./engine/paths", Test: "TestSweepEqualsSearch", Args: []string{"-fuzz.n=20000"}}
}

// registered is a rule that the comparison of the register path guards.
func registered(name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./engine/paths", Test: "TestRegisterPathEqualsSearch", Args: []string{"-fuzz.n=20000"}}
}

// registerRules are those of registers whose values repeat, in the search and
// in the sweep, and of the register path. Equivalent, so not here: whatever only
// keeps more candidates or more configurations.
var registerRules = []mutation{
	swept("An unanswered write may give a value that no answered one gives any more.", instancesGo, `k.avail[r] == 0 && !k.mayBeLost(r, placed)`, `k.avail[r] == 0`),
	swept("A write is dead only when nobody left can have read from it.", instancesGo, `return k.left[x] == 0 && k.may`, `return k.may`),
	swept("An unanswered cas may need a write.", instancesGo, `k.may[k.write[x]] == 0 && k.shy`, `k.shy`),
	swept("A failed cas may need a write to take a value away.", instancesGo, ` && k.shy.before(k.out[x]) == 0`, ``),
	swept("An operation may have read the initial value.", instancesGo, `k.avail[x] == 0 && !atStart && !k`, `k.avail[x] == 0 && !k`),
	swept("An operation may have read from a write called before it returned.", instancesGo, `return k.in[list[i]] > k.out[x] })
	for`, `return k.out[list[i]] >= k.in[x] })
	for`),
	swept("Of writes of one value the first to return comes first.", searchGo, `(s.inst.out[d.op] < s.inst.out[c.op] ||`, `(s.inst.out[d.op] > s.inst.out[c.op] ||`),
	swept("An unanswered write may unblock a failed cas.", searchGo, `return !blocked && s.inst.unneeded(y)`, `return s.inst.unneeded(y)`),
	swept("Dead writes may come on their own.", searchGo, `		cs = append(cs, child{op: -1, batch: true})
`, ``),
	swept("What an operation that is taken back could have read is free again.", searchGo, `			s.inst.move(last.op, 1)
`, ``),

	{Name: "A brief sweep gives up where many operations overlap.", File: sweepGo, Old: `s.brief && s.visited > briefly*int(s.now)+warmUp`, New: `s.visited < 0`, Package: "./engine/paths", Test: "TestBriefSweep"},
	{Name: "The sweep is tried before the search.", File: "engine/paths/paths.go", Old: "	sweepPath{brief: true},\n", New: "", Package: "./engine/paths", Test: "TestBriefSweep"},
	swept("The sweep applies a cas that finds its value now.", sweepGo, `y == x || changes || s.want[y] >= 0 ||`, `y == x || changes ||`),
	swept("The sweep applies what others wait for.", sweepGo, ` || slices.Contains(values, s.write[y]) {`, ` {`),
	swept("An absorbed write may still be applied.", sweepGo, `			if s.dead(&c, x) {
				continue
			}`, `			continue`),
	swept("Only a write that finds no value absorbs others.", sweepGo, `	if s.want[y] < 0 {
		s.before(&d)
	}`, `	s.before(&d)`),
	swept("An unanswered update is used once.", sweepGo, `if k := s.uses.count(c.used, n); k < len(l.ops) {`, `if k := 0; k < len(l.ops) {`),
	swept("A failed cas waits for any other state.", sweepGo, `changes = changes || s.want[y] < 0 && s.write[y] < 0`, `changes = changes || false`),
	swept("A write with readers to come is not dead.", sweepGo, `	if s.last[w] > s.now {
		return false
	}
	for`, `	for`),
	swept("A write without an answer that finds a value may find that of any write.", futureGo, `if v < 0 || lost[v] {`, `if v < 0 {`),
	swept("A read that did not find a value may need any write that can take it away.", futureGo, `f.last[x] = max(f.last[x], latest[k-1])`, `_ = latest`),

	registered("Two cas of one write exclude each other.", blocksGo, `		case next[w+1] >= 0:
			return nil, readers, []int32{next[w+1], x}
`, ``),
	registered("No hard edge leads back within a chain of blocks.", blocksGo, `if y := least.get(x); y >= 0 && c.Out[y] < c.In[x] {`, `if y := least.get(x); y >= 0 && false {`),
	registered("An explicit edge does not lead back either.", blocksGo, `b.place[x] > b.place[y] {`, `false {`),
	registered("Nothing comes before the initial value.", arrangeGo, `	if b.start {
		if before`, `	if false {
		if before`),
	registered("Explicit edges hold chains back.", arrangeGo, `					a.wait[into]++
`, ``),
	registered("A write that returned at the slot at which the last one before the read was called may be read.", sourcesGo,
		`w.hard.clocks[0].Out[y] >= w.hard.clocks[0].In[over]`, `w.hard.clocks[0].Out[y] > w.hard.clocks[0].In[over]`),
	registered("An unanswered operation in a core has somebody who read from it.", registerGo, `todo = append(todo, r.from[x], r.because[x])`, `todo = append(todo, r.from[x])`),
}
