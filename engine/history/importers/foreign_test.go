package importers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pinyon/engine/history"
)

// foreignLoads are the formats of other tools, each told by its content.
var foreignLoads = []struct {
	name, format, model, text string
	options                   Options
	want                      string
}{
	{"fptlin: process, start, end, method, values", "object-log", "stack", lines("# stack", "0 1 5 PUSH 1", "1 2 6 POP 1", "0 7 8 POP EMPTY", "", "# a comment"), Options{},
		lines("0 push(1) ok @1..5", "1 pop() = 1 ok @2..6", "0 pop() = null ok @7..8")},
	{"fptlin: process, method, values, start, end", "object-log", "priority-queue", lines("# priorityqueue", "0 INSERT 3 1 5", "1 POLL -1 2 6"), Options{},
		lines("0 insert(3) ok @1..5", "1 poll() = null ok @2..6")},
	{"PolyLin: no process, and -1 was added", "object-log", "queue", lines("# queue", "enq -1 1 2", "deq -1 5 6", "peek 7 8 9"), Options{},
		lines("1 enqueue(-1) ok @1..2", "2 dequeue() = -1 ok @5..6", "3 peek() = 7 ok @8..9")},
	{"fptlin's sets answer behind the value", "object-log", "set", lines("# set", "2 0 2 CONTAINS 2 0", "0 0 4 INSERT 2 1", "1 5 6 REMOVE 2 1", "3 5 7 contains_true 2"), Options{},
		lines("2 contains(2) = false ok @0..2", "0 add(2) = true ok @0..4", "1 remove(2) = true ok @5..6", "3 contains(2) = true ok @5..7")},
	{"a read-modify-write is a cas that found what it read", "object-log", "cas-register", lines("# rmw", "0 1 10 READ_MODIFY_WRITE 0 2"), Options{}, lines("0 cas([0,2]) = true ok @1..10")},
	{"a deque", "object-log", "deque", lines("# deque", "push_front 1 1 2", "pop_back 1 3 4"), Options{}, lines("1 push-front(1) ok @1..2", "2 pop-back() = 1 ok @3..4")},
	{"LiMo: indentation, pending calls, call deq", "violin", "queue", lines("# @object atomic-queue", "\t[1] call enq(a)", "[2] call deq", "  [2] return empty"), Options{},
		lines(`1 enqueue("a") info @0`, "2 dequeue() = null ok @1..2")},
	{"chaos: a register with a state before it", "chaos", "register", lines(
		`{"action":"dump","proc":0,"time":"2020-05-13T10:57:38Z","data":7}`,
		`{"action":"invoke","proc":1,"time":"2020-05-13T10:57:38.07Z","data":{"op":1,"value":15}}`,
		`{"action":"return","proc":1,"time":"2020-05-13T10:57:38.10Z","data":{"unknown":true}}`,
		`{"action":"invoke","proc":2,"time":"2020-05-13T10:57:38.2Z","data":{"Op":0}}`,
		`{"action":"invoke_nemesis","proc":-1,"time":"2020-05-13T10:57:38.2Z","data":"kill"}`,
		`{"action":"return","proc":2,"time":"2020-05-13T10:57:38.3+00:00","data":{"Value":7}}`,
	), Options{}, lines("1 write(15) info @70000000", "2 read() = 7 ok @200000000..300000000", "note dump @0 7", `note invoke_nemesis @200000000 "kill"`)},
	{"chaos: compare-and-set, errors, a state on a line of its own", "chaos", "cas-register", lines(
		`{"rows":[1,2]}`,
		`{"action":"invoke","proc":1,"data":{"op":"cas","from":1,"to":2}}`, `{"action":"return","proc":1,"data":{"ok":false}}`,
		`{"action":"invoke","proc":1,"data":{"op":1,"value":null}}`, `{"action":"return","proc":1,"data":{"err":"lost"}}`,
	), Options{}, lines("1 cas([1,2]) = false ok @1..2", "1 write(null) info @3 error=lost", `note state @0 {"rows":[1,2]}`)},
	{"chaos: data of a case of its own", "chaos", "", lines(
		`{"action":"invoke","proc":1,"data":[1]}`, `{"action":"return","proc":1,"data":[1]}`,
	), Options{}, lines("1 call([1]) = [1] ok @0..1")},
	{"S2: names and objects, hashes of 64 bits", "s2", "", lines(
		`{"event":{"Start":{"Append":{"num_records":1,"record_hashes":[18446744073709551615],"set_fencing_token":null,"fencing_token":"t","match_seq_num":7}}},"client_id":2,"op_id":9}`,
		`{"event":{"Start":"Read"},"client_id":3,"op_id":10}`,
		`{"event":{"Finish":{"ReadSuccess":{"tail":8,"stream_hash":9223372036854775808}}},"client_id":3,"op_id":10}`,
		`{"event":{"Finish":"AppendIndefiniteFailure"},"client_id":2,"op_id":9}`,
		`{"event":{"Start":"CheckTail"},"client_id":3,"op_id":11}`,
		`{"event":{"Finish":"CheckTailFailure"},"client_id":3,"op_id":11}`,
		`{"event":{"Start":{"Append":{"num_records":0}}},"client_id":3,"op_id":12}`,
		`{"event":{"Finish":{"AppendSuccess":{"tail":8}}},"client_id":3,"op_id":12}`,
	), Options{}, lines(
		`2 append({"fencing_token":"t","match_seq_num":7,"num_records":1,"record_hashes":[18446744073709551615]}) info @0 error=AppendIndefiniteFailure fencing_token="t" match_seq_num=7`,
		`3 read() = {"stream_hash":9223372036854775808,"tail":8} ok @1..2 tail=8`,
		"3 check-tail() fail @4..5 error=CheckTailFailure", `3 append({"num_records":0}) = {"tail":8} ok @6..7 tail=8`)},
	{"one file of an etcd report", "etcd-report", "etcd", lines(
		`{"ClientId":1,"Input":{"Type":"txn","Txn":{"Conditions":[{"Key":"a","ExpectedVersion":3}],"OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"a","Value":{"Value":""},"LeaseID":4}}],`,
		` "OperationsOnFailure":[{"Type":"range-operation","Range":{"Start":"a","End":"b","Limit":2}}]}},"Call":1,"Output":{"Txn":{"Failure":true,"Results":[{"KVs":[],"Count":0}]},"Revision":5},"Return":2}`,
		`{"ClientId":1,"Input":{"Type":"defragment"},"Call":3,"Output":{"Defragment":{},"Revision":-1},"Return":4}`,
		`{"ClientId":1,"Input":{"Type":"leaseRevoke","LeaseRevoke":{"LeaseID":4}},"Call":5,"Output":{"Persisted":true,"PersistedRevision":6},"Return":0}`,
		`{"ClientId":2,"Input":{"Type":"compact","Compact":{"Revision":4}},"Call":5,"Output":{"ClientError":"compacted"},"Return":6}`,
	), Options{}, lines(
		`1 txn({"compare":[{"key":"a","version":3}],"else":[{"end":"b","limit":2,"op":"range","start":"a"}],"then":[{"key":"a","lease":4,"op":"put","value":""}]}) = {"results":[{"count":0,"kvs":[]}],"revision":5,"succeeded":false} ok @1..2 revision=5`,
		`1 defragment({}) = {"revision":-1} ok @3..4`, `1 lease-revoke({"lease":4}) info @5 revision=6`, `2 compact({"revision":4}) fail @5..6 error=compacted`)},
	{"turnpike's rows, negative times and all", "turnpike", "", lines("call_ns,return_ns,client_id,op,key,value,output", "-5534,41341,0,PUT,k2,date,", "2,3,1,GET,k2,,NotFound", "4,5,1,GET,k2,,7"), Options{},
		lines(`0 put k2("date") ok @-5534..41341`, "1 get k2() = null ok @2..3", "1 get k2() = 7 ok @4..5")},
	{"turnpike's events", "turnpike-events", "", lines("UniqueID,ClientID,Kind,Action,Payload1,Payload2,Payload3",
		`0,3,Invocation,32_write,,"{""type"":""VString"",""value"":""k1""}","{""type"":""VString"",""value"":""a""}"`,
		`1,4,Invocation,33_read,,"{""type"":""VString"",""value"":""k1""}",`,
		`0,3,Response,32_write,"{""type"":""VTuple"",""value"":[]}",,`,
		`1,4,Response,33_read,"{""type"":""VOption"",""value"":{""type"":""VString"",""value"":""a""}}",,`,
		`2,4,Invocation,33_read,,"{""type"":""VString"",""value"":""k1""}",`, `2,4,Response,33_read,"{""type"":""VOption"",""value"":null}",,`,
	), Options{}, lines(`3 write k1("a") ok @0..2`, `4 read k1() = "a" ok @1..3`, "4 read k1() = null ok @4..5")},
	{"turnpike's events with one payload", "turnpike-events", "", lines("UniqueID,ClientID,Kind,Action,Payload", `0,3,Invocation,put,"[""k"",5]"`, "0,3,Response,put,", "1,3,Invocation,inc,4"), Options{},
		lines("3 put k(5) ok @0..1", "3 inc(4) info @2")},
}

