package importers

import (
	"pinyon/engine/history"
)

// pair is the two halves of a value; nil in an event that was not asked yet.
type pair struct {
	key, value history.Value
	ok         bool // the value was a pair
}

// tuple splits an event's value [key value], plain or tagged, once.
func (ev *event) tuple() *pair {
	if ev.pair == nil {
		ev.pair = split(ev.value)
	}
	return ev.pair
}

func split(v history.Value) *pair {
	if v.Kind() == history.KindTag {
		if parts, _ := v.Elems(); len(parts) == 2 {
			v = parts[1]
		}
	}
	if v.Kind() != history.KindArray {
		return &pair{}
	}
	elems, _ := v.Elems()
	if len(elems) != 2 {
		return &pair{}
	}
	return &pair{elems[0], elems[1], true}
}

// decideKeyed decides whether the values are [key value]: they are when every
// client's invocation has a vector of two, every read's second is nil, and
// there is a read.
func (b *builder) decideKeyed() error {
	switch b.opts.Keyed {
	case "no":
		return nil
	case "yes":
		b.keyed = true // a value that is no tuple is an error when it comes up
	default:
		b.keyed = b.looksKeyed()
	}
	for i := range b.events.n {
		ev := b.events.at(i)
		if ev.key != history.Absent {
			b.keyed = false // the format has a field for the key
		} else if said := ev.seldom().keyed; said != history.Absent && b.opts.Keyed != "yes" {
			b.keyed = said == history.True
		}
	}
	b.rep.Keyed = b.keyed
	return nil
}

func (b *builder) looksKeyed() bool {
	reads := false
	for i := range b.events.n {
		ev := b.events.at(i)
		reads = reads || ev.kind == evInvoke && ev.f == "read"
	}
	for i := range b.events.n {
		ev := b.events.at(i)
		if !reads || ev.kind != evInvoke {
			continue
		}
		p := split(ev.value) // not kept: most values are no pairs
		if !p.ok || ev.f == "read" && p.value != history.Null {
			return false
		}
	}
	return reads
}

// unwrap sets the key of the operation that event i invokes, and returns the
// value without it.
func (b *builder) unwrap(i int32, op *history.Op[history.Value, history.Value]) (history.Value, error) {
	ev := b.events.at(i)
	if !b.keyed {
		op.Key = ev.key.Label()
		return ev.value, nil
	}
	p := ev.tuple()
	if !p.ok {
		return p.value, b.src.errorOn(ev.line, "%s invokes %s with %s, not with [key value]", ev.who(), op.F, orNone(b.src.written(ev.value)))
	}
	op.Key = p.key.Label()
	return p.value, nil
}

// unwrapDone returns the value of an ok completion without its key, which must
// be the key of the invocation. A client that drops it (knossos issue 27)
// would otherwise look as if it had read nothing.
func (b *builder) unwrapDone(ev, call *event) (history.Value, error) {
	if !b.keyed {
		if ev.key != call.key {
			return history.Absent, b.src.errorOn(ev.line, "%s completes %s of key %s, but invoked it on line %d for key %s",
				ev.who(), ev.f, orNone(ev.key.Label()), call.line, orNone(call.key.Label()))
		}
		return ev.value, nil
	}
	want := call.tuple()
	if ev.value == call.value {
		return want.value, nil
	}
	done := ev.tuple()
	switch {
	case !done.ok:
		return done.value, b.src.errorOn(ev.line, "%s completes %s with %s: the key %s of its invocation (line %d) is lost",
			ev.who(), orOp(ev.f), orNone(b.src.written(ev.value)), want.key.Label(), call.line)
	case done.key != want.key:
		return done.value, b.src.errorOn(ev.line, "%s completes %s of key %s, but invoked it on line %d for key %s",
			ev.who(), orOp(ev.f), done.key.Label(), call.line, want.key.Label())
	}
	return done.value, nil
}

// orNone shows a value in a message, cut to a length that people read.
func orNone(s string) string {
	if s == "" {
		return "no value"
	}
	if text := []rune(s); len(text) > 60 {
		return string(text[:57]) + "..."
	}
	return s
}
