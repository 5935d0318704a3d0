package importers

import (
	"errors"
	"strings"

	"pinyon/engine/history"
)

// ednFile reads the events of an EDN file: a stream of maps, of tuples, or one
// vector or list of either.
type ednFile struct {
	src     *source
	r       *edn
	withKey bool
	events  eventList
}

// readEDN reads jepsen-edn, knossos and porcupine-kv, which differ in their
// defaults and in what :key means.
func readEDN(src *source, o *Options, rep *Report) (*history.Raw, error) {
	f := &ednFile{src: src, r: newEDN(src.text), withKey: src.format == "porcupine-kv"}
	header, err := ownHeader(src, o, rep)
	if err != nil {
		return nil, err
	}
	if err := f.read(); err != nil {
		return nil, f.locate(err)
	}
	if f.withKey {
		for i := range f.events.n {
			if err := checkKV(src, f.events.at(i)); err != nil {
				return nil, err
			}
		}
	}
	h, err := build(src, &f.events, o, rep)
	if err == nil {
		h.Header = header
	}
	return h, err
}

// locate turns the offset of a syntax error into a line and a column.
func (f *ednFile) locate(err error) error {
	var syntax *history.SyntaxError
	if errors.As(err, &syntax) {
		return f.src.errorAt(syntax.Offset, "%s", syntax.Msg)
	}
	return err
}

func (f *ednFile) read() error {
	if err := f.r.skip(0); err != nil || f.end() {
		return err
	}
	if closing := f.container(); closing != 0 {
		start := f.r.at
		f.r.at++
		return f.forms(closing, start)
	}
	return f.forms(0, 0)
}

func (f *ednFile) end() bool { return f.r.at >= len(f.src.text) }

// container returns the closing byte of the vector or list of operations that
// opens here, 0 when a map or a tuple does.
func (f *ednFile) container() byte {
	closing := map[byte]byte{'[': ']', '(': ')'}[f.src.text[f.r.at]]
	inner := *f.r
	inner.at++
	if closing == 0 || inner.skip(0) != nil || inner.at >= len(inner.s) {
		return closing
	}
	if strings.IndexByte("{[(#", inner.s[inner.at]) >= 0 || inner.s[inner.at] == closing {
		return closing
	}
	return 0
}

// forms reads operations up to the closing byte (0: the end of the file) of
// the container that started at start.
func (f *ednFile) forms(closing byte, start int) error {
	for {
		if err := f.src.interrupted(f.events.n); err != nil {
			return err
		}
		if err := f.r.skip(0); err != nil {
			return err
		}
		switch {
		case f.end() && closing == 0:
			return nil
		case f.end():
			return f.r.fail(start, "the %q that starts here is not closed", f.src.text[start])
		case closing != 0 && f.src.text[f.r.at] == closing:
			f.r.at++
			if err := f.r.skip(0); err != nil || f.end() {
				return err
			}
			return f.r.fail(f.r.at, "unexpected %s after the history's end", f.r.near())
		}
		ev, err := f.form()
		if err != nil {
			return err
		}
		f.events.add(ev)
	}
}

// form reads one operation: a map, a tagged map such as #jepsen.history.Op,
// or a tuple.
func (f *ednFile) form() (event, error) {
	start := f.r.at
	c := f.src.text[f.r.at]
	if c == '#' && !strings.HasPrefix(f.src.text[f.r.at:], "#{") {
		if _, err := f.r.tag(); err != nil {
			return event{}, err
		}
		if err := f.r.skip(0); err != nil {
			return event{}, err
		}
		c = 0
		if !f.end() {
			c = f.src.text[f.r.at]
		}
	}
	switch c {
	case '{':
		es, err := f.r.entries()
		if err != nil {
			return event{}, err
		}
		return newEvent(f.src, es, start, f.withKey)
	case '[', '(':
		v, err := f.r.value(0)
		if err != nil {
			return event{}, err
		}
		return f.tuple(v, start)
	}
	return event{}, f.r.fail(f.r.at, "expected an operation (a map), got %s", f.r.near())
}

// tuple reads [process type f value].
func (f *ednFile) tuple(v history.Value, start int) (event, error) {
	elems, _ := v.Elems()
	if len(elems) != 4 {
		return event{}, f.r.fail(start, "expected a tuple [process type f value], got %d elements", len(elems))
	}
	var es []entry
	for i, key := range [...]string{"process", "type", "f", "value"} {
		es = append(es, entry{key: key, value: elems[i], src: ednText(elems[i]), at: start})
	}
	return newEvent(f.src, es, start, false)
}

// checkKV holds an event to the grammar of Porcupine's key-value logs.
func checkKV(src *source, ev *event) error {
	switch {
	case ev.f != "get" && ev.f != "put" && ev.f != "append":
		return src.errorOn(ev.line, "unknown operation %q in a key-value log; get, put and append are known", ev.f)
	case ev.key.Kind() != history.KindString:
		return src.errorOn(ev.line, "%s needs a :key that is a string", ev.f)
	}
	return nil
}

// readElleJSON reads elle-cli's JSON: an array of operations, or one a line.
func readElleJSON(src *source, o *Options, rep *Report) (*history.Raw, error) {
	var events eventList
	err := src.objects(func(es []entry, at int) error {
		ev, err := newEvent(src, es, at, false)
		events.add(ev)
		return err
	})
	if err != nil {
		return nil, err
	}
	return build(src, &events, o, rep)
}
