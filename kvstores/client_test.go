package kvstores

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ask1 is one put by a client of its own.
func ask1(t *testing.T, address string, timeout time.Duration) Reply {
	t.Helper()
	c := NewClient(address)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return c.Do(ctx, Request{Client: "c", Seq: 1, F: "put", Key: "x", In: json.RawMessage("1")})
}

func TestClientKnowsThreeOutcomes(t *testing.T) {
	t.Parallel()
	text := func(status int, body string) string {
		return answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := closed.Addr().String()
	closed.Close()
	for _, c := range []struct{ name, address, outcome, reason string }{
		{"a refused dial", refused, Fail, "connection refused"},
		{"a decided refusal", text(200, `{"outcome":"fail","error":"no"}`), Fail, "no"},
		{"a malformed request", text(400, `{"outcome":"fail","error":"what"}`), Fail, "what"},
		{"an answer", text(200, `{"outcome":"ok","out":1}`), OK, ""},
		{"an unknown outcome", text(200, `{"outcome":"info","error":"eh"}`), Info, "eh"},
		{"a time-out", answering(t, func(_ http.ResponseWriter, q *http.Request) {
			select {
			case <-q.Context().Done():
			case <-time.After(2 * time.Second):
			}
		}), Info, "timeout"},
		{"a cut-off answer", text(200, `{"outcome":"ok","ou`), Info, "unexpected answer (status 200)"},
		{"no answer at all", text(200, ``), Info, "unexpected answer (status 200)"},
		{"an outcome that is none", text(200, `{"outcome":"maybe"}`), Info, `unexpected answer (status 200, outcome "maybe")`},
		{"an unexpected status", text(503, `{"outcome":"fail"}`), Info, `unexpected answer (status 503, outcome "fail")`},
		{"success under an unexpected status", text(500, `{"outcome":"ok"}`), Info, `unexpected answer (status 500, outcome "ok")`},
		{"another protocol", socket(t, "SSH-2.0\r\n", false), Info, "connection failed"},
		{"a reset in the middle", socket(t, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"outc", true), Info, "connection reset"},
		{"a reset before the answer", socket(t, "", true), Info, "connection reset"},
		{"the end of the stream in the middle", socket(t, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"outc", false), Info, "end of stream"},
		{"the end of the stream before the answer", socket(t, "", false), Info, "end of stream"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask1(t, c.address, 300*time.Millisecond)
			if r.Outcome != c.outcome || r.Error != c.reason {
				t.Errorf("got %s (%s), want %s (%s)", r.Outcome, r.Error, c.outcome, c.reason)
			}
		})
	}
}

// socket reads one request, answers with bytes and closes, with a reset or not.
func socket(t *testing.T, bytes string, reset bool) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if q, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_ = json.NewDecoder(q.Body).Decode(new(Request))
			}
			fmt.Fprint(c, bytes)
			if reset {
				_ = c.(*net.TCPConn).SetLinger(0)
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}

// An operation is never carried out twice behind the caller's back, not even
// where a kept-open connection turns out to be dead.
func TestClientSendsOnce(t *testing.T) {
	t.Parallel()
	seen := make(chan int64, 100)
	address := answering(t, func(w http.ResponseWriter, q *http.Request) {
		var r Request
		_ = json.NewDecoder(q.Body).Decode(&r)
		seen <- r.Seq
		if r.Seq == 2 {
			panic(http.ErrAbortHandler)
		}
		answer(w, 200, okay(nil))
	})
	c := NewClient(address)
	defer c.Close()
	for seq := int64(1); seq <= 3; seq++ {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		r := c.Do(ctx, Request{Seq: seq, F: "get"})
		cancel()
		if want := map[bool]string{true: Info, false: OK}[seq == 2]; r.Outcome != want {
			t.Errorf("operation %d: %s (%s), want %s", seq, r.Outcome, r.Error, want)
		}
	}
	if len(seen) != 3 {
		t.Errorf("three operations arrived as %d", len(seen))
	}
}

