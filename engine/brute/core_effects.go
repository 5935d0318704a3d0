package brute

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// precedes is the level's order with that of the oracles, pair by pair, on the
// operations of one key.
func precedes(s, whole *spec.Subject, d verify.Definition, extra func(a, b int32) bool) func(a, b int32) bool {
	if extra == nil {
		return func(a, b int32) bool { return d.Holds(whole.View, a, b) }
	}
	at := make(map[int32]int32, s.View.N) // by index in the history
	for x, i := range s.View.Ops {
		at[i] = int32(x)
	}
	return func(a, b int32) bool {
		return d.Holds(whole.View, a, b) || extra(at[whole.View.Ops[a]], at[whole.View.Ops[b]])
	}
}

// closedEffects checks the first condition of Core for a lock, for members and
// for a number: a legal order of all, with what is not in ops left out, is a
// legal order of ops.
func closedEffects(e spec.Effects, v *history.View, ops []int32, before func(a, b int32) bool) error {
	c := &closure{v: v, before: before, in: make(map[int32]bool, len(ops)), ops: ops}
	for _, x := range ops {
		if c.in[x] {
			return fmt.Errorf("operation %d stands twice", x)
		}
		c.in[x] = true
	}
	if l := e.Locks(); l != nil {
		return c.lock(l)
	}
	if m := e.Members(); m != nil {
		return c.members(m)
	}
	if t := e.Tallies(); t != nil {
		return c.number(t)
	}
	return errors.New("the model says nothing of its operations")
}

// closure is what closedEffects looks at.
type closure struct {
	v      *history.View
	before func(a, b int32) bool
	ops    []int32
	in     map[int32]bool
}

// number: an add moves all others, so none is left out; a read moves nothing.
func (c *closure) number(t *spec.Tallies) error {
	for x, use := range t.Uses {
		switch {
		case use.Kind == spec.CountOther:
			return fmt.Errorf("operation %d may do anything", x)
		case c.in[int32(x)] || use.Kind == spec.CountNothing || use.Kind == spec.CountRead || use.By == 0:
		default:
			return fmt.Errorf("operation %d adds to the number and is left out", x)
		}
	}
	return nil
}

// members: those that no operation of ops is about do not matter, and what only
// sees changes nothing. Of what changes a member of ops, two kinds may be left
// out: that which comes after every required operation of ops about that member
// (an order can end before it), and operations with an answer that come before
// all of these, as many that enter as that leave (together they leave the
// member as it was). One operation of ops may stand among the latter: it then
// leaves what they leave together.
func (c *closure) members(m *spec.Memberships) error {
	mine := map[int32][]int32{}
	for _, x := range c.ops {
		mine[m.Member[x]] = append(mine[m.Member[x]], x)
	}
	early := map[int32][]int32{}
	for i, kind := range m.Kind {
		x := int32(i)
		ops := mine[m.Member[x]]
		switch {
		case kind == spec.MemberOther:
			return fmt.Errorf("operation %d may do anything", x)
		case c.in[x] || len(ops) == 0 || kind == spec.MemberNothing || kind == spec.MemberIn || kind == spec.MemberOut:
		case !slices.ContainsFunc(ops, func(y int32) bool { return !c.v.Info[y] && !c.before(y, x) }):
		case c.v.Info[x] || kind == spec.MemberPut || kind == spec.MemberDrop:
			return fmt.Errorf("operation %d may change a member of the core and is left out", x)
		default:
			early[m.Member[x]] = append(early[m.Member[x]], x)
		}
	}
	for k := range int32(len(m.Start)) {
		if err := c.leaveOut(m, mine[k], early[k]); err != nil {
			return err
		}
	}
	return nil
}

// leaveOut checks that the operations early, on one member, leave it as it was
// before all of ops, but for one of ops that stands among them.
func (c *closure) leaveOut(m *spec.Memberships, ops, early []int32) error {
	sum, among := 0, int32(-1)
	for _, x := range early {
		if sum++; m.Kind[x] == spec.MemberLeave {
			sum -= 2
		}
		for _, y := range ops {
			switch {
			case c.before(x, y) || y == among:
			case among >= 0:
				return fmt.Errorf("operation %d changes a member of the core and is left out, and two of the core need not come after", x)
			default:
				among = y
			}
		}
	}
	if sum != 0 {
		return errors.New("what is left out changes a member of the core")
	}
	if among < 0 {
		return nil
	}
	if kind := m.Kind[among]; c.v.Info[among] || kind != spec.MemberEnter && kind != spec.MemberLeave {
		return fmt.Errorf("operation %d may stand among those that are left out", among)
	}
	for _, y := range ops {
		if y != among && !c.before(among, y) {
			return fmt.Errorf("operation %d may stand among those that are left out, after %d", among, y)
		}
	}
	return nil
}

// lock: in a legal order nothing stands between where an owner takes a lock and
// where it has given it back, so all of that can be left out together, and so
// can an owner. The operations of each owner of ops must have one order, to see
// what belongs together. Where ops are of one owner, what this owner did later
// can be left out, too: an order can end before it.
func (c *closure) lock(l *spec.Locks) error {
	owners := map[int32]bool{}
	for _, x := range c.ops {
		owners[l.Owner[x]] = true
		if l.Kind[x] == spec.LockFail {
			return fmt.Errorf("operation %d says only that somebody held the lock", x)
		}
	}
	of := map[int32][]int32{}
	for i, kind := range l.Kind {
		x := int32(i)
		switch {
		case kind == spec.LockOther || kind == spec.LockMaybe && !c.v.Info[x]:
			return fmt.Errorf("operation %d may do anything", x)
		case owners[l.Owner[x]] && kind != spec.LockFail:
			of[l.Owner[x]] = append(of[l.Owner[x]], x)
		}
	}
	for k := range int32(l.Owners) {
		if err := c.owner(l, of[k], len(owners) == 1); err != nil {
			return err
		}
	}
	return nil
}

// owner checks the operations of one owner.
func (c *closure) owner(l *spec.Locks, ops []int32, alone bool) error {
	slices.SortStableFunc(ops, func(a, b int32) int { return cmp.Compare(c.v.Call[a], c.v.Call[b]) })
	for i := 1; i < len(ops); i++ {
		if !c.before(ops[i-1], ops[i]) {
			return fmt.Errorf("operations %d and %d of one owner have no order", ops[i-1], ops[i])
		}
	}
	if last := len(ops) - 1; last >= 0 && c.v.Info[ops[last]] && !c.in[ops[last]] && (l.Kind[ops[last]] != spec.LockGive || depthAfter(l, ops[:last]) != 1) {
		ops = ops[:last] // it frees nothing, and nothing of the owner comes later
	}
	for alone && len(ops) > 0 && !c.in[ops[len(ops)-1]] {
		ops = ops[:len(ops)-1]
	}
	depth, begin := 0, 0
	for i, x := range ops {
		if depth == 0 {
			begin = i
		}
		if c.in[x] != c.in[ops[begin]] {
			return fmt.Errorf("operation %d belongs to some of the core and is left out, or the other way round", x)
		}
		depth = depthAfter(l, ops[begin:i+1])
	}
	return nil
}

// depthAfter is how often an owner holds the lock after some of its operations.
func depthAfter(l *spec.Locks, ops []int32) (depth int) {
	for _, x := range ops {
		if depth++; l.Kind[x] == spec.LockGive {
			depth = max(0, depth-2)
		}
	}
	return depth
}
