package importers

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"pinyon/engine/history"
)

// tableReader reads rows by a mapping.
type tableReader struct {
	src    *source
	m      *Mapping
	rep    *Report
	x      *intervals                      // rows that are operations
	events eventList                       // rows that are events
	seen   map[string]bool                 // columns that some row has
	keys   map[history.Value]history.Value // of the latest operation of each process
	dates  bool                            // a time was a date
}

// readTable reads CSV and JSON Lines by the user's mapping.
func readTable(src *source, o *Options, rep *Report) (*history.Raw, error) {
	if o.Map == "" {
		return nil, &history.Error{Path: src.path, Msg: "the format table needs a mapping: --map process=client,f=op,in=value,invoke=start,return=end"}
	}
	return readMapped(src, o.Map, o, rep)
}

func readMapped(src *source, mapping string, o *Options, rep *Report) (*history.Raw, error) {
	m, err := ParseMapping(mapping)
	if err != nil {
		return nil, err
	}
	r := &tableReader{src: src, m: m, rep: rep, x: newIntervals(src), seen: map[string]bool{}, keys: map[history.Value]history.Value{}}
	visit := r.operation
	if m.columns["type"] != nil {
		visit = r.event
		if o.Order == "" {
			rep.Order = history.ByLine
		}
	} else if err := refuseLineOrder(src, rep); err != nil {
		return nil, err
	}
	if err := src.rows(r.checkNames, visit); err != nil {
		return nil, err
	}
	r.warnUnseen()
	if m.columns["type"] != nil {
		r.countDates()
		return build(src, &r.events, o, rep)
	}
	r.x.epoch = r.dates
	return r.x.finish(o, rep)
}

// checkNames refuses a mapping to a column that a CSV table lacks.
func (r *tableReader) checkNames(names []string) error {
	known := map[string]bool{}
	for _, n := range names {
		known[n] = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.m.columns)) {
		for _, c := range r.m.columns[name] {
			found := false
			for end := len(c); end > 0 && !found; end = strings.LastIndexByte(c[:end], '.') {
				found = known[c[:end]]
			}
			if !found {
				err := r.src.noColumn(c, names).(*history.Error)
				err.Msg += " (mapping " + r.m.assignment(name) + ")"
				return err
			}
		}
	}
	return nil
}

// warnUnseen tells of columns that no row has, as JSON may leave any out.
func (r *tableReader) warnUnseen() {
	var names []string
	for name, columns := range r.m.columns {
		for _, c := range columns {
			if !r.seen[c] {
				names = append(names, fmt.Sprintf("no row has %q (mapping %s)", c, r.m.assignment(name)))
			}
		}
	}
	slices.Sort(names)
	r.rep.Warnings = append(r.rep.Warnings, names...)
}

// fail builds the error about a cell; it names the mapping that led there.
func (r *tableReader) fail(c cell, name, format string, args ...any) error {
	return &history.Error{Path: r.src.path, Line: c.line, Col: c.col, Msg: fmt.Sprintf(format, args...) + " (mapping " + r.m.assignment(name) + ")"}
}

// get returns the value that a name has in a row: the list of those of its
// columns that are not empty, one alone as it is, Absent where all are empty or
// the mapping lacks the name.
func (r *tableReader) get(row *tableRow, name string) (cell, error) {
	out := cell{line: int(row.line)}
	var list []history.Value
	for _, column := range r.m.columns[name] {
		c, err := row.cell(column)
		if err != nil {
			return c, err
		}
		// The first part of a path is there; only a value shows that all of it is.
		if c.col > 0 && (c.v != history.Absent || !strings.Contains(column, ".")) {
			r.seen[column] = true
		}
		if c.v == history.Absent {
			if c.col > 0 {
				out.line, out.col = c.line, c.col
			}
			continue
		}
		if _, given := r.m.words["nil"]; given && r.m.means("nil", c.text) {
			c.v = history.Null
		}
		list = append(list, c.v)
		if out = c; len(list) > 1 {
			out.v = history.Array(list...)
		}
	}
	return out, nil
}

