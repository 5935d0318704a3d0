package harness

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/faultnet"
)

// Each outcome is recorded as it was, with its output, error and hints, and
// after one that nobody knows the process retires and a new one connects.
func TestOutcomesAreRecorded(t *testing.T) {
	answers := []Result{
		{Outcome: history.OK, Out: history.Int(5), Hints: []history.Hint{{Name: "index", Value: history.Int(3)}}},
		{Outcome: history.Fail, Error: "refused"},
		{Outcome: history.Info, Error: "timeout"},
		{Outcome: history.OK, Out: history.Null},
	}
	var names []string
	var made []*scripted
	next := 0
	target := &fakeTarget{connect: func(name, _ string) (Client, error) {
		names = append(names, name)
		c := &scripted{closed: make(chan struct{}), do: func(Operation) Result { next++; return answers[next-1] }}
		made = append(made, c)
		return c, nil
	}}
	l, out := newLoad(t, target, &Config{})
	s := &session{load: l, name: "c1", link: faultnet.Link{From: "c1", To: "n1"}}
	for range answers {
		s.do(Operation{F: "get", Key: keyName(0)})
	}
	s.close()
	h := parsed(t, out.Bytes())
	if len(h.Ops) != len(answers) {
		t.Fatalf("%d operations, want %d", len(h.Ops), len(answers))
	}
	for i, want := range answers {
		got := h.Ops[i]
		if got.Outcome != want.Outcome || got.Error != want.Error || got.Node != "n1" || len(got.Hints) != len(want.Hints) {
			t.Errorf("operation %d is recorded as %+v, want %+v", i, got, want)
		}
		if want.Outcome == history.OK && got.Out != want.Out {
			t.Errorf("operation %d: output %s, want %s", i, got.Out.Text(), want.Out.Text())
		}
	}
	if h.Ops[1].Process != h.Ops[2].Process || h.Ops[2].Process == h.Ops[3].Process {
		t.Errorf("processes %d %d %d: one ends with the operation that nobody knows, and only then", h.Ops[1].Process, h.Ops[2].Process, h.Ops[3].Process)
	}
	if fmt.Sprint(names) != "[c1.0 c1.1]" {
		t.Errorf("clients %v, want c1.0 and c1.1", names)
	}
	for i, c := range made {
		select {
		case <-c.closed:
		default:
			t.Errorf("client %d is still open", i)
		}
	}
	if ok, failed, unknown := l.counts[history.OK].Load(), l.counts[history.Fail].Load(), l.counts[history.Info].Load(); ok != 2 || failed != 1 || unknown != 1 {
		t.Errorf("counted %d ok, %d failed, %d unknown; want 2, 1, 1", ok, failed, unknown)
	}
}

// An operation whose client cannot connect was never sent: it is none.
func TestNoOperationWithoutConnection(t *testing.T) {
	l, out := newLoad(t, &fakeTarget{connect: func(string, string) (Client, error) { return nil, errors.New("refused") }}, &Config{})
	s := &session{load: l, name: "c1", link: faultnet.Link{From: "c1", To: "n1"}}
	if r := s.do(Operation{F: "get", Key: keyName(0)}); r.Outcome != history.Fail {
		t.Errorf("outcome %v, want fail", r.Outcome)
	}
	if h := parsed(t, out.Bytes()); len(h.Ops) != 0 {
		t.Errorf("%d operations are recorded, want none", len(h.Ops))
	}
}

// register is a store in memory that many clients use.
type register struct {
	mutex  sync.Mutex
	values map[string]history.Value
}

func (r *register) do(op Operation) Result {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	k := op.Key.Label()
	switch op.F {
	case "put":
		r.values[k] = op.In
		return Result{}
	case "cas":
		pair, _ := op.In.Elems()
		now, ok := r.values[k]
		if !ok {
			now = history.Null
		}
		if now != pair[0] {
			return Result{Out: history.False}
		}
		r.values[k] = pair[1]
		return Result{Out: history.True}
	}
	if v, ok := r.values[k]; ok {
		return Result{Out: v}
	}
	return Result{Out: history.Null}
}

