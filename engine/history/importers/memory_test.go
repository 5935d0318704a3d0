package importers

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

// megabytes are inputs as tools write them, with few processes and with values
// that all differ.
var megabytes = []struct {
	name, mapping, head string
	line                func(i int) string
}{
	{"native", "", `{"pinyon":"history","version":1}` + "\n", func(i int) string {
		return fmt.Sprintf(`{"process":%d,"f":"write","key":"k%d","in":%d,"invoke":%d,"return":%d,"outcome":"ok","node":"n1","hints":{"revision":%d}}`, i%10, i%5, i, 1000*i, 1000*i+500, i)
	}},
	{"jepsen-edn", "", "", func(i int) string {
		return fmt.Sprintf("{:index %d, :time %d, :type :%s, :process %d, :f :write, :value %d}", i, 1000*i, half(i), i/2%10, i/2)
	}},
	{"knossos", "", "[", func(i int) string {
		return fmt.Sprintf("{:process %d, :type :%s, :f :write, :value %d, :time %d, :index %d}", i/2%10, half(i), i/2, 1000*i, i)
	}},
	{"jepsen-txt", "", "", func(i int) string {
		return fmt.Sprintf("%d\t:%s\t:write\t[%d %d]\t:timed-out", i/2%10, half(i), i%7, i/2)
	}},
	{"jepsen-log", "", "", func(i int) string {
		return fmt.Sprintf("2020-08-04 00:50:17,577{GMT}\tINFO\t[jepsen worker 4] jepsen.util: %d\t:%s\t:write\t%d", i/2%10, half(i), i/2)
	}},
	{"etcd-log", "", "", func(i int) string {
		return fmt.Sprintf("INFO  jepsen.util - %d\t:%s\t:write\t%d", i/2%10, half(i), i/2)
	}},
	{"elle-json", "", "", func(i int) string {
		return fmt.Sprintf(`{"type":"%s","f":"txn","value":[["append",%d,%d]],"process":%d,"index":%d,"time":%d}`, half(i), i%5, i/2, i/2%10, i, 1000*i)
	}},
	{"porcupine-kv", "", "", func(i int) string {
		return fmt.Sprintf(`{:process %d, :type :%s, :f :append, :key "%d", :value "x %d %d y"}`, i/2%10, half(i), i/2%10, i/2%10, i/2)
	}},
	{"splitbrain", "", "", func(i int) string {
		return fmt.Sprintf(`{"process":%d,"key":"k0","kind":"cas","from":%d,"to":%d,"swapped":true,"outcome":"ok","invoke_ns":%d,"complete_ns":%d}`, i%10, i, i+1, 1000*i, 1000*i+500)
	}},
	{"violin", "", "# @object atomic-queue\n", func(i int) string {
		return [...]string{fmt.Sprintf("[%d] call enqueue(%d)", i/2%10, i/2), fmt.Sprintf("    [%d] return", i/2%10)}[i%2]
	}},
	{"object-log", "", "# queue\n", func(i int) string {
		return fmt.Sprintf("%d %d %d ENQ %d", i%10, 20_000_000+1000*i, 20_000_500+1000*i, i)
	}},
	{"etcd-report", "", "", func(i int) string {
		return fmt.Sprintf(`{"ClientId":%d,"Input":{"Type":"txn","LeaseGrant":null,"LeaseRevoke":null,"Range":null,"Txn":{"Conditions":null,"OperationsOnSuccess":[{"Type":"put-operation","Range":{"Start":"","End":"","Limit":0},"Put":{"Key":"key%d","Value":{"Value":"%d"},"LeaseID":0},"Delete":{"Key":""}}],"OperationsOnFailure":null},"Defragment":null,"Compact":null},"Call":%d,"Output":{"Txn":{"Failure":false,"Results":[{"KVs":null,"Count":0,"Deleted":0}]},"Range":null,"LeaseGrant":null,"LeaseRevoke":null,"Defragment":null,"Compact":null,"ClientError":"","Revision":%d,"Persisted":false,"PersistedRevision":0,"Error":""},"Return":%d}`,
			i%10, i%10, i, 1000*i, i, 1000*i+500)
	}},
	{"chaos", "", "", func(i int) string {
		action := [...]string{"invoke", "return"}[i%2]
		return fmt.Sprintf(`{"action":"%s","proc":%d,"time":"2020-05-13T10:57:38.07Z","data":{"op":1,"value":%d}}`, action, i/2%10, i/2)
	}},
	{"s2", "", "", func(i int) string {
		event := fmt.Sprintf(`{"Start":{"Append":{"num_records":2,"record_hashes":[18446744073709551615,%d],"set_fencing_token":null,"fencing_token":null,"match_seq_num":%d}}}`, i, i)
		if i%2 == 1 {
			event = fmt.Sprintf(`{"Finish":{"AppendSuccess":{"tail":%d}}}`, i)
		}
		return fmt.Sprintf(`{"event":%s,"client_id":%d,"op_id":%d}`, event, i/2%10, i/2)
	}},
	{"turnpike", "", "call_ns,return_ns,client_id,op,key,value,output\n", func(i int) string {
		return fmt.Sprintf("%d,%d,%d,PUT,key%d,value-%d,", 20_000_000+1000*i, 20_000_500+1000*i, i%10, i%10, i)
	}},
	{"turnpike-events", "", "UniqueID,ClientID,Kind,Action,Payload1,Payload2,Payload3\n", func(i int) string {
		return fmt.Sprintf(`%d,%d,%s,32_write,,"{""type"":""VString"",""value"":""k%d""}","{""type"":""VString"",""value"":""v%d""}"`,
			i/2, i/2%10, [...]string{"Invocation", "Response"}[i%2], i%10, i/2)
	}},
	{"table", "process=client,f=op,key=key,in=value,out=result,invoke=start,return=end,outcome=status", "client,op,key,value,result,start,end,status\n", func(i int) string {
		return fmt.Sprintf("client-%d,write,key%d,%d,,%d,%d,ok", i%10, i%10, i, 20_000_000+1000*i, 20_000_500+1000*i)
	}},
}

