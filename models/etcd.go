package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// EtcdIn is a request to etcd; EtcdTxn, and for what needs no comparison
// EtcdDo, EtcdRangeAt, EtcdLease, EtcdCompact and EtcdDefragment make one.
type EtcdIn struct {
	F          string
	Compare    List[EtcdCompare]
	Then, Else List[EtcdOp]  // a request without comparisons is its Then
	Revision   int64         // of range (0: the latest) and compact
	Lease      history.Value // of lease-grant and lease-revoke
}

// EtcdOp is one operation of a request: EtcdRange, EtcdPut or EtcdDelete.
type EtcdOp struct {
	F               string
	Key, End, Value history.Value
	Limit           int64
	Lease           history.Value
}

// EtcdCompare is one comparison of a transaction: Target is "mod_revision",
// "create_revision", "version" or "value", Op is "=", "!=", "<" or ">".
type EtcdCompare struct {
	Key        history.Value
	Target, Op string
	Value      history.Value
}

// EtcdRange asks for the keys from start to below end: for the one key start
// where end is "", for all from start on where it is "\x00". A limit of 0 is
// none.
func EtcdRange(start, end string, limit int64) EtcdOp {
	return EtcdOp{F: "range", Key: history.String(start), End: history.String(end), Limit: limit}
}

// EtcdPut stores a value under a key, bound to a lease unless that is Absent.
func EtcdPut(key string, value, lease history.Value) EtcdOp {
	return EtcdOp{F: "put", Key: history.String(key), Value: value, Lease: lease}
}

// EtcdDelete removes a key.
func EtcdDelete(key string) EtcdOp { return EtcdOp{F: "delete", Key: history.String(key)} }

// EtcdDo is a request that does one thing.
func EtcdDo(op EtcdOp) EtcdIn { return EtcdIn{F: op.F, Then: ListOf(op)} }

// EtcdRangeAt is a range as of a revision.
func EtcdRangeAt(op EtcdOp, revision int64) EtcdIn {
	return EtcdIn{F: op.F, Then: ListOf(op), Revision: revision}
}

// EtcdTxn does then where every comparison holds, and otherwise does other.
func EtcdTxn(compare []EtcdCompare, then, other []EtcdOp) EtcdIn {
	return EtcdIn{F: "txn", Compare: ListOf(compare...), Then: ListOf(then...), Else: ListOf(other...)}
}

// EtcdLease grants a lease, or revokes it and with it the keys that are bound
// to it.
func EtcdLease(grant bool, lease history.Value) EtcdIn {
	if grant {
		return EtcdIn{F: "lease-grant", Lease: lease}
	}
	return EtcdIn{F: "lease-revoke", Lease: lease}
}

// EtcdCompact forgets what was before a revision, which must exist.
func EtcdCompact(revision int64) EtcdIn { return EtcdIn{F: "compact", Revision: revision} }

// EtcdDefragment changes nothing that a client can see.
func EtcdDefragment() EtcdIn { return EtcdIn{F: "defragment"} }

// EtcdKey is what etcd holds under a key.
type EtcdKey struct {
	Value                history.Value
	Create, Mod, Version int64
	Lease                history.Value
}

// EtcdState is a whole store.
type EtcdState struct {
	Revision int64
	Keys     Tree[EtcdKey]
	Leases   Map
}

// Etcd is a whole etcd store, empty at the given revision (a new one is at 1).
// The revision grows by one with each request that changes a key. An output is
// an object of what the answer held, and only what stands there is compared:
// revision (of the store after the request; -1 for not known), for range kvs
// and count, for delete deleted, for txn succeeded and results. A range as of
// an earlier revision, and a compaction, only need the revision to exist:
// states do not keep the past. Leases do not expire, and a put under a lease
// that is not there is impossible.
func Etcd(revision int64) spec.Model[EtcdState, EtcdIn, history.Value] {
	return spec.Model[EtcdState, EtcdIn, history.Value]{
		Name:     "etcd",
		Init:     func() EtcdState { return EtcdState{Revision: revision} },
		Step:     etcdStep,
		ReadOnly: etcdReadOnly,
		Text:     etcdText,
		Describe: func(s EtcdState) string {
			return "revision " + strconv.FormatInt(s.Revision, 10) + " " + listed("{", s.Keys.Len(), s.Keys.pairs, ", ", "}")
		},
	}
}

// String writes a key's value with its numbers.
func (k EtcdKey) String() string {
	return fmt.Sprintf("%s (revision %d, version %d)", k.Value.Label(), k.Mod, k.Version)
}