// common reads what operations and invocations share.
func (r *tableReader) common(row *tableRow) (process, key, in history.Value, f string, err error) {
	var cells [4]cell
	for i, name := range [...]string{"process", "key", "in", "f"} {
		if cells[i], err = r.get(row, name); err != nil {
			return process, key, in, f, err
		}
	}
	process = cells[0].v
	if k := process.Kind(); k != history.KindAbsent && k != history.KindInt && k != history.KindString {
		process = history.String(cells[0].text)
	}
	f = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(cells[3].text), ":"))
	if cells[3].v == history.Absent || f == "" {
		err = r.fail(cells[3], "f", "the row names no operation")
	}
	return process, cells[1].v, cells[2].v, f, err
}

// operation reads a row that is an operation.
func (r *tableReader) operation(row *tableRow) error {
	process, key, in, f, err := r.common(row)
	if err != nil {
		return err
	}
	op := rawOp{F: f, Key: key.Label(), In: in}
	invoke, hasInvoke, err := r.time(row, "invoke")
	if err != nil {
		return err
	}
	if !hasInvoke {
		return r.fail(cell{line: int(row.line)}, "invoke", "the operation has no time of its call")
	}
	ret, hasReturn, err := r.time(row, "return")
	if err != nil {
		return err
	}
	op.Invoke, op.Return = invoke, ret
	k, named, err := r.outcome(row, "outcome")
	if err != nil {
		return err
	}
	switch {
	case !named && hasReturn:
		k = evOK
	case !named:
		k = evInfo
	case k != evInfo && !hasReturn:
		return r.fail(cell{line: int(row.line)}, "return", "the operation is %s, but has no time of its return", k.outcome())
	case k == evInfo && hasReturn:
		r.rep.Dropped["return of an operation without an answer"]++
	}
	if op.Outcome = k.outcome(); k == evOK {
		c, err := r.get(row, "out")
		if err != nil {
			return err
		}
		op.Out = c.v
	}
	if err := r.extras(row, &op); err != nil {
		return err
	}
	r.x.add(process, op, row.line)
	r.x.h.Origins[len(r.x.h.Origins)-1].Refused = k == evFail && f == "cas" && op.Error == ""
	return nil
}

// extras reads error, node and hints.
func (r *tableReader) extras(row *tableRow, op *rawOp) error {
	for _, name := range [...]string{"error", "node"} {
		c, err := r.get(row, name)
		if err != nil {
			return err
		}
		if c.v == history.Absent || c.v == history.Null {
			continue
		}
		if name == "error" {
			op.Error = c.text
		} else {
			op.Node = c.text
		}
	}
	for _, name := range r.m.hints {
		c, err := r.get(row, "hint."+name)
		if err != nil {
			return err
		}
		if c.v == history.Absent || c.v == history.Null {
			continue
		}
		if v, ok := hint(c.v); ok {
			op.Hints = setHint(op.Hints, name, v)
		} else {
			r.rep.Dropped[name]++
		}
	}
	return nil
}

// outcome reads a word for an outcome; named is false where there is none.
func (r *tableReader) outcome(row *tableRow, name string) (k kind, named bool, err error) {
	c, err := r.get(row, name)
	if err != nil || c.v == history.Absent || c.v == history.Null {
		return 0, false, err
	}
	for _, k := range [...]kind{evOK, evFail, evInfo} {
		if r.m.means(k.outcome().String(), c.text) {
			return k, true, nil
		}
	}
	return 0, false, r.fail(c, name, "%s is no outcome; name its word with ok=, fail= or info=", orNone(c.text))
}

