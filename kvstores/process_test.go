package kvstores

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pinyon/engine/spec"
)

// childArgs tells a process of this test binary to be a node: the store, the
// node's id, its folder, then ID=ADDRESS of the others.
const childArgs = "PINYON_TEST_CHILD"

// TestChildProcess is a node, where the environment says so.
func TestChildProcess(t *testing.T) {
	args := strings.Fields(os.Getenv(childArgs))
	if len(args) == 0 {
		t.Skip("only for processes that other tests start")
	}
	s, err := Lookup(args[0])
	if err != nil {
		t.Fatal(err)
	}
	c := Config{ID: args[1], Dir: args[2], Nodes: []string{args[1]}, Clock: new(Clock), Log: os.Stderr}
	address := map[string]string{}
	for _, pair := range args[3:] {
		id, at, _ := strings.Cut(pair, "=")
		address[id] = at
		c.Nodes = append(c.Nodes, id)
	}
	slices.Sort(c.Nodes)
	c.Peers = NewPeers(c.ID, address)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := Serve(ctx, s, c, "127.0.0.1:0", os.Stdout); err != nil {
		t.Fatal(err)
	}
}

// child is one node in a process of its own, behind a forwarder whose address
// stays while the node's changes.
type child struct {
	t       *testing.T
	id      string
	env     string
	command *exec.Cmd
	stdin   io.Closer
	ended   chan struct{}

	mutex   sync.Mutex
	address string
}

// startChildren starts n nodes; their clients go through r.address.
func startChildren(t *testing.T, store string, n int) (*ring, []*child) {
	t.Helper()
	s, err := Lookup(store)
	if err != nil {
		t.Fatal(err)
	}
	r := &ring{t: t, store: s, address: map[string]string{}}
	var list []*child
	for i := range n {
		p := &child{t: t, id: fmt.Sprintf("n%d", i+1)}
		r.names, r.address[p.id] = append(r.names, p.id), p.forward()
		list = append(list, p)
	}
	for _, p := range list {
		p.env = childArgs + "=" + store + " " + p.id + " " + t.TempDir()
		for id, at := range r.address {
			if id != p.id {
				p.env += " " + id + "=" + at
			}
		}
		p.start()
		t.Cleanup(p.kill)
	}
	return r, list
}

// forward listens for the node, wherever it is.
func (p *child) forward() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			p.mutex.Lock()
			to := p.address
			p.mutex.Unlock()
			go splice(in, to)
		}
	}()
	return l.Addr().String()
}

func splice(in net.Conn, to string) {
	defer in.Close()
	out, err := net.DialTimeout("tcp", to, time.Second)
	if err != nil {
		return
	}
	defer out.Close()
	go func() {
		_, _ = io.Copy(out, in)
		out.Close()
	}()
	_, _ = io.Copy(in, out)
}

// start starts the node and waits until it listens.
func (p *child) start() {
	p.t.Helper()
	p.command = exec.Command(os.Args[0], "-test.run=^TestChildProcess$")
	p.command.Env = append(os.Environ(), p.env)
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := p.command.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.ended = make(chan struct{})
	lines := make(chan string, 100)
	go func(c *exec.Cmd, ended chan struct{}) {
		defer close(ended)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
		_ = c.Wait()
	}(p.command, p.ended)
	select {
	case line := <-lines:
		at, ok := strings.CutPrefix(line, "listening ")
		if !ok {
			p.t.Fatalf("%s said %q first", p.id, line)
		}
		p.mutex.Lock()
		p.address = at
		p.mutex.Unlock()
	case <-time.After(8 * time.Second):
		p.t.Fatalf("%s does not listen", p.id)
	}
}

// kill ends the process at once and waits until it has gone.
func (p *child) kill() {
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
	p.goes("killed")
}

func (p *child) goes(how string) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(3 * time.Second):
		p.t.Errorf("%s was %s and is still there", p.id, how)
	}
}

// A node ends with its parent, and on SIGTERM.
func TestChildrenEnd(t *testing.T) {
	t.Parallel()
	_, list := startChildren(t, "kvabd", 2)
	list[0].stdin.Close()
	list[0].goes("left by its parent")
	_ = list[1].command.Process.Signal(syscall.SIGTERM)
	list[1].goes("told to end")
}

// What was acknowledged is not lost when processes are killed and started again.
func TestChildrenSurviveKills(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"kvforward", "kvabd", "kvgryff", "kvzab"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			r, list := startChildren(t, store, 3)
			f := []string{"put", "get", "get", "cas"}
			if r.store.Ops != nil {
				f = f[:3]
			}
			eventually(t, "it serves", func() error {
				if got := r.do("n1", "put", "ready", "1"); got.Outcome != OK {
					return fmt.Errorf("%+v", got)
				}
				return nil
			})
			h := r.record(load{clients: 6, keys: 3, f: f, length: 1800 * time.Millisecond, faults: func(*ring) {
				for _, p := range list {
					time.Sleep(150 * time.Millisecond)
					p.kill()
					time.Sleep(150 * time.Millisecond)
					p.start()
				}
			}})
			level, oracle := r.store.Claims(nil)
			holds(t, h, level, oracle, spec.Consistent)
		})
	}
}
