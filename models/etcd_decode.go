package models

import (
	"fmt"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// members returns the members of an object by name; ok is false when v is none
// or has a member that is not among names.
func members(v history.Value, names ...string) (by map[string]history.Value, ok bool) {
	ms, ok := v.Members()
	by = make(map[string]history.Value, len(ms))
	for _, m := range ms {
		name, _ := m.Key.Str()
		ok = ok && slices.Contains(names, name)
		by[name] = m.Value
	}
	return by, ok
}

// count reads an integer from 0, which is what an absent one means.
func count(v history.Value) (n int64, ok bool) {
	if v == history.Absent {
		return 0, true
	}
	n, ok = v.Int64()
	return n, ok && n >= 0
}

// text reports whether all vs are strings, or absent.
func text(vs ...history.Value) bool {
	return !slices.ContainsFunc(vs, func(v history.Value) bool { return v != history.Absent && v.Kind() != history.KindString })
}

const etcdOpWant = "{op: range, start, end, limit}, {op: put, key, value, lease} or {op: delete, key}"

// etcdOp decodes one operation f of a request.
func etcdOp(f string, v history.Value) (op EtcdOp, ok bool) {
	op.F = f
	by, known := members(v, "op", "start", "end", "limit", "revision", "key", "value", "lease")
	if !known {
		return op, false
	}
	switch f {
	case "range":
		op.Key, op.End = by["start"], by["end"]
		if op.Key == history.Absent {
			op.Key = by["key"]
		}
		if op.End == history.Absent {
			op.End = history.String("")
		}
		op.Limit, ok = count(by["limit"])
		return op, ok && op.Key != history.Absent && text(op.Key, op.End)
	case "put":
		op.Key, op.Value, op.Lease = by["key"], by["value"], by["lease"]
		return op, op.Key != history.Absent && op.Value != history.Absent && text(op.Key)
	case "delete":
		op.Key = by["key"]
		return op, op.Key != history.Absent && text(op.Key)
	}
	return op, false
}

// etcdSingle decodes a request that does one thing.
func etcdSingle(f, want string) func(history.Value) (EtcdIn, string) {
	return func(v history.Value) (in EtcdIn, bad string) {
		op, ok := etcdOp(f, v)
		in = EtcdDo(op)
		if f == "range" && ok {
			in.Revision, ok = count(v.Get("revision"))
		}
		if !ok {
			return EtcdIn{}, want
		}
		return in, ""
	}
}

func etcdTxnInput(v history.Value) (in EtcdIn, want string) {
	const txn = "{compare, then, else}"
	in.F = "txn"
	by, ok := members(v, "compare", "then", "else")
	if !ok {
		return in, txn
	}
	compare, _ := by["compare"].Elems()
	for _, e := range compare {
		c, ok := etcdCompare(e)
		if !ok {
			return in, fmt.Sprintf("%s with comparisons such as {key, mod_revision} (one is %s)", txn, got(e))
		}
		in.Compare = in.Compare.push(c)
	}
	for i, name := range []string{"then", "else"} {
		list, _ := by[name].Elems()
		for _, e := range list {
			f, _ := e.Get("op").Str()
			op, ok := etcdOp(f, e)
			if !ok {
				return in, fmt.Sprintf("%s with operations %s (one is %s)", txn, etcdOpWant, got(e))
			}
			if i == 0 {
				in.Then = in.Then.push(op)
			} else {
				in.Else = in.Else.push(op)
			}
		}
	}
	return in, ""
}

// etcdCompare decodes {key, target: value} with an optional op.
func etcdCompare(v history.Value) (c EtcdCompare, ok bool) {
	by, ok := members(v, "key", "op", "mod_revision", "create_revision", "version", "value")
	c.Key, c.Op = by["key"], "="
	if !ok || c.Key == history.Absent || !text(c.Key) {
		return c, false
	}
	if op, given := by["op"]; given {
		c.Op, _ = op.Str()
	}
	targets := 0
	for _, target := range []string{"mod_revision", "create_revision", "version", "value"} {
		if value, given := by[target]; given {
			targets++
			c.Target, c.Value = target, value
		}
	}
	return c, targets == 1 && slices.Contains([]string{"=", "!=", "<", ">"}, c.Op) && (c.Target == "value" || isInt(c.Value))
}

// etcdOutput takes an object; an answer without anything says nothing.
func etcdOutput(r recorded) (out history.Value, known bool, want string) {
	if _, ok := members(r.out, "revision", "kvs", "count", "deleted", "succeeded", "results"); ok {
		return r.out, true, ""
	}
	if _, _, want = noOutput[history.Value](r); want != "" {
		return out, false, "an object of what the answer held: revision, kvs, count, deleted, succeeded, results"
	}
	return out, false, ""
}

func leaseInput(grant bool) func(history.Value) (EtcdIn, string) {
	return func(v history.Value) (in EtcdIn, want string) {
		by, ok := members(v, "lease")
		if !ok || by["lease"] == history.Absent {
			return in, "{lease}"
		}
		return EtcdLease(grant, by["lease"]), ""
	}
}

func etcdOps() []operation[EtcdIn, history.Value] {
	row := func(f, in, out string, decode func(history.Value) (EtcdIn, string), aliases ...string) operation[EtcdIn, history.Value] {
		return operation[EtcdIn, history.Value]{OpDoc: OpDoc{F: f, Aliases: aliases, In: in, Out: out}, in: decode, out: etcdOutput}
	}
	const rangeIn, putIn, deleteIn = "{start, end, limit, revision}; end empty: one key", "{key, value, lease}", "{key}"
	compact := func(v history.Value) (EtcdIn, string) {
		revision, ok := count(v.Get("revision"))
		if !ok {
			return EtcdIn{}, "{revision}"
		}
		return EtcdCompact(revision), ""
	}
	return []operation[EtcdIn, history.Value]{
		row("range", rangeIn, "{kvs, count, revision}, kvs a list of {key, value, mod_revision, create_revision, version}; what is left out is not compared", etcdSingle("range", rangeIn), "get"),
		row("put", putIn, "{revision}", etcdSingle("put", putIn)),
		row("delete", deleteIn, "{deleted, revision}", etcdSingle("delete", deleteIn)),
		row("txn", "{compare, then, else}: comparisons {key, mod_revision} (or create_revision, version, value; op: =, !=, < or >), operations "+etcdOpWant,
			"{succeeded, results, revision}, a result for each operation of the branch taken", etcdTxnInput),
		row("lease-grant", "{lease}", "{revision}", leaseInput(true)),
		row("lease-revoke", "{lease}", "{revision}", leaseInput(false)),
		row("compact", "{revision}", "{revision}", compact),
		row("defragment", "", "{revision}", func(history.Value) (EtcdIn, string) { return EtcdDefragment(), "" }),
	}
}

func etcdEntry() Entry {
	return entry(Entry{
		Name: "etcd",
		Doc: "A whole etcd store: ranges, puts, deletes and transactions over many keys, under one revision that grows with each request that changes a key. " +
			"Leases do not expire; ranges as of an earlier revision are compared by their revision only.",
		Initial:    "the revision of the empty store; 1",
		NeverSplit: true,
	}, etcdOps(), func(initial history.Value) (m spec.Model[EtcdState, EtcdIn, history.Value], err error) {
		if initial == history.Absent || initial == history.Null {
			return Etcd(1), nil
		}
		n, ok := initial.Int64()
		if !ok || n < 0 {
			return m, fmt.Errorf("want a revision from 0, got %s", got(initial))
		}
		return Etcd(n), nil
	})
}
