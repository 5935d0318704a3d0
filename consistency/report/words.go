package report

import (
	"strconv"

	"pinyon/engine/spec"
)

// number writes n with a comma between thousands.
func number[T ~int | ~int32 | ~int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// counted writes "1 key" or "8 keys".
func counted[T ~int | ~int32 | ~int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// Colours of a terminal, by what they stand for.
const (
	plain  = "\x1b[0m"
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
)

// paint wraps text in the colour of a verdict.
func paint(text string, k spec.Kind, on bool) string {
	if !on {
		return text
	}
	color := yellow
	switch k {
	case spec.Consistent:
		color = green
	case spec.Violation:
		color = red
	}
	return bold + color + text + plain
}

// kindWord is the verdict of one part; what must not be overlooked is in
// capitals.
func kindWord(p *spec.Part) string {
	switch {
	case p.Skipped:
		return "not checked"
	case p.Kind == spec.Violation:
		return "VIOLATION"
	case p.Kind == spec.Unknown:
		return "UNKNOWN"
	}
	return p.Kind.String()
}