func half(i int) string { return [...]string{"invoke", "ok"}[i%2] }

// TestMemoryIsBoundedByTheInput: reading a megabyte never holds more than
// twenty times as much.
func TestMemoryIsBoundedByTheInput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	const size, constant = 1 << 20, 1 << 20
	for _, c := range megabytes {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString(c.head)
			for i := 0; b.Len() < size; i++ {
				b.WriteString(c.line(i))
				b.WriteByte('\n')
			}
			if c.head == "[" {
				b.WriteByte(']')
			}
			text, format := b.String(), c.name
			peak := peakHeap(20*size+constant, func() any {
				h, _, err := load(text, Options{Format: format, Map: c.mapping})
				if err != nil {
					t.Error(err)
				}
				return h
			})
			if peak > 20*size+constant {
				t.Errorf("%.1f times the input", float64(peak)/size)
			}
			t.Logf("%.1f times the input", float64(peak)/size)
		})
	}
}

// TestMemoryGrowsWithTheInput: a file of nothing but the smallest lines that a
// format knows, each of a process of its own, holds more than twenty times as
// much, as an operation is larger in memory than six bytes of CSV. It is a fixed
// multiple, whatever the size; docs/LIMITS.md names it.
func TestMemoryGrowsWithTheInput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	for _, c := range []struct {
		name, mapping, head, line string
		most                      int // times the size
	}{
		{"notes", "", "", "{:type :info}\n", 20}, {"tuples", "", "", "[%d :invoke :w nil]\n", 25},
		{"columns", "", "", "%d :invoke :w\n", 32}, {"native", "", `{"pinyon":"history","version":1}` + "\n", `{"process":%d,"f":"","invoke":1,"outcome":"info"}` + "\n", 20},
		{"rows", "f=f,invoke=i,return=r", "f,i,r\n", "a,1,\n", 52}, {"rows of events", "f=f,process=p,type=t", "f,p,t\n", "a,%d,call\n", 68},
		{"rows with a process", "process=p,f=f,invoke=i,return=r", "p,f,i,r\n", "%d,a,1,\n", 36},
		{"logs", "", "# queue\n", "enq %d 1 2\n", 28}, {"calls", "", "# @object atomic-queue\n", "[%d] call deq\n", 42},
	} {
		for _, size := range []int{1 << 17, 1 << 19} {
			var b strings.Builder
			b.WriteString(c.head)
			for i := 0; b.Len() < size; i++ {
				b.WriteString(strings.ReplaceAll(c.line, "%d", fmt.Sprint(i)))
			}
			text := b.String()
			limit := uint64(c.most*size) + 1<<19
			peak := peakHeap(limit, func() any {
				h, _, err := load(text, Options{Map: c.mapping})
				if err != nil {
					t.Error(err)
				}
				return h
			})
			t.Logf("%s, %d KiB: %.1f times the input", c.name, size>>10, float64(peak)/float64(size))
			if peak > limit {
				t.Errorf("%s: %.1f times the input", c.name, float64(peak)/float64(size))
			}
		}
	}
}

// peakHeap returns by how much the live heap grew while f ran, at most: what
// stood after a collection, one collection after the other. Between two of them
// the runtime holds garbage too, by default as much again.
// What is allocated while a collection runs counts as live too, the more so the
// busier the machine is: what is over the limit is measured again, twice.
func peakHeap(limit uint64, f func() any) (peak uint64) {
	for range 3 {
		if peak = peakOnce(f); peak <= limit {
			break
		}
	}
	return peak
}

func peakOnce(f func() any) (peak uint64) {
	live := func() uint64 {
		runtime.GC()
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := live()
	for range 6 { // values that nobody holds go in the background
		time.Sleep(time.Millisecond)
		before = min(before, live())
	}
	done, result := make(chan struct{}), any(nil)
	go func() {
		result = f()
		close(done)
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(time.Millisecond):
		}
		if now := live(); now > before {
			peak = max(peak, now-before)
		}
	}
	runtime.KeepAlive(result)
	return peak
}