// What clients send and stores answer stays what it was on the wire.
func TestThroughTheWire(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"kvsingle": 1, "kvforward": 2, "kvsplit": 2, "kvsync": 2, "kvquorum": 2, "kvabd": 3, "kvgryff": 3, "kvzab": 3} {
		t.Run(name, func(t *testing.T) {
			r := newRing(t, name, n, "", true)
			r.ready()
			at := r.names[0]
			all := r.store.Ops == nil || len(r.store.Ops) > 2
			r.must(at, "get", "x", "", "null")
			for i, v := range []string{`""`, `9007199254740993`, `-1`, `false`, `"\u003ca\u0026b\u003e"`, `[1,null]`, `{"a":9007199254740993}`, `"é"`, `1.50`, `null`} {
				key := fmt.Sprint("v", i, "/ é?&")
				r.must(at, "put", key, v, "")
				r.must(at, "get", key, "", v)
			}
			if got := r.do(at, "nonsense", "x", ""); got.Outcome != Fail {
				t.Errorf("an unknown operation: %+v, want fail", got)
			}
			if got := r.do(at, "put", "x", ""); got.Outcome != Fail {
				t.Errorf("a put without a value: %+v, want fail", got)
			}
			if all {
				everyOperation(r, at)
			}
		})
	}
}

// everyOperation is each operation of the model kv with each kind of output.
func everyOperation(r *ring, at string) {
	r.must(at, "cas", "c", `[1,2]`, `false`)
	r.must(at, "cas", "c", `[null,9007199254740993]`, `true`)
	r.must(at, "cas", "c", `[9007199254740992,1]`, `false`)
	r.must(at, "cas", "c", `[ 9007199254740993 , "" ]`, `true`)
	r.must(at, "cas", "c", `["",null]`, `true`)
	r.must(at, "get", "c", "", `null`)
	r.must(at, "append", "a", `"x"`, "")
	r.must(at, "append", "a", `""`, "")
	r.must(at, "append", "a", `"<y>"`, "")
	r.must(at, "get", "a", "", `"x\u003cy\u003e"`)
	r.must(at, "add", "n", `9007199254740992`, `9007199254740992`)
	r.must(at, "add", "n", `1`, `9007199254740993`)
	r.must(at, "add", "n", `-9007199254740993`, `0`)
	r.must(at, "delete", "n", ``, "")
	r.must(at, "get", "n", "", `null`)
	for _, wrong := range []struct{ f, key, in string }{{"add", "a", "1"}, {"append", "n1", "1"}, {"cas", "c", "[1]"}, {"cas", "c", ""}, {"add", "n", "1.5"}} {
		if got := r.do(at, wrong.f, wrong.key, wrong.in); got.Outcome != Fail {
			r.t.Errorf("%s %s of %s: %+v, want fail", wrong.f, wrong.in, wrong.key, got)
		}
	}
}

// Requests that are no requests are refused, and a node says who it is.
func TestHandler(t *testing.T) {
	t.Parallel()
	r := newRing(t, "kvsingle", 1, "", false)
	post := func(path, body string) (int, string) {
		t.Helper()
		a, err := http.Post("http://"+r.address["n1"]+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text := new(strings.Builder)
		_, _ = bufio.NewReader(a.Body).WriteTo(text)
		return a.StatusCode, text.String()
	}
	if code, body := post("/op", `{"f":`); code != 400 || !strings.Contains(body, `"outcome":"fail"`) {
		t.Errorf("half a request: %d %s", code, body)
	}
	if code, body := post("/peer/hello?from=n2", `x`); code != 503 || !strings.Contains(body, "no peers") {
		t.Errorf("a message that the store does not know: %d %s", code, body)
	}
	if code, _ := post("/clock", `{"offset":"-1.5s"}`); code != 200 || r.offset["n1"].Offset() != -1500*time.Millisecond {
		t.Errorf("the clock: %d, offset %v", code, r.offset["n1"].Offset())
	}
	if code, _ := post("/clock", `{"offset":"soon"}`); code != 400 {
		t.Errorf("a bad offset: %d", code)
	}
	for path, want := range map[string]string{"/ping": "n1\n", "/status": `"id":"n1","leader":"n1"`} {
		a, err := http.Get("http://" + r.address["n1"] + path)
		if err != nil {
			t.Fatal(err)
		}
		text := new(strings.Builder)
		_, _ = bufio.NewReader(a.Body).WriteTo(text)
		a.Body.Close()
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s: %s, want %s", path, text, want)
		}
	}
}