const eventMap = "process=who,type=kind,time=at,f=what,in=arg,out=result,outcome=status,error=why,node=at_node,hint.rev=r,start=begin,fail=no,unit=us"

var tableLoads = []struct {
	name, mapping, text, want string
}{
	{"rows of operations: fractions, lists, words, hints", `process=who,f=op,key=k,in=a+b,out=res,invoke=t0,return=t1,outcome=status,ok=OK|fine,hint.rev=r,node=n,error=e,unit=ms`, lines(
		"who,op,k,a,b,res,t0,t1,status,r,n,e", "c1,:CAS,x,1,2,true,0.5,1,OK,7,n1,", "2,write,x,5,,,2,3,fail,,,", "2,write,x,6,,,4,5,Unknown,,,gone", `3,read,"a ""b""",,,null,6,7,fine,,,`),
		lines(`c1 cas x([1,2]) = true ok @500000..1000000 node=n1 rev=7`, "2 write x(5) fail @2000000..3000000", "2 write x(6) info @4000000 error=gone",
			`3 read "a \"b\""() = null ok @6000000..7000000`)},
	{"without outcomes what returned is ok", "f=f,invoke=i,return=r", lines("f;i;r", "inc;1;2", "inc;3;"), lines("1 inc() ok @1..2", "2 inc() info @3")},
	{"dates count from the first", "f=f,invoke=i,return=r", lines("f\ti\tr", "inc\t2026-01-01T00:00:01Z\t2026-01-01T00:00:01.5Z", "inc\t2026-01-01T00:00:00Z\t"), lines("2 inc() ok @1000000000..1500000000", "1 inc() info @0")},
	{"nanoseconds since 1970 count from the first", "f=f,invoke=i,return=r", lines("f,i,r", "inc,1790000000000000005,1790000000000000009"), "1 inc() ok @0..4\n"},
	{"JSON Lines with paths", `process=c.id,f=c.op,in=c.arg,out=result,invoke=s,return=e`, lines(`{"c":{"id":4,"op":"Get","arg":[1]},"s":1,"e":2,"result":null}`, `{"c":{"id":4,"op":"Put"},"s":3}`),
		lines("4 get([1]) = null ok @1..2", "4 put() info @3")},
	{"rows of events", eventMap, lines("who,kind,at,what,arg,result,status,why,at_node,r",
		"1,begin,1,Write,5,,,,,", "1,end,2,,,,no,denied,,", "1,begin,3,read,,,,,,", "1,End,4,,,5,,,n2,9", "2,begin,5,read,,,,,,", "2,timeout,6,,,,,,,"), lines(
		"1 write(5) fail @1000..2000 error=denied", `1 read() = 5 ok @3000..4000 node=n2 rev=9`, "2 read() info @5000")},
	{"events in an array, by the order of rows", "process=p,type=t,f=f,in=v,out=v,key=k", `[{"p":"a","t":"call","f":"w","v":1,"k":"x"},{"p":"a","t":"ok","v":1}]`, "a w x(1) = 1 ok @0..1\n"},
	{"escapes and empty words", `f=a\,b,in=c\+d,invoke=i,return=r,nil=-`, lines(`"a,b",c+d,i,r`, "w,-,1,2"), "1 w(null) ok @1..2\n"},
}