func etcdStep(s EtcdState, in EtcdIn, out *history.Value) (next EtcdState, ok bool) {
	t := etcdTxn{EtcdState: s, at: s.Revision + 1}
	var answer []history.Member
	switch in.F {
	case "range":
		if in.Revision > s.Revision {
			return s, false
		}
		answer, ok = t.all(in, in.Revision == 0 || in.Revision == s.Revision)
	case "put", "delete", "txn":
		answer, ok = t.all(in, true)
	case "lease-grant":
		t.Leases, ok = t.Leases.put(in.Lease, history.True), true
	case "lease-revoke":
		t.revoke(in.Lease)
		ok = s.Leases.has(in.Lease)
	case "compact":
		ok = in.Revision <= s.Revision
	case "defragment":
		ok = true
	default:
		panic(noSuch("etcd", in.F))
	}
	if t.changed {
		t.Revision = t.at
	}
	if !ok || out == nil {
		return t.EtcdState, ok
	}
	return t.EtcdState, fits(*out, append(answer, field("revision", history.Int(t.Revision))))
}

// fits compares what was recorded of an answer. Only what stands in both is
// compared; a recorded revision of -1 is not known.
func fits(recorded history.Value, answer []history.Member) bool {
	ms, isObject := recorded.Members()
	if !isObject {
		return false
	}
	for _, m := range ms {
		i := slices.IndexFunc(answer, func(a history.Member) bool { return a.Key == m.Key })
		if i < 0 || m.Key == history.String("revision") && m.Value == history.Int(-1) {
			continue
		}
		if !fitsValue(m.Value, answer[i].Value) {
			return false
		}
	}
	return true
}

func fitsValue(recorded, computed history.Value) bool {
	switch {
	case recorded == computed:
		return true
	case recorded.Kind() == history.KindArray && computed.Kind() == history.KindArray:
		a, _ := recorded.Elems()
		b, _ := computed.Elems()
		return slices.EqualFunc(a, b, fitsValue)
	case recorded.Kind() == history.KindObject && computed.Kind() == history.KindObject:
		answer, _ := computed.Members()
		return fits(recorded, answer)
	}
	return false
}

func field(name string, v history.Value) history.Member {
	return history.Member{Key: history.String(name), Value: v}
}

// etcdReadOnly holds for requests that only look, and for those whose answer
// says that there was nothing to delete.
func etcdReadOnly(in EtcdIn, out *history.Value) bool {
	switch in.F {
	case "range", "compact", "defragment":
		return true
	case "lease-grant", "lease-revoke":
		return false
	case "put", "delete":
		return in.F == "delete" && out != nil && out.Get("deleted") == history.Int(0)
	}
	if out == nil || out.Get("succeeded") == history.Absent {
		return looks(in.Then, nil) && looks(in.Else, nil)
	}
	results, _ := out.Get("results").Elems()
	if out.Get("succeeded") == history.True {
		return looks(in.Then, results)
	}
	return looks(in.Else, results)
}

// looks reports whether no operation of a branch changes anything.
func looks(branch List[EtcdOp], results []history.Value) bool {
	for i, op := range branch.Slice() {
		missed := op.F == "delete" && i < len(results) && results[i].Get("deleted") == history.Int(0)
		if op.F != "range" && !missed {
			return false
		}
	}
	return true
}

func etcdText(in EtcdIn, out *history.Value) string {
	var b strings.Builder
	switch {
	case in.F == "txn":
		b.WriteString("txn if " + listed("", in.Compare.Len(), texts(in.Compare), " and ", "") + " then " + listed("", in.Then.Len(), texts(in.Then), ", ", "") +
			" else " + listed("", in.Else.Len(), texts(in.Else), ", ", ""))
	case in.Then.Len() > 0:
		b.WriteString(listed("", in.Then.Len(), texts(in.Then), ", ", ""))
	case in.Lease != history.Absent:
		b.WriteString(in.F + " " + in.Lease.Label())
	default:
		b.WriteString(in.F)
	}
	if in.Revision > 0 {
		b.WriteString(" at revision " + strconv.FormatInt(in.Revision, 10))
	}
	return answered(b.String(), out, "null")
}

// String writes an operation of a request.
func (o EtcdOp) String() string {
	switch {
	case o.F == "put":
		return "put " + o.Key.Label() + " " + o.Value.Label()
	case o.F == "range" && o.End != history.String(""):
		return "range " + o.Key.Label() + " to " + o.End.Label()
	}
	return o.F + " " + o.Key.Label()
}

// String writes a comparison.
func (c EtcdCompare) String() string {
	return c.Target + " of " + c.Key.Label() + " " + c.Op + " " + c.Value.Label()
}
