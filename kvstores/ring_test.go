package kvstores

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
	"pinyon/oracles"
)

// ring is a store in this process: nodes that reach each other through real
// sockets, and links that can be cut and slowed down.
type ring struct {
	t       *testing.T
	store   Store
	names   []string
	address map[string]string
	dirs    map[string]string
	bug     string
	offset  map[string]*Clock

	mutex sync.Mutex
	nodes map[string]*ringNode
	cut   map[string]bool          // "n1>n2": messages from n1 to n2 are not answered
	slow  map[string]time.Duration // likewise: they arrive late
}

type ringNode struct {
	node   Node
	peers  *Peers
	server *http.Server
	ended  chan struct{}
}

// newRing starts n nodes of the store. With kept they keep what survives a kill.
func newRing(t *testing.T, name string, n int, bug string, kept bool) *ring {
	t.Helper()
	s, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return newRingOf(t, s, n, bug, kept)
}

func newRingOf(t *testing.T, s Store, n int, bug string, kept bool) *ring {
	t.Helper()
	r := &ring{t: t, store: s, address: map[string]string{}, dirs: map[string]string{}, bug: bug, offset: map[string]*Clock{},
		nodes: map[string]*ringNode{}, cut: map[string]bool{}, slow: map[string]time.Duration{}}
	var listeners []net.Listener
	for i := range n {
		id := fmt.Sprintf("n%d", i+1)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
		r.names = append(r.names, id)
		r.address[id], r.offset[id] = l.Addr().String(), new(Clock)
		if kept {
			r.dirs[id] = t.TempDir()
		}
	}
	t.Cleanup(func() {
		for _, id := range r.names {
			r.kill(id)
		}
	})
	for i, id := range r.names {
		r.serve(id, listeners[i])
	}
	return r
}

func (r *ring) serve(id string, l net.Listener) {
	r.t.Helper()
	c := Config{ID: id, Nodes: r.names, Peers: NewPeers(id, r.address), Dir: r.dirs[id], Bug: r.bug, Clock: r.offset[id], Log: io.Discard}
	if err := r.store.check(c); err != nil {
		r.t.Fatal(err)
	}
	node, err := r.store.New(c)
	if err != nil {
		r.t.Fatal(err)
	}
	inner := Handler(node, c)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if from := q.URL.Query().Get("from"); from != "" && !r.passes(q.Context(), from+">"+id) {
			panic(http.ErrAbortHandler)
		}
		inner.ServeHTTP(w, q)
	})}
	n := &ringNode{node, c.Peers, server, make(chan struct{})}
	go func() {
		defer close(n.ended)
		_ = server.Serve(l)
	}()
	r.mutex.Lock()
	r.nodes[id] = n
	r.mutex.Unlock()
}

// passes lets a message through a link, late or not at all.
func (r *ring) passes(ctx context.Context, link string) bool {
	r.mutex.Lock()
	cut, late := r.cut[link], r.slow[link]
	r.mutex.Unlock()
	for end := time.Now().Add(2 * time.Second); cut; {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
		if !r.stuck(link) || time.Now().After(end) {
			return false
		}
	}
	time.Sleep(late)
	return true
}

// stuck reports whether a link is cut and leads somewhere.
func (r *ring) stuck(link string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, to, _ := strings.Cut(link, ">")
	return r.cut[link] && r.nodes[to] != nil
}

// part cuts all links between the groups, or heals everything where there are none.
func (r *ring) part(groups ...[]string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	clear(r.cut)
	for i, g := range groups {
		for j, h := range groups {
			for _, a := range g {
				for _, b := range h {
					if i != j {
						r.cut[a+">"+b] = true
					}
				}
			}
		}
	}
}

// delay makes messages from one node to another late.
func (r *ring) delay(from, to string, d time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.slow[from+">"+to] = d
}

// kill ends a node without a word.
func (r *ring) kill(id string) {
	r.mutex.Lock()
	n := r.nodes[id]
	delete(r.nodes, id)
	r.mutex.Unlock()
	if n == nil {
		return
	}
	_ = n.server.Close()
	<-n.ended
	_ = n.node.Close()
	n.peers.Close()
}

