package main

const (
	stalenessGo = "consistency/staleness.go"
	readAgesGo  = "consistency/staleness_reads.go"
	boundsGo    = "consistency/ladder_bounds.go"
)

// stalenessRules are those of how stale reads were, and of the smallest bounds
// that are found from it. Equivalent, so not here: beginning the search for a
// bound lower than the ages allow, which only takes longer.
var stalenessRules = []mutation{
	ages("What overwrites begins after what was seen has ended.", `if w.begin <= after {`, `if w.begin < after {`),
	ages("What overwrites ends before the read begins.", `found && first >= r.begin[x]`, `found && first > r.begin[x]`),
	ages("The earliest of what overwrites gives the age in time.", `k.earliest[i] = min(k.earliest[i], k.earliest[i+1])`, `k.earliest[i] = k.earliest[i+1]`),
	ages("An update that may have been refused overwrites nothing.", `if !refusable {`, `if !refusable || true {`),
	ages("Of several candidates the one that ends last counts.", `k.ends[i] = max(w.end, k.ends[i-1])`, `k.ends[i] = w.end`),
	ages("An update that comes after the read is no candidate.", `w.token == token && w.begin <= end`, `w.token == token`),
	ages("An update of another value is no candidate.", `if i > 0 && k.writers[i-1].token == token {`, `if i > 0 {`),
	ages("The initial value is a candidate.", `return math.MinInt64, initially`, `return math.MinInt64, false`),
	ages("What nobody had written is not measured.", `return math.MinInt64, initially`, `return math.MinInt64, true`),
	ages("A read that may have seen an update of unknown effect is not measured.", `case k.unnamed <= r.end[x]:`, `case false:`),
	ages("An update of unknown effect that comes after the read does not count.", `case k.unnamed <= r.end[x]:`, `case k.unnamed < math.MaxInt64:`),
	ages("An age in versions counts what ended before the read began.", `k.sure[entering[entered]].end < q.before`, `k.sure[entering[entered]].end <= q.before`),
	ages("An age in versions counts what began late enough only.", `int32(entered) - sums.below(k.late(q.after))`, `int32(entered)`),
	ages("A read without an answer is not measured.", `	case r.v.Idle != nil && r.v.Idle[x]:
		r.ages[x].Sight = Unanswered
`, ``),
	ages("An answer that names no value is not measured.", `r.ages[x].Sight = Unnamed`, `return token, true`),
	ages("Where the lines are the clock there is no age in time.", `if !timed(r.v) {`, `if false {`),
	by("consistency", "TestStalenessOfOneKey", "With one key its reads alone are measured.", readAgesGo, `if only < 0 || key == only {`, `if true {`),

	by("consistency", "TestStalenessOfOneHistory", "A read is counted in the part of the run in which it began.", stalenessGo, `m.Slices[(v.Call[x]-first)/width]`, `m.Slices[0]`),
	by("consistency", "TestStalenessOfOneHistory", "Keys and nodes stand with the most stale reads first.", stalenessGo, `cmp.Compare(b.MaxVersions, a.MaxVersions)`, `cmp.Compare(a.MaxVersions, b.MaxVersions)`),
	by("consistency", "TestStalenessOfOneHistory", "Operations without a node are in no count of nodes.", stalenessGo, `if name != "" {`, `if name != "" || true {`),
	by("consistency", "TestStalenessOfOneHistory", "Fresh reads are in no histogram of ages in time.", stalenessGo, `			if a.Versions > 0 {
				fill`, `			if true {
				fill`),
	by("consistency", "TestStalenessWithoutTimes", "A history without times has no histogram of them.", stalenessGo, `	case v.Untimed:
		return "some events have no time"
`, ``),

	by("consistency", "TestLadderBoundsAreSmallest", "The smallest k is more than the greatest age, by one.", boundsGo, `k.low = max(k.low, int64(m.Total.MaxVersions))`, `k.low = max(k.low, int64(m.Total.MaxVersions)+1)`),
	by("consistency", "TestLadderBoundsAreSmallest", "The smallest t is the greatest age.", boundsGo, `t.low = m.Total.MaxTime - 1`, `t.low = m.Total.MaxTime`),
	by("consistency", "TestLadderBoundsAreSmallest", "A bound that holds is not the smallest while a lesser one may hold.", boundsGo, `!b.found || b.low+1 < b.high`, `!b.found`),
	by("consistency", "TestLadderBoundsAreSmallest", "As many versions as a key has are enough.", boundsGo, `min(int64(most)+1, maxLadderK)`, `min(int64(most)/2, maxLadderK)`),
	by("consistency", "TestLadderBoundsWithOracle", "With oracles no bound in time does not rule out bounds in versions.", boundsGo, `t.none && len(o.Oracles) == 0`, `t.none`),
	by("consistency", "TestLadderNamesOracles", "A rung says which oracles it was checked with.", "consistency/ladder.go", `	r.Oracles = oracleNames(o)
`, ``),
}

// ages is a rule without which the ages of reads are not those of the
// definition.
func ages(name, from, to string) mutation {
	return by("consistency", "TestAgesEqualTwin", name, readAgesGo, from, to)
}
