package models

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// S2In is an input of s2: a request to one stream. S2Append, S2Read and
// S2CheckTail make one.
type S2In struct {
	F      string
	Hashes string        // of append: the hashes of the records' bodies, eight bytes each, little-endian
	Match  int64         // of append: the tail that the stream must have; -1: any
	Fence  history.Value // of append: the token that the stream must have; Absent: any
	Set    history.Value // of append: the token that the stream has afterwards; Absent: the same
}

// S2Out is an output of s2: the tail after the request and, of a read, the hash
// of all records from the first on; without HasHash that is not known.
type S2Out struct {
	Tail    int64
	Hash    uint64
	HasHash bool
}

// S2Stream is the state of a stream: the number of its records, the hash of all
// of them, and its fencing token, Absent where it has none.
type S2Stream struct {
	Tail  int64
	Hash  uint64
	Token history.Value
}

// S2Append adds records with these hashes of their bodies, under no condition
// (see the fields of S2In for those).
func S2Append(hashes ...uint64) S2In {
	var packed []byte
	for _, h := range hashes {
		packed = binary.LittleEndian.AppendUint64(packed, h)
	}
	return S2In{F: "append", Hashes: string(packed), Match: -1}
}

// records is how many records an append adds.
func (in S2In) records() int64 { return int64(len(in.Hashes) / 8) }

// S2Read reads the stream from its first record to its tail.
func S2Read() S2In { return S2In{F: "read"} }

// S2CheckTail asks where the stream ends.
func S2CheckTail() S2In { return S2In{F: "check-tail"} }

// S2 is one stream of S2, as its verification specifies it (the repository
// s2-streamstore/s2-verification): a sequence of records from position 0. An
// append adds its records as one step and returns the new tail, if the stream
// has the tail and the fencing token that it names. A read returns the hash of
// everything, which S2Chain builds record by record, so that the state stays
// small and yet stands for all that was written.
func S2(initial S2Stream) spec.Model[S2Stream, S2In, S2Out] {
	return spec.Model[S2Stream, S2In, S2Out]{
		Name: "s2",
		Init: func() S2Stream { return initial },
		Step: s2Step,
		ReadOnly: func(in S2In, _ *S2Out) bool {
			return in.F != "append" || in.Hashes == "" && (in.Set == history.Absent || in.Set == in.Fence)
		},
		Text: s2Text,
		Describe: func(s S2Stream) string {
			text := fmt.Sprintf("tail %d, hash %d", s.Tail, s.Hash)
			if s.Token != history.Absent {
				text += ", token " + s.Token.Label()
			}
			return text
		},
	}
}

func s2Step(s S2Stream, in S2In, out *S2Out) (next S2Stream, ok bool) {
	switch in.F {
	case "read", "check-tail":
		return s, out == nil || out.Tail == s.Tail && (!out.HasHash || out.Hash == s.Hash)
	case "append":
		switch n := in.records(); {
		case in.Match >= 0 && in.Match != s.Tail, in.Fence != history.Absent && in.Fence != s.Token, n > math.MaxInt64-s.Tail:
			return s, false
		default:
			next = S2Stream{Tail: s.Tail + n, Hash: s.Hash, Token: s.Token}
		}
		if in.Set != history.Absent {
			next.Token = in.Set
		}
		if out != nil && out.Tail != next.Tail {
			return s, false
		}
		for packed := []byte(in.Hashes); len(packed) > 0; packed = packed[8:] {
			next.Hash = S2Chain(next.Hash, binary.LittleEndian.Uint64(packed))
		}
		return next, true
	}
	panic(noSuch("s2", in.F))
}

// S2Chain is the hash of a stream after one more record, from the hash before
// it (0 of an empty stream) and the hash of the record's body: XXH3, 64 bits,
// of the eight bytes of the latter, little-endian, seeded with the former
// (Collet, the XXH3 specification, inputs of 4 to 8 bytes).
func S2Chain(stream, record uint64) uint64 {
	const (
		flip  = 0x1cad21f72c81017c ^ 0xdb979083e96dd4de // bytes 8 to 23 of the default secret
		prime = 0x9fb21c651e98df25
		size  = 8
	)
	seed := stream ^ uint64(bits.ReverseBytes32(uint32(stream)))<<32
	h := bits.RotateLeft64(record, 32) ^ (flip - seed)
	h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
	h *= prime
	h ^= h>>35 + size
	h *= prime
	return h ^ h>>28
}

func s2Text(in S2In, out *S2Out) string {
	text := in.F
	if in.F == "append" {
		text += fmt.Sprintf(" %d records", in.records())
		if in.Match >= 0 {
			text += fmt.Sprintf(" at %d", in.Match)
		}
		if in.Fence != history.Absent {
			text += " under token " + in.Fence.Label()
		}
		if in.Set != history.Absent {
			text += " setting token " + in.Set.Label()
		}
	}
	switch {
	case out == nil:
		return text + " (no answer)"
	case out.HasHash:
		return fmt.Sprintf("%s = tail %d, hash %d", text, out.Tail, out.Hash)
	}
	return fmt.Sprintf("%s = tail %d", text, out.Tail)
}