// restart starts a killed node again, on its old address and what it kept.
func (r *ring) restart(id string) {
	r.t.Helper()
	var l net.Listener
	eventually(r.t, "the address is free", func() (err error) {
		l, err = net.Listen("tcp", r.address[id])
		return err
	})
	r.serve(id, l)
}

func (r *ring) status(id string) Status {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.nodes[id].node.Status()
}

// ready waits until all nodes that run say so.
func (r *ring) ready() {
	r.t.Helper()
	for _, id := range r.names {
		if r.nodes[id] != nil {
			eventually(r.t, id+" is ready", func() error {
				if s := r.status(id); !s.Ready {
					return fmt.Errorf("it says %+v", s)
				}
				return nil
			})
		}
	}
}

// do is one operation through a client of its own.
func (r *ring) do(id, f, key, in string) Reply {
	r.t.Helper()
	return r.carry(id, f, key, in, nil)
}

func (r *ring) carry(id, f, key, in string, carried json.RawMessage) Reply {
	r.t.Helper()
	c := NewClient(r.address[id])
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	q := Request{Client: "test", Seq: 1, F: f, Key: key, Carried: carried}
	if in != "" {
		q.In = json.RawMessage(in)
	}
	return c.Do(ctx, q)
}

// must is do that has to give out.
func (r *ring) must(id, f, key, in, out string) Reply {
	r.t.Helper()
	a := r.do(id, f, key, in)
	if a.Outcome != OK || string(a.Out) != out {
		r.t.Fatalf("%s %s of %q at %s: got %s %s (%s), want ok %s", f, in, key, id, a.Outcome, a.Out, a.Error, out)
	}
	return a
}

// eventually tries until it gives no error, for at most 8 s.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	end := time.Now().Add(8 * time.Second)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not in time: %v", what, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// load is a concurrent run of clients against a ring.
type load struct {
	clients, keys int
	f             []string // what they do, drawn evenly
	length        time.Duration
	roam          bool          // clients change nodes
	own           bool          // client i alone changes key i
	prefix        string        // of the keys
	faults        func(r *ring) // runs beside them
}

// record runs clients against the ring and returns what they saw.
func (r *ring) record(l load) *history.Raw {
	r.t.Helper()
	log := &recorder{began: time.Now()}
	stop := time.Now().Add(l.length)
	var all sync.WaitGroup
	for i := range l.clients {
		all.Go(func() { r.client(i, l, log, stop) })
	}
	if l.faults != nil {
		l.faults(r)
	}
	all.Wait()
	return &history.Raw{Header: history.Header{Nodes: r.names}, Ops: log.ops, Path: r.store.Name}
}

type recorder struct {
	mutex     sync.Mutex
	began     time.Time
	ops       []history.Op[history.Value, history.Value]
	processes int
}

// process is a new one.
func (l *recorder) process() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.processes++
	return l.processes
}

