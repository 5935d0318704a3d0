package harness

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/faultnet"
)

// fakeTarget is a target without processes: a ping is one byte there and back,
// and clients are what connect makes.
type fakeTarget struct {
	claim   Claim
	connect func(name, address string) (Client, error)
	command func(n NodeSpec) (Command, error)
	leads   string

	mutex  sync.Mutex
	shifts []time.Duration // of any clock, in turn
}

func (f *fakeTarget) Shift(_ context.Context, _ string, offset time.Duration) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.shifts = append(f.shifts, offset)
	return nil
}

func (f *fakeTarget) Offset(context.Context, string) (time.Duration, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if len(f.shifts) == 0 {
		return 0, nil
	}
	return f.shifts[len(f.shifts)-1], nil
}

func (f *fakeTarget) Claim() Claim {
	if f.claim.Model == "" {
		return Claim{Name: "fake", Model: "kv", Level: "linearizable", Ops: kvOps, Read: "get"}
	}
	return f.claim
}

func (f *fakeTarget) Command(n NodeSpec) (Command, error) {
	if f.command == nil {
		return Command{}, errors.New("a fake has no processes")
	}
	return f.command(n)
}

func (f *fakeTarget) Ping(ctx context.Context, address string) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	if until, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(until)
	}
	if _, err := c.Write([]byte("p")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 1))
	return err
}

func (f *fakeTarget) Bootstrap(context.Context, map[string]string) error { return nil }
func (f *fakeTarget) Leader(context.Context, map[string]string) (string, error) {
	return f.leads, nil
}
func (f *fakeTarget) Connect(_ context.Context, name, address string) (Client, error) {
	return f.connect(name, address)
}

// echo is a node that sends back what it gets.
func echo(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { _ = echoAt(l) }()
	return l
}

func echoAt(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			_, _ = io.Copy(c, c)
		}()
	}
}

// runEcho is an echo in a process of its own.
func runEcho(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return echoAt(l)
}

// processEchoes is a target whose nodes are such processes; without are those
// whose program is not there.
func processEchoes(t *testing.T, without ...string) *fakeTarget {
	return &fakeTarget{command: func(n NodeSpec) (Command, error) {
		if slices.Contains(without, n.ID) {
			return Command{Path: filepath.Join(t.TempDir(), "no-such-program")}, nil
		}
		return Command{Path: self(t), Args: []string{"echo", n.Listen}}, nil
	}}
}

// echoes is a cluster of three nodes in this process.
type echoes struct {
	*cluster
	nemesis *nemesis
	listens map[string]net.Listener
	mutex   sync.Mutex
	notes   []history.Note
}

func newEchoes(t *testing.T, target *fakeTarget) *echoes {
	t.Helper()
	e := &echoes{listens: map[string]net.Listener{}}
	var err error
	if e.cluster, err = newCluster(target, Topology(3, 3), t.TempDir(), 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.cluster.close(); err != nil {
			t.Error(err)
		}
	})
	for _, id := range e.topo.Nodes {
		e.listens[id] = echo(t)
		e.network.Aim(id, e.listens[id].Addr().String())
	}
	e.nemesis = &nemesis{cluster: e.cluster, clock: newClock(), say: func(string, ...any) {}, note: func(n history.Note) {
		e.mutex.Lock()
		defer e.mutex.Unlock()
		e.notes = append(e.notes, n)
	}}
	return e
}

// talk keeps a link in use until the test ends.
func (e *echoes) talk(t *testing.T, l faultnet.Link) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	t.Cleanup(func() { cancel(); wg.Wait() })
	address := e.network.Addr(l)
	wg.Go(func() {
		for ctx.Err() == nil {
			short, stop := context.WithTimeout(ctx, 50*time.Millisecond)
			_ = e.target.Ping(short, address) // past the cluster, which would count it as a probe
			stop()
			sleep(ctx, 5*time.Millisecond)
		}
	})
	eventually(t, "traffic on "+l.String(), func() bool { return e.used()[l] })
}

// scripted is a client that answers what the test says, in turn.
type scripted struct {
	do     func(op Operation) Result
	closed chan struct{}
}

func (s *scripted) Do(_ context.Context, op Operation) Result { return s.do(op) }
func (s *scripted) Close()                                    { close(s.closed) }

// newLoad is the load of a fake, with a recorder in memory.
func newLoad(t *testing.T, target *fakeTarget, c *Config) (*load, *bytes.Buffer) {
	t.Helper()
	e := newEchoes(t, target)
	c.Target = target
	c.Dir = t.TempDir()
	if err := c.defaults(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	rec, err := history.NewRecorder(&out, c.header(e.topo, 7))
	if err != nil {
		t.Fatal(err)
	}
	return &load{cluster: e.cluster, clock: newClock(), recorder: rec, config: c, work: &workload{mix: c.Mix, keys: c.Keys}}, &out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wrapped is another target with one thing changed.
type wrapped struct {
	Target
	command func(n NodeSpec) (Command, error)
}

func (w wrapped) Command(n NodeSpec) (Command, error) { return w.command(n) }
