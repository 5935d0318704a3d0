package importers

import (
	"os"
	"strings"

	"pinyon/engine/history"
)

// An etcd robustness report is a folder of client-*/operations.json, each a
// run of JSON objects {"ClientId", "Input", "Call", "Output", "Return"}. What
// they become, for the model etcd, all of one object without a key (the
// revision is one for all of them):
//
//	f             in                                        out
//	range         {start, end, limit, revision}             {kvs, count, revision}
//	put           {key, value, lease}                       {revision}
//	delete        {key}                                     {deleted, revision}
//	txn           {compare, then, else}                     {succeeded, results, revision}
//	lease-grant   {lease}                                   {revision}
//	lease-revoke  {lease}                                   {revision}
//	compact       {revision}                                {revision}
//	defragment    {}                                        {revision}
//
// A transaction without comparisons that does one thing is that put, delete or
// range. In a range end is "" for one key, and limit and revision are 0 for
// none. kvs is a list of {key, value, mod_revision, version}; version is
// absent where the report lacks it. A value is a string, or {hash: n} where
// the report has only its hash. lease is absent where there is none.
//
// In a txn compare is a list of {key, mod_revision} or {key, version}; then and
// else are lists of {op: "range", start, end, limit}, {op: "put", key, value,
// lease} and {op: "delete", key}; results has an entry for each operation of
// the branch taken: {kvs, count}, {} and {deleted}.
//
// The hint revision is the revision of the answer (none where the answer came
// from one member's local state), and the hint mod_revision that of the one key
// that a range found. A request that failed is Info: it may have taken effect.
// One that etcd itself refused (a compacted or future revision) did nothing:
// Fail. Watches are not operations.
type etcdReader struct {
	src *source
	x   *intervals
	one bool // one file makes the history, so lines say where operations stand
}

// readEtcdReport reads the parts of a report, or one operations.json.
func readEtcdReport(src *source, o *Options, rep *Report) (*history.Raw, error) {
	if err := refuseLineOrder(src, rep); err != nil {
		return nil, err
	}
	r := &etcdReader{x: newIntervals(src), one: src.parts == nil}
	if r.one {
		r.src = src
		if err := src.objects(r.operation); err != nil {
			return nil, err
		}
	}
	for _, path := range src.parts {
		part, err := openEtcdPart(path, o)
		if err != nil {
			return nil, err
		}
		r.src = part
		if err := part.objects(r.operation); err != nil {
			return nil, err
		}
	}
	h, err := r.x.finish(o, rep)
	if err == nil {
		h.Header.Model = "etcd"
	}
	return h, err
}

func openEtcdPart(path string, o *Options) (*source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &history.Error{Path: path, Msg: "is no file"}
	}
	src, err := open(path, o)
	if err == nil {
		src.format = "etcd-report"
	}
	return src, err
}

// operation reads one object of operations.json.
func (r *etcdReader) operation(es []entry, at int) error {
	get := func(name string) (entry, bool) {
		for _, e := range es {
			if strings.EqualFold(e.key, name) {
				return e, true
			}
		}
		return entry{at: at}, false
	}
	client, hasClient := get("ClientId")
	input, hasInput := get("Input")
	output, hasOutput := get("Output")
	call, hasCall := get("Call")
	ret, hasReturn := get("Return")
	if !hasClient || !hasInput || !hasOutput || !hasCall || !hasReturn {
		return r.src.errorAt(at, "an operation of an etcd report needs ClientId, Input, Call, Output and Return")
	}
	op := rawOp{}
	var okCall, okReturn bool
	op.Invoke, okCall = call.int64()
	op.Return, okReturn = ret.int64()
	if !okCall || !okReturn {
		return r.src.errorAt(at, "Call and Return must be integers")
	}
	var why string
	if op.F, op.In, why = etcdRequest(input.value); why != "" {
		return r.src.errorAt(input.at, "%s", why)
	}
	if why = etcdResponse(&op, output.value); why != "" {
		return r.src.errorAt(output.at, "%s", why)
	}
	if op.Outcome != history.Info && op.Return < op.Invoke {
		return r.src.errorAt(ret.at, "the request has an answer, but returns at %d, before its call at %d", op.Return, op.Invoke)
	}
	line := int32(0)
	if r.one {
		line = r.src.line(at)
	}
	r.x.add(client.val(), op, line)
	return nil
}

