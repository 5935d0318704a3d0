package verify

import (
	"errors"
	"fmt"
	"slices"

	"pinyon/engine/spec"
)

// consistent checks the evidence of a consistent part:
//
//	pram: for each process with an answered read an order of all updates and its
//	own reads that keeps every session and is legal, and at least one such order
//	(a process that read nothing sees what any other sees, without its reads);
//	causal: what each operation saw makes causality, with the sessions, that has
//	no circle, and nothing that an operation saw was overwritten in its causal
//	past;
//	causal-memory: besides, for each process an order (see views);
//	causal-convergence: besides, one order of the writes that keeps causality,
//	in which every operation saw the last write of its causal past;
//	the session guarantees: one order of the writes (see arbitrated).
func (c *weak) consistent() error {
	p := c.part
	switch {
	case c.evidence&hasSaw == 0 && len(p.Saw) > 0, c.evidence&hasArbitration == 0 && len(p.Arbitration) > 0, c.evidence&hasViews == 0 && len(p.Views) > 0:
		return fmt.Errorf("the part has evidence that level %s does not ask for", c.level)
	case c.evidence == hasViews:
		return c.pramViews()
	}
	t, err := newSights(c.subject)
	if err != nil {
		return err
	}
	if c.level == "regular-weak" {
		return c.everyRead(t)
	}
	w := &witness{weak: c, sights: t}
	if err := w.readSaw(p.Saw); err != nil {
		return err
	}
	if c.evidence&hasArbitration != 0 {
		if err := w.readArbitration(p.Arbitration); err != nil {
			return err
		}
	}
	if slices.Contains(c.patterns, spec.CyclicWrites) {
		return w.arbitrated()
	}
	if err := w.causality(); err != nil {
		return err
	}
	if err := errors.Join(w.overwritten(), w.fromTheStart()); err != nil {
		return err
	}
	switch {
	case c.evidence&hasViews != 0:
		return w.views()
	case c.evidence&hasArbitration != 0:
		return w.convergent()
	}
	return nil
}

// witness is what a consistent part says.
type witness struct {
	*weak
	*sights
	saw   []int32 // by operation: a write, initially or nothing
	there []bool  // by operation: it happened
	place []int   // by write: its place in the arbitration, from 1; 0: none
	line  []int32 // a topological order of causality
}

// name resolves which embedded type names operations.
func (w *witness) name(x int32) string { return w.sights.name(x) }

// readSaw checks what operations are said to have seen: one thing each, that
// they may have seen, and that happened; every answered one that names a value
// says so.
func (w *witness) readSaw(edges []FileSaw) error {
	v := w.view
	w.saw, w.there = make([]int32, v.N), make([]bool, v.N)
	for x := range w.saw {
		w.saw[x], w.there[x] = nothing, !v.Info[x]
	}
	for _, e := range edges {
		x, ok := w.at[e.Op]
		if !ok {
			return fmt.Errorf("there is no operation %d", e.Op)
		}
		saw := initially
		if e.Write != nil {
			if saw, ok = w.at[*e.Write]; !ok {
				return fmt.Errorf("there is no operation %d", *e.Write)
			}
		}
		switch {
		case w.saw[x] != nothing:
			return fmt.Errorf("%s is said to have seen two things", w.name(x))
		case !slices.Contains(w.maySee(x), saw):
			return fmt.Errorf("%s cannot have seen that: it names another value or key, or its session wrote it only later", w.name(x))
		}
		w.saw[x] = saw
		w.there[x] = true
	}
	for x, saw := range w.saw {
		switch {
		case saw == nothing && w.want[x] >= 0 && !v.Info[x]:
			return fmt.Errorf("nobody says what %s saw", w.name(int32(x)))
		case saw >= 0 && v.Info[saw] && w.want[saw] >= 0 && w.saw[saw] == nothing:
			return fmt.Errorf("%s was seen, and nobody says what it saw itself", w.name(saw))
		case saw >= 0:
			w.there[saw] = true
		}
	}
	return nil
}

// readArbitration checks that the order holds every write that happened once,
// and others without an answer at most once, if they name nothing that they saw.
func (w *witness) readArbitration(ids []int64) error {
	list, err := w.positions(ids)
	if err != nil {
		return err
	}
	w.place = make([]int, w.view.N)
	for k, x := range list {
		switch {
		case w.write[x] < 0:
			return fmt.Errorf("%s is no write and stands in the order of the writes", w.name(x))
		case w.place[x] > 0:
			return fmt.Errorf("%s stands in the order of the writes twice", w.name(x))
		case !w.there[x] && w.want[x] >= 0:
			return fmt.Errorf("%s stands in the order of the writes, and nobody says what it saw", w.name(x))
		}
		w.place[x], w.there[x] = k+1, true
	}
	for x := range int32(w.view.N) {
		if w.write[x] >= 0 && w.there[x] && w.place[x] == 0 {
			return fmt.Errorf("%s happened and does not stand in the order of the writes", w.name(x))
		}
	}
	return nil
}

// causes are the operations right before x in causality: the one before it in
// its session, and what it saw.
func (w *witness) causes(x int32, previous []int32) (list []int32) {
	if y := previous[x]; y >= 0 {
		list = append(list, y)
	}
	if y := w.saw[x]; y >= 0 {
		list = append(list, y)
	}
	return list
}

// previous is, by operation, the answered one before it in its session, or -1.
func (w *witness) previous() []int32 {
	previous := make([]int32, w.view.N)
	for _, ops := range w.session {
		last := int32(-1)
		for _, x := range ops {
			previous[x] = last
			if !w.view.Info[x] {
				last = x
			}
		}
	}
	return previous
}

