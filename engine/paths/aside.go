package paths

import (
	"slices"

	"pinyon/engine/spec"
)

// aside are required operations that a path over registers leaves out of its
// order and puts back at its end: reads whose answer is not known, and answers
// that say only which value was not there (a failed compare-and-set). Leaving
// them out forbids nothing, so a violation stands; an order counts when all of
// them found a place in it.
type aside struct {
	ops   []int32
	avoid []int32 // the value that must not be there; -1: any may
}

// maxAside bounds the operations that are put back times those in the order.
const maxAside = 200_000_000

func (a *aside) add(op, avoid int32) {
	a.ops, a.avoid = append(a.ops, op), append(a.avoid, avoid)
}

// putBack returns line with the operations of a in it, each at the first place
// that hard order and what it must not find allow, or why there is none. key, write
// and initial say what each operation of the line leaves, and where.
func (a *aside) putBack(line []int32, h *hardOrder, key, write []int32, initial func(key int32) int32) (whole []int32, why string) {
	if len(a.ops)*(len(line)+len(a.ops)) > maxAside {
		return nil, "there are too many answers that say only which value was not there"
	}
	for i, x := range a.ops {
		from, to := 0, len(line)
		for p, y := range line {
			if h.precedes(y, x) {
				from = p + 1
			} else if to == len(line) && h.precedes(x, y) {
				to = p
			}
		}
		held := initial(key[x])
		for p := 0; p < min(to, len(line)); p++ {
			if p >= from && held != a.avoid[i] {
				to = p
				break
			}
			if y := line[p]; key[y] == key[x] && write[y] >= 0 {
				held = write[y]
			}
		}
		if from > to || held == a.avoid[i] {
			return nil, "an answer says which value was not there, and it is there wherever the order that was found lets it stand"
		}
		line = slices.Insert(line, to, x)
	}
	return line, ""
}

// avoided is the value that a read must not find; -1 where it may find any, and
// known is false where its answer says something else.
func avoided(t spec.Tokens, x int32) (avoid int32, known bool) {
	if !t.Observes(x) || t.Demand(x) >= 0 {
		return -1, true
	}
	a, ok := t.(spec.Avoider)
	if !ok {
		return -1, false
	}
	avoid = a.Avoid(x)
	return avoid, avoid >= 0
}