// event reads a row that is an event.
func (r *tableReader) event(row *tableRow) error {
	c, err := r.get(row, "type")
	if err != nil {
		return err
	}
	ev := event{line: row.line}
	var op rawOp
	if ev.time, ev.hasTime, err = r.time(row, "time"); err != nil {
		return err
	}
	if err := r.extras(row, &op); err != nil {
		return err
	}
	if op.Error != "" {
		ev.say().err = op.Error
	}
	own := ev.exact()
	if len(op.Hints) > 0 || op.Node != "" {
		ev.rare().hints = op.Hints
	}
	if op.Node != "" {
		own.node = history.String(op.Node)
	}
	if r.m.means("start", c.text) {
		ev.process, ev.key, own.in, ev.f, err = r.common(row)
		own.noIn = own.in == history.Absent
		r.keys[ev.process] = ev.key
		if ev.process == history.Absent && err == nil {
			err = r.fail(cell{line: int(row.line)}, "process", "the row names no process")
		}
		r.events.add(ev)
		return err
	}
	if ev.kind, err = r.completion(row, c); err != nil {
		return err
	}
	process, err := r.get(row, "process")
	if err != nil {
		return err
	}
	out, err := r.get(row, "out")
	if err != nil {
		return err
	}
	if ev.process = process.v; ev.process.Kind() != history.KindInt && ev.process != history.Absent {
		ev.process = history.String(process.text)
	}
	own.out, own.noOut = out.v, out.v == history.Absent
	ev.key = r.keys[ev.process] // a completion need not repeat it
	r.events.add(ev)
	return nil
}

// completion is the outcome of a row that ends an operation: its type's, or
// that of the column for it.
func (r *tableReader) completion(row *tableRow, c cell) (kind, error) {
	if !r.m.means("end", c.text) {
		k, named, err := r.outcome(row, "type")
		if err == nil && !named {
			err = r.fail(c, "type", "the row has no type")
		}
		if err != nil {
			return 0, r.fail(c, "type", "%s is neither a start nor an end of an operation, nor an outcome; name its word with start=, end=, ok=, fail= or info=", orNone(c.text))
		}
		return k, nil
	}
	k, named, err := r.outcome(row, "outcome")
	if err == nil && !named {
		k = evOK
	}
	return k, err
}

// time reads a time in the mapping's unit, or a date.
func (r *tableReader) time(row *tableRow, name string) (ns int64, ok bool, err error) {
	c, err := r.get(row, name)
	if err != nil || c.v == history.Absent || c.v == history.Null {
		return 0, false, err
	}
	bad := func() (int64, bool, error) {
		return 0, false, r.fail(c, name, "%s is no time; expected a number, or a date such as 2020-05-13T10:57:38.07Z", orNone(c.text))
	}
	switch c.v.Kind() {
	case history.KindInt:
		n, _ := c.v.Int64()
		if n > math.MaxInt64/r.m.unit || n < -math.MaxInt64/r.m.unit {
			return bad()
		}
		return n * r.m.unit, true, nil
	case history.KindDecimal:
		x, isRat := new(big.Rat), !strings.Contains(c.v.Text(), "e") // an exponent could make it huge
		if isRat {
			_, isRat = x.SetString(c.v.Text())
		}
		if !isRat {
			return bad()
		}
		x.Mul(x, new(big.Rat).SetInt64(r.m.unit))
		n := new(big.Int).Div(x.Num(), x.Denom()) // towards the past
		if !n.IsInt64() {
			return bad()
		}
		return n.Int64(), true, nil
	}
	t, parseErr := time.Parse(time.RFC3339Nano, c.text)
	if parseErr != nil || t.Year() < 1700 || t.Year() > 2250 {
		return bad()
	}
	r.dates = true
	return t.UnixNano(), true, nil
}

// countDates counts the times of events from the first, where they are dates or
// too great.
func (r *tableReader) countDates() {
	first, any := int64(0), false
	for i := range r.events.n {
		if ev := r.events.at(i); ev.hasTime {
			if r.dates = r.dates || ev.time > history.MaxTime; !any || ev.time < first {
				first, any = ev.time, true
			}
		}
	}
	if !r.dates {
		return
	}
	for i := range r.events.n {
		if ev := r.events.at(i); ev.hasTime {
			ev.time -= first
		}
	}
	r.rep.warn("times are counted from the first event, which is at %d", first)
}
