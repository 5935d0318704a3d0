package paths

import (
	"cmp"
	"slices"

	"pinyon/engine/spec"
)

// container is the path of one discipline: what takes, peeks and observations
// of emptiness have in common is done once, and solve does the rest.
type container struct {
	name       string
	discipline spec.Discipline
	// solve returns a line of operations (-1-i: item i leaves, though nobody took
	// it), or items that exclude each other.
	solve func(f *field) (line []int32, bad *conflict)
}

// Name implements Path.
func (c *container) Name() string { return c.name }

// Applies implements Path.
func (c *container) Applies(p *Problem) (ok bool, reason string) {
	if ok, reason = p.readable(c.discipline); !ok || c.discipline != spec.ByPriority {
		return ok, reason
	}
	used := make([]bool, len(p.accesses.Rank))
	for _, r := range p.accesses.Rank {
		if used[r] {
			return false, "two elements have the same priority"
		}
		used[r] = true
	}
	return true, ""
}

// Decide implements Path. It begins without the takes that have no answer.
// While items that nobody took are part of a conflict, and there are such
// takes, one such item counts as perhaps taken by one of them, from the call of
// the first on; a conflict of other items is one whatever those takes did. An
// item that was alone in its conflict must have been taken, and when there are
// more of these than takes, they refute.
func (c *container) Decide(p *Problem) Answer {
	b, twice := newBag(p)
	if twice != nil {
		return Answer{Kind: spec.Violation, Core: twice}
	}
	var forced []int32 // what forces items out
	out := 0           // how many are
	for rounds := 0; ; rounds++ {
		line, bad := c.try(b)
		switch {
		case p.stopped():
			return cannotTell("it was stopped")
		case bad == nil:
			if whole := b.fill(line); whole != nil {
				return p.accept(b.translate(whole))
			}
			if b.by == nil {
				b.share(line)
				continue
			}
			fallthrough
		case b.by != nil:
			return cannotTell("takes without an answer may explain what nobody took, and there are several ways")
		}
		small := c.shrink(b, bad)
		suspects := small.suspects()
		if len(suspects) == 0 || len(b.spares) == 0 {
			return refutes(small.ops)
		}
		if len(suspects) == 1 {
			forced = append(forced, small.ops...)
			if out++; out > len(b.spares) {
				return refutes(append(forced, b.spares...))
			}
		}
		if rounds > 20 && rounds*len(b.ops) > maxLoosening {
			return cannotTell("many takes without an answer may explain what nobody took")
		}
		add := small.ops[small.add[suspects[0]]] // b numbers operations as the View does
		b.loose[slices.Index(b.add, add)] = true
	}
}

// maxLoosening is about how many operations may be looked at again for the
// sake of takes without an answer.
const maxLoosening = 20_000_000

func cannotTell(reason string) Answer { return Answer{Kind: spec.Unknown, Reason: reason} }

// try solves a bag.
func (c *container) try(b *bag) (line []int32, bad *conflict) {
	f, bad := newField(b)
	if bad != nil {
		return nil, bad
	}
	return c.solve(f)
}

// share gives each item that leaves without a take one of the takes without an
// answer, in the order of their calls: with that the bag is tried once more,
// and then may only turn out possible.
func (b *bag) share(line []int32) {
	b.by = make([]int32, b.items())
	next := int32(0)
	for _, x := range line {
		if x < 0 && b.loose[-1-x] {
			b.by[-1-x] = min(next, int32(len(b.spares)-1))
			next++
		}
	}
}

// suspects are the items that were added and that nobody took.
func (b *bag) suspects() (items []int32) {
	for i := range b.add {
		if b.add[i] >= 0 && !b.gone(int32(i)) {
			items = append(items, int32(i))
		}
	}
	return items
}

// fill puts takes without an answer where items leave that nobody took; at the
// end of the line they need not leave. It returns nil where there are too few
// takes that may come there: each is used for the first place that it fits, so
// no other choice would do better on this line.
func (b *bag) fill(line []int32) []int32 {
	if line = slices.Clone(line); b.discipline == spec.FIFO {
		b.linger(line)
	}
	last := len(line)
	for last > 0 && line[last-1] < 0 {
		last--
	}
	line = line[:last]
	if !slices.ContainsFunc(line, func(x int32) bool { return x < 0 }) {
		return line
	}
	least := make([]int64, len(line)) // least out of the operations from here on
	for k := len(line) - 1; k >= 0; k-- {
		least[k] = 1<<63 - 1
		if k+1 < len(line) {
			least[k] = least[k+1]
		}
		if line[k] >= 0 {
			least[k] = min(least[k], b.out[line[k]])
		}
	}
	used := 0
	for k, x := range line {
		if x >= 0 {
			continue
		}
		if used == len(b.spares) || b.in[b.spares[used]] > least[k] {
			return nil
		}
		line[k] = b.spares[used]
		used++
	}
	return line
}

// linger moves what leaves the front of a queue behind the adds that follow:
// they do not mind, and a later take without an answer may then do.
func (b *bag) linger(line []int32) {
	adds := make([]bool, len(b.ops))
	for _, op := range b.add {
		if op >= 0 {
			adds[op] = true
		}
	}
	left := 0 // how many before the operation at hand leave
	for k, x := range line {
		switch {
		case x < 0:
			left++
		case left > 0 && adds[x]:
			copy(line[k-left+1:k+1], line[k-left:k])
			line[k-left] = x
		default:
			left = 0
		}
	}
}

// block is an item whose operations go together on one slot, or an operation
// without effect (item -1).
type block struct{ slot, item, op int32 }

// weave puts blocks, and the operations without effect, into a line, before
// the first operation that must be at a later slot. What is in a block is
// nobody else's business, so it can stand between any two others.
func (f *field) weave(line []int32, blocks []block) []int32 {
	for _, op := range f.idle {
		blocks = append(blocks, block{f.slots.in[op], -1, op})
	}
	if len(blocks) == 0 {
		return line
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(a.slot, b.slot) })
	whole := make([]int32, 0, len(f.ops))
	latest, next := int32(0), 0
	for _, x := range line {
		if x >= 0 {
			latest = max(latest, f.slots.in[x])
		} else {
			latest = max(latest, f.span[-1-x].takeIn)
		}
		for ; next < len(blocks) && blocks[next].slot < latest; next++ {
			whole = f.unpack(whole, blocks[next])
		}
		whole = append(whole, x)
	}
	for ; next < len(blocks); next++ {
		whole = f.unpack(whole, blocks[next])
	}
	return whole
}

func (f *field) unpack(line []int32, b block) []int32 {
	if b.item < 0 {
		return append(line, b.op)
	}
	line = append(line, f.add[b.item])
	line = append(line, f.peeksOf(b.item)...)
	if t := f.take[b.item]; t >= 0 {
		return append(line, t)
	}
	return append(line, -1-b.item)
}

// translate leads back to positions in the View.
func (b *bag) translate(line []int32) []int32 {
	for k, x := range line {
		line[k] = b.ops[x]
	}
	return line
}
