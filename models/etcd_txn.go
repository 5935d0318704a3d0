package models

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"pinyon/engine/history"
)

// etcdTxn is a store in the course of one request, whose changes get revision
// at.
type etcdTxn struct {
	EtcdState
	at      int64
	changed bool
}

// all carries out a request. told: its answers are known (they are not as of
// an earlier revision).
func (t *etcdTxn) all(in EtcdIn, told bool) (answer []history.Member, ok bool) {
	succeeded := true
	for _, c := range in.Compare.Slice() {
		succeeded = succeeded && t.compare(c)
	}
	branch := in.Then
	if !succeeded {
		branch = in.Else
	}
	var results []history.Value
	for _, op := range branch.Slice() {
		result, ok := t.one(op)
		if !ok {
			return nil, false
		}
		if in.F != "txn" && told {
			answer = result
		}
		v, _ := history.Object(result...) // the names differ
		results = append(results, v)
	}
	if in.F == "txn" {
		answer = []history.Member{field("succeeded", history.Bool(succeeded)), field("results", history.Array(results...))}
	}
	return answer, true
}

// compare evaluates a comparison. A key that is absent counts as 0 in every
// number, and has no value to compare.
func (t *etcdTxn) compare(c EtcdCompare) bool {
	k := t.Keys.Get(c.Key)
	var order int
	switch c.Target {
	case "value":
		if !t.Keys.has(c.Key) {
			return false
		}
		a, _ := k.Value.Str()
		b, _ := c.Value.Str()
		if order = strings.Compare(a, b); order == 0 && k.Value != c.Value {
			order = history.Compare(k.Value, c.Value)
		}
	case "version":
		order = compareNumbers(history.Int(k.Version), c.Value)
	case "create_revision":
		order = compareNumbers(history.Int(k.Create), c.Value)
	case "mod_revision":
		order = compareNumbers(history.Int(k.Mod), c.Value)
	default:
		panic("etcd cannot compare " + c.Target)
	}
	switch c.Op {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case ">":
		return order > 0
	}
	panic("etcd has no comparison " + c.Op)
}

// one carries out one operation.
func (t *etcdTxn) one(op EtcdOp) (result []history.Member, ok bool) {
	switch op.F {
	case "range":
		return t.look(op), true
	case "put":
		if op.Lease != history.Absent && !t.Leases.has(op.Lease) {
			return nil, false
		}
		k := t.Keys.Get(op.Key)
		if k.Version == 0 {
			k.Create = t.at
		}
		t.Keys = t.Keys.put(op.Key, EtcdKey{op.Value, k.Create, t.at, k.Version + 1, op.Lease})
		t.changed = true
		return nil, true
	case "delete":
		deleted := int64(0)
		if t.Keys.has(op.Key) {
			t.Keys, t.changed, deleted = t.Keys.remove(op.Key), true, 1
		}
		return []history.Member{field("deleted", history.Int(deleted))}, true
	}
	panic(noSuch("etcd", op.F))
}

// look answers a range: the keys in order, up to the limit, and how many there
// are without it.
func (t *etcdTxn) look(op EtcdOp) []history.Member {
	start, _ := op.Key.Str()
	end, _ := op.End.Str()
	type found struct {
		name string
		kv   history.Value
	}
	var list []found
	for key, k := range t.Keys.All() {
		name, _ := key.Str()
		if end == "" && name != start || name < start || end != "" && end != "\x00" && name >= end {
			continue
		}
		kv, _ := history.Object(field("key", key), field("value", k.Value), field("mod_revision", history.Int(k.Mod)),
			field("create_revision", history.Int(k.Create)), field("version", history.Int(k.Version))) // the names differ
		list = append(list, found{name, kv})
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Compare(a.name, b.name) })
	count := len(list)
	if op.Limit > 0 && int64(count) > op.Limit {
		list = list[:op.Limit]
	}
	kvs := make([]history.Value, len(list))
	for i := range list {
		kvs[i] = list[i].kv
	}
	return []history.Member{field("kvs", history.Array(kvs...)), field("count", history.Int(int64(count)))}
}

// revoke ends a lease and deletes the keys that are bound to it.
func (t *etcdTxn) revoke(lease history.Value) {
	t.Leases = t.Leases.remove(lease)
	for key, k := range t.Keys.All() {
		if k.Lease == lease {
			t.Keys, t.changed = t.Keys.remove(key), true
		}
	}
}

// texts yields the elements of a list in words.
func texts[T interface {
	comparable
	String() string
}](l List[T]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, v := range l.Slice() {
			if !yield(v.String()) {
				return
			}
		}
	}
}
