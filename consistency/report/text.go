package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"pinyon/engine/spec"
)

// explained is how many violations Text explains; the others are counted.
const explained = 3

// Text writes in for people: what was checked and by which rules, the parts
// that are not simply consistent, the explanations, and last the verdict.
func Text(w io.Writer, in *Input, o Options) error {
	t := &text{Writer: bufio.NewWriter(w), in: in, o: o}
	t.counts()
	t.rules()
	t.parts()
	t.violations()
	t.ladder()
	t.last()
	return t.Flush()
}

// text is one text on its way. Errors of the writer surface at Flush.
type text struct {
	*bufio.Writer
	in *Input
	o  Options
}

func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// counts says how much was there and what became of it.
func (t *text) counts() {
	c := t.in.Verdict.Counts
	t.line("%s: %s, %s, %s without an answer", t.in.Path,
		counted(c.OK+c.Fail+c.Info, "operation", "operations"), counted(c.Keys, "key", "keys"), number(c.Info))
	if t.o.Verbose {
		for _, l := range t.in.Import {
			t.line("  import  %s", l)
		}
	}
	var words []string
	if c.Info > 0 {
		words = append(words, fmt.Sprintf("%s without an answer may have happened later or never", number(c.Info)))
	}
	if c.Fail > 0 {
		words = append(words, counted(c.Fail, "failed and was dropped", "failed and were dropped"))
	}
	if n := t.in.Rules.Observed; n > 0 {
		words = append(words, counted(n, "refused cas is an observation", "refused cas are observations"))
	}
	words = append(words, counted(c.Constrained, "output had to fit", "outputs had to fit"))
	t.line("  counts  %s", strings.Join(words, "; "))
}

func (t *text) rules() {
	v := t.in.Verdict
	oracles := ""
	if len(t.in.Oracles) > 0 {
		oracles = ", oracle " + strings.Join(t.in.Oracles, ", ")
	}
	t.line("  rules   model %s, level %s%s, %s", v.Model, t.in.Level, oracles, t.in.Rules.line())
	for _, n := range t.in.notices() {
		t.line("  notice  %s", n)
	}
}

// parts lists what is not simply consistent, or with Verbose everything, and
// counts the rest. A history in one part without a key needs no list.
func (t *text) parts() {
	v := t.in.Verdict
	var rows []*spec.Part
	consistent, skipped := 0, 0
	for i := range v.Parts {
		p := &v.Parts[i]
		switch {
		case t.o.Verbose:
			rows = append(rows, p)
		case p.Skipped:
			skipped++
		case p.Kind == spec.Consistent:
			consistent++
		case len(v.Parts) > 1 || p.Key != "":
			rows = append(rows, p)
		}
	}
	t.table(rows)
	if consistent > 0 && len(v.Parts) > 1 {
		other := " other"
		if consistent == len(v.Parts) {
			other = ""
		}
		t.line("  %s%s consistent  (-v lists them)", number(consistent), other+keyWord(consistent))
	}
	if skipped > 0 {
		t.line("  %s%s not checked: stopped at the first violation", number(skipped), keyWord(skipped))
	}
}

func keyWord(n int) string {
	if n == 1 {
		return " key"
	}
	return " keys"
}

// table writes a line for each part, in columns.
func (t *text) table(rows []*spec.Part) {
	var key, ops, verdict, states int // widths
	for _, p := range rows {
		key, ops = max(key, utf8.RuneCountInString(t.key(p))), max(ops, len(counted(p.Ops, "op", "ops")))
		verdict, states = max(verdict, len(kindWord(p))), max(states, len(counted(p.States, "state", "states")))
	}
	for _, p := range rows {
		word := paint(kindWord(p), p.Kind, t.o.Color) + strings.Repeat(" ", verdict-len(kindWord(p)))
		s := fmt.Sprintf("  %-*s  %*s  %s  %*s", key, t.key(p), ops, counted(p.Ops, "op", "ops"), word,
			states, counted(p.States, "state", "states"))
		if t.o.Verbose {
			s += fmt.Sprintf("  %s by %s", p.Elapsed.Round(time.Millisecond), orNone(p.Engine))
			if p.Tried != "" {
				s += " (not by " + p.Tried + ")"
			}
		}
		if p.Reason != "" {
			s += "  " + p.Reason
		}
		t.line("%s", s)
	}
}

