package models

import (
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// VersionedIn is an input of versioned-kv: what is done to one key. PutVersion
// and GetVersion make one.
type VersionedIn struct {
	F              string
	Value, Version history.Value // of put
}

// Versioned is the state of one key, and the output of get: the value and its
// version; absent is the zero Versioned. The output of put has Answer alone.
type Versioned struct{ Value, Version, Answer history.Value }

// PutVersion stores v if the key has the given version, from 0, which means
// that it is absent. The key then has the next version.
func PutVersion(v, version history.Value) VersionedIn { return VersionedIn{"put", v, version} }

// GetVersion asks for the value and its version.
func GetVersion() VersionedIn { return VersionedIn{F: "get"} }

// The answers of a put that stored nothing.
var (
	versionError = history.String("version-error")
	noKey        = history.String("no-key")
)

// PutDone is the output of a put that stored; the key then has that version.
func PutDone(version history.Value) Versioned { return Versioned{Answer: version} }

// PutRefused is the output of a put that found another version.
func PutRefused() Versioned { return Versioned{Answer: versionError} }

// PutNoKey is the output of a put of a version above 0 that found no key.
func PutNoKey() Versioned { return Versioned{Answer: noKey} }

// VersionedKV is one key of a store whose puts name the version that they
// replace. A put that answered "maybe" was carried out and may have found
// either, so its output is not known. initial is an object or map of [value,
// version] by key.
func VersionedKV(initial history.Value) spec.Model[Versioned, VersionedIn, Versioned] {
	members, _ := initial.Members()
	return spec.Model[Versioned, VersionedIn, Versioned]{
		Name: "versioned-kv",
		InitFor: func(key string) Versioned {
			s, _ := versionedPair(initialUnder(members, history.ParseLabel(key)))
			return s
		},
		Step: versionedStep,
		ReadOnly: func(in VersionedIn, out *Versioned) bool {
			return in.F == "get" || out != nil && (out.Answer == versionError || out.Answer == noKey)
		},
		Text: versionedText,
		Describe: func(s Versioned) string {
			if s == (Versioned{}) {
				return "absent"
			}
			return s.Value.Label() + " at version " + s.Version.Label()
		},
	}
}

func versionedStep(s Versioned, in VersionedIn, out *Versioned) (next Versioned, ok bool) {
	now := history.Int(0)
	if s != (Versioned{}) {
		now = s.Version
	}
	switch {
	case in.F == "get":
		return s, out == nil || *out == s
	case in.F != "put":
		panic(noSuch("versioned-kv", in.F))
	case now == in.Version:
		version, ok := sum(now, history.Int(1))
		return Versioned{Value: in.Value, Version: version}, ok && (out == nil || out.Answer == version)
	case out == nil || out.Answer == versionError:
		return s, true
	}
	// The version differs, so it is above 0 where there is no key.
	return s, out.Answer == noKey && s == (Versioned{})
}

func versionedText(in VersionedIn, out *Versioned) string {
	switch {
	case in.F == "put" && out == nil:
		return "put " + in.Value.Label() + " over version " + in.Version.Label() + " (no answer)"
	case in.F == "put":
		return "put " + in.Value.Label() + " over version " + in.Version.Label() + " = " + out.Answer.Label()
	case out == nil:
		return "get (no answer)"
	case *out == Versioned{}:
		return "get = absent"
	}
	return "get = " + out.Value.Label() + " at version " + out.Version.Label()
}

// isCount reports whether v is an integer from least, of any size.
func isCount(v history.Value, least int64) bool {
	return isInt(v) && compareNumbers(v, history.Int(least)) >= 0
}

const versionedWant = `[value, version] with a version from 1, or null or "no-key" where there is no key`

// versionedPair decodes [value, version], or absence.
func versionedPair(v history.Value) (s Versioned, want string) {
	if v == history.Null || isAnswer(v, "no-key", "ErrNoKey") {
		return s, ""
	}
	pair, _ := v.Elems()
	if v.Kind() == history.KindObject && v.Get("version") != history.Absent {
		pair = []history.Value{v.Get("value"), v.Get("version")}
	} else if v.Kind() != history.KindArray {
		pair = nil
	}
	if len(pair) != 2 || !isCount(pair[1], 1) {
		return s, versionedWant
	}
	return Versioned{Value: pair[0], Version: pair[1]}, ""
}

// isAnswer reports whether v is one of the words, as a string or keyword.
func isAnswer(v history.Value, words ...string) bool {
	s, ok := v.Str()
	for _, w := range words {
		if ok && s == w {
			return true
		}
	}
	return false
}

// putVersionOutput: a put that is acknowledged without a version has stored.
func putVersionOutput(r recorded) (out Versioned, known bool, want string) {
	pair, _ := r.in.Elems()
	switch {
	case isAnswer(r.out, "maybe", "ErrMaybe"):
		return out, false, ""
	case isAnswer(r.out, "version-error", "ErrVersion") || r.out == history.False:
		return PutRefused(), true, ""
	case isAnswer(r.out, "no-key", "ErrNoKey"):
		return PutNoKey(), true, ""
	case isInt(r.out):
		return PutDone(r.out), true, ""
	}
	if _, _, want = noOutput[Versioned](r); want != "" {
		return out, false, `the new version, "ok", "version-error", "no-key" or "maybe"`
	}
	version, _ := sum(pair[1], history.Int(1))
	return PutDone(version), true, ""
}

func versionedKVEntry() Entry {
	return entry(Entry{
		Name:    "versioned-kv",
		Doc:     "A key-value store whose puts name the version that they replace, 0 for a key that is absent; each key is an object of its own.",
		Initial: "an object of [value, version] by key; {}",
		Keyed:   true,
	}, []operation[VersionedIn, Versioned]{{
		OpDoc: OpDoc{F: "put", Aliases: []string{"write"}, In: "[value, version]", Out: `the new version or "ok"; "version-error" (also ErrVersion, false), "no-key" (ErrNoKey), or "maybe" (ErrMaybe)`},
		in: func(v history.Value) (in VersionedIn, want string) {
			pair, _ := v.Elems()
			if v.Kind() != history.KindArray || len(pair) != 2 || !isCount(pair[1], 0) {
				return in, "[value, version] with a version from 0"
			}
			return PutVersion(pair[0], pair[1]), ""
		}, out: putVersionOutput,
	}, {
		OpDoc: OpDoc{F: "get", Aliases: []string{"read"}, Out: `[value, version], also {"value": v, "version": n}; null or "no-key" (ErrNoKey) where there is no key`},
		in:    noInput(GetVersion()), out: func(r recorded) (out Versioned, known bool, want string) {
			out, want = versionedPair(r.out)
			return out, want == "", want
		},
	}}, func(initial history.Value) (m spec.Model[Versioned, VersionedIn, Versioned], err error) {
		ms, ok := initial.Members()
		if !ok && initial != history.Absent && initial != history.Null {
			return m, fmt.Errorf("want an object of [value, version] by key, got %s", got(initial))
		}
		for _, one := range ms {
			if _, want := versionedPair(one.Value); want != "" {
				return m, fmt.Errorf("want %s under %s, got %s", want, one.Key.Label(), got(one.Value))
			}
		}
		return VersionedKV(initial), nil
	})
}
