package paths

import (
	"fmt"
	"maps"
	"slices"

	"pinyon/engine/spec"
)

// grown finds out what appends of texts found and left.
//
// A text that somebody read tells how it came about. Where no update leaves it by
// itself, an append did that puts its last piece behind the rest; where only one
// append of the history has such a piece, it was that one, and it found the rest.
// So that append is a compare-and-set from the rest to the text, and the rest was
// read as well. An append that no text tells of leaves something that nobody read:
// it may have found anything. Where a text can have come about in more than one
// way, as two appends have one piece, each way is tried.
type grown struct {
	*register
	ap      spec.Appends
	appends []int32
	piece   map[string][]int32 // the appends that have it
	sizes   []int              // of pieces, ascending
	left    map[int32][]int32  // by value: the other updates that leave it
	empty   []int32            // values without any text that an append may have found
	done    map[int32]bool     // by value: it was looked at
	todo    []wanted
	ways    *ways
}

// maxWays is the number of ways in which texts may have come about above which
// the search is asked.
const maxWays = 256

// maxEffort is the number of appends that are looked at, over all ways, above
// which the search is asked.
const maxEffort = 10_000_000

// wanted is a value that an operation found.
type wanted struct{ value, by int32 }

// ways counts through choices, as an odometer does.
type ways struct {
	effort     int   // appends looked at so far
	chosen, of []int // by choice, in the order in which they come
	at         int   // choices made in this way
}

// pick chooses one of n.
func (w *ways) pick(n int) int {
	if n == 1 {
		return 0
	}
	if w.at == len(w.chosen) {
		w.chosen, w.of = append(w.chosen, 0), append(w.of, n)
	}
	w.at++
	return w.chosen[w.at-1]
}

// next goes to the next way; false: there is none.
func (w *ways) next() bool {
	w.at = 0
	for k := len(w.chosen) - 1; k >= 0; k-- {
		if w.chosen[k]++; w.chosen[k] < w.of[k] {
			return true
		}
		w.chosen, w.of = w.chosen[:k], w.of[:k]
	}
	return false
}

// grown decides a history with appends: every way in which the texts that were
// read can have come about.
func (r *register) grown(appends []int32) Answer {
	ap, ok := r.p.Machine.(spec.Appends)
	if !ok {
		return cannotTell("an update does not say what it leaves")
	}
	first, w := Answer{}, &ways{}
	for tried := 1; ; tried++ {
		way := *r
		way.demand, way.write, way.from = slices.Clone(r.demand), slices.Clone(r.write), slices.Clone(r.from)
		way.live, way.because = slices.Clone(r.live), slices.Clone(r.because)
		g := &grown{register: &way, ap: ap, appends: appends, ways: w, piece: map[string][]int32{}, left: map[int32][]int32{}, done: map[int32]bool{}}
		a, done := g.grow()
		if !done {
			a = way.decide()
		}
		if tried == 1 {
			first = a
		}
		switch more := w.next(); {
		case a.Kind != spec.Violation || tried == 1 && !more:
			return a
		case !more:
			return Answer{Kind: spec.Violation, Core: first.Core, Words: fmt.Sprintf("the texts that were read can have come about in %d ways, and each is impossible; these show it for one", tried)}
		case tried == maxWays || r.p.stopped():
			return cannotTell("the texts that were read can have come about in too many ways")
		}
	}
}

// grow decides on the appends. done says that the answer is known: a reason why
// the path cannot tell, or two texts that contradict each other.
func (g *grown) grow() (a Answer, done bool) {
	if reason := g.pieces(); reason != "" {
		return cannotTell(reason), true
	}
	if reason := g.values(); reason != "" {
		return cannotTell(reason), true
	}
	for x := range int32(g.v.N) {
		if g.live[x] && g.demand[x] >= 0 {
			g.todo = append(g.todo, wanted{g.demand[x], x})
		}
	}
	for i := 0; i < len(g.todo) && !g.weary(); i++ {
		if a, done := g.look(g.todo[i]); done {
			return a, true
		}
	}
	if g.weary() {
		return cannotTell("the texts that were read can have come about in too many ways"), true
	}
	unread := int32(0)
	for _, v := range slices.Concat(g.write, g.demand) {
		unread = max(unread, v+1)
	}
	for _, x := range g.appends {
		if g.write[x] < 0 {
			g.write[x] = unread
			unread++
		}
	}
	return a, false
}

// pieces asks what the appends put behind.
func (g *grown) pieces() (reason string) {
	sizes := map[int]bool{}
	for _, x := range g.appends {
		piece, ok := g.ap.Piece(x)
		switch {
		case !ok:
			return "an update does not say what it leaves"
		case piece == "":
			return "an append adds nothing"
		}
		g.piece[piece] = append(g.piece[piece], x)
		sizes[len(piece)] = true
	}
	g.sizes = slices.Sorted(maps.Keys(sizes))
	return ""
}

