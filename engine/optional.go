package engine

import (
	"slices"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// optionals are the operations of a search that may never happen: which of them
// are placed, and which may come next.
type optionals struct {
	ops   []int32 // those worth placing, by call
	slot  []int32 // by operation: its position in ops; -1: not there
	bits  []byte  // by position: whether it is placed
	lanes []lane
	at    [][2]int32 // by position: its lane and place there
	// timed: hard order is one interval order, so where one of a lane has not
	// been invoked yet, none after it has.
	timed bool
}

// lane are operations of one class on one object, by invocation: of those that may come next
// the first stands for the others, if it drops nothing. alone: one operation
// that precedes others, or any where the machine knows no classes.
type lane struct {
	ops   []int32
	first int32 // those before it are placed
	alone bool
}

func newOptionals(p Problem, class, object []int32) *optionals {
	o := &optionals{slot: make([]int32, p.View.N)}
	for i := range int32(p.View.N) {
		if o.slot[i] = -1; p.Graph.Optional[i] && (p.View.Idle == nil || !p.View.Idle[i]) {
			o.ops = append(o.ops, i)
		}
	}
	order.SortBy(o.ops, p.View.Call)
	o.bits = make([]byte, (len(o.ops)+7)/8)
	o.at = make([][2]int32, len(o.ops))
	for k, x := range o.ops {
		o.slot[x] = int32(k)
	}
	in, _, timed := p.Graph.Interval()
	o.timed = timed
	byIn := slices.Clone(o.ops)
	if timed {
		order.SortBy(byIn, in)
	}
	number := map[[2]int32]int{}
	for _, x := range byIn {
		n, known := len(o.lanes), false
		alone := class == nil || p.Graph.Bridge(x)
		if !alone {
			of := [2]int32{class[x], object[x]}
			if n, known = number[of]; !known {
				n = len(o.lanes)
				number[of] = n
			}
		}
		if !known {
			o.lanes = append(o.lanes, lane{alone: alone})
		}
		o.at[o.slot[x]] = [2]int32{int32(n), int32(len(o.lanes[n].ops))}
		o.lanes[n].ops = append(o.lanes[n].ops, x)
	}
	return o
}

// turn notes that x was placed, or no longer is.
func (o *optionals) turn(x int32, placed []bool) {
	k := o.slot[x]
	if k < 0 {
		return
	}
	o.bits[k>>3] ^= 1 << (k & 7)
	l, at := &o.lanes[o.at[k][0]], o.at[k][1]
	if at < l.first {
		l.first = at
	}
	for int(l.first) < len(l.ops) && placed[l.ops[l.first]] {
		l.first++
	}
}

// optionalChildren adds to cs the optional operations that may come next.
// blocked: see children.
func (s *search) optionalChildren(cs []child, blocked bool) []child {
	required := len(cs)
	for i := range s.optional.lanes {
		l := &s.optional.lanes[i]
		for _, y := range l.ops[l.first:] {
			if s.f.Placed[y] || s.unwanted(y, blocked) {
				continue
			}
			if !s.f.Ready(y) {
				if s.optional.timed {
					break
				}
				continue
			}
			if s.stoodFor(y, cs) {
				continue
			}
			now := s.state[s.object[y]]
			if next, ok := s.Machine.Step(now, y); ok && next != now && !s.strands(y, now, next) {
				cs = append(cs, child{op: y, next: next})
				if !l.alone && s.f.Strict(y) {
					break // it stands for the rest
				}
			}
		}
	}
	slices.SortFunc(cs[required:], func(a, b child) int { return int(s.optional.slot[a.op] - s.optional.slot[b.op]) })
	s.rank(cs[required:])
	return cs
}

// stoodFor reports whether another child stands for the optional operation y:
// it steps alike, drops nothing, and y precedes nothing that it does not.
func (s *search) stoodFor(y int32, cs []child) bool {
	if s.class == nil || s.Graph.Bridge(y) {
		return false
	}
	for _, c := range cs {
		if c.op >= 0 && s.class[c.op] == s.class[y] && s.object[c.op] == s.object[y] && s.f.Strict(c.op) {
			return true
		}
	}
	return false
}

// classes are those of the operations; nil where the machine does not tell.
func classes(m spec.Machine, n int) []int32 {
	c, ok := m.(spec.Classer)
	if !ok {
		return nil
	}
	class := make([]int32, n)
	for i := range class {
		class[i] = c.Class(int32(i))
	}
	return class
}
