package importers

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
)

// parts are what an operation of a hostile file is made of. The value is a text
// that is both JSON and EDN.
type parts struct {
	i                   int
	process, key, value string
}

// writers write one operation each in the words of a format.
var writers = []struct {
	format, mapping, head string
	atoms                 bool // values are words, not structures
	oneKey, numbers       bool // there is no key; processes are numbers
	op                    func(p parts) string
}{
	{"native", "", `{"pinyon":"history","version":1}` + "\n", false, false, false, func(p parts) string {
		return fmt.Sprintf(`{"process":%s,"f":"w","key":%s,"in":%s,"invoke":%d,"outcome":"info"}`, p.process, p.key, p.value, p.i)
	}},
	{"jepsen-edn", "", "", false, false, false, func(p parts) string {
		return fmt.Sprintf("{:type :invoke :process %s :f :write :value [%s %s]}\n{:type :ok :process %s :f :write :value [%s %s]}", p.process, p.key, p.value, p.process, p.key, p.value)
	}},
	{"knossos", "", "", false, false, false, func(p parts) string {
		return fmt.Sprintf("[%s :invoke :w [%s %s]]\n[%s :ok :w nil]", p.process, p.key, p.value, p.process)
	}},
	{"jepsen-txt", "", "", false, false, true, func(p parts) string {
		return fmt.Sprintf("%s\t:invoke\t:w\t[%s %s]\n%s\t:ok\t:w\tnil", p.process, p.key, p.value, p.process)
	}},
	{"jepsen-log", "", "", false, false, true, func(p parts) string {
		return fmt.Sprintf("INFO  jepsen.util - %s\t:invoke\t:w\t[%s %s]\nINFO  jepsen.util - %s\t:ok\t:w\tnil", p.process, p.key, p.value, p.process)
	}},
	{"etcd-log", "", "", true, true, true, func(p parts) string {
		return fmt.Sprintf("INFO  jepsen.util - %s\t:invoke\t:write\t%d\nINFO  jepsen.util - %s\t:ok\t:write\t%d", p.process, p.i, p.process, p.i)
	}},
	{"elle-json", "", "", false, false, false, func(p parts) string {
		return fmt.Sprintf("{\"type\":\"invoke\",\"f\":\"w\",\"process\":%s,\"value\":[%s,%s]}\n{\"type\":\"ok\",\"f\":\"w\",\"process\":%s,\"value\":[%s,%s]}", p.process, p.key, p.value, p.process, p.key, p.value)
	}},
	{"porcupine-kv", "", "", false, false, false, func(p parts) string {
		return fmt.Sprintf("{:type :invoke :process %s :f :put :key \"%s\" :value %s}\n{:type :ok :process %s :f :put :key \"%s\"}", p.process, strings.Trim(p.key, `"`), p.value, p.process, strings.Trim(p.key, `"`))
	}},
	{"splitbrain", "", "", false, false, true, func(p parts) string {
		return fmt.Sprintf(`{"process":%s,"key":"%s","kind":"write","value":%s,"outcome":"info","invoke_ns":%d}`, p.process, strings.Trim(p.key, `"`), p.value, p.i)
	}},
	{"violin", "", "# @object atomic-queue\n", true, true, true, func(p parts) string {
		return fmt.Sprintf("[%s] call enq(%s)\n[%s] return", p.process, strings.Trim(p.value, `"`), p.process)
	}},
	{"object-log", "", "# queue\n", true, true, true, func(p parts) string {
		return fmt.Sprintf("%s 1 2 ENQ %s", p.process, strings.Trim(p.value, `"`))
	}},
	{"etcd-report", "", "", true, false, true, func(p parts) string {
		return fmt.Sprintf(`{"ClientId":%s,"Input":{"Type":"txn","Txn":{"OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"%s","Value":{"Value":"%s"}}}]}},"Call":%d,"Output":{"Txn":{"Results":[{}]},"Revision":%d},"Return":%d}`,
			p.process, strings.Trim(p.key, `"`), strings.Trim(p.value, `"`), 2*p.i, p.i, 2*p.i+1)
	}},
	{"chaos", "", "", false, true, false, func(p parts) string {
		return fmt.Sprintf("{\"action\":\"invoke\",\"proc\":%s,\"data\":%s}\n{\"action\":\"return\",\"proc\":%s,\"data\":%s}", p.process, p.value, p.process, p.value)
	}},
	{"s2", "", "", true, true, true, func(p parts) string {
		return fmt.Sprintf(`{"event":{"Start":{"Append":{"num_records":1,"record_hashes":[%d],"fencing_token":%q}}},"client_id":%s,"op_id":1}`+"\n"+`{"event":{"Finish":{"AppendSuccess":{"tail":%d}}},"client_id":%s,"op_id":1}`,
			p.i, strings.Trim(p.value, `"`), p.process, p.i, p.process)
	}},
	{"turnpike", "", "call_ns,return_ns,client_id,op,key,value,output\n", true, false, true, func(p parts) string {
		return fmt.Sprintf("1,2,%s,PUT,%s,%s,", p.process, p.key, p.value)
	}},
	{"turnpike-events", "", "ClientID,Kind,Action,Payload1,Payload2\n", true, false, true, func(p parts) string {
		return fmt.Sprintf("%s,Invocation,put,%s,%s\n%s,Response,put,,", p.process, p.key, p.value, p.process)
	}},
	{"table", "process=p,f=f,key=k,in=v,invoke=i,return=r", "p,f,k,v,i,r\n", true, false, true, func(p parts) string {
		return fmt.Sprintf("%s,put,%s,%s,1,2", p.process, p.key, p.value)
	}},
}

