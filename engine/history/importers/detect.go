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
		name, why = detectAfterComment(src)
	case '#':
		name, why = detectHash(text)
	}
	if name == "" && err == nil {
		name, why = detectTable(text)
	}
	if name == "" && err == nil {
		name, why = detectLog(src)
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
		if kvMap(text) {
			return "porcupine-kv", "EDN maps with :key and get, put or append", nil
		}
		return "jepsen-edn", "a stream of EDN maps", nil
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
	switch {
	case has["pinyon"], has["process"] && has["invoke"], has["note"]:
		return "native", "JSON Lines with Pinyon's fields", nil
	case has["kind"] && has["invoke_ns"]:
		return "splitbrain", `JSON lines with "kind" and "invoke_ns"`, nil
	case has["action"] && (has["proc"] || has["data"]):
		return "chaos", `JSON lines with "action"`, nil
	case has["event"] && has["client_id"]:
		return "s2", `JSON lines with "event" and "client_id"`, nil
	case (has["ClientId"] || has["ClientID"]) && has["Input"]:
		return "etcd-report", `JSON objects with "ClientId" and "Input"`, nil
	case has["type"]:
		return "elle-json", `JSON lines with "type"`, nil
	case chaosAfterState(r):
		return "chaos", `JSON lines with "action" after a state`, nil
	}
	return "", "", nil
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

// kvMap reports whether the first EDN map is one of Porcupine's key-value logs.
func kvMap(text string) bool {
	r := newEDN(text)
	es, err := r.entries()
	if err != nil {
		return false
	}
	key, f := false, ""
	for _, e := range es {
		switch e.key {
		case "key":
			key = e.value.Kind() == history.KindString
		case "f":
			f = fName(e.value)
		case "time", "index":
			return false // Jepsen's own, where :key is one extra field among others
		}
	}
	return key && (f == "get" || f == "put" || f == "append")
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

func violinLine(text string) bool {
	line := firstLine(text)
	return strings.Contains(line, "] call ") || strings.Contains(line, "] return")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// detectAfterComment looks behind the comments that open an EDN file.
func detectAfterComment(src *source) (name, why string) {
	r := newEDN(src.text)
	if r.skip(0) != nil {
		return "jepsen-edn", "an EDN comment"
	}
	rest := src.text[r.at:]
	switch {
	case rest == "":
		return "jepsen-edn", "nothing but EDN comments"
	case rest[0] == '{' && kvMap(rest):
		return "porcupine-kv", "EDN maps with :key and get, put or append"
	case rest[0] == '{' || rest[0] == '#':
		return "jepsen-edn", "a stream of EDN maps after a comment"
	case rest[0] == '[' || rest[0] == '(':
		return "knossos", fmt.Sprintf("EDN that opens with %q after a comment", rest[0])
	}
	return "", ""
}

// detectHash tells the comments of the logs of objects from EDN's tags.
func detectHash(text string) (name, why string) {
	if object := logHeader(firstLine(text)); object != "" {
		return "object-log", "a first line # " + object
	}
	for rest := text; strings.HasPrefix(rest, "#"); {
		line, more, _ := strings.Cut(rest, "\n")
		if strings.HasPrefix(strings.TrimSpace(line[1:]), "@object") {
			return "violin", "a comment # @object"
		}
		if rest = afterSpace(more, 0); violinLine(rest) {
			return "violin", "a line [id] call or [id] return"
		}
	}
	if strings.HasPrefix(text, "#_") || strings.Contains(firstLine(text), "{") {
		return "jepsen-edn", "a tagged EDN map"
	}
	return "", ""
}

// detectTable tells the tables whose columns are known.
func detectTable(text string) (name, why string) {
	columns := map[string]bool{}
	for _, c := range strings.Split(strings.TrimPrefix(firstLine(text), "\uFEFF"), ",") {
		columns[strings.Trim(strings.TrimSpace(c), `"`)] = true
	}
	switch {
	case columns["call_ns"] && columns["return_ns"] && columns["op"]:
		return "turnpike", "the columns call_ns, return_ns and op"
	case columns["ClientID"] && columns["Kind"] && columns["Action"]:
		return "turnpike-events", "the columns ClientID, Kind and Action"
	}
	return "", ""
}

// detectLog tells the columns of history.txt from those of a log, and etcd's
// grammar from others, by all operations: one that does not fit it decides.
func detectLog(src *source) (name, why string) {
	ops, bare, etcd, logged := 0, 0, true, false
	_ = src.lines(func(text string, line int32, _ int) error {
		logged = logged || strings.Contains(text, "jepsen.")
		l := cutLog(text)
		if !l.isOp() || !l.complete {
			return nil
		}
		ops++
		if strings.TrimSpace(l.prefix) == "" {
			bare++
		}
		if etcd = etcd && bare == 0; etcd {
			ev, err := l.event(src, line)
			etcd = err == nil && checkEtcd(src, &ev, &l) == nil
		}
		return nil
	})
	switch {
	case ops == 0 && logged:
		return "jepsen-log", "a Jepsen log without operations"
	case ops == 0:
		return "", ""
	case etcd:
		return "etcd-log", "operations read, write and cas behind " + strings.TrimSpace(etcdPrefix)
	case bare == ops:
		return "jepsen-txt", "columns process, type, f, value"
	}
	return "jepsen-log", "columns process, type, f, value behind a logger's prefix"
}
