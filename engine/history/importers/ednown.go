package importers

import (
	"errors"
	"strings"

	"pinyon/engine/history"
)

// What WriteEDN cannot say with Jepsen's keys it says with keys of its own:
//
//	:pinyon/process  the process, where :process is a number given to a name
//	:pinyon/in       the input, where :value would be read as another
//	:pinyon/no-in    there is no input (true)
//	:pinyon/out      the output, where :value would be read as another
//	:pinyon/no-out   there is no output (true)
//	:pinyon/key      the key, where only some operations have one
//	:pinyon/keyed    whether values are [key value], on the first event
//	:pinyon/node     the node, where no hint :node says it
//	:pinyon/id       the id, where it is not the position
//	:pinyon/to       the end of a note, :never where it has none
//	:pinyon/refused  whether the store refused a failed cas
//	:pinyon/hints    [[name value] ...], hints that no key can name or hold
//
// Other tools take them for what they are: extra keys.
const ownPrefix = "pinyon/"

// ownFields are these keys of one event; Absent where the event lacks one.
// The readers of other formats use it too, where values must not go through
// the rules of Jepsen's :value.
type ownFields struct {
	in, out     history.Value
	noIn, noOut bool
	*rareFields // nil: none of them
}

// rareFields are apart because events are many.
type rareFields struct {
	node, id, to, keyed, refused history.Value
	hints                        []history.Hint
	malformed                    error // what is wrong with :value; only a client's counts
}

// ownField reads one of the keys above.
func (ev *event) ownField(src *source, e entry) error {
	own := ev.rare()
	flag, isFlag := e.value.Bool()
	ok := true
	switch name := strings.TrimPrefix(e.key, ownPrefix); name {
	case "process":
		ev.process = e.value
	case "in":
		own.in = e.value
	case "out":
		own.out = e.value
	case "no-in":
		own.noIn, ok = flag, isFlag
	case "no-out":
		own.noOut, ok = flag, isFlag
	case "key":
		ev.key = e.value
	case "keyed":
		own.keyed, ok = e.value, isFlag
	case "refused":
		own.refused, ok = e.value, isFlag
	case "node":
		own.node, ok = e.value, e.value.Kind() == history.KindString
	case "id":
		own.id, ok = e.value, e.value.Kind() == history.KindInt
	case "to":
		n, isInt := e.value.Int64()
		own.to, ok = e.value, isInt && n <= history.MaxTime && n >= -history.MaxTime || e.value == noEnd
	case "hints":
		own.hints, ok = hintPairs(e.value)
	default:
		return src.errorAt(e.at, "unknown key :%s", e.key)
	}
	if !ok {
		return src.errorAt(e.at, ":%s cannot be %s", e.key, orNone(e.src))
	}
	return nil
}

// noEnd is the :pinyon/to of a note without an end.
var noEnd = history.Keyword("never")

// exact returns the event's own fields, to be set.
func (ev *event) exact() *ownFields {
	if ev.own == nil {
		ev.own = &ownFields{}
	}
	return ev.own
}

// rare returns the event's own fields, the rare ones included, to be set.
func (ev *event) rare() *ownFields {
	own := ev.exact()
	if own.rareFields == nil {
		own.rareFields = &rareFields{}
	}
	return own
}

// seldom returns the rare fields, to be read.
func (ev *event) seldom() rareFields {
	if ev.own == nil || ev.own.rareFields == nil {
		return rareFields{}
	}
	return *ev.own.rareFields
}

// input is the input that a call names itself; else what the rules say.
func (own *ownFields) input(byRule history.Value) history.Value {
	switch {
	case own == nil:
		return byRule
	case own.noIn:
		return history.Absent
	case own.in != history.Absent:
		return own.in
	}
	return byRule
}

// output is the output that a completion names itself; else what the rules say.
func (own *ownFields) output(byRule history.Value) history.Value {
	switch {
	case own == nil:
		return byRule
	case own.noOut:
		return history.Absent
	case own.out != history.Absent:
		return own.out
	}
	return byRule
}

// hintPairs reads [[name value] ...].
func hintPairs(v history.Value) ([]history.Hint, bool) {
	pairs, ok := v.Elems()
	if !ok || v.Kind() != history.KindArray {
		return nil, false
	}
	var hints []history.Hint
	for _, p := range pairs {
		half := split(p)
		if p.Kind() != history.KindArray || !half.ok || half.key.Kind() != history.KindString {
			return nil, false
		}
		name, _ := half.key.Str()
		hints = setHint(hints, name, half.value)
	}
	return hints, len(hints) == len(pairs)
}

// headerMark opens the comment that WriteEDN puts first. Behind it stand the
// clock that decides, times or lines, and a header of the native format.
const headerMark = "; pinyon-history "

// ownHeader reads that comment, where the file opens with it. Times that decide
// are exact: -1 is one of them, and not Jepsen's way to say that there is none.
func ownHeader(src *source, o *Options, rep *Report) (history.Header, error) {
	rest, ok := strings.CutPrefix(src.text, headerMark)
	if !ok {
		return history.Header{}, nil
	}
	clock, text, _ := strings.Cut(firstLine(rest), " ")
	if clock != "times" && clock != "lines" {
		return history.Header{}, src.errorOn(1, "expected times or lines after %q, got %q", strings.TrimSpace(headerMark), clock)
	}
	src.exact = true
	if clock == "times" && o.Order == "" {
		rep.Order = history.ByTime
	}
	text = strings.TrimRight(text, " \r")
	h, err := history.ReadNative(src.path, strings.NewReader(text+"\n"))
	var malformed *history.Error
	if errors.As(err, &malformed) {
		malformed.Col += strings.Index(src.text, text) // it counted from the header on
	}
	if err != nil {
		return history.Header{}, err
	}
	return h.Header, nil
}
