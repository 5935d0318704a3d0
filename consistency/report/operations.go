package report

import (
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// imported reports whether the history came from another tool, whose people
// know an operation by the index of its completion.
func (in *Input) imported() bool { return in.Format != "" && in.Format != "native" }

// op names operation i: "op 245", and for an imported one "op 245 (index 491)".
func (in *Input) op(i int32) string {
	s := fmt.Sprintf("op %d", in.Subject.ID(i))
	if index, ok := in.index(i); ok {
		s += fmt.Sprintf(" (index %d)", index)
	}
	return s
}

// index is what the file calls the operation: the index of its completion, or
// of its call where it has none.
func (in *Input) index(i int32) (int64, bool) {
	if !in.imported() {
		return 0, false
	}
	return in.Subject.Index(i)
}

// process names the process of operation i.
func (in *Input) process(i int32) string {
	v := in.Subject.View
	return v.ProcessName[v.Process[i]]
}

// did says what operation i did, with its key where several stand together.
func (in *Input) did(i int32, withKey bool) string {
	s := Clipped(in.Subject.Text(i))
	if v := in.Subject.View; withKey && len(v.KeyName) > 1 && v.KeyName[v.Key[i]] != "" {
		s += " on " + v.KeyName[v.Key[i]]
	}
	return s
}

// Clipped shortens what would fill the screen; the JSON document has it whole.
func Clipped(s string) string {
	const most = 300
	r := []rune(s[:min(len(s), 4*most)])
	if len(r) <= most && len(s) <= 4*most {
		return s
	}
	return fmt.Sprintf("%s... (%d bytes)", string(r[:min(most, len(r))]), len(s))
}

// when says from when to when operation i ran, by the clock that decides.
func (in *Input) when(i int32) string {
	v := in.Subject.View
	if o, ok := in.Subject.Origin(i); ok && v.Order == history.ByLine && o.Line > 0 {
		if v.Info[i] {
			return fmt.Sprintf("from line %d, no answer", o.Line)
		}
		return fmt.Sprintf("from line %d to line %d", o.Line, o.DoneLine)
	}
	if v.Info[i] {
		return fmt.Sprintf("from %s, no answer", order.At(v.Invoke[i]))
	}
	return fmt.Sprintf("from %s to %s", order.At(v.Invoke[i]), order.At(v.Return[i]))
}

// full says all of operation i on one line.
func (in *Input) full(i int32, withKey bool) string {
	return fmt.Sprintf("%s  process %s: %s, %s", in.op(i), in.process(i), in.did(i, withKey), in.when(i))
}

// withHints is full and, where oracles are in force, a line of every hint that
// the store returned, also those that no rule uses.
func (in *Input) withHints(i int32, withKey bool) []string {
	lines := []string{in.full(i, withKey)}
	if hints := in.hints(i); hints != "" {
		lines = append(lines, "    hints "+hints)
	}
	return lines
}

func (in *Input) hints(i int32) string {
	var words []string
	if len(in.Oracles) > 0 {
		columns := in.Subject.View.Hints
		for _, name := range columns.Names() {
			if text, ok := columns[name].Text(i); ok {
				words = append(words, name+" "+Clipped(text))
			}
		}
	}
	return strings.Join(words, ", ")
}

// short names operation i with what it did.
func (in *Input) short(i int32, withKey bool) string {
	return fmt.Sprintf("%s [%s]", in.op(i), in.did(i, withKey))
}

// shorts lists operations.
func (in *Input) shorts(ops []int32, withKey bool) string {
	var words []string
	for _, i := range ops {
		words = append(words, in.short(i, withKey))
	}
	return strings.Join(words, ", ")
}
