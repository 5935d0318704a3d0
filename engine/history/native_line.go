package history

import (
	"fmt"
	"strings"
)

// field is one of the fields that lines of the native format have.
type field uint8

const (
	fProcess field = iota
	fF
	fKey
	fIn
	fOut
	fInvoke
	fReturn
	fOutcome
	fHints
	fID
	fNode
	fError
	fEvent
	fTime
	fNote
	fFrom
	fTo
	fDetail
	fieldCount
)

// holds says what type of value a field takes.
type holds uint8

const (
	anyValue holds = iota
	anInteger
	aTime // an integer within ±MaxTime
	aString
	aName // an integer or a string
	hintObject
)

var fieldTypes = [fieldCount]struct {
	name string
	holds
}{
	fProcess: {"process", aName}, fF: {"f", aString}, fKey: {"key", anyValue},
	fIn: {"in", anyValue}, fOut: {"out", anyValue},
	fInvoke: {"invoke", aTime}, fReturn: {"return", aTime}, fOutcome: {"outcome", aString},
	fHints: {"hints", hintObject}, fID: {"id", anInteger}, fNode: {"node", aString}, fError: {"error", aString},
	fEvent: {"event", aString}, fTime: {"time", aTime},
	fNote: {"note", aString}, fFrom: {"from", aTime}, fTo: {"to", aTime}, fDetail: {"detail", anyValue},
}

// fieldsBySize are the fields by the length of their names, few of each.
var fieldsBySize = func() (by [9][]field) {
	for f := range fieldCount {
		n := len(fieldTypes[f].name)
		by[n] = append(by[n], f)
	}
	return by
}()

// fieldNamed finds a field; a table of names would be asked eight times a line.
func fieldNamed(name string) (field, bool) {
	if len(name) < len(fieldsBySize) {
		for _, f := range fieldsBySize[len(name)] {
			if fieldTypes[f].name == name {
				return f, true
			}
		}
	}
	return 0, false
}

// fieldSet is a set of fields.
type fieldSet uint32

func setOf(fs ...field) (s fieldSet) {
	for _, f := range fs {
		s |= 1 << f
	}
	return s
}

func (s fieldSet) has(f field) bool { return s>>f&1 == 1 }

func (s fieldSet) names() (names []string) {
	for f := range fieldCount {
		if s.has(f) {
			names = append(names, fieldTypes[f].name)
		}
	}
	return names
}

// shape is a sort of line: the fields that it must and may have.
type shape struct {
	name         string
	needed, fine fieldSet
}

var (
	operationLine = &shape{"an operation", setOf(fProcess, fF, fInvoke, fOutcome),
		setOf(fKey, fIn, fOut, fReturn, fHints, fID, fNode, fError)}
	invokeLine   = &shape{"an invoke event", setOf(fEvent, fID, fProcess, fF, fTime), setOf(fKey, fIn, fNode)}
	completeLine = &shape{"a complete event", setOf(fEvent, fID, fTime, fOutcome), setOf(fOut, fHints, fNode, fError)}
	noteLine     = &shape{"a note", setOf(fNote, fFrom), setOf(fTo, fDetail)}
)

// record is one line after the header, with its fields read but not yet
// understood together.
type record struct {
	line  int
	seq   int32
	seen  fieldSet
	at    [fieldCount]int // where each value starts in the line
	num   [fieldCount]int64
	str   [fieldCount]string
	val   [fieldCount]Value
	hints []Hint

	strange   string // the first unknown field
	strangeAt int
}

func (rec *record) has(f field) bool { return rec.seen.has(f) }

// member reads one member of the line; it is a visitor of eachMember.
func (rec *record) member(s, name string, nameAt, at int, intern func(string) string) (next int, err error) {
	f, known := fieldNamed(name)
	if !known {
		if rec.strange == "" {
			rec.strange, rec.strangeAt = name, nameAt
		}
		_, next, err = parseValue(s, at, 1)
		return next, err
	}
	if rec.has(f) {
		return nameAt, syntax(nameAt, "the field %q stands twice", name)
	}
	rec.seen |= setOf(f)
	rec.at[f] = at
	switch fieldTypes[f].holds {
	case anInteger, aTime:
		rec.num[f], next, err = readInt(s, at, name)
		if t := rec.num[f]; err == nil && fieldTypes[f].holds == aTime && (t > MaxTime || t < -MaxTime) {
			err = syntax(at, "%q is %d, beyond the greatest time of ±%d nanoseconds from the start of the run", name, t, int64(MaxTime))
		}
	case aString:
		var str string
		if str, next, err = readString(s, at, name); err == nil {
			rec.str[f] = intern(str)
		}
	case hintObject:
		rec.hints, next, err = readHints(s, at, intern)
	case aName:
		rec.val[f], next, err = parseValue(s, at, 1)
		if k := rec.val[f].Kind(); err == nil && k != KindInt && k != KindString {
			err = wrongType(at, name, "an int64 or a string", rec.val[f])
		}
	case anyValue:
		rec.val[f], next, err = parseValue(s, at, 1)
	}
	return next, err
}

