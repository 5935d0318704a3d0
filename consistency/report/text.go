package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

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
	for _, n := range v.Notices {
		t.line("  notice  %s", n)
	}
}

// parts lists what is not simply consistent, or with Verbose everything, and
// counts the rest. A history in one part needs no list.
func (t *text) parts() {
	v := t.in.Verdict
	width := 0
	for i := range v.Parts {
		width = max(width, len([]rune(v.Parts[i].Key)))
	}
	consistent, skipped := 0, 0
	for i := range v.Parts {
		p := &v.Parts[i]
		if !t.o.Verbose && p.Kind == spec.Consistent {
			consistent++
			continue
		}
		if !t.o.Verbose && p.Skipped {
			skipped++
			continue
		}
		if len(v.Parts) > 1 || p.Key != "" || t.o.Verbose {
			t.part(p, width)
		}
	}
	if len(v.Parts) == 1 {
		return
	}
	if consistent > 0 {
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

func (t *text) part(p *spec.Part, width int) {
	key := p.Key
	if key == "" {
		key = "(all)"
		if t.in.Verdict.Split {
			key = "(no key)"
		}
	}
	s := fmt.Sprintf("  %-*s  %s  %s  %s", width, key, counted(p.Ops, "op", "ops"),
		paint(kindWord(p), p.Kind, t.o.Color), counted(p.States, "state", "states"))
	if t.o.Verbose {
		s += fmt.Sprintf("  %s  by %s", p.Elapsed.Round(time.Millisecond), orNone(p.Engine))
	}
	if p.Reason != "" {
		s += "  " + p.Reason
	}
	t.line("%s", s)
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
	repeat := ""
	for i := range t.in.Verdict.Parts {
		p := &t.in.Verdict.Parts[i]
		if p.Kind != spec.Violation {
			continue
		}
		if n++; n > explained {
			continue
		}
		if n == 1 {
			repeat = t.in.repeat(p)
		}
		t.line("%s is not %s:", name(p), t.in.Verdict.Level)
		for _, l := range t.in.explain(p, t.o.Explain) {
			t.line("  %s", l)
		}
	}
	if n > explained {
		t.line("%s not explained here (--key KEY explains one)", counted(n-explained, "more violation is", "more violations are"))
	}
	if repeat != "" {
		t.line("repeat  %s", repeat)
	}
}

// last writes the verdict.
func (t *text) last() {
	t.line("%s", paint(Summary(t.in.Verdict), t.in.Verdict.Kind, t.o.Color))
	if t.o.Verbose {
		t.line("elapsed %s", t.in.Verdict.Elapsed.Round(time.Millisecond))
	}
}

// Summary is the verdict in one line.
func Summary(v *spec.Verdict) string {
	var of [spec.Vacuous + 1]int
	var reason string
	for i := range v.Parts {
		p := &v.Parts[i]
		of[p.Kind]++
		if p.Kind == v.Kind && reason == "" {
			reason = p.Reason
			if len(v.Parts) > 1 {
				reason = fmt.Sprintf("%s: %s", name(p), reason)
			}
		}
	}
	n := len(v.Parts)
	s := v.Kind.String()
	switch {
	case v.Kind == spec.Violation && n == 1:
		return s + ": not " + v.Level
	case v.Kind == spec.Violation:
		return fmt.Sprintf("%s: %s of %s", s, number(of[spec.Violation]), counted(n, "key", "keys"))
	case v.Kind == spec.Unknown && n == 1:
		return s + ": " + reason
	case v.Kind == spec.Unknown:
		return fmt.Sprintf("%s: %s of %s undecided; %s", s, number(of[spec.Unknown]), counted(n, "key", "keys"), reason)
	case v.Kind == spec.Vacuous:
		return s + ": nothing was tested, no operation has an answer"
	case n > 1:
		return fmt.Sprintf("%s: %s, each %s", s, counted(n, "key", "keys"), v.Level)
	}
	return s + ": " + v.Level
}

// repeat is the command that repeats the check of one part.
func (in *Input) repeat(p *spec.Part) string {
	if in.Repeat == "" || p.Key == "" {
		return in.Repeat
	}
	return in.Repeat + " --key " + ShellWord(p.Key)
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
