package main

const (
	staleGo       = "engine/paths/stale.go"
	staleSearchGo = "engine/paths/stale_search.go"
	staleLineGo   = "engine/paths/stale_line.go"
)

// staled is a rule that the comparison of the path for stale registers with the
// twin guards.
func staled(name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./engine/paths", Test: "TestStaleEqualsTwin", Args: []string{"-fuzz.n=3000"}}
}

// staleRules are those of the fast path for registers whose reads may be some
// versions old. Equivalent, so not here: whatever only looks ahead (the hold of
// the write that is placed, bounds passed along chains), and compare-and-sets
// in a circle, or two of one write, which the search would never place.
var staleRules = []mutation{
	staled("Of writes that may come now, a later due with an earlier hold may come first.", staleSearchGo, `			if hold >= least {`, `			if hold >= least || len(kept) > first {`),
	staled("A write that needs all of its window may stand behind one that is due later.", staleSearchGo, `!f.tight[p] || f.due() < f.writes[f.line[p]].hold`, `!f.tight[p]`),
	{Name: "The holds of the last writes tell configurations apart.", File: staleSearchGo, Old: `		if f.writes[w].hold <= due {`, New: `		if f.writes[w].hold <= max(due, math.MaxInt64) {`,
		Package: "./engine/paths", Test: "TestStaleWindowEqualsTwin", Args: []string{"-fuzz.n=20000"}},
	staled("A version that is still waited for stays among the last.", staleSearchGo, `if f.writes[f.line[n-i]].hold > d[f.k-1-i] {`, `if f.writes[f.line[n-i]].hold > d[f.k-1] {`),
	staled("A compare-and-set comes only right after the write that it found.", staleSearchGo, `		if f.writes[x].source < 0 {`, `		if true {`),
	staled("A compare-and-set comes right after the write that it found.", staleSearchGo, `; next >= 0 {`, `; false && next >= 0 {`),
	staled("A write without an answer that nobody saw is left out.", staleGo, `if update && !s.v.Info[x] {`, `if update {`),
	staled("A value that was seen was written once.", staleGo, `if s.repeats(twice, seen) {`, `if false {`),
	staled("A write comes before what reads it returns.", staleGo, `w.due, w.hold = min(w.due, s.out[r]), `, `w.due, w.hold = w.due, `),
	staled("A write is among the last versions when what reads it is invoked.", staleGo, `, max(w.hold, s.in[r])`, `, w.hold`),
	staled("The initial value is a version.", staleGo, `initial.hold = max(initial.hold, s.in[r])`, `_ = r`),
	staled("A version falls out no earlier than the last read of it is invoked.", staleLineGo, `		if i >= s.k {`, `		if false {`),
	staled("A read stands before the first write that comes after it was invoked.", staleLineGo, `p+1 < len(line) && slot[p+1] < at[x]`, `false`),
	staled("What says which value was not there stands where another version is.", staleLineGo, `!s.lacks(line, p, s.aside.avoid[i]) {`, `!s.lacks(line, p, s.aside.avoid[i]) && false {`),
	staled("What says which value was not there has returned when it stands.", staleLineGo, `if p == len(line) || max(s.in[x], slot[p]) > s.out[x] {`, `if p == len(line) {`),
	{Name: "Reads of bounded-staleness:k=2 may see the last but one version.", File: "engine/spec/validity.go", Old: `		if k == 1 {`, New: `		if k <= 2 {`,
		Package: "./consistency", Test: "TestEngineEqualsTwin", Args: []string{"-fuzz.n=20000"}},
}
