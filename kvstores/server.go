package kvstores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// maxBody bounds a request: 64 MiB.
const maxBody = 64 << 20

// Handler serves a node's protocol:
//
//	POST /op           a Request, answered by a Reply
//	POST /peer/KIND    a message of another node (?from=ID), the store's own bytes
//	GET  /status       Status
//	GET  /ping         the node's id, for probes
//	POST /clock        {"offset":"-1.5s"}: shifts the node's clock
func Handler(n Node, c Config) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /op", func(w http.ResponseWriter, r *http.Request) {
		var q Request
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q); err != nil {
			answer(w, http.StatusBadRequest, failed("malformed request: "+err.Error()))
			return
		}
		answer(w, http.StatusOK, n.Do(r.Context(), q))
	})
	mux.HandleFunc("POST /peer/{kind}", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err == nil {
			body, err = n.Peer(r.Context(), r.URL.Query().Get("from"), r.PathValue("kind"), body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write(body)
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		s := n.Status()
		s.ID, s.Sent, s.Clock = c.ID, c.Peers.Sent(), c.Clock.Offset().String()
		answer(w, http.StatusOK, s)
	})
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, c.ID) })
	mux.HandleFunc("POST /clock", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Offset string `json:"offset"`
		}
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&q)
		offset, bad := time.ParseDuration(q.Offset)
		if err = errors.Join(err, bad); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c.Clock.Shift(offset)
	})
	return mux
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// Serve runs one node of s until ctx ends: it listens at the address (a port
// of 0 takes any), prints "listening ADDRESS" as the only line on out, and
// serves. It warns on c.Log where the address is not a loopback one.
func Serve(ctx context.Context, s Store, c Config, address string, out io.Writer) error {
	if err := s.check(c); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer listener.Close()
	if a, ok := listener.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		fmt.Fprintf(c.Log, "warning: %s listens on %s, which others can reach; it has no authentication\n", s.Name, a)
	}
	node, err := s.New(c)
	if err != nil {
		return err
	}
	defer node.Close()
	// Whatever the node still does ends with the context of its requests.
	server := &http.Server{Handler: Handler(node, c), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Fprintf(out, "listening %s\n", listener.Addr())
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
		_ = server.Close()
		<-ended
		return nil
	}
}
