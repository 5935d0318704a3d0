package models

import (
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// inputShape says how a file names an operation's input.
type inputShape uint8

const (
	noParts     inputShape = iota // the operation takes nothing
	wholeShape                    // one value of any kind
	listShape                     // a list of so many values
	objectShape                   // an object with these members
)

// fileOp is one operation of a model from a file. It is immutable once loaded.
type fileOp struct {
	OpDoc
	shape   inputShape
	parts   []string   // names; part 0 is the whole input
	members []string   // of an object, by part; the first is ""
	needs   []exprKind // by part
	cases   []fileCase // the first whose condition holds applies
}

// fileCase is what an operation does under a condition.
type fileCase struct {
	when   *expr // nil: always
	next   *expr // nil: the state stays
	output fileOutput
}

// fileOutput is what a case answers: a value, anything, or (neither) nothing.
type fileOutput struct {
	value *expr
	any   bool
}

// maxParts is how many names the input of an operation may have.
const maxParts = 6

// fileIn is the input of an operation of a model from a file.
type fileIn struct {
	op    *fileOp
	whole history.Value
	parts [maxParts]history.Value
}

// fileOut is a recorded answer. any: the operation is known to have happened,
// and not what it answered.
type fileOut struct {
	v   history.Value // absent: it answered nothing
	any bool
}

func (in *fileIn) part(i int) history.Value {
	if i == wholeInput {
		return in.whole
	}
	return in.parts[i-1]
}

// nothing reports whether v is how a recorder writes that nothing came back.
func (in *fileIn) nothing(v history.Value) bool {
	_, _, want := noOutput[struct{}](recorded{in: in.whole, out: v})
	return want == ""
}

// partial reports whether the operation may be impossible in some state,
// whatever it answers.
func (o *fileOp) partial() bool { return o.cases[len(o.cases)-1].when != nil }

// every reports whether f holds for all cases.
func (o *fileOp) every(f func(c *fileCase) bool) bool {
	for i := range o.cases {
		if !f(&o.cases[i]) {
			return false
		}
	}
	return true
}

// silent reports whether the operation never answers anything.
func (o *fileOp) silent() bool {
	return o.every(func(c *fileCase) bool { return c.output == fileOutput{} })
}

// boolean reports whether the operation answers true or false, by name.
func (o *fileOp) boolean() bool {
	return o.every(func(c *fileCase) bool {
		v := c.output.value
		return v != nil && v.op == opLiteral && v.kind == boolKind
	})
}

// looks reports whether the operation only asks for the state, as far as its
// text says.
func (o *fileOp) looks() bool {
	return !o.boolean() && o.every(func(c *fileCase) bool { return c.next == nil && c.output.value != nil })
}

// decodeIn reads a recorded input.
func (o *fileOp) decodeIn(v history.Value) (in fileIn, want string) {
	in = fileIn{op: o, whole: v}
	ok := true
	switch o.shape {
	case noParts:
		if v != history.Absent && v != history.Null {
			return in, "nothing"
		}
		in.whole = history.Absent
	case wholeShape:
		ok = v != history.Absent
		in.parts[0] = v // where the file gives the whole a name of its own
	case listShape:
		elems, _ := v.Elems()
		if ok = v.Kind() == history.KindArray && len(elems) == len(o.parts)-1; ok {
			copy(in.parts[:], elems)
		}
	case objectShape:
		for i, name := range o.members[1:] {
			in.parts[i] = memberNamed(v, name)
			ok = ok && in.parts[i] != history.Absent
		}
	}
	for i, kind := range o.needs {
		ok = ok && (kind != numberKind || isNumber(in.part(i))) && (kind != boolKind || in.part(i).Kind() == history.KindBool)
	}
	switch {
	case ok:
		return in, ""
	case o.shape == wholeShape:
		return in, max(o.needs[0], o.needs[len(o.needs)-1]).value()
	}
	return in, o.In
}

// memberNamed is a member of an object, whose name may be a string or an EDN
// keyword.
func memberNamed(v history.Value, name string) history.Value {
	ms, _ := v.Members()
	for _, m := range ms {
		if s, ok := m.Key.Str(); ok && s == name {
			return m.Value
		}
	}
	return history.Absent
}

// decodeOut reads a recorded answer.
func (o *fileOp) decodeOut(r recorded) (out fileOut, known bool, want string) {
	switch {
	case o.silent():
		if _, _, want = noOutput[struct{}](r); want != "" {
			want += " (the model gives it no output; output: any takes whatever was answered)"
		}
		return out, false, want
	case o.every(func(c *fileCase) bool { return c.output.any }):
		return out, false, ""
	case o.boolean():
		v, known, want := casOutput(r)
		return fileOut{v: v}, known, want
	case r.out == history.Absent && o.every(func(c *fileCase) bool { return c.output.value != nil }):
		return out, false, "a value"
	}
	return fileOut{v: r.out}, true, ""
}

// operation is the row of o in the table of its model.
func (o *fileOp) operation() operation[fileIn, fileOut] {
	row := operation[fileIn, fileOut]{OpDoc: o.OpDoc, in: o.decodeIn, out: o.decodeOut, nilRead: o.looks()}
	if o.partial() {
		row.happened = &fileOut{any: true}
	}
	return row
}

// fileModel is a model from a file.
func fileModel(name string, initial history.Value) spec.Model[history.Value, fileIn, fileOut] {
	return spec.Model[history.Value, fileIn, fileOut]{
		Name:     name,
		Init:     func() history.Value { return initial },
		Step:     fileStep,
		ReadOnly: func(in fileIn, out *fileOut) bool { return in.readOnly(out) },
		Holds:    func(s history.Value) any { return s },
		Demands:  func(in fileIn, out *fileOut) (any, bool) { return in.demands(out) },
		Writes:   func(in fileIn, out *fileOut) (any, bool) { return in.writes(out) },
		Text:     fileText,
		Describe: history.Value.Label,
	}
}

// fileStep panics where a value has the wrong kind; spec turns that into an
// error that names the operation.
func fileStep(s history.Value, in fileIn, out *fileOut) (history.Value, bool) {
	check := func(err error) {
		if err != nil {
			panic(fmt.Errorf("%s: %w", in.op.F, err))
		}
	}
	for i := range in.op.cases {
		c := &in.op.cases[i]
		if c.when != nil {
			holds, err := c.when.truth(s, &in)
			check(err)
			if !holds {
				continue
			}
		}
		fits, err := c.fits(s, &in, out)
		check(err)
		if !fits || c.next == nil {
			return s, fits
		}
		next, err := c.next.eval(s, &in)
		check(err)
		return next, true
	}
	return s, false
}

// fits reports whether the case answers *out in state s.
func (c *fileCase) fits(s history.Value, in *fileIn, out *fileOut) (bool, error) {
	switch {
	case out == nil || out.any || c.output.any:
		return true, nil
	case c.output.value == nil:
		return in.nothing(out.v), nil
	}
	v, err := c.output.value.eval(s, in)
	return v == out.v, err
}

func fileText(in fileIn, out *fileOut) string {
	text := in.op.F
	if in.op.shape != noParts {
		text += " " + in.whole.Label()
	}
	switch {
	case in.op.silent() || out != nil && !out.any && out.v == history.Absent:
		return text
	case out == nil || out.any:
		return answered(text, nil, "null")
	}
	return answered(text, &out.v, "null")
}

// describeIn says what an operation takes, for people and for errors.
func (o *fileOp) describeIn() string {
	var text string
	switch o.shape {
	case noParts:
		return ""
	case wholeShape:
		text = o.parts[len(o.parts)-1]
	case listShape:
		text = "[" + strings.Join(o.parts[1:], ", ") + "]"
	case objectShape:
		var ms []string
		for i, m := range o.members[1:] {
			ms = append(ms, m+": "+o.parts[i+1])
		}
		text = "{" + strings.Join(ms, ", ") + "}"
	}
	for i, kind := range o.needs {
		if kind != anyKind {
			text += ", where " + o.parts[i] + " is " + kind.String()
		}
	}
	return text
}

// describeOut says what an operation answers.
func (o *fileOp) describeOut() string {
	if o.silent() {
		return ""
	}
	var words []string
	for i := range o.cases {
		c := &o.cases[i]
		word := "nothing"
		if c.output.any {
			word = "anything"
		} else if c.output.value != nil {
			word = c.output.value.text
		}
		if c.when != nil {
			word += " when " + c.when.text
		} else if i > 0 {
			word = "else " + word
		}
		words = append(words, word)
	}
	text := strings.Join(words, ", ")
	if o.boolean() {
		text += "; an ok without an output, or that repeats the input, is true"
	}
	return text
}
