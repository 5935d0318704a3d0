package importers

import (
	"fmt"
	"strings"

	"pinyon/engine/history"
)

// detect tells the format of a file by its first byte that is not white space,
// and then by the fields or columns that it finds; why says what decided.
func detect(src *source) (name, why string, err error) {
	text := strings.TrimLeft(src.text, " \t\r\n")
	if text == "" {
		return "native", "the file is empty", nil
	}
	switch text[0] {
	case '{':
		name, why, err = detectObject(src, text)
	case '[', '(':
		name, why = detectList(text)
	case ';':
		name, why, err = detectAfterComment(src)
	case '#':
		name, why = detectHash(text)
	}
	if name == "" && err == nil {
		name, why, err = detectTable(src, text)
	}
	if name == "" && err == nil {
		name, why, err = detectLog(src)
	}
	if name == "" && err == nil && strings.HasPrefix(src.text, "\uFEFF") {
		err = src.errorAt(0, "the file starts with a byte order mark; remove it") // what follows it may well be known
	}
	if name == "" && err == nil {
		err = &history.Error{Path: src.path, Line: 1, Msg: "no known history format; formats tried: " + formatNames() +
			"; to read a CSV table or JSON Lines, name the columns with --map (pinyon help formats)"}
	}
	return name, why, err
}

// afterSpace returns the text from an offset on, without leading white space.
func afterSpace(text string, at int) string {
	return strings.TrimLeft(text[min(at, len(text)):], " \t\r\n,")
}

// detectObject tells apart what opens with '{': EDN by its colon, JSON by the
// fields of its first object.
func detectObject(src *source, text string) (name, why string, err error) {
	if !strings.HasPrefix(afterSpace(text, 1), `"`) {
		return src.only(kvMap(text))
	}
	if strings.HasPrefix(afterSpace(text, 1), `"pinyon"`) {
		return "native", "a header that opens with \"pinyon\"", nil // its own reader says best what is wrong
	}
	r := &jsonRows{src: src, at: len(src.text) - len(text), end: len(src.text)}
	es, err := r.object()
	if err != nil {
		return "", "", err
	}
	has := map[string]bool{}
	for _, e := range es {
		has[e.key] = true
		if e.key == "event" && e.value.Kind() == history.KindString {
			has["note"] = true // one of Pinyon's event lines; S2's events are objects
		}
	}
	var fit []guess
	for _, g := range [...]struct {
		fits bool
		guess
	}{
		{has["pinyon"] || has["process"] && has["invoke"] || has["note"], guess{"native", "JSON Lines with Pinyon's fields"}},
		{has["kind"] && has["invoke_ns"], guess{"splitbrain", `JSON lines with "kind" and "invoke_ns"`}},
		{has["action"] && (has["proc"] || has["data"]), guess{"chaos", `JSON lines with "action"`}},
		{has["event"] && has["client_id"], guess{"s2", `JSON lines with "event" and "client_id"`}},
		{(has["ClientId"] || has["ClientID"]) && has["Input"], guess{"etcd-report", `JSON objects with "ClientId" and "Input"`}},
		{has["type"], guess{"elle-json", `JSON lines with "type"`}},
	} {
		if g.fits {
			fit = append(fit, g.guess)
		}
	}
	if len(fit) == 0 && chaosAfterState(r) {
		return "chaos", `JSON lines with "action" after a state`, nil
	}
	return src.only(fit)
}

// guess is a format that a file may have, and what speaks for it.
type guess struct{ name, why string }

// only returns the one guess there is. Several are an error: a format taken for
// another may give a wrong verdict, and the user knows.
func (s *source) only(fit []guess) (name, why string, err error) {
	switch len(fit) {
	case 0:
		return "", "", nil
	case 1:
		return fit[0].name, fit[0].why, nil
	}
	var both []string
	for _, g := range fit {
		both = append(both, g.name+" ("+g.why+")")
	}
	return "", "", s.errorOn(1, "may have more than one format: %s; name the right one with --format", strings.Join(both, ", "))
}

// chaosAfterState reports whether the object behind the first is an event of
// chaos: the first may be a state.
func chaosAfterState(r *jsonRows) bool {
	if r.next() != '{' {
		return false
	}
	es, err := r.object()
	for _, e := range es {
		if err == nil && e.key == "action" {
			return true
		}
	}
	return false
}

// kvMap says whether the first EDN map is one of Porcupine's key-value logs or
// one of Jepsen's, where :key is an extra field among others. It is the former
// when it has exactly their fields, and may be either when it only has a :key
// that is a string, an operation of theirs, and neither :time nor :index.
func kvMap(text string) []guess {
	jepsen, kv := guess{"jepsen-edn", "a stream of EDN maps"}, guess{"porcupine-kv", "EDN maps with :key and get, put or append"}
	r := newEDN(text)
	es, err := r.entries()
	if err != nil {
		return []guess{jepsen}
	}
	key, f, strict := false, "", true
	for _, e := range es {
		switch e.key {
		case "key":
			key = e.value.Kind() == history.KindString
		case "f":
			f = fName(e.value)
		case "value":
			strict = strict && (e.value == history.Null || e.value.Kind() == history.KindString)
		case "time", "index":
			return []guess{jepsen}
		case "process", "type":
		default:
			strict = false
		}
	}
	switch {
	case !key || f != "get" && f != "put" && f != "append":
		return []guess{jepsen}
	case strict:
		return []guess{kv}
	}
	return []guess{jepsen, kv}
}

