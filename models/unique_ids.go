package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// uniqueIDs checks that no id was given out twice.
func uniqueIDs() Analysis {
	return analysis(Analysis{
		Name: "unique-ids",
		Doc:  "A generator that gives out no id twice. Over all keys of a history each key is a generator of its own.",
	}, []operation[struct{}, history.Value]{{
		OpDoc: OpDoc{F: "generate", Aliases: []string{"generate-id", "next"}, Out: "the id, any value"},
		in:    ignored(struct{}{}), out: anyOutput,
	}}, func(b *object[struct{}, history.Value]) {
		var ids tally
		for _, i := range b.ops {
			if b.known(i) {
				ids.add(b.Ops[i].Out, i)
			}
		}
		if len(ids.values) == 0 {
			b.settle(spec.Vacuous, "no id was given out")
		}
		for _, v := range ids.values {
			if by := ids.by[v]; len(by) > 1 {
				b.report(true, "duplicated", by, "%s was given out %d times, first by %s and then by %s", v.Label(), len(by), b.Where(by[0]), b.Where(by[1]))
			}
		}
	})
}
