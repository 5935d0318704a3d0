package importers

import (
	"slices"
	"strings"

	"pinyon/engine/history"
)

// splitbrainRow is one line of Splitbrain's JSON Lines.
type splitbrainRow struct {
	fields                map[string]entry
	start                 int
	process, invoke, done int64
	outcome               kind
	line                  int32
}

// splitbrainFields are all fields that a line may hold, and what each must be.
var splitbrainFields = map[string]history.Kind{
	"process": history.KindInt, "key": history.KindString, "kind": history.KindString, "value": history.KindAbsent,
	"from": history.KindAbsent, "to": history.KindAbsent, "observed": history.KindAbsent, "swapped": history.KindBool,
	"outcome": history.KindString, "invoke_ns": history.KindInt, "complete_ns": history.KindInt, "error": history.KindString,
}

// readSplitbrain reads Splitbrain's JSON Lines: both ends of an operation
// stand on one line, so the times decide the order.
func readSplitbrain(src *source, o *Options, rep *Report) (*history.Raw, error) {
	if err := refuseLineOrder(src, rep); err != nil {
		return nil, err
	}
	x := newIntervals(src)
	err := src.lines(func(text string, line int32, at int) error {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		row, err := readSplitbrainRow(src, line, at, at+len(text))
		if err != nil {
			return err
		}
		op, err := row.op(src)
		if err != nil {
			return err
		}
		x.add(history.Int(row.process), op, line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return x.finish(o, rep)
}

func readSplitbrainRow(src *source, line int32, at, end int) (splitbrainRow, error) {
	row := splitbrainRow{fields: map[string]entry{}, start: at, line: line}
	r := &jsonRows{src: src, at: at, end: end}
	es, err := r.object()
	if err != nil {
		return row, err
	}
	if r.next() != 0 {
		return row, src.errorAt(r.at, "unexpected text after the operation")
	}
	for _, e := range es {
		want, known := splitbrainFields[e.key]
		if !known {
			return row, src.errorAt(e.at, "unknown field %q", e.key)
		}
		if want != history.KindAbsent && e.value.Kind() != want && !e.isNum {
			return row, src.errorAt(e.at, "%q must be %s, got %s", e.key, want, e.value.Kind())
		}
		row.fields[e.key] = e
	}
	for _, name := range [...]string{"process", "key", "kind", "outcome", "invoke_ns"} {
		if _, ok := row.fields[name]; !ok {
			return row, src.errorAt(at, "the field %q is missing", name)
		}
	}
	process, invoke := row.fields["process"], row.fields["invoke_ns"]
	row.process, _ = process.int64()
	row.invoke, _ = invoke.int64()
	return row, row.readOutcome(src)
}

// readOutcome checks the outcome against complete_ns, which an operation
// without an answer must not have.
func (row *splitbrainRow) readOutcome(src *source) error {
	name, _ := row.fields["outcome"].value.Str()
	k, known := kinds[name]
	if !known || k == evInvoke {
		return src.errorAt(row.fields["outcome"].at, "unknown outcome %q; ok, fail and info are known", name)
	}
	row.outcome = k
	done, has := row.fields["complete_ns"]
	if has == (k == evInfo) {
		return src.errorAt(row.start, `"complete_ns" must be absent exactly when the outcome is info`)
	}
	row.done = history.Never
	if has {
		row.done, _ = done.int64()
	}
	return nil
}

// op returns the operation of a row; its process is numbered later.
func (row *splitbrainRow) op(src *source) (rawOp, error) {
	op := rawOp{Invoke: row.invoke, Return: row.done, Outcome: row.outcome.outcome()}
	op.F, _ = row.fields["kind"].value.Str()
	op.Key = row.fields["key"].value.Label()
	op.Error, _ = row.fields["error"].value.Str()
	needs := map[string][]string{"read": {}, "write": {"value"}, "cas": {"from", "to"}}
	answer := map[string]string{"read": "observed", "cas": "swapped"}[op.F]
	names, known := needs[op.F]
	if !known {
		return op, src.errorAt(row.fields["kind"].at, "unknown kind %q; read, write and cas are known", op.F)
	}
	if answer != "" && row.outcome == evOK {
		names = append(names, answer)
	}
	for _, name := range names {
		if _, ok := row.fields[name]; !ok {
			return op, src.errorAt(row.start, "a %s with the outcome %s needs the field %q", op.F, op.Outcome, name)
		}
	}
	for _, name := range [...]string{"value", "from", "to", "observed", "swapped"} {
		if e, ok := row.fields[name]; ok && name != answer && !slices.Contains(names, name) {
			return op, src.errorAt(e.at, "a %s does not have the field %q", op.F, name)
		}
	}
	switch op.F {
	case "write":
		op.In = row.fields["value"].value
	case "cas":
		op.In = history.Array(row.fields["from"].value, row.fields["to"].value)
	}
	if row.outcome == evOK && answer != "" {
		op.Out = row.fields[answer].value
	}
	return op, nil
}