// uint64Of returns the integer from 0 below 2^64 that v holds.
func uint64Of(v history.Value) (uint64, bool) {
	if !isInt(v) || strings.HasPrefix(v.Text(), "-") {
		return 0, false
	}
	n, err := strconv.ParseUint(v.Text(), 10, 64)
	return n, err == nil
}

// positionOf returns the position from 0 that v holds.
func positionOf(v history.Value) (int64, bool) {
	n, ok := v.Int64()
	return n, ok && n >= 0
}

// s2Members returns the members of an object by name, those that are null left
// out; ok is false for what is no object, or has a member of another name.
func s2Members(v history.Value, names ...string) (members map[string]history.Value, ok bool) {
	list, ok := v.Members()
	members = map[string]history.Value{}
	for _, m := range list {
		name, _ := m.Key.Str()
		known := false
		for _, n := range names {
			known = known || n == name
		}
		ok = ok && known
		if m.Value != history.Null {
			members[name] = m.Value
		}
	}
	return members, ok
}

const s2AppendWant = "{num_records, record_hashes, match_seq_num, fencing_token, set_fencing_token} with one hash from 0 below 2^64 for each record, " +
	"and tokens that are strings and not empty"

func s2AppendInput(v history.Value) (in S2In, want string) {
	m, ok := s2Members(v, "num_records", "record_hashes", "match_seq_num", "fencing_token", "set_fencing_token")
	hashes, isList := m["record_hashes"].Elems()
	n, isCount := positionOf(m["num_records"])
	none := m["record_hashes"] == history.Absent && n == 0
	if !ok || !isCount || !none && (!isList || m["record_hashes"].Kind() != history.KindArray || int64(len(hashes)) != n) {
		return in, s2AppendWant
	}
	numbers := make([]uint64, len(hashes))
	for i, h := range hashes {
		if numbers[i], ok = uint64Of(h); !ok {
			return in, s2AppendWant
		}
	}
	in = S2Append(numbers...)
	if match := m["match_seq_num"]; match != history.Absent {
		if in.Match, ok = positionOf(match); !ok {
			return in, s2AppendWant
		}
	}
	in.Fence, in.Set = m["fencing_token"], m["set_fencing_token"]
	for _, token := range [...]history.Value{in.Fence, in.Set} {
		// S2 has no word for a stream without a token, and "" might be one.
		if s, _ := token.Str(); token != history.Absent && (token.Kind() != history.KindString || s == "") {
			return in, s2AppendWant
		}
	}
	return in, ""
}

// s2Output decodes {tail} and, where hashed, stream_hash.
func s2Output(hashed bool) func(recorded) (S2Out, bool, string) {
	return func(r recorded) (out S2Out, known bool, want string) {
		want, names := "{tail} with a position", []string{"tail"}
		if hashed {
			want, names = "{tail, stream_hash} with a position and a hash from 0 below 2^64", []string{"tail", "stream_hash"}
		}
		m, ok := s2Members(r.out, names...)
		tail, isTail := positionOf(m["tail"])
		hash, isHash := uint64Of(m["stream_hash"])
		if !ok || !isTail || !isHash && m["stream_hash"] != history.Absent {
			return out, false, want
		}
		return S2Out{Tail: tail, Hash: hash, HasHash: isHash}, true, ""
	}
}

func s2Entry() Entry {
	const tail = "{tail}: the position behind the last record"
	return entry(Entry{
		Name:    "s2",
		Doc:     "One stream of S2: appends under conditions, reads that return a hash of everything, and checks of the tail.",
		Initial: "an object {tail, stream_hash, fencing_token}; an empty stream without a token",
	}, []operation[S2In, S2Out]{{
		OpDoc: OpDoc{F: "append", In: "{num_records, record_hashes, match_seq_num, fencing_token, set_fencing_token}; the latter three optional", Out: tail},
		in:    s2AppendInput, out: s2Output(false),
	}, {
		OpDoc: OpDoc{F: "read", Out: "{tail, stream_hash}; the hash is optional"},
		in:    noInput(S2Read()), out: s2Output(true),
	}, {
		OpDoc: OpDoc{F: "check-tail", Out: tail},
		in:    noInput(S2CheckTail()), out: s2Output(false),
	}}, func(initial history.Value) (m spec.Model[S2Stream, S2In, S2Out], err error) {
		if initial == history.Absent || initial == history.Null {
			return S2(S2Stream{}), nil
		}
		ms, ok := s2Members(initial, "tail", "stream_hash", "fencing_token")
		tail, isTail := positionOf(ms["tail"])
		hash, isHash := uint64Of(ms["stream_hash"])
		token := ms["fencing_token"]
		if name, _ := token.Str(); !ok || !isTail || !isHash || token != history.Absent && (token.Kind() != history.KindString || name == "") {
			return m, fmt.Errorf("want {tail, stream_hash, fencing_token}, the token optional, got %s", got(initial))
		}
		return S2(S2Stream{Tail: tail, Hash: hash, Token: token}), nil
	})
}