func wrongType(at int, name, expected string, got Value) error {
	if got.Kind() == KindBigInt {
		return syntax(at, "%q must be %s, got %s, which does not fit", name, expected, got.Text())
	}
	return syntax(at, "%q must be %s, got %s", name, expected, got.Kind())
}

// readInt reads an int64 without making a Value of it: histories are mostly
// times, and nearly all of them differ.
func readInt(s string, at int, name string) (n int64, next int, err error) {
	i, neg := at, false
	if i < len(s) && s[i] == '-' {
		i, neg = i+1, true
	}
	from := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' && i-from < 18 { // eighteen digits fit
		n = n*10 + int64(s[i]-'0')
		i++
	}
	if i > from && (i == from+1 || s[from] != '0') && (i == len(s) || strings.IndexByte(",} \t\r", s[i]) >= 0) {
		if neg {
			n = -n
		}
		return n, i, nil
	}
	v, next, err := parseValue(s, at, 1)
	if err != nil {
		return 0, next, err
	}
	n, ok := v.Int64()
	if !ok {
		return 0, at, wrongType(at, name, "an int64", v)
	}
	return n, next, nil
}

func readString(s string, at int, name string) (string, int, error) {
	if at < len(s) && s[at] == '"' {
		return unquote(s, at)
	}
	v, next, err := parseValue(s, at, 1)
	if err == nil {
		err = wrongType(at, name, "a string", v)
	}
	return "", next, err
}

// readHints reads the object of hints, in order. Any value may stand there:
// one that no hint can hold counts as missing later.
func readHints(s string, at int, intern func(string) string) (hints []Hint, next int, err error) {
	if at < len(s) && s[at] != '{' {
		v, next, err := parseValue(s, at, 1)
		if err == nil {
			err = wrongType(at, "hints", "an object", v)
		}
		return nil, next, err
	}
	var names repeats
	next, err = eachMember(s, at, func(name string, nameAt, valueAt int) (int, error) {
		if names.again(name) {
			return nameAt, syntax(nameAt, "the hint %q stands twice", name)
		}
		v, next, err := parseValue(s, valueAt, 2)
		if hints == nil {
			hints = make([]Hint, 0, 2)
		}
		hints = append(hints, Hint{intern(name), v})
		return next, err
	})
	return hints, next, err
}

// shape says what sort of line rec is, and checks its fields.
func (rec *record) shape() (*shape, error) {
	sh := operationLine
	switch {
	case rec.strange == "pinyon":
		return nil, syntax(rec.strangeAt, "a second header line; the header is line 1, and a file holds one history")
	case rec.has(fEvent) && rec.str[fEvent] == "invoke":
		sh = invokeLine
	case rec.has(fEvent) && rec.str[fEvent] == "complete":
		sh = completeLine
	case rec.has(fEvent):
		known := []string{"invoke", "complete"}
		return nil, syntax(rec.at[fEvent], "unknown event %q; %s", rec.str[fEvent], suggest(rec.str[fEvent], known))
	case rec.has(fNote):
		sh = noteLine
	}
	if rec.strange != "" {
		known := (sh.needed | sh.fine).names()
		return nil, syntax(rec.strangeAt, "unknown field %q on %s; %s", rec.strange, sh.name, suggest(rec.strange, known))
	}
	if wrong := rec.seen &^ (sh.needed | sh.fine); wrong != 0 {
		first := fieldCount
		for f := range fieldCount {
			if wrong.has(f) && (first == fieldCount || rec.at[f] < rec.at[first]) {
				first = f
			}
		}
		return nil, syntax(rec.at[first], "the field %q does not belong on %s; its fields are %s",
			fieldTypes[first].name, sh.name, strings.Join((sh.needed|sh.fine).names(), ", "))
	}
	if missing := sh.needed &^ rec.seen; missing != 0 {
		return nil, syntax(0, "%s missing from %s", quotedList(missing.names()), sh.name)
	}
	return sh, nil
}

// quotedList writes `the field "a" is` or `the fields "a", "b" are`.
func quotedList(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("the field %q is", names[0])
	}
	return `the fields "` + strings.Join(names, `", "`) + `" are`
}