// values lists the updates that are no appends by what they leave. All that is
// ever held must be a text: an append to anything else would be impossible.
func (g *grown) values() (reason string) {
	if slices.ContainsFunc(g.register.aside.avoid, func(v int32) bool { return v >= 0 }) {
		return "an answer says only which value was not there, and others append"
	}
	g.left[g.initial] = nil
	for x := range int32(g.v.N) {
		if v := g.write[x]; v >= 0 {
			g.left[v] = append(g.left[v], x)
		}
		if v := g.demand[x]; v >= 0 {
			if _, ok := g.ap.Text(v); !ok {
				return "what is held is not always a text, and others append"
			}
		}
	}
	for _, v := range slices.Sorted(maps.Keys(g.left)) {
		switch text, ok := g.ap.Text(v); {
		case !ok:
			return "what is held is not always a text, and others append"
		case text == "":
			g.empty = append(g.empty, v)
		}
	}
	return ""
}

// look finds out how a value came about that somebody found.
func (g *grown) look(w wanted) (a Answer, done bool) {
	if g.done[w.value] {
		return a, false
	}
	g.done[w.value] = true
	text, _ := g.ap.Text(w.value)
	others, also := g.left[w.value]
	all := g.inTime(g.last(text), text, also)
	if len(all) > 1 && g.twice(text, all) || g.guess(w.value, len(all)) {
		return cannotTell("a text that was read can have come about in more than one way"), true
	}
	possible := slices.DeleteFunc(slices.Clone(all), func(x int32) bool {
		return g.demand[x] >= 0 || !also && g.hard.precedes(w.by, x)
	})
	g.loose = g.loose || len(possible) < len(all) || len(all) > 1
	switch {
	case also:
		possible = append(possible, fromStart) // or it was not appended
	case len(all) == 0:
		return a, false // nobody left it, as is found out later
	case len(all) == 1 && g.demand[all[0]] < 0:
		possible = all // where it cannot have been, that is found out later, with its reason
	case len(possible) == 0:
		return Answer{Kind: spec.Violation, Core: sortedSet([]int32{all[0], g.reader(all[0]), g.reader(w.by)}),
			Words: "the texts that were read put what one of them appended in two places, or before it was invoked"}, true
	}
	for _, y := range others {
		if g.demand[y] >= 0 {
			g.todo = append(g.todo, wanted{g.demand[y], y})
		}
	}
	if x := possible[g.ways.pick(len(possible))]; x != fromStart {
		g.appended(x, text, w)
	}
	return a, false
}

// appended notes that x left what w names.
func (g *grown) appended(x int32, text string, w wanted) {
	piece, _ := g.ap.Piece(x)
	rest := text[:len(text)-len(piece)]
	value := g.ap.Token(rest)
	if rest == "" && len(g.empty) > 0 {
		value = g.empty[g.ways.pick(len(g.empty))]
	}
	g.demand[x], g.write[x], g.because[x] = value, w.value, w.by
	g.todo = append(g.todo, wanted{value, x})
}

// guess reports whether a value may have been left by an unanswered
// compare-and-set, or by something else: whether that one happened, and so what
// it found was held, nobody knows.
func (g *grown) guess(value int32, appends int) bool {
	others := g.left[value]
	ways := len(others) + appends
	if value == g.initial {
		ways++
	}
	return ways > 1 && slices.ContainsFunc(others, func(y int32) bool { return g.v.Info[y] && g.demand[y] >= 0 })
}

// twice reports whether a text may have been made at two times by these appends:
// by different pieces, or because what was before them may have been there at two
// times.
func (g *grown) twice(text string, all []int32) bool {
	piece, _ := g.ap.Piece(all[0])
	if len(g.piece[piece]) != len(all) {
		return true
	}
	for !g.weary() {
		text = text[:len(text)-len(piece)]
		ways := 0
		values := []int32{g.ap.Token(text)}
		if text == "" {
			values = g.empty
		}
		for _, v := range values {
			if ways += len(g.left[v]); v == g.initial {
				ways++
			}
		}
		switch all = g.inTime(g.last(text), text, ways > 0); {
		case ways > 1 || ways == 1 && len(all) > 0:
			return true
		case len(all) < 2:
			return false
		}
		if piece, _ = g.ap.Piece(all[0]); len(g.piece[piece]) != len(all) {
			return true
		}
	}
	return true
}

// inTime leaves out the appends that would have begun a text from the initial
// value, and were invoked only after that was overwritten; not where nothing else
// can have left the text.
func (g *grown) inTime(all []int32, text string, also bool) []int32 {
	if len(g.empty) != 1 || g.empty[0] != g.initial || len(g.left[g.initial]) > 0 {
		return all
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(x int32) bool {
		piece, _ := g.ap.Piece(x)
		return piece == text && g.late(x)
	})
	if len(kept) == len(all) || len(kept) == 0 && !also {
		return all
	}
	g.loose = true
	return kept
}

// late reports whether an update that happened for sure precedes x.
func (g *grown) late(x int32) bool {
	for y := range int32(g.v.N) {
		if !g.v.Info[y] && !g.v.Read[y] && g.hard.precedes(y, x) {
			return true
		}
	}
	return false
}

// last are the appends whose piece ends a text.
func (g *grown) last(text string) (all []int32) {
	for _, n := range g.sizes {
		if n > len(text) {
			break
		}
		all = append(all, g.piece[text[len(text)-n:]]...)
	}
	g.ways.effort += len(all) + 1
	return all
}

// weary reports whether the path gives up. What was found since is not used.
func (g *grown) weary() bool { return g.ways.effort > maxEffort || g.p.stopped() }

// reader is the read that tells of an operation, or the operation itself.
func (g *grown) reader(x int32) int32 {
	for g.because[x] >= 0 {
		x = g.because[x]
	}
	return x
}