// Many clients at once: every operation has its two lines, ids are used once,
// and a process never has two operations in flight.
func TestNothingIsLost(t *testing.T) {
	r := &register{values: map[string]history.Value{}}
	var asked sync.Map
	count := func(name string) {
		n, _ := asked.LoadOrStore(name, new(int))
		*n.(*int)++ // a client is sequential
	}
	target := &fakeTarget{connect: func(name, _ string) (Client, error) {
		turn := 0
		return &scripted{closed: make(chan struct{}), do: func(op Operation) Result {
			count(name)
			if turn++; turn%7 == 0 {
				return Result{Outcome: history.Info, Error: "timeout"}
			}
			return r.do(op)
		}}, nil
	}}
	c := &Config{Ops: 600, Clients: 3, Duration: 20 * time.Second}
	l, out := newLoad(t, target, c)
	l.run(t.Context())
	h := parsed(t, out.Bytes())
	total := 0
	asked.Range(func(_, n any) bool { total += *n.(*int); return true })
	if len(h.Ops) != c.Ops || total != c.Ops {
		t.Errorf("%d operations recorded, %d asked, want %d", len(h.Ops), total, c.Ops)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 1+2*c.Ops {
		t.Errorf("%d lines, want a header and two for each operation", lines)
	}
	seen := map[int64]bool{}
	for i := range h.Ops {
		if id := h.ID(i); seen[id] || id < 0 || id >= int64(c.Ops) || h.Origins[i].DoneLine == 0 {
			t.Errorf("operation %d: seen before, out of range, or never ended", id)
		} else {
			seen[id] = true
		}
	}
}

// Nobody waits for a node that says that it will never answer.
func TestLastReadsEndWhereNoneCanCome(t *testing.T) {
	sum := recorded(t, Config{Target: fixtureOf(t, "kvsingle", ""), Duration: 300 * time.Millisecond, Rate: 100, Keys: 2})
	keys := []string{"k0", "k1"}
	if want := []Unread{{"n2", keys, "not the server"}, {"n3", keys, "not the server"}}; !reflect.DeepEqual(sum.Unread, want) {
		t.Errorf("unread %v, want %v", sum.Unread, want)
	}
	if sum.Elapsed > quietWithin {
		t.Errorf("it took %s", sum.Elapsed)
	}
}

// At the end every key is read at every node; a read that fails is tried again,
// more often than a few times, and what cannot be read is named.
func TestLastReadsReachEveryNode(t *testing.T) {
	t.Parallel() // waits for what never comes
	var mutex sync.Mutex
	tries := map[string]int{}
	deaf := ""
	target := &fakeTarget{connect: func(_, address string) (Client, error) {
		return &scripted{closed: make(chan struct{}), do: func(op Operation) Result {
			mutex.Lock()
			defer mutex.Unlock()
			at := address + op.Key.Label()
			if tries[at]++; tries[at] < 6 || address == deaf && op.Key != keyName(2) {
				return Result{Outcome: history.Fail, Error: "not yet"}
			}
			return Result{Out: history.Null}
		}}, nil
	}}
	l, out := newLoad(t, target, &Config{Keys: 4})
	deaf = l.cluster.network.Addr(faultnet.Link{From: admin, To: "n3"})
	unread := l.lastReads(t.Context(), "get", false)
	if want := []Unread{{"n3", []string{"k0", "k1", "k3"}, "not yet"}}; !reflect.DeepEqual(unread, want) {
		t.Errorf("unread %v, want %v", unread, want)
	}
	var text strings.Builder
	(&Summary{Unread: unread}).Print(&text)
	if want := "last reads  none of k0, k1, k3 at n3: not yet\n"; !strings.Contains(text.String(), want) {
		t.Errorf("the summary does not say %q:\n%s", want, &text)
	}
	got := map[string]int{}
	for _, op := range parsed(t, out.Bytes()).Ops {
		if op.Outcome == history.OK && op.F == "get" {
			got[op.Node+" "+op.Key]++
		}
	}
	if len(got) != 9 {
		t.Errorf("read %v, want each of 4 keys at 2 nodes, and one at n3", got)
	}
	for at, n := range tries {
		if n > 25 {
			t.Errorf("%s was asked %d times", at, n)
		}
	}
}

// The rate is that of all clients together, and a late client does not catch up
// with a burst.
func TestPacer(t *testing.T) {
	p := newPacer(100, 5, 0)
	if p.gap != 50*time.Millisecond {
		t.Errorf("5 clients at 100 a second: a gap of %s each, want 50ms", p.gap)
	}
	p.next = time.Now().Add(-time.Hour)
	if !p.wait(t.Context()) || time.Until(p.next) < -time.Second {
		t.Errorf("after an hour the next operation is due at %s: a burst", p.next)
	}
}

func TestConfigRefuses(t *testing.T) {
	target := &fakeTarget{}
	for _, test := range []struct {
		c    Config
		want string
	}{
		{Config{Nodes: 3, Clients: 2}, "2 clients for 3 nodes"},
		{Config{Nodes: 100, Clients: 100}, "100 nodes"},
		{Config{Keys: 10001}, "10001 keys"},
		{Config{Rate: -1}, "cannot be negative"},
		{Config{Timeout: -1}, "must be positive"},
		{Config{Mix: Mix{{"pop", 1}}}, `does not answer "pop"`},
	} {
		test.c.Target = target
		if err := test.c.defaults(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %q", test.c, err, test.want)
		}
	}
	c := Config{Target: target}
	if err := c.defaults(); err != nil || c.Nodes != 3 || c.Clients != 6 {
		t.Errorf("the defaults: %v, %d nodes, %d clients", err, c.Nodes, c.Clients)
	}
}

// Every node has clients, or a cut would silence a side.
func TestTopologyServesEveryNode(t *testing.T) {
	for nodes := 1; nodes < 8; nodes++ {
		for clients := nodes; clients < 20; clients++ {
			per := map[string]int{}
			for _, c := range Topology(nodes, clients).Clients {
				per[c.Node]++
			}
			for _, n := range Topology(nodes, clients).Nodes {
				if per[n] < clients/nodes || per[n] > clients/nodes+1 {
					t.Errorf("%d nodes, %d clients: %s has %d", nodes, clients, n, per[n])
				}
			}
		}
	}
}