// detectList tells apart what opens with '[' or '('.
func detectList(text string) (name, why string) {
	inner := afterSpace(text, 1)
	switch {
	case text[0] == '[' && violinLine(text):
		return "violin", "a line [id] call or [id] return"
	case text[0] == '[' && strings.HasPrefix(inner, "{") && strings.HasPrefix(afterSpace(inner, 1), `"`):
		return "elle-json", "a JSON array of objects"
	case inner == "" || strings.IndexByte("{[(#;])", inner[0]) >= 0:
		return "knossos", fmt.Sprintf("one EDN list that opens with %q", text[0])
	case strings.Contains(firstLine(text), " :"):
		return "knossos", "EDN tuples [process type f value]"
	}
	return "", ""
}

// violinLine reports whether the first line is [number] call or [number] return.
func violinLine(text string) bool {
	id, rest, _ := strings.Cut(strings.TrimPrefix(firstLine(text), "["), "]")
	_, number := signed(strings.TrimSpace(id))
	verb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return text != "" && text[0] == '[' && number && (verb == "call" || verb == "return")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// detectAfterComment looks behind the comments that open an EDN file.
func detectAfterComment(src *source) (name, why string, err error) {
	r := newEDN(src.text)
	if r.skip(0) != nil {
		return "jepsen-edn", "an EDN comment", nil
	}
	rest := src.text[r.at:]
	switch {
	case rest == "":
		return "jepsen-edn", "nothing but EDN comments", nil
	case strings.HasPrefix(src.text, headerMark):
		return "jepsen-edn", "Pinyon's own header in a comment", nil
	case rest[0] == '{':
		return src.only(kvMap(rest))
	case rest[0] == '#':
		return "jepsen-edn", "a stream of EDN maps after a comment", nil
	case rest[0] == '[' || rest[0] == '(':
		return "knossos", fmt.Sprintf("EDN that opens with %q after a comment", rest[0]), nil
	}
	return "", "", nil
}

// detectHash tells the comments of the logs of objects from EDN's tags.
func detectHash(text string) (name, why string) {
	for rest := text; strings.HasPrefix(rest, "#"); {
		line, more, _ := strings.Cut(rest, "\n")
		if strings.HasPrefix(strings.TrimSpace(line[1:]), "@object") {
			return "violin", "a comment # @object"
		}
		if rest = afterSpace(more, 0); violinLine(rest) {
			return "violin", "a line [id] call or [id] return"
		}
	}
	if object := logHeader(firstLine(text)); object != "" {
		return "object-log", "a first line # " + object
	}
	if strings.HasPrefix(text, "#_") || strings.Contains(firstLine(text), "{") {
		return "jepsen-edn", "a tagged EDN map"
	}
	return "", ""
}

// detectTable tells the tables whose columns are known.
func detectTable(src *source, text string) (name, why string, err error) {
	columns := map[string]bool{}
	for _, c := range strings.Split(strings.TrimPrefix(firstLine(text), "\uFEFF"), ",") {
		columns[strings.Trim(strings.TrimSpace(c), `"`)] = true
	}
	var fit []guess
	if columns["call_ns"] && columns["return_ns"] && columns["op"] {
		fit = append(fit, guess{"turnpike", "the columns call_ns, return_ns and op"})
	}
	if columns["ClientID"] && columns["Kind"] && columns["Action"] {
		fit = append(fit, guess{"turnpike-events", "the columns ClientID, Kind and Action"})
	}
	return src.only(fit)
}

// detectLog tells the columns of history.txt from those of a log, and etcd's
// grammar from others. The etcd logs are logs like any other, under rules of
// their own, so every operation must fit their grammar. Where only some do, and
// no other operation than theirs stands there, the file may be an etcd log with
// a mistake in it, and the user must say.
func detectLog(src *source) (name, why string, err error) {
	var t logTally
	if err := src.lines(t.line(src)); err != nil {
		return "", "", err
	}
	etcd := guess{"etcd-log", "operations read, write and cas behind " + strings.TrimSpace(etcdPrefix)}
	log := guess{"jepsen-log", "columns process, type, f, value behind a logger's prefix"}
	switch {
	case t.ops == 0 && t.logged:
		return "jepsen-log", "a Jepsen log without operations", nil
	case t.ops == 0:
		return "", "", nil
	case t.fit == t.ops:
		return etcd.name, etcd.why + " (a log of another store in this grammar needs --format jepsen-log)", nil
	case t.bare == t.ops:
		return "jepsen-txt", "columns process, type, f, value", nil
	case t.fit > 0 && t.alike == t.ops:
		etcd.why = fmt.Sprintf("the grammar of %d of %d operations; the first that is not: %v", t.fit, t.ops, t.misfit)
		return src.only([]guess{etcd, log})
	}
	return log.name, log.why, nil
}

// logTally counts the operations of a log.
type logTally struct {
	ops, bare int   // in all; without a prefix
	fit       int   // in the grammar of the etcd logs
	alike     int   // with their prefix, and of their names or of another process than a client
	misfit    error // why the first of those does not fit
	logged    bool  // some line is Jepsen's
}

func (t *logTally) line(src *source) func(string, int32, int) error {
	return func(text string, line int32, _ int) error {
		t.logged = t.logged || strings.Contains(text, "jepsen.")
		l := cutLog(text)
		if !l.isOp() || !l.complete {
			return nil
		}
		t.ops++
		if strings.TrimSpace(l.prefix) == "" {
			t.bare++
		}
		if l.prefix != etcdPrefix || t.alike < t.ops-1 {
			return nil // one that is of another log decides
		}
		ev, err := l.event(src, line)
		if err == nil {
			err = checkEtcd(src, &ev, &l)
		}
		client := isDigit(l.process[0])
		if !client || l.f == ":read" || l.f == ":write" || l.f == ":cas" {
			t.alike++
		}
		if err == nil {
			t.fit++
		} else if t.misfit == nil {
			t.misfit = err
		}
		return nil
	}
}
