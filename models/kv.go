package models

import (
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// KVIn is an input of kv: what is done to one key. Put, Get, Append, Delete,
// CasKey and AddKey make one.
type KVIn struct {
	F         string
	Value, To history.Value
}

// Put stores v under the key; storing null deletes it.
func Put(v history.Value) KVIn { return KVIn{F: "put", Value: v} }

// Get asks for the value under the key: null when it is absent.
func Get() KVIn { return KVIn{F: "get"} }

// Append appends s to the string under the key; an absent key counts as "".
func Append(s string) KVIn { return KVIn{F: "append", Value: history.String(s)} }

// Delete makes the key absent.
func Delete() KVIn { return KVIn{F: "delete"} }

// CasKey replaces the value from by to, if from is what the key holds. A from
// of null means that the key is absent; a to of null deletes it.
func CasKey(from, to history.Value) KVIn { return KVIn{F: "cas", Value: from, To: to} }

// AddKey adds n to the integer under the key and returns the sum; an absent
// key counts as 0.
func AddKey(n int64) KVIn { return KVIn{F: "add", Value: history.Int(n)} }

// KV is one key of a key-value store; the key is a column of the history. The
// output of get is the value, of cas history.True or history.False, of add the
// sum, of the others history.Absent.
//
// initial is an object or map of values by key, or a value that every absent
// key reads as: then a key that holds this value and an absent key are one and
// the same. An absent initial value is null. An append to what is no string,
// and an add to what is no integer, is impossible.
func KV(initial history.Value) spec.Model[history.Value, KVIn, history.Value] {
	members, byKey := initial.Members()
	gone := initial // what an absent key reads as
	if byKey || initial == history.Absent {
		gone = history.Null
	}
	return spec.Model[history.Value, KVIn, history.Value]{
		Name: "kv",
		InitFor: func(key string) history.Value {
			return kvHeld(initialUnder(members, history.ParseLabel(key)), gone)
		},
		Apply: func(s history.Value, in KVIn) (history.Value, history.Value, bool) { return kvApply(s, in, gone) },
		ReadOnly: func(in KVIn, out *history.Value) bool {
			return kvReadOnly(in, out, gone)
		},
		Holds:   func(s history.Value) any { return s },
		Demands: func(in KVIn, out *history.Value) (any, bool) { return kvDemands(in, out, gone) },
		Writes:  func(in KVIn, out *history.Value) (any, bool) { return kvWrites(in, out, gone) },
		Avoids: func(in KVIn, out *history.Value) (any, bool) {
			return kvHeld(in.Value, gone), in.F == "cas" && out != nil && *out == history.False
		},
		Grows:    func(in KVIn) bool { return in.F == "get" || in.F == "append" },
		Extends:  kvExtends,
		Text:     kvText,
		Describe: func(s history.Value) string { return orNull(s, "absent") },
	}
}

// kvHeld maps every way to say "absent" to what an absent key reads as.
func kvHeld(v, gone history.Value) history.Value {
	if v == history.Null {
		return gone
	}
	return v
}

func kvApply(s history.Value, in KVIn, gone history.Value) (next, out history.Value, ok bool) {
	switch in.F {
	case "put":
		return kvHeld(in.Value, gone), history.Absent, true
	case "get":
		return s, s, true
	case "delete":
		return gone, history.Absent, true
	case "cas":
		if s == kvHeld(in.Value, gone) {
			return kvHeld(in.To, gone), history.True, true
		}
		return s, history.False, true
	case "append":
		if s == history.Null {
			return in.Value, history.Absent, true
		}
		head, _ := s.Str()
		tail, _ := in.Value.Str()
		return history.String(head + tail), history.Absent, s.Kind() == history.KindString
	case "add":
		if s == history.Null {
			return in.Value, in.Value, true
		}
		n, ok := sum(s, in.Value)
		return n, n, ok
	}
	panic(noSuch("kv", in.F))
}

func kvReadOnly(in KVIn, out *history.Value, gone history.Value) bool {
	switch in.F {
	case "get":
		return true
	case "cas":
		return kvHeld(in.Value, gone) == kvHeld(in.To, gone) || out != nil && *out == history.False
	case "append":
		// Only an absent key without a value of its own becomes "".
		return in.Value == history.String("") && gone != history.Null
	case "add":
		// Likewise it becomes 0, and adding 0 says 0 only where there was none or 0.
		zero := history.Int(0)
		return in.Value == zero && (gone != history.Null || out != nil && *out != zero)
	}
	return false
}

// kvDemands is what the key must hold; an append or add takes what it finds.
func kvDemands(in KVIn, out *history.Value, gone history.Value) (any, bool) {
	switch {
	case in.F == "get" && out != nil:
		return *out, true
	case in.F == "cas" && (out == nil || *out == history.True):
		return kvHeld(in.Value, gone), true
	}
	return nil, false
}

// kvWrites is what the key holds afterwards. An append does not know, and an
// add takes either an absent key or 0, so that it names no demand.
func kvWrites(in KVIn, out *history.Value, gone history.Value) (any, bool) {
	switch {
	case in.F == "put":
		return kvHeld(in.Value, gone), true
	case in.F == "delete":
		return gone, true
	case in.F == "cas" && (out == nil || *out == history.True):
		return kvHeld(in.To, gone), true
	}
	return nil, false
}

// kvExtends reports whether appends may lead from what a key holds to what. An
// absent key becomes any text.
func kvExtends(held, what any) bool {
	from, to := held.(history.Value), what.(history.Value)
	if from == to || from == history.Null {
		return true
	}
	head, _ := from.Str()
	text, _ := to.Str()
	return from.Kind() == history.KindString && to.Kind() == history.KindString && strings.HasPrefix(text, head)
}

func kvText(in KVIn, out *history.Value) string {
	switch in.F {
	case "get":
		return answered("get", out, "absent")
	case "delete":
		return "delete"
	case "cas":
		return answered("cas "+orNull(in.Value, "absent")+" to "+orNull(in.To, "absent"), out, "null")
	case "add":
		return answered("add "+in.Value.Label(), out, "null")
	}
	return in.F + " " + in.Value.Label()
}

// initialUnder finds a key among the members of an initial value, null when it
// is not there; the very key wins over one that only means it.
func initialUnder(members []history.Member, key history.Value) history.Value {
	found := history.Null
	for _, m := range members {
		if m.Key == key {
			return m.Value
		}
		if means(m.Key, key) {
			found = m.Value
		}
	}
	return found
}

// means reports whether name, written in an initial value, means the key. A
// JSON object can only name keys by strings, so there "x" also means the
// keyword :x, and "7" the integer.
func means(name, key history.Value) bool {
	if name == key {
		return true
	}
	word, ok := name.Str()
	if !ok || name.Kind() != history.KindString {
		return false
	}
	if key.Kind() == history.KindKeyword {
		k, _ := key.Str()
		return k == word
	}
	return isInt(key) && key.Text() == word
}

func appendInput(v history.Value) (in KVIn, want string) {
	s, _ := v.Str()
	if v.Kind() != history.KindString {
		return in, "a string"
	}
	return Append(s), ""
}

func kvOps() []operation[KVIn, history.Value] {
	return []operation[KVIn, history.Value]{{
		OpDoc: OpDoc{F: "put", Aliases: []string{"write"}, In: "the value; null deletes the key"},
		in:    anyInput(Put), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "get", Aliases: []string{"read"}, Out: "the value, or null when absent"},
		in:    noInput(Get()), out: anyOutput, nilRead: true,
	}, {
		OpDoc: OpDoc{F: "append", In: "a string, appended to the key's (an absent key counts as empty)"},
		in:    appendInput, out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "delete"},
		in:    noInput(Delete()), out: noOutput[history.Value],
	}, {
		OpDoc: OpDoc{F: "cas", Aliases: []string{"compare-and-set"}, In: "[from, to]; from null means absent", Out: casDoc},
		in:    pairInput(CasKey), out: casOutput,
	}, {
		OpDoc: OpDoc{F: "add", In: "an integer", Out: "the sum; an absent key counts as 0"},
		in:    intInput(func(n history.Value) KVIn { return KVIn{F: "add", Value: n} }), out: intOutput,
	}}
}

func kvEntry() Entry {
	return entry(Entry{
		Name:    "kv",
		Doc:     "A key-value store; each key is an object of its own.",
		Initial: "an object of values by key, or one value that every absent key reads as; {}",
		Keyed:   true,
	}, kvOps(), func(initial history.Value) (spec.Model[history.Value, KVIn, history.Value], error) {
		return KV(initial), nil
	})
}
