package main

const (
	graphGo    = "engine/order/graph.go"
	frontierGo = "engine/order/frontier.go"
	cycleGo    = "engine/order/cycle.go"
	clocksGo   = "engine/order/clocks.go"
	orderGo    = "engine/order/order.go"
	formsGo    = "engine/order/forms.go"
)

// closure is a rule without which a frontier is not the closure of its order.
func closure(name, file, from, to string) mutation {
	m := by("engine/order", "TestFrontierEqualsClosure", name, file, from, to)
	m.Args = []string{"-frontier.runs=20000"}
	return m
}

// orderRules are those of hard order: start arrays, clocks, circles, ties.
var orderRules = []mutation{
	closure("Starts are searched from the end of a chain, not by galloping from its front.", graphGo,
		`		for m := int32(len(chain)) - 1; m >= floor[j]; m-- {
			if chain[m] != x && b.Precedes(chain[m], x) {
				needs = append(needs, need{int32(j), m + 1, -1})
				break
			}
		}
`, `		m := floor[j]
		for int(m) < len(chain) && chain[m] != x && b.Precedes(chain[m], x) {
			m++
		}
		if m > floor[j] {
			needs = append(needs, need{int32(j), m, -1})
		}
`),
	closure("What must be placed before the operation ahead in the chain is no floor for other chains.", graphGo,
		`		clear(floor)
		for _, x := range chain {`, `		for _, x := range chain {`),
	closure("An operation waits for those ahead of it in its chain.", frontierGo,
		`ch >= 0 && f.Pos[ch] != f.g.pos[x]`, `ch >= 0 && f.Pos[ch] > f.g.pos[x]`),
	closure("A chain only takes an operation that its last one precedes.", "engine/order/cover.go",
		`return e.Precedes(ch[len(ch)-1], x) })`, `return e.Precedes(ch[0], x) })`),
	closure("Order is closed over optional operations.", graphGo, `	closeOver(after, b.stop)
`, ``),
	closure("What precedes an optional operation precedes what comes after it.", graphGo,
		`b.starts[x] = b.merge(b.starts[x], own)`, `_ = own`),
	closure("Every source counts for what precedes an optional operation.", graphGo,
		`chain[m] != x && b.Precedes(chain[m], x)`, `chain[m] != x && b.Sources[0].Precedes(chain[m], x)`),
	closure("Of two starts in one chain the later counts.", graphGo,
		`b.row[n.chain] = max(b.row[n.chain], n.count)`, `b.row[n.chain] = n.count`),
	closure("An optional operation before itself never happens.", graphGo,
		`b.never[y] = after[k].Test(uint(k))`, `b.never[y] = false`),
	closure("An optional operation is dropped for good by one that comes after it.", frontierGo,
		`if f.Placed[x] || f.Dropped(x) {`, `if f.Placed[x] {`),
	closure("Going back takes drops back.", frontierGo, `f.dropped[y]--`, `f.dropped[y] -= 0`),
	closure("What is dropped already is not dropped again.", frontierGo,
		`if !f.Placed[y] && !f.Dropped(y) {`, `if !f.Placed[y] && !f.g.never[y] {`),
	closure("An operation does not wait for its own end on a clock.", frontierGo,
		`range ops[first+1:]`, `range ops[first:]`),
	closure("A clock waits for required operations only.", graphGo,
		`if !optional[op] && c.Out[op] != OutNever {`, `if c.Out[op] != OutNever {`),
	closure("An operation without a group stands alone on a clock.", orderGo,
		` || c.Within[a] < 0) {`, `) {`),
	closure("Going back moves the clocks back.", frontierGo,
		`f.first[i][g] = min(f.first[i][g], c.rank[x])`, `f.first[i][g] = f.first[i][g] + 0*c.rank[x]`),
	closure("A circle is found through optional operations.", cycleGo,
		`a != x || f.Placed[a] || a == y`, `a != x || f.Placed[a] || g.Optional[a] || a == y`),
	by("engine/order", "TestCircleHasNoShortcut", "A circle has no shortcut.", cycleGo,
		`g.shorten(g.walk(f, start))`, `g.walk(f, start)`),

	squeezed("At one instant two operations without width are not ordered.", clocksGo,
		`		return scale(t) + 1
	}
	return scale(t)
}`, `		return scale(t)
	}
	return scale(t)
}`),
	squeezed("At one instant an operation without width is not called after another.", clocksGo,
		`	case zero:`, `	case false:`),
	squeezed("At one instant an operation without width comes before a call.", clocksGo,
		`return scale(t) + 2`, `return scale(t) + 1`),
	squeezed("Ties are concurrent where the history says so.", clocksGo,
		`case v.Ties == history.TiesConcurrent:`, `case false:`),
	squeezed("At one instant a return of an operation with a width comes before one without.", clocksGo,
		`v.Ties == history.TiesPrecede && v.Call[i] == v.Ret[i]`, `v.Ties == history.TiesPrecede`),
	twin("Real time allows for the clock error.", clocksGo, `return v.ClockError.All, 0`, `return 0, 0`),
	twin("Real time allows for the clock errors of both nodes.", clocksGo, `return e, e`, `return e, 0`),
	twin("Real time is exact on one node.", clocksGo, `exact := func(int32) (out, in int64) { return 0, 0 }`, `exact := byNode`),
	twin("Exact order on one node is limited to that node.", clocksGo, `	within := v.Node
`, `	within := []int32(nil)
`),
	by("consistency", "TestClockErrorsByNodeJoinKeys", "Clock errors by node forbid splitting by key.", clocksGo, `CrossKey: !s.PerKey}`, `CrossKey: false}`),
	twin("Lines have no clock error.", clocksGo, `			out, in = 0, 0
`, ``),
	by("engine/order", "TestSessionOfUnanswered", "An operation without an answer precedes nothing in its session.", clocksGo,
		`			if !v.Info[i] {
				c.Out[i] = rank[i]`, `			if true {
				c.Out[i] = rank[i]`),
	squeezed("Operations of a process follow each other by call.", clocksGo,
		`	SortBy(byCall, v.Call)
`, ``),
	squeezed("Operations of a process with one call follow each other by return.", clocksGo,
		`	SortBy(byCall, v.Ret)
`, ``),
	twin("The call of a read is moved back by the bound.", clocksGo, `in = add(in, early)`, `_ = early`),
	squeezed("A call that is moved gives its operation a width.", clocksGo, `zero = zero && early == 0`, `zero = zero || early != 0`),
	twin("The call of a read is moved back along the lines.", clocksGo, `c.In[i] = min(c.In[i], early[i])`, `c.In[i] = min(c.In[i], c.In[i])`),
	squeezed("Of the returns before a moved call the last line counts.", clocksGo, `last[k] = max(last[k], last[k-1])`, `last[k] = max(last[k], last[k])`),
	by("engine/order", "TestTimesSaturate", "Times do not overflow.", clocksGo, `if (c > a) != (b > 0) && b != 0 {`, `if false {`),
	twin("An oracle orders operations of one key only, unless it says otherwise.", orderGo, `		if !o.AllKeys {
			s.Relation`, `		if false {
			s.Relation`),
	by("engine/order", "TestOraclesAreLimitedToOneKey", "An oracle's edges are limited to one key.", orderGo,
		`return o.key[a] == o.key[b] && o.Relation`, `return o.Relation`),
	by("engine/order", "TestOraclesAreLimitedToOneKey", "An oracle's clock with groups of its own is limited to one key.", orderGo,
		`d.Within = product(c.Within, v.Key)`, `d.Within = c.Within`),
	twin("An oracle that orders operations of different keys forbids splitting.", orderGo,
		`= !o.AllKeys, o.AllKeys`, `= !o.AllKeys, false`),
	by("engine/order", "TestVectorClocks", "A vector clock knows an operation when it has its sequence number.", formsGo,
		`c.In[i] = known[i][q] + 1`, `c.In[i] = known[i][q]`),
	by("engine/order", "TestDominance", "Dominance wants every clock.", formsGo, `if lacking--; lacking < 0 {`, `if lacking--; lacking < -1 {`),
	by("engine/order", "TestForms", "Within a component of dependencies the rank decides.", formsGo,
		`return c.rank[a] < c.rank[b]`, `return c.rank[a] <= c.rank[b]`),
	by("engine/order", "TestForms", "Between components of dependencies the graph decides.", formsGo,
		`pairs = append(pairs, [2]int32{comp[a], comp[b]})`, `pairs = append(pairs, [2]int32{comp[b], comp[a]})`),
}