func TestForeignFormats(t *testing.T) {
	for _, c := range foreignLoads {
		t.Run(c.name, func(t *testing.T) {
			h, r, err := load(c.text, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if r.Format != c.format || h.Header.Model != c.model {
				t.Errorf("format %s (%s) and model %q, want %s and %q", r.Format, r.Why, h.Header.Model, c.format, c.model)
			}
			if d := cmp.Diff(c.want, show(h)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if err := history.Validate(h); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTables(t *testing.T) {
	for _, c := range tableLoads {
		t.Run(c.name, func(t *testing.T) {
			h, r, err := load(c.text, Options{Map: c.mapping})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, show(h)); d != "" || r.Format != "table" {
				t.Errorf("%s; -want +got:\n%s", r.Format, d)
			}
			if err := history.Validate(h); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAChaosStateIsTheInitialValue(t *testing.T) {
	h, _, err := load(foreignLoads[7].text, Options{})
	if err != nil || h.Header.Initial != history.Int(7) {
		t.Errorf("initial %s, %v", h.Header.Initial.Text(), err)
	}
}

// tableRefusals name the file, the line, the column and the mapping at fault.
var tableRefusals = []struct{ mapping, text, want string }{
	{"f=f,invoke=i,return=r", lines("f,i,r", "inc,1,2", "inc,soon,3"), "-:3:5: soon is no time; expected a number, or a date such as 2020-05-13T10:57:38.07Z (mapping invoke=i)"},
	{"f=f,invoke=i,return=r,unit=s", lines("f,i,r", "inc,9223372036854775807,2"), "-:2:5: 9223372036854775807 is no time; expected a number, or a date such as 2020-05-13T10:57:38.07Z (mapping invoke=i)"},
	{"f=f,invoke=i,return=r", lines("f,i,r", "inc,1e1000000000,2"), "-:2:5: 1e1000000000 is no time; expected a number, or a date such as 2020-05-13T10:57:38.07Z (mapping invoke=i)"},
	{"f=op,invoke=begin,return=end", lines("op,start,end"), `-:1: there is no column "begin"; the columns are op, start, end (mapping invoke=begin)`},
	{"f=op,invoke=strat,return=end", lines("op,start,end"), `-:1: there is no column "strat"; did you mean "start"? (mapping invoke=strat)`},
	{"f=f,invoke=i,return=r,outcome=o", lines("f,i,r,o", "inc,1,2,maybe"), "-:2:9: maybe is no outcome; name its word with ok=, fail= or info= (mapping outcome=o)"},
	{"f=f,invoke=i,return=r,outcome=o", lines("f,i,r,o", "inc,1,,ok"), "-:2: the operation is ok, but has no time of its return (mapping return=r)"},
	{"f=f,invoke=i,return=r", lines("f,i,r", ",1,2"), "-:2:1: the row names no operation (mapping f=f)"},
	{"f=f,invoke=i,return=r", lines("f,i,r", "inc,,2"), "-:2: the operation has no time of its call (mapping invoke=i)"},
	{"f=f,invoke=i,return=r", lines("f,i,r", "inc,1"), "-:2:1: wrong number of fields"},
	{"f=f,invoke=i,return=r", lines("f,i,r", `"inc,1,2`), "-:2:10: extraneous or missing \" in quoted-field"},
	{"f=f,invoke=i,return=r", lines("f,i,f"), `-:1: the column "f" stands twice`},
	{"process=p,f=f,type=t", lines("p,f,t", "1,inc,perhaps"), "-:2:7: perhaps is neither a start nor an end of an operation, nor an outcome; name its word with start=, end=, ok=, fail= or info= (mapping type=t)"},
	{"process=p,f=f,type=t", lines("p,f,t", ",inc,call"), "-:2: the row names no process (mapping process=p)"},
	{"f=f,invoke=i,return=r", lines(`{"f":"inc","i":"x"}`), "-:1:12: x is no time; expected a number, or a date such as 2020-05-13T10:57:38.07Z (mapping invoke=i)"},
	{"f=f,invoke=i,return=r", lines("f,i,r", "\xff,1,2"), "-:2:1: the cell is not valid UTF-8"},
	{"f", "", `mapping "f": expected name=column, as in f=op`},
	{"f=a,f=b", "", `mapping f=b: "f" stands twice`},
	{"retrun=a", "", `mapping retrun=a: unknown name "retrun"; did you mean "return"?`},
	{"f=a,unit=h", "", `mapping unit=h: unknown unit "h"; ns, us, ms and s are known`},
	{"invoke=a,return=b", "", "the mapping names no column for f, the operation"},
	{"f=a,invoke=b", "", "the mapping needs columns for invoke and return, or for type"},
	{"f=a,type=b", "", "the mapping of events names no column for process, which pairs them"},
	{"f=a,process=p,type=b,invoke=c", "", "the mapping has type, for rows that are events, and invoke or return, for rows that are operations"},
	{"f=a,invoke=b,return=c,time=d", "", "the mapping has time without type: a row that is an operation has invoke and return"},
}

func TestTablesAreRefusedWithThePlaceAndTheMapping(t *testing.T) {
	for _, c := range tableRefusals {
		if _, _, err := load(c.text, Options{Map: c.mapping}); err == nil || err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", c.mapping, err, c.want)
		}
	}
}

var foreignRefusals = []struct{ name, text, want string }{
	{"a byte order mark", "\uFEFF{\"pinyon\":\"history\",\"version\":1}\n", "-:1:1: the file starts with a byte order mark; remove it"},
	{"a table without a mapping", "a,b\n1,2\n", "-:1: no known history format; formats tried: " + formatNames() + "; to read a CSV table or JSON Lines, name the columns with --map (pinyon help formats)"},
	{"a method of another object", "# queue\n0 1 2 PUSH 1\n", `-:2: unknown method "push" of a queue`},
	{"two objects in one log", "# queue\n# stack\n", `-:2: a second object "stack"`},
	{"a row that is none", "# queue\n0 1 2\n", `-:2: expected [process] start end method values, or [process] method values start end, got "0 1 2"`},
	{"a removal without what it removed", "# queue\n0 1 2 DEQ\n", `-:2: deq has the wrong values: ""`},
	{"a time beyond 64 bits", "# queue\n0 1 18446744073709551615 DEQ 1\n", `-:2: start "1" and end "18446744073709551615" must be integers of 64 bits`},
	{"chaos: a time that is none", `{"action":"invoke","proc":1,"time":5}` + "\n", `-:1:29: "time" must be a time such as 2020-05-13T10:57:38.07Z, got 5`},
	{"chaos: no process", `{"action":"invoke","data":1}` + "\n", `-:1:1: the event needs "proc", a number or a name`},
	{"chaos: an event without action", lines(`{"action":"invoke","proc":1}`, `{"proc":1}`), `-:2:1: an event without "action"`},
	{"s2: another end", lines(`{"event":{"Start":"Read"},"client_id":1,"op_id":1}`, `{"event":{"Finish":"AppendDefiniteFailure"},"client_id":1,"op_id":1}`),
		"-:2:2: process 1 finishes append (op_id 1), but what it started is read (op_id 1)"},
	{"s2: no start", `{"event":{"Finish":"ReadFailure"},"client_id":1,"op_id":1}`, "-:1:2: process 1 finishes read without having started it"},
	{"s2: unknown", `{"event":{"Start":{"Trim":{}}},"client_id":1,"op_id":1}`, "-:1:2: unknown start Trim; Append, Read and CheckTail are known"},
	{"etcd: unknown request", `{"ClientId":1,"Input":{"Type":"watch"},"Call":1,"Output":{},"Return":2}`,
		`-:1:15: unknown type "watch" of a request; range, txn, leaseGrant, leaseRevoke, compact and defragment are known`},
	{"etcd: an answer before its call", `{"ClientId":1,"Input":{"Type":"defragment"},"Call":3,"Output":{"Revision":1},"Return":2}`,
		"-:1:78: the request has an answer, but returns at 2, before its call at 3"},
	{"etcd: the answer of another request", `{"ClientId":1,"Input":{"Type":"range","Range":{"Start":"a"}},"Call":3,"Output":{"Revision":1},"Return":4}`,
		"-:1:71: the answer of a range needs Range"},
	{"turnpike: unknown kind", lines("UniqueID,ClientID,Kind,Action,Payload", "1,1,Timeout,put,"), "-:2:5: unknown Kind Timeout; Invocation and Response are known"},
	{"one of our own keys that is not", `{:type :invoke :process 1 :f :read :pinyon/outt 1}`, "-:1:36: unknown key :pinyon/outt"},
	{"one of our own keys with another value", `{:type :invoke :process 1 :f :read :pinyon/id "a"}`, `-:1:36: :pinyon/id cannot be "a"`},
	{"a header that is none", "; pinyon-history times {}\n", `-:1:24: the header line is missing; the first line must be {"pinyon":"history","version":1}, with more fields if you like`},
	{"a clock that is none", "; pinyon-history sundial {}\n", `-:1: expected times or lines after "; pinyon-history", got "sundial"`},
}

func TestForeignFormatsAreRefused(t *testing.T) {
	for _, c := range foreignRefusals {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := load(c.text, Options{}); err == nil || err.Error() != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestMappingTextNamesEverything: the text of the grammar and the program agree.
func TestMappingTextNamesEverything(t *testing.T) {
	for _, name := range mappingColumns {
		if !strings.Contains(MappingText, "\n    "+name) && name != "out" {
			t.Errorf("%s is not described", name)
		}
	}
	for name, words := range mappingWords {
		if !strings.Contains(MappingText, "\n    "+name+" ") || !strings.Contains(MappingText, "["+orNoneWord(words)+"]") {
			t.Errorf("%s is not described with its words %v", name, words)
		}
	}
}

func orNoneWord(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
