package importers

import (
	"errors"
	"strings"

	"pinyon/engine/history"
)

// logLine is a line of history.txt or of a Jepsen log, cut into columns.
type logLine struct {
	prefix             string // what the logger wrote before the operation
	process, kind, f   string
	rest               string // value and error
	tabs, op, complete bool   // holds a tab; holds an event type; has all columns
}

// cutLog finds the columns of a line by its event type, the first word that is
// :invoke, :ok, :fail or :info.
func cutLog(text string) logLine {
	l := logLine{tabs: strings.IndexByte(text, '\t') >= 0}
	prevFrom, prevTo := -1, -1
	for at := 0; ; {
		from, to := word(text, at)
		if from == to {
			return l
		}
		at = to
		t := text[from:to]
		if _, isKind := kinds[strings.TrimPrefix(t, ":")]; !isKind || t[0] != ':' {
			prevFrom, prevTo = from, to
			continue
		}
		l.op, l.kind = true, t[1:]
		fFrom, fTo := word(text, to)
		if prevFrom < 0 || fFrom == fTo {
			return l
		}
		l.complete = true
		l.prefix, l.process = text[:prevFrom], text[prevFrom:prevTo]
		l.f, l.rest = text[fFrom:fTo], text[fTo:]
		return l
	}
}

// word returns the bounds of the first word at or after an offset.
func word(s string, at int) (from, to int) {
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	from = at
	for at < len(s) && s[at] != ' ' && s[at] != '\t' {
		at++
	}
	return from, at
}

// isOp reports whether the line is an operation. With a tab and an event type
// it must be one; with spaces only it must look like one, because prose may
// hold such a word too.
func (l *logLine) isOp() bool {
	if l.tabs || !l.op {
		return l.op
	}
	p := strings.TrimSpace(l.prefix)
	logger := p == "" || strings.HasSuffix(p, "-") || strings.HasSuffix(p, "jepsen.util") || strings.HasSuffix(p, ":")
	return l.complete && logger && processName(l.process) && l.f[0] == ':'
}

func processName(t string) bool {
	return t != "" && (isDigit(t[0]) || t[0] == '-' && len(t) > 1 && isDigit(t[1]) || t[0] == ':' && len(t) > 1)
}

// readLog reads jepsen-txt, jepsen-log and etcd-log.
func readLog(src *source, o *Options, rep *Report) (*history.Raw, error) {
	var events eventList
	err := src.lines(func(text string, line int32, at int) error {
		l := cutLog(text)
		if !l.isOp() {
			if strings.TrimSpace(text) != "" {
				rep.skip(line, text)
			}
			return nil
		}
		ev, err := l.event(src, line)
		if err != nil {
			return err
		}
		if src.format == "etcd-log" {
			if err := checkEtcd(src, &ev, &l); err != nil {
				return err
			}
		}
		events.add(ev)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return build(src, &events, o, rep)
}

// event reads the columns of an operation.
func (l *logLine) event(src *source, line int32) (event, error) {
	ev := event{line: line, kind: kinds[l.kind]}
	if !l.complete {
		return ev, src.errorOn(line, "an operation needs the columns process, type, f and value")
	}
	var err error
	if ev.process, err = parseEDN(l.process); err != nil || !processName(l.process) {
		return ev, src.errorOn(line, "%q is not a process: expected a number or a keyword before :%s", l.process, l.kind)
	}
	f, err := parseEDN(l.f)
	if err != nil || f.Kind() != history.KindKeyword && f != history.Null {
		return ev, src.errorOn(line, "%q is not an operation's name: expected a keyword after :%s", l.f, l.kind)
	}
	ev.f = fName(f)
	l.value(src, &ev)
	return ev, nil
}

// value reads the columns value and error. Between tabs the value is the whole
// column; between spaces it is one EDN value, and what follows is the error.
// What cannot be read is kept as text for notes and is an error for clients.
func (l *logLine) value(src *source, ev *event) {
	rest := strings.TrimSpace(l.rest)
	text, errText, err := rest, "", error(nil)
	if l.tabs {
		text, errText, _ = strings.Cut(rest, "\t")
		if text = strings.TrimSpace(text); text != "" {
			ev.value, err = parseEDN(text)
		}
	} else if rest != "" {
		r := newEDN(rest)
		if ev.value, err = r.value(0); err == nil {
			text, errText = rest[:r.at], rest[r.at:]
		}
	}
	if errText = strings.TrimSpace(errText); errText != "" {
		ev.say().err = errText
	}
	if err != nil {
		var syntax *history.SyntaxError
		msg := err.Error()
		if errors.As(err, &syntax) {
			msg = syntax.Msg
		}
		ev.rare().malformed = src.errorOn(ev.line, "%s: the value %q of %s cannot be read: %s", ev.who(), text, ev.f, msg)
		ev.value = history.Absent
		if strings.ToValidUTF8(text, "") == text {
			ev.value = history.String(text)
		}
	}
}

// etcdPrefix opens every operation of the etcd logs.
const etcdPrefix = "INFO  jepsen.util - "

// checkEtcd holds a client's event to the grammar of the etcd logs.
func checkEtcd(src *source, ev *event, l *logLine) error {
	if !isDigit(l.process[0]) {
		return nil // the nemesis of the unedited logs
	}
	if err := ev.seldom().malformed; err != nil {
		return err
	}
	if !etcdEvent(ev, l) {
		return src.errorOn(ev.line, "process %s: not in the grammar of the etcd logs: %s :%s %s", l.process, ev.kind, ev.f, src.written(ev.value))
	}
	return nil
}

func etcdEvent(ev *event, l *logLine) bool {
	if l.prefix != etcdPrefix || ev.error() != "" {
		return false
	}
	timedOut := ev.value == history.Keyword("timed-out")
	scalar := ev.value.Kind() == history.KindInt
	pair := ev.value.Kind() == history.KindArray
	if pair {
		elems, _ := ev.value.Elems()
		pair = len(elems) == 2 && elems[0].Kind() == history.KindInt && elems[1].Kind() == history.KindInt
	}
	switch ev.f {
	case "read":
		return ev.kind == evInvoke && ev.value == history.Null || ev.kind == evOK && (ev.value == history.Null || scalar) ||
			(ev.kind == evFail || ev.kind == evInfo) && timedOut
	case "write":
		return (ev.kind == evInvoke || ev.kind == evOK) && scalar || ev.kind == evInfo && timedOut
	case "cas":
		return ev.kind != evInfo && pair || ev.kind == evInfo && timedOut
	}
	return false
}
