package harness

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/kvstores"
)

// single serves kvsingle in this process.
func single(t *testing.T) string {
	t.Helper()
	s, err := kvstores.Lookup("kvsingle")
	must(t, err)
	c := kvstores.Config{ID: "n1", Nodes: []string{"n1"}, Peers: kvstores.NewPeers("n1", nil), Clock: new(kvstores.Clock)}
	n, err := s.New(c)
	must(t, err)
	server := httptest.NewServer(kvstores.Handler(n, c))
	t.Cleanup(func() { server.Close(); _ = n.Close() })
	return server.Listener.Addr().String()
}

func value(t *testing.T, text string) history.Value {
	t.Helper()
	if text == "" {
		return history.Absent
	}
	v, err := history.ParseValue(text)
	must(t, err)
	return v
}

// Every operation, and every kind of value, comes through a real socket as it
// went in, by either kind of client.
func TestThroughTheWire(t *testing.T) {
	good, err := startProgram(t, "good")
	must(t, err)
	for name, target := range map[string]Target{"fixture": fixtureOf(t, "kvsingle", ""), "program": good} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			defer cancel()
			client, err := target.Connect(ctx, "c1.0", single(t))
			must(t, err)
			defer client.Close()
			for i, step := range []struct{ f, key, in, out string }{
				{"get", "a", "", "null"},
				{"put", "a", "9007199254740993", ""},
				{"get", "a", "", "9007199254740993"},
				{"cas", "a", "[9007199254740992,1]", "false"},
				{"cas", "a", `[9007199254740993,""]`, "true"},
				{"get", "a", "", `""`},
				{"append", "a", `"\u00e9\" \\ \n"`, ""},
				{"get", "a", "", `"\u00e9\" \\ \n"`},
				{"put", "a", "null", ""},
				{"get", "a", "", "null"},
				{"add", "b", "41", "41"},
				{"add", "b", "-9007199254740993", "-9007199254740952"},
				{"put", `key "with" > marks`, "true", ""},
				{"get", `key "with" > marks`, "", "true"},
				{"delete", "b", "", ""},
				{"get", "b", "", "null"},
			} {
				r := client.Do(ctx, Operation{F: step.f, Key: history.String(step.key), In: value(t, step.in)})
				if r.Outcome != history.OK || r.Out != value(t, step.out) {
					t.Errorf("step %d, %s %s: %v %s %s, want ok and %q", i, step.f, step.in, r.Outcome, r.Out.Text(), r.Error, step.out)
				}
			}
			if r := client.Do(ctx, Operation{F: "pop", Key: history.String("a")}); r.Outcome != history.Fail || r.Error == "" {
				t.Errorf("an operation that the store does not know: %+v, want fail and why", r)
			}
		})
	}
}

// A client says no more than it can prove.
func TestFixtureClientOutcomes(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, closed.Close())
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc // nil: nobody listens
		want   history.Outcome
		why    string
	}{
		{"refused", nil, history.Fail, "refused"},
		{"silence", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }, history.Info, "timeout"},
		{"reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, history.Info, ""},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"outcome":"ok","out`)) }, history.Info, "unexpected"},
		{"no outcome", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) }, history.Info, "unexpected"},
		{"error of a server", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, history.Info, "unexpected"},
		{"no value", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"outcome":"ok","out":{"a":1,"a":2}}`))
		}, history.Info, "unexpected"},
		{"decided", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"outcome":"fail","error":"no"}`))
		}, history.Fail, "no"},
		{"undecided", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"outcome":"info","error":"lost"}`))
		}, history.Info, "lost"},
		{"answered", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"outcome":"ok","out":7}`)) }, history.OK, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := closed.Addr().String()
			if test.answer != nil {
				server := httptest.NewServer(test.answer)
				defer server.Close()
				address = server.Listener.Addr().String()
			}
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			client, err := fixtureOf(t, "kvsingle", "").Connect(ctx, "c1.0", address)
			must(t, err)
			defer client.Close()
			r := client.Do(ctx, Operation{F: "get", Key: keyName(0)})
			if r.Outcome != test.want || !strings.Contains(r.Error, test.why) || r.Outcome != history.OK && r.Error == "" {
				t.Errorf("%+v, want %v and %q", r, test.want, test.why)
			}
		})
	}
}