// causality puts all operations in an order that keeps causality, or fails.
func (w *witness) causality() error {
	n := w.view.N
	previous := w.previous()
	left, next := make([]int, n), make([][]int32, n)
	for x := range int32(n) {
		for _, y := range w.causes(x, previous) {
			left[x]++
			next[y] = append(next[y], x)
		}
	}
	for x := range int32(n) {
		if left[x] == 0 {
			w.line = append(w.line, x)
		}
	}
	for i := 0; i < len(w.line); i++ {
		for _, x := range next[w.line[i]] {
			if left[x]--; left[x] == 0 {
				w.line = append(w.line, x)
			}
		}
	}
	if len(w.line) < n {
		x := slices.IndexFunc(left, func(l int) bool { return l > 0 })
		return fmt.Errorf("what was seen and the sessions form a circle before %s", w.name(int32(x)))
	}
	return nil
}

// overwritten checks, for 64 of the writes that were seen at a time, that none
// who saw one has another write of the key between the two in causality.
func (w *witness) overwritten() error {
	previous := w.previous()
	var seen []int32
	for _, y := range w.saw {
		if y >= 0 {
			seen = append(seen, y)
		}
	}
	slices.Sort(seen)
	seen = slices.Compact(seen)
	for block := range slices.Chunk(seen, 64) {
		bit, ofKey := map[int32]uint64{}, map[int32]uint64{}
		for i, y := range block {
			bit[y] = 1 << i
			ofKey[w.view.Key[y]] |= 1 << i
		}
		after, over := make([]uint64, w.view.N), make([]uint64, w.view.N) // what comes before an operation, and what of it is overwritten before it
		for _, x := range w.line {
			for _, y := range w.causes(x, previous) {
				after[x] |= after[y] | bit[y]
				over[x] |= over[y]
				if w.write[y] >= 0 {
					over[x] |= after[y] & ofKey[w.view.Key[y]]
				}
			}
			if y := w.saw[x]; y >= 0 && over[x]&bit[y] != 0 {
				return fmt.Errorf("%s saw %s, which was overwritten in its causal past", w.name(x), w.name(y))
			}
		}
	}
	return nil
}

// fromTheStart checks, for one key at a time, that who saw the initial value has
// no write of the key in its causal past.
func (w *witness) fromTheStart() error {
	previous := w.previous()
	for key := range int32(len(w.view.KeyName)) {
		written := make([]bool, w.view.N) // before an operation
		for _, x := range w.line {
			for _, y := range w.causes(x, previous) {
				written[x] = written[x] || written[y] || w.write[y] >= 0 && w.view.Key[y] == key
			}
			if w.saw[x] == initially && w.view.Key[x] == key && written[x] {
				return fmt.Errorf("%s saw the initial value, and its key was written in its causal past", w.name(x))
			}
		}
	}
	return nil
}

// convergent checks that the order of the writes keeps causality, and that
// every operation saw the last write of its key in its causal past.
func (w *witness) convergent() error {
	previous := w.previous()
	latest := make([]int, w.view.N) // place of the last write before an operation
	for _, x := range w.line {
		for _, y := range w.causes(x, previous) {
			latest[x] = max(latest[x], latest[y], w.place[y])
		}
		if w.place[x] > 0 && w.place[x] < latest[x] {
			return fmt.Errorf("%s stands in the order of the writes before one of its causal past", w.name(x))
		}
	}
	for key := range int32(len(w.view.KeyName)) {
		clear(latest)
		for _, x := range w.line {
			for _, y := range w.causes(x, previous) {
				latest[x] = max(latest[x], latest[y])
				if w.view.Key[y] == key {
					latest[x] = max(latest[x], w.place[y])
				}
			}
			if y := w.saw[x]; y != nothing && w.view.Key[x] == key && (y == initially && latest[x] > 0 || y >= 0 && latest[x] != w.place[y]) {
				return fmt.Errorf("%s did not see the last write of its key in its causal past", w.name(x))
			}
		}
	}
	return nil
}

// arbitrated checks the order of the writes at a session guarantee: an update
// stands after what it saw, writes of a process and what it saw before a write
// stand as the guarantee says, and every operation saw the last of what it must
// have seen.
func (w *witness) arbitrated() error {
	for _, ops := range w.session {
		for i, x := range ops {
			if !w.there[x] {
				continue
			}
			if y := w.saw[x]; y >= 0 && w.place[x] > 0 && w.place[y] > w.place[x] {
				return fmt.Errorf("%s stands in the order of the writes before what it saw", w.name(x))
			}
			for _, y := range ops[:i] {
				if err := w.guarantee(y, x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// guarantee checks the pair of y and x, later in its session.
func (w *witness) guarantee(y, x int32) error {
	if w.view.Info[y] {
		return nil // it precedes nothing
	}
	must := nothing // have been seen by x
	switch {
	case w.level == "monotonic-writes" && w.write[y] >= 0 && w.write[x] >= 0 && w.place[y] > w.place[x]:
		return fmt.Errorf("%s stands in the order of the writes after %s, which its process wrote later", w.name(y), w.name(x))
	case w.level == "writes-follow-reads" && w.saw[y] >= 0 && w.write[x] >= 0 && w.place[w.saw[y]] > w.place[x]:
		return fmt.Errorf("%s stands in the order of the writes before %s, which its process saw earlier", w.name(x), w.name(w.saw[y]))
	case w.conflict == ownWrite && w.rival(y, x):
		must = y
	case w.conflict == ownRead && w.saw[y] >= 0 && w.view.Key[y] == w.view.Key[x]:
		must = w.saw[y]
	}
	saw := w.saw[x]
	if must >= 0 && saw != nothing && must != saw && (saw == initially || w.place[must] > w.place[saw]) {
		return fmt.Errorf("%s must have seen %s, and saw what stands before that", w.name(x), w.name(must))
	}
	return nil
}
