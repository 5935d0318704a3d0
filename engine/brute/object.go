package brute

import (
	"slices"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// object is one key's state, as a number, under a level's validity.
type object interface {
	init(key int32) int32
	step(state, op int32) (next int32, ok bool)
}

// objectFor returns the object over m. versions is K of bounded staleness, or
// 0 for the plain validity.
func objectFor(m spec.Machine, v *history.View, versions int) object {
	nd, many := m.(spec.Nondeterministic)
	if versions == 0 && !many {
		return plain{m}
	}
	steps := func(state, op int32) []int32 {
		if next, ok := m.Step(state, op); ok {
			return []int32{next}
		}
		return nil
	}
	if many {
		steps = nd.Steps
	}
	return &pasts{machine: m, steps: steps, view: v, versions: versions, numbers: map[string]int32{}}
}

// plain is a model that has one state at a time.
type plain struct{ spec.Machine }

func (p plain) init(key int32) int32                       { return p.Init(key) }
func (p plain) step(state, op int32) (next int32, ok bool) { return p.Step(state, op) }

// lenient is an object some of whose reads may return anything.
type lenient struct {
	object
	free []bool
}

func (l lenient) step(state, op int32) (int32, bool) {
	if l.free[op] {
		return state, true
	}
	return l.object.step(state, op)
}

// past is one possible past of a key: the versions of it that still count,
// oldest first. The last one is the state.
type past []int32

// pasts is an object that may have several pasts (a nondeterministic model)
// and whose reads may see older versions (bounded staleness). Its state is the
// number of a set of pasts; equal sets have equal numbers.
type pasts struct {
	machine  spec.Machine
	steps    func(state, op int32) []int32
	view     *history.View
	versions int
	numbers  map[string]int32
	sets     [][]past
}

func (p *pasts) init(key int32) int32 { return p.number([]past{{p.machine.Init(key)}}) }

// step follows each past on its own; the operation is legal when one remains.
func (p *pasts) step(state, op int32) (int32, bool) {
	var next []past
	for _, h := range p.sets[state] {
		if p.versions > 0 && p.view.Read[op] {
			// A read sees any version that still counts, and changes none.
			for _, version := range h {
				if len(p.steps(version, op)) > 0 {
					next = append(next, h)
					break
				}
			}
			continue
		}
		for _, version := range p.steps(h[len(h)-1], op) {
			longer := append(slices.Clone(h), version)
			next = append(next, longer[max(0, len(longer)-max(1, p.versions)):])
		}
	}
	if len(next) == 0 {
		return 0, false
	}
	return p.number(next), true
}

// number gives a set of pasts its number, whatever its order and repetitions.
func (p *pasts) number(set []past) int32 {
	slices.SortFunc(set, func(a, b past) int { return slices.Compare(a, b) })
	set = slices.CompactFunc(set, func(a, b past) bool { return slices.Equal(a, b) })
	var key strings.Builder
	for _, h := range set {
		for _, n := range append(past{int32(len(h))}, h...) { // the length first: no two sets share a text
			key.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
		}
	}
	n, ok := p.numbers[key.String()]
	if !ok {
		n = int32(len(p.sets))
		p.numbers[key.String()] = n
		p.sets = append(p.sets, set)
	}
	return n
}
