package engine

import (
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// pins is what a search knows of register-like objects beyond their steps:
// which values are still demanded, and who can still provide them. It serves
// three rules, under plain validity only:
//
// Pinned values: once a value is overwritten that a required operation still
// demands and nobody can write again, no order can be completed. (Gibbons and
// Korach, "Testing Shared Memories", 1997, decide registers with unique values
// by what amounts to this.)
//
// Growing values: where every operation either extends what an object holds (a
// text that is appended to) or leaves a value that is known, no order can be
// completed once a value that is still demanded is an extension neither of what
// is held nor of what an operation that is left writes.
//
// Unwanted writes: an operation without an answer whose value nobody left
// demands need not be placed. Where some operation observes that a value is
// not there (a failed compare-and-set), any write may matter, and the rule is
// off for that object.
type pins struct {
	tokens  spec.Tokens
	demand  []int32            // by operation: cell that a required operation demands, or -1
	want    []int32            // by operation: cell that any operation wants, or -1
	write   []int32            // by operation: cell that it writes, or -1
	needs   []int32            // by cell: required operations left that demand it
	wants   []int32            // by cell: operations left that want it
	gives   []int32            // by cell: operations left that write it
	exact   []bool             // by object: every update says what it writes
	silent  []bool             // by object: besides, nothing observes that a value is not there
	grower  spec.Appends       // nil: growing values are not looked at
	asked   []asked            // what is demanded of an object that grows
	origins []int32            // by place in asked: writes left that it may be an extension of
	leads   [][]int32          // by operation: places in asked that its write may be extended to
	reach   map[[2]int32]bool  // by tokens: see reaches
	single  []int32            // the first object's cells by token, plus one; 0: none
	cells   map[[2]int32]int32 // those of the others
}

// newPins returns nil where the machine tells nothing.
func newPins(m spec.Machine, v *history.View, g *order.Graph, object []int32, objects int) *pins {
	tokens, ok := m.(spec.Tokens)
	if !ok || v.Read == nil {
		return nil
	}
	p := &pins{tokens: tokens, exact: make([]bool, objects), silent: make([]bool, objects)}
	p.demand, p.want, p.write = make([]int32, v.N), make([]int32, v.N), make([]int32, v.N)
	for o := range objects {
		p.exact[o], p.silent[o] = true, true
	}
	for x := range int32(v.N) {
		o := object[x]
		p.demand[x], p.write[x] = -1, -1
		p.want[x] = p.cell(o, tokens.Want(x))
		if !g.Optional[x] {
			p.demand[x] = p.cell(o, tokens.Demand(x))
		}
		if !v.Read[x] {
			p.write[x] = p.cell(o, tokens.Write(x))
			idle := v.Idle != nil && v.Idle[x]
			p.exact[o] = p.exact[o] && (p.write[x] >= 0 || idle)
		} else if tokens.Observes(x) {
			p.silent[o] = false
		}
		p.count(x, 1)
	}
	p.grow(m, v)
	return p
}

// grow finds out whether all that happens to the one object there is extends
// what it holds, or leaves what is known.
func (p *pins) grow(m spec.Machine, v *history.View) {
	g, ok := m.(spec.Appends)
	if !ok || len(p.exact) != 1 || p.exact[0] {
		return
	}
	var fixed []int32
	for x := range int32(v.N) {
		_, appends := g.Piece(x)
		switch {
		case v.Read[x] || v.Idle != nil && v.Idle[x] || appends:
		case p.write[x] < 0:
			return
		default:
			fixed = append(fixed, x)
		}
	}
	listed := make([]bool, len(p.needs))
	for x, c := range p.demand {
		if c >= 0 && !listed[c] {
			listed[c] = true
			p.asked = append(p.asked, asked{c, p.tokens.Demand(int32(x))})
		}
	}
	p.grower, p.reach = g, map[[2]int32]bool{}
	p.origins, p.leads = make([]int32, len(p.asked)), make([][]int32, v.N)
	for _, x := range fixed {
		from := p.tokens.Write(x)
		for i, a := range p.asked {
			if p.reaches(from, a.token) {
				p.leads[x] = append(p.leads[x], int32(i))
				p.origins[i]++
			}
		}
	}
}

// reaches reports whether appends may lead from one value to another.
func (p *pins) reaches(from, to int32) bool {
	key := [2]int32{from, to}
	yes, known := p.reach[key]
	if !known {
		head, isText := p.grower.Text(from)
		text, _ := p.grower.Text(to)
		yes = from == to || isText && strings.HasPrefix(text, head)
		p.reach[key] = yes
	}
	return yes
}

// outgrows reports whether placing x, which leaves the state, is the end of
// something that is still demanded: it is no extension of what is held then,
// nor of what any operation that is left writes.
func (p *pins) outgrows(x, state int32) bool {
	if p.grower == nil {
		return false
	}
	held := p.tokens.Held(state)
	for i, a := range p.asked {
		needs := p.needs[a.cell]
		if p.demand[x] == a.cell {
			needs-- // x itself has its value now
		}
		if needs > 0 && p.origins[i] == 0 && !p.reaches(held, a.token) {
			return true
		}
	}
	return false
}

// asked is something that is demanded.
type asked struct{ cell, token int32 }

// cell numbers the pair of an object and a token.
func (p *pins) cell(object, token int32) int32 {
	if token < 0 {
		return -1
	}
	if c := p.known(object, token); c >= 0 {
		return c
	}
	c := int32(len(p.needs))
	p.needs, p.wants, p.gives = append(p.needs, 0), append(p.wants, 0), append(p.gives, 0)
	switch {
	case object == 0:
		for int(token) >= len(p.single) {
			p.single = append(p.single, 0)
		}
		p.single[token] = c + 1
	case p.cells == nil:
		p.cells = map[[2]int32]int32{{object, token}: c}
	default:
		p.cells[[2]int32{object, token}] = c
	}
	return c
}

// known is cell for a pair that an operation or the start has; -1 otherwise.
func (p *pins) known(object, token int32) int32 {
	if object == 0 {
		if int(token) < len(p.single) {
			return p.single[token] - 1
		}
		return -1
	}
	if c, ok := p.cells[[2]int32{object, token}]; ok {
		return c
	}
	return -1
}

// count adds n to what operation x, which is left, contributes.
func (p *pins) count(x, n int32) {
	if c := p.demand[x]; c >= 0 {
		p.needs[c] += n
	}
	if c := p.want[x]; c >= 0 {
		p.wants[c] += n
	}
	if c := p.write[x]; c >= 0 {
		p.gives[c] += n
	}
	if p.leads != nil {
		for _, i := range p.leads[x] {
			p.origins[i] += n
		}
	}
}

// strands reports whether placing x, which takes the object from state now to
// next, overwrites a value that is still demanded for good.
func (p *pins) strands(x, object, now, next int32) bool {
	if now != next && p.outgrows(x, next) {
		return true
	}
	if now == next || !p.exact[object] {
		return false
	}
	held := p.cell(object, p.tokens.Held(now))
	if held == p.cell(object, p.tokens.Held(next)) || p.gives[held] > 0 {
		return false
	}
	needs := p.needs[held]
	if p.demand[x] == held {
		needs-- // x itself has its value now
	}
	return needs > 0
}

// unwanted reports whether nothing that is left wants what the optional
// operation y, on this object, would write.
func (p *pins) unwanted(y, object int32) bool {
	c := p.write[y]
	if c < 0 || !p.exact[object] || !p.silent[object] {
		return false
	}
	wants := p.wants[c]
	if p.want[y] == c {
		wants--
	}
	return wants == 0
}