// etcdRequest names the operation of a request and its input.
func etcdRequest(in history.Value) (f string, v history.Value, why string) {
	kind, _ := in.Get("Type").Str()
	switch kind {
	case "range":
		r := in.Get("Range")
		return "range", with(etcdRange(r), "revision", number64(r.Get("Revision"))), ""
	case "txn":
		return etcdTxn(in.Get("Txn"))
	case "leaseGrant":
		return "lease-grant", object("lease", number64(in.Get("LeaseGrant").Get("LeaseID"))), ""
	case "leaseRevoke":
		return "lease-revoke", object("lease", number64(in.Get("LeaseRevoke").Get("LeaseID"))), ""
	case "compact":
		return "compact", object("revision", number64(in.Get("Compact").Get("Revision"))), ""
	case "defragment":
		return "defragment", object(), ""
	}
	return "", v, "unknown type " + orNone(in.Get("Type").Text()) + " of a request; range, txn, leaseGrant, leaseRevoke, compact and defragment are known"
}

func etcdTxn(txn history.Value) (f string, v history.Value, why string) {
	compare, _ := txn.Get("Conditions").Elems()
	then, why := etcdOps(txn.Get("OperationsOnSuccess"))
	if why != "" {
		return "", v, why
	}
	other, why := etcdOps(txn.Get("OperationsOnFailure"))
	if why != "" {
		return "", v, why
	}
	if len(compare) == 0 && len(then) == 1 && len(other) == 0 {
		f, v = alone(then[0])
		return f, v, ""
	}
	for i, c := range compare {
		version := number64(c.Get("ExpectedVersion"))
		if version != history.Int(0) {
			compare[i] = object("key", text(c.Get("Key")), "version", version)
		} else {
			compare[i] = object("key", text(c.Get("Key")), "mod_revision", number64(c.Get("ExpectedRevision")))
		}
	}
	return "txn", object("compare", history.Array(compare...), "then", history.Array(then...), "else", history.Array(other...)), ""
}

// alone makes an operation of its own of the one step of a transaction.
func alone(step history.Value) (f string, v history.Value) {
	f, _ = step.Get("op").Str()
	members, _ := step.Members()
	rest := members[:0]
	for _, m := range members {
		if m.Key != history.String("op") {
			rest = append(rest, m)
		}
	}
	v, _ = history.Object(rest...)
	if f == "range" {
		v = with(v, "revision", history.Int(0))
	}
	return f, v
}

func etcdOps(list history.Value) (ops []history.Value, why string) {
	ops, _ = list.Elems()
	for i, op := range ops {
		kind, _ := op.Get("Type").Str()
		switch kind {
		case "range-operation":
			ops[i] = with(etcdRange(op.Get("Range")), "op", history.String("range"))
		case "put-operation":
			put := op.Get("Put")
			ops[i] = object("op", history.String("put"), "key", text(put.Get("Key")), "value", etcdValue(put.Get("Value")))
			if lease := number64(put.Get("LeaseID")); lease != history.Int(0) {
				ops[i] = with(ops[i], "lease", lease)
			}
		case "delete-operation":
			ops[i] = object("op", history.String("delete"), "key", text(op.Get("Delete").Get("Key")))
		default:
			return nil, "unknown type " + orNone(op.Get("Type").Text()) + " of an operation; range-operation, put-operation and delete-operation are known"
		}
	}
	return ops, ""
}

func etcdRange(r history.Value) history.Value {
	return object("start", text(r.Get("Start")), "end", text(r.Get("End")), "limit", number64(r.Get("Limit")))
}

// etcdValue is a string, or a hash where the value was long.
func etcdValue(v history.Value) history.Value {
	if s := v.Get("Value"); s.Kind() == history.KindString && s != history.String("") {
		return s
	}
	if hash := v.Get("Hash"); hash.Kind() == history.KindInt && hash != history.Int(0) {
		return object("hash", hash)
	}
	return history.String("")
}

