package models

import (
	"math"
	"strconv"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// LogIn is an input of log; LogAppend, LogGet, LogRead and LogTrim make one.
type LogIn struct {
	F     string
	Elem  history.Value // of append
	Index int64         // of the others, from 0
}

// LogOut is an output of log: Value of append (the index) and get (the entry,
// or null), List of read.
type LogOut struct {
	Value history.Value
	List  List[history.Value]
}

// LogAppend adds v at the end; its answer is the index that v got.
func LogAppend(v history.Value) LogIn { return LogIn{F: "append", Elem: v} }

// LogGet asks for the entry at index: null beyond the end and where the log
// was trimmed.
func LogGet(index int64) LogIn { return LogIn{F: "get", Index: index} }

// LogRead asks for the entries from index on to the end; trimmed entries are
// left out.
func LogRead(from int64) LogIn { return LogIn{F: "read", Index: from} }

// LogTrim forgets the entries below index that are there; positions do not
// change.
func LogTrim(index int64) LogIn { return LogIn{F: "trim", Index: index} }

// LogState is a log: what was not trimmed, and the position of the first.
type LogState struct {
	entries Run
	first   int64
}

// Log is a list of entries that grows at its end, with positions from 0, and
// starts with the given entries.
func Log(initial ...history.Value) spec.Model[LogState, LogIn, LogOut] {
	first := LogState{entries: RunOf(initial...)}
	return spec.Model[LogState, LogIn, LogOut]{
		Name:      "log",
		Init:      func() LogState { return first },
		Step:      logStep,
		Container: containerOf(spec.ByIndex, len(initial), logAccess),
		States: func() spec.States[LogState] {
			return newByHash(
				func(s LogState) uint64 { return s.entries.hash()*base + uint64(s.first) },
				func(a, b LogState) bool { return a.first == b.first && sameRun(a.entries, b.entries) })
		},
		ReadOnly: func(in LogIn, _ *LogOut) bool {
			return in.F == "get" || in.F == "read" || in.F == "trim" && in.Index <= 0
		},
		Text: logText,
		Describe: func(s LogState) string {
			text := listed("[", s.entries.n, s.entries.words(), " ", "]")
			if s.first > 0 {
				text += " from " + strconv.FormatInt(s.first, 10)
			}
			return text
		},
	}
}

// end is the position that the next entry gets.
func (s LogState) end() int64 { return s.first + int64(s.entries.n) }

// trim returns s without the entries below index.
func (s LogState) trim(index int64) LogState {
	index = min(max(index, s.first), s.end())
	return LogState{s.entries.drop(int(index - s.first)), index}
}

func (s LogState) get(index int64) history.Value {
	if index < s.first || index >= s.end() {
		return history.Null
	}
	return s.entries.At(int(index - s.first))
}

func logStep(s LogState, in LogIn, out *LogOut) (next LogState, ok bool) {
	switch in.F {
	case "append":
		ok = out == nil || out.Value == history.Int(s.end())
		return LogState{s.entries.push(in.Elem), s.first}, ok
	case "get":
		return s, out == nil || out.Value == s.get(in.Index)
	case "read":
		if out == nil {
			return s, true
		}
		tail := s.trim(in.Index).entries
		return s, sameRun(tail, Run{out.List, out.List.Len()})
	case "trim":
		return s.trim(in.Index), true
	}
	panic(noSuch("log", in.F))
}

// logAccess knows nothing of trims that forget something: a log with one is
// left to the search.
func logAccess(in LogIn, out *LogOut) spec.Access {
	at := spec.Access{Kind: spec.AccessNothing, Index: max(0, in.Index)}
	switch {
	case in.F == "append":
		at = spec.Access{Kind: spec.AccessAdd, Value: in.Elem, Index: -1}
		if out != nil {
			i, ok := out.Value.Int64()
			if at.Index = i; !ok || i < 0 {
				at.Kind = spec.AccessOther // no answer that an append gives
			}
		}
		if in.Elem == history.Null {
			at.Kind = spec.AccessOther // a get of it looks like one beyond the end
		}
	case in.F == "trim" && in.Index > 0:
		at.Kind = spec.AccessOther
	case in.F == "trim" || out == nil:
	case in.F == "read":
		at.Kind = spec.AccessList
		for _, v := range out.List.Slice() {
			at.List = append(at.List, v)
		}
	case in.F == "get" && in.Index < 0:
		at.Kind = spec.AccessOther
	case in.F == "get" && out.Value == history.Null:
		at.Kind = spec.AccessEmpty
	case in.F == "get":
		at.Kind, at.Value = spec.AccessPeek, out.Value
	}
	return at
}

func logText(in LogIn, out *LogOut) string {
	at := strconv.FormatInt(in.Index, 10)
	switch {
	case in.F == "append" && out == nil:
		return "append " + in.Elem.Label() // many logs do not answer
	case in.F == "append":
		return "append " + in.Elem.Label() + " = " + out.Value.Label()
	case in.F == "get" && out != nil:
		return answered("get "+at, &out.Value, "null")
	case in.F == "trim":
		return "trim " + at
	case out == nil:
		return answered(in.F+" "+at, nil, "")
	}
	return "read " + at + " = " + listed("[", out.List.Len(), Run{out.List, out.List.Len()}.words(), " ", "]")
}

// indexInput is for operations with a position.
func indexInput(make func(index int64) LogIn) func(history.Value) (LogIn, string) {
	return func(v history.Value) (in LogIn, want string) {
		i, ok := v.Int64()
		if !ok || i < 0 || i == math.MaxInt64 {
			return in, "a position from 0"
		}
		return make(i), ""
	}
}

func appendOutput(r recorded) (out LogOut, known bool, want string) {
	_, isInt := r.out.Int64()
	_, _, other := noOutput[struct{}](r)
	switch {
	case r.repeats() || !isInt && other == "":
		return out, false, ""
	case !isInt:
		return out, false, "the entry's position, or nothing"
	}
	return LogOut{Value: r.out}, true, ""
}

func entryOutput(r recorded) (out LogOut, known bool, want string) {
	out.Value, known, want = anyOutput(r)
	return out, known, want
}

func entriesOutput(r recorded) (out LogOut, known bool, want string) {
	elems, _ := r.out.Elems()
	if r.out.Kind() != history.KindArray {
		return out, false, "an array of the entries"
	}
	return LogOut{List: ListOf(elems...)}, true, ""
}

func logEntry() Entry {
	ops := []operation[LogIn, LogOut]{{
		OpDoc: OpDoc{F: "append", In: "an entry", Out: "its position; optional"},
		in:    anyInput(LogAppend), out: appendOutput,
	}, {
		OpDoc: OpDoc{F: "get", In: "a position", Out: "the entry, or null beyond the end and below a trim"},
		in:    indexInput(LogGet), out: entryOutput,
	}, {
		OpDoc: OpDoc{F: "read", In: "a position", Out: "the entries from there on, trimmed ones left out"},
		in:    indexInput(LogRead), out: entriesOutput,
	}, {
		OpDoc: OpDoc{F: "trim", In: "a position; entries below it are forgotten"},
		in:    indexInput(LogTrim), out: noOutput[LogOut],
	}}
	return entry(Entry{
		Name:    "log",
		Doc:     "A list that grows at its end, with positions from 0.",
		Initial: "an array of entries; []",
	}, ops, func(initial history.Value) (m spec.Model[LogState, LogIn, LogOut], err error) {
		elems, err := elementsOf(initial)
		return Log(elems...), err
	})
}
