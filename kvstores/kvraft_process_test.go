package kvstores

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestNodeProcess is no test: it is what a process of the tests below runs.
func TestNodeProcess(t *testing.T) {
	text := os.Getenv("PINYON_TEST_NODE")
	if text == "" {
		t.Skip("only as a child of other tests")
	}
	var p process
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	s, err := Lookup(p.Store)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{ID: p.ID, Nodes: p.Nodes, Peers: NewPeers(p.ID, p.Peers), Dir: p.Dir, Bug: p.Bug, Clock: new(Clock), Log: io.Discard}
	if err := Serve(context.Background(), s, c, "127.0.0.1:0", os.Stdout); err != nil {
		t.Fatal(err)
	}
}

// process is one node as a process of its own, behind a forwarder with a fixed
// address.
type process struct {
	Store, ID, Dir, Bug string
	Nodes               []string
	Peers               map[string]string // addresses of the forwarders

	t       *testing.T
	command *exec.Cmd
	stdin   io.Closer
	target  atomic.Pointer[string] // where it listens now
}

// processes starts a store as three processes.
func processes(t *testing.T, store, bug string) []*process {
	t.Helper()
	var list []*process
	names, peers := []string{"n1", "n2", "n3"}, map[string]string{}
	for _, id := range names {
		p := &process{Store: store, ID: id, Dir: t.TempDir(), Bug: bug, Nodes: names, Peers: peers, t: t}
		peers[id] = forwarder(t, &p.target)
		list = append(list, p)
		t.Cleanup(p.kill)
	}
	for _, p := range list {
		p.start()
	}
	return list
}

// forwarder passes connections on to wherever target says at the time.
func forwarder(t *testing.T, target *atomic.Pointer[string]) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go forward(in, target.Load())
		}
	}()
	return l.Addr().String()
}

func forward(in net.Conn, target *string) {
	defer in.Close()
	if target == nil {
		return
	}
	out, err := net.DialTimeout("tcp", *target, time.Second)
	if err != nil {
		return
	}
	defer out.Close()
	var ended sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		ended.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			in.Close()
			out.Close()
		})
	}
	ended.Wait()
}

func (p *process) start() {
	p.t.Helper()
	p.command = exec.Command(os.Args[0], "-test.run=^TestNodeProcess$")
	p.command.Env = append(os.Environ(), "PINYON_TEST_NODE="+string(marshal(p)))
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := p.command.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.stdin = in
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
			p.target.Store(&address)
			go func() {
				for lines.Scan() {
				}
			}()
			return
		}
	}
	p.t.Fatalf("%s ended without listening", p.ID)
}

// kill is kill -9.
func (p *process) kill() {
	if p.command == nil {
		return
	}
	p.target.Store(nil)
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
	p.stdin.Close()
	p.command = nil
}

// person of a ring that exists only as addresses.
func personOf(t *testing.T, list []*process, name string) *person {
	return &person{r: &ring{t: t, address: list[0].Peers}, name: name}
}

func TestRaftKeepsWhatItAcknowledgedOverKill9(t *testing.T) {
	for _, bug := range []string{"", "lose-unsynced-log"} {
		t.Run("bug="+bug, func(t *testing.T) {
			t.Parallel()
			list := processes(t, "kvraft", bug)
			p := personOf(t, list, "p")
			eventually(t, "a leader", func() error {
				if a := p.say("n1", 2*time.Second, "get", "x", ""); a.Outcome != OK {
					return fmt.Errorf("%+v", a)
				}
				return nil
			})
			for i := range 20 {
				p.must(list[i%3].ID, "add", "x", "1", fmt.Sprint(i+1))
			}
			for _, n := range list {
				n.kill()
			}
			for _, n := range list {
				n.start()
			}
			want := map[string]string{"": "20", "lose-unsynced-log": "null"}[bug]
			eventually(t, "what is there after the kill is "+want, func() error {
				if a := p.say("n2", 2*time.Second, "get", "x", ""); string(a.Out) != want {
					return fmt.Errorf("%+v", a)
				}
				return nil
			})
			if bug == "" {
				p.seq = 23 // any new number
				p.must("n3", "add", "x", "1", "21")
			}
		})
	}
}

// TestRaftThatIsStoppedServesNothingStale stops the leader, writes elsewhere,
// and lets it go on with reads in its hands.
func TestRaftThatIsStoppedServesNothingStale(t *testing.T) {
	list := processes(t, "kvraft", "")
	p := personOf(t, list, "p")
	for round := range 4 {
		var leader *process
		eventually(t, "a leader", func() error {
			for _, n := range list {
				if s := n.status(); s.Leader == n.ID {
					leader = n
					return nil
				}
			}
			return fmt.Errorf("none")
		})
		other := list[0].ID
		if leader == list[0] {
			other = list[1].ID
		}
		p.must(other, "put", "x", fmt.Sprint(2*round), "")
		if err := leader.command.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		var reads sync.WaitGroup
		answers := make([]Reply, 20)
		write := p.say(other, 4*time.Second, "put", "x", fmt.Sprint(2*round+1))
		for i := range answers {
			reads.Go(func() {
				q := personOf(t, list, fmt.Sprint("reader", round, "/", i))
				answers[i] = q.say(leader.ID, 4*time.Second, "get", "x", "")
			})
		}
		time.Sleep(50 * time.Millisecond) // the reads are to wait in its sockets
		if err := leader.command.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		reads.Wait()
		if write.Outcome != OK {
			t.Logf("round %d: the write: %+v", round, write)
			continue
		}
		for _, a := range answers {
			if a.Outcome == OK && string(a.Out) != fmt.Sprint(2*round+1) {
				t.Errorf("round %d: a read after the write of %d: %+v", round, 2*round+1, a)
			}
		}
	}
}

// status asks the process.
func (p *process) status() (s Status) {
	client := http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	response, err := client.Get("http://" + p.Peers[p.ID] + "/status")
	if err != nil {
		return s
	}
	defer response.Body.Close()
	_ = json.NewDecoder(response.Body).Decode(&s)
	return s
}