// etcdResponse sets outcome, output, error and hints.
func etcdResponse(op *rawOp, out history.Value) (why string) {
	if out.Kind() != history.KindObject {
		return "Output must be an object, got " + orNone(out.Text())
	}
	revision := number64(out.Get("Revision"))
	failed, _ := out.Get("Error").Str()
	refused, _ := out.Get("ClientError").Str()
	switch {
	case failed != "" || out.Get("Persisted") == history.True || out.Get("PartialResponse") == history.True:
		op.Outcome, op.Error = history.Info, failed
		revision = number64(out.Get("PersistedRevision")) // that of a write whose answer was lost but found in the log
		if revision != history.Int(0) {
			op.Hints = append(op.Hints, history.Hint{Name: "revision", Value: revision})
		}
		return ""
	case refused != "":
		op.Outcome, op.Error = history.Fail, refused
		return ""
	}
	if revision != history.Int(-1) {
		op.Hints = append(op.Hints, history.Hint{Name: "revision", Value: revision})
	}
	op.Out, why = etcdAnswer(op, out)
	if why == "" {
		op.Out = with(op.Out, "revision", revision)
	}
	return why
}

func etcdAnswer(op *rawOp, out history.Value) (v history.Value, why string) {
	txn := out.Get("Txn")
	results, _ := txn.Get("Results").Elems()
	answer := out.Get("Range")
	if op.F == "range" && answer.Kind() != history.KindObject && len(results) == 1 {
		answer = results[0]
	}
	switch op.F {
	case "range":
		if answer.Kind() != history.KindObject {
			return v, "the answer of a range needs Range"
		}
		v = etcdKVs(answer)
		if kvs, _ := v.Get("kvs").Elems(); len(kvs) == 1 && op.In.Get("end") == history.String("") {
			op.Hints = append(op.Hints, history.Hint{Name: "mod_revision", Value: kvs[0].Get("mod_revision")})
		}
		return v, ""
	case "put", "delete", "txn":
		if txn.Kind() != history.KindObject {
			return v, "the answer of a " + op.F + " needs Txn"
		}
	default:
		return object(), ""
	}
	failure := txn.Get("Failure") == history.True
	switch {
	case op.F == "put":
		return object(), ""
	case op.F == "delete" && len(results) != 1:
		return v, "the answer of a delete needs one result"
	case op.F == "delete":
		return object("deleted", number64(results[0].Get("Deleted"))), ""
	}
	branch, _ := op.In.Get("then").Elems()
	if failure {
		branch, _ = op.In.Get("else").Elems()
	}
	if len(branch) != len(results) {
		return v, "the answer of a txn needs a result for each operation of the branch taken"
	}
	for i, step := range branch {
		kind, _ := step.Get("op").Str()
		switch kind {
		case "range":
			results[i] = etcdKVs(results[i])
		case "put":
			results[i] = object()
		default:
			results[i] = object("deleted", number64(results[i].Get("Deleted")))
		}
	}
	return object("succeeded", history.Bool(!failure), "results", history.Array(results...)), ""
}

func etcdKVs(answer history.Value) history.Value {
	kvs, _ := answer.Get("KVs").Elems()
	for i, kv := range kvs {
		kvs[i] = object("key", text(kv.Get("Key")), "value", etcdValue(kv.Get("Value")), "mod_revision", number64(kv.Get("ModRevision")))
		if version := number64(kv.Get("Version")); version != history.Int(0) {
			kvs[i] = with(kvs[i], "version", version)
		}
	}
	return object("kvs", history.Array(kvs...), "count", number64(answer.Get("Count")))
}

// object builds an object of names and values in turn.
func object(pairs ...any) history.Value {
	members := make([]history.Member, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		members = append(members, history.Member{Key: history.String(pairs[i].(string)), Value: pairs[i+1].(history.Value)})
	}
	v, _ := history.Object(members...) // the names differ
	return v
}

// with adds a member to an object.
func with(v history.Value, name string, value history.Value) history.Value {
	members, _ := v.Members()
	w, err := history.Object(append(members, history.Member{Key: history.String(name), Value: value})...)
	if err != nil {
		return v // it has one of this name
	}
	return w
}

// text is a string, "" where a report leaves it out.
func text(v history.Value) history.Value {
	if v.Kind() != history.KindString {
		return history.String("")
	}
	return v
}

// number64 is an integer, 0 where a report leaves it out.
func number64(v history.Value) history.Value {
	if v.Kind() != history.KindInt {
		return history.Int(0)
	}
	return v
}
