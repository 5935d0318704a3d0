package verify

import (
	"errors"
	"fmt"
)

// weaklyRegular reports whether x may have seen write w (initially: the initial
// value): w has the value, was not invoked only after x returned, and no other
// answered write of the key came after w and before x in real time.
func (t *sights) weaklyRegular(x, w int32) bool {
	v := t.view
	switch {
	case w == initially && t.initial[v.Key[x]] != t.want[x]:
		return false
	case w != initially && (w == x || v.Key[w] != v.Key[x] || t.write[w] < 0 || t.write[w] != t.want[x] || before(v, x, w)):
		return false
	}
	for z := range int32(v.N) {
		if z != x && z != w && t.write[z] >= 0 && v.Key[z] == v.Key[x] && (w == initially || before(v, w, z)) && before(v, z, x) {
			return false
		}
	}
	return true
}

// looks reports whether x is an answered operation that saw something.
func (t *sights) looks(x int32) bool { return t.want[x] >= 0 && !t.view.Info[x] }

// everyRead checks what a consistent part says that each operation saw.
func (c *weak) everyRead(t *sights) error {
	saw := map[int32]int32{}
	for _, e := range c.part.Saw {
		x, ok := c.at[e.Op]
		if _, twice := saw[x]; !ok || twice {
			return fmt.Errorf("operation %d does not exist or is named twice", e.Op)
		}
		saw[x] = initially
		if e.Write != nil {
			if saw[x], ok = c.at[*e.Write]; !ok {
				return fmt.Errorf("there is no operation %d", *e.Write)
			}
		}
	}
	for x := range int32(t.view.N) {
		w, ok := saw[x]
		switch {
		case ok != t.looks(x):
			return fmt.Errorf("%s: whether it saw something, and whether the part says what, differ", t.name(x))
		case ok && !t.weaklyRegular(x, w):
			return fmt.Errorf("%s cannot have seen what the part says", t.name(x))
		}
	}
	return nil
}

// noSource checks that the last of ops can have seen nothing.
func (c *weak) noSource(t *sights, p *FilePattern, ops []int32) error {
	if len(ops) == 0 || len(p.Steps) > 0 || p.Process != "" {
		return errors.New("the pattern names operations and nothing else")
	}
	x := ops[len(ops)-1]
	if !t.looks(x) {
		return fmt.Errorf("%s saw nothing", t.name(x))
	}
	for w := initially; w < int32(t.view.N); w++ {
		if t.weaklyRegular(x, w) {
			return fmt.Errorf("%s may have seen a write", t.name(x))
		}
	}
	return nil
}
