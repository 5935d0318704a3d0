package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// Witness checks that order is a witness: that it shows the operations part of
// s (positions in s.View; nil: all) to be consistent at the level with this
// full name, joined with extra, the order of the oracles over positions of
// s.View (nil: none). In turn:
//
//	order holds every required operation of part exactly once, every optional
//	one at most once, and nothing else;
//	no operation stands before one that precedes it in the closure of the
//	level's relation over part, optional operations that were left out
//	included;
//	every operation is legal in the state that those before it leave, for a
//	level with versions a read in one of the last of its key; a read that the
//	level lets return anything is legal everywhere.
//
// The error says which operation fails and why. The closure is built for parts
// of up to 3000 operations. Above that the level's own relation is still checked
// exactly, in O(n log n), since an operation that was left out has no answer
// and precedes nothing there; of extra, the adjacent pairs and a fixed sample
// are checked.
func Witness(s *spec.Subject, level string, extra func(a, b int32) bool, part, order []int32) error {
	d, err := Define(level)
	if err != nil {
		return err
	}
	_, err = d.witness(s, extra, part, order)
	return err
}

// witness is Witness; sampled reports that extra was only sampled.
func (d Definition) witness(s *spec.Subject, extra func(a, b int32) bool, part, order []int32) (sampled bool, err error) {
	defer func() { err = caught(recover(), err) }()
	if part == nil {
		part = make([]int32, s.View.N)
		for i := range part {
			part[i] = int32(i)
		}
	}
	p := &piece{Definition: d, subject: s, part: part, view: s.View.Slice(part)}
	if err := d.usable(p.view); err != nil {
		return false, err
	}
	if extra != nil {
		p.extra = func(a, b int32) bool { return extra(part[a], part[b]) }
	}
	placed, err := p.members(order)
	if err != nil {
		return false, err
	}
	if sampled, err = p.inOrder(placed); err != nil {
		return sampled, err
	}
	return sampled, p.replay(placed)
}

// caught turns the panic of a model's step into an error.
func caught(r any, err error) error {
	switch e := r.(type) {
	case nil:
		return err
	case *spec.StepError:
		return e
	}
	panic(r)
}

// piece is the part under check. Its operations are positions in view.
type piece struct {
	Definition
	subject *spec.Subject
	part    []int32 // positions in the Subject's View
	view    *history.View
	extra   func(a, b int32) bool
}

// name says which operation x is.
func (p *piece) name(x int32) string { return name(p.subject, p.part[x]) }

func name(s *spec.Subject, i int32) string {
	return fmt.Sprintf("%s [%s]", s.Where(i), s.Text(i))
}

// members turns order into positions of the piece and checks which operations
// it holds.
func (p *piece) members(order []int32) ([]int32, error) {
	at := make(map[int32]int32, len(p.part))
	for x, i := range p.part {
		at[i] = int32(x)
	}
	placed := make([]int32, len(order))
	seen := make([]bool, p.view.N)
	for k, i := range order {
		x, ok := at[i]
		switch {
		case i < 0 || int(i) >= p.subject.View.N:
			return nil, fmt.Errorf("place %d of the order names operation %d, which does not exist", k, i)
		case !ok:
			return nil, fmt.Errorf("%s stands in the order but is not of this part", name(p.subject, i))
		case seen[x]:
			return nil, fmt.Errorf("%s stands in the order twice", p.name(x))
		}
		seen[x], placed[k] = true, x
	}
	for x := range int32(p.view.N) {
		if !seen[x] && !p.view.Info[x] {
			return nil, fmt.Errorf("%s got an answer but does not stand in the order", p.name(x))
		}
	}
	return placed, nil
}

// replay plays the order on the model, each key on its own.
func (p *piece) replay(placed []int32) error {
	m := p.subject.Machine(context.Background(), p.view, false)
	free := p.Free(p.view)
	byKey := map[int32][][]int32{} // the possible pasts of a key: versions, newest last
	lag := p.newLag()
	for _, x := range placed {
		if n := lag.missed(x); p.Missing > 0 && n >= p.Missing {
			return fmt.Errorf("%s misses %d writes, and fewer than %d are allowed", p.name(x), n, p.Missing)
		}
		window := lag.window(x)
		lag.place(x)
		if free != nil && free[x] {
			continue
		}
		k := p.view.Key[x]
		pasts, ok := byKey[k]
		if !ok {
			pasts = [][]int32{{m.Init(k)}}
		}
		next := p.follow(m, pasts, x, window)
		if len(next) == 0 {
			return fmt.Errorf("%s cannot happen there: the object is %s", p.name(x), describe(m, pasts))
		}
		byKey[k] = next
	}
	return nil
}

// follow returns the pasts that operation x may lead to. Of the versions of a
// past, window are left where the level counts those of all keys.
func (p *piece) follow(m spec.Machine, pasts [][]int32, x int32, window int) (next [][]int32) {
	for _, past := range pasts {
		if p.Versions+p.LogVersions > 0 && p.view.Read[x] {
			// A read sees any of the versions and leaves them as they are.
			seen := past
			if p.LogVersions > 0 {
				seen = past[len(past)-window:]
			}
			if slices.ContainsFunc(seen, func(s int32) bool { return len(steps(m, s, x)) > 0 }) {
				next = append(next, past)
			}
			continue
		}
		for _, s := range steps(m, past[len(past)-1], x) {
			longer := append(slices.Clone(past), s)
			if over := len(longer) - max(p.Versions, 1); over > 0 && p.LogVersions == 0 {
				longer = longer[over:]
			}
			next = append(next, longer)
		}
	}
	if len(next) < 2 {
		return next
	}
	slices.SortFunc(next, func(a, b []int32) int { return slices.Compare(a, b) })
	return slices.CompactFunc(next, func(a, b []int32) bool { return slices.Equal(a, b) })
}

// steps returns the states that may follow state when x happens in it.
func steps(m spec.Machine, state, x int32) []int32 {
	if nd, ok := m.(spec.Nondeterministic); ok {
		return nd.Steps(state, x)
	}
	if next, ok := m.Step(state, x); ok {
		return []int32{next}
	}
	return nil
}

func describe(m spec.Machine, pasts [][]int32) string {
	var words []string
	for _, past := range pasts {
		for _, state := range past {
			if w := spec.DescribeState(m, state); !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return strings.Join(words, " or ")
}