var deepValue = strings.Repeat("[", 50) + "1" + strings.Repeat("]", 50)

// shapes are the ways in which a file may be unlike those that tools write.
var shapes = []struct {
	name  string
	parts func(i int) parts
}{
	{"tiny lines", func(i int) parts { return parts{i, fmt.Sprint(i % 10), `"k"`, "1"} }},
	{"deep values", func(i int) parts {
		return parts{i, fmt.Sprint(i % 10), `"k"`, strings.Replace(deepValue, "1", fmt.Sprint(i), 1)}
	}},
	{"long strings", func(i int) parts {
		return parts{i, fmt.Sprint(i % 10), `"k"`, fmt.Sprintf(`"%d%s"`, i, strings.Repeat("x", 1<<16))}
	}},
	{"long lists", func(i int) parts {
		return parts{i, fmt.Sprint(i % 10), `"k"`, fmt.Sprintf(`[%d%s]`, i, strings.Repeat(" 1", 1<<14))}
	}},
	{"many keys", func(i int) parts { return parts{i, fmt.Sprint(i % 10), fmt.Sprintf(`"%d"`, i), "1"} }},
	{"many processes", func(i int) parts { return parts{i, fmt.Sprint(i), `"k"`, "1"} }},
}

// shortest are the formats whose operations are so short that one in memory
// exceeds twenty times the line where every operation has a process of its own;
// docs/LIMITS.md says so.
var shortest = map[string]uint64{"violin": 22, "object-log": 26}

// TestMemoryOfStrangeFiles: nor do files of other shapes hold more.
func TestMemoryOfStrangeFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	const size, constant = 1 << 18, 1 << 19
	for _, shape := range shapes {
		for _, w := range writers {
			if w.atoms && (shape.name == "deep values" || shape.name == "long lists") || w.oneKey && shape.name == "many keys" {
				continue
			}
			var b strings.Builder
			b.WriteString(w.head)
			for i := 0; b.Len() < size; i++ {
				p := shape.parts(i)
				if w.format == "native" {
					p.process = fmt.Sprint(i) // an operation without an answer ends a process
				}
				text := w.op(p)
				if strings.Contains(w.format, "json") || w.format == "native" || w.format == "splitbrain" || w.format == "chaos" {
					text = strings.ReplaceAll(text, " 1", ",1")
				}
				b.WriteString(text)
				b.WriteByte('\n')
			}
			text := b.String()
			most := uint64(20)
			if shape.name == "many processes" && shortest[w.format] > 0 {
				most = shortest[w.format]
			}
			limit := most*uint64(len(text)) + constant
			peak := peakHeap(limit, func() any {
				h, _, err := load(text, Options{Format: w.format, Map: w.mapping})
				if w.format == "table" {
					h, _, err = load(text, Options{Map: w.mapping})
				}
				if err != nil {
					t.Errorf("%s, %s: %v", w.format, shape.name, err)
				}
				return h
			})
			t.Logf("%-16s %-16s %5.1f", shape.name, w.format, float64(peak)/float64(len(text)))
			if peak > limit {
				t.Errorf("%s, %s: %.1f times the input", w.format, shape.name, float64(peak)/float64(len(text)))
			}
		}
	}
}