// key names a part in the table.
func (t *text) key(p *spec.Part) string {
	switch {
	case p.Key != "":
		return p.Key
	case t.in.Verdict.Split:
		return "(no key)"
	}
	return "(all)"
}

func orNone(engine string) string {
	if engine == "" {
		return "nothing"
	}
	return engine
}

// violations explains the first few.
func (t *text) violations() {
	n := 0
	for i := range t.in.Verdict.Parts {
		p := &t.in.Verdict.Parts[i]
		if p.Kind != spec.Violation {
			continue
		}
		if n++; n > explained {
			continue
		}
		t.line("%s is not %s%s:", name(t.in.Verdict, p), t.in.Verdict.Level, culprit(p))
		for _, l := range t.in.explain(p, t.o.Explain) {
			t.line("  %s", l)
		}
	}
	if n > explained {
		t.line("%s not explained here (--key KEY explains one)", counted(n-explained, "more violation is", "more violations are"))
	}
	if n > 0 && t.in.Repeat != "" {
		t.line("repeat  %s", t.in.repeat())
	}
}

// last writes the verdict.
func (t *text) last() {
	if t.o.Verbose {
		t.line("elapsed %s", t.in.Verdict.Elapsed.Round(time.Millisecond))
	}
	t.line("%s", paint(Summary(t.in.Verdict), t.in.Verdict.Kind, t.o.Color))
}

// Summary is the verdict in one line.
func Summary(v *spec.Verdict) string {
	var of [spec.Vacuous + 1]int
	var reason string
	skipped := 0
	for i := range v.Parts {
		p := &v.Parts[i]
		if p.Skipped {
			skipped++
			continue
		}
		of[p.Kind]++
		if p.Kind == v.Kind && reason == "" {
			reason = p.Reason
			if len(v.Parts) > 1 {
				reason = fmt.Sprintf("%s: %s", name(v, p), reason)
			}
		}
	}
	n := len(v.Parts)
	s := v.Kind.String()
	switch {
	case v.Kind == spec.Violation && n == 1:
		return fmt.Sprintf("%s: %s is not %s", s, name(v, &v.Parts[0]), v.Level)
	case v.Kind == spec.Violation:
		s = fmt.Sprintf("%s: %s of %s", s, number(of[spec.Violation]), counted(n, "key", "keys"))
		if skipped > 0 {
			s += fmt.Sprintf(", %s not checked", number(skipped))
		}
		return s
	case v.Kind == spec.Unknown && n == 1:
		return s + ": " + reason
	case v.Kind == spec.Unknown:
		return fmt.Sprintf("%s: %s of %s undecided; %s", s, number(of[spec.Unknown]), counted(n, "key", "keys"), reason)
	case v.Kind == spec.Vacuous:
		return s + ": nothing was tested, no operation has an answer"
	case of[spec.Vacuous] > 0:
		return fmt.Sprintf("%s: %s %s, %s vacuous", s, counted(of[spec.Consistent], "key", "keys"), v.Level, number(of[spec.Vacuous]))
	case n > 1:
		return fmt.Sprintf("%s: %s, each %s", s, counted(n, "key", "keys"), v.Level)
	}
	return s + ": " + v.Level
}

// repeat is the command that repeats the check of the first violation, or of
// everything where there is none.
func (in *Input) repeat() string {
	for i := range in.Verdict.Parts {
		p := &in.Verdict.Parts[i]
		if p.Kind == spec.Violation && cmp.Or(p.Key, p.Culprit) != "" {
			return in.repeatOf(p)
		}
	}
	return in.Repeat
}

// repeatOf is the command that repeats the check of one part.
func (in *Input) repeatOf(p *spec.Part) string {
	if key := cmp.Or(p.Key, p.Culprit); key != "" && in.Repeat != "" {
		return in.Repeat + " --key " + ShellWord(key)
	}
	return in.Repeat
}

// ShellWord quotes s for a shell where that is needed.
func ShellWord(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