// client does operations one after the other; it goes on as another process
// after one without an answer.
func (r *ring) client(i int, l load, log *recorder, stop time.Time) {
	random := rand.New(rand.NewPCG(uint64(i), 7))
	var clients []*Client
	for _, id := range r.names {
		clients = append(clients, NewClient(r.address[id]))
		defer clients[len(clients)-1].Close()
	}
	at, process := i%len(r.names), log.process()
	var carried json.RawMessage
	last := map[string]json.RawMessage{}
	for seq := int64(1); time.Now().Before(stop); seq++ {
		if l.roam {
			at = random.IntN(len(clients))
		}
		q := Request{Client: fmt.Sprint(process), Seq: seq, F: l.f[random.IntN(len(l.f))], Key: fmt.Sprint(l.prefix, "k", random.IntN(l.keys)), Carried: carried}
		if l.own && !isRead(q.F) {
			if q.Key = fmt.Sprint(l.prefix, "k", i); i >= l.keys {
				q.F = "get"
				q.Key = fmt.Sprint(l.prefix, "k", i%l.keys)
			}
		}
		fresh := marshal(int64(process)<<32 + seq)
		switch q.F {
		case "put":
			q.In = fresh
		case "cas":
			from := last[q.Key]
			if from == nil {
				from = null
			}
			q.In = marshal([]json.RawMessage{from, fresh})
		case "add":
			q.In = json.RawMessage("1")
		case "append":
			q.In = marshal("x")
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		invoke := time.Since(log.began)
		a := clients[at].Do(ctx, q)
		returned := time.Since(log.began)
		cancel()
		log.note(r.t, r.names[at], process, q, a, invoke, returned)
		if a.Carried != nil {
			carried = a.Carried
		}
		switch {
		case a.Outcome == Info:
			process, carried = log.process(), nil
			time.Sleep(20 * time.Millisecond)
		case a.Outcome == Fail:
			time.Sleep(5 * time.Millisecond)
		case isRead(q.F):
			last[q.Key] = a.Out
		}
	}
}

func (l *recorder) note(t *testing.T, node string, process int, q Request, a Reply, invoke, returned time.Duration) {
	op := history.Op[history.Value, history.Value]{Process: process, F: q.F, Key: q.Key, Invoke: int64(invoke), Return: int64(returned), Node: node,
		In: parsed(t, q.In), Error: a.Error}
	op.Outcome = map[string]history.Outcome{OK: history.OK, Fail: history.Fail, Info: history.Info}[a.Outcome]
	if a.Outcome == OK {
		op.Out = parsed(t, a.Out)
		for _, name := range sortedNames(a.Hints) {
			op.Hints = append(op.Hints, history.Hint{Name: name, Value: parsed(t, marshal(a.Hints[name]))})
		}
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.ops = append(l.ops, op)
}

func sortedNames(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func parsed(t *testing.T, text json.RawMessage) history.Value {
	if len(text) == 0 {
		return history.Absent
	}
	v, err := history.ParseValue(string(text))
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return v
}

// judge checks a history under the model kv at a level.
func judge(t *testing.T, h *history.Raw, level, oracle string) *spec.Verdict {
	t.Helper()
	slices.SortStableFunc(h.Ops, func(a, b history.Op[history.Value, history.Value]) int { return int(a.Invoke - b.Invoke) })
	e, err := models.Lookup("kv")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Bind(h, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := consistency.LookupLevel(level)
	if err != nil {
		t.Fatal(err)
	}
	var o consistency.Options
	if oracle != "" {
		if order, err := oracles.Lookup(oracle); err == nil {
			o.Oracles = append(o.Oracles, order)
		} else {
			t.Logf("without the oracle: %v", err)
		}
	}
	v, err := consistency.CheckSubject(context.Background(), s, l, o)
	if err != nil {
		t.Fatal(err)
	}
	ok, fail, info := 0, 0, 0
	for _, op := range h.Ops {
		switch op.Outcome {
		case history.OK:
			ok++
		case history.Fail:
			fail++
		default:
			info++
		}
	}
	t.Logf("%s: %d ok, %d fail, %d info: %s is %v", h.Path, ok, fail, info, level, v.Kind)
	return v
}

// holds requires the verdict of a history; a violation that was not wanted is
// kept where it can be looked at.
func holds(t *testing.T, h *history.Raw, level, oracle string, want spec.Kind) {
	t.Helper()
	v := judge(t, h, level, oracle)
	if v.Kind == want {
		return
	}
	t.Errorf("%s at %s: %v, want %v", h.Path, level, v.Kind, want)
	var b bytes.Buffer
	if err := history.WriteNative(&b, h); err == nil && b.Len() < 2000 {
		t.Log(b.String())
	}
}

// convicted records rounds, each on keys of its own, until one breaks the level,
// and requires that one of forty does; milder are levels that all of them keep.
func (r *ring) convicted(l load, level, oracle string, milder ...string) {
	r.t.Helper()
	for round := range 40 { // on a busy machine a round has few operations
		l.prefix = fmt.Sprint("r", round)
		h := r.record(l)
		for _, m := range milder {
			holds(r.t, h, m, "", spec.Consistent)
		}
		if judge(r.t, h, level, oracle).Kind == spec.Violation {
			return
		}
	}
	r.t.Errorf("%s with %q is not convicted at %s", r.store.Name, r.bug, level)
}

// answering is a server that answers every request as f does.
func answering(t *testing.T, f http.HandlerFunc) string {
	s := httptest.NewServer(f)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.Listener.Addr().String()
}
