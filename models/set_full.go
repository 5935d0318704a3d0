package models

import (
	"cmp"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// fullReadOps are the operations of sets that grow and are read whole.
func fullReadOps() []operation[SetIn, taken] {
	return []operation[SetIn, taken]{{
		OpDoc: OpDoc{F: "add", In: "an element"},
		in:    anyInput(SetAdd), out: noOutput[taken],
	}, {
		OpDoc: OpDoc{F: "read", Out: "all elements, in any order"},
		in:    ignored(SetRead()), out: func(r recorded) (out taken, known bool, want string) {
			elems, _ := r.out.Elems()
			if k := r.out.Kind(); k != history.KindArray && k != history.KindSet {
				return out, false, "an array or set of the elements"
			}
			return ListOf(elems...), true, ""
		},
	}}
}

// setHistory is what was added to a set and what the reads saw.
type setHistory struct {
	added, seen tally // operations by element
	reads       []int // reads with a known answer, in the order of their calls
}

// collect reads the operations and reports what no set can answer: an element
// twice, or one that was never added by then.
func collect(b *object[SetIn, taken]) (s setHistory) {
	for _, i := range b.ops {
		switch op := &b.Ops[i]; {
		case op.In.F == "add":
			s.added.add(op.In.Elem, i)
		case b.known(i):
			s.reads = append(s.reads, i)
			for _, v := range op.Out.Slice() {
				if by := s.seen.by[v]; len(by) > 0 && by[len(by)-1] == i {
					b.report(true, "duplicated", []int{i}, "%s read %s twice", b.Where(i), v.Label())
				} else {
					s.seen.add(v, i)
				}
			}
		}
	}
	slices.SortStableFunc(s.reads, func(x, y int) int { return cmp.Compare(b.call(x), b.call(y)) })
	return s
}

// unexpected reports an element that reads saw though nobody had tried to add it.
func (s setHistory) unexpected(b *object[SetIn, taken], v history.Value, reads []int) {
	if len(s.added.by[v]) == 0 {
		b.report(true, "unexpected", reads, "%s read %s, which was never added", b.Where(reads[0]), v.Label())
		return
	}
	for _, r := range reads {
		early := true
		for _, a := range s.added.by[v] {
			early = early && b.before(b.ret(r), b.call(a))
		}
		if early {
			b.report(true, "unexpected", []int{r, s.added.by[v][0]}, "%s read %s before %s added it", b.Where(r), v.Label(), b.Where(s.added.by[v][0]))
			return
		}
	}
}

// setFull is Jepsen's set-full.
func setFull() Analysis {
	return analysis(Analysis{
		Name: "set-full",
		Doc: "A set that grows and is read whole, again and again: once an element is known (its add was acknowledged or a read returned it), reads may miss it for a while (stale) but not for good (lost). " +
			"Unknown when no element was seen to stay.",
	}, fullReadOps(), judgeSetFull)
}

func judgeSetFull(b *object[SetIn, taken]) {
	s := collect(b)
	if len(s.reads) == 0 {
		b.settle(spec.Vacuous, "no read returned")
		return
	}
	for _, v := range s.seen.values {
		s.unexpected(b, v, s.seen.by[v])
	}
	stable := 0
	for _, v := range s.added.values {
		if s.element(b, v) {
			stable++
		}
	}
	if stable == 0 {
		b.settle(spec.Unknown, "no element was seen to stay")
	}
}

// element judges one element and reports whether it stays: no read that was
// invoked after the last that saw it missed it.
func (s setHistory) element(b *object[SetIn, taken], v history.Value) (stays bool) {
	saw := map[int]bool{}
	known := -1 // the operation that was the first to show that v is there
	show := func(i int) {
		if b.Ops[i].Outcome == history.OK && (known < 0 || b.ret(i) < b.ret(known)) {
			known = i
		}
	}
	for _, i := range s.added.by[v] {
		show(i)
	}
	for _, i := range s.seen.by[v] {
		saw[i] = true
		show(i)
	}
	present, absent := -1, -1 // the last reads that saw and missed it
	for k := len(s.reads) - 1; k >= 0 && (absent < 0 || present < 0 && len(saw) > 0); k-- {
		switch i := s.reads[k]; {
		case saw[i] && present < 0:
			present = i
		case !saw[i] && absent < 0:
			absent = i
		}
	}
	stays = present >= 0 && (absent < 0 || b.call(absent) < b.call(present))
	switch {
	case known < 0 || absent < 0 || !b.before(b.ret(known), b.call(absent)):
	case stays:
		b.report(false, "stale", []int{absent, known}, "%s missed %s, which was known since %s; later reads saw it", b.Where(absent), v.Label(), b.Where(known))
	default:
		b.report(true, "lost", []int{absent, known}, "%s missed %s, which was known since %s, and no later read saw it", b.Where(absent), v.Label(), b.Where(known))
	}
	return stays
}

// setFinal is Jepsen's set.
func setFinal() Analysis {
	return analysis(Analysis{
		Name: "set-final",
		Doc:  "A set that grows and is read whole at the end: the last read holds every element whose add was acknowledged, and none that was never added. Unknown when no read returned.",
	}, fullReadOps(), judgeSetFinal)
}

func judgeSetFinal(b *object[SetIn, taken]) {
	s := collect(b)
	if len(s.reads) == 0 {
		b.settle(spec.Unknown, "no read returned")
		return
	}
	final := s.reads[0]
	for _, r := range s.reads {
		if b.ret(r) >= b.ret(final) {
			final = r
		}
	}
	in := map[history.Value]bool{}
	for _, v := range b.Ops[final].Out.Slice() {
		if in[v] {
			continue
		}
		in[v] = true
		adds := s.added.by[v]
		switch s.unexpected(b, v, []int{final}); {
		case len(adds) > 0 && b.among(adds, history.Fail) == len(adds):
			b.report(false, "recovered", append([]int{final}, adds...), "%s read %s, though its add, %s, had failed", b.Where(final), v.Label(), b.Where(adds[0]))
		case len(adds) > 0 && b.among(adds, history.OK) == 0:
			b.report(false, "recovered", append([]int{final}, adds...), "%s read %s, though its add, %s, was never acknowledged", b.Where(final), v.Label(), b.Where(adds[0]))
		}
	}
	for _, v := range s.added.values {
		adds := s.added.by[v]
		for _, a := range adds {
			if !in[v] && b.Ops[a].Outcome == history.OK && b.before(b.ret(a), b.call(final)) {
				b.report(true, "lost", append([]int{final}, adds...), "%s missed %s, whose add, %s, was acknowledged", b.Where(final), v.Label(), b.Where(a))
				break
			}
		}
	}
}
